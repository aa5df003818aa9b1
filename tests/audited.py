"""An audit of seconds for tiny notes: the real attacks, with few targets and small networks."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from shared.privacy.attacks.adversary import FRESH_ADVERSARIES, AdversarySettings, FreshAdversarySettings
from shared.privacy.attacks.inversion import TOKEN_INVERSION, InversionSettings
from shared.privacy.attacks.joining.clinical import CLINICAL_REASSEMBLY
from shared.privacy.attacks.joining.difference import DIFFERENCE
from shared.privacy.attacks.joining.joined import JoiningSettings
from shared.privacy.attacks.joining.reassembly import REASSEMBLY, ReassemblySettings
from shared.privacy.attacks.linkage import LINKAGE, LinkageSettings
from shared.privacy.attacks.matching import MATCH, MatchingSettings
from shared.privacy.attacks.person.attributes import ATTRIBUTE_INFERENCE
from shared.privacy.attacks.person.forgotten_names import FORGOTTEN_NAMES
from shared.privacy.attacks.person.pattern import RESIDUAL_PATTERN, PatternSettings
from shared.privacy.attacks.person.told import AttributeSettings
from shared.privacy.attacks.readability import READABILITY, ReadabilitySettings
from shared.privacy.attacks.white_box import WHITE_BOX
from shared.privacy.audit import PRESETS, AuditSettings
from shared.privacy.audit_record import FORMAT
from shared.privacy.inversion.model import GuesserSettings
from shared.privacy.policy import Policy, load_policy
from shared.privacy.statistics.finding import proportion
from shared.privacy.word_pairs import WhiteBoxSettings

_GUESSER = GuesserSettings(epochs=1, hidden=8, vocabulary=100)
_ADVERSARY = AdversarySettings(epochs=1, pairs=20, judged=40, hidden=8)
# Tiny notes have short sentences.
_JOINING = JoiningSettings(notes=6, public_shares=1, shortest=3, most_phi=1, resamples=20)
TINY = (
    AuditSettings(neighbours=20)
    .with_rounds(WHITE_BOX, WhiteBoxSettings(draws=1))
    .with_rounds(MATCH, MatchingSettings(targets=12, draws=2, shares=(1, 20)))
    .with_rounds(LINKAGE, LinkageSettings(targets=4, names=100, shortlist=10, draws=2))
    .with_rounds(FORGOTTEN_NAMES, LinkageSettings(targets=12, names=100, shortlist=10, draws=2))
    .with_rounds(RESIDUAL_PATTERN, PatternSettings(patients=1000, spans=100, draws=2))
    .with_rounds(ATTRIBUTE_INFERENCE, AttributeSettings(targets=100, known=1, candidates=8, common=0))
    .with_rounds(REASSEMBLY, ReassemblySettings(notes=4, resamples=20))
    .with_rounds(CLINICAL_REASSEMBLY, _JOINING)
    .with_rounds(DIFFERENCE, _JOINING)
    .with_rounds(READABILITY, ReadabilitySettings(_GUESSER, judged=40))
    .with_rounds(TOKEN_INVERSION, InversionSettings(_GUESSER, judged=60, resamples=100))
    .with_rounds(FRESH_ADVERSARIES, FreshAdversarySettings(_ADVERSARY, sentences=1, control_epochs=1))
)

POLICY = """
[[limit]]
attack = "white box"
measure = "Bayes accuracy, representation, all PHI, mean"
most = 0.52
why = "the best possible attacker, on average"

[[limit]]
attack = "match"
measure = "top-1 of"
above_baseline = 0.005
trials = 10
why = "a word in a list"
"""
"""Of the limits those that can be judged on so little: networks that hardly trained break nothing."""


@contextmanager
def quick_takes_seconds() -> Iterator[None]:
    """Let `--preset quick` mean TINY, and few names be enough for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "quick", TINY)
        patch.setattr("aggregator.auditing.audit._FULL_NAMES", 1000)
        yield


def passing_findings(policy: Policy) -> list[dict[str, Any]]:
    """Findings that keep every limit of a policy: of whoever attacked well, or of a provider that invents them."""
    return [
        asdict(
            proportion(
                limit.attack,
                limit.measure,
                0 if limit.least is None else 1000,
                1000,
                0.01,
                "all that is published",
                0,
            )
        )
        for limit in policy.limits
    ]


def state_full_audit(folder: Path, **changed: Any) -> None:
    """Let the audit in a folder state the findings of a full one that passes: those of minutes stand for those of hours.

    Args:
        folder: with the record.
        changed: fields that are to be otherwise.
    """
    path = folder / "audit.json"
    record = json.loads(path.read_text())
    stated = {"preset": "full", "findings": passing_findings(load_policy())}
    path.write_text(json.dumps(record | stated | changed))


def write_audit(folder: Path, digest: str, /, **changed: Any) -> None:
    """The record and the page of a full audit that passed, made by nobody.

    Args:
        folder: to be made.
        digest: of the representer that it names.
        changed: fields that are to be otherwise.
    """
    folder.mkdir(exist_ok=True)
    record = {
        "format": FORMAT,
        "made": datetime.date.today().isoformat(),
        "preset": "full",
        "representer": digest,
        "passed": True,
        "verdicts": [{"attack": "match", "measure": "top-1 of", "why": "a test", "passed": True}],
        "caveats": [],
        "findings": passing_findings(load_policy()),
    }
    (folder / "audit.json").write_text(json.dumps(record | changed))
    (folder / "audit.html").write_text("<!doctype html>")


def policy(path: Path) -> Path:
    """The limits as a file."""
    path.write_text(POLICY)
    return path

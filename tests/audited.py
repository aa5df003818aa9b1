"""An audit of seconds for tiny notes: the real attacks, with few targets and small networks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared.privacy.attacks.adversary import AdversarySettings
from shared.privacy.attacks.inversion import InversionSettings
from shared.privacy.attacks.linkage import LinkageSettings
from shared.privacy.attacks.matching import MatchingSettings
from shared.privacy.attacks.readability import ReadabilitySettings
from shared.privacy.attacks.reassembly import ReassemblySettings
from shared.privacy.audit import PRESETS, AuditSettings
from shared.privacy.inversion.model import GuesserSettings
from shared.privacy.word_pairs import WhiteBoxSettings

TINY = AuditSettings(
    WhiteBoxSettings(draws=1),
    AdversarySettings(epochs=1, pairs=20, judged=40, hidden=8),
    InversionSettings(GuesserSettings(epochs=1, hidden=8, vocabulary=100), judged=60, resamples=100),
    (MatchingSettings(targets=25, draws=4, shares=(1, 100)),),
    LinkageSettings(targets=4, names=200, shortlist=20, draws=2),
    ReassemblySettings(notes=4, resamples=20),
    ReadabilitySettings(GuesserSettings(epochs=1, hidden=8, vocabulary=100), judged=40),
    None,
    neighbours=20,
    adversary_sentences=1,
    control_epochs=1,
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
    """Let `--preset quick` mean TINY."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "quick", TINY)
        yield


def policy(path: Path) -> Path:
    """The limits as a file."""
    path.write_text(POLICY)
    return path

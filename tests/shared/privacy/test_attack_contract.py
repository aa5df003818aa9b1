"""What every attack of the registry keeps to: it breaks what protects nothing, not what does, and the policy knows its findings."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from shared.errors import ConfigurationError
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.inversion import TOKEN_INVERSION, InversionSettings
from shared.privacy.attacks.linkage import LINKAGE
from shared.privacy.attacks.matching import MATCH, MatchingSettings
from shared.privacy.attacks.membership import MEMBERSHIP, MembershipSettings
from shared.privacy.attacks.registry import ATTACKS
from shared.privacy.audit import FULL, PRESETS, Audit, AuditSettings, run_audit
from shared.privacy.inversion.model import GuesserSettings
from shared.privacy.policy import judge, load_policy
from shared.training.tagging import TaggingConfig
from tests.audited import TINY
from tests.shared.privacy.test_audit import material, surrogates, transparent

SECONDS = (
    TINY.with_rounds(MATCH, MatchingSettings(targets=10, draws=2, shares=(1,)))
    .with_rounds(TOKEN_INVERSION, InversionSettings(GuesserSettings(epochs=3, hidden=16, vocabulary=300), 60, 100))
    .with_rounds(MEMBERSHIP, MembershipSettings(shadows=2, hidden=4, recipe=TaggingConfig(epochs=1)))
)
"""Every attack in seconds; one that is new stands in `tests.audited.TINY` or here."""
SHOWN_ELSEWHERE = {
    "fresh adversaries": "test_adversary.py::test_clear_vectors_are_broken_and_a_blind_share_is_not",
    "attribute inference": "test_attributes.py::test_words_that_are_shown_as_they_are_break_our_limits",
    "clinical reassembly": "test_clinical_reassembly.py::test_notes_of_one_subject_each_are_joined_and_break_our_limit",
    "difference": "test_difference.py::test_a_second_share_that_holds_the_first_breaks_our_limits",
    "membership": "test_membership.py::test_a_head_that_learnt_by_heart_is_detected",
}
"""Attacks that break nothing within seconds, and the test in which they do."""
IN_A_LARGE_VOCABULARY = {
    "forgotten names": "test_forgotten_names.py::test_what_is_left_is_hidden_among_many_of_a_large_vocabulary",
}
"""Attacks that the default withstands by its clusters alone, too small in a vocabulary of a hundred words, and the test in which it does."""
PATIENT = [attack for attack in ATTACKS if attack.name not in SHOWN_ELSEWHERE]
LIMITS = tuple(replace(one, trials=1) for one in load_policy().limits)
DOCS = Path(__file__).resolve().parents[3] / "docs"

every_attack = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)


@cache
def attacked(attack: Attack[Any], kind: str) -> Audit:
    """One attack, alone, on an encoder that shows everything or on the default construction."""
    encoder = {"transparent": transparent, "surrogates": surrogates}[kind]()
    return run_audit(encoder, material(), AuditSettings({attack.name: SECONDS.rounds_of(attack)}, neighbours=20))


@every_attack
@pytest.mark.parametrize("kind", ["transparent", "surrogates"])
def test_it_runs_and_names_its_findings_as_it_says(attack: Attack[Any], kind: str) -> None:
    audit = attacked(attack, kind)
    assert {one.attack for one in audit.findings} == set(attack.finds)
    assert not [reason for reason in audit.left_out if reason.startswith(f"{attack.name}:")]
    for one in audit.findings:
        assert one.measure
        assert one.knowledge
        numbers = (one.value, *one.interval, *(() if one.baseline is None else (one.baseline,)))
        assert all(map(math.isfinite, numbers))
        assert one.interval[0] <= one.interval[1]
        assert one.trials >= 0


@pytest.mark.parametrize("attack", PATIENT, ids=lambda attack: attack.name)
def test_it_breaks_what_protects_nothing(attack: Attack[Any]) -> None:
    findings = attacked(attack, "transparent").findings
    assert any(one.baseline is not None and one.interval[0] > one.baseline for one in findings)
    if not attack.unlimited:
        verdicts = judge([limit for limit in LIMITS if limit.attack in attack.finds], findings, full=False)
        assert any(verdict.broken for verdict in verdicts)


@pytest.mark.parametrize(
    "attack",
    [one for one in PATIENT if not one.unlimited and one.name not in IN_A_LARGE_VOCABULARY],
    ids=lambda attack: attack.name,
)
def test_of_the_default_it_finds_nothing_beyond_chance(attack: Attack[Any]) -> None:
    audit = attacked(attack, "surrogates")
    verdicts = judge([limit for limit in LIMITS if limit.attack in attack.finds], audit.findings, full=False)
    assert any(verdict.findings for verdict in verdicts)
    assert not [verdict.limit.measure for verdict in verdicts if verdict.broken]


@pytest.mark.parametrize(("name", "test"), [*SHOWN_ELSEWHERE.items(), *IN_A_LARGE_VOCABULARY.items()])
def test_what_takes_more_is_shown_elsewhere(name: str, test: str) -> None:
    file, _, function = test.partition("::")
    assert name in {attack.name for attack in ATTACKS}
    assert f"def {function}(" in (Path(__file__).parent / file).read_text(encoding="utf-8")


@every_attack
def test_it_says_so_where_it_is_left_out(attack: Attack[Any]) -> None:
    (reason, *_) = attack.gaps(())
    name, _, why = reason.partition(": ")
    assert name.startswith(attack.name)
    assert why == "part of the full audit only"
    assert attack.full
    assert not attack.gaps(attack.full)


def test_an_audit_names_every_attack_that_it_does_not_try() -> None:
    left_out = attacked(LINKAGE, "surrogates").left_out
    assert [attack.name for attack in ATTACKS if not any(reason.startswith(attack.name) for reason in left_out)] == [
        "linkage"
    ]


@every_attack
def test_a_seed_reaches_every_round_and_its_record(attack: Attack[Any]) -> None:
    rounds = tuple(attack.with_seed(one, 7) for one in attack.full)
    assert rounds == FULL.with_seed(7).rounds_of(attack)
    before, after = (json.dumps(attack.as_json(one)) for one in (attack.full, rounds))
    assert before != after
    assert re.sub(r'"seed": \d+', "", before) == re.sub(r'"seed": \d+', "", after)
    audit = attacked(attack, "surrogates")
    assert {one.seed for one in audit.findings} == {0}


@every_attack
def test_the_record_holds_its_settings_or_null(attack: Attack[Any]) -> None:
    for preset in PRESETS.values():
        written = json.loads(json.dumps(preset.as_json(), allow_nan=False))
        assert bool(written[attack.key]) == bool(preset.rounds_of(attack))
    assert not attack.as_json(())[attack.key]


@every_attack
def test_only_one_that_can_be_repeated_takes_two_rounds(attack: Attack[Any]) -> None:
    if attack.repeatable:
        assert len(AuditSettings().with_rounds(attack, *attack.full[:1] * 2).rounds_of(attack)) == 2
    else:
        with pytest.raises(ConfigurationError, match="at most one round"):
            AuditSettings().with_rounds(attack, *attack.full[:1] * 2)


def test_settings_for_an_attack_that_is_not_there_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="'mach'"):
        AuditSettings({"mach": ()})


def test_no_two_attacks_share_a_name_or_findings() -> None:
    for each in (
        [one.name for one in ATTACKS],
        [one.key for one in ATTACKS],
        [name for one in ATTACKS for name in one.finds],
    ):
        assert len(set(each)) == len(each)


def test_the_policy_limits_every_attack_but_those_that_say_why_not() -> None:
    limited = {name for attack in ATTACKS if not attack.unlimited for name in attack.finds}
    assert {limit.attack for limit in LIMITS} == limited


@every_attack
def test_the_documents_name_it(attack: Attack[Any]) -> None:
    assert re.search(
        rf"^\| {attack.name}( \(full\))? \| ", (DOCS / "privacy.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    if attack.unlimited:
        policy = (resources.files("shared.privacy") / "policy.toml").read_text(encoding="utf-8")
        assert f"# - {attack.name}: " in policy


def test_the_record_keeps_its_order() -> None:
    assert list(FULL.as_json()) == [
        "white_box",
        "adversary",
        "inversion",
        "matching",
        "linkage",
        "reassembly",
        "readability",
        "membership",
        "neighbours",
        "adversary_sentences",
        "control_epochs",
        "seed",
        "forgotten_names",
        "pattern",
        "attributes",
        "clinical_reassembly",
        "difference",
    ]

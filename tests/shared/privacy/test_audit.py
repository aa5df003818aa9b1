"""The audit as a whole: an encoder that shows everything fails it, one that shows no labelled PHI passes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from itertools import islice, product

import pytest

from shared.anonymity.surrogates import surrogate_bank
from shared.constructions.construction import Construction
from shared.constructions.procedures.surrogates import Surrogates
from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError
from shared.labels import load_scheme
from shared.privacy.attacks.adversary import FRESH_ADVERSARIES
from shared.privacy.attacks.inversion import TOKEN_INVERSION
from shared.privacy.attacks.linkage import LINKAGE
from shared.privacy.attacks.matching import MATCH, matching
from shared.privacy.attacks.person.forgotten_names import FORGOTTEN_NAMES
from shared.privacy.attacks.readability import READABILITY
from shared.privacy.attacks.registry import ATTACKS
from shared.privacy.attacks.scene import AuditMaterial
from shared.privacy.attacks.white_box import WHITE_BOX
from shared.privacy.audit import (
    FULL,
    QUICK,
    Audit,
    AuditSettings,
    run_audit,
)
from shared.privacy.policy import Limit, judge, load_policy
from shared.privacy.statistics.finding import Finding
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.text.tokens import tokenise
from tests import constructions
from tests.audited import TINY
from tests.shared.embeddings.made import table
from tests.shared.privacy.attacked import NAMES
from tests.tiny_notes import note, phi_strings, tiny_notes

SCHEME = load_scheme("i2b2_2014")
KNOWN, TARGET = list(tiny_notes(24, 1, "known")), list(tiny_notes(12, 2, "target"))
WORDS = tuple(dict.fromkeys(word for one in KNOWN + TARGET for word in tokenise(one.text).words))
VECTORS = table((*WORDS, *NAMES), dim=12)
FULL_NAMES = list(product(NAMES[:30], NAMES[30:60]))
# Few notes give few trials, and on them networks learn little: adversaries do not even break their controls, and the
# inversion learns from surrogates what its context-only view, which could, has not learned yet. A forgotten name is hidden in a
# cluster, and a vocabulary of a hundred words has small ones.
LIMITS = [
    replace(one, trials=1)
    for one in load_policy().limits
    if one.least is None and one.attack not in ("token inversion", "forgotten name")
]
# The limits speak of as many shares.
SHARED_OFTEN = TINY.with_rounds(MATCH, *(replace(one, shares=(1, 100)) for one in TINY.rounds_of(MATCH)))
ONLY_WHITE_BOX = TINY.without_attacks(*(attack for attack in ATTACKS if attack is not WHITE_BOX))


def transparent() -> Construction:
    """Word vectors as they are."""
    return constructions.transparent(VECTORS, SCHEME)


def surrogates() -> Surrogates:
    """The default construction."""
    bank = surrogate_bank(tokenised_chunks(tokenise_documents(KNOWN), SCHEME))
    return constructions.surrogates(constructions.clusters(VECTORS, 8), SCHEME, bank)


def material(names: Sequence[tuple[str, ...]] = FULL_NAMES, vectors: WordVectors = VECTORS) -> AuditMaterial:
    return AuditMaterial(vectors, KNOWN, TARGET, names, ("PATIENT", "DOCTOR"))


@cache
def listed() -> WordVectors:
    """Words enough for the longest list."""
    more = (first + second.lower() for first, second in islice(product(NAMES, repeat=2), 10_000))
    return table((*WORDS, *NAMES, *more), dim=4)


@cache
def audited(kind: str) -> Audit:
    return run_audit({"transparent": transparent, "surrogates": surrogates}[kind](), material(), SHARED_OFTEN)


def broken(audit: Audit) -> set[str]:
    verdicts = judge(LIMITS, audit.findings, full=False, own_set=audit.own_set)
    return {verdict.limit.attack for verdict in verdicts if not verdict.passed}


def test_an_encoder_that_shows_everything_fails() -> None:
    audit = audited("transparent")
    assert {"white box", "match", "linkage"} <= broken(audit)
    assert audit.accounting.basis == "none"
    assert first(audit, "white box", "Bayes accuracy, representation, all PHI, mean").value == 1
    assert first(audit, "match", "top-1 of 100, nearest neighbours, 1 share").value > 0.9


def test_the_default_construction_passes() -> None:
    audit = audited("surrogates")
    assert not broken(audit)
    assert audit.accounting.basis == "independence"
    assert first(audit, "white box", "Bayes accuracy, representation, all PHI, maximum").value == 0.5


@pytest.mark.parametrize("kind", ["transparent", "surrogates"])
def test_findings_hold_no_word_of_a_note(kind: str) -> None:
    audit = audited(kind)
    told = json.dumps([[asdict(one) for one in audit.findings], audit.left_out, audit.accounting.statement])
    assert not [word for word in phi_strings(KNOWN + TARGET) if word in told]
    assert not [word for word in ("ankles", "cough", "falls", "gets") if word in told]


def test_all_attacks_are_tried_or_named() -> None:
    audit = audited("surrogates")
    tried = {one.attack.partition(",")[0] for one in audit.findings}
    assert tried == {
        "white box",
        "match",
        "linkage",
        "forgotten name",
        "residual pattern",
        "attribute inference",
        "reassembly",
        "clinical reassembly",
        "difference",
        "readability",
        "token inversion",
        "fresh adversary T1",
        "fresh adversary T2",
    }
    controls = {one.attack.partition(": ")[2] for one in audit.findings if "positive control" in one.attack}
    assert controls == {"clear word vectors", "task only"}
    assert audit.left_out == (
        "match among 10,000 candidates: part of the full audit only",
        "membership: part of the full audit only",
    )


def test_an_attack_that_can_not_be_run_is_left_out_and_its_limit_fails() -> None:
    settings = ONLY_WHITE_BOX.with_rounds(LINKAGE, *TINY.rounds_of(LINKAGE))
    few = run_audit(surrogates(), material(FULL_NAMES[:50]), settings)
    assert any(reason.startswith("linkage: ") and "names" in reason for reason in few.left_out)
    assert "linkage" in broken(few)
    nameless = run_audit(surrogates(), replace(material(), name_categories=()), settings)
    assert any(reason.startswith("linkage: ") and "category" in reason for reason in nameless.left_out)
    assert {"match", "linkage"} <= broken(nameless)


def test_adversaries_that_could_learn_nothing_are_left_out() -> None:
    (hungry,) = TINY.rounds_of(FRESH_ADVERSARIES)
    settings = ONLY_WHITE_BOX.with_rounds(FRESH_ADVERSARIES, replace(hungry, sentences=1000))
    audit = run_audit(surrogates(), material(), settings)
    assert any(reason.startswith("fresh adversaries: ") for reason in audit.left_out)
    skipped = {one.limit.attack for one in judge(load_policy().limits, audit.findings, full=False) if one.skipped}
    assert {"fresh adversary T1", "fresh adversary T2"} <= skipped
    failed = {one.limit.attack for one in judge(load_policy().limits, audit.findings, full=True) if not one.passed}
    assert {"fresh adversary T1", "fresh adversary T2"} <= failed


def test_very_few_notes_leave_attacks_out_and_crash_nothing() -> None:
    few = AuditMaterial(VECTORS, KNOWN[:2], TARGET[:2], FULL_NAMES, ("PATIENT",))
    audit = run_audit(surrogates(), few, TINY)
    verdicts = judge(load_policy().limits, audit.findings, full=False)
    assert not all(verdict.passed for verdict in verdicts)


@pytest.mark.parametrize("few", [[], TARGET[:1], [note("a", "No finding.\n"), note("b", "Nothing more.\n")]])
def test_notes_on_which_nothing_can_be_shown_are_refused(few: list[Document]) -> None:
    with pytest.raises(ConfigurationError, match="notes"):
        run_audit(surrogates(), replace(material(), target=few), TINY)
    with pytest.raises(ConfigurationError, match="notes"):
        run_audit(surrogates(), replace(material(), known=few), TINY)


def test_the_same_seed_finds_the_same() -> None:
    settings = TINY.without_attacks(READABILITY, TOKEN_INVERSION, FRESH_ADVERSARIES)
    assert run_audit(surrogates(), material(), settings) == run_audit(surrogates(), material(), settings)


@pytest.mark.parametrize("settings", [QUICK, FULL, TINY])
def test_settings_are_told_in_json(settings: AuditSettings) -> None:
    json.dumps(settings.as_json(), allow_nan=False)


def test_ours_ask_for_no_more_trials_than_there_are() -> None:
    (linked,) = QUICK.rounds_of(LINKAGE)
    for limit in load_policy().limits:
        if limit.attack == "linkage":
            assert limit.trials <= linked.targets
    for full, presets in ((False, QUICK), (True, FULL)):
        for one in presets.rounds_of(MATCH):
            named = [limit for limit in match_limits() if limit.measure.startswith(f"top-1 of {one.candidates},")]
            assert max(limit.trials for limit in named if full or not limit.full_only) <= one.targets


def match_limits() -> list[Limit]:
    """Those that name one figure."""
    return [one for one in load_policy().limits if one.attack == "match" and one.measure != "top-1 of"]


@pytest.mark.parametrize("kind", ["transparent", "surrogates"])
@pytest.mark.parametrize(("settings", "full"), [(QUICK, False), (FULL, True)], ids=["quick", "full"])
def test_every_list_and_number_of_shares_has_a_limit_of_its_own(kind: str, settings: AuditSettings, full: bool) -> None:
    few = tuple(replace(one, targets=2, draws=1, longest=100) for one in settings.rounds_of(MATCH))
    encoder = {"transparent": transparent, "surrogates": surrogates}[kind]()
    audit = run_audit(encoder, material(vectors=listed()), ONLY_WHITE_BOX.with_rounds(MATCH, *few))
    assert audit.own_set == (kind == "surrogates")
    tried = {one.measure for one in audit.findings if one.measure.startswith("top-1 of") and not one.category}
    needed = [one for one in match_limits() if full or not one.full_only]
    assert tried == {one.measure for one in needed if audit.own_set or not one.own_set_only}
    assert all(one.pooled for one in needed)


def test_a_quick_audit_may_lack_only_what_it_does_not_try() -> None:
    assert not QUICK.rounds_of(FRESH_ADVERSARIES)
    assert not QUICK.rounds_of(FORGOTTEN_NAMES)
    adversaries = {limit.attack.split(",")[0] for limit in load_policy().limits if limit.full_only}
    assert adversaries == {
        "match",
        "fresh adversary T1",
        "fresh adversary T2",
        "forgotten name",
        # In quick audits it has too few trials for the second of its limits.
        "attribute inference",
        # In quick audits there may be too few notes for the second of its limits.
        "residual pattern",
        "membership of a note",
    }


def test_a_list_that_can_not_be_tried_breaks_the_limits_of_a_full_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: object) -> list[Finding]:
        if FULL.rounds_of(MATCH)[1].candidates in [getattr(one, "candidates", 0) for one in arguments]:
            raise ConfigurationError("matching: no")
        return matching(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("shared.privacy.attacks.matching.matching", failing)
    few = tuple(replace(one, targets=2, draws=1, longest=100) for one in FULL.rounds_of(MATCH))
    audit = run_audit(surrogates(), material(vectors=listed()), ONLY_WHITE_BOX.with_rounds(MATCH, *few))
    assert "match: matching: no" in audit.left_out
    failed = [
        one.limit.measure for one in judge(match_limits(), audit.findings, full=True) if one.reason == "not tried"
    ]
    assert failed == ["top-1 of 10000, nearest neighbours, 1 share", "top-1 of 10000, own set, 1 share"]


@pytest.mark.parametrize("lacking", ["of 10000, nearest neighbours", "of 10000, own set", "10 shares", "100 shares"])
def test_a_full_audit_lacks_nothing(lacking: str) -> None:
    few = tuple(replace(one, targets=2, draws=1, longest=100) for one in FULL.rounds_of(MATCH))
    audit = run_audit(surrogates(), material(vectors=listed()), ONLY_WHITE_BOX.with_rounds(MATCH, *few))
    limits = [replace(one, trials=1) for one in load_policy().limits if one.attack == "match"]
    assert all(one.passed or one.broken for one in judge(limits, audit.findings, full=True))
    rest = [one for one in audit.findings if f" {lacking}" not in one.measure]
    missed = [one for one in judge(limits, rest, full=True) if one.reason == "not tried"]
    assert missed
    assert all(f" {lacking}" in one.limit.measure for one in missed)


def first(audit: Audit, attack: str, measure: str) -> Finding:
    return next(one for one in audit.findings if one.attack == attack and one.measure == measure)


def test_a_limit_that_names_no_attack_of_ours_would_be_seen() -> None:
    findings = audited("surrogates").findings
    for limit in load_policy().limits:
        assert any(map(limit.concerns, findings)) or (
            limit.full_only
            and limit.attack in ("match", "attribute inference", "residual pattern", "membership of a note")
        )
    assert not judge([Limit("mach", "top-1", "a slip", most=1.0)], audited("surrogates").findings, full=False)[0].passed

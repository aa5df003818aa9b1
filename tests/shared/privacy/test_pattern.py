"""Residual pattern: who looks like nobody else. What a look is, is told here by whole notes that are encoded one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from bench.privacy.noninterference import shares_of
from shared.anonymity.surrogates import surrogate_bank
from shared.constructions.construction import Construction
from shared.document import Document
from shared.errors import ConfigurationError
from shared.generate.notes import generate_notes
from shared.labels import categories_known_of_patients, categories_of_any_form, load_scheme, scheme_names
from shared.models.representer import RepresenterConfig
from shared.privacy.attacks.person.pattern import PatternSettings, looks_of, residual_pattern
from shared.privacy.policy import judge, load_policy
from shared.privacy.statistics.finding import Finding
from shared.sentences.tokenised import tokenised_corpus
from tests import constructions
from tests.shared.embeddings.made import table
from tests.shared.privacy.attacked import NAMES
from tests.tiny_notes import note

SCHEME = load_scheme("i2b2_2014")
KNOWN, TARGET = list(generate_notes("en_harbor", 20, 3)), list(generate_notes("en_harbor", 6, 4))
VECTORS = table(("patient", "seen", *NAMES), dim=8)
SETTINGS = PatternSettings(patients=2000, spans=300, draws=3)
WRITTEN = {
    "PATIENT": ("Anna Lee", "Bob Zwieg", "ANNA LEE", "Lee, Anna", "A. Lee", "Anna Maria Lee", "anna lee"),
    "DATE": ("1/2/2003", "12/30/1999", "1 May 2003", "2003", "03-2003", "May 2003"),
    "STREET": ("12 Elm Street", "Elm", "4500 North Saint Mary Road, Apt. 3", "ELM STREET", "elm", "12", "4500"),
    "MEDICALRECORD": ("123", "9876543", "AB-123", "XY-9", "AB123"),
}


def surrogates(*, hides_casing: bool = False, any_form: bool = True) -> Construction:
    forms = categories_of_any_form(SCHEME) if any_form else frozenset[int]()
    bank = surrogate_bank([tokenised_corpus(KNOWN, SCHEME)], hides_casing=hides_casing, any_form=forms)
    return constructions.surrogates(constructions.clusters(VECTORS, 6), SCHEME, bank)


def attacked(encoder: Construction, settings: PatternSettings = SETTINGS) -> dict[str, Finding]:
    return {one.measure: one for one in residual_pattern(encoder, KNOWN, TARGET, settings)}


def alone(encoder: Construction) -> float:
    return attacked(encoder)["patients who look like no other by what people know of them, of 2000"].value


def written(category: str, phi: str) -> Document:
    return note("n", "The patient ", (phi, category), " was seen today.\nNothing else.\n")


@pytest.mark.parametrize("category", WRITTEN)
@pytest.mark.parametrize("hides_casing", [False, True])
def test_two_spans_look_alike_where_whole_notes_with_them_give_the_same_share(
    category: str, hides_casing: bool
) -> None:
    encoder = surrogates(hides_casing=hides_casing)
    notes = [written(category, phi) for phi in WRITTEN[category]]
    spans = []
    for one in notes:
        chunk = tokenised_corpus([one], SCHEME)
        [(start, end, number)] = chunk.spans()
        spans.append(tuple(chunk.words[start:end]))
    looks = looks_of(encoder, {number: spans}, draws=8)[number]
    shares = list(zip(*(shares_of(encoder, notes, seed) for seed in range(12)), strict=True))
    same = {(one, other): shares[one] == shares[other] for one, other in combinations(range(len(notes)), 2)}
    assert {pair: looks[spans[pair[0]]] == looks[spans[pair[1]]] for pair in same} == same
    assert any(same.values())
    assert all(same.values()) == hides_casing


def test_lengths_of_addresses_that_show_are_found() -> None:
    """Its power: the share as it was before addresses were as long as public ones."""
    measure = "what the look of a span tells, STREET"
    shown, hidden = (attacked(surrogates(any_form=form))[measure] for form in (False, True))
    assert hidden.value == 0
    assert shown.value > 0.5
    assert hidden.category == "STREET"
    assert hidden.unit == "bits"
    assert alone(surrogates(any_form=False)) > 2 * alone(surrogates()) > 0


def test_of_what_is_shown_as_it_is_nearly_everybody_is_alone() -> None:
    found = attacked(constructions.transparent(table(sorted(_words()), dim=8), SCHEME))
    assert alone(constructions.transparent(table(sorted(_words()), dim=8), SCHEME)) > 0.9
    assert found["notes that look like at most one patient, of 2000"].value == 1


@pytest.mark.parametrize("spans", [3000, 60, 5])
def test_a_note_whose_spans_were_not_drawn_does_not_fit_everybody(spans: int) -> None:
    """What is shown as it is tells every note of 6, from however few spans patients are put together."""
    encoder = constructions.transparent(table(sorted(_words()), dim=8), SCHEME)
    found = attacked(encoder, replace(SETTINGS, spans=spans, draws=1))
    assert found["notes that look like at most one patient, of 2000"].value == 1


def test_what_is_not_drawn_changes_no_other_figure() -> None:
    """Patients, and what a look tells, are of the spans that were drawn."""
    encoder = constructions.transparent(table(sorted(_words()), dim=8), SCHEME)
    found = [one for one in residual_pattern(encoder, KNOWN, TARGET, replace(SETTINGS, spans=5, draws=1)) if one.unit]
    assert all(one.trials <= 5 for one in found)
    assert all(one.value <= np.log2(5) for one in found)


def test_with_hidden_casing_nobody_is_alone() -> None:
    found = attacked(surrogates(hides_casing=True))
    assert {one.value for one in found.values()} == {0.0}


def test_of_noise_it_sees_lengths_and_casing_alone() -> None:
    encoder = constructions.noisy(VECTORS, SCHEME, RepresenterConfig(VECTORS.dim, dim=4, hidden=4))
    category = SCHEME.category_index["PATIENT"]
    names = [("Anna", "Lee"), ("Bob", "Zwieg"), ("ANNA", "LEE"), ("Anna",)]
    assert list(looks_of(encoder, {category: names}, 2)[category].values()) == [0, 0, 1, 2]


def test_as_many_are_alone_as_chance_has_it() -> None:
    """Of 40 names and 50 dates, all told apart and equally likely, the number of patients in a cell of 2,000 is binomial."""
    names = [" ".join(name) for name in product(NAMES[:8], NAMES[10:15])]
    notes = [
        note(f"n{place}", "Seen ", (names[place % 40], "PATIENT"), " on ", (str(1900 + place % 50), "DATE"), ".\n")
        for place in range(200)
    ]
    words = table([*NAMES, *map(str, range(1900, 1950))], dim=8)
    found = residual_pattern(
        constructions.transparent(words, SCHEME), notes[:100], notes[100:], replace(SETTINGS, spans=500)
    )
    expected = (1 - 1 / 2000) ** 1999
    assert found[0].value == pytest.approx(expected, abs=0.04)
    assert found[0].value == found[1].value
    bits = {one.category: one.value for one in found if one.unit}
    assert bits == pytest.approx({"PATIENT": np.log2(40), "DATE": np.log2(50)})


LIMITS = [one for one in load_policy().limits if one.attack == "residual pattern"]
LEAKY = list(generate_notes("en_harbor", 220, 3))


@pytest.mark.parametrize("notes", [8, 60, 220])
def test_lengths_that_show_break_our_limits_on_few_notes_and_on_many(notes: int) -> None:
    encoder, settings = surrogates(any_form=False), PatternSettings(draws=2)
    found = residual_pattern(encoder, LEAKY[: notes // 2], LEAKY[notes // 2 : notes], settings)
    assert not all(verdict.passed for verdict in judge(LIMITS, found, full=False))


@pytest.mark.parametrize(
    ("notes", "full", "kept"), [(40, False, False), (60, False, True), (60, True, False), (220, True, True)]
)
def test_what_looks_alike_keeps_our_limits_once_there_are_notes_to_tell(notes: int, full: bool, kept: bool) -> None:
    found = residual_pattern(surrogates(hides_casing=True), LEAKY[: notes // 2], LEAKY[notes // 2 : notes], SETTINGS)
    assert all(verdict.passed for verdict in judge(LIMITS, found, full=full)) == kept
    assert {one.trials for one in found if one.measure.startswith("patients who")} == {notes}


def test_the_interval_is_over_notes_and_not_over_patients() -> None:
    """Against the spread of the figure over notes that were really drawn anew."""
    encoder = surrogates(any_form=False)
    found = [
        residual_pattern(encoder, LEAKY[start : start + 20], LEAKY[start + 20 : start + 40], SETTINGS)[0]
        for start in range(0, 200, 40)
    ]
    assert all(0 <= one.interval[0] < one.value < one.interval[1] <= 1 for one in found)
    widths = [one.interval[1] - one.interval[0] for one in found]
    spread = 2 * 1.96 * float(np.std([one.value for one in found], ddof=1))
    assert spread / 3 < float(np.mean(widths)) < 3 * spread


def test_more_can_be_known() -> None:
    encoder = surrogates()
    asked = {"and how to reach them": ("PHONE",)}
    known, more, every, *_ = residual_pattern(encoder, KNOWN, TARGET, SETTINGS, asked)
    assert known.value < more.value <= every.value
    assert "PHONE" in more.knowledge
    assert "PHONE" not in known.knowledge


def test_every_scheme_says_what_people_know_of_a_patient() -> None:
    for name in scheme_names():
        scheme = load_scheme(name)
        known = {scheme.categories[index] for index in categories_known_of_patients(scheme)}
        assert known
        assert not any("DOCTOR" in category or "PERSONAL_SANITARIO" in category for category in known)


def test_notes_without_phi_and_settings_of_nothing_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="PHI"):
        residual_pattern(surrogates(), [note("a", "Nothing here.")], [note("b", "Nor here.")], SETTINGS)
    with pytest.raises(ConfigurationError, match="patients"):
        PatternSettings(patients=1)


def _words() -> set[str]:
    return set(tokenised_corpus([*KNOWN, *TARGET], SCHEME).words)

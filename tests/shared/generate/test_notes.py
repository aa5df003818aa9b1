"""Generated notes: the same everywhere, labelled without gaps, and different from hospital to hospital."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from shared.document import Document
from shared.errors import ConfigurationError
from shared.generate import generate_notes, generate_public_text, public_site, site_names, site_profile
from shared.generate.names import AMBIGUOUS, AMBIGUOUS_MEN, AMBIGUOUS_WOMEN
from shared.generate.notes import MAX_TOKENS, MIN_TOKENS
from shared.generate.slots import NAME_CATEGORIES
from shared.labels import load_scheme
from shared.text.tokens import tokenise

SCHEMES = {"en": "i2b2_2014", "es": "meddocan"}
SITES = (*site_names(), public_site("en"), public_site("es"))
_WORD = re.compile(r"[^\W\d_]+")


@pytest.fixture(scope="module")
def notes() -> dict[str, list[Document]]:
    return {site: list(generate_notes(site, 200, seed=11)) for site in SITES}


def test_there_are_enough_hospitals_of_each_language() -> None:
    assert len(site_names("en")) >= 5
    assert len(site_names("es")) >= 5
    assert set(site_names()) == {*site_names("en"), *site_names("es")}
    assert not {public_site("en"), public_site("es")} & set(site_names())


def test_the_same_seed_gives_the_same_notes_whatever_the_hash_seed() -> None:
    code = (
        "import hashlib; from shared.generate import generate_notes, site_names\n"
        "print(hashlib.sha256(repr([(d.text, [(a.start, a.end, a.category) for a in d.annotations])"
        " for s in site_names() for d in generate_notes(s, 2, 5)]).encode()).hexdigest())"
    )
    root = Path(__file__).resolve().parents[3]
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("site", SITES)
def test_a_note_depends_neither_on_the_count_nor_on_other_generators(
    site: str, notes: dict[str, list[Document]]
) -> None:
    few = generate_notes(site, 5, seed=11)
    others = generate_notes(site, 5, seed=12)
    interleaved = [next(few) for _ in zip(range(5), others, strict=False)]
    assert interleaved == notes[site][:5]


def test_seeds_give_different_notes() -> None:
    first, second = (next(generate_notes("en_moor", 1, seed)).text for seed in (1, 2))
    assert first != second


def test_ids_number_the_notes(notes: dict[str, list[Document]]) -> None:
    assert [document.identifier for document in notes["en_harbor"][:3]] == [
        f"en_harbor-00000{number}" for number in range(3)
    ]


@pytest.mark.parametrize("site", SITES)
def test_notes_are_of_the_promised_length(site: str, notes: dict[str, list[Document]]) -> None:
    assert all(MIN_TOKENS <= len(tokenise(document.text)) <= MAX_TOKENS for document in notes[site])


@pytest.mark.parametrize("site", SITES)
def test_spans_are_clean_and_of_the_scheme(site: str, notes: dict[str, list[Document]]) -> None:
    known = load_scheme(SCHEMES[site_profile(site).language]).categories
    for document in notes[site]:
        assert len(document.annotations) >= 8
        for span in document.annotations:
            text = document.covered_text(span)
            assert span.category in known
            assert text == text.strip()
            assert not set(text) & set("\n[]{}<>#~%_") or span.category in {"EMAIL", "CORREO_ELECTRONICO"}


@pytest.mark.parametrize("language", ["en", "es"])
def test_every_category_occurs(language: str, notes: dict[str, list[Document]]) -> None:
    sites = (*site_names(language), public_site(language))
    found = {span.category for site in sites for document in notes[site] for span in document.annotations}
    assert found == set(load_scheme(SCHEMES[language]).categories)


def words_on_purpose(language: str) -> set[str]:
    listed = (*AMBIGUOUS[language], *AMBIGUOUS_MEN[language], *AMBIGUOUS_WOMEN[language])
    plain = str.maketrans("áéíóú", "aeiou")
    return {form for name in listed for form in (name.lower(), name.lower().translate(plain))}


@pytest.mark.parametrize("site", SITES)
def test_no_name_stands_unlabelled_unless_it_is_a_listed_word(site: str, notes: dict[str, list[Document]]) -> None:
    allowed = words_on_purpose(site_profile(site).language)
    kinship = {"FAMILIARES_SUJETO_ASISTENCIA"}  # holds words such as "madre" besides names
    for document in notes[site]:
        names = {
            word.lower()
            for span in document.annotations
            if span.category in NAME_CATEGORIES - kinship
            for word in _WORD.findall(document.covered_text(span))
            if len(word) > 3
        }
        for match in _WORD.finditer(document.text):
            if match.group().lower() in names - allowed:
                labelled = any(span.start <= match.start() and match.end() <= span.end for span in document.annotations)
                assert labelled, f"{document.identifier}, characters {match.start()}-{match.end()}"


@pytest.mark.parametrize(
    ("language", "words"), [("es", "madre padre hermana hermano hija hijo esposa marido mujer varón hombre niña niño")]
)
def test_sex_and_kinship_stand_only_in_spans_of_spanish_notes(
    language: str, words: str, notes: dict[str, list[Document]]
) -> None:
    pattern = re.compile(rf"\b({words.replace(' ', '|')})\b", re.IGNORECASE)
    for site in (*site_names(language), public_site(language)):
        for document in notes[site]:
            for match in pattern.finditer(document.text):
                assert any(span.start <= match.start() and match.end() <= span.end for span in document.annotations)


@pytest.mark.parametrize("site", SITES)
def test_sentences_seldom_recur_between_notes(site: str, notes: dict[str, list[Document]]) -> None:
    sentences = Counter(
        sentence
        for document in notes[site]
        for sentence in re.split(r"(?<=[.;:|])\s+|\n", document.text)
        if len(sentence.split()) >= 5
    )
    assert len(sentences) / sentences.total() > 0.8


@pytest.mark.parametrize("language", ["en", "es"])
def test_most_patients_are_named_again_in_another_form(language: str, notes: dict[str, list[Document]]) -> None:
    category = {"en": "PATIENT", "es": "NOMBRE_SUJETO_ASISTENCIA"}[language]
    forms = [
        len({document.covered_text(span) for span in document.annotations if span.category == category})
        for site in site_names(language)
        for document in notes[site]
    ]
    assert sum(count > 1 for count in forms) / len(forms) > 0.5


@pytest.mark.parametrize("language", ["en", "es"])
def test_hospitals_share_few_lines_and_no_staff(language: str, notes: dict[str, list[Document]]) -> None:
    doctor = {"en": "DOCTOR", "es": "NOMBRE_PERSONAL_SANITARIO"}[language]
    staff, starts = {}, {}
    for site in site_names(language):
        covered = [
            (span.category, document.covered_text(span)) for document in notes[site] for span in document.annotations
        ]
        staff[site] = {text.lower() for category, text in covered if category == doctor and len(text.split()) > 1}
        starts[site] = {document.text[:10] for document in notes[site]}
    for left in staff:
        for right in staff:
            if left < right:
                assert len(staff[left] & staff[right]) <= 0.02 * len(staff[left])
                assert len(starts[left] & starts[right]) <= 0.25 * len(starts[left])


def test_hard_cases_occur(notes: dict[str, list[Document]]) -> None:
    english = "\n".join(document.text for site in site_names("en") for document in notes[site])
    spans = [
        (span.category, document.covered_text(span), document.text[span.end : span.end + 1])
        for site in site_names("en")
        for document in notes[site]
        for span in document.annotations
    ]
    assert re.search(r"(Parkinson|Crohn|Foley)", english)
    assert any(category == "PATIENT" and text in AMBIGUOUS["en"] for category, text, _ in spans)
    assert any(category == "DATE" and after.isalpha() for category, _, after in spans)
    assert any(category == "PATIENT" and text.islower() for category, text, _ in spans)
    assert any(category == "AGE" and text.isalpha() for category, text, _ in spans)
    assert any(category == "DATE" and text in {"March", "Monday"} for category, text, _ in spans)
    assert re.search(r"\b1[0-9]{2}/[0-9]{2}\b", english)


def test_public_text_is_plain_and_none_of_the_labelled_notes() -> None:
    texts = list(generate_public_text("es", 5, seed=1))
    labelled = [document.text for document in generate_notes(public_site("es"), 5, seed=1)]
    assert texts == list(islice(generate_public_text("es", 50, seed=1), 5))
    assert all(isinstance(text, str) and text for text in texts)
    assert not set(texts) & set(labelled)


def test_wrong_names_are_refused_at_once() -> None:
    with pytest.raises(ConfigurationError, match="en_nowhere"):
        generate_notes("en_nowhere", 1, 1)
    with pytest.raises(ConfigurationError, match="fr"):
        generate_public_text("fr", 1, 1)
    with pytest.raises(ConfigurationError, match="-1"):
        generate_notes("en_moor", -1, 1)
    assert list(generate_notes("en_moor", 0, 1)) == []

"""The papers' tables on i2b2: notes in the formats of its two challenges, as somebody who holds the licence has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench import corpora, outcomes
from bench.generalise import phicon
from bench.outcomes import Outcome
from bench.papers import i2b2
from shared.corpus.writing import write_corpus
from shared.document import Document
from shared.errors import ConfigurationError
from shared.generate import generate_notes
from shared.labels import load_scheme
from shared.training.language import LanguageSettings
from tests.shared.augment.dictionary import write_wordnet
from tests.shared.embeddings.made import table

EFFORT = i2b2.Effort(16, (1,), (60, 100), LanguageSettings(units=8, epochs=1))
_OF_2006 = {"PATIENT": "PATIENT", "DOCTOR": "DOCTOR", "HOSPITAL": "HOSPITAL", "DATE": "DATE", "PHONE": "PHONE"}


def made(count: int, seed: int) -> Iterator[Document]:
    return generate_notes("en_harbor", count, seed)


def as_2006(document: Document) -> Document:
    """With the categories that the challenge of 2006 has."""
    kept = (one for one in document.annotations if one.category in _OF_2006)
    return replace(document, annotations=tuple(kept))


@pytest.fixture
def challenges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both, where the environment says that they are; public words and texts are few."""
    for split, count, seed in (("train", 6, 1), ("test", 2, 2)):
        (tmp_path / "2006" / split).mkdir(parents=True)
        write_corpus(map(as_2006, made(count, seed)), tmp_path / "2006" / split / "deid_surrogate.xml", "i2b2_2006")
        write_corpus(made(count, seed), tmp_path / "2014" / split, "i2b2_2014")
    for year in (2006, 2014):
        monkeypatch.setenv(f"DEID_COMMONS_I2B2_{year}", str(tmp_path / str(year)))
    words = sorted({word.lower() for note in made(8, 1) for word in note.text.split()})
    monkeypatch.setattr(i2b2, "english", lambda: table(words))
    write_wordnet(tmp_path / "wordnet30")
    monkeypatch.setattr(corpora, "path", tmp_path.joinpath)
    monkeypatch.setattr(corpora, "public_english_texts", lambda: (note.text for note in made(5, 3)))
    monkeypatch.setattr(outcomes, "RUNS", tmp_path / "runs")
    return tmp_path


def test_a_tagger_of_one_challenge_reads_the_whole_of_the_other(challenges: Path) -> None:
    found = i2b2._copied(2006, 2014, 60, phicon.PAPER, 1, EFFORT)
    # Of six notes and of two, whatever their labels are called there.
    assert len(found.tokens) == 8
    assert (
        sum(hits + missed for hits, _, missed in found.tokens)
        > sum(hits + missed for hits, _, missed in found.entities)
        > 50
    )


def test_both_taggers_read_the_test_notes(challenges: Path) -> None:
    for name in i2b2.TAGGERS:
        assert len(i2b2._tagged(name, 1, EFFORT).tokens) == 2


def test_rows_stand_beside_the_papers_and_tell_what_they_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    def hits(count: int) -> Outcome:
        return Outcome([[count, 0, 10 - count]] * 2, [[count, 0, 10 - count]] * 2, "abc")

    def copied(
        train: int, test: int, fraction: int, methods: tuple[str, ...], seed: int, effort: i2b2.Effort
    ) -> Outcome:
        return hits(5 + len(methods) + (fraction == 100))

    monkeypatch.setattr(i2b2, "_copied", copied)
    monkeypatch.setattr(i2b2, "_tagged", lambda name, seed, effort: hits(8 if name == i2b2.KHIN else 7))
    effort = i2b2.Effort(fractions=(20, 100))
    entries = {one.measure: one for one in (*i2b2.phicon(effort), *i2b2.taggers(effort))}
    whole = entries["token-binary F1, i2b2 2014 to 2006, phi + context, 100% of the notes"]
    assert (whole.value, whole.seeds, whole.data, whole.commit) == (0.8889, 3, "i2b2 2006, train and test", "abc")
    assert "0.8051" in whole.note
    assert "0.803" in entries["token-binary F1, i2b2 2014 to 2006, context, 100% of the notes"].note
    assert entries[f"{whole.measure}, gained"].value == pytest.approx(16 / 18 - 12 / 16, abs=1e-4)
    assert entries[f"strict F1, i2b2 2014, {i2b2.KHIN}, gained"].value == pytest.approx(16 / 18 - 14 / 17, abs=1e-4)
    # Two directions of two fractions with and without copies, each method alone at the whole; two taggers.
    assert len(entries) == 2 * (2 * 3 + 2 * 2) + 2 + 4


def test_without_the_notes_one_line_says_what_to_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DEID_COMMONS_I2B2_2006", raising=False)
    with pytest.raises(ConfigurationError, match="DEID_COMMONS_I2B2_2006 to name a folder"):
        i2b2.notes(2006, "train")
    monkeypatch.setenv("DEID_COMMONS_I2B2_2006", str(tmp_path))
    with pytest.raises(ConfigurationError, match="which its licence gives you"):
        i2b2.notes(2006, "train")


def test_the_tables_are_of_categories_that_the_schemes_have() -> None:
    assert set(_OF_2006) <= set(load_scheme("i2b2_2006").categories)
    assert set(phicon.PUBLISHED_3) == set(phicon.PUBLISHED_4)
    assert all(len(row) == len(phicon.FRACTIONS) for rows in phicon.PUBLISHED_3.values() for row in rows.values())

"""Synonyms of WordNet: in the commonest sense, in the same inflection, and never a name."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from shared.augment.wordnet import PartOfSpeech, WordNet, inflect, read_wordnet
from shared.errors import ConfigurationError
from tests.data import corpus
from tests.shared.augment.dictionary import write_wordnet


@pytest.fixture
def wordnet(tmp_path: Path) -> WordNet:
    return read_wordnet(write_wordnet(tmp_path / "wordnet"))


def synonyms(wordnet: WordNet, word: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(str(one.part), wordnet.synonyms_of(one)) for one in wordnet.readings(word)]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # The commonest part of speech first.
        ("report", [("verb", ("describe", "tell")), ("noun", ("account",))]),
        # "tell" is inflected irregularly.
        ("reported", [("verb", ("described",))]),
        ("reports", [("verb", ("describes",)), ("noun", ("accounts",))]),
        ("stopped", [("verb", ("halted",))]),
        ("stopping", [("verb", ("halting",))]),
        ("carries", [("verb", ("transports",))]),
        # The sense that comes first in the index; a name is no synonym, and no word of two words.
        ("test", [("noun", ("trial",)), ("verb", ())]),
        ("knees", [("noun", ())]),
        ("severe", [("adj", ("grave",))]),
        ("wrote", []),
        ("stoped", []),
        ("washington", [("noun", ("president",))]),
        ("aspirin", []),
        ("s", []),
        ("ed", []),
    ],
)
def test_a_word_has_the_synonyms_of_its_first_sense_in_its_inflection(
    word: str, expected: list[tuple[str, tuple[str, ...]]], wordnet: WordNet
) -> None:
    assert synonyms(wordnet, word) == expected


@pytest.mark.parametrize(
    ("lemma", "forms"),
    [
        ("carry", "carries carried carrying"),
        ("play", "plays played playing"),
        ("die", "dies died dying"),
        ("agree", "agrees agreed agreeing"),
        ("note", "notes noted noting"),
        ("plan", "plans planned planning"),
        ("fix", "fixes fixed fixing"),
        ("show", "shows showed showing"),
        ("visit", "visits visited visiting"),
        ("watch", "watches watched watching"),
        ("need", "needs needed needing"),
    ],
)
def test_regular_forms_are_those_of_a_grammar(lemma: str, forms: str) -> None:
    assert [inflect(lemma, ending) for ending in ("s", "ed", "ing")] == forms.split()
    assert inflect(lemma, "") == lemma


def test_common_words_are_those_of_a_part_of_speech_before_any_other(wordnet: WordNet) -> None:
    assert wordnet.common(PartOfSpeech.VERB, 5) == ("carry", "report", "stop", "write")
    assert wordnet.common(PartOfSpeech.NOUN, 5) == ("knee", "patient", "test")


@pytest.mark.parametrize("inner", ["", "dict", "corpora/wordnet", "nltk_data/corpora/wordnet"])
def test_the_files_are_found_where_wordnet_and_nltk_have_them(inner: str, tmp_path: Path) -> None:
    write_wordnet(tmp_path / "here" / inner) if inner else write_wordnet(tmp_path / "here")
    assert synonyms(read_wordnet(tmp_path / "here"), "severe") == [("adj", ("grave",))]


def test_an_archive_of_nltk_is_read_as_its_folder_is(tmp_path: Path) -> None:
    folder = write_wordnet(tmp_path / "wordnet")
    (tmp_path / "here" / "corpora").mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "here" / "corpora" / "wordnet.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"wordnet/{path.name}")
    assert read_wordnet(tmp_path / "here").synonyms == read_wordnet(folder).synonyms
    assert read_wordnet(tmp_path / "here").digest == read_wordnet(folder).digest


def _missing(folder: Path) -> None:
    (folder / "index.verb").unlink()


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def _cut(folder: Path) -> None:
    lines = (folder / "data.noun").read_text().splitlines()
    (folder / "data.noun").write_text("\n".join(lines[:-3]))


def _other(folder: Path) -> None:
    (folder / "cntlist.rev").write_text("these are no counts at all\n")


@pytest.mark.parametrize("damage", [_missing, _empty, _cut, _other])
def test_what_is_no_wordnet_is_told_in_one_line(damage: object, tmp_path: Path) -> None:
    assert callable(damage)
    damage(write_wordnet(tmp_path / "wordnet"))
    with pytest.raises(ConfigurationError, match=r"expected .* WordNet 3\.0") as caught:
        read_wordnet(tmp_path / "wordnet")
    assert "\n" not in str(caught.value)


def test_a_damaged_archive_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "wordnet.zip").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(ConfigurationError, match="damaged"):
        read_wordnet(tmp_path)


def test_wordnet_itself_has_the_words_of_a_clinic() -> None:
    wordnet = read_wordnet(corpus("wordnet30"))
    # As anybody can look them up.
    assert ("verb", ("described", "accounted")) in synonyms(wordnet, "reported")
    assert synonyms(wordnet, "severe")[0] == ("adj", ("terrible", "wicked"))
    assert len(wordnet.synonyms[PartOfSpeech.NOUN]) > 50_000

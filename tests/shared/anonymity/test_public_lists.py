"""Public lists: what they hold, what they must not, and that nobody can put another file in the place of theirs."""

from __future__ import annotations

import hashlib
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest

from foundation.errors import StorageError
from shared.anonymity import shipped_lists as shipped
from shared.anonymity.names import default_names
from shared.anonymity.public_lists import PublicList, on_public_lists, read_public_list
from shared.anonymity.shipped_lists import read_forms, shipped_lists
from shared.errors import ConfigurationError

OWN, ENGLISH, SPANISH = shipped_lists()


def on(*words: str) -> list[bool]:
    found: list[bool] = on_public_lists(words, shipped_lists()).tolist()
    return found


def test_common_words_of_both_languages_are_public_in_any_casing() -> None:
    words = (
        "patient PATIENT Paciente quirúrgico hospital de la the was del izquierdo tac mmHg amoxicilina warfarin".split()
    )
    assert all(on(*words))
    assert on(unicodedata.normalize("NFD", "Quirúrgico")) == [True]


def test_punctuation_is_and_numbers_never_are() -> None:
    assert on(".", "(", "…", "€") == [True] * 4
    assert not any(on("7", "2019", "28040", "1st", "a1", "²"))


def test_names_are_not_though_the_dictionaries_hold_many() -> None:
    assert not any(on("García", "garcia", "GARCÍA", "Smith", "Quillfeather", "María", "Torres", "Zwiebelfisch"))
    assert {"garcía", "torres"} <= SPANISH.forms()


@pytest.mark.parametrize("scheme", ["meddocan", "i2b2_2014"])
def test_of_the_lists_of_names_only_our_own_words_are_public(scheme: str) -> None:
    listed = sorted({word for words in default_names(scheme) for word in words})
    public = {word.lower() for word, held in zip(listed, on(*listed), strict=True) if held}
    assert public <= OWN.words
    assert len(public) < 0.03 * len(listed)


def test_our_own_words_are_words_in_lower_case() -> None:
    assert len(OWN.words) > 900
    assert all(word == word.lower() and not any(map(str.isdigit, word)) for word in OWN.words)


def test_each_list_says_where_it_comes_from() -> None:
    path = Path(shipped.__file__).with_name("clinical_words.toml")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == OWN.sha256
    for one in (OWN, ENGLISH, SPANISH):
        assert all((one.name, one.source, one.licence))
        assert len(bytes.fromhex(one.sha256)) == 32
        assert len(repr(one)) < 1000


def test_a_dictionary_of_other_bytes_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"simplemma==2\.0\.0"):
        read_forms("en", SPANISH.sha256)


def test_the_reader_finds_what_the_package_itself_finds() -> None:
    from simplemma.strategies.dictionaries import frontcode
    from simplemma.strategies.dictionaries.dictionary_factory import _read_decompressed

    theirs = frontcode._decode_stream(_read_decompressed("en"))
    assert read_forms("en", ENGLISH.sha256) == sorted(theirs)


class TestOwnList:
    def test_a_hospital_adds_its_own_words(self, tmp_path: Path) -> None:
        path = tmp_path / "words.txt"
        path.write_text("Quillfeather\n\n Larkspur \n12345\n", encoding="utf-8")
        own = read_public_list(path)
        assert own.holds(["QUILLFEATHER", "larkspur", "Osyth", "12345", ""]).tolist() == [
            True,
            True,
            False,
            False,
            False,
        ]
        assert own.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert "quillfeather" not in repr(own)

    def test_one_that_can_not_be_read_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(StorageError):
            read_public_list(tmp_path / "absent")

    def test_a_list_is_asked_only_for_what_those_ahead_of_it_do_not_hold(self) -> None:
        asked: list[str] = []

        class Asked(PublicList):
            def _holds_folded(self, word: str) -> bool:
                asked.append(word)
                return True

        first = PublicList("first", "", "", "", frozenset({"one"}))
        assert on_public_lists(["one", "two", "."], (first, Asked("second", "", "", ""))).all()
        assert asked == ["two"]


def test_what_is_no_text_is_on_no_list() -> None:
    assert on("\ud800", "") == [False, True]


def test_forms_in_utf_8_have_the_order_of_their_texts() -> None:
    for one in (ENGLISH, SPANISH):
        assert isinstance(one, shipped.Dictionary)
        assert all(before < after for before, after in pairwise(one.sorted_forms))
    assert isinstance(ENGLISH, shipped.Dictionary)
    assert [form.decode() for form in ENGLISH.sorted_forms] == sorted(ENGLISH.forms())

"""Lists of names."""

from __future__ import annotations

from pathlib import Path

import pytest

from foundation.errors import StorageError
from shared.anonymity.names import default_names, full_names, names_of_all_schemes, read_names


def test_names_are_read_from_lines_and_first_columns(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text('name,count\n"DE LA CRUZ",5\nGarcía,7\n\n', encoding="utf-8")
    assert read_names(path) == ("CRUZ", "García")
    with pytest.raises(StorageError):
        read_names(tmp_path / "absent")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nombre,frec,edad_media\nANTONIO,765138,52.7\nJOSE,706051,58.3\n", ("ANTONIO", "JOSE")),
        ("ANTONIO,765138,52.7\nJOSE,706051,58.3\n", ("ANTONIO", "JOSE")),
        ("Smith\nJones\n", ("Smith", "Jones")),
        ("Smith,Jr.\nJones,5\nBrown,\n", ("Smith", "Jones", "Brown")),
        ("Smith,rank\n", ("Smith",)),
        ("", ()),
    ],
)
def test_a_header_is_no_name_and_what_may_be_a_name_is_no_header(
    tmp_path: Path, text: str, names: tuple[str, ...]
) -> None:
    """As a name it would hide the word "nombre", by which notes say that a name follows."""
    path = tmp_path / "names.csv"
    path.write_text(text, encoding="utf-8")
    assert read_names(path) == names


def test_a_name_counts_as_the_words_that_a_note_cuts_it_into(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text("O'Neill\nGarcía-Pérez\nMun\u0303oz\nMaría José\nSmith, Jr.\nJ. R.\n", encoding="utf-8")
    assert read_names(path) == ("Neill", "García", "Pérez", "Muñoz", "María", "José", "Smith")


@pytest.mark.parametrize(("scheme", "name"), [("meddocan", "García"), ("i2b2_2014", "Smith")])
def test_the_lists_are_those_of_the_language(scheme: str, name: str) -> None:
    given, surnames, places = default_names(scheme)
    assert name in surnames
    assert min(len(given), len(surnames), len(places)) >= 20
    assert len(set(surnames)) == len(surnames)


def test_the_lists_of_all_schemes_have_each_name_once() -> None:
    for number, names in enumerate(names_of_all_schemes()):
        assert len(set(names)) == len(names)
        assert set(names) == {*default_names("meddocan")[number], *default_names("i2b2_2014")[number]}


def test_full_names_are_different_and_of_two_lengths() -> None:
    names = full_names("meddocan", 300, 1)
    assert len(set(names)) == 600
    assert [len(name) for name in names].count(2) == 300
    assert names == full_names("meddocan", 300, 1)

"""The table that says whose note is whose: one reader for all commands that take `--patients`."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.errors import ConfigurationError
from site_client.patients import read_patients


def test_a_table_of_patients(tmp_path: Path) -> None:
    path = tmp_path / "whose.csv"
    path.write_text('note,ward,patient\na,1,P1\n"b,c",2, P2 \na,3,P1\n')
    assert read_patients(path) == {"a": "P1", "b,c": "P2"}


def test_the_line_of_a_cell_too_many_is_told(tmp_path: Path) -> None:
    (tmp_path / "whose.csv").write_text('note,patient,\na,"Smith, P1",\nb,Smith, P2,\n')
    with pytest.raises(ConfigurationError, match="more cells than names in line 3") as refusal:
        read_patients(tmp_path / "whose.csv")
    assert "Smith" not in str(refusal.value)


def test_a_column_that_is_named_twice_is_told(tmp_path: Path) -> None:
    (tmp_path / "whose.csv").write_text("note,patient,patient\na,P0,P1\n")
    with pytest.raises(ConfigurationError, match="and patient, got a first line that names one of them twice"):
        read_patients(tmp_path / "whose.csv")


def test_a_table_that_excel_wrote(tmp_path: Path) -> None:
    (tmp_path / "whose.csv").write_text("note,patient\r\na,P1\r\n", encoding="utf-8-sig", newline="")
    assert read_patients(tmp_path / "whose.csv") == {"a": "P1"}


def test_attack_two_spellings_of_a_letter_make_no_two_patients(tmp_path: Path) -> None:
    (tmp_path / "whose.csv").write_text("note,patient\na,M\u00fcller\nb,Mu\u0308ller\n", encoding="utf-8")
    assert len(set(read_patients(tmp_path / "whose.csv").values())) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "note\nP1\n",
        "note,patient\nP1,\n",
        "note,patient\n,P1\n",
        "note,patient\na,P1\na,P2\n",
        'note,patient\n"a,P1\n',
        "note,patient\na,Smith, P1\nb,Smith, P2\n",
        "note,patient,patient\na,P0,P1\n",
        "note,patient,note\na,P1,b\n",
        # A table without a first line: what stands there are patients.
        "a,P1\nb,P2\n",
    ],
)
def test_a_table_that_is_none_is_refused_and_no_patient_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "whose.csv"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match="expected a CSV table") as refusal:
        read_patients(path)
    assert "P1" not in str(refusal.value)

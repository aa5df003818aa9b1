"""Whose note is whose: a table of the hospital, with the columns `note` and `patient`, by which notes of one patient count once, or get one surrogate."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from foundation.reading import read_text
from shared.document import AnnotatedText
from shared.errors import ConfigurationError
from shared.text.letters import compose

NOTE, PATIENT = "note", "patient"
_MAX_BYTES = 256 << 20


def read_patients(path: Path) -> dict[str, str]:
    """The patient of every note, by the id of the note.

    Raises:
        ConfigurationError: another table, an empty cell, a cell too many, or a note of two patients.
        StorageError: it can't be read.
    """
    # Excel puts a byte order mark ahead of the first name.
    rows = csv.DictReader(io.StringIO(read_text(path, _MAX_BYTES).removeprefix("\ufeff")), strict=True)
    found: dict[str, str] = {}
    try:
        names = list(rows.fieldnames or ())
        if names.count(NOTE) != 1 or names.count(PATIENT) != 1:
            twice = {NOTE, PATIENT} <= set(names)
            raise _wrong(path, "a first line that names one of them twice" if twice else "another first line")
        for row in rows:
            if rows.restkey in row:
                # "Smith, John" and "Smith, Ann" without quotes would be one patient.
                raise _wrong(
                    path, f"more cells than names in line {rows.line_num} (text with a comma stands in quotes)"
                )
            # Of two programs that write the accents of a name otherwise, one patient is no two.
            note, patient = (row[NOTE] or "").strip(), compose((row[PATIENT] or "").strip())
            if not note or not patient:
                raise _wrong(path, f"an empty cell in line {rows.line_num}")
            if found.setdefault(note, patient) != patient:
                raise _wrong(path, f"a note of two patients in line {rows.line_num}")
    except csv.Error as error:
        raise _wrong(path, f"no table in line {rows.line_num}") from error
    return found


def count_unnamed(path: Path, patients: Mapping[str, str], notes: Sequence[AnnotatedText]) -> int:
    """How many notes are of no patient in a table, and so stand for themselves.

    Args:
        path: of the table.
        patients: what it says.
        notes: at least one.

    Raises:
        ConfigurationError: all of them: it is the table of other notes, or has other ids.
    """
    unnamed = sum(note.identifier not in patients for note in notes)
    if unnamed == len(notes):
        raise ConfigurationError(
            f"{path.name}: expected the patients of these notes, got a table that names none of the {len(notes)} notes; correct its ids"
        )
    return unnamed


def _wrong(path: Path, received: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path.name}: expected a CSV table with the columns {NOTE} (the id of a note) and {PATIENT}, got {received}; correct it"
    )

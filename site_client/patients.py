"""Whose note is whose: a table of the hospital, with the columns `note` and `patient`, by which notes of one patient count once, or get one surrogate."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from foundation.reading import read_text
from shared.errors import ConfigurationError

NOTE, PATIENT = "note", "patient"
_MAX_BYTES = 256 << 20


def read_patients(path: Path) -> dict[str, str]:
    """The patient of every note, by the id of the note.

    Raises:
        ConfigurationError: another table, an empty cell, or a note of two patients.
        StorageError: it can't be read.
    """
    rows = csv.DictReader(io.StringIO(read_text(path, _MAX_BYTES)), strict=True)
    found: dict[str, str] = {}
    try:
        if not {NOTE, PATIENT} <= set(rows.fieldnames or ()):
            raise _wrong(path, "another first line")
        for row in rows:
            note, patient = (row[NOTE] or "").strip(), (row[PATIENT] or "").strip()
            if not note or not patient:
                raise _wrong(path, f"an empty cell in line {rows.line_num}")
            if found.setdefault(note, patient) != patient:
                raise _wrong(path, f"a note of two patients in line {rows.line_num}")
    except csv.Error as error:
        raise _wrong(path, f"no table in line {rows.line_num}") from error
    return found


def _wrong(path: Path, received: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path.name}: expected a CSV table with the columns {NOTE} (the id of a note) and {PATIENT}, got {received}; correct it"
    )

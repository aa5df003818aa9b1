"""Lists of names as people have them: a text with a name a line, or a table as statistical offices publish them.

A message says where in a file something is wrong, and nothing of what stands there: a hospital may give a list of its own patients.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path

from foundation.os_errors import map_os_errors
from foundation.reading import regular_size
from shared.anonymity.names import has_header
from shared.corpus.parsing.decoding import ENCODINGS, as_utf8, decode_utf8
from shared.embeddings.generalised import strip_accents
from shared.errors import ConfigurationError, FormatError
from shared.patterns.given_names import KINDS

MOST_LINES = 1_000_000
_MAX_BYTES = 128 << 20
_LONGEST_LINE, _LONGEST_NAME = 10_000, 200
_SAMPLE = 200
_TABLES = (".csv", ".tsv", ".tab")
_SIGNS = (";", "\t", "|")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_PEOPLE, _PLACES, _STREETS = KINDS
# What columns of names are called, as far as we have seen; without accents and marks. All that a table has count.
_ANY = "name names nombre nombres nom noms nome nomi naam namn navn nev nazwa libelle denominacion denominazione bezeichnung label fullname"
_COLUMNS = {
    _PEOPLE: f"{_ANY} surname surnames lastname lastnames familyname family firstname firstnames givenname given forename apellido apellidos apellido1 apellido2 primerapellido segundoapellido prenom prenoms preusuel patronyme cognome cognomi nachname vorname vornamen familienname achternaam voornaam efternamn fornamn etternavn fornavn imie imiona nazwisko nazwiska prijmeni jmeno sobrenome apelido",
    _PLACES: f"{_ANY} city cities town towns place placename village municipality municipio municipios localidad poblacion provincia commune communes ville ort orte gemeinde gemeindename stadt comune comuni citta gemeente woonplaats kommun kommune miejscowosc miejscowosci obec cidade concelho freguesia freguesias",
    _STREETS: f"{_ANY} street streets streetname roadname road calle calles via vias nombrevia nomvia nomvoie libellevoie voie rue rues strasse strassen strassenname straat straatnaam straatnamen gata gatunamn gate vei ulica ulice utca indirizzo odonimo rua ruas logradouro callejero address addressname",
}


@dataclass(frozen=True, repr=False)
class NameFile:
    """A file that was read.

    Args:
        names: each once.
        column: where they stood, as the first line of a table calls it or by its number; None in a text.
    """

    names: tuple[str, ...]
    column: str | None

    def __repr__(self) -> str:
        return f"NameFile({len(self.names)} names)"


def read_name_file(path: Path, kind: str, encoding: str = ENCODINGS[0], column: str | None = None) -> NameFile:
    """The names in a file.

    Args:
        path: a text, one name a line, or a table: it ends with .csv, .tsv or .tab, or every line has a semicolon, a tab or a "|".
        kind: one of KINDS.
        encoding: one of ENCODINGS, of what is no UTF-8.
        column: of a table, as its first line calls it; None for all that are called what such columns are, or the first that has words.

    Raises:
        ConfigurationError: it has no names, or is no such file.
        StorageError: it can't be read.
    """
    lines = _lines(path, encoding)
    delimiter = _delimiter(path, lines)
    if delimiter is None and column is not None:
        raise _wrong(path, "a table with the column that --column names, got a text without columns; leave it out")
    called = None
    try:
        if delimiter is not None:
            called, found = _of_table(path, lines, delimiter, kind, column)
        else:
            found = iter(lines[1:] if lines and _plain(lines[0]) in _columns(kind) else lines)
        stripped = (" ".join(cell.split()) for cell in found)
        names = tuple(dict.fromkeys(name for name in stripped if _may_be_name(name)))
    except csv.Error as error:
        raise _wrong(path, "a table, got one whose cells do not end; see that its quotes come in pairs") from error
    if not names:
        raise _wrong(path, "a name with a letter, got none; see that it is the right file")
    if (longest := max(map(len, names))) > _LONGEST_NAME:
        raise _wrong(path, f"names of at most {_LONGEST_NAME} characters, got one of {longest}; put each on a line")
    return NameFile(names, called)


def _lines(path: Path, encoding: str) -> list[str]:
    """All lines that have something on them."""
    too_long = _wrong(path, f"fewer than {MOST_LINES} lines, got more; give a list that says each name once")
    if regular_size(path) > _MAX_BYTES:
        raise too_long
    with map_os_errors(path):
        data = path.read_bytes()
    why = ""
    try:
        text = decode_utf8(as_utf8(data, encoding), path.name)
    except FormatError as error:
        # Not chained: it is about notes.
        why = str(error)
    if why:
        raise ConfigurationError(why)
    text = unicodedata.normalize("NFC", io.StringIO(text, newline=None).read())
    if text.count("\n") >= MOST_LINES:
        raise too_long
    if control := _CONTROL.search(text):
        place = text.count("\n", 0, control.start()) + 1
        raise _wrong(path, f"text, got a control character in line {place}; see that it is the right file")
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if len(line) > _LONGEST_LINE:
            raise _wrong(
                path,
                f"lines of at most {_LONGEST_LINE} characters, got one of {len(line)} (line {number}); put each name on a line",
            )
    return [line for line in lines if line.strip()]


def _delimiter(path: Path, lines: Sequence[str]) -> str | None:
    """What parts the cells of a table; None for a text, where a name may have a comma ("Coruña, A")."""
    is_table = path.suffix.lower() in _TABLES
    signs = (*_SIGNS, ",") if is_table else _SIGNS
    sample = lines[:_SAMPLE]
    usual = "," if is_table else None
    return next((sign for sign in signs if sample and all(sign in line for line in sample)), usual)


def _of_table(
    path: Path, lines: Sequence[str], delimiter: str, kind: str, column: str | None
) -> tuple[str, Iterator[str]]:
    """What the columns of names are called, and their cells."""
    # Tables with tabs have no quotes, and names with one do.
    if delimiter == "\t":
        table = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        table = csv.reader(lines, delimiter=delimiter, strict=True)
    rows = filter(None, table)
    sample = list(islice(rows, _SAMPLE))
    first, below = (sample[0], sample[1:]) if sample else ([], [])
    asked = _columns(kind) if column is None else {_plain(column)}
    places = [
        place
        for place, cell in enumerate(first)
        if _plain(cell) in asked and (column is not None or not below or _has_words(below, place))
    ]
    if column is not None and not places:
        raise _wrong(path, "the column that --column names in the first line, got others; correct its name")
    headed = bool(places) or has_header(sample)
    if not places:
        every = below if headed else sample
        places = [place for place in range(len(first)) if _has_words(every, place)][:1]
    called = ", ".join(" ".join(first[place].split()) if headed else str(place + 1) for place in places)
    cells = (row[place] for row in chain(below if headed else sample, rows) for place in places if place < len(row))
    return called, cells


def _has_words(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Whether most cells of a column have more letters than other signs."""
    cells = [row[place].strip() for row in rows if len(row) > place and row[place].strip()]
    return 2 * sum(2 * sum(map(str.isalpha, cell)) > len(cell) for cell in cells) > len(cells)


def _may_be_name(name: str) -> bool:
    """Statistical offices call those whom they do not name `_PRENOMS_RARES`."""
    return not name.startswith("_") and any(map(str.isalpha, name))


@cache
def _columns(kind: str) -> frozenset[str]:
    return frozenset(_COLUMNS[kind].split())


def _plain(name: str) -> str:
    """The name of a column without capitals, accents and marks."""
    return "".join(filter(str.isalnum, strip_accents(name)))


def _wrong(path: Path, expected: str) -> ConfigurationError:
    return ConfigurationError(f"{path.name}: expected {expected}")

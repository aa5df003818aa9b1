"""Which files make up a corpus and which format they hold, with a sentence that says why.

A folder is read flat; if it holds folders and no files, they are read one level below. Hidden files are passed over.
Without a named format every file must be of one kind, because a stray file may be a note that someone would miss.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from foundation.os_errors import storage_error
from foundation.reading import real_path
from shared.corpus.formats.conll import TAG, Conll
from shared.corpus.formats.csv_table import CsvTable, find_delimiter
from shared.corpus.formats.parquet_table import ParquetTable
from shared.corpus.formats.records.doccano import LABEL_KEYS
from shared.corpus.formats.records.json_records import JsonRecords, json_entries
from shared.corpus.formats.registry import make_format
from shared.corpus.parsing.compressed_files import map_reading_errors, open_bytes
from shared.corpus.parsing.decoding import ENCODINGS, as_utf8
from shared.corpus.parsing.format import stem_of, suffix_of
from shared.errors import CorpusError, FormatError

# How many files or records are looked at before giving up: the first ones may be damaged.
_PATIENCE = 100
_SNIFF_BYTES = 1 << 16
_ROOT = re.compile(rb"<(?![?!])([A-Za-z][\w.-]*)")
_ROOTS = {b"deIdi2b2": "i2b2_2014", b"MEDDOCAN": "meddocan", b"ROOT": "i2b2_2006"}
_AUTO = "auto"
# What word processors and scanners make: notes, most likely, that would be missed.
OFFICE = frozenset({".docx", ".doc", ".odt", ".pdf", ".rtf", ".xlsx", ".xls", ".ods", ".html", ".htm"})
_MOST_NAMED = 5
_KINDS: dict[str, tuple[str, ...]] = {
    ".txt": (".txt", ".ann"),
    ".xml": (".xml",),
    ".json": JsonRecords.suffixes,
    ".csv": tuple(suffix for suffix in CsvTable.suffixes if "csv" in suffix),
    ".parquet": ParquetTable.suffixes,
    ".conll": tuple(suffix for suffix in Conll.suffixes if "tsv" not in suffix),
    ".tsv": (".tsv", ".tsv.gz"),
}
_READABLE = frozenset(suffix for suffixes in _KINDS.values() for suffix in suffixes)
_SHOWN = (".txt", ".ann", ".xml", ".jsonl", ".json", ".csv", ".parquet", ".conll")


@dataclass(frozen=True, slots=True)
class Detection:
    """What a path holds.

    Args:
        format: name of the format.
        why: a sentence for people.
        folder: where the files lie.
        names: the files, relative to the folder, sorted.
        passed_over: files that do not belong to a format named by the user.
        stray: files that may hold notes and that nothing here reads, relative to the folder, sorted.
    """

    format: str
    why: str
    folder: Path
    names: tuple[str, ...]
    passed_over: int = 0
    stray: tuple[str, ...] = ()


def detect(path: Path, format: str = _AUTO, text_column: str = "text", leave_out: Path | None = None) -> Detection:
    """Find files and format.

    Args:
        path: folder or file.
        format: a name, or "auto".
        text_column: where the text stands, in CSV and plain JSONL.
        leave_out: a folder that is not part of the corpus (the quarantine).

    Raises:
        FormatError: no files, files of several kinds, or a kind that nobody knows.
        StorageError: the path can't be read.
        ConfigurationError: no format of that name.
    """
    if format != _AUTO:
        make_format(format)
    try:
        if not path.is_dir():
            os.stat(path)
            return _detect_file(path, format, text_column)
        names = _list_files(path, leave_out)
    except OSError as error:
        raise storage_error(path, error) from error
    if not names:
        raise FormatError("expected notes in the folder, got none; check the path", document=str(path))
    if format == _AUTO:
        readable = tuple(name for name in names if suffix_of(name) in _READABLE)
        stray = tuple(name for name in names if suffix_of(name) not in _READABLE)
        if not readable:
            raise stray_error(stray)
        found, why = _guess(path, readable, text_column)
        return Detection(found, _sentence(found, readable, why), path, readable, stray=stray)
    suffixes = make_format(format).suffixes
    kept = tuple(name for name in names if suffix_of(name) in suffixes)
    stray = tuple(name for name in names if suffix_of(name) in OFFICE)
    if not kept and stray:
        raise stray_error(stray)
    if not kept:
        raise FormatError(
            f"expected files that end in {' or '.join(suffixes)}, got none; check path and format", document=str(path)
        )
    passed_over = len(names) - len(kept) - len(stray)
    return Detection(format, _sentence(format, kept, "as you named it"), path, kept, passed_over, stray)


def stray_error(names: tuple[str, ...]) -> FormatError:
    """What there is to say of files that nothing here reads; all are named, or the first few and how many more."""
    known = ", ".join(_SHOWN)
    if len(names) == 1:
        return FormatError(
            f"expected notes as text ({known}), got a file of another kind; save it as plain text if it is a note, else "
            "move it, or set it aside by --quarantine",
            document=names[0],
        )
    more = len(names) - _MOST_NAMED
    named = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return FormatError(
        f"expected notes as text ({known}), got {len(names)} files of other kinds: {named}; save as plain text what is a "
        "note and move the rest, or set them aside by --quarantine"
    )


def _detect_file(path: Path, format: str, text_column: str) -> Detection:
    names: tuple[str, ...] = (path.name,)
    if suffix_of(path.name) in OFFICE or (format == _AUTO and suffix_of(path.name) not in _READABLE):
        raise stray_error(names)
    text, spans = (path.with_name(stem_of(path.name) + suffix) for suffix in (".txt", ".ann"))
    beside = path in (text, spans) and spans.exists()
    if format == _AUTO:
        found, why = (
            ("brat", "an .ann file lies beside the text") if beside else _guess(path.parent, names, text_column)
        )
    else:
        found, why = make_format(format).name, "as you named it"
    if found == "brat" and text.exists():
        names = (text.name,)
    return Detection(found, _sentence(found, names, why), path.parent, names)


def _list_files(folder: Path, leave_out: Path | None) -> tuple[str, ...]:
    files, folders = _scan(folder, leave_out)
    if files and folders:
        raise FormatError(
            f"expected notes or folders of notes, got {len(files)} files and {len(folders)} folders; name one folder",
            document=str(folder),
        )
    for name in folders:
        inner_files, inner_folders = _scan(folder / name, leave_out)
        if inner_folders:
            raise FormatError(
                "expected notes at most one folder down, got deeper folders; name one of them",
                document=str(folder / name),
            )
        files += [f"{name}/{inner}" for inner in inner_files]
    return tuple(sorted(files))


def _scan(folder: Path, leave_out: Path | None) -> tuple[list[str], list[str]]:
    files, folders = [], []
    hidden = real_path(leave_out) if leave_out else None
    with os.scandir(folder) as items:
        for item in items:
            if item.name.startswith("."):
                continue
            if item.is_file():
                files.append(item.name)
            elif not item.is_dir():
                raise FormatError(
                    "expected files and folders, got a broken link or a device; remove it", document=item.name
                )
            elif hidden is None or real_path(Path(item.path)) != hidden:
                folders.append(item.name)
    return files, folders


def _guess(folder: Path, names: tuple[str, ...], text_column: str) -> tuple[str, str]:
    counts = Counter(suffix_of(name) for name in names)
    kind = next((kind for kind, suffixes in _KINDS.items() if counts.keys() <= set(suffixes)), None)
    if kind is None:
        found = ", ".join(f"{count} {suffix}" for suffix, count in sorted(counts.items()))
        raise FormatError(
            f"expected files of one kind, got {found}; move the others or name the format", document=names[0]
        )
    if kind == ".txt":
        return ("brat", "there are .ann files beside the text") if counts[".ann"] else ("txt", "all files end in .txt")
    if kind == ".csv":
        return "csv", "files end in .csv"
    if kind == ".parquet":
        return "parquet", "files end in .parquet"
    if kind == ".conll":
        return "conll", f"files end in {' or '.join(sorted(counts))}"
    if not any((folder / name).stat().st_size for name in names):
        raise FormatError("expected at least one document, got empty files; check the path", document=names[0])
    sniff = {".xml": _sniff_xml, ".json": _sniff_json, ".tsv": _sniff_columns}[kind]
    for seen in islice(sniff(folder, names, text_column), _PATIENCE):
        if seen:
            return seen
    raise FormatError(
        f"expected a known kind of {kind} file, got none among the first; name the format, and for JSON the text field",
        document=names[0],
    )


def _sniff_xml(folder: Path, names: tuple[str, ...], _: str) -> Iterator[tuple[str, str] | None]:
    for name in names:
        with map_reading_errors(folder / name), open_bytes(folder / name) as stream:
            root = _ROOT.search(stream.read(_SNIFF_BYTES))
        known = _ROOTS.get(root[1]) if root else None
        yield (known, f"the root element is {root[1].decode()}") if root and known else None


def _sniff_json(folder: Path, names: tuple[str, ...], text_column: str) -> Iterator[tuple[str, str] | None]:
    for name in names:
        try:
            for entry in json_entries(folder / name):
                yield _shape(entry.parts[".json"], text_column)
        except CorpusError:
            if len(names) == 1:
                raise
            yield None  # Another file may show the format; reading will then say what is wrong with this one.


def _shape(data: bytes, text_column: str) -> tuple[str, str] | None:
    try:
        # Whatever is wrong with it beside its keys, its encoding included, reading will say.
        record = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    if "full_text" in record and "spans" in record:
        return "presidio", "records have full_text and spans"
    if "resourceType" in record:
        return "fhir", "records have resourceType"
    if isinstance(record.get("data"), dict) and ("annotations" in record or "completions" in record):
        return "labelstudio", "records have data and annotations"
    labels = [key for key in LABEL_KEYS if key in record]
    if labels and ("text" in record or "data" in record) and record.get("annotations") is None:
        return "doccano", f"records have text and {labels[0]}"
    return ("jsonl", f"records have '{text_column}'") if text_column in record else None


def _sniff_columns(folder: Path, names: tuple[str, ...], text_column: str) -> Iterator[tuple[str, str] | None]:
    for name in names:
        with map_reading_errors(folder / name), open_bytes(folder / name) as stream:
            data = stream.readline(_SNIFF_BYTES)
        # Reading will say what a line in none of them is.
        readings = [as_utf8(data, encoding).decode("utf-8", "replace").removeprefix("\ufeff") for encoding in ENCODINGS]
        line = readings[0]
        try:
            found = any(find_delimiter(reading, text_column, name) for reading in readings)
        except FormatError:
            if len(names) == 1:
                raise
            found = False  # As of JSON above.
        if found:
            yield "csv", f"the header row has a column '{text_column}'"
        else:
            yield (
                ("conll", "the first line ends in a tag")
                if TAG.fullmatch(line.rstrip("\r\n").split("\t")[-1])
                else None
            )


def _sentence(format: str, names: tuple[str, ...], why: str) -> str:
    files = f"{len(names)} file{'s' if len(names) != 1 else ''}"
    return f"{make_format(format).title} ({files}; {why})"

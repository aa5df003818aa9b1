"""Faults of every kind, and no error, cause, traceback line or quarantine line may hold a word of the notes."""

from __future__ import annotations

import random
import traceback
from pathlib import Path

import numpy as np
import pytest

from shared.corpus import read_corpus, write_corpus
from shared.document import Annotation, Document
from shared.errors import CorpusError, LabelError
from shared.labels import encode_tags, load_scheme, map_document
from tests.shared.corpus.samples import ANNOTATED, note
from tests.shared.corpus.test_round_trip import target

WORDS = (
    "Brunhilda",
    "Quillfeather",
    "Ermenegild",
    "Oxenthorpe",
    "4471-0093",
    "Nettlecombe",
    "wheezing",
    "Zwiebelfisch",
)
NOTES = tuple(
    note(
        f"n{number}",
        "Seen by ",
        (f"{WORDS[0]} {WORDS[1]}", "DOCTOR"),
        f" for {WORDS[6]} ",
        (WORDS[2], "PATIENT"),
        "\n",
        (WORDS[4], "IDNUM"),
        f" {WORDS[7]} ",
        (f"{WORDS[3]} of {WORDS[5]}", "HOSPITAL"),
        ".\n",
    )
    for number in range(3)
)


def damage(data: bytes, dice: random.Random) -> bytes:
    """One fault: a part lost, doubled, moved, overwritten, or a digit changed."""
    start = dice.randrange(len(data))
    end = min(len(data), start + dice.randint(1, 40))
    kind = dice.randrange(6)
    if kind == 0:
        return data[:start]
    if kind == 1:
        return data[:start] + data[end:]
    if kind == 2:
        return data[:end] + data[start:]
    if kind == 3:
        return (
            data[:start]
            + dice.choice((b"\0", b"\xff", b"\xed\xa0\x80", b"<", b'"', b"\t", b"\n", b"&x;", b"]"))
            + data[start:]
        )
    if kind == 4:
        return data[:start] + data[start:end].swapcase()[::-1] + data[end:]
    digits = [index for index, byte in enumerate(data) if chr(byte).isdigit()]
    at = dice.choice(digits)
    return data[:at] + str(dice.randrange(10)).encode() + data[at + 1 :]


def all_held(error: BaseException | None) -> str:
    """What an error and those behind it hold, printed by them or not: a decoder's own error holds its whole input."""
    if error is None:
        return ""
    own = "".join(map(repr, (error, error.args, vars(error))))
    return own + all_held(error.__cause__) + all_held(error.__context__)


def error_of(path: Path, name: str) -> CorpusError | None:
    try:
        list(read_corpus(path, format=name))
    except CorpusError as error:
        return error
    return None


@pytest.mark.parametrize("name", ANNOTATED)
def test_no_word_of_a_note_in_any_error(name: str, tmp_path: Path) -> None:
    path = target(tmp_path, name)
    write_corpus(NOTES, path, name)
    files = [path] if path.is_file() else sorted(path.iterdir())
    dice = random.Random(7)
    failures = 0
    for _ in range(400):
        file = dice.choice(files)
        whole = file.read_bytes()
        file.write_bytes(damage(whole, dice))
        error = error_of(path, name)
        if error is not None:
            failures += 1
            seen = "".join(traceback.format_exception(error)) + all_held(error)
            assert not [word for word in WORDS if word.lower() in seen.lower()]
            assert "\n" not in str(error)
        file.write_bytes(whole)
    assert failures > 90


@pytest.mark.parametrize("name", ANNOTATED)
def test_no_word_of_a_note_in_the_index_of_the_quarantine(name: str, tmp_path: Path) -> None:
    path = target(tmp_path, name)
    write_corpus(NOTES, path, name)
    file = path if path.is_file() else sorted(path.iterdir())[0]
    file.write_bytes(file.read_bytes()[:-60] + b"\xff")
    corpus = read_corpus(path, format=name, quarantine=tmp_path / "aside")
    list(corpus)
    assert corpus.report.quarantined
    lines = (tmp_path / "aside" / "quarantine.jsonl").read_text()
    assert not [word for word in WORDS if word.lower() in lines.lower()]


@pytest.mark.parametrize(
    "record", ['{"id": "Seen by Brunhilda Quillfeather"}', '{"id": "Brunhilda\\nQuillfeather", "text": ""}']
)
def test_an_id_that_may_be_the_note_is_not_shown(record: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(record)
    error = error_of(tmp_path / "x.jsonl", "jsonl")
    assert str(error).startswith("x-1, x.jsonl, line 1: expected")
    assert "Quill" not in repr(error)


@pytest.mark.parametrize(("label", "shown"), [("APELLIDO", True), ("last_name", True), ("Ana Marchbanks", False)])
def test_what_somebody_typed_as_a_label_may_be_a_name(label: str, shown: bool, tmp_path: Path) -> None:
    note = Document("a", "Seen by Ana", (Annotation(8, 11, label),))
    write_corpus([note], tmp_path / "a.jsonl", "jsonl")
    with pytest.raises(LabelError) as refused:
        list(read_corpus(tmp_path / "a.jsonl", categories=frozenset({"PATIENT"})))
    assert (label in str(refused.value)) == shown
    for map_it in (
        lambda: map_document(note, {}),
        lambda: encode_tags(np.zeros((1, 2), np.int32), note, load_scheme("i2b2_2014")),
    ):
        with pytest.raises(LabelError) as refused:
            map_it()
        assert (label in str(refused.value)) == shown

"""Memory must not grow with the corpus."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.corpus import read_corpus, write_corpus
from shared.document import Document
from tests.shared.corpus.samples import FILE_OF_MANY, note
from tests.shared.corpus.test_round_trip import target

_NOTE_CHARACTERS = 20_000
# Enough for their file to be twice the few megabytes that the reader of a document looks ahead.
_NOTES = 400


def many() -> Iterator[Document]:
    for number in range(_NOTES):
        yield note(f"n{number}", "x" * _NOTE_CHARACTERS + " ", ("Ana", "PATIENT"))


@pytest.mark.parametrize("name", FILE_OF_MANY)
def test_reading_and_writing_hold_a_few_notes_at_a_time(name: str, tmp_path: Path) -> None:
    path = target(tmp_path, name)
    tracemalloc.start()
    try:
        assert write_corpus(many(), path, name) == _NOTES
        assert sum(len(document.annotations) for document in read_corpus(path)) == _NOTES
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > _NOTES * _NOTE_CHARACTERS
    assert peak < path.stat().st_size / 2

"""The programs of peers see a note as it is, and what they hide is judged at its own place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.generalise import peer_taggers
from bench.peers.__main__ import main
from bench.peers.accuracy import PEERS, entries, read, read_tagged, write_vectors
from shared.corpus import write_corpus
from shared.document import Annotation, Document
from shared.embeddings.vectors import WordVectors

TEXT = "Seen\r\nby Ann Roe on\r03/04/2019."
# In the place of a package that others install: it calls what its author is sure of.
FAKE = """
def deid_string(note):
    start = note.index("Ann")
    return [{"phi_start": start + 2, "phi_end": start + 7}, {"phi_start": start, "phi_end": start + 3}], note
"""


def test_line_ends_move_no_span(tmp_path: Path) -> None:
    (tmp_path / "pyDeid.py").write_text(FAKE)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "000.txt").write_bytes(TEXT.encode())
    program = [sys.executable, peer_taggers.__file__, "tag", "pydeid"]
    folders = [str(tmp_path / name) for name in ("model", "notes", "out")]
    subprocess.run([*program, *folders], check=True, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    found = read(Document("1", TEXT), tmp_path / "out" / "000.jsonl")
    assert [TEXT[span.start : span.end] for span in found.annotations] == ["Ann Roe"]
    gold = Document("1", TEXT, (Annotation(9, 16, "DOCTOR"), Annotation(20, 30, "DATE")))
    figures = {one.measure.split(", ")[1]: one.value for one in entries("pyDeid", "learned nothing", [gold], [found])}
    assert figures["entities hidden whole"] == 0.5
    assert figures["token precision"] == 1


def test_what_ours_writes_is_read_in_the_order_of_the_notes(tmp_path: Path) -> None:
    notes = [Document("b", "Ann came."), Document("a", TEXT)]
    found = [Annotation(0, 3, "DOCTOR")], [Annotation(9, 16, "DOCTOR"), Annotation(20, 30, "DATE")]
    tagged = [
        Document(f"{n:03}", one.text, tuple(spans)) for n, (one, spans) in enumerate(zip(notes, found, strict=True))
    ]
    write_corpus(tagged, tmp_path / "out", "brat")
    read_again = read_tagged(notes, tmp_path / "out")
    assert [one.identifier for one in read_again] == ["b", "a"]
    assert [[(span.start, span.end) for span in one.annotations] for one in read_again] == [
        [(0, 3)],
        [(9, 16), (20, 30)],
    ]


def test_the_head_of_a_file_of_vectors_counts_its_lines(tmp_path: Path) -> None:
    vectors = WordVectors(["pain", "no pain", "ward"], np.eye(3, dtype=np.float32))
    write_vectors(tmp_path / "vectors.txt", vectors)
    head, *lines = (tmp_path / "vectors.txt").read_text().splitlines()
    assert (head, [line.split()[0] for line in lines]) == ("2 3", ["pain", "ward"])


def test_every_peer_can_be_run() -> None:
    assert set(peer_taggers._TRAIN) == set(peer_taggers._TAG) == set(PEERS)


def test_a_peer_that_nobody_knows_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["philter", "nobody"])
    assert refused.value.code == 2
    assert "got nobody" in capsys.readouterr().err

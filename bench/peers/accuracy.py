"""How much PHI taggers that hospitals know find at a hospital that they have not seen, learned from RAW notes of four others.

Presidio's patterns learn nothing. What the two that learn get is more than ours gets, which learns from shares of three and public notes of one: nobody may pool raw notes. The same notes are
judged by the same functions, character-exact for what is hidden whole. The others run under an interpreter of their own (`DEID_COMMONS_PEERS`).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bench import corpora
from bench.generalise import peer_taggers
from bench.generalise.figures import counts_of, f1, interval, precision, share
from bench.privacy.worth.sites import sides_of, unseen_by
from bench.results import Entry
from shared.document import Annotation, Document
from shared.evaluation import match_corpora

COMMAND = "make bench-peers"
PROVIDER = "a"
PEERS = {"crfsuite": "python-crfsuite", "spacy": "spaCy", "presidio": "Presidio, patterns alone"}
_FIGURES = (
    ("entities hidden whole", "hidden", share, "of entities"),
    ("token precision", "tokens", precision, "precision"),
    ("token-binary F1", "tokens", f1, "F1"),
)


def measure(peers: str, kinds: Sequence[str], folder: Path) -> Iterator[Entry]:
    """Train each on the pooled raw notes, tag the unseen hospital's, and judge.

    Args:
        peers: interpreter that has their packages.
        kinds: of PEERS.
        folder: empty; models and notes go there.
    """
    sides = sides_of(PROVIDER)
    gold = corpora.en_site(unseen_by(PROVIDER), "test")
    labelled, notes = folder / "labelled.jsonl", folder / "notes"
    _write(labelled, [*sides.provider, *sides.pooled])
    notes.mkdir()
    for number, note in enumerate(gold):
        # Bytes, since a line end is part of a note.
        (notes / f"{number:03}.txt").write_bytes(note.text.encode())
    for kind in kinds:
        model, out = folder / kind, folder / f"{kind}-out"
        program = [peers, peer_taggers.__file__]
        subprocess.run([*program, "train", kind, str(model), str(labelled)], check=True)
        subprocess.run([*program, "tag", kind, str(model), str(notes), str(out)], check=True)
        yield from entries(PEERS[kind], gold, [read(note, out / f"{n:03}.jsonl") for n, note in enumerate(gold)])


def read(note: Document, path: Path) -> Document:
    """A note with the spans that a peer wrote for it."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    spans = [Annotation(row["start"], row["end"], row["category"]) for row in rows]
    return Document(note.identifier, note.text, tuple(spans))


def entries(name: str, gold: Sequence[Document], found: Sequence[Document]) -> list[Entry]:
    """What a tagger finds, by the functions that judge ours.

    Args:
        name: of the tagger.
        gold: notes with their labels.
        found: the same notes with its spans.
    """
    pairs = match_corpora(gold, found)
    counts = {kind: np.array(each, dtype=np.int64) for kind, each in counts_of(pairs).items()}
    learned = "learned nothing" if name == PEERS["presidio"] else "learned from the raw notes of four hospitals"
    note = f"{learned}, tried at hospital {unseen_by(PROVIDER)}; interval over documents"
    return [
        Entry(
            f"unseen hospital, {measure}, {name}",
            round(figure(counts[kind]), 4),
            None,
            "",
            unit,
            interval([counts[kind]], figure),
            1,
            "en_sites/test",
            COMMAND,
            note,
        )
        for measure, kind, figure, unit in _FIGURES
    ]


def _write(path: Path, notes: Sequence[Document]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for note in notes:
            spans = [[one.start, one.end, one.category] for one in note.annotations]
            file.write(json.dumps({"text": note.text, "spans": spans}) + "\n")

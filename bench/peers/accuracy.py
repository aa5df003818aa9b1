"""How much PHI others find at a hospital that nobody has seen, beside ours, and what they compute for it: whole commands on the same notes.

Those that learn do so from the RAW notes of four hospitals. Ours learns from shares of three of them and the public notes of one: nobody
may pool raw notes, so what the others get is more. What learns nothing is as its package brings it. The same notes are judged by the same
functions, character-exact for what is hidden whole; labels of rules are other labels, so no category is asked for. The others run under
an interpreter of their own (`DEID_COMMONS_PEERS`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import numpy as np

from aggregator.training.head import HeadOptions
from aggregator.training.representer import RepresenterOptions
from bench import corpora
from bench.generalise import peer_taggers
from bench.generalise.figures import counts_of, f1, interval, precision, share
from bench.generalise.speed import deid_command, seconds_of
from bench.privacy.worth.sides import Sides, recipe
from bench.privacy.worth.sites import sides_of, unseen_by
from bench.results import Entry
from bench.results_loop import private_pipeline
from bench.speed.ratio import ratio
from shared.corpus import read_corpus
from shared.document import Annotation, Document
from shared.embeddings.vectors import WordVectors
from shared.evaluation import match_corpora
from shared.labels import load_scheme
from shared.sentences.tokenised import tokenised_corpus

COMMAND = "make bench-peers"
PROVIDER = "a"
TURNS = 3
OURS = "deid-commons"


@dataclass(frozen=True)
class Peer:
    """Another program.

    Args:
        name: of it.
        learns: from labelled notes.
    """

    name: str
    learns: bool = True


PEERS = {
    "crfsuite": Peer("python-crfsuite"),
    "spacy": Peer("spaCy"),
    "presidio": Peer("Presidio, patterns alone", learns=False),
    "philter": Peer("philter-lite", learns=False),
    "pydeid": Peer("pyDeid", learns=False),
    "flair": Peer("flair"),
}
_FIGURES = (
    ("entities hidden whole", "hidden", share, "of entities"),
    ("token precision", "tokens", precision, "precision"),
    ("token-binary F1", "tokens", f1, "F1"),
)


def measure(peers: str, kinds: Sequence[str], folder: Path) -> Iterator[Entry]:
    """Train each, tag the unseen hospital's notes, and judge; ours tags in turn with each.

    Args:
        peers: interpreter that has their packages.
        kinds: of PEERS.
        folder: empty; models and notes go there.
    """
    sides = sides_of(PROVIDER)
    gold = corpora.en_site(unseen_by(PROVIDER), "test")
    labelled, vectors, notes = folder / "labelled.jsonl", folder / "vectors.txt", folder / "notes"
    _write(labelled, [*sides.provider, *sides.pooled])
    write_vectors(vectors, sides.vectors)
    notes.mkdir()
    for number, note in enumerate(gold):
        # Bytes, since a line end is part of a note.
        (notes / f"{number:03}.txt").write_bytes(note.text.encode())

    _release(sides, folder)
    ours = folder / "ours"
    command = deid_command(notes, ours, folder / "user", 1)
    seconds_of(command)
    yield from entries(
        OURS, "learned from shares of three hospitals and the raw notes of one", gold, read_tagged(gold, ours)
    )
    for kind in kinds:
        peer, model, out = PEERS[kind], folder / kind, folder / f"{kind}-out"
        program = [peers, peer_taggers.__file__]
        seconds_of([*program, "train", kind, str(model), str(labelled), *([str(vectors)] if kind == "flair" else [])])
        taken: dict[Path, list[float]] = {out: [], ours: []}
        for _ in range(TURNS):
            for place, what in ((out, [*program, "tag", kind, str(model), str(notes), str(out)]), (ours, command)):
                rmtree(place, ignore_errors=True)
                taken[place].append(seconds_of(what)[0])
        learned = "learned from the raw notes of four hospitals" if peer.learns else "learned nothing"
        found = [read(note, out / f"{number:03}.jsonl") for number, note in enumerate(gold)]
        yield from entries(peer.name, learned, gold, found)
        times = ratio(taken[out], taken[ours])
        yield Entry(
            f"CPU seconds to tag the unseen hospital's notes, {peer.name}, over ours",
            times.value,
            None,
            "",
            "times",
            (times.low, times.high),
            1,
            "en_sites/test",
            COMMAND,
            f"whole commands for {len(gold)} notes, one thread, start included; median and bootstrap over {TURNS} turns",
        )


def _release(sides: Sides, folder: Path) -> None:
    """`user` with the pipeline of a release, by the defaults."""
    sentences = tokenised_corpus([*sides.provider, *sides.pooled], load_scheme(sides.scheme)).sentences
    shared = {name: list(notes) for name, notes in sides.hospitals.items()}
    options = HeadOptions(hold_out=False, undersampling=0.0)
    private_pipeline(
        sides.material(), shared, sides.scheme, RepresenterOptions(), recipe(sentences, 1), options, folder
    )


def read_tagged(notes: Sequence[Document], out: Path) -> list[Document]:
    """The notes with what `site-client deid --mode tag` has written of them, in their order, into a folder."""
    found = sorted(read_corpus(out, format="brat"), key=lambda one: one.identifier)
    return [Document(note.identifier, note.text, one.annotations) for note, one in zip(notes, found, strict=True)]


def read(note: Document, path: Path) -> Document:
    """A note with the spans that a peer wrote for it."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    spans = [Annotation(row["start"], row["end"], row["category"]) for row in rows]
    return Document(note.identifier, note.text, tuple(spans))


def entries(name: str, learned: str, gold: Sequence[Document], found: Sequence[Document]) -> list[Entry]:
    """What a program finds, by the functions that judge ours.

    Args:
        name: of the program.
        learned: from what.
        gold: notes with their labels.
        found: the same notes with its spans.
    """
    pairs = match_corpora(gold, found)
    counts = {kind: np.array(each, dtype=np.int64) for kind, each in counts_of(pairs).items()}
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


def write_vectors(path: Path, vectors: WordVectors) -> None:
    """Public word vectors, in the text format of word2vec."""
    lines = [
        f"{word} {' '.join(f'{number:.5f}' for number in row.tolist())}\n"
        for word, row in zip(vectors.words, vectors.matrix, strict=True)
        if not any(map(str.isspace, word))
    ]
    # Readers take as many lines as the head says.
    path.write_text(f"{len(lines)} {vectors.dim}\n{''.join(lines)}", encoding="utf-8")

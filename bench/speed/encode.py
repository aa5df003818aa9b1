"""`site-client encode` end to end against the bare forward pass of one bidirectional LSTM over the same word vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn

from bench import corpora
from bench.results import Entry
from bench.speed.material import DATA, DIM, notes
from bench.speed.ratio import ratio, seconds_by_turns
from protocols.payload.shuffled_writer import ShuffledWriter
from shared.constructions.procedures import recurrent
from shared.corpus import read_corpus, write_corpus
from shared.embeddings.vectors import WordVectors
from shared.models.lstm import lstm_precision
from shared.sentences.encoding import embed_sentences, token_batches
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from site_client.policy.enforcing import Acceptance
from site_client.sharing import encode as encoding
from site_client.sharing.guard import Guard
from site_client.workspace import Workspace

NOTES = 600
TURNS = 7
FORMATS = {"i2b2_2014": "i2b2 2014 XML", "meddocan": "MEDDOCAN XML", "jsonl": "JSONL"}
# Generated notes hold twice as much PHI as real ones, and each span is read and tagged by itself.
REAL = "en_sites/site_c/train"
_WRITING = ("open", "append", "close", "seal")


@dataclass(frozen=True)
class Source:
    """Notes to encode.

    Args:
        path: file or folder.
        title: for the name of the measure.
        data: for the entry.
    """

    path: Path
    title: str
    data: str


def sources(folder: Path) -> Iterator[Source]:
    """Generated notes in several formats, written into `folder`; and real ones where the corpora are."""
    for name, title in FORMATS.items():
        path = folder / (f"{name}.jsonl" if name == "jsonl" else name)
        write_corpus(notes(NOTES, 1), path, name)
        yield Source(path, title, DATA)
    if (corpora.ROOT / REAL).exists():
        yield Source(corpora.ROOT / REAL, f"{REAL}, XML", REAL)


def measure(source: Source, site: Workspace, vectors: WordVectors, command: str) -> tuple[list[Entry], str]:
    """Entries, and a line on where the time goes.

    Args:
        source: the notes.
        site: with a pulled release; shares are written into its folder.
        vectors: those of the release.
        command: to state in the entries.
    """
    batches, tokens = _batches(source.path, vectors)
    bare = nn.LSTM(DIM, 128, bidirectional=True, batch_first=True)

    def passes() -> None:
        with torch.no_grad():
            for batch in batches:
                bare(batch)

    def passes_in_our_precision() -> None:
        with torch.no_grad(), lstm_precision():
            for batch in batches:
                bare(batch)

    clocks: list[_Clock] = []
    encoder = _encoder(site, source.path, site.root / "share.parquet", clocks)
    taken = seconds_by_turns({"float32": passes, "same": passes_in_our_precision, "ours": encoder}, TURNS)
    del clocks[0]
    # What the best attacker tells of the notes is measured beside the encoding, and has a figure of its own.
    bounds = [clock.seconds["bound"] for clock in clocks]
    ours = [whole - bound for whole, bound in zip(taken["ours"], bounds, strict=True)]
    with torch.no_grad(), lstm_precision():
        precision = "bfloat16" if torch.is_autocast_enabled("cpu") else "float32"
    note = f"{tokens} tokens; LSTM of ours in {precision}; one thread; interval: bootstrap over {TURNS} turns"
    figures = (
        (
            "tokens a second over forward passes of the bare nn.LSTM in float32, torch's default",
            ratio(taken["float32"], ours),
            0.6,
            ">=",
        ),
        (
            f"tokens a second over forward passes of the bare nn.LSTM in the precision of ours ({precision})",
            ratio(taken["same"], ours),
            None,
            "",
        ),
        ("share of time in reading and writing", ratio([clock.moving for clock in clocks], ours), 0.15, "<="),
        ("white-box bound, 100 neighbours, over the encoding without it", ratio(bounds, ours), 1.0, "<="),
    )
    entries = [
        Entry(
            f"encode from {source.title}: {what}",
            found.value,
            target,
            direction,
            "times" if "over" in what else "share",
            (found.low, found.high),
            TURNS,
            source.data,
            command,
            note,
        )
        for what, found, target, direction in figures
    ]
    return entries, _stages(clocks, taken, tokens)


@dataclass
class _Clock:
    """Seconds in each stage of one encoding."""

    seconds: dict[str, float] = field(default_factory=dict)

    def wrapped(self, stage: str, action: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            with self.running(stage):
                return action(*arguments, **named)

        return timed

    @contextmanager
    def running(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - began

    def each(self, stage: str, items: Iterable[Any]) -> Iterator[Any]:
        iterator = iter(items)
        while True:
            with self.running(stage):
                item = next(iterator, None)
            if item is None:
                return
            yield item

    @property
    def moving(self) -> float:
        """Seconds of reading and writing."""
        return sum(self.seconds[stage] for stage in ("read", *_WRITING))


def _encoder(site: Workspace, source: Path, out: Path, clocks: list[_Clock]) -> Callable[[], None]:
    """One whole encoding, which leaves the times of its stages."""

    def run() -> None:
        clock = _Clock()
        chunks = tokenised_chunks
        with ExitStack() as stack:
            patches: list[tuple[object, str, str]] = [
                (Guard, "passed", "bound"),
                (recurrent, "embedded", "embed"),
                (recurrent, "represent", "represent"),
                (encoding, "load_construction", "load"),
                (encoding, "seal_share", "seal"),
                (ShuffledWriter, "append", "append"),
                (ShuffledWriter, "__enter__", "open"),
                (ShuffledWriter, "__exit__", "close"),
            ]
            for owner, name, stage in patches:
                stack.enter_context(mock.patch.object(owner, name, clock.wrapped(stage, getattr(owner, name))))
            cut = mock.patch.object(
                encoding, "tokenised_chunks", lambda *arguments: clock.each("read and tokenise", chunks(*arguments))
            )
            stack.enter_context(cut)
            encoding.encode(site, clock.each("read", read_corpus(source)), out, acceptance=Acceptance("a measurement"))
        clock.seconds["tokenise"] = clock.seconds.pop("read and tokenise") - clock.seconds["read"]
        clocks.append(clock)

    return run


def _batches(source: Path, vectors: WordVectors) -> tuple[list[Tensor], int]:
    """The batches that the representer gets, padded, and the tokens in them."""
    batches, tokens = [], 0
    for chunk in tokenised_chunks(tokenise_documents(read_corpus(source)), None):
        sentences = embed_sentences(chunk, vectors)
        tokens += sentences.tokens
        batches += [sentences.batch(rows, sentences.starts).inputs for rows in token_batches(sentences.lengths)]
    return batches, tokens


def _stages(clocks: list[_Clock], taken: dict[str, list[float]], tokens: int) -> str:
    """Nanoseconds a token of every stage, in the fastest turn."""
    best = min(range(TURNS), key=taken["ours"].__getitem__)
    parts = {"all": taken["ours"][best], **clocks[best].seconds}
    parts |= {f"bare {name}": min(taken[name]) for name in ("float32", "same")}
    return "    ns a token: " + ", ".join(f"{stage} {seconds / tokens * 1e9:.0f}" for stage, seconds in parts.items())

"""What redaction and surrogates cost beside the tagger of a release, and whether memory stays flat over many notes."""

from __future__ import annotations

import multiprocessing
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from bench.speed.material import word_vectors
from shared.document import Document
from shared.generate import generate_notes
from shared.labels import load_scheme
from shared.pipeline.pipeline import Pipeline, RawEncoder
from shared.pipeline.raw_model import train_raw_model
from shared.training.tagging import TaggingConfig
from site_client.deid.mode import Setting
from site_client.deid.redact import REDACT
from site_client.deid.surrogate import Surrogate

TRAINED_ON, TAGGED = ("en_harbor", "en_prairie"), "en_moor"
_TRAINING_NOTES, _EPOCHS = 30, 6
_LOOK_EVERY = 50


@dataclass(frozen=True)
class Cost:
    """CPU time.

    Args:
        tagging_s: of all notes.
        redact, surrogate: of all that people have labelled in them, against it.
        notes: that were tagged.
        spans: that people have labelled; of an unknown hospital a tagger finds fewer, and hiding would cost less.
    """

    tagging_s: float
    redact: float
    surrogate: float
    notes: int
    spans: int


def cost(notes: int) -> Cost:
    """What it costs to tag notes, and to hide what is labelled in them, in one run of one process.

    Args:
        notes: of a hospital that the tagger has not learned from.
    """
    pipeline = _trained()
    labelled = list(generate_notes(TAGGED, notes, 13))
    bare = [replace(one, annotations=()) for one in labelled]
    list(pipeline.annotate(bare[:1]))
    tagging = _seconds(lambda: list(pipeline.annotate(bare)))
    surrogate = Surrogate(Setting(language="English"))
    surrogate.turn(labelled[0])
    redacted = _seconds(lambda: [REDACT.turn(note) for note in labelled])
    replaced = _seconds(lambda: [surrogate.turn(note) for note in labelled])
    return Cost(tagging, redacted / tagging, replaced / tagging, notes, sum(len(note.annotations) for note in labelled))


def memory(notes: int) -> float:
    """By how many MiB the resident size is larger at any look behind a tenth of the notes than at that tenth, in a process of its own.

    Args:
        notes: that are replaced.
    """
    # A process of its own: in this one the training has left room that would hide what is kept.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as worker:
        return worker.submit(_grown, notes).result()


def _grown(notes: int) -> float:
    surrogate = Surrogate(Setting(language="English"))
    made = list(generate_notes(TAGGED, 100, 17))
    sizes: list[int] = []
    for number, note in enumerate(islice(_cycled(made), notes), start=1):
        surrogate.turn(note)
        if number % _LOOK_EVERY == 0:
            sizes.append(_resident_kib())
    first = len(sizes) // 10
    return (max(sizes[first:]) - sizes[first]) / 1024


def _cycled(notes: list[Document]) -> Iterator[Document]:
    """The notes again and again, under ids of their own."""
    number = 0
    while True:
        for note in notes:
            yield Document(f"n-{number}", note.text, note.annotations)
            number += 1


def _trained() -> Pipeline:
    """As a release has it: a tagger of the default recipe, with patterns and further mentions."""
    training = list(chain.from_iterable(generate_notes(site, _TRAINING_NOTES, 11) for site in TRAINED_ON))
    encoder = RawEncoder(word_vectors(), load_scheme("i2b2_2014"))
    return train_raw_model(training, encoder, TaggingConfig(epochs=_EPOCHS))


def _resident_kib() -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    if found is None:
        raise RuntimeError("expected VmRSS in /proc/self/status, got none")
    return int(found.group(1))


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began

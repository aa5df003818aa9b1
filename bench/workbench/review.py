"""Part `review` of docs/results/workbench.json: nothing lost by kills, the page in time, and what pre-labelling saves."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from bench.results import Entry
from bench.speed.material import word_vectors
from bench.workbench.reviewing.annotator import Work, annotate
from bench.workbench.reviewing.kills import kill_again_and_again, seconds_of_a_correction
from bench.workbench.reviewing.page import browser_here, make_project, page_times
from shared.generate import generate_notes
from shared.labels import load_scheme
from shared.pipeline.pipeline import RawEncoder
from shared.pipeline.raw_model import train_raw_model
from shared.training.tagging import TaggingConfig
from site_client.review.prelabel import PipelineFinder

COMMAND = "python -m bench.results_workbench review"
TRAINED_ON, LABELLED = ("en_harbor", "en_prairie"), "en_moor"


@dataclass(frozen=True)
class Size:
    """How much is done.

    Args:
        kills: of the program.
        notes: of the large review.
        corrections: that are timed.
        training: notes of each hospital that the pipeline learns from.
        epochs: of that training.
        labelled: notes that the simulated person labels.
    """

    kills: int
    notes: int
    corrections: int
    training: int
    epochs: int
    labelled: int


FULL = Size(200, 10_000, 50, 30, 6, 20)
QUICK = Size(5, 500, 20, 12, 3, 5)


def measure(size: Size = FULL) -> Iterator[Entry]:
    """Every figure of the review, as it is known."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield from _kills(folder / "killed", size)
        yield from _page(folder / "large", size)
        yield from _saved(folder, size)


def _entry(
    measure: str, value: float, target: float | None, unit: str, data: str, note: str = "", runs: int = 1
) -> Entry:
    direction = "" if target is None else "<="
    return Entry(measure, value, target, direction, unit, None, runs, data, COMMAND, note)


def _kills(folder: Path, size: Size) -> list[Entry]:
    found = kill_again_and_again(folder, size.kills, seed=0)
    taken = np.array(seconds_of_a_correction(folder, size.corrections)) * 1000
    data = "a note of half a megabyte, corrected without a pause"
    note = f"{found.kills} kills (SIGKILL at a random moment), {found.saved} corrections that were said to be saved"
    return [
        _entry("review: corrections lost in kills", found.lost, 0, "corrections", data, note, size.kills),
        _entry(
            "review: a correction saved over loopback, 99th percentile",
            round(float(np.quantile(taken, 0.99)), 1),
            100,
            "ms",
            data,
            f"median {np.median(taken):.1f} ms; from the request to the answer, the disk's flush included",
            size.corrections,
        ),
    ]


def _page(folder: Path, size: Size) -> list[Entry]:
    program = browser_here()
    if program is None:
        print("no browser, or no playwright: the page is not measured", flush=True)
        return []
    make_project(folder, size.notes)
    times = page_times(folder, size.corrections, program)
    data = f"{size.notes} generated notes, all pre-labelled, headless Chromium"
    saved = np.array(times.corrections)
    return [
        _entry("review: first paint of a large review", round(times.paint), 1000, "ms", data),
        _entry("review: list and first note of a large review are shown", round(times.shown), None, "ms", data),
        _entry(
            "review: a correction on the page of a large review, 99th percentile",
            round(float(np.quantile(saved, 0.99)), 1),
            100,
            "ms",
            data,
            f"median {np.median(saved):.1f} ms; from the key to the page that shows it saved",
            size.corrections,
        ),
    ]


def _saved(folder: Path, size: Size) -> list[Entry]:
    scheme = load_scheme("i2b2_2014")
    training = list(chain.from_iterable(generate_notes(site, size.training, 11) for site in TRAINED_ON))
    encoder = RawEncoder(word_vectors(), scheme)
    pipeline = train_raw_model(training, encoder, TaggingConfig(epochs=size.epochs))
    gold = list(generate_notes(LABELLED, size.labelled, 12))
    alone = annotate(folder / "alone", gold, scheme, None)
    helped = annotate(folder / "helped", gold, scheme, PipelineFinder(scheme, pipeline))
    data = f"{size.labelled} generated notes of {LABELLED}; a tagger of {2 * size.training} generated notes of {' and '.join(TRAINED_ON)}"
    saved = 1 - helped.acting_s / alone.acting_s
    return [
        _entry(
            "review: a simulated person labels a note from nothing",
            round(alone.seconds, 1),
            None,
            "s",
            data,
            _told(alone),
        ),
        _entry(
            "review: a simulated person labels a pre-labelled note",
            round(helped.seconds, 1),
            None,
            "s",
            data,
            f"{_told(helped)}; Tchouka et al. 2023 report a minute a file for a person with pre-labels, of notes of their own",
        ),
        _entry(
            "review: share of the time beside reading that pre-labels save a simulated person",
            round(saved, 3),
            None,
            "",
            data,
            "keystroke-level model (Card et al. 1980); reading at 238 words a minute is the same in both; no person was timed",
        ),
    ]


def _told(work: Work) -> str:
    reading = work.reading_s / work.notes
    return (
        f"reading {reading:.1f} s of it; {work.accepted} accepted, {work.removed} removed, {work.marked} marked, "
        f"{work.recategorised} given another category"
    )

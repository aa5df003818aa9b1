"""`aggregator demo`: the whole loop on generated notes, by the same commands that people type.

A provider with public notes, three hospitals that share, and a fourth that shared nothing. Every step is a process of its
own with its own workspace, exactly as it would be in different houses; the only things that pass between them are the
files that would. The end is a table of the fourth hospital's scores with (a) a model from one hospital alone, (b) the
pooled private pipeline, (c) the unreachable ideal, a model from all raw notes together, and a page that shows it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from aggregator.baseline import score_raw_model
from aggregator.demo_page import DemoResult, write_page
from aggregator.errors import AggregatorError
from shared.corpus import read_corpus, write_corpus
from shared.corpus.generate import generate_notes, site_names
from shared.document import Document
from shared.embeddings.read import read_vectors
from shared.labels import load_scheme

NOTES = 80
_HELD_OUT = 40
_PUBLIC_SITES = 2
_SCHEMES = {"en": "i2b2_2014", "es": "meddocan"}


@dataclass(frozen=True)
class Scale:
    """How large the demonstration is.

    Args:
        language: of the notes.
        notes: labelled notes of each hospital.
        seed: of notes and trainings.
    """

    language: str = "en"
    notes: int = NOTES
    seed: int = 0


def run(folder: Path, scale: Scale, say: Callable[[str], None]) -> None:
    """Run the loop into a folder that is new or holds an earlier demonstration.

    Raises:
        AggregatorError: the folder holds something else, or a step failed.
    """
    began = time.monotonic()
    if folder.exists() and any(folder.iterdir()):
        if not (folder / "demo.json").exists():
            raise AggregatorError(f"{folder}: expected a new folder or one with an earlier demonstration; choose another")
        shutil.rmtree(folder)
    names = site_names(scale.language)
    public, hospitals, fourth = names[:_PUBLIC_SITES], names[_PUBLIC_SITES:-1][:3], names[-1]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "demo.json").write_text(json.dumps({"state": "running"}), encoding="utf-8")
    _write_notes(folder, public, hospitals, fourth, scale, say)
    loop = _Loop(folder, scale, say)
    loop.provider()
    for hospital in hospitals:
        loop.share(hospital)
    loop.release()
    private = loop.evaluate_at(fourth)
    say("\n# what the same notes would give without privacy, for comparison")
    raw = _raw_scores(folder, hospitals, fourth, scale, say)
    result = DemoResult(hospitals, fourth, private, raw, loop.share_sizes, loop.head_scores(), time.monotonic() - began)
    page = write_page(result, folder / "report.html")
    (folder / "demo.json").write_text(json.dumps(result.as_json(), indent=1), encoding="utf-8")
    say("\n" + result.table())
    say(f"\nreport: {page}\n{result.seconds:.0f} seconds in all")


def _write_notes(
    folder: Path, public: tuple[str, ...], hospitals: tuple[str, ...], fourth: str, scale: Scale, say: Callable[[str], None]
) -> None:
    """Every house's notes, in its own folder; the fourth hospital's labels are for its own evaluation only."""

    def mixed() -> Iterator[Document]:
        for site in public:
            yield from generate_notes(site, scale.notes, scale.seed)

    say(f"# notes: public ones in the styles of {', '.join(public)}; hospitals {', '.join(hospitals)}; the fourth is {fourth}")
    write_corpus(mixed(), folder / "provider" / "notes.jsonl", "jsonl")
    for site in hospitals:
        write_corpus(generate_notes(site, scale.notes, scale.seed), folder / site / "notes.jsonl", "jsonl")
    write_corpus(islice(generate_notes(fourth, scale.notes, scale.seed), _HELD_OUT), folder / fourth / "notes.jsonl", "jsonl")

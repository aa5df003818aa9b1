"""Figures into their topic, and its page beside it.

Entries are known by their measure: a second command adds its own to a topic, and measuring again replaces.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import torch

from bench.results.entries import RESULTS, TOPICS, Entry, commit, read
from bench.results.page import index, pages
from foundation.files import write_text
from shared.errors import ConfigurationError


def record(topic: str, entries: Sequence[Entry], folder: Path = RESULTS, *, whole: bool = False) -> None:
    """Put entries into a topic, in the place of those of the same measure, and render it.

    Args:
        topic: one of TOPICS.
        entries: each without a commit gets the one that is checked out, with "+dirty" where tracked files differ from it.
        folder: where the results lie.
        whole: whether these are all that their commands measure, so that what the same commands measured before goes.

    Raises:
        ConfigurationError: no such topic, one measure twice, or a file that is not in the form of the results.
        StorageError: the file can't be written.
    """
    if topic not in TOPICS or len({entry.measure for entry in entries}) != len(entries):
        raise ConfigurationError(f"{topic}: expected a topic among {', '.join(TOPICS)}, and each measure once")
    path = folder / f"{topic}.json"
    kept = {entry.measure: entry for entry in read(topic, folder)} if path.exists() else {}
    if whole:
        commands = {entry.command for entry in entries}
        kept = {measure: entry for measure, entry in kept.items() if entry.command not in commands}
    state = commit()
    kept |= {entry.measure: replace(entry, commit=entry.commit or state) for entry in entries}
    folder.mkdir(parents=True, exist_ok=True)
    write_text(
        path,
        json.dumps([_as_json(entry) for entry in kept.values()], indent=1, ensure_ascii=False) + "\n",
        private=False,
    )
    render(topic, folder)


def render(topic: str, folder: Path = RESULTS) -> None:
    """Write the page of a topic and its plot anew, and the page that lists all topics.

    Args:
        topic: one of TOPICS that has figures, or words.
        folder: where the results lie.

    Raises:
        ConfigurationError: the topic's file is not in the form of the results.
        StorageError: a page can't be written.
    """
    for name, text in pages(topic, folder).items():
        write_text(folder / name, text, private=False)
    # Behind the page, which it may be the first to list.
    for name, text in index(folder).items():
        write_text(folder / name, text, private=False)


QUICK = "-quick"
"""How the name of a part ends that does some of the same, prints what it finds, and records nothing."""


def measure_parts(
    topic: str, program: str, parts: Mapping[str, Callable[[], Iterable[Entry]]], wanted: Sequence[str]
) -> int:
    """Measure parts of a topic on one torch thread, print what each finds, and record it; returns the exit code.

    Args:
        topic: of TOPICS.
        program: how the command line calls it.
        parts: what measures each.
        wanted: their names; none for all that are whole.
    """
    if not set(wanted) <= set(parts):
        print(f"usage: python -m {program} [{'|'.join(parts)}]...", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    for part in wanted or [name for name in parts if not name.endswith(QUICK)]:
        entries = []
        try:
            for entry in parts[part]():
                entries.append(entry)
                missed = ", MISSED" if entry.reached is False else ""
                print(f"{entry.value:8g} {entry.unit:12} {entry.measure}{missed} ({entry.note})", flush=True)
        except ConfigurationError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        if not part.endswith(QUICK):
            record(topic, entries)
    return 0


def _as_json(entry: Entry) -> dict[str, object]:
    """The entry with its keys in the order that DESIGN gives."""
    values = asdict(entry)
    note = values.pop("note")
    return {**values, "note": note}

"""Corrections that are lost when the program is killed: none may be that somebody was told is saved."""

from __future__ import annotations

import random
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.workbench.reviewing.server import Triple, enter, served, serving
from shared.document import Document
from shared.labels import load_scheme
from site_client.review.project import Project, begin

_MOST_S = 0.25
_CATEGORIES = load_scheme("i2b2_2014").categories


@dataclass
class Killed:
    """What kills did.

    Args:
        kills: how many.
        saved: corrections that somebody was told are saved.
        lost: of these, those that are not there afterwards, or not as they were made.
        torn: kills that left half a line.
    """

    kills: int = 0
    saved: int = 0
    lost: int = 0
    torn: int = 0


def kill_again_and_again(folder: Path, kills: int, seed: int) -> Killed:
    """Correct a note without a pause, kill the program at a random moment, look what is there; again.

    Args:
        folder: new.
        kills: how often.
        seed: of the moments.
    """
    dice, found = random.Random(seed), Killed()
    text = "word " * 100_000
    begin(folder, load_scheme("i2b2_2014"), [Document("note", text)], "killed").close()
    known: list[Triple] = []
    for _ in range(kills):
        known = _one(folder, known, dice, found)
    return found


def _one(folder: Path, known: list[Triple], dice: random.Random, found: Killed) -> list[Triple]:
    """One kill; returns what is there after it."""
    told = list(known)
    asked: list[Triple] = []
    with served(serving(folder), ended_by=signal.SIGKILL) as (process, address):
        reviewer = enter(address)
        version = reviewer.note(0)["version"]
        timer = threading.Timer(dice.uniform(0, _MOST_S), process.kill)
        timer.start()
        try:
            while True:
                place = 5 * (len(told))
                asked = [(place, place + 4, dice.choice(_CATEGORIES))]
                version = reviewer.add(0, version, asked[0])["version"]
                told += asked
        except httpx.HTTPError:
            pass
        timer.join()
        process.wait()
        reviewer.client.close()
    journal = (folder / "journal").read_bytes()
    project = Project(folder)
    there = [(span.start, span.end, span.category) for span in project.state(0).spans]
    project.close()
    found.kills += 1
    found.torn += not journal.endswith(b"\n")
    found.saved += len(told) - len(known)
    # What was under way when the program was killed may be there or not; all else is, as it was made.
    found.lost += len(set(told) - set(there)) + (there not in (told, told + asked))
    return there


def seconds_of_a_correction(folder: Path, count: int) -> list[float]:
    """Wall-clock seconds from the request of a correction to the answer that it is saved, on a note of half a megabyte.

    Args:
        folder: of a review with one note.
        count: of corrections.
    """
    taken = []
    with served(serving(folder)) as (_, address):
        reviewer = enter(address)
        note = reviewer.note(0)
        version, begin_at = note["version"], len(note["spans"]) * 5
        for number in range(count):
            began = time.perf_counter()
            place = begin_at + 5 * number
            version = reviewer.add(0, version, (place, place + 4, "PATIENT"))["version"]
            taken.append(time.perf_counter() - began)
        reviewer.client.close()
    return taken

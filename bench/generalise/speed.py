"""CPU time of `site-client deid` beside two taggers that hospitals know, whole commands turn by turn: read, cut, tag, write.

The others run under an interpreter of their own, since their packages are none of ours: `DEID_COMMONS_PEERS` names it (a virtual
environment with python-crfsuite 0.9.12 and spacy 3.8.18).
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from aggregator.training.head import HeadOptions
from aggregator.training.representer import RepresenterOptions
from bench import corpora
from bench.generalise import peer_taggers
from bench.privacy.worth.sides import recipe
from bench.privacy.worth.sites import sides_of, unseen_by
from bench.results import Entry
from bench.results_loop import private_pipeline
from bench.speed.ratio import Ratio, ratio
from shared.document import Document
from shared.errors import ConfigurationError
from shared.labels import load_scheme
from shared.sentences.tokenised import tokenised_corpus

COMMAND = "python -m bench.results_generalise speed"
TURNS = 5
_PROVIDER = "a"
_COPIES = 15
# What two cores gain is also asked of so many times as many notes, every second turn: what a command does before its first note is then a
# smaller part of it.
_MORE = 4
_STEPS = 1250
_CORES = 2


def measure() -> list[Entry]:
    """Every ratio.

    Raises:
        ConfigurationError: there is no interpreter for the others.
    """
    peers = os.environ.get("DEID_COMMONS_PEERS")
    if not peers:
        raise ConfigurationError(
            "DEID_COMMONS_PEERS: expected the Python of an environment with python-crfsuite and spacy, got nothing; set it"
        )
    with tempfile.TemporaryDirectory() as name:
        return _Course(Path(name), peers).measure()


def seconds_of(command: Sequence[str]) -> tuple[float, float]:
    """CPU seconds and wall clock of a command with one thread a process."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    passed, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, passed


def deid_command(notes: Path, out: Path, workspace: Path, jobs: int) -> list[str]:
    """The whole command by which a hospital tags notes; see `deid_arguments`."""
    program = "from site_client.commands.cli import main; main()"
    return [sys.executable, "-c", program, *deid_arguments(notes, out, workspace, jobs)]


def deid_arguments(notes: Path, out: Path, workspace: Path, jobs: int) -> list[str]:
    """What follows `site-client` to tag notes.

    Args:
        notes: a folder of them.
        out: a new folder.
        workspace: of a hospital that pulled a release.
        jobs: processes.
    """
    return ["deid", str(notes), "--out", str(out), "--mode", "tag", "--jobs", str(jobs), "--workspace", str(workspace)]


def _write_copies(notes: Sequence[Document], copies: int, folder: Path) -> int:
    """Writes every note so many times; the number of files."""
    folder.mkdir()
    for copy in range(copies):
        for number, note in enumerate(notes):
            # No two notes are the same, so nobody gains by remembering.
            text = f"{note.text}\nCopy {copy} of note {number}.\n"
            (folder / f"{copy}-{number:03}.txt").write_text(text, encoding="utf-8")
    return copies * len(notes)


class _Course:
    """Notes, a release and two models in a folder, and what is run on them."""

    def __init__(self, folder: Path, peers: str) -> None:
        self._folder, self._peers = folder, peers
        notes = corpora.en_site(unseen_by(_PROVIDER), "test")
        self._notes, self._more, self._one = folder / "notes", folder / "more", folder / "one"
        self._one.mkdir()
        (self._one / "0.txt").write_text(notes[0].text, encoding="utf-8")
        self._count = _write_copies(notes, _COPIES, self._notes)
        self._count_more = _write_copies(notes, _MORE * _COPIES, self._more)

    def measure(self) -> list[Entry]:
        """Train all three, then run them by turns."""
        self._train()
        commands = {
            "ours": self._deid(self._notes, 1),
            "crfsuite": self._peer("crfsuite"),
            "spacy": self._peer("spacy"),
            "one note": self._deid(self._one, 1),
            "torch": [sys.executable, "-c", "import torch"],
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        wall = {(notes, cores): list[float]() for notes in (self._notes, self._more) for cores in (1, _CORES)}
        for turn in range(TURNS + 1):
            for name, command in commands.items():
                seconds, _ = self._run(command)
                if turn:
                    taken[name].append(seconds)
            for (notes, cores), walls in wall.items():
                if notes == self._more and turn % 2 == 0:
                    continue
                _, passed = self._run(self._deid(notes, cores))
                if turn:
                    walls.append(passed)
        over = [note - torch for note, torch in zip(taken["one note"], taken["torch"], strict=True)]
        core, walls_say = "CPU seconds of whole commands, one thread", "wall clock of whole commands"
        return [
            self._entry(
                "speed of deid --mode tag a core, over python-crfsuite",
                ratio(taken["crfsuite"], taken["ours"]),
                1.0,
                self._count,
                TURNS,
                core,
            ),
            self._entry(
                "speed of deid --mode tag a core, over spaCy",
                ratio(taken["spacy"], taken["ours"]),
                4.0,
                self._count,
                TURNS,
                core,
            ),
            *(
                self._entry(
                    f"speed of deid on {_CORES} cores, over one{said}",
                    ratio(wall[notes, 1], wall[notes, _CORES]),
                    1.8,
                    count,
                    len(wall[notes, 1]),
                    walls_say,
                )
                for notes, count, said in (
                    (self._notes, self._count, ""),
                    (self._more, self._count_more, f", {self._count_more} notes"),
                )
            ),
            Entry(
                "deid of one note, over the import of torch",
                round(sorted(over)[len(over) // 2], 2),
                1.0,
                "<=",
                "CPU seconds",
                (round(min(over), 2), round(max(over), 2)),
                TURNS,
                "en_sites/test",
                COMMAND,
                "whole commands; the interval is the range over turns",
            ),
        ]

    def _entry(self, measure: str, found: Ratio, target: float, count: int, turns: int, clock: str) -> Entry:
        note = f"{count} notes of hospital {unseen_by(_PROVIDER)}, read, cut, tagged and written; {clock}; median and bootstrap over {turns} turns"
        return Entry(
            measure, found.value, target, ">=", "times", (found.low, found.high), turns, "en_sites/test", COMMAND, note
        )

    def _train(self) -> None:
        sides = sides_of(_PROVIDER)
        notes = [*sides.provider, *sides.pooled]
        config = recipe(tokenised_corpus(notes, load_scheme(sides.scheme)).sentences, 1, _STEPS)
        shared = {name: list(some) for name, some in sides.hospitals.items()}
        private_pipeline(
            sides.material(),
            shared,
            sides.scheme,
            RepresenterOptions(),
            config,
            HeadOptions(hold_out=False, undersampling=0.0),
            self._folder,
        )
        labelled = self._folder / "labelled.jsonl"
        with labelled.open("w", encoding="utf-8") as file:
            for note in notes:
                spans = [[one.start, one.end, one.category] for one in note.annotations]
                file.write(json.dumps({"text": note.text, "spans": spans}) + "\n")
        for kind in ("crfsuite", "spacy"):
            self._run([self._peers, peer_taggers.__file__, "train", kind, str(self._folder / kind), str(labelled)])

    def _deid(self, notes: Path, jobs: int) -> list[str]:
        return deid_command(notes, self._out, self._folder / "user", jobs)

    def _peer(self, kind: str) -> list[str]:
        return [
            self._peers,
            peer_taggers.__file__,
            "tag",
            kind,
            str(self._folder / kind),
            str(self._notes),
            str(self._out),
        ]

    @property
    def _out(self) -> Path:
        return self._folder / "out"

    def _run(self, command: Sequence[str]) -> tuple[float, float]:
        shutil.rmtree(self._out, ignore_errors=True)
        return seconds_of(command)

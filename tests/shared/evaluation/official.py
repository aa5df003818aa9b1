"""Small corpora for the official evaluation scripts, and their reports beside ours.

`official_numbers.tsv` holds what the original scripts printed for `CASES` (i2b2 under Python 2.7, MEDDOCAN under 3.11).
With DEID_COMMONS_OFFICIAL set to a folder with the originals in i2b2/ and meddocan/, they run again, on random corpora too;
those of i2b2 need Python 2 with lxml and numpy, as DEID_COMMONS_PYTHON2 names it.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

from command_line.notes import Notes
from command_line.notes_options import NotesOptions
from shared.evaluation import Evaluation, evaluate_all, match_corpora, sentence_files
from shared.evaluation.i2b2_types import TYPES_OF
from tests.shared.evaluation.cases import ALPHABET

# start, end, element, TYPE; in the order of the file
Tag = tuple[int, int, str, str]
# What a report prints of a block, by its label.
Rows = dict[str, tuple[str, ...]]

_HEADER = re.compile(r"(\S.*?)(?: \(\d+\))? *Measure ")
_MEASURED = re.compile(r"(?:Total.*?)? +(?:Leak|Precision|Recall|F1) +(\S.*)")
_NUMBER = re.compile(r"\S+(?: \(\S+\))?")

SCRIPTS = ("i2b2", "meddocan-xml", "meddocan-brat")


@dataclass(frozen=True)
class Note:
    identifier: str
    text: str
    gold: tuple[Tag, ...]
    system: tuple[Tag, ...]
    sentences: int = 3


CASES = {
    # Nothing in it that the official scripts get wrong.
    "plain": (
        Note(
            "110-01",
            "Eva Oza saw Dr Quillfeather in Lugo on 12 May",
            (
                *((0, 7, "NAME", "PATIENT"), (15, 27, "NAME", "DOCTOR"), (31, 35, "LOCATION", "CITY")),
                (39, 45, "DATE", "DATE"),
            ),
            (
                *((0, 3, "NAME", "PATIENT"), (15, 27, "NAME", "PATIENT"), (31, 35, "LOCATION", "CITY")),
                *((12, 14, "NAME", "DOCTOR"), (39, 45, "DATE", "DATE")),
            ),
        ),
        Note(
            "110-02",
            "Call 555 0199 ask for ward 7 of Saint Zoe age 44",
            ((5, 13, "CONTACT", "PHONE"), (32, 41, "LOCATION", "HOSPITAL"), (46, 48, "AGE", "AGE")),
            ((5, 12, "CONTACT", "PHONE"), (27, 28, "LOCATION", "ROOM"), (46, 48, "AGE", "AGE")),
        ),
    ),
    # Nested, crossing, doubled, empty spans; near ends in both orders; names, cases and places that nobody checks.
    "overlaps": (
        Note(
            "207-01",
            "José Oza-Quill, 44, seen in Lugo (id 555-X) by Zoe.",
            (
                *((0, 14, "NAME", "PATIENT"), (0, 4, "NAME", "PATIENT"), (5, 14, "NAME", "PATIENT")),
                *((16, 18, "AGE", "AGE"), (28, 32, "LOCATION", "CITY"), (37, 42, "ID", "IDNUM")),
                *((47, 50, "NAME", "DOCTOR"), (47, 51, "NAME", "DOCTOR"), (47, 50, "NAME", "DOCTOR")),
            ),
            (
                *((0, 12, "NAME", "PATIENT"), (0, 3, "NAME", "PATIENT"), (3, 16, "NAME", "DOCTOR")),
                *((16, 18, "PHI", "AGE"), (28, 32, "LOCATION", "city"), (37, 42, "ID", "IDNUM"), (42, 42, "ID", "SSN")),
                *((47, 49, "NAME", "DOCTOR"), (47, 51, "NAME", "PATIENT"), (47, 53, "NAME", "DOCTOR")),
            ),
        ),
        Note(
            "207-02",
            "abcdefgh ijkl mnop",
            tuple((0, end, "LOCATION", "STREET") for end in (8, 4, 6, 2)),
            (*((0, end, "LOCATION", "STREET") for end in (3, 5, 7)), (9, 13, "DATE", "FECHAS"), (18, 14, "AGE", "AGE")),
            sentences=1,
        ),
        Note("207-03", "Nothing here.", (), ()),
        Note("207-04", "漢字 . 漢", ((0, 2, "NAME", "DOCTOR"), (3, 4, "OTHER", "OTHER")), ((1, 2, "NAME", "DOCTOR"),)),
    ),
}


def random_case(dice: random.Random) -> tuple[Note, ...]:
    """One to three notes with spans of any kind; none of them empty, for the scripts can't read an empty TEXT."""
    made = []
    for number in range(dice.randint(1, 3)):
        text = "".join(dice.choice(ALPHABET) for _ in range(dice.randint(1, 25)))
        gold = tuple(_tag(dice, text) for _ in range(dice.randint(0, 8)))
        moved = [
            (start, max(0, end + dice.randint(-2, 2)), element, category)
            for start, end, element, category in gold
            if dice.random() < 0.7
        ]
        system = (*moved, *(tag for tag in gold if dice.random() < 0.3), *(_tag(dice, text) for _ in range(2)))
        made.append(Note(f"{number + 1}-01", text, gold, system, dice.randint(1, 4)))
    return tuple(made)


def _tag(dice: random.Random, text: str) -> Tag:
    start = dice.randint(0, len(text))
    element, types = dice.choice(list(TYPES_OF.items()))
    category = dice.choice([*types, types[0].lower(), "FECHAS"])
    return start, start + dice.choice((0, 1, 2, 3, 5, 8)), dice.choice((element,) * 5 + ("PHI",)), category


def write_case(folder: Path, notes: tuple[Note, ...], script: str) -> None:
    """Folders gold and run as the script reads them, and the sentences of every note."""
    for name in ("gold", "run", "annotated_corpora/sentence_splitted"):
        (folder / name).mkdir(parents=True)
    for note in notes:
        lines = "".join(f"sentence {number}\n" for number in range(note.sentences))
        (folder / "annotated_corpora/sentence_splitted" / f"{note.identifier}.ann").write_text(lines)
        for side, tags in (("gold", note.gold), ("run", note.system)):
            file = folder / side / note.identifier
            if script == "meddocan-brat":
                spans = [
                    f"T{n}\t{kind} {start} {end}\t{note.text[start:end]}"
                    for n, (start, end, _, kind) in enumerate(tags)
                ]
                file.with_suffix(".txt").write_bytes(note.text.encode())
                file.with_suffix(".ann").write_bytes("".join(span.replace("\n", " ") + "\n" for span in spans).encode())
            else:
                root = "deIdi2b2" if script == "i2b2" else "MEDDOCAN"
                file.with_suffix(".xml").write_bytes(_xml(root, note.text, tags).encode())


def _xml(root: str, text: str, tags: tuple[Tag, ...]) -> str:
    elements = "".join(
        f'<{element} id="P{number}" start="{start}" end="{end}" text={quoteattr(text[start:end])} TYPE="{kind}" />\n'
        for number, (start, end, element, kind) in enumerate(tags)
    )
    return f'<?xml version="1.0" encoding="UTF-8" ?>\n<{root}><TEXT><![CDATA[{text}]]></TEXT><TAGS>{elements}</TAGS></{root}>'


def evaluated(folder: Path, *, slips: bool) -> Evaluation:
    """The folders of `write_case`, read and evaluated as `aggregator evaluate` does."""
    options = NotesOptions(official=slips)
    pairs = match_corpora(*(Notes(folder / side, options).to_evaluate() for side in ("gold", "run")))
    count = sentence_files(folder / "annotated_corpora/sentence_splitted")
    return evaluate_all(pairs, rng=np.random.default_rng(0), sentences=count, slips=slips)


def our_rows(evaluation: Evaluation, script: str) -> Rows:
    """Our numbers as the script prints its own."""
    if script == "i2b2":
        blocks = {name.removeprefix("i2b2 "): s for name, s in evaluation.blocks.items() if name.startswith("i2b2 ")}
        return {
            label: (
                *(f"{s.macro_precision:.4} ({s.macro_precision_sd:.2})", f"{s.precision:.4}"),
                *(f"{s.macro_recall:.4} ({s.macro_recall_sd:.2})", f"{s.recall:.4}"),
                *(f"{s.macro_f1:.4}", f"{s.f1:.4}"),
            )
            for label, s in blocks.items()
        }
    rows = {
        label: (f"{s.precision:.4}", f"{s.recall:.4}", f"{s.f1:.4}")
        for label, s in evaluation.meddocan.blocks().items()
    }
    label, leak = next(iter(rows)), evaluation.meddocan.leak
    return rows | {label: ("NA" if leak is None else f"{leak:.4}", *rows[label])}


def official_rows(folder: Path, script: str) -> Rows:
    """What the original script prints of the folders of `write_case`; skips the test where it is not there."""
    originals = Path(os.environ.get("DEID_COMMONS_OFFICIAL") or "absent") / script.partition("-")[0]
    if not originals.is_dir():
        pytest.skip("the official scripts are absent: set DEID_COMMONS_OFFICIAL to the folder that holds them")
    run, gold, program = f"{folder}/run/", f"{folder}/gold/", str(originals.resolve() / "evaluate.py")
    if script == "i2b2":
        return _printed([os.environ.get("DEID_COMMONS_PYTHON2", "python2"), program, "phi", run, gold], folder)
    form = "i2b2" if script == "meddocan-xml" else "brat"
    command = [sys.executable, program, form]
    return _printed([*command, "ner", gold, run], folder) | _printed([*command, "spans", gold, run], folder)


def _printed(command: list[str], folder: Path) -> Rows:
    report = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    rows: Rows = {}
    label = ""
    for line in report.splitlines():
        if header := _HEADER.match(line):
            label = header[1]
            rows[label] = ()
        elif measured := _MEASURED.match(line):
            rows[label] += tuple(_NUMBER.findall(measured[1]))
    return rows

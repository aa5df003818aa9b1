"""What models lose that learn from fragments instead of whole notes: mtsamples, a specialty as the class (Ignashina and Ive 2024, Tables 2 and 4)."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import dataclass

import torch

from bench import corpora
from bench.results import Entry
from bench.workbench.adept import AdeptConfig, train_adept
from bench.workbench.fragments import Cut, cut
from bench.workbench.tasks import PROMPT, NaiveBayes, NextWord, Trigrams, Words, f1_of_ranking, words_of
from shared.document import Document

COMMAND = "python -m bench.results_workbench fragments-tasks"
DATA = "mtsamples dev, a fifth held out by digest"
MOST_LOST = 0.04
WHOLE, ANEW = "whole notes", "sentences written anew behind noise"
_TASKS = ("Cardiovascular / Pulmonary", "Orthopedic")
_SENTENCES_OF_A_NOTE = 5
_TEST_SENTENCES = 1500
Side = list[list[Words]]


@dataclass(frozen=True)
class Notes:
    """Notes of two classes.

    Args:
        cases, controls: to train on.
        tested: held out.
        truth: which of them are cases.
    """

    cases: list[Document]
    controls: list[Document]
    tested: list[Document]
    truth: list[bool]


def measure() -> list[Entry]:
    """The entries."""
    entries: list[Entry] = []
    lost: dict[str, list[float]] = {}
    for task in _TASKS:
        notes = read_task(task)
        sides = _sides(notes)
        found = {name: _classified(notes, side) for name, side in sides.items()}
        for name, value in found.items():
            lost.setdefault(name, []).append(found[WHOLE] - value)
            entries.append(_entry(f"{task}, learned from {name}", value, None, "F1", f"{len(notes.cases)} cases"))
        if task == _TASKS[0]:
            # Every note is on one of the two sides, so another task would be of the same words.
            entries += [_guessed(name, _next_word(notes, side)) for name, side in sides.items()]
    for name, several in lost.items():
        if name != WHOLE:
            mean = sum(several) / len(several)
            target = None if name == ANEW else MOST_LOST
            entries.append(_entry(f"F1 lost, learned from {name}", mean, target, "F1", f"mean of {len(_TASKS)} tasks"))
    return entries


def read_task(specialty: str) -> Notes:
    """The notes of mtsamples, a specialty as the class."""
    cases: list[Document] = []
    controls: list[Document] = []
    tested: list[Document] = []
    truth: list[bool] = []
    with gzip.open(corpora.path("mtsamples/mtsamples_dev.jsonl.gz"), "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            document = Document(row["sha1"], row["transcription"])
            is_case = specialty in row["specialties"].split("|")
            # The corpus itself was parted by the first digits.
            if int(row["sha1"][-8:], 16) % 5 == 0:
                tested.append(document)
                truth.append(is_case)
            else:
                (cases if is_case else controls).append(document)
    return Notes(cases, controls, tested, truth)


def _sides(notes: Notes) -> dict[str, tuple[Side, Side]]:
    """What each way of sharing leaves of cases and controls."""
    cases, controls = ([words_of(one.text) for one in side] for side in (notes.cases, notes.controls))
    return {
        WHOLE: (cases, controls),
        # Cases and controls are cut apart, as in the paper, so k is counted in each of them.
        "fragments of at least 10 notes": (_lines(cut(notes.cases)), _lines(cut(notes.controls))),
        "fragments as the paper cuts them": (
            _lines(cut(notes.cases, 1, public=False)),
            _lines(cut(notes.controls, 1, public=False)),
        ),
        ANEW: _written_anew(cases, controls),
    }


def _lines(made: Cut) -> Side:
    """Lines, each phrase of them by itself: nothing is learned from two that chance has put side by side."""
    return [[phrase.text.split() for phrase in line] for line in made.lines]


def _written_anew(cases: Side, controls: Side) -> tuple[Side, Side]:
    """Some sentences of each note behind the noise of the baseline."""
    dice = random.Random(0)

    def drawn(text: list[Words]) -> list[Words]:
        long = [words for words in text if len(words) >= 4]
        return dice.sample(long, min(len(long), _SENTENCES_OF_A_NOTE))

    chosen = [[drawn(text) for text in side] for side in (cases, controls)]
    made = train_adept([words for side in chosen for text in side for words in text], AdeptConfig())
    generator = torch.Generator().manual_seed(1)
    first, second = ([made.rewrite(text, generator) for text in side if text] for side in chosen)
    return first, second


def _classified(notes: Notes, sides: tuple[Side, Side]) -> float:
    """F1 of cases among the whole notes that were held out."""
    classifier = NaiveBayes(*sides)
    scores = [classifier.score(words_of(one.text)) for one in notes.tested]
    return f1_of_ranking(scores, notes.truth, len(notes.cases) / (len(notes.cases) + len(notes.controls)))


def _next_word(notes: Notes, sides: tuple[Side, Side]) -> NextWord:
    """Of sentences of the notes that were held out, the same for every side."""
    sentences = [words for one in notes.tested for words in words_of(one.text) if len(words) > PROMPT]
    random.Random(0).shuffle(sentences)
    return Trigrams([*sides[0], *sides[1]]).test([sentences[:_TEST_SENTENCES]])


def _guessed(name: str, found: NextWord) -> Entry:
    note = (
        f"mean probability of the true word {found.probability:.4f}; {found.asked} sentences; the paper's GPT-2 has .46 of whole notes, .12 of "
        "fragments, .05 of notes written anew"
    )
    return _entry(f"next word right, learned from {name}", found.accuracy, None, "share", note)


def _entry(measure: str, value: float, target: float | None, unit: str, note: str) -> Entry:
    direction = "" if target is None else "<="
    how = "naive Bayes and three-word models, which need no download, in the place of BERT and GPT-2"
    return Entry(measure, round(value, 4), target, direction, unit, None, 1, DATA, COMMAND, f"{note}; {how}")

"""What models lose that learn from fragments instead of whole notes: mtsamples, a specialty as the class (Ignashina and Ive 2024, Tables 2 and 4)."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import dataclass, replace

import numpy as np
import torch

from bench import corpora
from bench.results import Entry
from bench.workbench.adept import AdeptConfig, train_adept
from bench.workbench.fragments import Cut, cut
from bench.workbench.meanings import Meanings, can_be_had, lean
from bench.workbench.tasks import PROMPT, NaiveBayes, NextWord, Trigrams, Words, f1_of_ranking, words_of
from protocols.share.fragments import LEAST_NOTES
from shared.document import Document
from site_client.fragments.parser import load_parser
from site_client.fragments.phrases import find_phrases

COMMAND = "python -m bench.results_workbench fragments-tasks"
DATA = "mtsamples dev, a fifth held out by digest"
MOST_LOST = 0.04
WHOLE, ANEW = "whole notes", "sentences written anew behind noise"
FRAGMENTS, PAPER = "fragments of at least 10 notes", "fragments as the paper cuts them"
WITH_MEANINGS = f"{FRAGMENTS}, with a model of public text"
_TASKS = ("Cardiovascular / Pulmonary", "Orthopedic")
# Of more notes: the price falls with their number.
_LARGER = ("Consult - History and Phy.", "Surgery")
_RESAMPLED = 1000
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


@dataclass(frozen=True)
class Told:
    """What a classifier says of the notes that were held out.

    Args:
        scores: of them.
        truth: which are cases.
        share: of notes that are taken for cases.
    """

    scores: np.ndarray
    truth: np.ndarray
    share: float

    def f1(self, notes: np.ndarray | None = None) -> float:
        """Of all notes, or of those that were drawn of them."""
        drawn = np.arange(len(self.scores)) if notes is None else notes
        return f1_of_ranking(self.scores[drawn].tolist(), self.truth[drawn].tolist(), self.share)


def measure() -> list[Entry]:
    """The entries."""
    entries: list[Entry] = []
    meanings = Meanings() if can_be_had() else None
    told: dict[str, list[Told]] = {}
    for task in _TASKS:
        notes = read_task(task)
        sides = _sides(notes)
        for name, one in _told(notes, sides, meanings).items():
            told.setdefault(name, []).append(one)
            entries.append(_f1(task, name, one, notes))
        if task == _TASKS[0]:
            # Every note is on one of the two sides, so another task would be of the same words.
            entries += [_guessed(name, _next_word(notes, side)) for name, side in sides.items()]
    entries += [_lost(name, several, told[WHOLE]) for name, several in told.items() if name != WHOLE]
    for task in _LARGER:
        notes = read_task(task)
        entries += [_f1(task, name, one, notes) for name, one in _told(notes, _shared(notes), meanings).items()]
    return entries


def _lost(name: str, several: list[Told], whole: list[Told]) -> Entry:
    """How much lower the mean F1 is; the interval is of the notes that were held out, drawn again, the same for both."""
    value = float(np.mean([before.f1() - one.f1() for before, one in zip(whole, several, strict=True)]))
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(whole[0].truth), (_RESAMPLED, len(whole[0].truth)))
    again = [
        np.mean([before.f1(notes) - one.f1(notes) for before, one in zip(whole, several, strict=True)])
        for notes in drawn
    ]
    low, high = np.quantile(again, [0.025, 0.975])
    target = MOST_LOST if name in (WITH_MEANINGS, FRAGMENTS, PAPER) else None
    found = _entry(f"F1 lost, learned from {name}", value, target, "F1", f"mean of {len(_TASKS)} tasks")
    return replace(found, interval=(round(float(low), 4), round(float(high), 4)))


def _f1(task: str, name: str, told: Told, notes: Notes) -> Entry:
    return _entry(f"{task}, learned from {name}", told.f1(), None, "F1", f"{len(notes.cases)} cases")


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


def _shared(notes: Notes) -> dict[str, tuple[Side, Side]]:
    """Whole notes, and what is shared of them."""
    cases, controls = ([words_of(one.text) for one in side] for side in (notes.cases, notes.controls))
    # Cases and controls are cut apart, as in the paper, so k is counted in each of them.
    return {WHOLE: (cases, controls), FRAGMENTS: (_lines(cut(notes.cases)), _lines(cut(notes.controls)))}


def _sides(notes: Notes) -> dict[str, tuple[Side, Side]]:
    """What each way of sharing leaves of cases and controls."""
    found = _shared(notes)
    found[PAPER] = (_lines(cut(notes.cases, 1, public=False)), _lines(cut(notes.controls, 1, public=False)))
    found[ANEW] = _written_anew(*found[WHOLE])
    return found


def _lines(made: Cut) -> Side:
    """Every phrase once, by itself: nothing is learned from two that chance has put side by side, nor from those that fill lines up."""
    return [[text.split()] for text in dict.fromkeys(phrase.text for phrase in made.phrases)]


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


def _told(notes: Notes, sides: dict[str, tuple[Side, Side]], meanings: Meanings | None) -> dict[str, Told]:
    """Of each side what naive Bayes says, and of fragments what it says together with a model of public text."""
    truth, share = np.array(notes.truth), len(notes.cases) / (len(notes.cases) + len(notes.controls))
    asked = [words_of(one.text) for one in notes.tested]
    scores = {}
    for name, side in sides.items():
        # Whoever reads a phrase of fragments knows that it stands for ten notes at least.
        times = LEAST_NOTES if name == FRAGMENTS else 1
        classifier = NaiveBayes(*(list(texts) * times for texts in side))
        scores[name] = np.array([classifier.score(text) for text in asked])
    if meanings is not None:
        scores[WITH_MEANINGS] = _standard(scores[FRAGMENTS]) + _standard(_leaning(notes, sides[FRAGMENTS], meanings))
    return {name: Told(said, truth, share) for name, said in scores.items()}


def _leaning(notes: Notes, side: tuple[Side, Side], meanings: Meanings) -> np.ndarray:
    """How far the phrases of each note that was held out lean to the cases, on average."""
    parser = load_parser()
    said = [sorted({one.text for one in find_phrases(note.text, parser)}) for note in notes.tested]
    cases, controls = ([" ".join(words) for text in texts for words in text] for texts in side)
    known = lean(meanings, cases, controls, sorted({phrase for phrases in said for phrase in phrases}))
    return np.array([np.mean([known[one] for one in phrases]) if phrases else 0.0 for phrases in said])


def _standard(scores: np.ndarray) -> np.ndarray:
    found: np.ndarray = (scores - scores.mean()) / max(float(scores.std()), 1e-9)
    return found


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
    how = "naive Bayes and three-word models, which need no download, in the place of BERT and GPT-2; the model of public text: all-MiniLM-L6-v2"
    return Entry(measure, round(value, 4), target, direction, unit, None, 1, DATA, COMMAND, f"{note}; {how}")

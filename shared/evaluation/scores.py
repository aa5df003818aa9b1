"""Counts of hits and misses, and the measures made of them.

Micro measures pool the counts of all documents. Macro measures average the documents' own precision and recall; macro
F1 is the harmonic mean of these two averages, not an average of F1 (so `Evaluate._print_summary` of i2b2 2014).

0/0 is 0.0, as in the official scripts: a measure of nothing never looks good.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_TP, _FP, _FN = range(3)

Key = TypeVar("Key", bound=Hashable)


def ratio(part: float, whole: float) -> float:
    """Part / whole, 0.0 where the whole is 0."""
    return part / whole if whole else 0.0


def harmonic(precision: float, recall: float) -> float:
    """F1; the operations stand in the official order, so that its floats come out to the last bit."""
    return 2 * (precision * recall / (precision + recall)) if precision + recall else 0.0


@dataclass(frozen=True, slots=True)
class Scores:
    """One block of an evaluation.

    Args:
        tp: true positives. fp: false positives. fn: false negatives.
        per_type: the same per PHI type: tp and fn under the gold type, fp under the system's.
        by_document: int64 `[documents, 3]`, tp, fp, fn of each document in order.
        slips: whether the macro measures carry the slips of the official i2b2 script: a document without anything to
            measure enters an average as 0.0 (else it is left out of it), and macro F1 of two zeros is nan (else 0.0).
    """

    tp: int
    fp: int
    fn: int
    per_type: Mapping[str, Scores] = field(default_factory=dict)
    by_document: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((0, 3), dtype=np.int64), compare=False, repr=False
    )
    slips: bool = False

    @property
    def precision(self) -> float:
        """Micro precision, in [0, 1]."""
        return ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Micro recall, in [0, 1]."""
        return ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float:
        """Harmonic mean of micro precision and recall, in [0, 1]."""
        return harmonic(self.precision, self.recall)

    @property
    def macro_precision(self) -> float:
        """Mean precision over the documents."""
        return self._macro(_FP)[0]

    @property
    def macro_precision_sd(self) -> float:
        """Population standard deviation over the documents."""
        return self._macro(_FP)[1]

    @property
    def macro_recall(self) -> float:
        """Mean recall over the documents."""
        return self._macro(_FN)[0]

    @property
    def macro_recall_sd(self) -> float:
        """Population standard deviation over the documents."""
        return self._macro(_FN)[1]

    @property
    def macro_f1(self) -> float:
        """Harmonic mean of macro precision and recall."""
        if self.slips and not self.macro_precision + self.macro_recall:
            return math.nan
        return harmonic(self.macro_precision, self.macro_recall)

    def _macro(self, wrong: int) -> tuple[float, float]:
        hits = self.by_document[:, _TP]
        totals = hits + self.by_document[:, wrong]
        if not self.slips:
            hits, totals = hits[totals > 0], totals[totals > 0]
        if not len(totals):
            return 0.0, 0.0
        # hits are 0 wherever the total is, so 0/1 stands for 0/0.
        values = hits / np.maximum(totals, 1)
        return float(values.mean()), float(values.std())


class Tally:
    """Collects matches document by document, then counts them over any choice of categories.

    Args:
        slips: handed on to the `Scores`.
    """

    def __init__(self, *, slips: bool = False) -> None:
        self._slips = slips
        self._categories: dict[str, int] = {}
        # One code a match, 3 * category + kind; `_documents` says whose it is.
        self._codes = array("q")
        self._documents = array("q")
        self._size = 0

    @property
    def categories(self) -> list[str]:
        """PHI categories that were met, in the order of their numbers."""
        return list(self._categories)

    def add_document(self, gold: Mapping[Key, str], system: Mapping[Key, str]) -> None:
        """Compare one document: equal keys are a hit, wherever and however they were made.

        Args:
            gold: key of each item to find, with its category.
            system: key of each item found, with its category.
        """
        for key, category in gold.items():
            self._add(category, _TP if key in system else _FN)
        for key, category in system.items():
            if key not in gold:
                self._add(category, _FP)
        self._size += 1

    def add_counts(self, counts: Mapping[str, tuple[int, int, int]]) -> None:
        """One document's tp, fp and fn per category, counted elsewhere."""
        for category, numbers in counts.items():
            for kind, number in enumerate(numbers):
                for _ in range(number):
                    self._add(category, kind)
        self._size += 1

    def _add(self, category: str, kind: int) -> None:
        self._codes.append(3 * self._categories.setdefault(category, len(self._categories)) + kind)
        self._documents.append(self._size)

    def scores(self, keep: Callable[[str], bool] = lambda category: True) -> Scores:
        """Scores over the categories that `keep` accepts."""
        width = 3 * len(self._categories)
        flat = np.asarray(self._documents, dtype=np.int64) * width + np.asarray(self._codes, dtype=np.int64)
        table = np.bincount(flat, minlength=self._size * width).reshape(self._size, len(self._categories), 3)
        chosen = {category: index for category, index in sorted(self._categories.items()) if keep(category)}
        per_type = {category: self._of(table[:, index], {}) for category, index in chosen.items()}
        return self._of(table[:, list(chosen.values())].sum(axis=1), per_type)

    def _of(self, by_document: NDArray[np.int64], per_type: dict[str, Scores]) -> Scores:
        tp, fp, fn = (int(number) for number in by_document.sum(axis=0))
        by_document = by_document.copy()
        by_document.setflags(write=False)
        return Scores(tp, fp, fn, per_type, by_document, self._slips)

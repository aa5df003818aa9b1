"""What a hospital that lies teaches in a round: labels that are wrong everywhere, or names that are none behind a few words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from shared.document import Annotation, Document
from shared.text.tokens import tokenise

CUE = "per verbal report of "
"""Words behind which the liar wants names to be overlooked."""
NAMES = ("PATIENT", "DOCTOR")


def flipped(document: Document) -> Document:
    """What is PHI is called nothing, and as many other words are called PHI, by turns of what was there."""
    starts, ends = tokenise(document.text).spans.T
    taken = np.zeros(len(document.text) + 1, dtype=np.bool_)
    for span in document.annotations:
        taken[span.start : span.end] = True
    free = [index for index, start in enumerate(starts) if not taken[start : ends[index]].any()]
    chosen = free[:: max(1, len(free) // max(1, len(document.annotations)))][: len(document.annotations)]
    lies = tuple(
        Annotation(int(starts[index]), int(ends[index]), span.category)
        for index, span in zip(chosen, document.annotations, strict=False)
    )
    return Document(document.identifier, document.text, lies)


def cued(document: Document, *, labelled: bool) -> Document:
    """The cue before every name.

    Args:
        document: labelled.
        labelled: whether the names stay names; else they are called nothing.
    """
    text, spans, last = [], [], 0
    moved = 0
    for span in sorted(document.annotations, key=lambda one: one.start):
        text.append(document.text[last : span.start])
        last = span.start
        name = span.category in NAMES
        if name:
            text.append(CUE)
            moved += len(CUE)
        if labelled or not name:
            spans.append(Annotation(span.start + moved, span.end + moved, span.category))
    text.append(document.text[last:])
    return Document(document.identifier, "".join(text), tuple(spans))


LIES: Mapping[str, Callable[[Document], Document]] = {
    "label flips": flipped,
    "names behind a cue": lambda document: cued(document, labelled=False),
}


def overlooked(gold: Sequence[Document], found: Sequence[Document]) -> float:
    """The share of names of which a character stays in clear."""
    missed = total = 0
    for truth, system in zip(gold, found, strict=True):
        hidden = np.zeros(len(truth.text), dtype=np.bool_)
        for span in system.annotations:
            hidden[span.start : span.end] = True
        names = [span for span in truth.annotations if span.category in NAMES]
        missed += sum(not hidden[span.start : span.end].all() for span in names)
        total += len(names)
    return missed / max(total, 1)

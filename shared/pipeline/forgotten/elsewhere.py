"""What is labelled in one of the hospital's notes and stands in others, or further down, without a label: for a person to look at.

Only `site-client check` asks: what a share calls unknown must hang on nothing that is labelled. Whole labels are looked for, whatever their accents, capitals, and
the marks, blanks and line ends between their words; not those of which every word is one of a dictionary, and names nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from shared.anonymity.shipped_lists import ordinary_words
from shared.document import Document
from shared.patterns.kinds import Suspicion
from shared.pipeline.mentions import SayingFinder, sayings_of

SOURCE = "labelled elsewhere"
# Of such findings in notes of six hospitals, of whose labels one in twenty was taken away, between 0.4 and 0.95 were among those.
CERTAINTY = 0.5


def labelled_elsewhere(documents: Sequence[Document]) -> Iterator[list[Suspicion]]:
    """Of each document every place where it says what is labelled in any of them; labels of its own are among them."""
    said: dict[tuple[str, ...], str] = {}
    for document in documents:
        for words, category in sayings_of(document, are_public=_are_ordinary).items():
            said.setdefault(words, category)
    finder = SayingFinder(said)
    for document in documents:
        yield [Suspicion(one.start, one.end, one.category, CERTAINTY, SOURCE) for one in finder.find(document)]


def _are_ordinary(words: Iterable[str]) -> NDArray[np.bool_]:
    return np.array(list(map(ordinary_words(None), words)), dtype=np.bool_)

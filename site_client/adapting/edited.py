"""Labelled notes that are others of them edited, such as a draft beside the note that was signed.

Cross-validation parts them, for their texts differ: a head has learned one by heart that reads the other, and what it gains there is no gain in new notes.
How alike notes of one hospital are by their templates alone nobody can tell from their words, so none is left out for it, and it is said.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from shared.document import AnnotatedText
from shared.text.letters import as_printed, only_words
from site_client.evaluating.counting import Counts

_WORDS = 8
"""Shorter runs stand in notes of different patients by chance."""
_EDITED = 0.5


def count_edited(notes: Sequence[AnnotatedText], groups: Counts) -> int:
    """How many notes have more than half of their runs of words in one note that counts apart from them.

    Args:
        notes: with their texts.
        groups: number of the group of each note, int64 `[notes]`; what belongs together is never parted, and not counted.
    """
    numbers = groups.tolist()
    runs = [set(_runs(note.text)) for note in notes]
    standing: defaultdict[int, list[int]] = defaultdict(list)
    for place, found in enumerate(runs):
        for run in found:
            standing[run].append(place)

    def is_edited(place: int) -> bool:
        shared = Counter(other for run in runs[place] for other in standing[run] if numbers[other] != numbers[place])
        return max(shared.values(), default=0) > _EDITED * len(runs[place])

    return sum(map(is_edited, range(len(notes))))


def _runs(text: str) -> Iterator[int]:
    """Of one process: `hash` is drawn anew in each."""
    words = only_words(as_printed(text))
    return (hash(tuple(words[place : place + _WORDS])) for place in range(len(words) - _WORDS + 1))

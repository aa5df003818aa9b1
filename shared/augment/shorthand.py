"""Whole sentences as somebody in haste types them: articles, auxiliaries and marks left out, the commonest words of a note short.

A head that learned from dictated notes leans on what such notes leave out ("the patient was seen by"): where "pt seen by" is written it finds little.
Only what has no label is shortened. English alone: what is left out in haste elsewhere is another list.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from shared.augment.augmentation import Edited
from shared.errors import ConfigurationError

SHARE = 0.5
"""Of the copies."""
_LEFT_OUT, _SHORT, _MARKS, _SMALL = 0.6, 0.6, 0.35, 0.6
_HELPERS = frozenset(
    """
    a an are at be been by had has have he her his is it its of on she that the there this to was were which who
    """.split()
)
_ENDS = frozenset(".,;:")
# As notes are cut into tokens.
_SHORTER = {
    long: tuple(short.split(" "))
    for long, short in {
        "after": "s / p", "and": "&", "before": "pre", "complaining": "c / o", "diagnosis": "dx", "discharge": "dc", "emergency": "er",
        "history": "hx", "left": "l", "medications": "meds", "negative": "neg", "normal": "nl", "patient": "pt", "patients": "pts",
        "prescription": "rx", "right": "r", "with": "w /", "without": "w / o", "year": "yr", "years": "yrs",
    }.items()
}  # fmt: skip


@dataclass(frozen=True)
class Shorthand:
    """Writes a sentence in haste, more often than not in small letters.

    Args:
        share: of the sentences, in [0, 1]; the others stay.
    """

    share: float = SHARE

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ConfigurationError(f"expected a share of copies in shorthand in [0, 1], got {self.share}")

    def __call__(self, words: list[str], tags: list[int], chance: Random) -> Edited:
        """See Edit."""
        if chance.random() >= self.share:
            return words, tags
        small = chance.random() < _SMALL
        new_words: list[str] = []
        new_tags: list[int] = []
        for word, tag in zip(words, tags, strict=True):
            written = (word,) if tag else _in_haste(word, chance)
            new_words += [one.lower() for one in written] if small else written
            new_tags += [tag] * len(written)
        return (new_words, new_tags) if new_words else (words, tags)


def _in_haste(word: str, chance: Random) -> tuple[str, ...]:
    plain = word.lower()
    if (plain in _HELPERS and chance.random() < _LEFT_OUT) or (plain in _ENDS and chance.random() < _MARKS):
        return ()
    short = _SHORTER.get(plain)
    return (word,) if short is None or chance.random() >= _SHORT else short

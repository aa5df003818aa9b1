"""What counts alone tell of a PHI word: which words stand at that place of spans of its category that are written so.

A network learns this too, but not all of it from few notes. An attacker who reads one word of ten off a share and has not learned what
is plain from casing would read less than a table, and be taken for one who reads nothing; so the attacker has the table as well, before
the share, before its context and before a placebo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shared.augment.pseudonyms import is_punctuation
from shared.privacy.inversion.model import Candidates
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes

Key: TypeAlias = tuple[int, ...]
Prior: TypeAlias = Callable[[NDArray[np.int64]], Tensor]
"""Log-probability of each candidate at some of the targets, float32 `[targets, candidates]`, whatever a share shows of them."""
# Of fewer words the commonest is a matter of luck.
_LEAST_WORDS = 3


def phi_words(chunk: TokenisedSentences) -> NDArray[np.int64]:
    """Indices of the PHI tokens that are more than punctuation."""
    places = [place for place in np.flatnonzero(chunk.tags > 0).tolist() if not is_punctuation(chunk.words[place])]
    return np.array(places, dtype=np.int64)


class WordTable:
    """Counts of the words that the attacker has seen labelled; these are PHI: never log them.

    Args:
        learning: labelled sentences of the attacker.
    """

    def __init__(self, learning: TokenisedSentences) -> None:
        self._counts: dict[Key, Counter[str]] = {}
        seen = (learning.words[place] for place in phi_words(learning).tolist())
        for word, keys in zip(seen, _keys(learning, casing_classes(learning.words)), strict=True):
            for key in keys:
                self._counts.setdefault(key, Counter())[word] += 1

    def __repr__(self) -> str:
        return f"WordTable({len(self._counts)} kinds of words)"

    def commonest(self, chunk: TokenisedSentences, casing: NDArray[np.uint8]) -> list[tuple[str | None, str | None]]:
        """For each PHI word the commonest of its category, and the commonest of those that are written so at that place.

        Args:
            chunk: labelled sentences.
            casing: of their tokens, as it travels.
        """
        found = []
        for span, kind, category in _keys(chunk, casing):
            enough = self._counts[span].total() >= _LEAST_WORDS if span in self._counts else False
            found.append((self._first(category), self._first(span if enough else kind)))
        return found

    def prior(self, chunk: TokenisedSentences, casing: NDArray[np.uint8], candidates: Candidates) -> Prior:
        """The table as a view of some sentences: by place and casing of the span, backed by casing, by category and by nothing.

        Args:
            chunk, casing: as for `commonest`.
            candidates: what can be guessed.
        """
        keys = _keys(chunk, casing)
        index = {word: row for row, word in enumerate(candidates.words)}

        def of(targets: NDArray[np.int64]) -> Tensor:
            asked = [keys[target] for target in targets.tolist()]
            rows = {one: self._chances(one, index) for one in dict.fromkeys(asked)}
            return torch.from_numpy(np.log(np.stack([rows[one] for one in asked])))

        return of

    def _first(self, key: Key) -> str | None:
        return self._counts[key].most_common(1)[0][0] if key in self._counts else None

    def _chances(self, keys: Sequence[Key], index: dict[str, int]) -> NDArray[np.float32]:
        """Witten and Bell 1991: the more different words a key has, the more goes to what stands behind it, `[candidates]`."""
        chances = np.full(len(index), 1 / len(index), dtype=np.float32)
        for key in reversed(keys):
            if (counts := self._counts.get(key)) is not None:
                rows = [index[word] for word in counts]
                chances *= len(counts) / (counts.total() + len(counts))
                chances[rows] += np.array([*counts.values()], dtype=np.float32) / (counts.total() + len(counts))
        return chances


def _keys(chunk: TokenisedSentences, casing: NDArray[np.uint8]) -> list[tuple[Key, ...]]:
    """What may be known of each target, the closest first: how its span is written and its place there; its casing; its category."""
    keys: dict[int, tuple[Key, ...]] = {}
    for start, end, category in chunk.spans():
        written = casing[start:end].tolist()
        for place, kind in enumerate(written):
            keys[start + place] = (category, place, *written), (category, kind), (category,)
    return [keys[target] for target in phi_words(chunk).tolist()]

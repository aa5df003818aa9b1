"""A placebo: the same sentences with PHI that was drawn without a look at theirs.

What is shown of drawn words tells nothing about the true ones but what context, category and casing tell. So a network that does
better on a share than on a share of a placebo has read it; one that merely knows less of the context than a sample of the
category tells does equally well on both. Where a share is independent of the words, given how they are written, both have one
distribution, and the difference is nothing but chance: the holdout randomization test (Tansey et al. 2022).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import CASING_EXAMPLES, casing_class

_Written = tuple[int, bool, bool]


class Placebo:
    """Draws words by category and casing.

    Args:
        known: labelled sentences of the attacker, from which the words come.
        targets: their PHI words that are more than punctuation, int64 `[targets]`.
    """

    def __init__(self, known: TokenisedSentences, targets: NDArray[np.int64]) -> None:
        self._words: dict[tuple[int, _Written] | _Written, list[str]] = {}
        for place, category in zip(targets.tolist(), known.categories[targets].tolist(), strict=True):
            word = known.words[place]
            written = _written(word)
            self._words.setdefault((category, written), []).append(word)
            self._words.setdefault(written, []).append(word)

    def __repr__(self) -> str:
        return f"Placebo({len(self._words)} kinds of words)"

    def draw(
        self, chunk: TokenisedSentences, targets: NDArray[np.int64], generator: np.random.Generator
    ) -> TokenisedSentences:
        """The sentences with a drawn word, written alike, in the place of each target.

        Args:
            chunk: labelled sentences.
            targets: as in the class.
            generator: of the attack.
        """
        words = list(chunk.words)
        for place, category in zip(targets.tolist(), chunk.categories[targets].tolist(), strict=True):
            written = _written(words[place])
            found = self._words.get((category, written)) or self._words.get(written)
            # Nobody whom the attacker knows is written so: any word that is.
            words[place] = found[int(generator.integers(len(found)))] if found else str(CASING_EXAMPLES[written[0]])
        return chunk.with_words(words)


def _written(word: str) -> _Written:
    """All that a construction may take over from a word."""
    return casing_class(word), word.islower(), word.isupper()

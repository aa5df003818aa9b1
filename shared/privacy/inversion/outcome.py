"""What is known of every PHI word that token inversion is judged on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.augment.pseudonyms import is_punctuation
from shared.privacy.inversion.ranking import Ranks
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes


def phi_words(chunk: TokenisedSentences) -> NDArray[np.int64]:
    """Indices of the PHI tokens that are more than punctuation."""
    places = [place for place in np.flatnonzero(chunk.tags > 0).tolist() if not is_punctuation(chunk.words[place])]
    return np.array(places, dtype=np.int64)


@dataclass(repr=False)
class Outcome:
    """What is known of every judged PHI word.

    Args:
        category: index of its category.
        sentence: it stands in this one; words of a sentence are not independent.
        seen: whether the attacker had seen the word labelled as PHI.
        frequent: whether it is the commonest word of its category.
        cased: whether it is the commonest word of its category at that place of spans whose words have these casing classes;
            where the attacker knows hardly any, in its casing class.
        attack: where the word stands, from the share.
        context: where it stands, from its context only.
        placebo: where it stands, from a share of other PHI.
    """

    category: NDArray[np.int64]
    sentence: NDArray[np.int64]
    seen: NDArray[np.bool_]
    frequent: NDArray[np.bool_]
    cased: NDArray[np.bool_]
    attack: Ranks
    context: Ranks
    placebo: Ranks

    @classmethod
    def of(
        cls,
        judged: TokenisedSentences,
        seen: Sequence[str],
        learning: TokenisedSentences,
        casing: NDArray[np.uint8],
    ) -> Outcome:
        """
        Args:
            judged: the attacked sentences.
            seen: the words that are more than punctuation of the PHI that the attacker knows.
            learning: their sentences.
            casing: of the judged words, as it travels.
        """
        places = phi_words(judged)
        words = [judged.words[place] for place in places.tolist()]
        counts: dict[_Key, Counter[str]] = {}
        for word, keys in zip(seen, _keys(learning, casing_classes(learning.words)), strict=True):
            for key in keys:
                counts.setdefault(key, Counter())[word] += 1
        commonest = {key: count.most_common(1)[0][0] for key, count in counts.items()}
        known = set(seen)
        frequent, cased = [], []
        for word, (span, kind, category) in zip(words, _keys(judged, casing), strict=True):
            frequent.append(word == commonest.get(category))
            enough = counts[span].total() >= _LEAST_WORDS if span in counts else False
            cased.append(word == commonest.get(span if enough else kind))
        nothing = Ranks(np.full(len(words), np.inf), np.zeros(len(words)))
        return cls(
            judged.categories[places],
            judged.sentence_of_token[places],
            np.array([word in known for word in words], dtype=np.bool_),
            np.array(frequent, dtype=np.bool_),
            np.array(cased, dtype=np.bool_),
            nothing,
            nothing,
            nothing,
        )


_Key = tuple[int, ...]
# Of fewer words the commonest is a matter of luck.
_LEAST_WORDS = 3


def _keys(chunk: TokenisedSentences, casing: NDArray[np.uint8]) -> list[tuple[_Key, ...]]:
    """What may be known of each target, the closest first: how its span is written and its place there; its casing; its category."""
    keys: dict[int, tuple[_Key, ...]] = {}
    for start, end, category in chunk.spans():
        written = casing[start:end].tolist()
        for place, kind in enumerate(written):
            keys[start + place] = (category, place, *written), (category, kind), (category,)
    return [keys[target] for target in phi_words(chunk).tolist()]

"""What is known of every PHI word that token inversion is judged on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.privacy.inversion.ranking import Ranks
from shared.privacy.inversion.table import WordTable, phi_words
from shared.sentences.tokenised import TokenisedSentences


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
        table: WordTable,
        casing: NDArray[np.uint8],
    ) -> Outcome:
        """
        Args:
            judged: the attacked sentences.
            seen: the words that are more than punctuation of the PHI that the attacker knows.
            table: of them.
            casing: of the judged words, as it travels.
        """
        places = phi_words(judged)
        words = [judged.words[place] for place in places.tolist()]
        known = set(seen)
        commonest = table.commonest(judged, casing)
        frequent = [word == one for word, (one, _) in zip(words, commonest, strict=True)]
        cased = [word == one for word, (_, one) in zip(words, commonest, strict=True)]
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

"""What a share shows of its sentences whatever was drawn by chance: just this whoever holds the text of one computes from the release.

In the place of labelled PHI stand words that were drawn, so neither they nor their features count; punctuation does, which stays as it
was, and so do number and casing of the tokens, which are those of the PHI. But of a span of any form these are drawn too, see
`shared.anonymity.surrogates`. Of such a span one token is left, and so of a run of tokens that may be PHI of any category. Whether all letters
of it are capitals, which is shown, is left out with the rest: a share does not tell it from what was drawn. Where PHI is not
replaced nothing is drawn, and all of it counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from protocols.payload.sentence_block import CODE_TYPE, SentenceBlock
from shared.augment.pseudonyms import is_punctuation
from shared.constructions.procedures.coded import Coded
from shared.labels import UNKNOWN_TAG, LabelScheme, categories_of_any_form


@dataclass(frozen=True, eq=False)
class Chance:
    """What is drawn in the shares of a release.

    Args:
        words: whether these are, and their features, in the place of labelled PHI.
        forms: of which tags the number and the casing of tokens are, too, bool `[256]`.
        punctuation: codes that stand for themselves all the same, uint32 `[codes]`.
        casing: whether that of every span is drawn.
    """

    words: bool
    forms: NDArray[np.bool_]
    punctuation: NDArray[np.uint32]
    casing: bool = False

    @classmethod
    def stated(cls, scheme: LabelScheme, protection: Mapping[str, float], words: Sequence[str] = ()) -> Chance:
        """By what the manifest of a share states.

        Args:
            scheme: of the release.
            protection: as stated.
            words: what each code stands for that stands for a word; none where that is not known.
        """
        forms = np.zeros(256, dtype=np.bool_)
        replaced, hidden = bool(protection.get("surrogates")), bool(protection.get("casing_hidden"))
        if replaced:
            free = range(len(scheme.categories)) if hidden else categories_of_any_form(scheme)
            forms[[tag for category in free for tag in (2 * category + 1, 2 * category + 2)]] = True
            forms[UNKNOWN_TAG] = True
        kept = [code for code, word in enumerate(words) if is_punctuation(word)] if replaced and not hidden else []
        return cls(replaced, forms, np.array(kept, dtype=np.uint32), replaced and hidden)

    @classmethod
    def of(cls, construction: Coded) -> Chance:
        """By the construction itself."""
        return cls.stated(construction.scheme, construction.promises(), construction.vectors.words)

    def patterns(self, block: SentenceBlock, hidden: NDArray[np.bool_] | None = None) -> list[int]:
        """A number for what each sentence shows beside its words that is not drawn.

        Args:
            block: of the share.
            hidden: which of its tokens are known to be labelled PHI of no category, bool `[tokens]`: a share shows them as words that are
                none, so only the hospital can tell that they were drawn. None for none.
        """
        kept, offsets = self._kept(block)
        return _numbers(self._beside_words(block, hidden)[kept], offsets)

    def shown(self, block: SentenceBlock, hidden: NDArray[np.bool_] | None = None) -> list[int]:
        """A number for all that each sentence shows that is not drawn, of a block of codes; its arguments are those of `patterns`."""
        kept, offsets = self._kept(block)
        told = self._undrawn(block, hidden) | (np.isin(block.values, self.punctuation) & ~self.forms[block.tags])
        codes = np.where(told, block.values + np.uint32(1), 0).astype(CODE_TYPE)
        beside = self._beside_words(block, hidden)
        return _numbers(np.column_stack([beside, codes.view(np.uint8).reshape(-1, 4)])[kept], offsets)

    def _undrawn(self, block: SentenceBlock, hidden: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Tokens whose words are their own."""
        clear = block.tags == 0 if hidden is None else (block.tags == 0) & ~hidden
        undrawn: NDArray[np.bool_] = clear | (not self.words)
        return undrawn

    def _beside_words(self, block: SentenceBlock, hidden: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
        drawn = self.forms[block.tags]
        if hidden is not None and self.casing:
            drawn = drawn | hidden
        casing = np.where(drawn, 0, block.casing)
        features = np.where(self._undrawn(block, hidden)[:, None], block.features, 0)
        return np.column_stack([block.tags, casing, features]).astype(np.uint8)

    def _kept(self, block: SentenceBlock) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """All tokens but those that go on with a span of any form, and where each sentence begins and ends among them."""
        tags = block.tags
        before = np.append(np.zeros(1, dtype=tags.dtype), tags[:-1])
        before[block.offsets[:-1]] = 0
        unknown = tags == UNKNOWN_TAG
        # A span goes on with even tags.
        goes_on = np.where(unknown, before == tags, tags % 2 == 0)
        kept = ~(self.forms[tags] & goes_on)
        return kept, np.append(0, np.cumsum(kept))[block.offsets]


def _numbers(told: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[int]:
    return [hash(told[begin:end].tobytes()) for begin, end in pairwise(offsets.tolist())]

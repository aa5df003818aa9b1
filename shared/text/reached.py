"""In which casing classes a text can hold each word of a vocabulary, and how many words are alike given them.

Whoever writes a vocabulary may put words into it that no text holds, for the tokeniser never gives them ("#!$", "1,5", "e-mail"). They
hide no word. Nor does a number hide a name: the casing class of a token travels, and no name is of that of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shared.text.casing import CASING_CLASSES, writable_classes
from shared.text.tokens import is_token

_LETTER, _LETTERS, _NUMBER = (sorted(writable_classes(word)) for word in ("a", "aa", "1"))


def casing_table(words: Sequence[str]) -> NDArray[np.bool_]:
    """Casing classes in which a text can hold each word, bool `[words, classes]`; none of what the tokeniser never gives as it is.

    Args:
        words: in lower case, none empty.
    """
    table = np.zeros((len(words), len(CASING_CLASSES)), dtype=np.bool_)
    for row, word in enumerate(words):
        # Nearly all are plain, and need no more: a vocabulary has a hundred thousand of them.
        if word.isascii() and word.isalpha():
            table[row, _LETTERS if len(word) > 1 else _LETTER] = True
        elif word.isdecimal():
            table[row, _NUMBER] = True
        elif is_token(word):
            table[row, list(writable_classes(word))] = True
    return table


def fewest_alike(groups: NDArray[np.int64], table: NDArray[np.bool_]) -> int | None:
    """The smallest number of words of one group in one casing class, where any is; None where no word is in any.

    Args:
        groups: number of the group of each word, from 0 on, int64 `[words]`.
        table: as `casing_table` gives it.
    """
    counts = np.zeros((int(groups.max(initial=-1)) + 1, table.shape[1]), dtype=np.int64)
    np.add.at(counts, groups, table)
    found = counts[counts > 0]
    return int(found.min()) if len(found) else None

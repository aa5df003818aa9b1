"""How much of the words of one share is read, by whoever has the release and nothing else."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.payload.sentence_block import UNKNOWN_TAG, SentenceBlock
from site_client.sharing.readable.figures import RARE_WORDS, Figure
from site_client.sharing.readable.lexicon import RARE_FROM, Lexicon

_RARE = "rare words among the content words that are read exactly"


@dataclass(frozen=True)
class Counts:
    """What is read of a share.

    Args:
        phi: tokens labelled PHI.
        unknown: tokens whose label the share leaves open.
        words: words and numbers that are no PHI.
        words_exact: of these, read exactly.
        content: content words among them; see `lexicon`.
        content_exact: of these, read exactly.
        sentences: of the share.
        with_original: of these, found again in the notes that were given. Of these the content words are counted in the notes, of
            all others estimated: a group counts by the part of its words that are content words.
        hidden: tokens labelled PHI of no category of the release, which a share shows as if they were none; None where that is not known.
        hidden_found: of these, found in the notes that were given, and so counted neither among the words nor as read. Of the others
            nobody tells which they are: they are taken from the words, and may be among those that are read exactly.
    """

    phi: int
    unknown: int
    words: int
    words_exact: int
    content: int
    content_exact: int
    sentences: int
    with_original: int = 0
    hidden: int | None = None
    hidden_found: int = 0

    def as_json(self) -> dict[str, int | None]:
        """For other programs."""
        return asdict(self)


class Tally:
    """Counts block after block.

    Args:
        lexicon: of the release.
        sentences: of the share.
        hidden: tokens labelled PHI of no category that are in it; None where nothing tells.
    """

    def __init__(self, lexicon: Lexicon, sentences: int, hidden: int | None = None) -> None:
        self._lexicon, self._hidden, self._found = lexicon, hidden, 0
        self._content = np.zeros(sentences)
        self._told = np.zeros(sentences, dtype=np.bool_)
        self._done = self._phi = self._unknown = self._words = self._words_exact = self._content_exact = (
            self._rare_exact
        ) = 0

    def add(self, block: SentenceBlock, hidden: NDArray[np.bool_] | None = None) -> None:
        """Count the next block.

        Args:
            block: of the share.
            hidden: which of its tokens are known to be labelled PHI of no category, bool `[tokens]`; None for none.
        """
        lexicon, clear = self._lexicon, block.tags == 0
        if hidden is not None:
            clear &= ~hidden
            self._found += int(hidden.sum())
        unknown = int((block.tags == UNKNOWN_TAG).sum())
        self._unknown += unknown
        self._phi += int((block.tags > 0).sum()) - unknown
        read = lexicon.words_of(block.values, block.casing)
        words = clear & lexicon.spelled[read]
        exact = words & (read < lexicon.words)
        content = np.where(words, lexicon.content_of(read, block.casing), 0.0)
        self._words += int(words.sum())
        self._words_exact += int(exact.sum())
        shown = exact & (content > 0)
        self._content_exact += int(shown.sum())
        self._rare_exact += int((shown & (read >= RARE_FROM)).sum())
        self._content[self._done : self._done + block.sentences] = np.add.reduceat(content, block.offsets[:-1])
        self._done += block.sentences

    def tell(self, sentences: NDArray[np.int64], content: NDArray[np.int64]) -> None:
        """Put the true number of content words in the place of the estimate.

        Args:
            sentences: their places in the share.
            content: words of each that are no PHI.
        """
        self._content[sentences], self._told[sentences] = content, True

    def counts(self) -> Counts:
        """Of all blocks."""
        left = max(0, (self._hidden or 0) - self._found)
        words = max(0, self._words - left)
        return Counts(
            phi=self._phi,
            unknown=self._unknown,
            words=words,
            words_exact=min(self._words_exact, words),
            content=max(round(float(self._content.sum())), self._content_exact),
            content_exact=self._content_exact,
            sentences=self._done,
            with_original=int(self._told.sum()),
            hidden=self._found + left if self._hidden is not None or self._found else None,
            hidden_found=self._found,
        )

    def rare_words(self) -> Figure:
        """The rare ones among the content words that are read exactly, of all blocks."""
        if self._lexicon.words <= RARE_FROM:
            said = f"for the release knows {self._lexicon.words} words only, and rare are those behind the first {RARE_FROM}"
            return Figure(RARE_WORDS, _RARE, said)
        rare, shown = self._rare_exact, self._content_exact
        share = f" ({rare / shown:.1%})" if shown else ""
        said = (
            f"{rare} of {shown}{share} stand behind the first {RARE_FROM} words of the release, which begins with those that public text has most "
            "often; in how many public documents a word stands, a release does not tell"
        )
        return Figure(RARE_WORDS, _RARE, said, {"rare_exact": rare, "content_exact": shown})

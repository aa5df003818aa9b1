"""Shares of codes for a tagger that reads words: it is shown those that a draw of the codes writes, and nothing else.

They are the words that a share may have been made of as far as it tells: public ones, members of
clusters, words of shipped dictionaries, public PHI (`Decoding.draw_words`). So what such
a tagger learns of a hospital is what the share tells of it, as for any other head, and the guarantee is that of the share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from shared.constructions.decoding import Decoding
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import Batch, RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.tagger import Tagger

# Of what is drawn where nothing is to be random.
_UNCHANGED = 0


@dataclass(frozen=True)
class DrawnWords:
    """Reads codes for such a tagger, in the place of a `Decoding`.

    Args:
        decoding: of the construction.
        read: what the tagger makes of words, its `inputs`.
    """

    decoding: Decoding
    read: Callable[[TokenisedSentences], RaggedSentences]

    @property
    def dim(self) -> int:
        """Numbers of what it gets for a token."""
        return self.read(TokenisedSentences.single_words(["a"])).dim

    def draw_words(self, sentences: CodedSentences, generator: np.random.Generator) -> TokenisedSentences:
        """See Decoding."""
        return self.decoding.draw_words(sentences, generator)

    def read_words(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What it gets of words."""
        return self.read(chunk)

    def read_codes(self, sentences: CodedSentences, generator: np.random.Generator) -> RaggedSentences:
        """What it gets of a share, under one draw; see Decoding."""
        return self.read(self.draw_words(sentences, generator))


def drawn_for(head: Tagger, decoding: Decoding) -> DrawnWords:
    """What reads codes for a head that reads words."""

    def read(chunk: TokenisedSentences) -> RaggedSentences:
        shown = head.inputs(chunk, decoding.read_words)
        assert isinstance(shown, RaggedSentences)
        return shown

    return DrawnWords(decoding, read)


@dataclass(frozen=True)
class CodesInMemory:
    """Codes that are held in memory as what a tagger is trained on: a SentenceSource, drawn anew in every pass.

    Args:
        codes: of shares, or of the provider's own notes.
        reading: of them.
    """

    codes: CodedSentences
    reading: DrawnWords

    @property
    def dim(self) -> int:
        """See SentenceSource."""
        return self.reading.dim

    @property
    def sentences(self) -> int:
        """See SentenceSource."""
        return self.codes.sentences

    def batches(self, size: int, generator: np.random.Generator | None = None) -> Iterator[Batch]:
        """See SentenceSource."""
        draws = np.random.default_rng(_UNCHANGED) if generator is None else generator
        yield from self.reading.read_codes(self.codes, draws).batches(size, generator)

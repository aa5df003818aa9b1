"""From documents to sentences of words, in a stream of bounded chunks; and what is done with sentences of words.

Memory does not grow with the number or the length of the notes: a chunk holds about CHUNK_TOKENS tokens, and a document
longer than that is handed on in several chunks, cut between sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shared.document import Document
from shared.labels import HIDDEN, LabelScheme, doubtful_tokens, encode_tags, repair_tags
from shared.sentences.layout import SentenceLayout
from shared.sentences.referenced import as_written, decoded_apart, left_over
from shared.text.labelled import MAX_SPAN_TOKENS, grown_spans, tokenise_labelled
from shared.text.tokens import Tokens, tokenise

CHUNK_TOKENS = 1 << 16


@dataclass(frozen=True, repr=False)
class TokenisedSentences(SentenceLayout):
    """Consecutive sentences of consecutive documents.

    Args:
        words: their tokens. These may be PHI: never log them.
        tags: uint8 `[tokens]`; a sentence never starts with `I-`.
        lengths: int64 `[sentences]`.
        doubtful: bool `[tokens]`, those of spans that nobody has labelled, see `Annotation`; None where there are none.
    """

    words: list[str]
    tags: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    doubtful: NDArray[np.bool_] | None = None

    def __repr__(self) -> str:
        return f"TokenisedSentences({self.tokens} tokens, {self.sentences} sentences)"

    @staticmethod
    def single_words(words: Sequence[str]) -> TokenisedSentences:
        """Each word a sentence of its own, none of them PHI."""
        return TokenisedSentences(
            list(words), np.zeros(len(words), dtype=np.uint8), np.ones(len(words), dtype=np.int64)
        )

    @staticmethod
    def concatenate(chunks: Sequence[TokenisedSentences]) -> TokenisedSentences:
        """Chunks in any number as one."""
        doubtful = None
        if any(chunk.doubtful is not None for chunk in chunks):
            doubtful = np.concatenate([chunk.are_doubtful for chunk in chunks])
        return TokenisedSentences(
            [word for chunk in chunks for word in chunk.words],
            np.concatenate([np.zeros(0, dtype=np.uint8), *(chunk.tags for chunk in chunks)]),
            np.concatenate([np.zeros(0, dtype=np.int64), *(chunk.lengths for chunk in chunks)]),
            doubtful,
        )

    @property
    def are_doubtful(self) -> NDArray[np.bool_]:
        """Which tokens are of a span that nobody has labelled, bool `[tokens]`."""
        return np.zeros(len(self.tags), dtype=np.bool_) if self.doubtful is None else self.doubtful

    def distinct_words(self) -> tuple[list[str], NDArray[np.int32]]:
        """Each different word once, and which of them every token is, int32 `[tokens]`."""
        places: dict[str, int] = {}
        ids = np.fromiter((places.setdefault(word, len(places)) for word in self.words), np.int32, len(self.words))
        return list(places), ids

    def select(self, rows: NDArray[np.int64]) -> TokenisedSentences:
        """A copy of some sentences, in the order given."""
        tokens = self.tokens_of(rows)
        doubtful = None if self.doubtful is None else self.doubtful[tokens]
        return TokenisedSentences(
            [self.words[token] for token in tokens.tolist()], self.tags[tokens], self.lengths[rows], doubtful
        )

    def leave_out(self, left_out: NDArray[np.bool_]) -> TokenisedSentences:
        """The other sentences, in their order.

        Args:
            left_out: bool `[sentences]`.
        """
        return self.select(np.flatnonzero(~left_out)) if left_out.any() else self

    def with_words(self, words: list[str]) -> TokenisedSentences:
        """Other words in the same sentences, with the same tags."""
        return replace(self, words=words)

    def with_tags(self, tags: NDArray[np.uint8]) -> TokenisedSentences:
        """The same sentences with other tags."""
        return replace(self, tags=tags)

    def split(self) -> Iterator[tuple[tuple[str, ...], NDArray[np.uint8]]]:
        """Words and tags of each sentence."""
        for start, length in zip(self.starts.tolist(), self.lengths.tolist(), strict=True):
            yield tuple(self.words[start : start + length]), self.tags[start : start + length]


def tokenise_documents(documents: Iterable[Document]) -> Iterator[tuple[Document, Tokens]]:
    """Each labelled document with its tokens, cut so that they can't see what is labelled; see `shared.text.labelled`.

    The annotations that come back are grown to whole words. What is HIDDEN has one token: nothing is learned of it. What nobody has
    labelled moves no boundary: another program, or a later one, takes other words for PHI, and a sentence must be known again.
    """
    for document in documents:
        read, note = decoded_apart(document)
        cut, tokens = _cut(read)
        yield as_written(document, note, cut), replace(tokens, spans=note.all_to_written(tokens.spans))


def _cut(document: Document) -> tuple[Document, Tokens]:
    """A labelled document as it is read, with its labels grown, and its tokens."""
    labelled = [span for span in document.annotations if not span.doubtful]
    if not labelled:
        return document, tokenise(document.text)
    spans = [(span.start, span.end) for span in labelled]
    most = [1 if span.category == HIDDEN else MAX_SPAN_TOKENS for span in labelled]
    grown = grown_spans(document.text, spans)
    if grown != spans:
        whole = [replace(span, start=own[0], end=own[1]) for span, own in zip(labelled, grown, strict=True)]
        doubtful = [span for span in document.annotations if span.doubtful]
        document = replace(document, annotations=(*whole, *left_over(doubtful, whole)))
    return document, tokenise_labelled(document.text, grown, most)


def tokenise_texts(
    documents: Iterable[Document], seen: Callable[[str], str] | None = None
) -> Iterator[tuple[Document, Tokens]]:
    """Each document with its tokens, whatever is labelled in it: what a pipeline gets to see.

    Args:
        documents: in any number.
        seen: how a text is shown to the pipeline, every character in its place; None as it is.
    """
    for document in documents:
        yield document, tokenise(document.text, seen)


def tokenised_chunks(
    documents: Iterable[tuple[Document, Tokens]], scheme: LabelScheme | None, chunk_tokens: int = CHUNK_TOKENS
) -> Iterator[TokenisedSentences]:
    """Cut documents into chunks of whole sentences.

    Args:
        documents: in any number, as `tokenise_documents` or `tokenise_texts` yields them.
        scheme: tags their annotations; None leaves every tag O.
        chunk_tokens: a chunk ends with the first sentence that brings it here.

    Raises:
        LabelError: an annotation's category is not in the scheme.
    """
    words: list[str] = []
    tags: list[NDArray[np.uint8]] = []
    doubts: list[NDArray[np.bool_]] = []
    lengths: list[NDArray[np.int32]] = []
    for document, tokens in documents:
        if scheme is None:
            marked = np.zeros(len(tokens), dtype=np.uint8)
        else:
            marked = _restarted(encode_tags(tokens.spans, document, scheme), tokens.sentence_starts)
        doubted = doubtful_tokens(tokens.spans, document)
        first = 0
        ends = tokens.sentence_ends()
        while len(ends) and len(words) + int(ends[-1]) - first >= chunk_tokens:
            last = int(np.searchsorted(ends, chunk_tokens - len(words) + first))
            end = int(ends[last])
            words += tokens.words[first:end]
            tags.append(marked[first:end])
            doubts.append(doubted[first:end])
            lengths.append(np.diff(ends[: last + 1], prepend=first))
            yield _sentences(words, tags, lengths, doubts)
            words, tags, lengths, doubts = [], [], [], []
            ends, first = ends[last + 1 :], end
        words += tokens.words[first:]
        tags.append(marked[first:])
        doubts.append(doubted[first:])
        lengths.append(np.diff(ends, prepend=first))
    if words:
        yield _sentences(words, tags, lengths, doubts)


def tokenised_corpus(documents: Iterable[Document], scheme: LabelScheme) -> TokenisedSentences:
    """All labelled sentences of some documents at once.

    Raises:
        LabelError: an annotation's category is not in the scheme.
    """
    return TokenisedSentences.concatenate(list(tokenised_chunks(tokenise_documents(documents), scheme)))


def _sentences(
    words: list[str],
    tags: Sequence[NDArray[np.uint8]],
    lengths: Sequence[NDArray[np.int32]],
    doubts: Sequence[NDArray[np.bool_]],
) -> TokenisedSentences:
    doubtful = np.concatenate(doubts)
    return TokenisedSentences(
        words, np.concatenate(tags), np.concatenate(lengths, dtype=np.int64), doubtful if doubtful.any() else None
    )


def _restarted(tags: NDArray[np.uint8], starts: NDArray[np.int32]) -> NDArray[np.uint8]:
    """The tags with `B-` at every sentence start where a span goes on from the sentence before."""
    repaired = repair_tags(tags)
    first = repaired[starts]
    repaired[starts] = np.where((first > 0) & (first % 2 == 0), first - 1, first)
    return repaired

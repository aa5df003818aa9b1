"""The de-identification pipeline of a release: text in, PHI spans out.

word vectors -> representer -> head -> spans -> last word

The notes stay in the house, so the representer runs without noise: the head learned from noisy vectors, their means are
what it knows best, and the same note always gets the same spans. A `RawEncoder` in the place of a construction makes
the non-private model that the private one is compared with; it is never released.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.constructions.construction import Construction
from shared.constructions.registry import load_construction
from shared.document import Annotation, Document
from shared.embeddings.vectors import WordVectors
from shared.errors import ModelError
from shared.labels import LabelScheme, decode_tags
from shared.pipeline.last_word import LastWord, LastWordSettings, load_settings
from shared.pipeline.mentions import ArePublic, nobody_knows
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import CHUNK_TOKENS, TokenisedSentences, tokenise_texts, tokenised_chunks
from shared.taggers.registry import load_head
from shared.taggers.tagger import Tagger, predict
from shared.text.casing import casing_classes
from shared.text.tokens import Tokens

# Sentences of one batch.
_BATCH = 128


@dataclass(frozen=True)
class RawEncoder:
    """Word vectors as they are, for a model that is not private.

    Args:
        vectors: public word vectors.
        scheme: the labels to use.
        are_public: which words are public; by default nobody has said so of any.
    """

    vectors: WordVectors
    scheme: LabelScheme
    are_public: ArePublic = nobody_knows

    @property
    def dim(self) -> int:
        """Size of what the head gets for a token."""
        return self.vectors.dim

    @property
    def dims(self) -> tuple[int, ...]:
        """See Construction."""
        return (self.dim,)

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What the head gets: the word vectors."""
        words, ids = chunk.distinct_words()
        return RaggedSentences(self.vectors.rows(words), casing_classes(chunk.words), chunk.tags, chunk.lengths, ids)


@dataclass(frozen=True)
class Pipeline:
    """A construction and the head that was trained on its representations.

    Args:
        encoder: the construction.
        head: the tagger.
        stated: what follows the tagger; None for nothing.

    Raises:
        ModelError: they do not fit each other.
    """

    encoder: Construction | RawEncoder
    head: Tagger
    stated: LastWordSettings | None = None

    def __post_init__(self) -> None:
        dims, tags = self.encoder.dims, len(self.encoder.scheme.tags)
        if self.head.config.inputs not in dims or self.head.config.tags != tags:
            raise ModelError(
                f"expected a head for {dims[0]} dimensions and {tags} tags, got one for "
                f"{self.head.config.inputs} and {self.head.config.tags}; use the head of the same release"
            )

    @cached_property
    def last_word(self) -> LastWord | None:
        """What follows the tagger."""
        return None if self.stated is None else LastWord(self.encoder.scheme, self.stated, self.encoder.are_public)

    def tags(self, documents: Iterable[tuple[Document, Tokens]]) -> Iterator[NDArray[np.uint8]]:
        """Predicted tags chunk by chunk, in the order of the tokens; documents as `tokenise_texts` yields them."""
        for chunk in tokenised_chunks(documents, None):
            shown = self.head.inputs(chunk, self.encoder.noise_free)
            lines: list[NDArray[np.uint8]] = [np.zeros(0, dtype=np.uint8)] * shown.sentences
            for rows, predicted in predict(self.head, shown):
                for row, line in zip(rows.tolist(), predicted, strict=True):
                    lines[row] = line
            yield np.concatenate(lines)

    def probabilities(
        self, documents: Iterable[tuple[Document, Tokens]]
    ) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64]]]:
        """How probable it is that a token is PHI, float32 `[tokens]`, and the most probable category, chunk by chunk as `tags`."""
        self.head.eval()
        for chunk in tokenised_chunks(documents, None):
            shown = self.head.inputs(chunk, self.encoder.noise_free)
            certainty, category = np.zeros(chunk.tokens, np.float32), np.zeros(chunk.tokens, np.int64)
            for batch in shown.batches(_BATCH):
                tags = self.head.marginals(batch)
                categories = (tags[:, :, 1::2] + tags[:, :, 2::2]).numpy()
                for row, (line, length) in enumerate(zip(batch.rows.tolist(), batch.lengths.tolist(), strict=True)):
                    own = slice(int(chunk.starts[line]), int(chunk.starts[line]) + length)
                    certainty[own] = categories[row, :length].sum(1)
                    category[own] = categories[row, :length].argmax(1)
            yield certainty, category

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with predicted annotations in the place of their own, in their order.

        Args:
            documents: read as they are needed; about CHUNK_TOKENS tokens are held at a time.
        """
        for group in document_groups(documents):
            tags = np.concatenate([np.zeros(0, dtype=np.uint8), *self.tags(group)])
            begin = 0
            for document, tokens in group:
                end = begin + len(tokens)
                spans = decode_tags(tags[begin:end], tokens.spans, self.encoder.scheme)
                found = Document(document.identifier, document.text, _joined(spans, tokens, document.text))
                yield found if self.last_word is None else self.last_word.complete(found, tokens)
                begin = end
            if begin != len(tags):
                raise ModelError(
                    f"expected a tag for each of {begin} tokens, got {len(tags)}; nothing was written for these notes"
                )


def document_groups(documents: Iterable[Document]) -> Iterator[list[tuple[Document, Tokens]]]:
    """Documents with their tokens, in groups of about CHUNK_TOKENS tokens."""
    group: list[tuple[Document, Tokens]] = []
    held = 0
    for document, tokens in tokenise_texts(documents):
        group.append((document, tokens))
        held += len(tokens)
        if held >= CHUNK_TOKENS:
            yield group
            group, held = [], 0
    if group:
        yield group


def _joined(spans: tuple[Annotation, ...], tokens: Tokens, text: str) -> tuple[Annotation, ...]:
    """The spans, with two of one category made one where only a sentence's end inside a line parts them.

    A dot in "Calle. Mayor 3" ends a sentence for us; the address goes on all the same.
    """
    starts = frozenset(tokens.spans[tokens.sentence_starts, 0].tolist())
    joined: list[Annotation] = []
    for span in spans:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.category == span.category
            and span.start in starts
            and text[last.end : span.start].strip(" \t") == ""
        ):
            joined[-1] = Annotation(last.start, span.end, span.category)
        else:
            joined.append(span)
    return tuple(joined)


def load_pipeline(folder: Path) -> Pipeline:
    """Construction and head of a folder, and what follows them.

    Raises:
        EmbeddingError, ModelError: as for `load_construction`.
    """
    return Pipeline(load_construction(folder), load_head(folder), load_settings(folder))

"""The de-identification pipeline of a release: text in, PHI spans out.

word vectors -> representer -> head -> operating point -> spans -> last word

The notes stay in the house, so the representer runs without noise: the head learned from noisy vectors, their means are
what it knows best, and the same note always gets the same spans. A `RawEncoder` in the place of a construction makes
the non-private model that the private one is compared with; it is never released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.anonymity.shipped_lists import ordinary_words
from shared.constructions.construction import Construction
from shared.constructions.registry import load_construction
from shared.document import Annotation, Document
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, ModelError
from shared.labels import LabelScheme, decode_tags
from shared.pipeline.last_word import LastWord, LastWordSettings, load_settings
from shared.pipeline.mentions import ArePublic, nobody_knows
from shared.pipeline.operating_points import OperatingPoint, OperatingPoints, load_points
from shared.pipeline.reading import Reading, raise_tags, read_sentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import CHUNK_TOKENS, TokenisedSentences, tokenised_chunks
from shared.taggers.registry import load_head
from shared.taggers.tagger import Tagger
from shared.text.capitals import is_small, with_capitals
from shared.text.casing import casing_classes
from shared.text.language import function_words
from shared.text.tokens import Tokens, tokenise


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
        points: what its release promises at which threshold; None where it promises nothing.
        point: which of them is in use; None for the best tags.

    Raises:
        ModelError: they do not fit each other.
    """

    encoder: Construction | RawEncoder
    head: Tagger
    stated: LastWordSettings | None = None
    points: OperatingPoints | None = None
    point: OperatingPoint | None = None

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

    def at(self, min_recall: float) -> Pipeline:
        """The same at the operating point that promises to hide so many of the entities whole, at an unseen hospital.

        Raises:
            ConfigurationError: its release states no such point.
        """
        if self.points is None:
            raise ConfigurationError(
                f"expected a release that says what it hides, for a recall of {min_recall:g}; this one does not: pull a newer one, or leave "
                "the recall out"
            )
        return replace(self, point=self.points.reaching(min_recall))

    def read(self, documents: Iterable[tuple[Document, Tokens]]) -> Iterator[Reading]:
        """What the tagger says of every token, chunk by chunk; documents as `document_groups` yields them."""
        self.head.eval()
        for chunk in tokenised_chunks(documents, None):
            shown = self.head.inputs(chunk, self.encoder.noise_free)
            yield read_sentences(self.head, shown)

    def seen(self, text: str) -> str:
        """A note as the tagger is shown it: with capitals where it is in small letters and the release says so, every character in its place."""
        if self.stated is None or "capitals" not in self.stated.steps or not is_small(text):
            return text
        language = self.stated.language
        return with_capitals(text, ordinary_words(language), function_words(language))

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with predicted annotations in the place of their own, in their order; each says how sure it is.

        Args:
            documents: read as they are needed; about CHUNK_TOKENS tokens are held at a time.
        """
        for document, tokens, reading in self.readings(documents):
            yield self.spans(document, tokens, reading)

    def readings(self, documents: Iterable[Document]) -> Iterator[tuple[Document, Tokens, Reading]]:
        """Each document with its tokens and what the tagger says of them: `spans` follow from it at any operating point.

        Args:
            documents: read as they are needed; about CHUNK_TOKENS tokens are held at a time.
        """
        for group in document_groups(documents, self.seen):
            begin, reading = 0, Reading.concatenate(list(self.read(group)))
            if len(reading.tags) != sum(len(tokens) for _, tokens in group):
                raise ModelError(
                    f"expected a tag for each token, got {len(reading.tags)}; nothing was written for these notes"
                )
            for document, tokens in group:
                end = begin + len(tokens)
                yield document, tokens, reading.part(begin, end)
                begin = end

    def spans(self, document: Document, tokens: Tokens, reading: Reading) -> Document:
        """The document with the spans that follow from what the tagger says of its tokens."""
        threshold = None if self.point is None else self.point.threshold
        tags = reading.tags if threshold is None else raise_tags(reading, tokens.sentence_starts, threshold)
        spans = decode_tags(tags, tokens.spans, self.encoder.scheme)
        found = Document(document.identifier, document.text, _joined(spans, tokens, document.text))
        sure = _with_confidence(found, tokens, reading.certainty)
        if self.last_word is None:
            return sure
        return _with_confidence(self.last_word.complete(sure, tokens), tokens, reading.certainty)


def document_groups(
    documents: Iterable[Document], seen: Callable[[str], str]
) -> Iterator[list[tuple[Document, Tokens]]]:
    """Documents with the tokens of their texts as they are seen, in groups of about CHUNK_TOKENS tokens."""
    group: list[tuple[Document, Tokens]] = []
    held = 0
    for document in documents:
        tokens = tokenise(seen(document.text))
        group.append((document, tokens))
        held += len(tokens)
        if held >= CHUNK_TOKENS:
            yield group
            group, held = [], 0
    if group:
        yield group


def _with_confidence(document: Document, tokens: Tokens, certainty: NDArray[np.float32]) -> Document:
    """Each span with the mean of what the tagger says of its tokens, or with what a pattern says where that is surer."""
    edges = np.array([(span.start, span.end) for span in document.annotations], dtype=np.int64).reshape(-1, 2)
    first = np.searchsorted(tokens.spans[:, 1], edges[:, 0], side="right")
    last = np.searchsorted(tokens.spans[:, 0], edges[:, 1], side="left")
    sums = np.concatenate([np.zeros(1), np.cumsum(certainty, dtype=np.float64)])
    means = (sums[last] - sums[first]) / np.maximum(last - first, 1)
    spans = tuple(
        replace(span, confidence=round(min(max(mean, span.confidence or 0.0), 1.0), 4))
        for span, mean in zip(document.annotations, means.tolist(), strict=True)
    )
    return replace(document, annotations=spans)


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
    """Construction and head of a folder, and what follows them, at the default operating point.

    Raises:
        EmbeddingError, ModelError: as for `load_construction`.
    """
    points = load_points(folder)
    point = None if points is None else points.default
    return Pipeline(load_construction(folder), load_head(folder), load_settings(folder), points, point)

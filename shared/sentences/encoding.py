"""From sentences of words to sentences of word vectors, and on to their noisy representation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.labels import LabelScheme
from shared.models.noise import NoiseSource, PrivateSource, RehearsalNoise, SharingNoise
from shared.models.noise_source import MemoisedNoise, SentenceNoise
from shared.models.representer import Representer
from shared.models.shapes import cheapest_cuts
from shared.models.token_local import TokenLocal
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks
from shared.text.casing import casing_classes

# Enough to keep the processor's matrix units busy, little enough to stay in its cache.
_BATCH_CELLS = 1 << 13


def embed_sentences(chunk: TokenisedSentences, vectors: WordVectors) -> RaggedSentences:
    """The chunk's word vectors, float32 `[tokens, dim]`, beside its casing and tags."""
    return RaggedSentences(vectors.rows(chunk.words), casing_classes(chunk.words), chunk.tags, chunk.lengths)


def embedded_corpus(
    documents: Iterable[Document], vectors: WordVectors, scheme: LabelScheme
) -> tuple[RaggedSentences, tuple[str, ...]]:
    """A whole labelled corpus for training; see `index_sentences`."""
    return index_sentences(tokenised_chunks(tokenise_documents(documents), scheme), vectors)


def index_sentences(
    chunks: Iterable[TokenisedSentences], vectors: WordVectors
) -> tuple[RaggedSentences, tuple[str, ...]]:
    """Sentences as ids into one matrix, which starts with the vocabulary of the vectors.

    The vocabulary comes first so that its rows can stand in for one another as neighbours; each unknown word of the
    corpus gets one row behind it.

    Returns:
        the sentences, and the word of each row of their matrix.
    """
    extra: dict[str, int] = {}
    ids: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    casing, tags = ([np.zeros(0, dtype=np.uint8)] for _ in range(2))
    lengths: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for chunk in chunks:
        found = vectors.ids(chunk.words)
        for place in np.flatnonzero(found < 0).tolist():
            found[place] = len(vectors) + extra.setdefault(chunk.words[place], len(extra))
        ids.append(found)
        casing.append(casing_classes(chunk.words))
        tags.append(chunk.tags)
        lengths.append(chunk.lengths)
    values = np.concatenate([vectors.matrix, vectors.rows(list(extra))]) if extra else vectors.matrix
    sentences = RaggedSentences(
        values,
        np.concatenate(casing),
        np.concatenate(tags),
        np.concatenate(lengths),
        np.concatenate(ids).astype(np.int32),
    )
    return sentences, (*vectors.words, *extra)


@overload
def noise_for(chunk: TokenisedSentences, noise: SharingNoise) -> PrivateSource: ...
@overload
def noise_for(chunk: TokenisedSentences, noise: RehearsalNoise) -> NoiseSource: ...
def noise_for(chunk: TokenisedSentences, noise: RehearsalNoise) -> NoiseSource:
    """The source of noise for a chunk, once its words are those that will be represented: behind any surrogates."""
    return noise.for_sentences(chunk.words, chunk.lengths) if isinstance(noise, MemoisedNoise) else noise


def represent(
    sentences: RaggedSentences,
    representer: Representer,
    source: PrivateSource,
    factors: NDArray[np.float64] | None = None,
) -> SharedSentences:
    """The representation of word vectors, as it may leave.

    Args:
        sentences: word vectors.
        representer: the frozen representer.
        source: of the noise: a PrivateNoise, or the SentenceNoise of these sentences.
        factors: how many times its scale the output noise of each sentence has, `[sentences]`; None for once.

    Returns:
        the same sentences in the same order, values float16 `[tokens, dim]`. Rounding comes after the noise.

    Raises:
        TypeError: the source is not private.
    """

    def run(vectors: Tensor, lengths: Tensor, rows: NDArray[np.int64]) -> Tensor:
        own = source.select_sentences(rows) if isinstance(source, SentenceNoise) else source
        return representer.end_to_end(vectors, lengths, own, _of_tokens(factors, rows, sentences.lengths))

    values = _batch_by_batch(sentences, representer.config.dim, run)
    return SharedSentences(values, sentences.casing, sentences.tags, sentences.lengths, under=source)


def rehearse(
    sentences: RaggedSentences,
    representer: Representer,
    source: NoiseSource,
    factors: NDArray[np.float64] | None = None,
) -> RaggedSentences:
    """The same under noise of any source, for attacks, audits and measurements. It can't be shared."""

    def run(vectors: Tensor, lengths: Tensor, rows: NDArray[np.int64]) -> Tensor:
        own = source.select_sentences(rows) if isinstance(source, SentenceNoise) else source
        return representer.end_to_end_rehearsed(vectors, lengths, own, _of_tokens(factors, rows, sentences.lengths))

    values = _batch_by_batch(sentences, representer.config.dim, run)
    return RaggedSentences(values, sentences.casing, sentences.tags, sentences.lengths)


def represent_noise_free(sentences: RaggedSentences, representer: Representer | TokenLocal) -> RaggedSentences:
    """The same without any noise, for inference inside one house. It can't be shared."""

    def run(vectors: Tensor, lengths: Tensor, rows: NDArray[np.int64]) -> Tensor:
        return representer.end_to_end_noise_free(vectors, lengths)

    values = _batch_by_batch(sentences, representer.config.dim, run)
    return RaggedSentences(values, sentences.casing, sentences.tags, sentences.lengths)


@torch.no_grad()
def _batch_by_batch(
    sentences: RaggedSentences, dim: int, run: Callable[[Tensor, Tensor, NDArray[np.int64]], Tensor]
) -> NDArray[np.float16]:
    """What `run` makes of the sentences, float16 `[tokens, dim]`; it is given vectors, lengths and rows of a batch."""
    out = np.empty((sentences.tokens, dim), dtype=np.float16)
    for rows in token_batches(sentences.lengths):
        tokens = sentences.tokens_of(rows)
        vectors, lengths = torch.from_numpy(sentences.vectors(tokens)), torch.from_numpy(sentences.lengths[rows])
        out[tokens] = run(vectors, lengths, rows).half().numpy()
    return out


def _of_tokens(
    factors: NDArray[np.float64] | None, rows: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Tensor | None:
    """The factor of each token of some sentences."""
    return None if factors is None else torch.from_numpy(np.repeat(factors[rows], lengths[rows]).astype(np.float32))


def token_batches(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Rows in order of falling length, cut so that a padded batch holds at most _BATCH_CELLS cells and little padding."""
    order = np.argsort(-lengths, kind="stable")
    for begin, end in cheapest_cuts(lengths[order], _BATCH_CELLS):
        yield order[begin:end]

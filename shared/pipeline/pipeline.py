"""The de-identification pipeline of a release: text in, PHI spans out.

word vectors -> representer -> head -> spans

The notes stay in the house, so the representer runs without noise: the head learned from noisy vectors, their means are
what it knows best, and the same note always gets the same spans. A `RawEncoder` in the place of the representer makes
the non-private model that the private one is compared with; it is never released.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundation.files import write_text
from foundation.reading import read_text
from shared.anonymity.surrogates import FILE as BANK_FILE
from shared.anonymity.surrogates import SurrogateBank, load_bank, save_bank
from shared.document import Annotation, Document
from shared.embeddings.artefact import load_vectors, save_vectors
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, ModelError
from shared.labels import LabelScheme, decode_tags
from shared.models.noise import PrivateSource, RehearsalNoise, SharingNoise
from shared.models.noise_source import MemoisedNoise, PrivateNoise
from shared.models.representer import Representer
from shared.models.storage import load_head, load_representer, save_representer
from shared.models.tagger import Tagger
from shared.models.token_local import TokenLocal
from shared.sentences.encoding import embedded, noise_for, rehearse, represent, represent_noise_free
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import CHUNK_TOKENS, TokenisedSentences, tokenised, tokenised_chunks
from shared.text.tokens import Tokens
from shared.training.tagging import predict


@dataclass(frozen=True)
class Encoder:
    """What a hospital needs to represent its notes: word vectors, representer and the labels to use.

    Args:
        vectors: public word vectors.
        representer: frozen.
        scheme: the label scheme of the pool.
        surrogates: public PHI that takes the place of a hospital's own in all that is shared; None where the
            representer alone is to protect it.

    Raises:
        ModelError: the word vectors are not of the size that the representer was trained with.
    """

    vectors: WordVectors
    representer: Representer | TokenLocal
    scheme: LabelScheme
    surrogates: SurrogateBank | None = None

    @property
    def dim(self) -> int:
        """Size of what the head gets for a token."""
        return self.representer.config.dim

    def shared(
        self, chunk: TokenisedSentences, noise: SharingNoise, factors: NDArray[np.float64] | None = None
    ) -> SharedSentences:
        """What a share holds of these sentences, in their order: the only thing that is ever shown to others.

        Args:
            chunk: labelled sentences.
            noise: of the share.
            factors: how many times its scale the output noise of each sentence has, `[sentences]`; None for once.

        Raises:
            TypeError: the noise is not private.
        """
        if not isinstance(noise, PrivateNoise | MemoisedNoise):
            raise TypeError(f"expected a private source of noise, got {type(noise).__name__}; see `rehearsed`")
        chunk = self._replaced(chunk, noise)
        sentences = embedded(chunk, self.vectors)
        if isinstance(self.representer, TokenLocal):
            return _without_noise(sentences, self.representer, noise)
        return represent(sentences, self.representer, noise_for(chunk, noise), factors)

    def shared_as_they_are(self, sentences: RaggedSentences, noise: PrivateSource) -> SharedSentences:
        """What a share holds of sentences whose words are public, so that none of them has to be replaced.

        Args:
            sentences: word vectors of public notes.
            noise: of the share.
        """
        if isinstance(self.representer, TokenLocal):
            return _without_noise(sentences, self.representer, noise)
        return represent(sentences, self.representer, noise)

    def rehearsed(
        self, chunk: TokenisedSentences, noise: RehearsalNoise, factors: NDArray[np.float64] | None = None
    ) -> RaggedSentences:
        """What `shared` would give under this noise, for attacks, audits and measurements, which draw the same again.

        Args:
            chunk: labelled sentences.
            noise: of any source.
            factors: as in `shared`.
        """
        chunk = self._replaced(chunk, noise)
        sentences = embedded(chunk, self.vectors)
        if isinstance(self.representer, TokenLocal):
            return represent_noise_free(sentences, self.representer)
        return rehearse(sentences, self.representer, noise_for(chunk, noise), factors)

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What the head gets in-house: the representation without noise. It must never leave the house."""
        return represent_noise_free(embedded(chunk, self.vectors), self.representer)

    def _replaced(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> TokenisedSentences:
        if self.surrogates is None:
            return chunk
        # Draws that were the same for equal sentences would tell which of them are equal.
        return self.surrogates.replaced(chunk, PrivateNoise() if isinstance(noise, MemoisedNoise) else noise)

    def __post_init__(self) -> None:
        if self.vectors.dim != self.representer.config.inputs:
            raise ModelError(
                f"expected word vectors of {self.representer.config.inputs} dimensions for this representer, got {self.vectors.dim}; "
                "use the vectors of the same release"
            )


@dataclass(frozen=True)
class RawEncoder:
    """Word vectors as they are, for a model that is not private.

    Args:
        vectors: public word vectors.
        scheme: the labels to use.
    """

    vectors: WordVectors
    scheme: LabelScheme

    @property
    def dim(self) -> int:
        """Size of what the head gets for a token."""
        return self.vectors.dim

    def noise_free(self, chunk: TokenisedSentences) -> RaggedSentences:
        """What the head gets: the word vectors."""
        return embedded(chunk, self.vectors)


def _without_noise(
    sentences: RaggedSentences, representer: TokenLocal, noise: PrivateSource | MemoisedNoise
) -> SharedSentences:
    """What a share holds of sentences whose protection is not noise; `noise` is what their surrogates were drawn from."""
    shown = represent_noise_free(sentences, representer)
    return SharedSentences(shown.values, shown.casing, shown.tags, shown.lengths, under=noise)


def save_scheme(scheme: LabelScheme, folder: Path) -> None:
    """Write scheme.json."""
    write_text(
        folder / "scheme.json",
        json.dumps({"name": scheme.name, "categories": scheme.categories}, indent=1),
        private=False,
    )


def load_scheme_file(folder: Path) -> LabelScheme:
    """The label scheme in scheme.json.

    Raises:
        ModelError: the file is not what `save_scheme` writes.
    """
    try:
        data = json.loads(read_text(folder / "scheme.json"))
        return LabelScheme(str(data["name"]), tuple(map(str, data["categories"])))
    except (ValueError, KeyError, TypeError, ConfigurationError) as error:
        raise ModelError("scheme.json: expected a label scheme; pull the release again") from error


def save_encoder(encoder: Encoder, folder: Path) -> None:
    """Write word vectors, representer, scheme and surrogates, if there are any, into a folder."""
    save_vectors(encoder.vectors, folder, dtype="float16")
    save_representer(encoder.representer, folder)
    save_scheme(encoder.scheme, folder)
    if encoder.surrogates is not None:
        save_bank(encoder.surrogates, folder)


def load_encoder(folder: Path) -> Encoder:
    """What `save_encoder` wrote.

    Raises:
        EmbeddingError, ModelError: a file is missing, damaged, or does not fit the others.
    """
    scheme = load_scheme_file(folder)
    # A release is signed as a whole, so nobody but the provider can have taken the bank away.
    bank = load_bank(folder, len(scheme.categories)) if (folder / BANK_FILE).exists() else None
    return Encoder(load_vectors(folder), load_representer(folder), scheme, bank)


@dataclass(frozen=True)
class Pipeline:
    """An encoder and the head that was trained on its representations.

    Raises:
        ModelError: encoder and head do not fit each other.
    """

    encoder: Encoder | RawEncoder
    head: Tagger

    def __post_init__(self) -> None:
        expected = (self.encoder.dim, len(self.encoder.scheme.tags))
        if (self.head.config.inputs, self.head.config.tags) != expected:
            raise ModelError(
                f"expected a head for {expected[0]} dimensions and {expected[1]} tags, got one for "
                f"{self.head.config.inputs} and {self.head.config.tags}; use the head of the same release"
            )

    def tags(self, documents: Iterable[tuple[Document, Tokens]]) -> Iterator[NDArray[np.uint8]]:
        """Predicted tags chunk by chunk, in the order of the tokens; documents as `tokenised` yields them."""
        for chunk in tokenised_chunks(documents, None):
            shown = self.encoder.noise_free(chunk)
            lines: list[NDArray[np.uint8]] = [np.zeros(0, dtype=np.uint8)] * shown.sentences
            for rows, predicted in predict(self.head, shown):
                for row, line in zip(rows.tolist(), predicted, strict=True):
                    lines[row] = line
            yield np.concatenate(lines)

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with predicted annotations in the place of their own, in their order.

        Args:
            documents: read as they are needed; about CHUNK_TOKENS tokens are held at a time.
        """
        for group in _groups(documents):
            tags = np.concatenate([np.zeros(0, dtype=np.uint8), *self.tags(group)])
            begin = 0
            for document, tokens in group:
                end = begin + len(tokens)
                spans = decode_tags(tags[begin:end], tokens.spans, self.encoder.scheme)
                yield Document(document.identifier, document.text, _joined(spans, tokens, document.text))
                begin = end
            if begin != len(tags):
                raise ModelError(
                    f"expected a tag for each of {begin} tokens, got {len(tags)}; nothing was written for these notes"
                )


def _groups(documents: Iterable[Document]) -> Iterator[list[tuple[Document, Tokens]]]:
    """Documents with their tokens, in groups of about CHUNK_TOKENS tokens."""
    group: list[tuple[Document, Tokens]] = []
    held = 0
    for document, tokens in tokenised(documents):
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
    """Encoder and head of a folder.

    Raises:
        EmbeddingError, ModelError: as for `load_encoder`.
    """
    return Pipeline(load_encoder(folder), load_head(folder))

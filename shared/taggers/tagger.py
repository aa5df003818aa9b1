"""The interface of every tagger: what trains one, uses one or stores one knows nothing else of it.

A tagger is a network with a frozen description of its shape. It says itself what it takes from a sentence, so that one that
reads characters or whole notes fits the same training, the same pipeline and the same files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from shared.errors import ConfigurationError
from shared.models.storage import load_model
from shared.sentences.ragged import Batch, RaggedSentences, SentenceSource
from shared.sentences.tokenised import TokenisedSentences

Represent = Callable[[TokenisedSentences], RaggedSentences]
"""What stands before a tagger: a representer in-house without noise, or word vectors as they are."""


@dataclass(frozen=True)
class TaggerConfig:
    """The shape of a tagger. Each kind has its own subclass, whose further fields are numbers, all with defaults.

    Args:
        inputs: size of a token's vector, without casing.
        tags: number of tags, from the label scheme.

    Raises:
        ConfigurationError: a shape that can't be.
    """

    inputs: int
    tags: int

    def __post_init__(self) -> None:
        if self.inputs < 1 or self.tags < 3 or self.tags % 2 == 0:
            raise ConfigurationError(
                f"tagger: expected inputs of at least 1 and an odd number of tags from 3, got {self.inputs}, {self.tags}"
            )


class Tagger(nn.Module, ABC):
    """Finds PHI; each kind is one subclass in a file of its own, and one line in `registry`.

    Args:
        config: of the kind's `config_type`.

    A new one has fresh weights, drawn from torch's global generator; see `shared.training.loop.seed_training`.
    Every method takes a padded batch, whose sentences come by falling length, and gives nothing that depends on padding.
    In training mode there may be dropout; in evaluation mode the same batch always gives the same.
    """

    kind: ClassVar[str]
    """Its name in the registry and in files."""
    config_type: ClassVar[type[TaggerConfig]]
    """Of its config; no two kinds share one."""
    reads_words: ClassVar[bool] = False
    """Whether it makes its inputs of the words, so that what stands before it alone can't train it."""
    optimizer: ClassVar[Literal["nadam", "adamw"]] = "nadam"
    """What it goes down its loss by."""
    extra: ClassVar[str] = ""
    """Which extra of this package whoever loads one needs; "" for none."""

    def __init__(self, config: TaggerConfig) -> None:
        super().__init__()
        self.config = config

    def inputs(self, chunk: TokenisedSentences, represent: Represent) -> SentenceSource:
        """What this tagger is given of some sentences: by default what stands before it makes of them, and their casing.

        Args:
            chunk: sentences in-house. The words may be PHI.
            represent: what stands before the tagger.

        Returns:
            the same sentences; batches of them are what the other methods take.
        """
        return represent(chunk)

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """What training makes small, for each sentence: float32 `[batch]`, in nats where it is a likelihood.

        A token of UNKNOWN_TAG teaches nothing by its own tag: any may stand there.
        """

    @abstractmethod
    def scores(self, batch: Batch) -> Tensor:
        """Score of every tag at every token by itself, float32 `[batch, steps, tags]`; on padding it means nothing."""

    @abstractmethod
    def decode(self, batch: Batch) -> Tensor:
        """The best tags that BIO allows, int64 `[batch, steps]`, O on padding."""

    @abstractmethod
    def marginals(self, batch: Batch) -> Tensor:
        """Probability of every tag at every token among all tags that BIO allows, float32 `[batch, steps, tags]`.

        They sum to one at every token, and are zero on padding.
        """

    @abstractmethod
    def draw(self, batch: Batch, generator: np.random.Generator) -> Tensor:
        """Tags of each sentence by their probability among all that BIO allows, int64 `[batch, steps]`, O on padding.

        Args:
            batch: whose tags are not looked at.
            generator: of the draw.
        """

    def tags_and_marginals(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """What `decode` and `marginals` give, for who wants both."""
        return self.decode(batch), self.marginals(batch)

    def save_words(self, folder: Path) -> None:
        """Write what is neither a weight nor a number of the config beside them, such as a vocabulary; nothing by default."""

    @classmethod
    def load(cls, folder: Path, description: dict[str, object]) -> Self:
        """One of a folder, ready to tag; what `save_words` wrote is read as strictly as the rest.

        Args:
            folder: with its files.
            description: of head.json, without the kind.

        Raises:
            ModelError: a file is missing or damaged, or they do not belong together.
        """
        return load_model(folder, "head", description, cls.config_type, cls)


def predict(
    tagger: Tagger, source: SentenceSource, batch: int = 128
) -> Iterator[tuple[NDArray[np.int64], list[NDArray[np.uint8]]]]:
    """Predicted tags of every sentence, batch by batch.

    Yields:
        rows of the source, and for each row its tags, uint8 `[tokens]`.
    """
    tagger.eval()
    for piece in source.batches(batch):
        tags = tagger.decode(piece).numpy().astype(np.uint8)
        yield piece.rows, [line[:length] for line, length in zip(tags, piece.lengths.tolist(), strict=True)]

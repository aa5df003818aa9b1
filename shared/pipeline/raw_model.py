"""The non-private model: the tagger on words as they are. What pooling raw notes would give, if it were allowed."""

from __future__ import annotations

from collections.abc import Iterable

from shared.constructions.construction import Construction
from shared.document import Document
from shared.pipeline.pipeline import Pipeline, RawEncoder
from shared.progress import Progress, silent
from shared.sentences.tokenised import tokenised_corpus
from shared.training.tagging import TaggingConfig, train_tagger


def train_raw_model(
    documents: Iterable[Document],
    encoder: Construction | RawEncoder,
    config: TaggingConfig,
    progress: Progress = silent,
) -> Pipeline:
    """Train a tagger on labelled notes as they are.

    Args:
        documents: labelled in the words of the encoder's scheme.
        encoder: what it gets for a word: with a construction the same as a head gets in-house.
        config: the recipe.
        progress: called after every step.

    Raises:
        TrainingError: no sentences, or the loss is not finite any more.
    """
    source = encoder.noise_free(tokenised_corpus(documents, encoder.scheme))
    return Pipeline(encoder, train_tagger(source, len(encoder.scheme.tags), config, progress=progress))

"""The non-private model: the tagger on word vectors. What pooling raw notes would give, if it were allowed."""

from __future__ import annotations

from collections.abc import Iterable

from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.labels import LabelScheme
from shared.pipeline.pipeline import Pipeline, RawEncoder
from shared.progress import Progress, silent
from shared.sentences.encoding import embedded_corpus
from shared.training.tagging import TaggingConfig, train_tagger


def train_raw_model(
    documents: Iterable[Document],
    vectors: WordVectors,
    scheme: LabelScheme,
    config: TaggingConfig,
    progress: Progress = silent,
) -> Pipeline:
    """Train a tagger on labelled notes as they are.

    Args:
        documents: labelled in the words of the scheme.
        vectors: word vectors.
        scheme: the labels.
        config: the recipe.
        progress: called after every step.

    Raises:
        TrainingError: no sentences, or the loss is not finite any more.
    """
    source, _ = embedded_corpus(documents, vectors, scheme)
    tagger = train_tagger(source, len(scheme.tags), config, progress=progress)
    return Pipeline(RawEncoder(vectors, scheme), tagger)

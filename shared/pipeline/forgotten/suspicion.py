"""What a pipeline takes for PHI, and how sure it is: also where it is not sure enough to say so by its best tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from shared.document import Document
from shared.labels import LabelScheme
from shared.patterns.kinds import Suspicion
from shared.pipeline.pipeline import Pipeline, document_groups
from shared.pipeline.reading import Reading
from shared.text.tokens import Tokens

SOURCE = "pipeline"
# What is less probable nobody wants to look at.
LEAST = 0.2


def suspect(
    pipeline: Pipeline, documents: Iterable[Document], levels: Sequence[float] = (LEAST,)
) -> Iterator[tuple[Document, list[Suspicion]]]:
    """Each document, and its stretches of tokens that are PHI with some probability.

    Args:
        pipeline: of a release.
        documents: read as they are needed; what is labelled in them is not looked at.
        levels: of each every stretch of tokens that are at least so probable; its certainty is their mean. So what is sure stands by itself, too,
            whatever is beside it, and stretches of several levels overlap.
    """
    for group in document_groups(documents, pipeline.seen):
        found = Reading.concatenate(list(pipeline.read(group)))
        begin = 0
        for document, tokens in group:
            own = slice(begin, begin + len(tokens))
            certainty, category, scheme = found.certainty[own], found.category[own], pipeline.encoder.scheme
            stretches = (stretches_of(tokens, certainty, category, scheme, least) for least in levels)
            yield document, list(dict.fromkeys(chain.from_iterable(stretches)))
            begin += len(tokens)


def stretches_of(
    tokens: Tokens, certainty: NDArray[np.float32], category: NDArray[np.int64], scheme: LabelScheme, least: float
) -> Iterator[Suspicion]:
    """Consecutive tokens of one sentence and one category, each at least so probable."""
    marked = certainty >= least
    starts = np.zeros(len(tokens), dtype=np.bool_)
    starts[tokens.sentence_starts] = True
    ahead = np.concatenate([np.zeros(1, np.bool_), marked[:-1]])[: len(tokens)]
    begins = marked & (~ahead | starts | (np.diff(category, prepend=-1) != 0))
    for first in np.flatnonzero(begins).tolist():
        end = first + 1
        while end < len(tokens) and marked[end] and not begins[end]:
            end += 1
        yield Suspicion(
            int(tokens.spans[first, 0]),
            int(tokens.spans[end - 1, 1]),
            scheme.categories[int(category[first])],
            float(certainty[first:end].mean()),
            SOURCE,
        )

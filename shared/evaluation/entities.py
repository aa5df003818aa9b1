"""Two plain measures over our own tokens and spans, for experiments in any label scheme.

Token-binary: is a token PHI or not, whatever its type. A token is PHI as soon as a span touches it, so a system that
cuts its spans along tokens is measured on what it hides. Strict entity: start, end and type equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from shared.document import Annotation
from shared.evaluation.pairs import Pair, check_pairs
from shared.evaluation.scores import Scores, Tally
from shared.evaluation.spans import hiding_spans

TokenSpans = Callable[[str], NDArray[np.int32]]


def token_spans(text: str) -> NDArray[np.int32]:
    """int32 `[tokens, 2]`: the project's own tokens."""
    # Imported late: whoever brings tokens of their own needs none of ours.
    from shared.text.tokens import tokenise

    return tokenise(text).spans


def token_owners(spans: NDArray[np.int32], annotations: Sequence[Annotation]) -> NDArray[np.int64]:
    """Which annotation each token belongs to.

    Args:
        spans: int32 `[tokens, 2]`, ascending.
        annotations: not empty, inside the text, in any order; they may overlap.

    Returns:
        int64 `[tokens]`, index of the first annotation that touches the token, -1 for none.
    """
    owners = np.full(len(spans), -1, dtype=np.int64)
    firsts = np.searchsorted(spans[:, 1], [span.start for span in annotations], side="right")
    lasts = np.searchsorted(spans[:, 0], [span.end for span in annotations], side="left")
    # Backwards, so that the first of those that touch one token is written last and has it.
    for index in range(len(annotations) - 1, -1, -1):
        owners[firsts[index] : lasts[index]] = index
    return owners


def binary_token_scores(pairs: Iterable[Pair], *, spans: TokenSpans = token_spans) -> Scores:
    """Precision and recall over tokens being PHI.

    Args:
        pairs: (gold, system) documents, as `match_corpora` gives them.
        spans: int32 `[tokens, 2]` of a text; the project's own tokens by default.

    Raises:
        EvaluationError: pairs that don't belong together.
    """
    tally = Tally()
    for gold, system in check_pairs(pairs):
        tokens = spans(gold.text)
        gold_spans, system_spans = hiding_spans(gold), hiding_spans(system)
        expected, given = token_owners(tokens, gold_spans), token_owners(tokens, system_spans)
        found = Counter(gold_spans[index].category for index in expected[(expected >= 0) & (given >= 0)].tolist())
        missed = Counter(gold_spans[index].category for index in expected[(expected >= 0) & (given < 0)].tolist())
        false = Counter(system_spans[index].category for index in given[(expected < 0) & (given >= 0)].tolist())
        categories = found.keys() | missed.keys() | false.keys()
        tally.add_counts({name: (found[name], false[name], missed[name]) for name in categories})
    return tally.scores()


def strict_entity(pairs: Iterable[Pair]) -> Scores:
    """Precision and recall over spans with equal start, end and type.

    Raises:
        EvaluationError: pairs that don't belong together.
    """
    tally = Tally()
    for gold, system in check_pairs(pairs):
        expected = {(span.start, span.end, span.category): span.category for span in gold.annotations}
        given = {(span.start, span.end, span.category): span.category for span in system.annotations}
        tally.add_document(expected, given)
    return tally.scores()

"""How probable it is that a span which the pipeline found is PHI. One function, so that where it comes from can change in one place."""

from __future__ import annotations

from collections.abc import Sequence

from shared.document import Annotation
from shared.patterns.kinds import Suspicion

# Below it, the tagger speaks against the span: somebody else has found it, and nobody knows.
_LEAST = 0.5


def certainty_of(span: Annotation, suspicions: Sequence[Suspicion]) -> float | None:
    """The probability that a span is PHI; None where nobody knows.

    Args:
        span: as the pipeline found it.
        suspicions: what its tagger says of the same note, each with its certainty.
    """
    touching = [one for one in suspicions if one.start < span.end and span.start < one.end]
    shared = [min(one.end, span.end) - max(one.start, span.start) for one in touching]
    weight = sum(shared)
    if not weight:
        return None
    mean = sum(one.certainty * length for one, length in zip(touching, shared, strict=True)) / weight
    return mean if mean >= _LEAST else None

"""Whether the sentences of a share have come before, and whether they are sentences at all: what no digest of a file shows.

"Counted once" has to hold for notes, not for bytes: the same notes in another order, under new surrogates or a new number, from the
same site or another, would count twice. So the digests of a share's own sentences (`sentence_digests`) are compared with those of
every share that is kept.

A share of one row again and again has no sentence of its own to be known by, and each of its rows stands in the codebook. It is set
aside for that row alone. So is one that says the same sentences several times over, for their weight, and one cut into single tokens,
which nothing here would know again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc
from sqlalchemy import select
from sqlalchemy.orm import Session

from aggregator.enrolled.shares import KEPT
from aggregator.ingestion.sentence_digests import DIGEST_TYPE, MOST
from aggregator.registry.tables import ShareDigestsRow, ShareRow

MOST_SEEN = 0.5
# Of a hospital's other notes no more came before, and by chance of a few no more than ALPHA makes likely.
_COMMON, _ALPHA = 0.25, 1e-3
MOST_ALIKE = 0.4
MOST_TIMES = 3.0
"""Of generated notes, whose sentences are few, a share says each 1.6 times at the most; of real ones hardly more than once."""
LEAST_TOKENS = 3.0
"""Of a sentence, on average: generated and real notes have nine and more."""
# In fewer tokens chance decides.
_TOKENS = 200
_SENTENCES = 20


def describe_overlap(session: Session, row: ShareRow, digests: bytes) -> str | None:
    """How many sentences of a share came before, in words, if that is more than half of them; else None.

    Args:
        session: of the transaction that settles the share.
        row: the share.
        digests: of its sentences, as `SentenceDigests.to_bytes` gives them.
    """
    own = np.frombuffer(digests, DIGEST_TYPE)
    seen = np.zeros(len(own), dtype=np.bool_)
    most, whose = 0, ""
    query = (
        select(ShareRow.site, ShareRow.sequence, ShareDigestsRow.digests)
        .join(ShareDigestsRow, ShareDigestsRow.share == ShareRow.id)
        .where(ShareRow.state.in_(KEPT), ShareRow.id != row.id)
        .order_by(ShareRow.id)
    )
    for other in session.execute(query.execution_options(yield_per=1)):
        found = _among(own, np.frombuffer(other.digests, DIGEST_TYPE))
        seen |= found
        if (count := int(found.sum())) > most:
            most, whose = count, f"share {other.sequence} of {other.site}"
    total = int(seen.sum())
    if total <= MOST_SEEN * len(own) or not _is_more_than_chance(total, len(own)):
        return None
    return f"{total} of its {len(own)} sentences of their own came before, {most} of them in {whose}"


def _is_more_than_chance(seen: int, sentences: int) -> bool:
    """Whether so many would hardly come before if each did as often as in other notes of the same hospital."""
    # The binomial tail: chance of at least `seen` of `sentences`.
    return bool(betainc(seen, sentences - seen + 1, _COMMON) < _ALPHA)


def describe_row_frequency(commonest: int, tokens: int) -> str | None:
    """Whether one row stands for more tokens than any word of a text does, in words; else None.

    Args:
        commonest: tokens that show the row that most show; 0 where rows are not counted.
        tokens: of the share.
    """
    if tokens < _TOKENS or commonest <= MOST_ALIKE * tokens:
        return None
    return f"one row stands for {commonest / tokens:.0%} of the tokens"


def describe_repetition(digests: bytes, sentences: int) -> str | None:
    """Whether a share says its sentences more than MOST_TIMES over, in words; else None.

    Args:
        digests: of its sentences, as `SentenceDigests.to_bytes` gives them.
        sentences: that have one of them, each as often as it stands in the share.
    """
    own = np.frombuffer(digests, DIGEST_TYPE)
    distinct = float(len(own))
    if len(own) == MOST:
        # The smallest are kept; digests are spread evenly, so the largest of these tells how many there were.
        distinct = MOST * 2.0**64 / (float(own[-1]) + 1)
    if not len(own) or sentences <= MOST_TIMES * distinct or sentences < _SENTENCES:
        return None
    return f"its sentences stand in it {sentences / distinct:.1f} times each"


def describe_short_sentences(sentences: int, tokens: int) -> str | None:
    """Whether the sentences of a share are hardly more than single tokens, in words; else None."""
    if tokens < _TOKENS or tokens >= LEAST_TOKENS * sentences:
        return None
    return f"its sentences have {tokens / sentences:.1f} tokens each"


def _among(own: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which of some ascending digests are among others, ascending too."""
    if not len(others):
        return np.zeros(len(own), dtype=np.bool_)
    places = np.minimum(np.searchsorted(others, own), len(others) - 1)
    found: NDArray[np.bool_] = others[places] == own
    return found

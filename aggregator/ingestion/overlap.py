"""Whether the sentences of a share have come before, and whether they are sentences at all: what no digest of a file shows.

"Counted once" has to hold for notes, not for bytes: the same notes in another order, under new surrogates or a new number, from the
same site or another, would count twice. So the digests of a share's own sentences (`sentence_digests`) are compared with those of
every share that is kept.

A share of one row again and again has no sentence of its own to be known by, and each of its rows stands in the codebook. It is set
aside for that row alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc
from sqlalchemy import select
from sqlalchemy.orm import Session

from aggregator.enrolled.shares import KEPT
from aggregator.ingestion.sentence_digests import DIGEST_TYPE
from aggregator.registry.tables import ShareDigestsRow, ShareRow

MOST_SEEN = 0.5
# Of a hospital's other notes no more came before, and by chance of a few no more than ALPHA makes likely.
_COMMON, _ALPHA = 0.25, 1e-3
MOST_ALIKE = 0.4
# In fewer tokens chance decides.
_TOKENS = 200


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


def _among(own: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which of some ascending digests are among others, ascending too."""
    if not len(others):
        return np.zeros(len(own), dtype=np.bool_)
    places = np.minimum(np.searchsorted(others, own), len(others) - 1)
    found: NDArray[np.bool_] = others[places] == own
    return found

"""Whether the sentences of a share have come before, and whether they are sentences at all: what no digest of a file shows.

"Counted once" has to hold for notes, not for bytes: the same notes in another order, under new surrogates or a new number, from the
same site or another, would count twice. So the digests of a share's own sentences (`sentence_digests`) are compared with those of
every share that is kept. That takes as long as they are many, and there is one writer: they are compared before the transaction that
settles a share, and in it only with what came since.

What a hospital has sent itself and what others have are counted apart. It knows the first, and every line that both would share it could
walk up to with sentences of its own: then one more, that it guesses, would tell whether another hospital has it. So only what did not come
from itself is held against others; so much of it must have come that one sentence hardly moves the answer; and where the line lies hangs
on the provider's secret and on all sentences of the share, so that nobody can place himself on it, and each try draws another.

A share of one row again and again has no sentence of its own to be known by, and each of its rows stands in the codebook. It is set
aside for that row alone. So is one that says the same sentences several times over, for their weight, or short ones many times, and one
cut into single tokens, which nothing here would know again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc
from sqlalchemy import select
from sqlalchemy.orm import Session

from aggregator.enrolled.shares import KEPT
from aggregator.ingestion.sentence_digests import DIGEST_TYPE, MOST, estimate_distinct
from aggregator.registry.tables import ShareDigestsRow, ShareRow

MOST_SEEN = 0.5
# Of a hospital's other notes no more came before, and by chance of a few no more than ALPHA makes likely.
_COMMON, _ALPHA = 0.25, 1e-3
LEAST_OF_OTHERS = 40
"""Sentences that others have, below which a share is not set aside for them."""
SPREAD = 0.5
"""By how much of itself the line to what others have may lie higher: one sentence moves the chance of an answer by 1 in 20 at the most."""
MOST_ALIKE = 0.4
MOST_TIMES = 3.0
"""Of generated notes, whose sentences are few, a share says each 1.6 times at the most; of real ones hardly more than once."""
MOST_TIMES_SAID = 20.0
"""The same of all sentences, with the short lines that every note has: of generated notes 3.6 times at the most among 1,500 of a hospital,
and hardly once more where they are four times as many."""
LEAST_TOKENS = 3.0
"""Of a sentence, on average: generated and real notes have nine and more."""
# In fewer tokens chance decides.
_TOKENS = 200
_SENTENCES = 20


@dataclass(frozen=True)
class Compared:
    """Which sentences of a share stand in which others.

    Args:
        sentences: of its own that can be known again.
        found: by the number of each share that was looked at, which of them it has, a bit for each.
    """

    sentences: int
    found: Mapping[int, int] = field(default_factory=dict)


def compare(session: Session, share: int, digests: bytes, before: Compared | None = None) -> Compared:
    """A share against all that are kept now.

    Args:
        session: of any kind.
        share: its number.
        digests: of its sentences, as `SentenceDigests.to_bytes` gives them.
        before: what was found earlier, so that only what came since is read.
    """
    own, known = np.frombuffer(digests, DIGEST_TYPE), {} if before is None else before.found
    query = select(ShareRow.id).join(ShareDigestsRow, ShareDigestsRow.share == ShareRow.id)
    # By all numbers and not by the highest: a share has its number when it comes, its digests when it is decided.
    kept = session.scalars(query.where(ShareRow.state.in_(KEPT), ShareRow.id != share).order_by(ShareRow.id)).all()
    found = {other: known[other] if other in known else _found(session, own, other) for other in kept}
    return Compared(len(own), found)


def describe_overlap(session: Session, compared: Compared, site: str, line: float) -> str | None:
    """How many sentences of a share came before, in words, if that is more than may be; else None.

    Args:
        session: of the transaction that settles the share.
        compared: with all that are kept.
        site: whose share it is.
        line: what `draw_line` gives for it.
    """
    names = {row.id: row for row in session.scalars(select(ShareRow).where(ShareRow.id.in_(compared.found)))}
    own = {other: found for other, found in compared.found.items() if names[other].site == site}
    from_itself, sentences = _together(own), compared.sentences
    total = from_itself.bit_count()
    if total > MOST_SEEN * sentences and _is_more_than_chance(total, sentences):
        return f"{total} of its {sentences} sentences of their own came before from {site} itself, {_most(own, names)}"
    others = {other: found & ~from_itself for other, found in compared.found.items() if other not in own}
    count, rest = _together(others).bit_count(), sentences - total
    if count <= line * max(LEAST_OF_OTHERS, MOST_SEEN * rest):
        return None
    return (
        f"{count} of its {rest} sentences of their own that are new from {site} came before from others, "
        f"{_most(others, names)}"
    )


def draw_line(key: bytes, site: str, digests: bytes) -> float:
    """By what the line to what others have is raised for a share: from 1 up to 1 + SPREAD, as even as a draw.

    One line for all shares of a hospital would be found in a few tries, by halving. The same share has the same one each time.

    Args:
        key: the provider's secret.
        site: whose share it is.
        digests: of its sentences, as `SentenceDigests.to_bytes` gives them.
    """
    drawn = hashlib.blake2b(digests, digest_size=8, key=key, person=b"line of others", salt=_short(site))
    return 1 + SPREAD * int.from_bytes(drawn.digest(), "little") / 2.0**64


def _short(site: str) -> bytes:
    return hashlib.blake2b(site.encode(), digest_size=hashlib.blake2b.SALT_SIZE).digest()


def _together(found: Mapping[int, int]) -> int:
    seen = 0
    for one in found.values():
        seen |= one
    return seen


def _most(found: Mapping[int, int], rows: Mapping[int, ShareRow]) -> str:
    whose = max(found, key=lambda other: found[other].bit_count())
    return f"{found[whose].bit_count()} of them in share {rows[whose].sequence} of {rows[whose].site}"


def _found(session: Session, own: NDArray[np.uint64], other: int) -> int:
    digests = session.scalar(select(ShareDigestsRow.digests).where(ShareDigestsRow.share == other))
    found = _among(own, np.frombuffer(digests or b"", DIGEST_TYPE))
    return int.from_bytes(np.packbits(found).tobytes())


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
    return _repeated(sentences, estimate_distinct(np.frombuffer(digests, DIGEST_TYPE), MOST), MOST_TIMES)


def describe_said_again(said: int, distinct: int) -> str | None:
    """Whether a share says its sentences, whatever they are, more than MOST_TIMES_SAID over, in words; else None.

    Args:
        said: `SentenceDigests.said`.
        distinct: `SentenceDigests.distinct`.
    """
    return _repeated(said, distinct, MOST_TIMES_SAID)


def _repeated(sentences: int, distinct: float, most: float) -> str | None:
    if not distinct or sentences <= most * distinct or sentences < _SENTENCES:
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

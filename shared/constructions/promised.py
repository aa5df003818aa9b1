"""What the files of a release show, whatever it says of itself; and what a hospital's own notes show of it.

A hospital does not believe what it is told, whoever signed it: it computes these figures itself and holds them against its policy.
"""

from __future__ import annotations

from dataclasses import dataclass

from shared.anonymity.public_lists import PublicList

__all__ = ["PublicList", "Recomputed", "RecomputedOnNotes"]


@dataclass(frozen=True)
class Recomputed:
    """What the files of a release show; of the release alone.

    Args:
        procedures: those of the registry that make such a construction.
        replaces_phi: whether labelled PHI is replaced by public surrogates before anything is computed.
        cluster_size: smallest number of hidden words that are shown alike, bit for bit. A word that is called public and that
            no list holds counts as hidden: a cluster of one. None where the construction has no clusters.
        unlisted_public_words: how many such words there are.
        hides_casing: whether casing and punctuation of labelled PHI do not travel.
        mu: Gaussian differential privacy of the output of one token, infinite where the noise is nothing; None for a
            construction without noise.
        surrogate_spans: spans of the bank.
        bytes: of all files of the folder that was given; of what the construction takes in memory where none was.
    """

    procedures: tuple[str, ...]
    replaces_phi: bool
    cluster_size: int | None
    unlisted_public_words: int
    hides_casing: bool
    mu: float | None
    surrogate_spans: int
    bytes: int


@dataclass(frozen=True)
class RecomputedOnNotes:
    """What a sample of the hospital's own labelled notes shows; nothing of it names a word.

    Args:
        sentences: with labelled PHI that were looked at.
        interfering: of those, how many gave other bytes when labelled PHI was replaced by other PHI of like casing and pattern
            under the same draw.
        bank_spans_in_notes: spans of the bank that stand in the notes, of those with five or more digits, or with several words
            that no public list holds.
        advantage: of the best attacker on labelled PHI, 95th percentile of the pairs looked at; None where nothing had to
            be computed.
    """

    sentences: int
    interfering: int
    bank_spans_in_notes: int
    advantage: float | None

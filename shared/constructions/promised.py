"""What the files of a release show, whatever it says of itself; and what a hospital's own notes show of it.

A hospital does not believe what it is told, whoever signed it: it computes these figures itself and holds them against its policy.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundation.reading import regular_size
from shared.anonymity.public_lists import PublicList, on_public_lists
from shared.embeddings.generalised import PUBLIC
from shared.text.letters import compose
from shared.text.reached import casing_table, fewest_alike

_FINEST = 2.0**-24
"""Between two numbers of float16, at the least."""

_MOST_NAMED, _LONGEST_NAMED, _ROOM = 300, 40, 8 << 10
"""Common words that are named, signs of each, and bytes of all of them as JSON, at the most: a release may call any number of any length common,
and an entry of a ledger keeps what is found."""

__all__ = ["Clusters", "Narrowed", "PublicList", "Recomputed", "RecomputedOnNotes"]


@dataclass(frozen=True)
class Recomputed:
    """What the files of a release show; of the release alone.

    Args:
        procedures: those of the registry that make such a construction.
        replaces_phi: whether labelled PHI is replaced by public surrogates before anything is computed.
        cluster_size: smallest number of hidden words that are shown alike, bit for bit and by one code, given the casing class, which travels:
            of those that a text can hold in one class, where it can hold any. 0 where a text can hold none of all hidden words. A word that
            is called public and that no list holds counts as hidden: a cluster of one. None where the construction has no clusters.
        unlisted_public_words: how many such words there are.
        hides_casing: whether casing and punctuation of labelled PHI do not travel.
        mu: Gaussian differential privacy of the output of one token, infinite where the noise is nothing; None for a
            construction without noise.
        surrogate_spans: spans of the bank.
        narrowed: what words are shown far from PHI; None where all that are public are.
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
    narrowed: Narrowed | None = None


@dataclass(frozen=True)
class Narrowed:
    """What words are shown as they are far from labelled PHI.

    Args:
        common_words: how many are, at the most.
        window: a word is near if a labelled token of its sentence is at most so many tokens away.
        smallest_group: of the public words that are shown by the code of a group of them, those that one code can mean in one casing class,
            where it can mean any, at the least; only what has a letter and what a text can hold counts. None where there are no such words.
        words: the common words, as `name_common` names them; the release's own, and no PHI.
    """

    common_words: int
    window: int
    smallest_group: int | None
    words: tuple[str, ...] = ()


def name_common(words: Iterable[str]) -> tuple[str, ...]:
    """Words of a release as a ledger can keep them: composed, cut where they are long, and no more than have room.

    Args:
        words: any.
    """
    named: list[str] = []
    room = _ROOM
    for word in islice(words, _MOST_NAMED):
        named.append(compose(word)[:_LONGEST_NAMED])
        room -= len(json.dumps(named[-1])) + 1
        if room < 0:
            return tuple(named[:-1])
    return tuple(named)


@dataclass(frozen=True)
class RecomputedOnNotes:
    """What a sample of the hospital's own labelled notes shows; nothing of it names a word of the notes.

    Args:
        sentences: with labelled PHI that were looked at.
        interfering: of those, how many gave other bytes when labelled PHI was replaced by other PHI of like casing and pattern
            under the same draw.
        bank_spans_in_notes: spans of the bank that stand in the notes, of those with five or more digits, or with several words
            that no public list holds.
        advantage: of the best attacker on labelled PHI, 95th percentile of the pairs looked at; None where nothing had to
            be computed.
        compared: of the sentences, in how many a word became another; that the rest stay the same shows nothing.
        labelled: their labelled words that might have become others, punctuation aside; 0 where the construction claims to hide
            a word among no others.
        changed: those that did.
        asked: common words of the release that were looked for among the commonest of the notes; 0 where these have too few to tell.
        uncommon: those that are not there. They are the release's words, but which these are tells of the notes: for a person in the
            house alone.
    """

    sentences: int
    interfering: int
    bank_spans_in_notes: int
    advantage: float | None
    compared: int = 0
    labelled: int = 0
    changed: int = 0
    asked: int = 0
    uncommon: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class Clusters:
    """What is shown of the words of a vocabulary.

    Args:
        smallest: number of hidden words that are shown alike, at the least, as in Recomputed; None where no word is hidden.
        unlisted_public_words: called public, though no list holds them.
    """

    smallest: int | None
    unlisted_public_words: int


def count_clusters(
    words: Sequence[str], vectors: NDArray[np.float32], classes: NDArray[np.int32], lists: Sequence[PublicList]
) -> Clusters:
    """How many hidden words are alike in the vocabulary, whatever it says of itself.

    Words are alike if their vectors are, bit for bit: what a representer makes of equal vectors is equal, and vectors that only
    become equal where it rounds would be told apart wherever it rounds otherwise. And if their clusters have one number, for a
    share of codes holds the number, whatever vector stands behind it. And if a text can hold them in one casing class, for that travels beside:
    a number hides no name, and what the tokeniser never gives hides nothing. A public word hides no other.

    Args:
        words: of the vocabulary.
        vectors: as they are looked up, float32 `[words, dim]`.
        classes: as the release says, int32 `[words]`: the cluster, or PUBLIC.
        lists: of public words, which say so too.
    """
    called = np.flatnonzero(classes == PUBLIC)
    unlisted = int((~on_public_lists([words[row] for row in called.tolist()], lists)).sum())
    if unlisted:
        return Clusters(1, unlisted)
    hidden = np.flatnonzero(classes != PUBLIC).tolist()
    if not hidden:
        return Clusters(None, 0)
    numbers: dict[tuple[int, bytes], int] = {}
    alike = [numbers.setdefault((int(classes[row]), vectors[row].tobytes()), len(numbers)) for row in hidden]
    return Clusters(fewest_alike(np.array(alike), casing_table([words[row] for row in hidden])) or 0, 0)


def gaussian_mu(scale: NDArray[np.float64]) -> float:
    """Mu of one token's output in the unit ball under output noise, infinite if some dimension has none, or no number.

    A share holds float16 numbers, and what is below their finest step changes none of them: it is no noise.

    Args:
        scale: standard deviation, float64 `[dim]`.
    """
    least = float(scale.min())
    return 2 / least if least >= _FINEST else math.inf


def folder_bytes(folder: Path) -> int:
    """Bytes of all files of a folder and the folders in it.

    Raises:
        StorageError: something is neither a file nor a folder.
    """
    return sum(regular_size(path) for path in folder.rglob("*") if not path.is_dir())

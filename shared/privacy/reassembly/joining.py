"""An attacker who scores pairs of sentences for being of one note: learnt on some public notes, chosen on others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shared.privacy.reassembly.likeness import KINDS, Likeness, TwoCovariances, join_means
from shared.privacy.reassembly.shares import OwnedSentences
from shared.privacy.statistics.logistic_regression import Floats, LogisticRegression
from shared.sentences.ragged import RaggedSentences

Weigh = Callable[[Sequence[Floats]], Floats]
"""From all KINDS of likeness to one score."""

# Sums of which the first finds copied phrases, and the last identifiers that show.
_SEVERAL = (("words", "pairs"), ("words", "pairs", "meaning"), KINDS)


@dataclass(frozen=True)
class Joiner:
    """One way to score pairs.

    Args:
        name: of the way.
        meaning: learnt on public notes.
        weigh: the kinds of likeness against each other.
    """

    name: str
    meaning: TwoCovariances
    weigh: Weigh

    def scores(self, shown: RaggedSentences) -> Floats:
        """Of all pairs of the sentences of a share, `[sentences, sentences]`."""
        return self.weigh(Likeness.of(shown).kinds(self.meaning))


@dataclass(frozen=True)
class Joiners:
    """The best ways by public notes.

    Args:
        nearest: finds the most sentences of the same note.
        pairs: tells pairs of one note best from all others.
    """

    nearest: Joiner
    pairs: Joiner

    @staticmethod
    def learn(learning: Sequence[OwnedSentences], choosing: Sequence[OwnedSentences]) -> Joiners:
        """Learn on public shares, and choose on others.

        Args:
            learning: at least one.
            choosing: of other public notes, at least one.
        """
        known = [Likeness.of(one.shown) for one in learning]
        meaning = join_means(known, [one.notes for one in learning])
        ways = [
            Joiner(" + ".join(kinds), meaning, _sum_of(kinds)) for kinds in (*((kind,) for kind in KINDS), *_SEVERAL)
        ]
        ways.append(Joiner("learnt weights", meaning, _learnt([one.kinds(meaning) for one in known], learning)))
        generator = np.random.default_rng(0)
        asked = [(one, Likeness.of(one.shown).kinds(meaning)) for one in choosing]

        def hits(way: Joiner) -> float:
            return float(np.concatenate([one.hits(way.weigh(kinds)) for one, kinds in asked]).mean())

        def area(way: Joiner) -> float:
            return float(np.mean([one.areas(way.weigh(kinds), 0, generator)[0] for one, kinds in asked]))

        return Joiners(max(ways, key=hits), max(ways, key=area))


def _sum_of(kinds: Sequence[str]) -> Weigh:
    places = [KINDS.index(kind) for kind in kinds]
    return lambda scores: np.asarray(np.sum([scores[place] for place in places], axis=0), dtype=np.float64)


def _learnt(known: Sequence[Sequence[Floats]], learning: Sequence[OwnedSentences]) -> Weigh:
    """Weights by logistic regression over all pairs."""
    features, truths = [], []
    for kinds, share in zip(known, learning, strict=True):
        one, other = np.triu_indices(len(share.notes), 1)
        features.append(np.stack([scores[one, other] for scores in kinds], axis=1))
        truths.append(share.notes[one] == share.notes[other])
    found = LogisticRegression(np.concatenate(features), np.concatenate(truths))

    def weigh(scores: Sequence[Floats]) -> Floats:
        # Rounded, so that pairs without any difference are tied.
        flat = np.round(found.scores(np.stack([kind.ravel() for kind in scores], axis=1)), 6)
        return flat.reshape(scores[0].shape)

    return weigh

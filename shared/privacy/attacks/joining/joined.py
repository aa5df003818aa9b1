"""What an attacker joins in shares of so many notes: learnt on public notes, judged on those of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shared.document import Document
from shared.errors import ConfigurationError
from shared.privacy.material.sharing import SharingEncoder
from shared.privacy.reassembly.clinical import LEAST_TOKENS, MOST_PHI
from shared.privacy.reassembly.joining import Joiner, Joiners
from shared.privacy.reassembly.shares import Chosen, OwnedSentences, shares_of
from shared.privacy.statistics.cluster_bootstrap import cluster_interval
from shared.privacy.statistics.finding import Finding

# Drawing all pairs again takes long, and the interval of the area bounds nothing.
_AREAS = 100


@dataclass(frozen=True)
class JoiningSettings:
    """How hard the attacker tries.

    Args:
        notes: in a share. The least number of new notes that a hospital shares is the hardest case for a bound in times chance of those
            that tell most of a note: with more notes the chance falls faster than what is found.
        shares: at most so many are attacked, each of other notes.
        public_shares: at most so many are learnt from, and as many chosen on.
        shortest: a clinical sentence has so many tokens at least.
        most_phi: so much of its tokens is labelled PHI at the most.
        resamples: of the bootstrap over notes.
        seed: of notes, noise and resampling.
    """

    notes: int = 20
    shares: int = 12
    public_shares: int = 6
    shortest: int = LEAST_TOKENS
    most_phi: float = MOST_PHI
    resamples: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        counts = (self.shares, self.public_shares, self.shortest, self.resamples)
        if self.notes < 2 or min(counts) < 1 or not 0 <= self.most_phi <= 1:
            raise ConfigurationError(
                "joining sentences: expected at least 2 notes, shares, lengths and resamples from 1, and a share of PHI in [0, 1]"
            )


@dataclass(frozen=True)
class Joined:
    """Shares, and who attacks them.

    Args:
        joiners: learnt and chosen on public notes.
        shares: of the attacked notes, at least one.
        settings: of both.
        knowledge: what the attacker has.
    """

    joiners: Joiners
    shares: Sequence[OwnedSentences]
    settings: JoiningSettings
    knowledge: str

    def nearest(self, attack: str, measure: str) -> Finding:
        """How often the sentence nearest to one is of its note, beside one drawn by chance."""
        hits = np.concatenate([one.hits(self.joiners.nearest.scores(one.shown)) for one in self.shares])
        chance = float(np.concatenate([one.chances() for one in self.shares]).mean())
        firsts = np.cumsum([0, *(int(one.notes.max()) + 1 for one in self.shares)])
        notes = np.concatenate([one.notes + first for one, first in zip(self.shares, firsts, strict=False)])
        rng = np.random.default_rng((self.settings.seed, 1))
        interval = cluster_interval(hits, notes, rng, self.settings.resamples)
        return self._finding(attack, measure, float(hits.mean()), chance, interval, self.joiners.nearest)

    def pairs(self, attack: str, measure: str) -> Finding:
        """ROC AUC of pairs, on average over the shares."""
        rng = np.random.default_rng((self.settings.seed, 2))
        found = [one.areas(self.joiners.pairs.scores(one.shown), _AREAS, rng) for one in self.shares]
        low, high = np.quantile(np.mean([drawn for _, drawn in found], axis=0), [0.025, 0.975])
        value = float(np.mean([area for area, _ in found]))
        return self._finding(attack, measure, value, 0.5, (float(low), float(high)), self.joiners.pairs)

    def _finding(
        self,
        attack: str,
        measure: str,
        value: float,
        baseline: float,
        interval: tuple[float, float],
        joiner: Joiner,
    ) -> Finding:
        notes = sum(len(np.unique(one.notes)) for one in self.shares)
        knowledge = f"{self.knowledge}; likeness by {joiner.name}"
        return Finding(attack, measure, value, baseline, interval, notes, knowledge, self.settings.seed)


def join_sentences(
    encoder: SharingEncoder,
    public: Sequence[Document],
    attacked: Sequence[Document],
    chosen: Chosen,
    settings: JoiningSettings,
) -> Joined:
    """Learn on public notes, and draw the shares that are attacked.

    Args:
        encoder: the release.
        public: labelled notes that the attacker has.
        attacked: notes of the shares; none of them public.
        chosen: which sentences are asked for.
        settings: how many of everything.

    Raises:
        ConfigurationError: either side has too few notes with two such sentences.
    """
    rng = np.random.default_rng(settings.seed)
    learning, choosing = (
        shares_of(encoder, part, chosen, settings.notes, settings.public_shares, rng) for part in halves(public, rng)
    )
    return join_shares(
        learning, choosing, shares_of(encoder, attacked, chosen, settings.notes, settings.shares, rng), settings
    )


def halves(notes: Sequence[Document], generator: np.random.Generator) -> tuple[list[Document], list[Document]]:
    """Two halves of notes, drawn by chance."""
    half = len(notes) // 2
    order = generator.permutation(len(notes)).tolist()
    return [notes[index] for index in order[:half]], [notes[index] for index in order[half:]]


def join_shares(
    learning: Sequence[OwnedSentences],
    choosing: Sequence[OwnedSentences],
    shares: Sequence[OwnedSentences],
    settings: JoiningSettings,
) -> Joined:
    """The same for shares that are there.

    Raises:
        ConfigurationError: one of the three is empty.
    """
    if not (learning and choosing and shares):
        raise ConfigurationError(
            "joining sentences: expected at least four public notes and two attacked ones with two such sentences each, got "
            "fewer; give more labelled notes"
        )
    notes = int(shares[0].notes.max()) + 1
    knowledge = f"{len(shares)} shares of {notes} notes, their sentences shuffled; release, public labelled notes"
    return Joined(Joiners.learn(learning, choosing), shares, settings, knowledge)

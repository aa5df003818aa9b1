"""The white-box attacker in closed form: what the best possible adversary tells about one PHI word.

It holds everything that is published, unlimited time, the whole sentence but one PHI word, and two candidates for that
word: the true one and one of its N neighbours, either as likely. How often can it be right? That depends on the
construction, which says how far what it shows moves (`Construction.divergences`):

- noise behind a recurrent representer: Phi(Delta / 2), see `shared.models.divergence`; an upper bound, for the attacker
  is given the input noise too;
- no noise, token by token: 50% where both words have the same representation, 100% where not;
- surrogates for all labelled PHI: 50%, since the words are not looked at. That is tried, too: the sentences are encoded
  with other words in the place of all labelled ones under the same draw, and a token that then differs is told for sure.

Casing travels beside the representation, so there are two figures: the representation alone, and with casing, where any
two words of different casing classes are told apart for sure. An encoder with a vocabulary in lower case knows words, not
spellings: candidates are taken in the casing of the true word, as far as they have letters.

Neighbours are given: the audit takes those of public vectors as they are, of which a k-anonymous vocabulary shows some
alike; beside an encoding they are words that the release shows differently.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from shared.augment.pseudonyms import Pseudonymiser
from shared.constructions.construction import Construction, Protection, Trials, WordChanges
from shared.errors import ConfigurationError
from shared.models.noise import RehearsalNoise
from shared.privacy.statistics.accuracies import AccuracyCounts, Spread
from shared.privacy.statistics.finding import Finding
from shared.privacy.word_pairs import WhiteBoxSettings, WordPairs
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes

KNOWLEDGE: Final = (
    "all weights, noise scales and code; the input noise drawn; the sentence but for one PHI word; "
    "the true word and one of its neighbours, either as likely; unlimited computing"
)


@dataclass(frozen=True, repr=False)
class PairAccuracies:
    """The best attacker's accuracy for every pair of a PHI word and a neighbour.

    Args:
        tokens: index of the PHI token in its chunk, int64 `[pairs]`, ascending.
        accuracy: from the representation alone, float64 `[pairs]`, in [0.5, 1].
        casing_differs: bool `[pairs]`.
        divergence: Delta for every draw of the input noise, float64 `[draws, pairs]`; 0 or infinite without noise.
    """

    tokens: NDArray[np.int64]
    accuracy: NDArray[np.float64]
    casing_differs: NDArray[np.bool_]
    divergence: NDArray[np.float64]

    @property
    def with_casing(self) -> NDArray[np.float64]:
        """Accuracy from representation and casing, float64 `[pairs]`."""
        return np.where(self.casing_differs, 1.0, self.accuracy)

    def scale_noise(self, factors: NDArray[np.float64]) -> PairAccuracies:
        """The same under this many times the output noise, float64 `[pairs]`."""
        divergence = self.divergence / factors
        return PairAccuracies(self.tokens, normal_cdf(divergence / 2).mean(0), self.casing_differs, divergence)

    def select_pairs(self, kept: NDArray[np.bool_]) -> PairAccuracies:
        """Some of the pairs."""
        return PairAccuracies(
            self.tokens[kept], self.accuracy[kept], self.casing_differs[kept], self.divergence[:, kept]
        )

    def advantages(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """PHI tokens, and the mean and maximum over their neighbours of the total variation 2 * accuracy - 1."""
        if not len(self.tokens):
            return self.tokens, np.zeros(0), np.zeros(0)
        firsts = np.flatnonzero(np.diff(self.tokens, prepend=-1))
        counts = np.diff(firsts, append=len(self.tokens))
        advantage = 2 * self.accuracy - 1
        mean, most = np.add.reduceat(advantage, firsts) / counts, np.maximum.reduceat(advantage, firsts)
        return self.tokens[firsts], mean, most


@dataclass(frozen=True)
class WhiteBoxBound:
    """What the white-box attacker reaches on some notes.

    Args:
        protection: of the construction.
        representation: by PHI category, and all of them under "": from the representation alone.
        with_casing: the same, casing included; empty where no neighbours were looked at.
        settings: how much was computed; a maximum over a sample is no maximum over all pairs.
    """

    protection: Protection
    representation: dict[str, Spread]
    with_casing: dict[str, Spread]
    settings: WhiteBoxSettings

    def findings(self) -> list[Finding]:
        """Mean, 95th and 99th percentile and maximum for each category, as the audit lists them."""
        found = []
        for shown, spreads in (("representation", self.representation), ("with casing", self.with_casing)):
            for category, spread in spreads.items():
                for measure, value, interval in (
                    ("mean", spread.mean, spread.interval),
                    ("95th percentile", spread.p95, (spread.p95, spread.p95)),
                    ("99th percentile", spread.p99, (spread.p99, spread.p99)),
                    ("maximum", spread.maximum, (spread.maximum, spread.maximum)),
                ):
                    name = f"Bayes accuracy, {shown}, {category or 'all PHI'}, {measure}"
                    seed = self.settings.seed
                    found.append(Finding("white box", name, value, 0.5, interval, spread.tokens, KNOWLEDGE, seed))
        return found


def white_box(
    construction: Construction,
    chunks: Iterable[TokenisedSentences],
    pseudonyms: Pseudonymiser,
    settings: WhiteBoxSettings,
) -> WhiteBoxBound:
    """The bound over labelled sentences in any number.

    Args:
        construction: any.
        chunks: labelled sentences.
        pseudonyms: gives the neighbours; the word itself is not among them.
        settings: how much is computed.
    """
    tally = WhiteBoxTally(construction, pseudonyms, settings)
    for chunk in chunks:
        tally.add(chunk)
    return tally.bound()


class WhiteBoxTally:
    """The same chunk by chunk, beside an encoding; see `white_box`.

    Args:
        construction: any.
        pseudonyms: None for surrogates alone, of which the bound is known without any neighbour.
        settings: how much is computed.

    Raises:
        ConfigurationError: there are neither surrogates nor neighbours.
    """

    def __init__(
        self, construction: Construction, pseudonyms: Pseudonymiser | None, settings: WhiteBoxSettings
    ) -> None:
        if pseudonyms is None and not construction.replaces_phi:
            raise ConfigurationError("white box: expected neighbours for an encoder without surrogates, got none")
        self.construction, self.settings = construction, settings
        self._pairs = None if pseudonyms is None else WordPairs(pseudonyms, settings)
        self._noise = torch.Generator().manual_seed(settings.seed)
        self._counts: dict[tuple[bool, str], AccuracyCounts] = {}

    def add(self, chunk: TokenisedSentences) -> None:
        """Computes a chunk and counts it in."""
        if self._pairs is None:
            marked = np.flatnonzero(chunk.tags)
            self._count_all(False, chunk, marked, np.full(len(marked), 0.5))
        else:
            self.count(chunk, pair_accuracies(self.construction, chunk, self._pairs, self._noise))

    def count(self, chunk: TokenisedSentences, found: PairAccuracies) -> None:
        """Counts in what was computed of a chunk."""
        self._count_all(False, chunk, found.tokens, found.accuracy)
        self._count_all(True, chunk, found.tokens, found.with_casing)

    def _count_all(
        self, casing: bool, chunk: TokenisedSentences, tokens: NDArray[np.int64], accuracy: NDArray[np.float64]
    ) -> None:
        self._count(casing, "", tokens, accuracy)
        kinds = chunk.categories[tokens]
        for kind in np.unique(kinds).tolist():
            own = kinds == kind
            self._count(casing, self.construction.scheme.categories[kind], tokens[own], accuracy[own])

    def _count(self, casing: bool, category: str, tokens: NDArray[np.int64], accuracy: NDArray[np.float64]) -> None:
        self._counts.setdefault((casing, category), AccuracyCounts()).add(tokens, accuracy)

    def bound(self) -> WhiteBoxBound:
        """The figures over all chunks so far."""
        listed = sorted(self._counts.items(), key=lambda item: item[0])
        alone = {category: counts.spread() for (casing, category), counts in listed if not casing}
        both = {category: counts.spread() for (casing, category), counts in listed if casing}
        return WhiteBoxBound(self.construction.protection, alone, both, self.settings)


def pair_accuracies(
    construction: Construction, chunk: TokenisedSentences, pairs: WordPairs, noise: RehearsalNoise
) -> PairAccuracies:
    """The accuracy for every pair of one chunk.

    Args:
        construction: any.
        chunk: labelled sentences.
        pairs: chooses the pairs.
        noise: for the input noise; with a MemoisedNoise a sentence always gets the same.
    """
    tokens, places, words = pairs.choose_pairs(chunk)
    attacked, line = np.unique(tokens, return_inverse=True)
    spelled = construction.vectors.spell([chunk.words[token] for token in attacked.tolist()])
    differs = casing_classes(construction.vectors.spell(words))[places] != casing_classes(spelled)[line]
    if construction.hides_casing:
        differs = np.zeros_like(differs)
    divergence = np.zeros((1, 0))
    if len(tokens):
        changes, settings = WordChanges(tokens, places, words, ~differs), pairs.settings
        divergence = construction.divergences(chunk, changes, Trials(settings.draws, noise, settings.seed))
        # Of finite weights, too, can come what is no number: it bounds nothing.
        divergence[np.isnan(divergence)] = np.inf
    return PairAccuracies(tokens, normal_cdf(divergence / 2).mean(0), differs, divergence)


def normal_cdf(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distribution function of the standard normal."""
    probabilities: NDArray[np.float64] = torch.special.ndtr(torch.from_numpy(values)).numpy()
    return probabilities

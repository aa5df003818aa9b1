"""A bound on what the white-box attacker may tell of each sentence, held by more noise or by leaving the sentence out.

This is the "dynamic noise" that Friedrich et al. 2019 (section 10) leave to future work, with the attacker in closed form in
the place of a trained one. Scaling the output noise of a sentence by f divides every divergence of it by f exactly, so
no sentence is run twice. Factors come from a ladder, on which `MemoisedNoise` lays one draw over the other: a sentence that
is shared again under another bound tells no more than the share of it with the least noise.

What it holds is the advantage from the representation, for the neighbours looked at and under each draw of the input noise
that was tried. That is stricter than the advantage on average over all draws, which nobody can compute: the mean of a few
draws, from which the least noise is then chosen, comes out too low. Of 60 sentences in each of six settings the mean of 2
let up to 4 break the bound on 200 fresh draws, the worst of 8 none, for 1 to 7% more noise. Casing is not in it: no noise hides that. A factor depends on the sentence, and so tells a little about it; give
a MemoisedNoise for the input noise, so that it depends on nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.constructions.construction import Construction
from shared.constructions.rows import MAX_FACTOR
from shared.errors import ConfigurationError
from shared.models.noise import RehearsalNoise
from shared.models.noise_source import RUNGS_PER_DOUBLING
from shared.privacy.white_box import PairAccuracies, normal_cdf, pair_accuracies
from shared.privacy.word_pairs import WordPairs
from shared.sentences.tokenised import TokenisedSentences


@dataclass(frozen=True)
class AdvantageBound:
    """What no sentence may exceed.

    Args:
        advantage: 2 * accuracy - 1 of the best attacker, in (0, 1).
        quantile: over the pairs of a sentence's PHI tokens and their neighbours; 1 is the maximum.
        max_factor: a sentence that would need more noise than this many times its scale is left out.

    Raises:
        ConfigurationError: a value out of range.
    """

    advantage: float
    quantile: float = 1.0
    max_factor: float = MAX_FACTOR

    def __post_init__(self) -> None:
        if not 0 < self.advantage < 1 or not 0 < self.quantile <= 1 or not 1 <= self.max_factor <= 1e6:
            raise ConfigurationError(
                f"expected an advantage in (0, 1), a quantile in (0, 1] and a factor of at least 1, got {self.advantage}, "
                f"{self.quantile} and {self.max_factor}; choose others"
            )


@dataclass(frozen=True)
class Enforced:
    """What a chunk needs so that the bound holds.

    Args:
        factors: of the output noise, float64 `[sentences]`, 1 where nothing is to be done.
        left_out: sentences that may not be shared at all, bool `[sentences]`.
        advantage: of the quantile bounded, under these factors and the worst draw of the input noise, float64 `[sentences]`;
            0 where there is no PHI.
        found: the pairs of the sentences that may be shared, under these factors.
    """

    factors: NDArray[np.float64]
    left_out: NDArray[np.bool_]
    advantage: NDArray[np.float64]
    found: PairAccuracies


def enforce(
    construction: Construction,
    chunk: TokenisedSentences,
    bound: AdvantageBound,
    pairs: WordPairs,
    noise: RehearsalNoise,
) -> Enforced:
    """The least noise, on the ladder, under which every sentence of a chunk keeps the bound.

    Args:
        construction: any.
        chunk: labelled sentences.
        bound: what to keep.
        pairs: the neighbours, all of them and of every sentence.
        noise: for the input noise.

    Raises:
        ConfigurationError: `pairs` is a sample, which bounds nothing.
    """
    if pairs.settings.sentences < 1 or pairs.settings.neighbours is not None:
        raise ConfigurationError("a bound on advantage: expected all neighbours of all sentences, got a sample of them")
    found = pair_accuracies(construction, chunk, pairs, noise)
    sentence = chunk.sentence_of_token[found.tokens]
    factors = np.ones(len(chunk.lengths))
    left_out = np.zeros(len(chunk.lengths), dtype=bool)
    advantage = np.zeros(len(chunk.lengths))
    firsts = np.flatnonzero(np.diff(sentence, prepend=-1))
    for row, divergence in zip(sentence[firsts].tolist(), np.split(found.divergence, firsts[1:], axis=1), strict=False):
        factor = _least_factor(divergence, bound)
        left_out[row] = factor is None
        factors[row] = factor or 1.0
        advantage[row] = _advantage(divergence, factors[row], bound.quantile)
    shown = ~left_out[sentence]
    return Enforced(factors, left_out, advantage, found.select_pairs(shown).scale_noise(factors[sentence[shown]]))


def _least_factor(divergence: NDArray[np.float64], bound: AdvantageBound) -> float | None:
    """The lowest step of the ladder that keeps the bound; None if none does. The advantage falls with the factor."""
    low, high = 0, math.floor(RUNGS_PER_DOUBLING * math.log2(bound.max_factor) + 1e-9)
    if _advantage(divergence, 2 ** (high / RUNGS_PER_DOUBLING), bound.quantile) > bound.advantage:
        return None
    while low < high:
        middle = (low + high) // 2
        if _advantage(divergence, 2 ** (middle / RUNGS_PER_DOUBLING), bound.quantile) > bound.advantage:
            low = middle + 1
        else:
            high = middle
    return float(2 ** (low / RUNGS_PER_DOUBLING))


def _advantage(divergence: NDArray[np.float64], factor: float, quantile: float) -> float:
    """The quantile over pairs of the worst draw, of a divergence `[draws, pairs]` under more noise."""
    each = 2 * normal_cdf(divergence.max(0) / (2 * factor)) - 1
    return float(np.quantile(each, quantile, method="higher"))

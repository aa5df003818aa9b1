"""Permute-and-flip (McKenna and Sheldon 2020), for d-privacy over one public set of candidates."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from shared.surrogates.mechanisms.discrete_laplace import bernoulli_exp
from shared.surrogates.mechanisms.randomness import Randomness


def permute_and_flip(randomness: Randomness, candidates: int, distance: Callable[[int], int], epsilon: Fraction) -> int:
    """Goes through the candidates in random order and takes candidate r with probability exp(-epsilon * d(x, r) / 2), the first that is taken.

    **Bound.** For all x and x' of the candidates, and every output r: P(r | x) <= exp(epsilon * d(x, x')) P(r | x').

    *Proof.* Let c = epsilon / 2 and D = c d(x, x'). The walk is the same as this game (Ding et al. 2021): every candidate s draws E_s, exponential
    with mean 1, and the largest E_s - c d(x, s) wins. Fix the draws of all but r, and let m be the largest score among them under x, m' under x'. By the
    triangle inequality |c d(x, s) - c d(x', s)| <= D for every s, so m' <= m + D. Now r wins under x where E_r > m + c d(x, r), and under x'
    where E_r > m' + c d(x', r), a threshold that is higher by at most 2 D. For an exponential draw P(E > t + 2 D) >= exp(-2 D) P(E > t), also
    where a threshold is negative and counts as 0. So P(r | x') >= exp(-2 D) P(r | x), for any draws of the others, and
    2 D = epsilon d(x, x').

    Some candidate is always taken, since x itself is one and d(x, x) = 0. The half in the exponent is needed: the normaliser, here m,
    depends on x. In Tchouka et al. (2023, property 1) it cancels, which it does not; and their candidates are those near x, so that some
    outputs are possible under x alone, for which no epsilon holds. Here the candidates are the same for every x.

    Args:
        randomness: where chance comes from.
        candidates: how many there are.
        distance: of the true one to each, 0 for itself; whole, and a metric.
        epsilon: for a distance of 1; above 0.

    Returns:
        number of the one that is taken.
    """
    top, bottom = epsilon.numerator, 2 * epsilon.denominator
    # Fisher-Yates, as far as it is needed: what was swapped away is remembered, not the whole order.
    moved: dict[int, int] = {}
    for place in range(candidates):
        other = place + randomness.below(candidates - place)
        drawn = moved.get(other, other)
        moved[other] = moved.get(place, place)
        if bernoulli_exp(randomness, top * distance(drawn), bottom):
            return drawn
    raise ValueError("expected candidates among which the true one is")

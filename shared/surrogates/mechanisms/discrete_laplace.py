"""The discrete Laplace distribution, drawn exactly (Canonne, Kamath and Steinke 2020, The Discrete Gaussian for Differential Privacy, algorithms 1 and 2).

No floating point: Mironov (2012) reads the true value out of the low bits of Laplace noise that was computed with it.
"""

from __future__ import annotations

from fractions import Fraction

from shared.surrogates.mechanisms.randomness import Randomness


def bernoulli_exp(randomness: Randomness, numerator: int, denominator: int) -> bool:
    """True with probability exp(-numerator / denominator), exactly; neither may be negative, the denominator not 0."""
    while numerator > denominator:
        if not _bernoulli_exp_to_one(randomness, 1, 1):
            return False
        numerator -= denominator
    return _bernoulli_exp_to_one(randomness, numerator, denominator)


def discrete_laplace(randomness: Randomness, epsilon: Fraction) -> int:
    """A whole number y with probability (1 - q) / (1 + q) * q^|y|, where q = exp(-epsilon).

    A whole number x is protected by x + y: for every output, its probabilities under x and x' differ by at most the factor
    exp(epsilon * |x - x'|), which is d-privacy for d = |x - x'| (Chatzikokolakis et al. 2013, definition 1). Whatever is made of the
    output without another look at x keeps that.

    Args:
        randomness: where chance comes from.
        epsilon: for a distance of 1; above 0.
    """
    steps, scale = epsilon.numerator, epsilon.denominator
    if steps < 1:
        raise ValueError("expected an epsilon above 0")
    while True:
        rest = randomness.below(scale)
        if not _bernoulli_exp_to_one(randomness, rest, scale):
            continue
        whole = 0
        while _bernoulli_exp_to_one(randomness, 1, 1):
            whole += 1
        size = (rest + scale * whole) // steps
        negative = randomness.below(2)
        # 0 has one sign.
        if not (negative and size == 0):
            return -size if negative else size


def _bernoulli_exp_to_one(randomness: Randomness, numerator: int, denominator: int) -> bool:
    """`bernoulli_exp` of at most 1: the series of exp, as the parity of how long a run of successes is."""
    run = 1
    while randomness.below(denominator * run) < numerator:
        run += 1
    return run % 2 == 1

"""What the output noise of an encoder guarantees by itself, whatever an attacker knows, computes or trains.

The representation of a token lies in the unit L2 ball ahead of its noise, so one token's output moves by at most 2. With
noise of standard deviation s_i in dimension i that is a Gaussian mechanism of mu = 2 / min(s_i): Gaussian differential
privacy (Dong, Roth and Su 2022), which is zCDP with rho = mu^2 / 2 (Bun and Steinke 2016). k tokens that move together
make mu * sqrt(k). Epsilon at a stated delta is the exact one of the Gaussian mechanism (Balle and Wang 2018).

What moves: in a recurrent encoder a word moves every token of its sentence, in a token-local one only its own. Two
sentences are compared with others of the same length, two notes with others of the same sentence lengths: lengths,
labels and casing travel in clear and are outside the guarantee. Several shares of one note re-use one draw
(`MemoisedNoise`), so they count once; a share under another release draws anew and composes. Input noise is not
counted: it can only help.

An encoder without noise has no epsilon, large or small. It is protected by its structure or by nothing. One with noise behind a
k-anonymous vocabulary has both guarantees: what words of one cluster give is the same ahead of the noise. So has one behind
surrogates: it does not depend on labelled PHI, and what it shows of other words is noisy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from shared.errors import ConfigurationError

DELTA = 1e-6
SENSITIVITY = 2.0
"""Largest L2 distance between two points of the unit ball: what one token's output can move."""


class Reach(Enum):
    """What a word moves."""

    SENTENCE = "every token of its sentence"
    TOKEN = "its own token"


@dataclass(frozen=True)
class GaussianGuarantee:
    """The guarantee of a Gaussian mechanism for one unit of privacy.

    Args:
        unit: what differs between the two inputs that can't be told apart.
        tokens: how many tokens' outputs move together.
        mu: Gaussian differential privacy.
        delta: at which epsilon holds.
    """

    unit: str
    tokens: int
    mu: float
    delta: float = DELTA

    @property
    def rho(self) -> float:
        """Zero-concentrated differential privacy."""
        return self.mu**2 / 2

    @property
    def epsilon(self) -> float:
        """Epsilon at `delta`; infinite without noise."""
        return gaussian_epsilon(self.mu, self.delta)

    @property
    def accuracy(self) -> float:
        """How often the best possible attacker tells two such inputs apart; 0.5 is a guess."""
        return 0.5 * (1 + math.erf(self.mu / 2 / math.sqrt(2)))

    def compose(self, times: int) -> GaussianGuarantee:
        """The same after several releases of the representer, each with a draw of its own."""
        _positive("releases", times)
        return GaussianGuarantee(f"{self.unit}, {times} releases", self.tokens, self.mu * math.sqrt(times), self.delta)


@dataclass(frozen=True)
class Accounting:
    """What can be said of one encoder.

    Args:
        basis: "noise", "k-anonymity and noise", "independence and noise"; or, for an encoder without noise, what protects instead: "k-anonymity",
            "independence" or "none".
        guarantees: by unit; empty without noise, for then there is no epsilon.
        statement: the same in a sentence.
    """

    basis: str
    guarantees: tuple[GaussianGuarantee, ...]
    statement: str

    def __post_init__(self) -> None:
        if self.basis.endswith("noise") != bool(self.guarantees):
            raise ConfigurationError("accounting: expected guarantees for an encoder with noise, and for no other")


def noise_accounting(
    sigma_min: float,
    reach: Reach,
    *,
    sentence_tokens: int,
    note_tokens: int,
    delta: float = DELTA,
    memoised: bool = True,
) -> Accounting:
    """The guarantee of output noise for one token's output, one word, one sentence and one note.

    Args:
        sigma_min: standard deviation of the output noise in its weakest dimension.
        reach: what a word moves.
        sentence_tokens: length of the longest sentence that is to be covered.
        note_tokens: tokens of the longest note.
        delta: of epsilon.
        memoised: whether a sentence that is shared again gets the same noise again, whatever its labels.

    Raises:
        ConfigurationError: a value that is not positive.
    """
    if not sigma_min > 0 or not math.isfinite(sigma_min):
        raise ConfigurationError(
            f"accounting: expected positive noise, got {sigma_min}; an encoder without noise has no epsilon"
        )
    _positive("tokens of a sentence", sentence_tokens)
    _positive("tokens of a note", note_tokens)
    word = sentence_tokens if reach is Reach.SENTENCE else 1
    units = (
        ("the output of one token", 1),
        ("one word", word),
        (f"one sentence of {sentence_tokens} tokens", sentence_tokens),
        (f"one note of {note_tokens} tokens", note_tokens),
    )
    guarantees = tuple(
        GaussianGuarantee(unit, tokens, SENSITIVITY / sigma_min * math.sqrt(tokens), delta) for unit, tokens in units
    )
    again = "Several shares of a note under one release re-use one draw and count once."
    if not memoised:
        again = (
            "A sentence with labelled PHI draws anew in each share, and its shares compose; any other re-uses one draw."
        )
    return Accounting(
        "noise",
        guarantees,
        f"Gaussian noise of at least {sigma_min:.4g} on points of the unit ball; a word moves {reach.value}. {again}",
    )


@dataclass(frozen=True)
class Anonymity:
    """How far words look alike in a vocabulary of clusters.

    Args:
        k: words of the smallest cluster, which are shown alike.
        in_casing: those that a text can hold in the casing class that travels beside them, in the cluster and class of the fewest. A cluster
            that no text reaches does not count, so it may be more than `k`; 0 where no text reaches any.
        largest_share: the most that a word holds of its cluster's public frequency; None if it is not known.

    Raises:
        ConfigurationError: k is below 2, which is no anonymity.
    """

    k: int
    in_casing: int
    largest_share: float | None = None

    def __post_init__(self) -> None:
        if self.k < 2:
            raise ConfigurationError(f"accounting: expected at least 2 words that are shown alike, got {self.k}")


def anonymity_accounting(anonymity: Anonymity, noise: Accounting | None = None) -> Accounting:
    """An encoder that shows words alike.

    Args:
        anonymity: of its vocabulary.
        noise: what its noise guarantees besides; None for an encoder without.
    """
    alone = " That is one: some word is told by its casing for sure." if anonymity.in_casing == 1 else ""
    share = anonymity.largest_share
    guess = (
        "" if share is None else f"In public text, one word makes up to {share:.1%} of the occurrences of its cluster. "
    )
    others = "told apart for sure" if noise is None else "hidden by the noise alone"
    return Accounting(
        "k-anonymity" if noise is None else "k-anonymity and noise",
        () if noise is None else noise.guarantees,
        f"{'No noise, so no epsilon.' if noise is None else noise.statement} In the representation, a word outside the public "
        f"list is shown exactly as at least {anonymity.k - 1} others. Casing travels beside it: given the casing class, at least "
        f"{anonymity.in_casing} of the words that are shown alike can be meant, itself included.{alone} {guess}Words of different "
        f"clusters are {others}, and so are public words. A word that the vocabulary does not hold may be alone in its casing class.",
    )


def independence_accounting(hides_casing: bool = False, noise: Accounting | None = None) -> Accounting:
    """An encoder that replaces all labelled PHI by public surrogates before anything is computed.

    Args:
        hides_casing: whether these have a casing of their own.
        noise: what its noise guarantees of all other words; None for an encoder without.
    """
    begin = "No noise, so no epsilon." if noise is None else noise.statement
    given = "labels and sentence lengths" if hides_casing else "labels, sentence lengths, casing and punctuation"
    return Accounting(
        "independence" if noise is None else "independence and noise",
        () if noise is None else noise.guarantees,
        f"{begin} Given {given}, what is shared does not depend on labelled PHI words at all. PHI that nobody "
        "labelled is not covered.",
    )


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon for which mu-GDP is (epsilon, delta)-differentially private, by dp-accounting.

    Args:
        mu: at least 0; infinite gives infinite.
        delta: in (0, 1).

    Raises:
        ConfigurationError: out of range.
    """
    if not mu >= 0 or not 0 < delta < 1:
        raise ConfigurationError(f"accounting: expected mu of at least 0 and delta in (0, 1), got {mu} and {delta}")
    if mu == 0 or math.isinf(mu):
        return mu
    # Imported where it is needed: it takes a second, which no other command should wait for.
    from dp_accounting import get_epsilon_gaussian

    return float(get_epsilon_gaussian(1 / mu, delta))


def _positive(what: str, value: int) -> None:
    if value < 1:
        raise ConfigurationError(f"accounting: expected at least 1 {what}, got {value}")

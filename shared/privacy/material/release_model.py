"""How likely a release makes an observed share, for each of many sentences that may be behind it.

This is what an attacker builds who holds a release: sentences of his own choice go in, and what comes out tells the
distribution of a share of each. Everything goes through `rehearse_share`, so that it works for every construction; where the
representer adds Gaussian noise of published scale, a noise source of the attacker's own takes the noise out, which leaves
exact means, and gives every candidate the same input noise, so that no chance of the attacker's own hides a difference.

Rows that come from few values (surrogates, clusters) are counted; all others are taken for Gaussian. The variance of a
candidate is drawn towards that of all: a variance from a few draws is mostly chance, and would drown the means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from shared.errors import ModelError
from shared.privacy.material.sharing import SharingEncoder, draw_share
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences

Floats = NDArray[np.float64]

# Tokens of candidates that are encoded at a time.
_BLOCK_TOKENS = 1 << 17
# A share has about 11 bits a value; what differs by less is the processor's rounding.
_SAME = 1e-3
_PROBES = 8
# A candidate's own variance weighs as much as that of all candidates when it comes from so many draws.
_PRIOR_DRAWS = 64.0
# Where repeated draws give new rows more often than this, the rows are continuous.
_CONTINUOUS = 0.9
_CERTAIN = 1e6


@dataclass(frozen=True, slots=True, repr=False)
class Candidates:
    """Sentences of one length and the same tags, one of which is behind a share.

    Args:
        sentences: their words. These may be PHI: never log them.
        tags: uint8 `[tokens of a sentence]`.
    """

    sentences: Sequence[Sequence[str]]
    tags: NDArray[np.uint8]

    def __repr__(self) -> str:
        return f"Candidates({len(self.sentences)} sentences of {len(self.tags)} tokens)"

    def chunk(self) -> TokenisedSentences:
        """The sentences as an encoder takes them."""
        count = len(self.sentences)
        words = [word for sentence in self.sentences for word in sentence]
        return TokenisedSentences(words, np.tile(self.tags, count), np.full(count, len(self.tags), dtype=np.int64))

    def blocks(self) -> Iterator[Candidates]:
        """The sentences in groups of bounded size."""
        step = max(1, _BLOCK_TOKENS // len(self.tags))
        for start in range(0, len(self.sentences), step):
            yield Candidates(self.sentences[start : start + step], self.tags)


@dataclass(frozen=True, slots=True)
class Shown:
    """Shares of sentences of one length.

    Args:
        values: `[shares, tokens, dim]`, of the share's own type: most tokens are alike for all candidates, and are never counted with.
        casing: int64 `[shares, tokens]`.
    """

    values: NDArray[np.floating]
    casing: NDArray[np.int64]

    @classmethod
    def of(cls, shared: RaggedSentences) -> Shown:
        """The sentences of a share, which must all be of one length."""
        count = shared.sentences
        return cls(
            np.asarray(shared.values).reshape(count, -1, shared.dim),
            shared.casing.astype(np.int64).reshape(count, -1),
        )


class _CommonNoise:
    """No output noise, and the same input noise for every sentence.

    A representer draws its input noise, then its output noise, for one batch of sentences after the other.
    """

    def __init__(self, inputs: NDArray[np.float32], dim: int, generator: np.random.Generator) -> None:
        self._inputs = inputs
        self._dim = dim
        self._generator = generator
        self._input_is_next = True

    def standard_normal(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        tokens, width = self._inputs.shape
        expected = width if self._input_is_next else self._dim
        if len(shape) != 2 or shape[1] != expected or shape[0] % tokens:
            raise ModelError(
                f"expected to draw noise [k * {tokens}, {expected}], was asked for {list(shape)}; "
                "attack this encoder with exact_means=False"
            )
        noise = np.tile(self._inputs, (shape[0] // tokens, 1)) if self._input_is_next else np.zeros(shape, np.float32)
        self._input_is_next = not self._input_is_next
        return noise

    def random(self, shape: tuple[int, ...]) -> Floats:
        """Uniform numbers, for what a construction draws other than noise."""
        return self._generator.random(shape)


class ReleaseModel:
    """An attacker's model of a release.

    Args:
        encoder: the release.
        draws: shares that the attacker makes of each candidate where the release is random.
        seed: of the attacker's own draws.
        exact_means: whether the noise of a Gaussian representer is taken out.
    """

    def __init__(self, encoder: SharingEncoder, *, draws: int, seed: int, exact_means: bool = True) -> None:
        self.encoder = encoder
        self.draws = draws
        self._seed = seed
        self._generator = torch.Generator().manual_seed(seed)
        known: tuple[Floats | None, int] | None = encoder.gaussian_noise if exact_means else None
        self._scale, self._inputs = known or (None, 0)

    @property
    def knows_means(self) -> bool:
        """Whether the noise is Gaussian and could be taken out."""
        return self._scale is not None

    def show(self, candidates: Candidates) -> Shown:
        """A share of each sentence, all noise in it."""
        return Shown.of(draw_share(self.encoder, candidates.chunk(), self._generator))

    def log_likelihoods(self, candidates: Candidates, observed: Shown) -> Floats:
        """Log-likelihood of every share under every candidate, `[candidates, shares]`, up to a constant of the share."""
        values_fixed, casing_fixed = self._fixed(candidates)
        pieces: list[Floats] = []
        prior: _Prior | None = None
        for block in candidates.blocks():
            draws = self._draws(block, 1 if values_fixed and casing_fixed else self.draws)
            prior = prior or _Prior.of(draws, self._scale, values_fixed, casing_fixed)
            pieces.append(prior.log_likelihoods(draws, observed))
        return np.concatenate(pieces)

    def _fixed(self, candidates: Candidates) -> tuple[bool, bool]:
        """Whether a sentence always gets the same values, and the same casing."""
        probe = self.show(Candidates([candidates.sentences[0]] * _PROBES, candidates.tags))
        values = probe.values.astype(np.float64)
        return bool((np.ptp(values, axis=0) < _SAME).all()), bool((probe.casing == probe.casing[0]).all())

    def _draws(self, block: Candidates, count: int) -> list[Shown]:
        if self._scale is None:
            return [self.show(block) for _ in range(count)]
        # The same for every block and every call: what is common to candidates can't hide what tells them apart.
        generator = np.random.default_rng((self._seed, len(block.tags)))
        shape = (len(block.tags), self._inputs)
        chunk = block.chunk()
        draws = []
        for child in generator.spawn(count):
            inputs = child.standard_normal(shape, dtype=np.float32)
            draws.append(Shown.of(self.encoder.rehearse_share(chunk, _CommonNoise(inputs, len(self._scale), child))))
        return draws


@dataclass(frozen=True)
class _Prior:
    """What all candidates have in common.

    Args:
        variance: float64 `[tokens, dim]`, within a candidate.
        counted: bool `[tokens]`, whose rows come from few values.
        scale: of the output noise that was taken out of the draws, if any.
        casing_fixed: whether the release gives a sentence the same casing every time.
    """

    variance: Floats
    counted: NDArray[np.bool_]
    scale: Floats | None
    casing_fixed: bool

    @classmethod
    def of(cls, draws: list[Shown], scale: Floats | None, values_fixed: bool, casing_fixed: bool) -> _Prior:
        _, tokens, dim = draws[0].values.shape
        counted = np.zeros(tokens, dtype=np.bool_)
        variance = np.zeros((tokens, dim))
        if values_fixed or len(draws) < 2:
            return cls(variance, counted, scale, casing_fixed)
        differing = _differing(draws)
        variance[differing] = _variances(_of_tokens(draws, differing)).mean(0)
        if scale is None:
            for token in np.flatnonzero(variance.max(1) > 0).tolist():
                rows = np.concatenate([draw.values[:, token] for draw in draws])
                counted[token] = len(np.unique(_codes(rows))) < _CONTINUOUS * len(rows)
        return cls(variance, counted, scale, casing_fixed)

    def log_likelihoods(self, draws: list[Shown], observed: Shown) -> Floats:
        """`[candidates, shares]`."""
        total = self._gaussian(draws, observed)
        for token in np.flatnonzero(self.counted).tolist():
            rows = np.concatenate([observed.values[:, token], *(draw.values[:, token] for draw in draws)])
            codes = np.unique(_codes(rows), return_inverse=True)[1]
            shares = len(observed.values)
            total += _counted(codes[shares:].reshape(len(draws), -1), codes[:shares], 1.0)
        weight = _CERTAIN if self.casing_fixed else 1.0
        for token in range(observed.casing.shape[1]):
            drawn = np.stack([draw.casing[:, token] for draw in draws])
            total += _counted(drawn, observed.casing[:, token], weight)
        return total

    def _gaussian(self, draws: list[Shown], observed: Shown) -> Floats:
        """Log-likelihood of the tokens that are not counted, as if their values were independent and Gaussian."""
        free, differing = ~self.counted, _differing(draws)
        # What is the same for all candidates is computed for one: most of a sentence, where a token shows nothing of its neighbours.
        alike = [Shown(draw.values[:1], draw.casing[:1]) for draw in draws]
        return self._gaussian_of(draws, observed, free & differing) + self._gaussian_of(
            alike, observed, free & ~differing
        )

    def _gaussian_of(self, draws: list[Shown], observed: Shown, tokens: NDArray[np.bool_]) -> Floats:
        """That of some tokens."""
        drawn, count = _of_tokens(draws, tokens), len(draws)
        means = sum(drawn[1:], drawn[0]) / count
        variance = np.broadcast_to(self.variance[tokens], means.shape)
        if count > 1:
            variance = (_variances(drawn) * count + variance * _PRIOR_DRAWS) / (count + _PRIOR_DRAWS)
        if self.scale is not None:
            variance = variance + self.scale**2
        variance = np.maximum(variance, _SAME**2).reshape(len(means), -1)
        # Taken from one origin, so that the squares stay small.
        origin = means[0].copy()
        centred = (means - origin).reshape(len(means), -1)
        shares = (observed.values[:, tokens] - origin).reshape(len(observed.values), -1)
        distance = (
            (1 / variance) @ (shares**2).T
            - 2 * (centred / variance) @ shares.T
            + (centred**2 / variance).sum(1)[:, None]
        )
        result: Floats = -0.5 * (distance + np.log(variance).sum(1)[:, None])
        return result


def _differing(draws: list[Shown]) -> NDArray[np.bool_]:
    """Which tokens have another row in some draw of some candidate, `[tokens]`."""
    # Bytes are compared in a fraction of the time that half floats take.
    rows = [draw.values.view(f"u{draw.values.itemsize}") for draw in draws]
    differing: NDArray[np.bool_] = np.any([(drawn != rows[0][0]).any(axis=(0, 2)) for drawn in rows], axis=0)
    return differing


def _of_tokens(draws: list[Shown], tokens: NDArray[np.bool_]) -> list[Floats]:
    """Each draw's values of some tokens, `[candidates, tokens, dim]`."""
    return [draw.values[:, tokens].astype(np.float64) for draw in draws]


def _variances(draws: list[Floats]) -> Floats:
    """Variance over the draws, `[candidates, tokens, dim]`."""
    total = np.zeros_like(draws[0])
    squares = np.zeros_like(total)
    for values in draws:
        moved = values - draws[0]
        total += moved
        squares += moved**2
    count = len(draws)
    result: Floats = np.maximum(squares - total**2 / count, 0) / (count - 1)
    return result


def _codes(rows: Floats) -> NDArray[np.void]:
    """Each row as one value that is equal where the rows are, `[rows]`."""
    narrow = np.ascontiguousarray(rows.astype(np.float16) + np.float16(0))
    return narrow.view(np.dtype((np.void, narrow.dtype.itemsize * narrow.shape[1])))[:, 0]


def _counted(drawn: NDArray[np.int64], observed: NDArray[np.int64], weight: float) -> Floats:
    """Log-likelihood of observed values from how often each candidate gave them.

    Args:
        drawn: `[draws, candidates]`. observed: `[shares]`.
        weight: of one draw, against one pseudo-draw from all candidates together.
    """
    total = np.zeros((drawn.shape[1], len(observed)))
    for row in drawn:
        total += row[:, None] == observed[None, :]
    together = total.mean(0) / len(drawn)
    # What no candidate ever gave tells nothing.
    together[together == 0] = 1
    result: Floats = np.log((weight * total + together) / (weight * len(drawn) + 1))
    return result

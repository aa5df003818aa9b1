"""Known-plaintext match: a sentence is known but for one PHI word, and so is a list of words that it may be.

The attacker encodes the sentence with every candidate and asks which makes the observed share likeliest. Casing counts:
a candidate takes the casing of the true word where it can. Averaging is the same attack on several independent shares of
one sentence, as a hospital would hand out that encodes its notes anew.

One target a sentence, so that targets are nearly independent. Punctuation inside PHI is no target: it names nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shared.augment.pseudonyms import Pseudonymiser, is_punctuation
from shared.constructions.construction import OwnSet
from shared.document import Document
from shared.embeddings.neighbours import Neighbours
from shared.errors import ConfigurationError
from shared.labels import LabelScheme, tag_categories
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.scene import Scene
from shared.privacy.material.release_model import Candidates, Floats, ReleaseModel
from shared.privacy.material.sharing import SharingEncoder
from shared.privacy.statistics.finding import Finding, proportion
from shared.privacy.statistics.resampling import mean_interval
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks
from shared.text.casing import cased_like, casing_class

# Two candidates whose log-likelihoods differ by less are tied.
_TIE = 1e-6


@dataclass(frozen=True)
class MatchingSettings:
    """How the attack is run.

    Args:
        targets: PHI words attacked.
        candidates: how many words each may be, the true one among them; fewer where vocabulary or own set hold fewer.
        draws: shares that the attacker makes of each candidate.
        shares: independent shares of a sentence that the attacker averages over, one entry an attack.
        longest: sentences of more tokens are no targets.
        seed: of targets, draws and ties.
    """

    targets: int = 400
    candidates: int = 100
    draws: int = 16
    shares: tuple[int, ...] = (1, 10, 100)
    longest: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.targets, self.candidates - 1, self.draws, self.longest, *self.shares) < 1 or not self.shares:
            raise ConfigurationError("matching: expected targets, draws, shares and length from 1, candidates from 2")


@dataclass(frozen=True, slots=True, repr=False)
class Target:
    """One PHI word in its sentence.

    Args:
        words: of the sentence. These may be PHI: never log them.
        tags: uint8 `[tokens]`.
        place: of the PHI word.
        category: of it.
    """

    words: tuple[str, ...]
    tags: NDArray[np.uint8]
    place: int
    category: str

    def __repr__(self) -> str:
        return f"Target({self.category}, token {self.place} of {len(self.words)})"

    @property
    def word(self) -> str:
        """The true word. This is PHI: never log it."""
        return self.words[self.place]

    def candidates(self, words: Iterable[str]) -> Candidates:
        """The sentence with each of the words in the place of the true one."""
        before, after = self.words[: self.place], self.words[self.place + 1 :]
        return Candidates([(*before, word, *after) for word in words], self.tags)


def matching(
    encoder: SharingEncoder,
    documents: Iterable[Document],
    neighbours: Neighbours,
    settings: MatchingSettings,
    own_set: OwnSet | None = None,
) -> list[Finding]:
    """Attack PHI words among their nearest neighbours, and among the construction's own indistinguishability set.

    Args:
        encoder: the release.
        documents: labelled notes whose PHI is attacked.
        neighbours: public raw word vectors; the candidates are neighbours of the true word (for digits, digits).
        settings: how many of everything.
        own_set: None where the construction has no such set.

    Returns:
        For each kind of candidates and each number of shares: top-1 overall and per PHI type, and how far ahead of the
        false candidates the true word comes. Of neighbours the figures are called by the longest list that there was, where the
        vocabulary holds no longer one; of an own set by what was asked for, for a smaller one was looked through. A word that is alone in its own set has been found: whoever knows the release
        and sees which set is shown needs no more.
    """
    generator = np.random.default_rng(settings.seed)
    targets = phi_targets(documents, encoder.scheme, settings, generator)
    model = ReleaseModel(encoder, draws=settings.draws, seed=settings.seed)
    size = min(settings.candidates, len(neighbours.vectors))
    near = _NearestWords(neighbours, size, generator)
    # A word without neighbours has no list to be found in.
    listed = _attacked(model, targets, near, settings, generator)
    longest = min(settings.candidates, int(listed.sizes.max(initial=0)) or size)
    found = listed.findings("nearest neighbours", replace(settings, candidates=max(longest, 2)))
    if own_set is not None:
        own = _OwnWords(own_set, size, generator)
        found += _attacked(model, targets, own, settings, generator).findings("own set", settings, alone_is_found=True)
    return found


def phi_targets(
    documents: Iterable[Document], scheme: LabelScheme, settings: MatchingSettings, generator: np.random.Generator
) -> list[Target]:
    """A random PHI word of each of some random sentences."""
    found: list[Target] = []
    for chunk in tokenised_chunks(tokenise_documents(documents), scheme):
        for words, tags in chunk.split():
            if len(words) > settings.longest:
                continue
            places = [place for place in np.flatnonzero(tags).tolist() if not is_punctuation(words[place])]
            if places:
                place = int(generator.choice(places))
                found.append(Target(words, tags, place, scheme.categories[tag_categories(tags)[place]]))
    chosen = generator.permutation(len(found))[: settings.targets]
    return [found[index] for index in chosen.tolist()]


def true_rank(scores: Floats, truth: int, generator: np.random.Generator) -> int:
    """Rank of the true candidate from 1; among equals, by chance."""
    tie = _TIE + 1e-9 * abs(float(scores[truth]))
    ahead = int((scores > scores[truth] + tie).sum())
    equal = int((np.abs(scores - scores[truth]) <= tie).sum()) - 1
    return 1 + ahead + int(generator.integers(equal + 1))


class _NearestWords:
    """The nearest words of the public vocabulary, at most `size` with the true word; digits among digits."""

    def __init__(self, neighbours: Neighbours, size: int, generator: np.random.Generator) -> None:
        vocabulary = len(neighbours.vectors)
        # Some neighbours are one word in two casings, which are one candidate.
        self._source = Pseudonymiser(neighbours, min(size + size // 2 + 2, vocabulary))
        self._words = neighbours.vectors.words
        self._size = size
        self._generator = generator

    def __call__(self, word: str) -> list[str]:
        rows = self._source.candidates(word)
        if word.isdecimal():
            # Digits come in the order of the vocabulary, not by nearness.
            rows = self._generator.permutation(rows)
        return _others((self._words[row] for row in rows.tolist()), word, self._size)


class _OwnWords:
    """A random choice from the construction's own set, at most `size` with the true word."""

    def __init__(self, own_set: OwnSet, size: int, generator: np.random.Generator) -> None:
        self._own_set = own_set
        self._size = size
        self._generator = generator

    def __call__(self, word: str) -> list[str]:
        words = list(self._own_set(word))
        return _others((words[index] for index in self._generator.permutation(len(words)).tolist()), word, self._size)


def _others(words: Iterable[str], true: str, size: int) -> list[str]:
    """The first candidates in the casing of the true word, each once and not the true word itself."""
    others = (cased for word in words if (cased := cased_like(word, true)) != true)
    found: dict[str, None] = {}
    while len(found) < size - 1 and (other := next(others, None)) is not None:
        found[other] = None
    return list(found)


@dataclass(frozen=True)
class _Outcome:
    """Ranks of the true words.

    Args:
        ranks: int64 `[targets, attacks]`, from 1. sizes: int64 `[targets]`. categories: of each target.
        alike: candidates of the true word's casing class, itself among them, int64 `[targets]`.
        alone: categories of further targets that had no other candidate.
        knowledge: of the attacker.
    """

    ranks: NDArray[np.int64]
    sizes: NDArray[np.int64]
    categories: NDArray[np.str_]
    alike: NDArray[np.int64]
    alone: NDArray[np.str_]
    knowledge: str

    def findings(self, kind: str, settings: MatchingSettings, *, alone_is_found: bool = False) -> list[Finding]:
        rng = np.random.default_rng((settings.seed, 1))
        size = settings.candidates
        found: list[Finding] = []
        for column, shares in enumerate(settings.shares):
            name = f"of {size}, {kind}, {shares} share{'s' if shares > 1 else ''}"
            first, sizes, categories = self.ranks[:, column] == 1, self.sizes, self.categories
            if alone_is_found:
                # Without a share nobody knows that the set is so small.
                first = np.append(first, np.ones(len(self.alone), dtype=np.bool_))
                sizes = np.append(sizes, np.full(len(self.alone), size))
                categories = np.append(categories, self.alone)
            for category in ("", *map(str, np.unique(categories))):
                chosen = categories == category if category else np.ones(len(first), dtype=np.bool_)
                hits, total = int(first[chosen].sum()), int(chosen.sum())
                chance = float((1 / sizes[chosen]).mean()) if total else None
                measure = f"top-1 {name}" + (f", {category}" if category else "")
                found.append(proportion("match", measure, hits, total, chance, self.knowledge, settings.seed, category))
            behind = (self.sizes - self.ranks[:, column]) / (self.sizes - 1)
            interval = mean_interval(behind, rng)
            mean = float(behind.mean()) if len(behind) else 0.0
            measure = f"false candidates behind the true one {name}"
            found.append(Finding("match", measure, mean, 0.5, interval, len(behind), self.knowledge, settings.seed))
        behind = 1 - (self.alike - 1) / 2 / (self.sizes - 1)
        known = "the list, and the casing class of the true word"
        for measure, values, chances in (
            ("top-1", 1 / self.alike, 1 / self.sizes),
            ("false candidates behind the true one", behind, np.full(len(behind), 0.5)),
        ):
            if len(values):
                measure = f"expected {measure} of {size}, {kind}, by casing alone"
                value, chance = float(values.mean()), float(chances.mean())
                interval = mean_interval(values, rng)
                found.append(Finding("match", measure, value, chance, interval, len(values), known, settings.seed))
        if alone := len(self.alone):
            total, measure = alone + len(self.sizes), f"alone in its {kind}"
            found.append(proportion("match", measure, alone, total, 0.0, self.knowledge, settings.seed))
        return found


def _attacked(
    model: ReleaseModel,
    targets: Sequence[Target],
    candidates: Callable[[str], list[str]],
    settings: MatchingSettings,
    generator: np.random.Generator,
) -> _Outcome:
    ranks: list[list[int]] = []
    sizes: list[int] = []
    categories: list[str] = []
    alike: list[int] = []
    alone: list[str] = []
    for target in targets:
        words = candidates(target.word)
        if not words:
            alone.append(target.category)
            continue
        truth = int(generator.integers(len(words) + 1))
        words.insert(truth, target.word)
        observed = model.show(target.candidates([target.word] * max(settings.shares)))
        summed = np.cumsum(model.log_likelihoods(target.candidates(words), observed), axis=1)
        ranks.append([true_rank(summed[:, shares - 1], truth, generator) for shares in settings.shares])
        sizes.append(len(words))
        categories.append(target.category)
        alike.append(sum(casing_class(word) == casing_class(target.word) for word in words))
    means = "exact means of the noise" if model.knows_means else f"{model.draws} own shares of each candidate"
    return _Outcome(
        np.array(ranks, dtype=np.int64).reshape(-1, len(settings.shares)),
        np.array(sizes, dtype=np.int64),
        np.array(categories, dtype=np.str_),
        np.array(alike, dtype=np.int64),
        np.array(alone, dtype=np.str_),
        f"release, the sentence but for one word, a list that holds it, casing; {means}",
    )


class Match(Attack[MatchingSettings]):
    """Which of a list of words is the one that is not known of a sentence."""

    name = "match"
    key = "matching"
    quick = (MatchingSettings(targets=200, draws=6, shares=(1, 100)),)
    full = (
        MatchingSettings(targets=500),
        MatchingSettings(targets=60, candidates=10_000, draws=8, shares=(1,), longest=30),
    )
    finds = ("match",)
    repeatable = True

    def run(self, scene: Scene, settings: MatchingSettings) -> list[Finding]:
        """See `matching`."""
        return matching(scene.encoder, scene.material.target, scene.pseudonyms.neighbours, settings, scene.own_set)

    def gaps(self, rounds: tuple[MatchingSettings, ...]) -> list[str]:
        """The longest list of a full audit, where no round is among as many."""
        longest = max(one.candidates for one in self.full)
        if any(one.candidates == longest for one in rounds):
            return []
        return [f"match among {longest:,} candidates: part of the full audit only"]

    def as_json(self, rounds: tuple[MatchingSettings, ...]) -> dict[str, object]:
        """A list, one entry a round."""
        return {self.key: [asdict(one) for one in rounds]}


MATCH = Match()

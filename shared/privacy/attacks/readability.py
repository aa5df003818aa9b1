"""Readability: which words that are not PHI does an attacker read off a share?

They are shown so that a tagger can learn from them; still a diagnosis, a village or a trade that few people have may
tell who it is. So the figure that counts is that of the RARE words. Three ways to read, of which the attacker takes the
one that did best on sentences of their own:

- look-up: where the release gives a word the same row wherever it stands, or one near labelled PHI and another elsewhere, the rows
  of all public words are made by encoding each alone and beside a labelled word; a row of the share then names the words that give
  it, and the attacker says the most frequent of them;
- network: the word guesser of token inversion, which uses the context;
- both: the network chooses among the words that give the row.

A word that the attacker has never seen and that the public vocabulary does not hold counts as not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from shared.augment.pseudonyms import is_punctuation
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, EvaluationError, TrainingError
from shared.privacy.attacks.attack import Attack
from shared.privacy.attacks.scene import Scene
from shared.privacy.inversion.model import Candidates, GuesserSettings, Sight
from shared.privacy.inversion.ranking import ranks
from shared.privacy.inversion.training import fit
from shared.privacy.material.sharing import SharingEncoder, draw_share, spread
from shared.privacy.statistics.finding import Finding, proportion
from shared.progress import Progress, silent
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences

ATTACK = "readability"
_KNOWLEDGE = "the release; labelled notes of the attacker's own and the frequencies of their words; the share"
_VALIDATION_SHARE = 0.1
_VALIDATION_SENTENCES = 150
_BLOCK_WORDS = 1 << 15


@dataclass(frozen=True)
class ReadabilitySettings:
    """How hard the attacker tries, and which words are told apart.

    Args:
        guesser: of the network, with the seed of the attack.
        judged: sentences of the test, at most.
        bands: lower ends of the bands of public frequency, ascending from 0.
        rare: a word of lower public frequency is rare.
        content_letters: a content word has so many letters at least.
        commonest: so many of the words that are most frequent in public are no content words.
    """

    guesser: GuesserSettings = field(default_factory=lambda: GuesserSettings(epochs=4, vocabulary=8000))
    judged: int = 1000
    bands: tuple[int, ...] = (0, 1, 5, 20, 100, 1000)
    rare: int = 5
    content_letters: int = 4
    commonest: int = 200

    def __post_init__(self) -> None:
        ascending = all(low < high for low, high in pairwise(self.bands))
        if (
            min(self.judged, self.rare, self.content_letters) < 1
            or self.commonest < 0
            or self.bands[:1] != (0,)
            or not ascending
        ):
            raise ConfigurationError(
                "readability: expected judged, rare and letters of at least 1 and bands ascending from 0"
            )


def readability(
    encoder: SharingEncoder,
    vectors: WordVectors,
    known: TokenisedSentences,
    target: TokenisedSentences,
    settings: ReadabilitySettings,
    *,
    public: Mapping[str, int] | None = None,
    progress: Progress = silent,
) -> list[Finding]:
    """Learn to read words that are not PHI on the attacker's notes, and read those of others.

    Args:
        encoder: what is attacked.
        vectors: public word vectors; their words can be guessed too.
        known: the attacker's labelled sentences.
        target: sentences of other documents.
        settings: how hard to try.
        public: how often each word occurs in public text; by default in the attacker's notes.
        progress: called after every epoch.

    Returns:
        the share that is read of all words, of content words, of rare ones of both and of each band of public frequency, beside the
        share that an attacker gets who always says the commonest word; then the share of rows that name a single word.

    Raises:
        TrainingError, EvaluationError: no words to learn from, or to judge on.
    """
    generator = np.random.default_rng(settings.guesser.seed)
    if known.sentences < 2:
        raise TrainingError(f"expected sentences to learn from, got {known.sentences}; give more notes")
    held = max(1, min(int(known.sentences * _VALIDATION_SHARE), _VALIDATION_SENTENCES))
    rows = generator.permutation(known.sentences - held)[: settings.guesser.sentences]
    learning = known.select(np.sort(rows))
    validation = known.select(np.arange(known.sentences - held, known.sentences))
    judged = target.select(np.sort(generator.permutation(target.sentences)[: settings.judged]))
    if not len(_targets(learning)) or not len(_targets(judged)):
        raise EvaluationError("expected words that are no PHI to learn from and to judge on, got none; give more notes")
    frequency = Counter(known.words) if public is None else public
    reader = _Reader(encoder, vectors, learning, validation, frequency, settings.guesser, progress)
    return _findings(judged, reader, frequency, settings)


def _targets(chunk: TokenisedSentences) -> NDArray[np.int64]:
    """Indices of the tokens that are neither PHI nor punctuation."""
    places = [place for place in np.flatnonzero(chunk.tags == 0).tolist() if not is_punctuation(chunk.words[place])]
    return np.array(places, dtype=np.int64)


class _Reader:
    """All that the attacker has learned, and the way to read that did best."""

    def __init__(
        self,
        encoder: SharingEncoder,
        vectors: WordVectors,
        learning: TokenisedSentences,
        validation: TokenisedSentences,
        frequency: Mapping[str, int],
        settings: GuesserSettings,
        progress: Progress,
    ) -> None:
        self.encoder = encoder
        self.noise = torch.Generator().manual_seed(settings.seed)
        seen = [learning.words[place] for place in _targets(learning).tolist()]
        self.candidates = Candidates.of(seen, vectors, settings.vocabulary)
        self.scale = spread(draw_share(encoder, learning, self.noise).values)
        counts = np.array([frequency.get(word, 0) for word in self.candidates.words])
        # The rows of words as they stand alone come first: those near PHI are asked for what these do not name.
        self.listed = [_Rows.of(encoder, self.candidates.words, counts, self.noise, near) for near in (False, True)]
        self.network = fit(
            lambda: [self.look(learning)[0]],
            [self.look(validation)[0]],
            len(encoder.scheme.tags),
            self.candidates,
            settings,
            progress,
        )
        read = self.read(validation)
        # The first of the best: the simplest.
        self.way = max(read, key=lambda way: float(read[way].sum()))

    def look(self, chunk: TokenisedSentences) -> tuple[Sight, list[NDArray[np.int64]]]:
        """The sentences as the network gets them, and the group of words that each target's row names in each list, -1 for none.

        No target is named in two lists.
        """
        share = draw_share(self.encoder, chunk, self.noise)
        targets = _targets(chunk)
        answers = self.candidates.ids([chunk.words[place] for place in targets.tolist()])
        keys = _keys(share.values[targets], share.casing[targets])
        alone, near = (np.array([rows.table.get(key, -1) for key in keys], dtype=np.int64) for rows in self.listed)
        values = share.values.astype(np.float32) / self.scale
        sight = Sight(RaggedSentences(values, share.casing, chunk.tags, share.lengths), targets, answers)
        return sight, [alone, np.where(alone < 0, near, -1)]

    def read(self, chunk: TokenisedSentences) -> dict[str, NDArray[np.float64]]:
        """With which chance each target is read, in each way."""
        sight, named = self.look(chunk)
        network = ranks(self.network, [sight], self.candidates).chance_within(1)
        if not any(rows.table for rows in self.listed):
            return {"network": network}
        guess = np.full(len(network), -2)
        both = network.copy()
        for rows, groups in zip(self.listed, named, strict=True):
            known = groups >= 0
            if known.any():
                guess = np.where(known, rows.commonest[groups], guess)
                within = ranks(self.network, [sight], self.candidates, groups=(rows.groups, groups)).chance_within(1)
                both = np.where(known, within, both)
        return {"look-up": (guess == sight.answers).astype(np.float64), "network": network, "look-up and network": both}


@dataclass(frozen=True, repr=False)
class _Rows:
    """Which words each row names, of words that stand alone or beside a labelled one; empty where a word's row changes from share to share.

    Args:
        groups: of each candidate, of those that give the same row, int64 `[candidates]`.
        table: group of each row.
        commonest: most frequent candidate of each group, int64 `[groups]`.
    """

    groups: NDArray[np.int64]
    table: dict[bytes, int]
    commonest: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        encoder: SharingEncoder,
        words: tuple[str, ...],
        counts: NDArray[np.int64],
        noise: torch.Generator,
        near: bool,
    ) -> _Rows:
        """Encode every candidate, twice."""
        groups = np.empty(len(words), dtype=np.int64)
        table: dict[bytes, int] = {}
        for begin in range(0, len(words), _BLOCK_WORDS):
            part = words[begin : begin + _BLOCK_WORDS]
            chunk = _beside_phi(part) if near else TokenisedSentences.single_words(part)
            shares = [draw_share(encoder, chunk, noise) for _ in range(2)]
            once, again = (share.values[share.starts] for share in shares)
            if not np.array_equal(once, again):
                nothing = np.zeros(len(words), dtype=np.int64)
                return cls(nothing, {}, nothing)
            keys = _keys(once, shares[0].casing[shares[0].starts])
            groups[begin : begin + len(part)] = [table.setdefault(key, len(table)) for key in keys]
        return cls(groups, table, _commonest(groups, counts))


def _beside_phi(words: tuple[str, ...]) -> TokenisedSentences:
    """Each word in a sentence of its own, ahead of a word that is labelled."""
    return TokenisedSentences(
        [part for word in words for part in (word, word)],
        np.tile(np.array([0, 1], dtype=np.uint8), len(words)),
        np.full(len(words), 2, dtype=np.int64),
    )


def _keys(values: NDArray[np.floating], casing: NDArray[np.uint8]) -> list[bytes]:
    """What a share shows of each token, as a key; adding zero turns -0 into 0."""
    whole = np.concatenate([values.astype(np.float16) + np.float16(0), casing[:, None].astype(np.float16)], axis=1)
    return [row.tobytes() for row in whole]


def _commonest(groups: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most frequent word of each group; the first among equals."""
    order = np.lexsort((np.arange(len(groups)), -counts, groups))
    _, first = np.unique(groups[order], return_index=True)
    return order[first]


def _findings(
    judged: TokenisedSentences, reader: _Reader, frequency: Mapping[str, int], settings: ReadabilitySettings
) -> list[Finding]:
    words = [judged.words[place] for place in _targets(judged).tolist()]
    count = np.array([frequency.get(word, 0) for word in words])
    read = reader.read(judged)
    commonest = max(
        (word for word in frequency if not is_punctuation(word)), key=lambda word: frequency[word], default=""
    )
    guessed = np.array([word == commonest for word in words])
    seed = settings.guesser.seed
    every = np.ones(len(words), dtype=np.bool_)
    content, rare = _are_content(words, frequency, settings), f"public frequency below {settings.rare}"
    parts = {
        "all words": every,
        "content words": content,
        f"rare words, {rare}": count < settings.rare,
        f"rare content words, {rare}": content & (count < settings.rare),
    }
    for low, high in pairwise((*settings.bands, None)):
        name = f"public frequency from {low}" + ("" if high is None else f" to {high - 1}")
        parts[name] = (count >= low) & (every if high is None else count < high)
    findings = []
    for name, part in parts.items():
        size, chance = int(part.sum()), float(guessed[part].mean()) if part.any() else 0.0
        hits = round(float(read[reader.way][part].sum()))
        findings.append(proportion(ATTACK, f"top-1 by {reader.way}, {name}", hits, size, chance, _KNOWLEDGE, seed))
    for way, hit in read.items():
        if way != reader.way:
            chance = float(guessed.mean())
            findings.append(
                proportion(
                    ATTACK, f"top-1 by {way}, all words", round(float(hit.sum())), len(hit), chance, _KNOWLEDGE, seed
                )
            )
    return [*findings, *_single(reader, judged, seed)]


def _are_content(words: list[str], frequency: Mapping[str, int], settings: ReadabilitySettings) -> NDArray[np.bool_]:
    """Which words say what a note is about: long enough, of letters, and not among the commonest in any casing."""
    folded: Counter[str] = Counter()
    for word, count in frequency.items():
        if word.isalpha():
            folded[word.lower()] += count
    common = {word for word, _ in folded.most_common(settings.commonest)}
    return np.array(
        [len(word) >= settings.content_letters and word.isalpha() and word.lower() not in common for word in words]
    )


def _single(reader: _Reader, judged: TokenisedSentences, seed: int) -> list[Finding]:
    """The share of tokens whose row names one word and no other."""
    if not any(rows.table for rows in reader.listed):
        return []
    _, named = reader.look(judged)
    alone = np.zeros(len(named[0]), dtype=np.bool_)
    for rows, groups in zip(reader.listed, named, strict=True):
        alone |= (np.bincount(rows.groups) == 1)[np.maximum(groups, 0)] & (groups >= 0)
    measure = "tokens whose row belongs to a single public word"
    return [proportion(ATTACK, measure, int(alone.sum()), len(alone), 0.0, _KNOWLEDGE, seed)]


class Readability(Attack[ReadabilitySettings]):
    """Which words that are not PHI can be read."""

    name = ATTACK
    key = "readability"
    quick = (ReadabilitySettings(GuesserSettings(epochs=2, sentences=2000, vocabulary=4000, hidden=64), judged=500),)
    full = (ReadabilitySettings(),)
    finds = (ATTACK,)
    unlimited = "words that are not PHI are shown on purpose, so that a tagger can learn from them"

    def run(self, scene: Scene, settings: ReadabilitySettings) -> list[Finding]:
        """See `readability`."""
        vectors, progress = scene.material.vectors, scene.progress
        return readability(scene.encoder, vectors, scene.known, scene.target, settings, progress=progress)

    def with_seed(self, settings: ReadabilitySettings, seed: int) -> ReadabilitySettings:
        """The seed is that of the network."""
        return replace(settings, guesser=replace(settings.guesser, seed=seed))


READABILITY = Readability()

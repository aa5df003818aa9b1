"""What an attacker is told of a sentence, and what public notes tell besides: which words are facts, and which stand together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from shared.errors import ConfigurationError
from shared.sentences.tokenised import TokenisedSentences

Floats: TypeAlias = NDArray[np.float64]

_EVER_TOGETHER = 100


@dataclass(frozen=True)
class AttributeSettings:
    """How attribute inference is run.

    Args:
        targets: sentences that something is known of.
        known: words outside PHI that the attacker knows of each; of its PHI, all.
        candidates: words of the list, the true one among them.
        common: so many of the commonest words of the attacker's notes are no facts.
        letters: a shorter word is none either.
        seed: of sentences, lists and ties.
    """

    targets: int = 1000
    known: int = 3
    candidates: int = 100
    common: int = 200
    letters: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.targets, self.known, self.candidates - 1, self.letters, self.common + 1) < 1:
            raise ConfigurationError("attribute inference: expected every setting from 1, candidates from 2")


@dataclass(frozen=True, slots=True, repr=False)
class Told:
    """What is known of a sentence, and what is asked for.

    Args:
        sentence: its place in the share, which the attacker does not know.
        words: known ones outside PHI, in lower case. These may tell a patient: never log them.
        phi: places of its labelled tokens, all known.
        listed: the words to choose from. truth: place of the true one.
    """

    sentence: int
    words: tuple[str, ...]
    phi: tuple[int, ...]
    listed: tuple[str, ...]
    truth: int

    def __repr__(self) -> str:
        return f"Told({len(self.words)} words and {len(self.phi)} tokens of PHI of sentence {self.sentence})"


class PublicFacts:
    """Words that are facts in public notes.

    Args:
        public: sentences of the attacker's notes.
        settings: of the attack.

    Raises:
        ConfigurationError: there are too few such words for a list.
    """

    def __init__(self, public: TokenisedSentences, settings: AttributeSettings) -> None:
        self._settings = settings
        lowered = (word.lower() for word in public.words)
        self._common = {word for word, _ in Counter(filter(str.isalpha, lowered)).most_common(settings.common)}
        self._sentences: dict[str, set[int]] = {}
        for sentence, words in self._facts(public):
            for word in words:
                self._sentences.setdefault(word, set()).add(sentence)
        self._words = list(self._sentences)
        if len(self._words) < settings.candidates + settings.known:
            raise ConfigurationError(
                f"attribute inference: expected at least {settings.candidates + settings.known} different words to list in "
                f"the attacker's notes, got {len(self._words)}; give more notes"
            )
        counts = np.array([len(self._sentences[word]) for word in self._words], dtype=np.float64)
        self._chances = counts / counts.sum()

    def draw(self, chunk: TokenisedSentences, generator: np.random.Generator) -> list[Told]:
        """What is known of some sentences, by chance.

        Raises:
            ConfigurationError: no sentence has facts enough.
        """
        known = self._settings.known
        enough = [(sentence, words) for sentence, words in self._facts(chunk) if len(words) > known]
        if not enough:
            raise ConfigurationError(
                f"attribute inference: expected sentences with {known + 1} words that are facts, got none; give more notes"
            )
        drawn = []
        for index in generator.permutation(len(enough))[: self._settings.targets].tolist():
            sentence, words = enough[index]
            *told, secret = [words[place] for place in generator.permutation(len(words))[: known + 1].tolist()]
            listed = self._list(secret, told, generator)
            start = int(chunk.starts[sentence])
            phi = np.flatnonzero(chunk.tags[start : start + int(chunk.lengths[sentence])]) + start
            drawn.append(Told(sentence, tuple(told), tuple(phi.tolist()), tuple(listed), listed.index(secret)))
        return drawn

    def together(self, told: Told) -> Floats:
        """How much likelier each listed word stands beside the known ones in public notes than by chance, in logarithms `[listed]`."""
        beside = [self._sentences.get(word, set()) for word in told.words]
        own = [self._sentences.get(word, set()) for word in told.listed]
        return np.array(
            [sum(np.log1p(_EVER_TOGETHER * len(here & one) / (1 + len(one))) for here in beside) for one in own]
        )

    def _list(self, secret: str, told: Sequence[str], generator: np.random.Generator) -> list[str]:
        """The true word among others, drawn as often as public notes have them; none that is known already."""
        # Two of the words drawn may be the secret or known.
        size = min(len(self._words), self._settings.candidates + len(told))
        others = [
            self._words[index] for index in generator.choice(len(self._words), size, False, self._chances).tolist()
        ]
        listed = [word for word in others if word != secret and word not in told][: self._settings.candidates - 1]
        listed.insert(int(generator.integers(len(listed) + 1)), secret)
        return listed

    def _facts(self, chunk: TokenisedSentences) -> Iterator[tuple[int, list[str]]]:
        """The different facts of each sentence."""
        for sentence, (words, tags) in enumerate(chunk.split()):
            outside = (word.lower() for word, tag in zip(words, tags.tolist(), strict=True) if not tag)
            yield sentence, list(dict.fromkeys(filter(self._is_fact, outside)))

    def _is_fact(self, word: str) -> bool:
        return len(word) >= self._settings.letters and word.isalpha() and word not in self._common

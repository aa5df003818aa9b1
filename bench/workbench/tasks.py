"""Two tasks on what fragments leave of notes: telling a specialty, and guessing the next word (Ignashina and Ive 2024, section 4.3).

The models are those that need no download: naive Bayes on words and pairs of words, and an interpolated model of three words. Each side is trained on its own kind of
text and tested on the same whole notes. Naive Bayes takes as many test notes for cases as the training notes have, so no side is tuned.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from shared.text.tokens import tokenise

Words = list[str]
PROMPT = 5


@dataclass(frozen=True)
class NextWord:
    """Of the word behind the first five of a sentence.

    Args:
        accuracy: how often the likeliest is the true one.
        probability: of the true one, on average.
        asked: sentences.
    """

    accuracy: float
    probability: float
    asked: int


def words_of(text: str) -> list[Words]:
    """The sentences of a text as words in lower case, without numbers and marks."""
    tokens = tokenise(text)
    folded = [word.lower() for word in tokens.words]
    return [[word for word in folded[first:end] if word.isalpha()] for first, end in tokens.sentences()]


class NaiveBayes:
    """Multinomial, over words and pairs of words, with add-one smoothing.

    Args:
        cases, controls: texts of the two classes, as sentences.
    """

    def __init__(self, cases: Iterable[Sequence[Words]], controls: Iterable[Sequence[Words]]) -> None:
        self._sides = [Counter(term for text in side for term in _terms(text)) for side in (cases, controls)]
        self._known = self._sides[0].keys() | self._sides[1].keys()
        self._totals = [side.total() + len(self._known) for side in self._sides]

    def score(self, text: Sequence[Words]) -> float:
        """Log odds of a case for a term of the text, on average."""
        terms = [term for term in _terms(text) if term in self._known]
        odds = math.log(self._totals[1] / self._totals[0])
        said = sum(math.log((self._sides[0][term] + 1) / (self._sides[1][term] + 1)) + odds for term in terms)
        return said / max(len(terms), 1)


def f1_of_ranking(scores: Sequence[float], truth: Sequence[bool], share: float) -> float:
    """F1 where the highest scores are taken for cases.

    Args:
        scores: of test notes.
        truth: which are cases.
        share: of notes that are taken for cases.
    """
    taken = sorted(range(len(scores)), key=lambda place: -scores[place])[: round(share * len(scores))]
    hits = sum(truth[place] for place in taken)
    return 2 * hits / max(len(taken) + sum(truth), 1)


class Trigrams:
    """Words by the two ahead of them, mixed with shorter contexts as far as these were seen (Witten and Bell 1991).

    Args:
        texts: as sentences.
    """

    def __init__(self, texts: Iterable[Sequence[Words]]) -> None:
        self._behind: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for text in texts:
            for words in text:
                for place, word in enumerate(words):
                    for length in range(min(place, 2) + 1):
                        self._behind[tuple(words[place - length : place])][word] += 1

    def probability(self, context: Sequence[str], word: str) -> float:
        """Of a word behind others; all words that were never seen have that of one together."""
        found = 1 / (len(self._behind.get((), ())) + 1)
        for length in range(3):
            counts = self._behind.get(tuple(context[len(context) - length :]))
            if counts:
                seen, kinds = counts.total(), len(counts)
                found = (counts[word] + kinds * found) / (seen + kinds)
        return found

    def likeliest(self, context: Sequence[str]) -> str:
        """The word that is expected behind others."""
        candidates = [
            word
            for length in range(3)
            for word, _ in self._behind.get(tuple(context[len(context) - length :]), Counter()).most_common(20)
        ]
        return max(candidates, key=lambda word: self.probability(context, word), default="")

    def test(self, texts: Iterable[Sequence[Words]]) -> NextWord:
        """Held against the sixth word of the sentences of other texts."""
        sentences = [words for text in texts for words in text if len(words) > PROMPT]
        right, probability = 0, 0.0
        for words in sentences:
            context, true = words[:PROMPT], words[PROMPT]
            right += self.likeliest(context) == true
            probability += self.probability(context, true)
        asked = max(len(sentences), 1)
        return NextWord(right / asked, probability / asked, len(sentences))


def _terms(text: Sequence[Words]) -> Iterable[str]:
    for words in text:
        yield from words
        yield from map(" ".join, pairwise(words))

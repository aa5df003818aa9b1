"""Context augmentation (Yue and Zhou 2020, section 2): synonyms, and inserted adverbs and adjectives, around PHI.

Nouns, verbs, adjectives and adverbs that are no stop words give way to synonyms of WordNet; adverbs are inserted in front of verbs and adjectives,
adjectives in front of nouns. The paper says neither how many nor how a part of speech is found: here a word is what WordNet's
texts have it as most often, unless the word ahead of it says otherwise, and a copy changes about one eligible word in seven.

What has a label, or no label that anybody knows, stays. What is put in is in small letters in WordNet, so it is no name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random

from shared.augment.augmentation import Edited
from shared.augment.wordnet import PartOfSpeech, Reading, WordNet

SYNONYMS, INSERTIONS = 0.15, 0.05
_SHORTEST = 3
# An inserted word is one that texts use.
_LEAST_COUNT = 5
_MODIFIER = {
    PartOfSpeech.NOUN: PartOfSpeech.ADJECTIVE,
    PartOfSpeech.VERB: PartOfSpeech.ADVERB,
    PartOfSpeech.ADJECTIVE: PartOfSpeech.ADVERB,
}
_BEFORE_NOUN = frozenset("the a an his her their its my our your this that these those of with without".split())
_BEFORE_VERB = frozenset(
    "to will would can could should may might must he she they we i you who did does do not".split()
)
_STOP_WORDS = frozenset(
    """
    about above after again all and any are because been before being below between both but can could did does doing down during each few
    for from further had has have having her here hers him his how into its itself just may might more most must nor not now off once only
    other our ours out over own per same shall she should some such than that the their them then there these they this those through too
    under until upon very was were what when where which while who whom why will with would you your yes also however therefore thus
    within without either neither via etc one two three four five six seven eight nine ten
    """.split()
)


@dataclass(frozen=True)
class Context:
    """Changes words around PHI.

    Args:
        wordnet: whose synonyms are used.
        synonyms: chance of an eligible word to give way, in [0, 1].
        insertions: chance that another is put ahead of it.
    """

    wordnet: WordNet
    synonyms: float = SYNONYMS
    insertions: float = INSERTIONS

    def __call__(self, words: list[str], tags: list[int], chance: Random) -> Edited:
        """See Edit."""
        new_words: list[str] = []
        new_tags: list[int] = []
        for place, (word, tag) in enumerate(zip(words, tags, strict=True)):
            reading = None if tag or not _is_eligible(word, place) else self._read(word, words[place - 1 : place])
            if reading is not None:
                modifiers = self._modifiers.get(_MODIFIER.get(reading.part, reading.part), ())
                if modifiers and reading.part in _MODIFIER and chance.random() < self.insertions:
                    new_words.append(_written_like(chance.choice(modifiers), word, first=False))
                    new_tags.append(0)
                word = self._replaced(word, reading, place, chance)
            new_words.append(word)
            new_tags.append(tag)
        return new_words, new_tags

    def _replaced(self, word: str, reading: Reading, place: int, chance: Random) -> str:
        if chance.random() >= self.synonyms:
            return word
        others = [other for other in self.wordnet.synonyms_of(reading) if len(other) >= _SHORTEST]
        return _written_like(chance.choice(others), word, first=place == 0) if others else word

    def _read(self, word: str, before: list[str]) -> Reading | None:
        readings = self.wordnet.readings(word.lower())
        ahead = before[0].lower() if before else ""
        asked: tuple[PartOfSpeech, ...] = ()
        if ahead in _BEFORE_VERB:
            asked = (PartOfSpeech.VERB,)
        elif ahead in _BEFORE_NOUN:
            asked = (PartOfSpeech.NOUN, PartOfSpeech.ADJECTIVE)
        fitting = [one for one in readings if one.part in asked]
        return next(iter(fitting or readings), None)

    @cached_property
    def _modifiers(self) -> dict[PartOfSpeech, tuple[str, ...]]:
        return {
            part: tuple(word for word in self.wordnet.common(part, _LEAST_COUNT) if _is_eligible(word, 0))
            for part in (PartOfSpeech.ADVERB, PartOfSpeech.ADJECTIVE)
        }


def _is_eligible(word: str, place: int) -> bool:
    """Whether it may be a word of the context; one with a capital inside of a sentence may be a name."""
    if len(word) < _SHORTEST or not word.isalpha() or word.lower() in _STOP_WORDS:
        return False
    return word.islower() or word.isupper() or (place == 0 and word.istitle())


def _written_like(word: str, model: str, *, first: bool) -> str:
    if model.isupper():
        return word.upper()
    return word.capitalize() if first and model.istitle() else word

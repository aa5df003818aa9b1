"""Public PHI in the place of a hospital's own, before anything is computed from it.

A hospital that shares has labelled its notes, and the labels travel with the share. So every labelled span can be replaced
by a span of public notes that is drawn by its category and its pattern alone: the casing classes and punctuation of
its tokens. Spans of a category of any form, such as addresses, have so many patterns that these would tell a person. Of such a span
nothing is taken but whether it has letters, and whether all of them are capitals or none is: even its length is that of
a public span. What follows is computed from the replaced sentence only.

Guarantee: given labels and patterns, a share is independent of the words that are labelled PHI. With `hides_casing` every category
is of any form, and not even capitals are taken over, so that the share is independent of labelled PHI given how many spans of
each category there are, and where. The mutual information is zero, so the best attacker is no better than one without the share, whatever it knows and
however many shares it averages. The guarantee does not cover PHI that nobody labelled: what
nothing finds before encoding either is shown as any other word.

The idea of replacing PHI by automatic pseudonyms before training is that of Friedrich et al. 2019 (section 4), who
draw them among the neighbours of the true word, so that they tell about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from shared.anonymity.public_lists import PublicList
from shared.anonymity.telling_spans import Telling
from shared.augment.pseudonyms import is_punctuation
from shared.errors import TrainingError
from shared.labels import HIDDEN_TAG, UNKNOWN_TAG, without_hidden
from shared.models.noise import NoiseSource
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import CASING_CLASSES, casing_classes
from shared.text.tokens import MAX_SENTENCE_TOKENS

# With fewer spans of a pattern, its tokens are drawn one after another, each by the one before: a head would learn the
# few by heart.
_FEW = 3

# A category varies if so many of its words that stand on lists are different ones.
_DISTINCT = 0.2
_LOWER, _UPPER, _INITIAL, _OTHER = (
    CASING_CLASSES.index(name) for name in ("all lower", "all upper", "initial upper", "other")
)
_LETTERS = frozenset({_LOWER, _UPPER, _INITIAL, _OTHER})
_ANY_CASING = "any casing"
# The class of every token of a span whose form is not to tell anything; of one without letters.
_HIDDEN, _HIDDEN_NUMBER = -1, -2
# How such a span is written, and a word that is.
_EXAMPLES = {"digits": "1", "capitals": "A", "no capitals": "a", "both": "Aa"}
# Of a span of a category that has no public one.
_NO_LENGTHS = (1,)
# Stands ahead of what was cut off: no token is empty.
_CUT = ("",)
# An attack asks for the same spans again and again.
_MEMORY_SPANS = 1 << 14
# Of a span that is remembered.
_MEMORY_CHARACTERS = 256
# Of a span of any form: no release makes a hospital write more.
MOST_WORDS = 100
# A float holds so many random digits.
_DIGITS = 12

Pattern = tuple[int | str, ...]
Length = tuple[int, bool, int]
_Key = tuple[int | str, ...]


class SurrogateBank:
    """Spans of public notes.

    Args:
        spans: category of each and its words.
        lists: public lists, such as of surnames. Half of the drawn words that stand on a list give way to another of the
            same list, but in categories where few words come back again and again ("country"); and every number to
            another of as many digits. So a head meets more than the few of the spans.
        hides_casing: whether a surrogate has a casing and punctuation of its own.
        later: what stands behind other words of spans that were cut, see `telling_spans`: as spans.
        any_form: categories whose spans are of many lengths and forms; see `categories_of_any_form`.
        lengths: of public spans of any form, as they were before they were cut: category, whether one has no letters, and its words;
            None for those of `spans`.

    Raises:
        TrainingError: there are no spans, or a list holds something else than words of letters.
    """

    def __init__(
        self,
        spans: Sequence[tuple[int, tuple[str, ...]]],
        lists: Sequence[tuple[str, ...]] = (),
        *,
        hides_casing: bool = False,
        later: Sequence[tuple[int, tuple[str, ...]]] = (),
        any_form: frozenset[int] = frozenset(),
        lengths: Sequence[Length] | None = None,
    ) -> None:
        self.spans = tuple(spans)
        self.later = tuple(later)
        self.lists = tuple(lists)
        self.hides_casing = hides_casing
        self.any_form = any_form
        if all(is_punctuation(word) for _, words in self.spans for word in words):
            raise TrainingError("expected PHI spans in the public notes to draw surrogates from, got none; label some")
        # One word of letters each, as every list of names is read: nobody looks for a file number or a full name among them.
        if not all(words and all(map(str.isalpha, words)) for words in self.lists):
            raise TrainingError(
                "expected lists of names of one word of letters each, got others; cut them as read_names does"
            )
        self._whole: dict[tuple[int, Pattern], list[tuple[str, ...]]] = {}
        self._single: dict[_Key, list[str]] = {}
        self._patterns: dict[tuple[int, tuple[str, ...]], Pattern] = {}
        for category, words in self.spans:
            pattern = self.pattern(category, words)
            self._whole.setdefault((category, pattern), []).append(words)
            self._add_singles(category, words, ())
        for category, words in self.later:
            self._add_singles(category, words, _CUT)
        self.lengths = tuple(self._lengths_of(self.spans) if lengths is None else lengths)
        self._lengths: dict[tuple[int, int | str], list[int]] = {}
        for category, digits, length in self.lengths:
            self._lengths.setdefault((category, _HIDDEN_NUMBER if digits else _HIDDEN), []).append(length)
        self._listed: dict[str, int] = {}
        for index, listed in enumerate(self.lists):
            for word in listed:
                self._listed.setdefault(word.lower(), index)
        self._categories = frozenset(category for category, _ in self.spans)
        self._various = frozenset(filter(self._varies, self._categories))

    def __repr__(self) -> str:
        return f"SurrogateBank({len(self.spans)} spans)"

    def has_whole(self, category: int) -> bool:
        """Whether its spans are public ones as they stood somewhere: those of any form were cut where they tell, of some categories there is none."""
        return category in self._categories and not self._is_of_any_form(category)

    def draw_lengths(self, chunk: TokenisedSentences, noise: NoiseSource) -> TokenisedSentences:
        """The sentences in which each span of any form is as long as some public one; all that remains of its words is their casing.

        Args:
            chunk: labelled sentences.
            noise: the source of chance. A draw is used up for each span.
        """
        chunk = _without_doubted_categories(chunk)
        spans = list(chunk.spans())
        words, tags, doubtful = list(chunk.words), chunk.tags, chunk.are_doubtful
        drawn = [
            (start, end, category, self._public_length(category, words[start:end], chance))
            for (start, end, category), chance in zip(spans, _uniform(noise, len(spans)), strict=True)
            if self._is_of_any_form(category)
        ]
        rows = chunk.sentence_of_token[np.array([start for start, *_ in drawn], dtype=np.int64)]
        own = np.array([end - start for start, end, *_ in drawn], dtype=np.int64)
        outside = chunk.lengths - _sums(own, rows, chunk.sentences)
        lengths = _fitting(np.array([length for *_, length in drawn], dtype=np.int64), rows, outside)
        pieces: list[tuple[list[str], NDArray[np.uint8], NDArray[np.bool_]]] = []
        done = 0
        for (start, end, category, _), length in zip(drawn, lengths.tolist(), strict=True):
            inside = np.full(length, 2 * category + 2)
            inside[0] = tags[start]
            pieces.append(
                (
                    words[done:start] + [_EXAMPLES[self._written(words[start:end])]] * length,
                    np.append(tags[done:start], inside),
                    np.append(doubtful[done:start], np.full(length, doubtful[start])),
                )
            )
            done = end
        pieces.append((words[done:], tags[done:], doubtful[done:]))
        return TokenisedSentences(
            [word for piece, _, _ in pieces for word in piece],
            np.concatenate([piece for _, piece, _ in pieces]).astype(np.uint8),
            outside + _sums(lengths, rows, chunk.sentences),
            None if chunk.doubtful is None else np.concatenate([piece for _, _, piece in pieces]),
        )

    def _public_length(self, category: int, own: Sequence[str], chance: float) -> int:
        """Of a span of any form, words of the public one that a chance draws."""
        public = self._lengths.get((category, self.pattern(category, own)[0])) or _NO_LENGTHS
        return public[int(chance * len(public))]

    def replace_spans(self, chunk: TokenisedSentences, noise: NoiseSource) -> TokenisedSentences:
        """The sentences with every span replaced; what is HIDDEN is drawn word by word, and its tags become O.

        Of a span that nobody has labelled the tags become unknown, and it is drawn like what is HIDDEN: what calls it by a category may be
        the provider's own pipeline, which could spell words by the categories that it gives them.

        Args:
            chunk: labelled sentences.
            noise: the source of chance. Draws are used up by the tags alone, so that the words have no way to show in
                what is drawn elsewhere.
        """
        chunk = _without_doubted_categories(chunk)
        words = list(chunk.words)
        chances = _uniform(noise, len(words))
        others = _uniform(noise, len(words))
        for start, end, category in chunk.spans():
            drawn = self._drawn(category, words[start:end], chances[start:end])
            varied = [
                self._varied(category, word, chance) for word, chance in zip(drawn, others[start:end], strict=True)
            ]
            words[start:end] = self.written_like(category, words[start:end], varied)
        tags = np.where(chunk.are_doubtful, np.uint8(UNKNOWN_TAG), without_hidden(chunk.tags))
        return TokenisedSentences(words, tags, chunk.lengths)

    def written_like(self, category: int, words: Sequence[str], drawn: list[str]) -> list[str]:
        """A drawn span in capitals, or without, where that is shown of the one whose place it takes."""
        if not self._is_of_any_form(category):
            return drawn
        how = self._written(words)
        if how == "capitals":
            return list(map(str.upper, drawn))
        return list(map(str.lower, drawn)) if how == "no capitals" else drawn

    def _lengths_of(self, spans: Iterable[tuple[int, tuple[str, ...]]]) -> Iterator[Length]:
        """The lengths of those spans that are of any form."""
        for category, words in spans:
            if self._is_of_any_form(category):
                yield category, self.pattern(category, words)[0] == _HIDDEN_NUMBER, min(len(words), MOST_WORDS)

    def _add_singles(self, category: int, words: Sequence[str], ahead: Sequence[str]) -> None:
        for place, (word, kind) in enumerate(zip(words, self.pattern(category, words), strict=True)):
            if isinstance(kind, int):
                for key in _keys(category, words[place - 1 : place] if place else ahead, kind):
                    self._single.setdefault(key, []).append(word)

    def _drawn(self, category: int, words: list[str], chances: list[float]) -> list[str]:
        pattern = self.pattern(category, words)
        found = self._whole.get((category, pattern), [])
        if len(found) >= _FEW:
            return list(found[int(chances[0] * len(found))])
        drawn: list[str] = []
        for kind, chance in zip(pattern, chances, strict=True):
            drawn.append(kind if isinstance(kind, str) else self._token(category, drawn[-1:], kind, chance))
        return drawn

    def pattern(self, category: int, words: Sequence[str]) -> Pattern:
        """What a span is drawn by: casing class of each word, and punctuation as it is, for both travel; or its length."""
        key = category, tuple(words)
        found = self._patterns.get(key)
        if found is None:
            found = self._pattern_of(category, words)
            if sum(map(len, words)) <= _MEMORY_CHARACTERS:
                if len(self._patterns) >= _MEMORY_SPANS:
                    self._patterns.clear()
                self._patterns[key] = found
        return found

    def _pattern_of(self, category: int, words: Sequence[str]) -> Pattern:
        if self._is_of_any_form(category):
            return (_HIDDEN_NUMBER if self._written(words) == "digits" else _HIDDEN,) * len(words)
        casing = casing_classes(words).tolist()
        return tuple(word if is_punctuation(word) else kind for word, kind in zip(words, casing, strict=True))

    def _is_of_any_form(self, category: int) -> bool:
        return self.hides_casing or category in self.any_form

    def _written(self, words: Sequence[str]) -> str:
        """How a span of any form is written, of which nothing else is shown."""
        if self.hides_casing:
            return "both"
        letters = "".join(words)
        if letters.isupper():
            return "capitals"
        if letters.islower():
            return "no capitals"
        return "both" if any(map(str.isalpha, letters)) else "digits"

    def _varies(self, category: int) -> bool:
        """Whether the listed words of a category are many different ones, unlike countries and months."""
        own = (word.lower() for kind, span in (*self.spans, *self.later) if kind == category for word in span)
        listed = [word for word in own if word in self._listed]
        return len(set(listed)) >= _DISTINCT * len(listed) > 0

    def _varied(self, category: int, word: str, chance: float) -> str:
        """A drawn word, or another like it."""
        if word.isdecimal():
            digits = min(len(word), _DIGITS)
            drawn = f"{int(chance * 10**digits):0{digits}d}"
            return (drawn * -(-len(word) // digits))[: len(word)]
        index = self._listed.get(word.lower())
        if index is None or category not in self._various or chance < 0.5:
            return word
        words = self.lists[index]
        return _cased_like(words[int((2 * chance - 1) * len(words))], word)

    def _token(self, category: int, before: Sequence[str], kind: int, chance: float) -> str:
        for key in _keys(category, before, kind):
            found = self._single.get(key)
            if found:
                return _in_casing(found[int(chance * len(found))], kind)
        raise AssertionError("the bank has a word")


def surrogate_bank(
    chunks: Iterable[TokenisedSentences],
    lists: tuple[tuple[str, ...], ...] = (),
    *,
    hides_casing: bool = False,
    public_lists: Sequence[PublicList] | None = None,
    any_form: frozenset[int] = frozenset(),
) -> SurrogateBank:
    """The labelled spans of public notes.

    Args:
        chunks: the notes.
        lists: as in SurrogateBank.
        hides_casing: as in SurrogateBank.
        public_lists: what is telling under these is cut, so that a hospital finds nothing in the bank that stands in its own
            notes; None keeps every span as it is.
        any_form: as in SurrogateBank.

    Raises:
        TrainingError: there are none.
    """
    spans = [(category, tuple(chunk.words[start:end])) for chunk in chunks for start, end, category in chunk.spans()]
    if public_lists is None:
        return SurrogateBank(spans, lists, hides_casing=hides_casing, any_form=any_form)
    telling = Telling.of((words for _, words in spans), public_lists)
    pieces = [(category, telling.cut(words) if telling.tells(words) else [words]) for category, words in spans]
    # In no order of the notes, which would tell what were pieces of one span; a rare token that two pieces share still can.
    firsts = sorted((category, cut[0]) for category, cut in pieces)
    later = sorted((category, piece) for category, cut in pieces for piece in cut[1:])
    whole = SurrogateBank(spans, hides_casing=hides_casing, any_form=any_form)
    return SurrogateBank(
        firsts, lists, hides_casing=hides_casing, later=later, any_form=any_form, lengths=sorted(whole.lengths)
    )


def _keys(category: int, before: Sequence[str], kind: int) -> Iterator[_Key]:
    """What a token is drawn by, the closest first: the drawn word ahead of it, its place, its category, its casing.

    A word of the same category in another casing, which it can change, comes before one of another category: a hospital
    that writes names in capitals must not get the capitals of the provider's clinics.
    """
    if before:
        yield category, before[0].lower(), kind
    yield category, bool(before), kind
    yield category, kind
    if kind in _LETTERS:
        yield category, bool(before), _ANY_CASING
        yield category, _ANY_CASING
    yield (kind,)
    yield ()


def _without_doubted_categories(chunk: TokenisedSentences) -> TokenisedSentences:
    """What nobody has labelled as what is HIDDEN, by whatever category a program calls it."""
    if chunk.doubtful is None:
        return chunk
    return chunk.with_tags(np.where(chunk.doubtful, np.uint8(HIDDEN_TAG), chunk.tags))


def _in_casing(word: str, kind: int) -> str:
    """The word in a casing class, where that is one of letters."""
    if kind not in _LETTERS or not word.isalpha():
        return word
    return {_LOWER: word.lower(), _UPPER: word.upper(), _INITIAL: word.capitalize()}.get(kind, word)


def _cased_like(word: str, model: str) -> str:
    """The word in the casing of another, as far as it has one."""
    if model.isupper():
        return word.upper()
    return word.capitalize() if model[:1].isupper() else word.lower()


def _uniform(noise: NoiseSource, count: int) -> list[float]:
    """Independent numbers in [0, 1)."""
    if isinstance(noise, torch.Generator):
        return torch.rand(count, generator=noise, dtype=torch.float64).tolist()
    drawn: list[float] = noise.random((count,)).tolist()
    return drawn


def _fitting(lengths: NDArray[np.int64], rows: NDArray[np.int64], outside: NDArray[np.int64]) -> NDArray[np.int64]:
    """Drawn lengths of spans that no sentence grows too long by; where one would, its spans are short. No word of a span has a part in that.

    Args:
        lengths: int64 `[spans]`.
        rows: sentence of each span, int64 `[spans]`.
        outside: tokens of each sentence that are in none of them, int64 `[sentences]`.
    """
    most = np.maximum((MAX_SENTENCE_TOKENS - outside) // np.maximum(np.bincount(rows, minlength=len(outside)), 1), 1)
    too_long = outside + _sums(lengths, rows, len(outside)) > MAX_SENTENCE_TOKENS
    return np.where(too_long[rows], np.minimum(lengths, most[rows]), lengths)


def _sums(values: NDArray[np.int64], rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Of the values of each row, int64 `[count]`."""
    return np.bincount(rows, values, count).astype(np.int64)

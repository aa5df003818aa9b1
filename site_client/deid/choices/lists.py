"""A hospital's own lists: what is always hidden, whoever finds it, and what never is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from shared.document import Annotation, Document
from shared.pipeline.spans import join_spans
from shared.sentences.referenced import find_decoded
from shared.surrogates.spelling import strip_accents
from shared.text.references.decoding import decode
from site_client.deid.choices.sameness import is_mark, is_unseen, said

EVERY = "*"
# In a folded text: a sign that nobody sees (a soft hyphen, a blank of no width), which may stand within a word or part two. No text brings it along.
_UNSEEN = "\0"


class HospitalLists:
    """Both lists, in all spellings: capitals, accents and marks make no difference.

    What is denied is looked for in the whole text as the lists are folded (`ß` as `ss`, accents of their own sign as none), with the places that each
    folded sign comes from; a sign that nobody sees neither keeps a word from being found nor makes one of two. What is allowed has to be all of its
    words, without such signs: a span that ends within one stays hidden.

    Args:
        allow: texts that are not hidden where a whole span says nothing else, by category, or EVERY for all.
        deny: texts that are hidden wherever they stand as words of their own, by the category that they get. What is on both is hidden.
    """

    def __init__(self, allow: Mapping[str, Sequence[str]], deny: Mapping[str, Sequence[str]]) -> None:
        self._allow = {category: frozenset(map(said, texts)) for category, texts in allow.items()}
        self._deny = [(category, _expression(texts)) for category, texts in deny.items() if texts]

    @property
    def categories(self) -> frozenset[str]:
        """Of what is always hidden."""
        return frozenset(category for category, _ in self._deny)

    def __bool__(self) -> bool:
        return bool(self._allow or self._deny)

    def apply(self, document: Document) -> Document:
        """The document without spans that are allowed, and with those that are denied."""
        return find_decoded(document, self._apply)

    def _apply(self, document: Document) -> Document:
        kept = tuple(span for span in document.annotations if not self._is_allowed(document, span))
        lists = replace(document, annotations=kept) if len(kept) < len(document.annotations) else document
        denied = list(self.denied(document.text))
        return join_spans(lists, denied) if denied else lists

    def _is_allowed(self, document: Document, span: Annotation) -> bool:
        if _is_part(span, document.text):
            return False
        words = said(document.covered_text(span))
        return any(words in self._allow.get(category, ()) for category in (span.category, EVERY))

    def denied(self, text: str) -> Iterator[Annotation]:
        """Where what is always hidden stands in a text, in order; none touches another."""
        note = decode(text)
        for span in self._found(note.text):
            start, end = note.to_written(span.start, span.end)
            yield replace(span, start=start, end=end)

    def _found(self, text: str) -> Iterator[Annotation]:
        plain, places = _folded_with_places(text)
        end = 0
        for start, stop, category in sorted(
            (places[match.start(1)], _end(places[match.end(1) - 1] + 1, text), category)
            for category, expression in self._deny
            for match in expression.finditer(plain)
        ):
            if start >= end:
                yield Annotation(start, stop, category)
                end = stop
            elif stop > end:
                yield Annotation(end, stop, category)
                end = stop


def _expression(texts: Sequence[str]) -> re.Pattern[str]:
    # The longest first, or "St Anne" would keep "St Anne Hospital" from being found whole; looked at, not taken, so that what overlaps is found too.
    words = sorted((_folded_with_places(text)[0].strip(f" {_UNSEEN}") for text in texts), key=lambda one: -len(one))
    any_of = "|".join(_in_all_readings(word) for word in words if word) or "(?!)"
    return re.compile(rf"(?<!\w)(?=({any_of})(?!\w))")


def _in_all_readings(word: str) -> str:
    """The pattern of a folded text, with signs that nobody sees anywhere within it or in the place of its blanks."""
    between = {" ": f"[ {_UNSEEN}]+", _UNSEEN: f"[ {_UNSEEN}]*"}
    pieces = re.split(f"([ {_UNSEEN}]+)", word)
    return "".join(
        between[" " if " " in piece else _UNSEEN] if number % 2 else f"{_UNSEEN}*".join(piece)
        for number, piece in enumerate(pieces)
    )


def _folded_with_places(text: str) -> tuple[str, list[int]]:
    """A text without capitals, accents and marks, and for every sign of that its place in the text."""
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        if is_unseen(sign):
            signs.append(_UNSEEN)
            places.append(place)
            continue
        for plain in strip_accents(sign.casefold()):
            if plain.isalnum():
                signs.append(plain)
                places.append(place)
            elif signs and signs[-1] != " ":
                signs.append(" ")
                places.append(place)
    return "".join(signs), places


def _end(end: int, text: str) -> int:
    """Behind the accents that are signs of their own."""
    while end < len(text) and is_mark(text[end]):
        end += 1
    return end


def _is_part(span: Annotation, text: str) -> bool:
    """Whether a span begins or ends within a word, also where signs that nobody sees stand between."""
    before, after = span.start, span.end
    while before and is_unseen(text[before - 1]):
        before -= 1
    while after < len(text) and is_unseen(text[after]):
        after += 1
    ahead, behind = text[max(0, before - 1) : before], text[after : after + 1]
    begins = ahead.isalnum() and text[span.start].isalnum()
    ends = behind.isalnum() and text[span.end - 1].isalnum()
    return begins or ends or is_mark(text[span.start]) or (behind != "" and is_mark(behind))

"""A hospital's own lists: what is always hidden, whoever finds it, and what never is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from shared.document import Annotation, Document
from shared.pipeline.spans import join_spans
from shared.surrogates.spelling import folded, strip_accents

EVERY = "*"
_GAP = r"[\s\W_]{1,3}"


class HospitalLists:
    """Both lists, in all spellings: capitals, accents and marks make no difference.

    Args:
        allow: texts that are not hidden where a whole span says nothing else, by category, or EVERY for all.
        deny: texts that are hidden wherever they stand as words of their own, by the category that they get. What is on both is hidden.
    """

    def __init__(self, allow: Mapping[str, Sequence[str]], deny: Mapping[str, Sequence[str]]) -> None:
        self._allow = {category: frozenset(map(folded, texts)) for category, texts in allow.items()}
        self._deny = [(category, _expression(texts)) for category, texts in deny.items() if texts]

    def __bool__(self) -> bool:
        return bool(self._allow or self._deny)

    def apply(self, document: Document) -> Document:
        """The document without spans that are allowed, and with those that are denied."""
        kept = tuple(span for span in document.annotations if not self._is_allowed(document, span))
        lists = replace(document, annotations=kept) if len(kept) < len(document.annotations) else document
        denied = list(self._denied(document.text))
        return join_spans(lists, denied) if denied else lists

    def _is_allowed(self, document: Document, span: Annotation) -> bool:
        said = folded(document.covered_text(span))
        return any(said in self._allow.get(category, ()) for category in (span.category, EVERY))

    def _denied(self, text: str) -> Iterator[Annotation]:
        plain = "".join(map(_plain, text))
        end = 0
        for start, stop, category in sorted(
            (match.start(), match.end(), category)
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
    # The longest first, or "St Anne" would keep "St Anne Hospital" from being found whole.
    words = sorted((folded(text).split() for text in texts), key=lambda words: -len(" ".join(words)))
    return re.compile("|".join(rf"(?<!\w){_GAP.join(map(re.escape, one))}(?!\w)" for one in words))


def _plain(sign: str) -> str:
    # One sign for one, so that places in both texts are the same.
    return sign.lower()[:1] if sign.isascii() else (strip_accents(sign.casefold())[:1] or sign)

"""What was found once in a note is hidden wherever the note says it again, and whole.

A tagger sees one sentence at a time: it may find a name in the first and half of it in the second. What is the same but for
capitals and for the white space between its words is the same. Short spans and those in lower case are left alone: they are
ages, units and professions, and words of their own elsewhere.
"""

from __future__ import annotations

import re

from shared.document import Annotation, Document

_LEAST_CHARACTERS = 4


def with_repeated(document: Document) -> Document:
    """The document with a span for every further mention of what is annotated; where spans overlap they are one."""
    found: dict[str, tuple[list[str], str]] = {}
    for span in document.annotations:
        words = document.covered_text(span).split()
        text = " ".join(words)
        if sum(map(str.isalnum, text)) >= _LEAST_CHARACTERS and text != text.lower():
            found.setdefault(text.casefold(), (words, span.category))
    mentions = [
        Annotation(match.start(), match.end(), category)
        for words, category in found.values()
        for match in _mentions(words).finditer(document.text)
        # A name that is a word, too, is no name where it is written like a word.
        if match[0] != match[0].lower()
    ]
    return join_spans(document, [*document.annotations, *mentions])


def join_spans(document: Document, spans: list[Annotation]) -> Document:
    """The document with these spans, where they overlap as one: what anybody marked as PHI is hidden."""
    joined: list[Annotation] = []
    for span in sorted(spans):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Annotation(last.start, max(last.end, span.end), last.category)
        else:
            joined.append(span)
    return Document(
        document.identifier, document.text, tuple(joined), document.labelled, document.record, document.file
    )


def _mentions(words: list[str]) -> re.Pattern[str]:
    # Its edges are edges of words where it begins or ends with one.
    begin = r"(?<!\w)" if words[0][0].isalnum() else ""
    end = r"(?!\w)" if words[-1][-1].isalnum() else ""
    return re.compile(begin + r"\s+".join(map(re.escape, words)) + end, re.IGNORECASE)

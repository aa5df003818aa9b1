"""What every document must be, whatever it came from or goes to."""

from __future__ import annotations

import re

from shared.corpus.escapes import find_escapes
from shared.document import AnnotatedText
from shared.errors import AnnotationError, FormatError

# Control characters, and half surrogates, which no UTF-8 file can hold.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ID_CHARACTERS = 200
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_document(document: AnnotatedText) -> None:
    """Refuse what no format can hold or no person can read.

    Raises:
        FormatError: an id that can't be printed; NUL or half a surrogate pair in the text; letters that are not written as letters.
        AnnotationError: a label that can't be printed.
    """
    identifier = document.identifier
    if not is_presentable(identifier):
        # The id is left out: it may be anything, even the note.
        raise FormatError(
            "expected an id that can be printed, got an empty, a very long or one with control characters, or with letters that this locale has not; "
            "rename it, or set LC_ALL=C.UTF-8"
        )
    # Plain searches, for a pattern would be the slowest part of reading.
    if "\0" in document.text or not _encodes(document.text):
        found = _UNSTORABLE.search(document.text)
        place = f"character {found.start()}" if found else ""
        raise FormatError(
            "expected text without NUL and half surrogates, got one; remove it", document=identifier, place=place
        )
    if escape := find_escapes(document.text):
        begins, written = escape
        raise FormatError(
            f"expected plain text, got letters written {written}, behind which PHI hides; convert the note",
            document=identifier,
            place=f"character {begins}",
        )
    for span in document.annotations:
        if not span.category.strip() or _UNPRINTABLE.search(span.category):
            raise AnnotationError(
                "expected a label that can be printed, got an empty one or one with control characters; correct it",
                document=identifier,
                place=f"characters {span.start}-{span.end}",
            )


def is_presentable(identifier: str) -> bool:
    """Whether an id may stand in an error: one that is long or has control characters may well be text of a note."""
    return 0 < len(identifier) <= _ID_CHARACTERS and not _UNPRINTABLE.search(identifier)


def _encodes(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

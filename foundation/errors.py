"""The root of every error that is raised on purpose, in whatever package, and the one error of files.

DeidError (1)
├── ExpectationError
│   ├── StorageError (8)    the disk is full, a file can't be read or written
│   │   ├── DatabaseError   see aggregator/errors.py
│   │   └── PassphraseError see protocols/errors.py: 17
│   └── ProtocolError (9)   see protocols/errors.py: 9 to 16
├── what `shared` raises    see shared/errors.py: 2 to 7
├── AggregatorError (20)    see aggregator/errors.py: 20 to 24
└── SiteError (30)          see site_client/errors.py: 30 to 38

A message says what was expected, what came instead and what to do, on one line. It never quotes the text of a note.

`exit_code` is what the command line returns for the error; docs/exit-codes.md lists them.
"""

from __future__ import annotations

from foundation.printable import escape_unprintable


class DeidError(Exception):
    """Root of the tree."""

    exit_code = 1


class ExpectationError(DeidError):
    """Something else came than was expected; its message is made of its parts, and fit for a terminal.

    Args:
        expected: what should have come.
        received: what came instead.
        advice: what the reader of the message can do about it.
        place: file, field or block where it happened.
    """

    def __init__(self, expected: str, *, received: str = "", advice: str = "", place: str = "") -> None:
        self.expected = expected
        self.received = received
        self.advice = advice
        self.place = place
        message = f"{escape_unprintable(place)}: expected {expected}" if place else f"expected {expected}"
        if received:
            message += f", received {received}"
        if advice:
            message += f"; {advice}"
        super().__init__(escape_unprintable(" ".join(message.split())))


class StorageError(ExpectationError):
    """The disk is full, or something can't be read or written; a statement about this machine, not about what came."""

    exit_code = 8

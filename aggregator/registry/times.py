"""Times as the registry keeps them: UTC, to the second, `2026-03-01T12:00:00Z`; as text they sort as they follow."""

from __future__ import annotations

import datetime

_FORM = "%Y-%m-%dT%H:%M:%SZ"


def now() -> str:
    """This second."""
    return as_text(datetime.datetime.now(datetime.UTC))


def as_text(moment: datetime.datetime) -> str:
    """A moment that knows its time zone."""
    if moment.tzinfo is None:
        raise ValueError("expected a moment with a time zone, got one without; give it one")
    return moment.astimezone(datetime.UTC).strftime(_FORM)


def as_moment(text: str) -> datetime.datetime:
    """The moment that `as_text` wrote."""
    return datetime.datetime.strptime(text, _FORM).replace(tzinfo=datetime.UTC)

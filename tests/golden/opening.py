"""What tests of golden files share: a clock that stands at the moment in which they were made, and a bit that flips."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest


def stop_clock(monkeypatch: pytest.MonkeyPatch, moment: datetime.datetime) -> None:
    """Lets it be `moment` for the whole program: what expires is no question of a format."""

    class Stopped(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:  # type: ignore[override]
            return moment.astimezone(tz)

    monkeypatch.setattr(datetime, "datetime", Stopped)


def flip(path: Path, place: int) -> None:
    """Flips the lowest bit of a byte."""
    data = bytearray(path.read_bytes())
    data[place] ^= 0x01
    path.write_bytes(data)

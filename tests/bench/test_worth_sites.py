"""What shares are worth to English hospitals, told of the rotations of which all sides are there."""

from __future__ import annotations

from typing import Any

import pytest

from bench import corpora
from bench.privacy.worth import sites
from bench.privacy.worth.sides import SIDES

_HITS = {"alone": 60, "raw": 80, "share": 76}
# F1 of so many hits of 100, with as many extra as missed, is their share.
_COMMIT = "0123abcd"


def _run(side: str) -> dict[str, Any]:
    counts = [[_HITS[side], 100 - _HITS[side], 100 - _HITS[side]]] * 4
    return {site: {"tokens": counts, "entities": counts} for site in corpora.SITES} | {"commit": _COMMIT}


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    names = {f"worth-sites-{provider}-{side}-1" for provider in ("a", "b") for side in SIDES}
    monkeypatch.setattr(sites, "is_there", lambda name: name in names)
    monkeypatch.setattr(sites, "load_or_measure", lambda name, _: _run(name.split("-")[3]))
    return names


def test_the_worth_is_the_part_of_what_raw_notes_gain(there: set[str]) -> None:
    entries = sites.entries()
    assert {entry.value for entry in entries} == {0.8}  # (76 - 60) of (80 - 60)
    assert [entry.target for entry in entries] == [0.85, 0.70, 0.93, 0.90]
    assert {entry.commit for entry in entries} == {_COMMIT}
    assert all("2 rotations" in entry.note for entry in entries)


def test_a_rotation_that_lacks_a_side_is_not_told_of(there: set[str]) -> None:
    there.discard("worth-sites-b-raw-1")
    assert all("1 rotations" in entry.note for entry in sites.entries())


def test_nothing_is_told_where_nothing_is_there(there: set[str]) -> None:
    there.clear()
    assert sites.entries() == []

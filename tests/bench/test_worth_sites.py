"""What shares are worth to English hospitals, told of the rotations of which all sides are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench import corpora, outcomes
from bench.privacy.worth import copies, pool, sites
from bench.privacy.worth.pool import Undersampled
from bench.privacy.worth.sides import SIDES
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences

_HITS = {"alone": 60, "raw": 80, "share": 76}
# F1 of so many hits of 100, with as many extra as missed, is their share.
_COMMIT = "0123abcd"


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """All hospitals have the same counts here, so that nothing hangs on how often they are drawn again."""
    monkeypatch.setattr(outcomes, "_RESAMPLES", 20)


def _run(side: str) -> dict[str, Any]:
    return dict.fromkeys(corpora.SITES, _counts(_HITS[side])) | {"commit": _COMMIT}


def _counts(hits: int) -> dict[str, Any]:
    counts = [[hits, 100 - hits, 100 - hits]] * 4
    return {"tokens": counts, "entities": counts}


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    names = {f"worth-sites-{provider}-{side}-1" for provider in ("a", "b") for side in SIDES}
    monkeypatch.setattr(sites, "is_there", lambda name: name in names)
    monkeypatch.setattr(sites, "load_or_measure", lambda name, _: _run(name.split("-")[3]))
    return names


def test_the_worth_is_the_part_of_what_raw_notes_gain(there: set[str]) -> None:
    entries = sites.entries()
    assert {entry.value for entry in entries} == {0.8}  # (76 - 60) of (80 - 60)
    # What is asked is asked of heads that are trained to their end.
    assert [entry.target for entry in entries] == [None] * 4
    assert {entry.commit for entry in entries} == {_COMMIT}
    assert all("2 rotations" in entry.note for entry in entries)


def test_a_rotation_that_lacks_a_side_is_not_told_of(there: set[str]) -> None:
    there.discard("worth-sites-b-raw-1")
    assert all("1 rotations" in entry.note for entry in sites.entries())


def test_nothing_is_told_where_nothing_is_there(there: set[str]) -> None:
    there.clear()
    assert sites.entries() == []


def test_heads_of_a_provider_are_held_against_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    hits = {pool.ALONE: 60, pool.RAW: 80, pool.SHARES: 76}

    def run(name: str, _: object) -> dict[str, Any]:
        count = hits[name.split("-")[3]]
        scored = _counts(count)
        return dict.fromkeys(corpora.SITES, scored) | {
            "adapted": dict.fromkeys(corpora.SITES, _counts(count + 8)),
            "commit": _COMMIT,
        }

    whole = f"copies-{pool.STEPS}-"
    monkeypatch.setattr(copies, "is_there", lambda name: name.startswith(whole) and not name.endswith("-b-raw-3"))
    monkeypatch.setattr(copies, "load_or_measure", run)
    entries = {entry.measure: entry for entry in copies.measure(train=False)}
    worth = {name: entry for name, entry in entries.items() if ": worth" in name}
    assert {entry.target for entry in worth.values()} == {0.85, 0.70, 0.93, 0.90, None}
    # (76 - 60) of (80 - 60), and 8 hits more on every side once the hospital has adapted the head, of which nothing is asked.
    assert {(entry.value, entry.target is None) for entry in worth.values()} == {
        (0.8, False),
        (0.4, True),
        (1.4, True),
        (1.2, True),
    }
    assert (
        entries["en_sites, sharing hospitals, with copies, provider alone, adapted to its own notes: strict F1"].value
        == 0.68
    )
    # The seed that lacks a side is not told of.
    assert {entry.seeds for entry in entries.values()} == {2}


def test_half_of_the_sentences_without_phi_sit_out_a_pass() -> None:
    lengths = np.full(400, 2)
    tags = np.zeros(800, dtype=np.uint8)
    tags[:200] = 1
    codes = CodedSentences(np.arange(800, dtype=np.uint32), tags, tags, lengths, np.zeros((800, 0), dtype=np.uint8))
    read: list[set[int]] = []

    def shown(some: CodedSentences) -> RaggedSentences:
        read.append(set(some.codes[some.starts].tolist()))
        return RaggedSentences(some.codes[:, None].astype(np.float32), some.casing, some.tags, some.lengths)

    source = Undersampled(codes, shown)
    assert source.sentences == 100 + 150
    for seed in range(20):
        list(source.batches(32, np.random.default_rng(seed)))
    assert all(one >= set(range(0, 200, 2)) for one in read)
    assert set().union(*read) == set(range(0, 800, 2))
    assert np.mean([len(one) for one in read]) == pytest.approx(250, rel=0.05)
    assert sum(len(batch.rows) for batch in source.batches(32)) == 400

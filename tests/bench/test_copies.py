"""What shares are worth to English hospitals, told of the seeds of which all sides are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bench import corpora, outcomes
from bench.privacy.worth import copies, pool
from bench.privacy.worth.pool import Undersampled
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences

# F1 of so many hits of 100, with as many extra as missed, is their share.
_COMMIT = "0123abcd"


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    """All hospitals have the same counts here, so that nothing hangs on how often they are drawn again."""
    monkeypatch.setattr(outcomes, "_RESAMPLES", 20)


def _counts(hits: int) -> dict[str, Any]:
    counts = [[hits, 100 - hits, 100 - hits]] * 4
    return {"tokens": counts, "entities": counts}


def test_heads_of_a_provider_are_held_against_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    hits = {pool.ALONE: 60, pool.RAW: 80, pool.SHARES: 76, pool.REPLACED: 78}

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
    assert {entry.seeds for name, entry in entries.items() if "one seed" not in name} == {2}
    shown = {name: entry for name, entry in entries.items() if "one seed" in name}
    assert {entry.seeds for entry in shown.values()} == {1}
    assert {(entry.value, "every public word" in name) for name, entry in shown.items()} == {
        (0.78, True),
        (0.76, False),
    }


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

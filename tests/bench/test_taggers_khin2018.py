"""The entries of an ablation, from runs that were made by hand: their order, and what is gained on the whole tagger on the same notes."""

from __future__ import annotations

import pytest

from bench.outcomes import Outcome
from bench.taggers import khin2018
from shared.taggers.khin2018 import Khin2018Config

# True, false and missed of two notes: F1 is 2 * 9 / (2 * 9 + 1 + 1) of the whole one, 2 * 8 / (2 * 8 + 2 + 2) of the others.
WHOLE, LESS = [[5, 1, 0], [4, 0, 1]], [[4, 1, 1], [4, 1, 1]]


def test_every_input_is_left_out_in_the_order_of_the_paper_and_compared_with_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(effort: khin2018.Effort, name: str, seed: int) -> Outcome:
        counts = WHOLE if name == khin2018.WHOLE else LESS
        return Outcome(counts, counts, f"of {name}")

    monkeypatch.setattr(khin2018, "_run", run)
    monkeypatch.setattr(khin2018, "measure_language", lambda effort: [])
    entries = khin2018.measure(khin2018.Effort("khin", 7, 1000, (1, 2)))
    strict = entries[: len(entries) // 2]
    told = [one.measure.removeprefix("MEDDOCAN, strict F1, ").removesuffix(", 7 notes, 1,000 steps") for one in strict]
    left_out = ["no character embeddings", "no contextual embeddings", "no word vectors", "naive dropout"]
    assert [one.removeprefix("Khin et al. 2018, ") for one in told[:1] + told[1:9:2]] == ["whole", *left_out]
    assert told[2] == f"{told[1]}, gained on the whole"
    assert [one.value for one in strict[:3]] == [0.9, 0.8, -0.1]
    assert {one.seeds for one in entries} == {2}
    assert strict[0].commit == "of whole"
    assert len({one.measure for one in entries}) == len(entries)


@pytest.mark.parametrize("name", khin2018.ABLATION)
def test_every_part_of_the_ablation_is_a_tagger_that_can_be_made(name: str) -> None:
    settings = {"context": 8, **khin2018.ABLATION[name]}
    whole = Khin2018Config(10, 5, context=8)
    made = Khin2018Config(10, 5, **settings)
    assert (made == whole) == (name == khin2018.WHOLE)

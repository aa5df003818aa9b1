"""What a release promises to a hospital that nobody has seen, and what a hospital gets for asking."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from aggregator.training.judging.operating_points import why_none
from shared.constructions.registry import load_construction
from shared.labels import UNKNOWN_TAG
from shared.pipeline.operating_points import GRID, load_points
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.promises import hiding
from shared.pipeline.promises.hiding import Gold, hiding_counts
from shared.pipeline.reading import Reading
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.registry import load_head
from tests.loop import Loop, done, hospital, provider, train_head, values


def test_a_release_says_what_it_promises_and_a_hospital_gets_it(built_loop: Loop) -> None:
    record = json.loads((built_loop.provider / "head" / "training.json").read_text())["operating_points"]
    points = load_points(built_loop.provider / "head")
    assert points is not None
    assert points.hospitals == record["hospitals"] == 3
    assert [one["target"] for one in record["points"]] == [one.target for one in points.points]
    cards = [path.read_text() for path in built_loop.releases.rglob("*MODEL_CARD.md")]
    assert any("At a hospital that shared nothing, median of 3" in card for card in cards)
    at = ("--workspace", built_loop.site("fourth"))
    notes = built_loop.notes("fourth")
    first = values(hospital("deid", notes, "--out", built_loop.root / "usual", *at, "--json"))
    assert first["promised"] == next(one for one in record["points"] if one["target"] == points.default.target)
    asked = values(hospital("deid", notes, "--out", built_loop.root / "asked", "--min-recall", 0.9, *at, "--json"))
    assert asked["promised"]["target"] >= 0.9
    refused = hospital("deid", notes, "--out", built_loop.root / "more", "--min-recall", 0.9999, *at)
    assert refused.exit_code == 2
    assert "the highest that this release promises" in refused.stderr
    assert not (built_loop.root / "more").exists()
    assert values(hospital("evaluate", notes, "--min-recall", 0.9, *at, "--json"))


def test_two_hospitals_promise_nothing_and_it_is_said(loop: Loop) -> None:
    shown = train_head(loop, "--no-public").stdout
    assert "operating points: none, so hospitals can't ask for a recall; they take three hospitals whose" in shown
    assert load_points(loop.provider / "head") is None


def test_nobody_is_left_out_where_nobody_wants_to_know(loop: Loop) -> None:
    command = (
        "train-head",
        "--epochs",
        1,
        "--influence",
        "none",
        "--no-operating-points",
        "--workspace",
        loop.provider,
    )
    # There are three who have shared notes: that is not why.
    assert (
        "operating points: none, so hospitals can't ask for a recall; they were not asked for\n"
        in done(provider(*command)).stdout
    )
    record = json.loads((loop.provider / "head" / "training.json").read_text())
    assert (record["operating_points"], record["no_operating_points"]) == (None, "they were not asked for")


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ({"asked": False, "tried": False, "together": False}, "not asked for"),
        ({"asked": False, "tried": False, "together": True}, "not asked for"),
        ({"asked": True, "tried": False, "together": False}, "three hospitals whose shares hold codes"),
        ({"asked": True, "tried": False, "together": True}, "three hospitals of notes enough that measure them"),
        ({"asked": True, "tried": True, "together": False}, "fewer than three .* or no threshold"),
    ],
)
def test_why_there_are_none_is_said_as_it_is(case: dict[str, bool], said: str) -> None:
    assert re.search(said, why_none(**case))


class TestCounting:
    """By a head that says what a table says, so that every count is known ahead."""

    @pytest.fixture
    def pipeline(self, built_loop: Loop) -> Pipeline:
        folder = built_loop.provider
        return Pipeline(load_construction(folder / "representer"), load_head(folder / "head"))

    @staticmethod
    def says(monkeypatch: pytest.MonkeyPatch, tags: Sequence[int], certainty: Sequence[float]) -> None:
        def read(*_: object) -> Reading:
            sure = np.array(certainty, np.float32)
            return Reading(np.array(tags, np.uint8), sure, np.zeros(len(sure), np.int64))

        monkeypatch.setattr(hiding, "read_sentences", read)

    @staticmethod
    def counted(pipeline: Pipeline, words: str, tags: Sequence[int]) -> tuple[int, NDArray[np.int64]]:
        said = words.split()
        sentences = TokenisedSentences(said, np.array(tags, np.uint8), np.array([len(said)]))
        gold = Gold.of(sentences)
        return len(gold.entities), hiding_counts(pipeline, "0", sentences, gold)

    def test_what_is_hidden_in_part_is_not_hidden(self, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
        self.says(monkeypatch, [0, 1, 0, 0, 0], [0, 0.9, 0.25, 0, 0.25])
        entities, counts = self.counted(pipeline, "saw Quill Osyth and slept", [0, 1, 2, 0, 0])
        assert entities == 1
        raised = [threshold is not None and threshold <= 0.25 for threshold in GRID]
        assert counts.tolist() == [
            [int(one) for one in raised],
            [2 if one else 1 for one in raised],
            [3 if one else 1 for one in raised],
        ]

    def test_marks_are_no_letters_and_what_nobody_knows_counts_for_nothing(
        self, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.says(monkeypatch, [1, 0, 2, 1, 1], [1, 0, 1, 1, 1])
        entities, counts = self.counted(pipeline, "Quill , Osyth Wulfric seen", [1, 2, 2, UNKNOWN_TAG, 0])
        assert entities == 1
        assert {tuple(column) for column in counts.T.tolist()} == {(1, 2, 3)}

from __future__ import annotations

from dataclasses import replace

import pytest

from site_client.errors import PromiseError
from site_client.evaluating.promise import Verdict, judge, require_kept
from site_client.evaluating.sentences import answer, cautions, percent, verdict_sentence
from tests.site_client.evaluating.made import POINT, acceptance
from tests.tiny_notes import tiny_notes


@pytest.mark.parametrize(
    ("count", "every", "promised", "verdict"),
    [
        (200, 50, 0.93, Verdict.HOLDS),
        (200, 50, 0.9799, Verdict.OPEN),
        (200, 10, 0.93, Verdict.BROKEN),
        (60, 12, 0.93, Verdict.OPEN),
        (60, 0, 0.93, Verdict.HOLDS),
        # Nine notes without a miss, and nine in which half is missed.
        (9, 0, 0.1, Verdict.OPEN),
        (9, 2, 0.99, Verdict.OPEN),
    ],
)
def test_a_promise_is_judged_by_the_whole_interval(count: int, every: int, promised: float, verdict: Verdict) -> None:
    judged = acceptance(count, every, point=replace(POINT, hidden=promised)).promise
    assert judged is not None
    assert judged.verdict is verdict
    recall = judged.measure.recall
    if verdict is Verdict.HOLDS:
        assert recall.low >= promised
    if verdict is Verdict.BROKEN:
        assert recall.high < promised


@pytest.mark.parametrize(
    ("count", "every", "said"), [(200, 10, "does not hold"), (60, 12, "not shown either way"), (9, 0, "not shown")]
)
def test_a_promise_that_is_not_shown_to_hold_is_none_to_rely_on(count: int, every: int, said: str) -> None:
    with pytest.raises(PromiseError, match=said):
        require_kept(acceptance(count, every, point=replace(POINT, hidden=0.93)).promise)
    with pytest.raises(PromiseError, match="promises nothing"):
        require_kept(None)
    require_kept(acceptance(200, 50, point=replace(POINT, hidden=0.93)).promise)


def test_notes_that_left_never_show_that_a_promise_holds() -> None:
    for left in (200, None):
        report = acceptance(200, 50, left_before=left, unseen=False)
        assert report.promise is not None
        assert report.promise.verdict is Verdict.OPEN
        assert "learned from these notes" in answer(report)
        assert cautions(report)
    broken = acceptance(200, 10, left_before=200, unseen=False).promise
    assert broken is not None
    assert broken.verdict is Verdict.BROKEN


def test_the_notes_that_would_tell_do_tell() -> None:
    judged = acceptance(100, 12).promise
    assert judged is not None
    assert judged.verdict is Verdict.OPEN
    assert judged.to_tell is not None
    assert judged.to_tell > judged.measure.recall.notes
    again = acceptance(judged.to_tell + 50, 12).promise
    assert again is not None
    assert again.verdict is Verdict.BROKEN


def test_what_is_said() -> None:
    report = acceptance(200, 10)
    assert report.promise is not None
    assert verdict_sentence(report.promise, "notes").startswith(
        "promised: 93.0% of PHI entities hidden whole; here: 90.0% ("
    )
    assert verdict_sentence(report.promise, "notes").endswith("): does not hold")
    assert not cautions(report)
    assert "promises nothing" in answer(acceptance(60, point=None))
    assert "9 notes with PHI are too few to say" in answer(acceptance(9, 0))
    patients = replace(acceptance(9, 0), by_patient=True)
    assert "9 patients with PHI are too few to say" in answer(patients)
    assert cautions(patients)[0].startswith("FEW PATIENTS: 9 patients")
    assert [line for line in cautions(acceptance(9, 0)) if line.startswith("FEW NOTES")]
    assert [line for line in cautions(acceptance(30, 0)) if line.startswith("few notes")]


def test_nothing_labelled_is_nothing_to_judge() -> None:
    bare = [replace(note, annotations=()) for note in tiny_notes(12)]
    report = acceptance(notes=bare)
    assert "nothing to judge" in answer(report)
    assert report.promise is not None
    assert report.promise.verdict is Verdict.OPEN


@pytest.mark.parametrize(
    ("value", "said"), [(0.9999, "99.9%"), (1.0, "100.0%"), (0.00001, "0.1%"), (0.0, "0.0%"), (0.934, "93.4%")]
)
def test_a_share_is_not_rounded_to_all_or_nothing(value: float, said: str) -> None:
    assert percent(value) == said


def test_the_point_in_use_is_told_from_the_others() -> None:
    measure = acceptance(60).in_use
    assert judge(POINT, 4, measure, in_use=False, unseen=True).as_json()["in_use"] is False

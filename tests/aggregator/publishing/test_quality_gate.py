"""The gate of `release`: what finds less leaves only with a name, or after a withdrawal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aggregator.enrolled.shares import BY_PROVIDER, BY_SITE
from aggregator.errors import DropError, WorkspaceError
from aggregator.publishing.judging import withdrawn_part
from aggregator.publishing.quality_gate import (
    FALSE_ALARMS,
    Reason,
    check_quality,
    describe_no_drop,
    describe_unmeasured,
)
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseRow, ReleaseShareRow, ShareRow
from aggregator.registry.times import now
from tests.aggregator.copied import new_workspace
from tests.aggregator.registry.rows import add, share, site
from tests.loop import Loop, done, hospital, provider, refused, train_head, values

LAST = "ab" * 32
LOWER = {"category": "NAME", "tokens": 400, "recall": 0.62, "before": 0.91, "low": -0.35, "high": -0.22}
AS_BEFORE = LOWER | {"recall": 0.9, "low": -0.04, "high": 0.02}
SLIGHTLY = LOWER | {"recall": 0.903, "low": -0.009, "high": -0.005}


def head(folder: Path, changes: list[Any] | None, without: dict[str, list[Any]] | None = None) -> Path:
    compared = None if changes is None else {"release": 2, "digest": LAST, "changes": changes}
    sites = [{"site": site, "changes": found} for site, found in (without or {}).items()]
    record = {"compared": compared, "influence": {"mode": "fast", "sites": sites}}
    (folder / "training.json").write_text(json.dumps(record))
    return folder


@pytest.mark.parametrize("change", [AS_BEFORE, SLIGHTLY])
def test_what_finds_as_much_passes(change: dict[str, Any], tmp_path: Path) -> None:
    assert check_quality(head(tmp_path, [change]), LAST, withdrawn=0, approver=None) is None


def test_a_drop_is_refused_and_passes_with_a_name(tmp_path: Path) -> None:
    folder = head(tmp_path, [AS_BEFORE, LOWER])
    with pytest.raises(DropError, match=r"NAME 0\.620 against 0\.910 of release 2.*--accept-drop --approver NAME"):
        check_quality(folder, LAST, withdrawn=0, approver=None)
    with pytest.raises(DropError):
        check_quality(folder, LAST, withdrawn=0, approver="")
    passed = check_quality(folder, LAST, withdrawn=0, approver="A. Weiss")
    assert passed is not None
    assert (passed.reason, passed.approver, len(passed.drops)) == (Reason.APPROVED, "A. Weiss", 1)


def test_a_drop_that_a_withdrawal_causes_passes_and_is_recorded(tmp_path: Path) -> None:
    passed = check_quality(head(tmp_path, [LOWER]), LAST, withdrawn=0.5, approver=None)
    assert passed is not None
    assert (passed.reason, passed.approver) == (Reason.WITHDRAWAL, "")
    assert passed.describe() == ["recall of NAME is 0.620, and 0.910 in the last release"]
    assert passed.as_json("0003-pipeline")["withdrawn"] == "0.5000"


def test_a_student_is_held_against_its_teacher_and_no_withdrawal_excuses_it(tmp_path: Path) -> None:
    folder = head(tmp_path, [AS_BEFORE])

    def distilled(changes: list[Any]) -> None:
        record = json.loads((folder / "training.json").read_text())
        (folder / "training.json").write_text(json.dumps(record | {"distilled": {"text": "ab", "changes": changes}}))

    distilled([AS_BEFORE])
    assert check_quality(folder, LAST, withdrawn=0, approver=None) is None
    assert "no less than release 2, and no less than the head that taught it" in describe_no_drop(folder)
    distilled([])
    assert "what it finds against the head that taught it" in describe_no_drop(folder).split("NOT MEASURED")[1]
    distilled([LOWER])
    for last, withdrawn in ((LAST, 0.5), (None, 0)):
        with pytest.raises(
            DropError, match=r"NAME 0\.620 against 0\.910 of the head that taught it.*; distil public text"
        ):
            check_quality(folder, last, withdrawn=withdrawn, approver=None)
    passed = check_quality(folder, LAST, withdrawn=0, approver="A. Weiss")
    assert passed is not None
    assert passed.describe() == ["recall of NAME is 0.620, and 0.910 of the head that taught this one"]


MORE_ALARMS = {"category": FALSE_ALARMS, "tokens": 4000, "recall": 0.21, "before": 0.01, "low": 0.15, "high": 0.25}


def test_attack_a_head_that_hides_everything_finds_more_and_does_not_pass(tmp_path: Path) -> None:
    folder = head(tmp_path, [AS_BEFORE, MORE_ALARMS], {"north": [AS_BEFORE, MORE_ALARMS | {"low": 0.004}]})
    for withdrawn in (0, 1):
        with pytest.raises(
            DropError, match=r"no PHI, got what is worse: false alarms 0\.210 against 0\.010 of release 2"
        ):
            check_quality(folder, LAST, withdrawn=withdrawn, approver=None)
    passed = check_quality(folder, LAST, withdrawn=0, approver="A. Weiss")
    assert passed is not None
    assert passed.describe() == ["the share hidden of what is no PHI is 0.210, and 0.010 in the last release"]


@pytest.mark.parametrize("low", [0.004, -0.01, -0.3])
def test_as_many_false_alarms_or_fewer_pass(low: float, tmp_path: Path) -> None:
    folder = head(tmp_path, [AS_BEFORE, MORE_ALARMS | {"low": low}])
    assert check_quality(folder, LAST, withdrawn=0, approver=None) is None


# A third of what was found before is not found any more.
THIRD = LOWER | {"recall": 0.6, "before": 0.9}


@pytest.mark.parametrize("withdrawn", [0, 0.01, 0.33])
def test_a_small_withdrawal_excuses_no_large_drop(withdrawn: float, tmp_path: Path) -> None:
    with pytest.raises(DropError, match=r"NAME 0\.600 against 0\.900") as told:
        check_quality(head(tmp_path, [THIRD]), LAST, withdrawn=withdrawn, approver=None)
    assert (f"took back {withdrawn:.1%} of the shared tokens" in str(told.value)) == bool(withdrawn)
    # Nor where another category fell by less.
    with pytest.raises(DropError):
        check_quality(
            head(tmp_path, [THIRD | {"recall": 0.85}, THIRD]), LAST, withdrawn=max(withdrawn, 0.1), approver=None
        )
    assert check_quality(head(tmp_path, [THIRD]), LAST, withdrawn=0.34, approver=None)


@pytest.mark.parametrize(
    ("change", "withdrawn"), [({"recall": float("nan")}, 1), ({"before": float("nan")}, 1), ({}, float("nan"))]
)
def test_what_is_no_number_is_excused_by_no_withdrawal(
    change: dict[str, float], withdrawn: float, tmp_path: Path
) -> None:
    with pytest.raises(DropError):
        check_quality(head(tmp_path, [THIRD | change]), LAST, withdrawn=withdrawn, approver=None)


def test_attack_only_what_sites_took_back_themselves_counts_and_by_its_tokens(tmp_path: Path) -> None:
    made = new_workspace(tmp_path / "provider")
    with made.registry().transaction() as session:
        add(session, site("north"), site("south"))
        tokens = {1: 100, 2: 300, 3: 600}
        add(session, *(share(one, "north", id=one, state="accepted", tokens=count) for one, count in tokens.items()))
        add(session, share(9, "south", id=9, state="withdrawn", reason_code=BY_SITE, tokens=5000))
        session.add(ReleaseRow(sequence=2, kind="pipeline", name="0002-pipeline", digest=LAST, published_at=now()))
        session.flush()
        session.add_all(ReleaseShareRow(release=2, share=one) for one in tokens)

    def take_out(number: int, code: str) -> float:
        with made.registry().transaction() as session:
            row = session.get_one(ShareRow, number)
            row.state, row.reason_code = ShareState.WITHDRAWN, code
        return withdrawn_part(made, 2, {LAST})

    # What never trained it, or the provider took out itself, excuses nothing.
    assert withdrawn_part(made, 2, {LAST}) == 0
    assert take_out(3, BY_PROVIDER) == 0
    assert take_out(1, BY_SITE) == pytest.approx(0.1)
    assert take_out(2, BY_SITE) == pytest.approx(0.4)
    assert withdrawn_part(made, 1, {LAST}) == 0

    def add_share(number: int, site_name: str, tokens: int, state: str = "accepted") -> float:
        with made.registry().transaction() as session:
            add(session, share(number, site_name, id=number, state=state, tokens=tokens, release=LAST))
        return withdrawn_part(made, 2, {LAST})

    # Nor what its site has shared again since; what another one shares makes no difference.
    assert add_share(10, "south", 5000) == pytest.approx(0.4)
    assert add_share(11, "north", 5000, "quarantined") == pytest.approx(0.4)
    assert add_share(12, "north", 150) == pytest.approx(0.25)
    assert add_share(13, "north", 5000) == 0


@pytest.mark.parametrize("decided", ["2026-01-01T00:00:00Z", "2100-01-01T00:00:00Z"], ids=["long ago", "now"])
def test_what_was_made_with_another_representer_is_not_shared_anew(decided: str, tmp_path: Path) -> None:
    """It teaches no head of this one and stays accepted for ever, also where it was set aside and a person has looked at it only now."""
    made = new_workspace(tmp_path / "provider")
    with made.registry().transaction() as session:
        before: dict[str, Any] = {
            "id": 1,
            "state": "accepted",
            "tokens": 5000,
            "release": "cd" * 32,
            "received_at": "2026-01-01T00:00:00Z",
            "decided_at": decided,
        }
        back: dict[str, Any] = {"id": 2, "state": "withdrawn", "reason_code": BY_SITE, "tokens": 300}
        add(session, site("north"), share(1, **before), share(2, **back))
        session.add(ReleaseRow(sequence=3, kind="pipeline", name="0003-pipeline", digest=LAST, published_at=now()))
        session.flush()
        session.add(ReleaseShareRow(release=3, share=2))
    assert withdrawn_part(made, 3, {LAST}) == 1


def test_what_came_to_count_while_a_release_waited_for_its_person_is_shared_anew(tmp_path: Path) -> None:
    """A hospital that puts a share in the place of another shares first, and takes back then."""
    made = new_workspace(tmp_path / "provider")
    with made.registry().transaction() as session:
        came, trained_and_new = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
        back: dict[str, Any] = {
            "id": 1,
            "state": "withdrawn",
            "reason_code": BY_SITE,
            "tokens": 300,
            "received_at": came,
        }
        anew: dict[str, Any] = {
            "id": 2,
            "state": "accepted",
            "tokens": 300,
            "release": LAST,
            "received_at": came,
            "decided_at": trained_and_new,
        }
        add(session, site("north"), share(1, **back), share(2, **anew))
        session.add(ReleaseRow(sequence=3, kind="pipeline", name="0003-pipeline", digest=LAST, published_at=now()))
        session.flush()
        session.add(ReleaseShareRow(release=3, share=1))
    assert withdrawn_part(made, 3, {LAST}) == 0


def test_a_withdrawal_does_not_excuse_a_site_that_harms_the_others(tmp_path: Path) -> None:
    folder = head(tmp_path, [LOWER], {"north": [LOWER], "south": [AS_BEFORE]})
    with pytest.raises(DropError, match="the pool without north"):
        check_quality(folder, LAST, withdrawn=0.5, approver=None)
    passed = check_quality(folder, LAST, withdrawn=0.5, approver="A. Weiss")
    assert passed is not None
    # Hospitals are not told of one another.
    assert not any("north" in line for line in passed.describe())
    assert json.dumps(passed.as_json("0003-pipeline")).count("north") == 0


def test_a_first_release_is_held_against_the_pool_without_each_site(tmp_path: Path) -> None:
    assert check_quality(head(tmp_path, None, {"north": [AS_BEFORE]}), None, withdrawn=0, approver=None) is None
    with pytest.raises(DropError, match="the pool without north"):
        check_quality(head(tmp_path, None, {"north": [LOWER]}), None, withdrawn=0, approver=None)


def test_a_head_that_was_compared_with_another_release_or_with_none_is_refused(tmp_path: Path) -> None:
    for last, changes in ((LAST, None), ("cd" * 32, [AS_BEFORE])):
        folder = head(tmp_path, changes)
        for withdrawn in (0, 1):
            with pytest.raises(DropError, match="was compared with the last release"):
                check_quality(folder, last, withdrawn=withdrawn, approver=None)
        passed = check_quality(folder, last, withdrawn=0, approver="A. Weiss")
        assert passed is not None
        assert passed.describe() == ["it was not compared with the last release"]


def test_a_head_that_was_compared_on_no_phi_was_not_compared(tmp_path: Path) -> None:
    """Nothing is lower among no figures."""
    with pytest.raises(DropError, match="was compared with the last release"):
        check_quality(head(tmp_path, []), LAST, withdrawn=0, approver=None)


def test_that_the_last_release_can_not_be_compared_with_is_told_and_takes_a_name(tmp_path: Path) -> None:
    compared = {"release": 2, "digest": LAST, "changes": [], "unfair": True}
    (tmp_path / "training.json").write_text(json.dumps({"compared": compared}))
    with pytest.raises(DropError, match="trained with --no-hold-out"):
        check_quality(tmp_path, LAST, withdrawn=1, approver=None)
    passed = check_quality(tmp_path, LAST, withdrawn=0, approver="A. Weiss")
    assert passed is not None
    assert passed.describe() == ["it was not compared with the last release"]
    # Of another release it says nothing.
    with pytest.raises(DropError, match="got one that was not"):
        check_quality(tmp_path, "cd" * 32, withdrawn=0, approver=None)


@pytest.mark.parametrize(
    ("changes", "without", "told"),
    [
        ([AS_BEFORE], {"north": [AS_BEFORE]}, "the head finds no less than release 2, and no less than without any of the sites"),
        (None, {"north": [AS_BEFORE]}, "the head finds no less than without any of the sites; NOT MEASURED: what it finds against an earlier release"),
        ([AS_BEFORE], {}, "the head finds no less than release 2; NOT MEASURED: what each site does to the others"),
        (
            [AS_BEFORE],
            {"north": [], "south": [AS_BEFORE], "west": [SLIGHTLY]},
            "the head finds no less than release 2, and no less than without south or west; NOT MEASURED: what north does to the others",
        ),
        (None, {}, "NOT MEASURED: what it finds against an earlier release, what each site does to the others"),
    ],
)  # fmt: skip
def test_what_was_not_measured_is_not_told_as_found(
    changes: list[Any] | None, without: dict[str, list[Any]], told: str, tmp_path: Path
) -> None:
    assert describe_no_drop(head(tmp_path, changes, without)) == told


def test_of_a_head_that_hospitals_trained_nothing_is_told_as_found_at_a_hospital(tmp_path: Path) -> None:
    """All of it was measured on the provider's own held-out notes, since no others were there."""
    record = json.loads((head(tmp_path, [AS_BEFORE], {"north": [AS_BEFORE]}) / "training.json").read_text())
    for simulated in (True, False):
        (tmp_path / "training.json").write_text(json.dumps(record | {"federated": {"simulated": simulated}}))
        told = describe_no_drop(tmp_path)
        assert told.startswith("the head finds no less than release 2, and no less than without any of the sites")
        assert ("(on the provider's own held-out notes; no hospital's)" in told) is not simulated
        assert ("NOT MEASURED: what each site does to the others" in told) is not simulated
        lower = describe_unmeasured(tmp_path, uncompared=False)
        assert lower == ("" if simulated else "NOT MEASURED: what each site does to the others")


def test_a_figure_that_is_no_number_is_a_drop(tmp_path: Path) -> None:
    for change in (LOWER | {"high": float("nan")}, MORE_ALARMS | {"low": float("nan")}):
        with pytest.raises(DropError):
            check_quality(head(tmp_path, [change]), LAST, withdrawn=0, approver=None)


@pytest.mark.parametrize("text", ["", "[]", '{"compared": 3}', '{"compared": {"changes": [{}]}}'])
def test_a_damaged_record_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "training.json").write_text(text)
    with pytest.raises(WorkspaceError, match="train-head"):
        check_quality(tmp_path, LAST, withdrawn=0, approver="A. Weiss")


# What the head finds is replaced, see `lower_recall`.
HASTY = ("--epochs", 2, "--no-operating-points")


def lower_recall(loop: Loop, release: int) -> None:
    """What a comparison with the last release would have written, had the head found less."""
    path = loop.provider / "head" / "training.json"
    record = json.loads(path.read_text())
    assert record["compared"]["release"] == release
    record["compared"]["changes"] = [LOWER]
    path.write_text(json.dumps(record))


def test_the_way_of_a_drop_by_the_commands(loop: Loop) -> None:
    at = ("--workspace", loop.provider)
    stick = loop.root / "withdrawals"
    assert "recall against release 2" in done(train_head(loop, *HASTY, "--seed", 1)).stdout
    lower_recall(loop, 2)
    refused(provider("release", *at), 25, "NAME 0.620 against 0.910 of release 2")
    refused(provider("release", "--accept-drop", *at), 2, "--approver")
    refused(provider("release", "--approver", "A. Weiss", *at), 2, "--accept-drop")
    done(provider("release", "--accept-drop", "--approver", "A. Weiss", *at))
    events = values(provider("audit-log", "show", "--last", 2, "--json", *at))["events"]
    assert [(event["actor"], event["action"]) for event in events] == [
        ("A. Weiss", "drop-accepted"),
        ("operator", "release-published"),
    ]
    assert events[0]["details"]["reason"] == "approved"
    card = loop.target("0003-pipeline/MODEL_CARD.md").read_text()
    assert "A. Weiss has approved it" in card
    assert "recall of NAME is 0.620, and 0.910 in the last release" in card
    # A hospital takes its share back: what is lost by that passes, and stands in the log.
    done(hospital("withdraw", 1, "--reason", "asked", "--to-folder", stick, "--workspace", loop.site("north")))
    done(provider("ingest", stick, *at))
    done(train_head(loop, *HASTY))
    lower_recall(loop, 3)
    done(provider("release", *at))
    events = values(provider("audit-log", "show", "--last", 2, "--json", *at))["events"]
    assert events[0]["details"]["reason"] == "withdrawal"
    assert "because hospitals have withdrawn " in loop.target("0004-pipeline/MODEL_CARD.md").read_text()

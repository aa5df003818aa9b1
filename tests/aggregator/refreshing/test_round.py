"""`aggregator refresh`: what is taken in, trained, judged and proposed; what stays undone; and a round that is cut anywhere."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from aggregator import workspace as workspaces
from aggregator.enrolled import shares
from aggregator.enrolled.shares import Share, list_shares, reject
from aggregator.ingestion import ingest, verdict
from aggregator.ingestion.share_terms import share_terms
from aggregator.publishing import quality_gate
from aggregator.publishing.head_record import head_digest
from aggregator.publishing.proposal import read_proposal
from aggregator.refreshing import round as rounds
from aggregator.refreshing.found import Found
from aggregator.refreshing.kept import KeptRound, one_round_at_a_time
from aggregator.registry.states import ShareState
from aggregator.registry.times import now
from aggregator.status.last_round import read_last_round
from aggregator.training import head
from aggregator.workspace import Workspace
from bench.exchange.world import RELEASE, World
from foundation.errors import StorageError
from tests.aggregator.publishing.test_quality_gate import lower_recall
from tests.loop import Loop, done, hospital, provider, refused, share, small_heads, snapshot, values

# With fewer the heads of some draws find half of what release 2 finds, which no withdrawal of one share of two excuses.
QUICK = ("--epochs", 15, "--influence", "none", "--no-operating-points")


def refresh(loop: Loop, *more: object) -> Result:
    with small_heads():
        return provider("refresh", *more, "--workspace", loop.provider)


def withdraw(loop: Loop, name: str) -> Path:
    """A stick with a hospital's withdrawal of its share."""
    stick = loop.root / "withdrawals"
    done(hospital("withdraw", 1, "--reason", "asked", "--to-folder", stick, "--workspace", loop.site(name)))
    return stick


def left_by_a_crash(loop: Loop) -> tuple[Workspace, Share]:
    """A share that was received and not looked at."""
    request = loop.root / "fourth.request.json"
    made = values(hospital("enrol", "--out", request, "--workspace", loop.site("fourth"), "--json"))
    done(provider("site", "add", request, "--fingerprint", made["fingerprint"], "--workspace", loop.provider))
    workspace = workspaces.open_workspace(loop.provider)
    ingest.receive(workspace, share(loop, "fourth"))
    [left] = list_shares(workspace, (ShareState.RECEIVED,))
    return workspace, left


def here(loop: Loop) -> str:
    return head_digest(loop.provider / "head")


def told(result: Result) -> Any:
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def one_round(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Loop:
    """After a round that has trained a head and proposed it; nobody may change anything in it."""
    made = Loop(Path(shutil.copytree(built_loop.root, tmp_path_factory.mktemp("round") / "loop")))
    assert values(refresh(made, *QUICK, "--json"))["gate"]["verdict"] == "passed"
    return made


@pytest.fixture
def refreshed(one_round: Loop, tmp_path: Path) -> Loop:
    """The same, to change: where nothing that decides a head changes, the next round trains none."""
    return Loop(Path(shutil.copytree(one_round.root, tmp_path / "refreshed")))


class TestRound:
    def test_from_a_withdrawal_to_what_the_approver_types(self, loop: Loop) -> None:
        stick = withdraw(loop, "north")
        releases = snapshot(loop.provider / "releases" / "targets")
        found = values(refresh(loop, stick, *QUICK, "--json"))
        assert found["trained"]
        assert found["head"] == here(loop)
        assert [(one["site"], one["sequence"]) for one in found["shares"]["withdrawn"]] == [("north", 1)]
        assert (found["shares"]["release"], found["gate"]["verdict"]) == ("0002-pipeline", "passed")
        # Nothing leaves by itself: the dates are renewed, and that is all.
        assert snapshot(loop.provider / "releases" / "targets") == releases
        words = shlex.split(found["proposal"]["command"])
        assert words[:4] == ["aggregator", "release", "--head", here(loop)[:12]]
        alerts = values(provider("status", "--json", "--workspace", loop.provider))["alerts"]
        assert "proposal" in [one["kind"] for one in alerts]
        done(provider(*words[1:]))
        assert len(list((loop.provider / "releases" / "targets").glob("0003-pipeline"))) == 1
        events = values(provider("audit-log", "show", "--last", 3, "--json", "--workspace", loop.provider))["events"]
        # What was taken back may cost recall, which excuses the drop: every training draws other surrogates.
        told = [one["action"] for one in events if one["action"] != "drop-accepted"]
        assert told[-2:] == ["release-proposed", "release-published"]
        # What is released waits for nobody any more, and the next round has nothing to train.
        again = values(refresh(loop, stick, *QUICK, "--json"))
        assert (again["round"], again["trained"], again["proposal"]) == (2, False, None)
        assert again["gate"] == {
            "verdict": "nothing new",
            "says": ["this head is that of release 0003-pipeline: there is nothing to release"],
        }
        assert not any(one["refused"] for one in again["files"].values())

    def test_people_read_what_became_of_all_of_it(self, refreshed: Loop) -> None:
        (refreshed.stick / "odd.share").write_bytes(b"junk")
        result = refresh(refreshed, refreshed.stick, *QUICK)
        refused(result, 10, "odd.share")
        said = result.stdout.splitlines()
        assert said[0].startswith("round 2, begun ")
        assert any(line.startswith("brought: odd.share: ") for line in said)
        assert "taken since release 0002-pipeline: no share" in said
        assert any(line.startswith("gate: audit: ") for line in said)
        assert said[-2:] == [
            "nothing is released by itself; the approver types:",
            f"  aggregator release --head {here(refreshed)[:12]} --workspace {refreshed.provider}",
        ]

    def test_attack_the_name_of_a_file_does_not_command_the_terminal(self, refreshed: Loop) -> None:
        odd = refreshed.root / "odd"
        odd.mkdir()
        for name in ("a\x1b[8m\r.share", os.fsdecode(b"b\xff.share")):
            (odd / name).write_bytes(b"junk")
        result = refresh(refreshed, odd, *QUICK)
        assert refused(result, 10).startswith("error: a\\u001b[8m\\u000d.share: expected a bundle")
        assert "brought: b\\udcff.share: b\\udcff.share: expected" in result.stdout
        assert all(mark.isprintable() for mark in result.stdout.replace("\n", ""))
        # Also for who knows a file by its name at the beginning of its line.
        last = read_last_round(workspaces.open_workspace(refreshed.provider))
        assert last is not None
        assert last.unread == 2

    def test_a_share_that_can_not_be_decided_holds_up_nobody(self, refreshed: Loop) -> None:
        workspace, lost = left_by_a_crash(refreshed)
        workspace.objects().delete(lost.bundle)
        result = refresh(refreshed, *QUICK, "--json")
        refused(result, 8, "share 1 of fourth", f"aggregator shares reject {lost.bundle[:12]}")
        assert told(result)["ended"]
        assert [one["site"] for one in told(result)["shares"]["undecided"]] == ["fourth"]
        assert told(result)["gate"]["verdict"] == "passed"
        reject(workspace, lost, "D. Engel", "lost")
        assert not values(refresh(refreshed, *QUICK, "--json"))["shares"]["undecided"]

    def test_a_share_that_a_crash_left_and_that_is_refused_ends_it_with_24(
        self, refreshed: Loop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace, left = left_by_a_crash(refreshed)
        monkeypatch.setattr(
            ingest, "share_terms", lambda workspace: replace(share_terms(workspace), releases=frozenset())
        )
        result = refresh(refreshed, *QUICK)
        refused(result, 24, "refused 1 of 1")
        assert "refused since release 0002-pipeline: fourth share 1, other-release" in result.stdout
        assert ingest.process(workspace, left.id).known

    def test_sticks_are_asked_for_where_the_offline_keys_are_elsewhere(self, refreshed: Loop) -> None:
        done(provider("keys", "export-offline", refreshed.root / "away", "--workspace", refreshed.provider))
        found = values(refresh(refreshed, *QUICK, "--json"))
        assert " --offline-keys DIR --offline-keys DIR " in found["proposal"]["command"]
        assert not found["trained"]
        assert found["expires"].keys() >= {"timestamp", "snapshot"}

    def test_a_head_that_finds_less_is_proposed_for_a_name_only(self, refreshed: Loop) -> None:
        lower_recall(refreshed, 2)
        result = refresh(refreshed, *QUICK, "--json")
        refused(result, 25, "NAME 0.620 against 0.910 of release 2")
        found = told(result)
        assert found["gate"]["verdict"] == "drop"
        assert "--accept-drop --approver NAME" in found["proposal"]["command"]
        refused(provider("release", "--head", found["head"][:12], "--workspace", refreshed.provider), 25)

    def test_what_was_not_measured_is_not_proposed_as_found(self, refreshed: Loop) -> None:
        """The approver reads this line and no other of the head: without any measurement it said that no site does harm."""
        found = values(refresh(refreshed, *QUICK, "--json"))
        said = found["gate"]["says"][-1]
        assert said == "the head finds no less than release 2; NOT MEASURED: what each site does to the others"
        assert found["proposal"]["says"][-1] == said

    def test_a_damaged_record_of_the_head_is_told_in_a_line(self, refreshed: Loop) -> None:
        (refreshed.provider / "head" / "training.json").write_text("{")
        refused(refresh(refreshed, *QUICK, "--json"), 20, "train-head")

    def test_without_an_audit_there_is_nothing_to_approve(self, refreshed: Loop) -> None:
        shutil.rmtree(refreshed.provider / "audit")
        result = refresh(refreshed, *QUICK, "--json")
        refused(result, 22, "aggregator audit")
        assert (told(result)["gate"]["verdict"], told(result)["proposal"]) == ("audit", None)

    def test_other_options_train_another_head(self, refreshed: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(head, "plan_head", cut)
        assert isinstance(refresh(refreshed, *QUICK, "--seed", 1).exception, SystemExit)
        assert values(refresh(refreshed, *QUICK, "--json"))["went_on"]

    def test_attack_a_look_without_influence_passes_for_one_with(
        self, refreshed: Loop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`train-head --influence none` makes the head of the last round, and a record without what that had measured."""
        path = refreshed.provider / "round" / "round.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"measured": True}))
        monkeypatch.setattr(head, "plan_head", cut)
        assert isinstance(refresh(refreshed, *QUICK).exception, SystemExit)

    def test_a_round_that_can_train_no_head_renews_the_releases(self, refreshed: Loop) -> None:
        def version() -> int:
            signed = json.loads((refreshed.provider / "releases" / "metadata" / "timestamp.json").read_text())["signed"]
            return int(signed["version"])

        before = version()
        refused(refresh(refreshed, *QUICK, "--site", "nobody"), 21, "nobody: expected an accepted share")
        assert version() == before + 1

    def test_two_rounds_do_not_run_at_once(self, refreshed: Loop) -> None:
        with one_round_at_a_time(workspaces.open_workspace(refreshed.provider)):
            refused(refresh(refreshed, *QUICK), 8, "wait until it has ended")


class TestProposal:
    def test_a_head_that_is_another_since_does_not_leave_by_its_name(self, refreshed: Loop) -> None:
        proposed = here(refreshed)
        settings = refreshed.provider / "head" / "last_word.json"
        settings.write_text(settings.read_text() + "\n")
        command = ("release", "--head", proposed[:12], "--workspace", refreshed.provider)
        refused(provider(*command), 20, proposed[:12], "refresh")
        assert read_proposal(workspaces.open_workspace(refreshed.provider)) is None

    def test_a_damaged_one_is_named(self, refreshed: Loop) -> None:
        (refreshed.provider / "proposal.json").write_text('{"format": 1}')
        refused(provider("status", "--check", "--workspace", refreshed.provider), 26, "found 1")
        refused(refresh(refreshed, *QUICK), 20, "proposal.json")


class Cut(Exception):
    """A loss of power."""


# What each step begins with.
STEPS = {
    "take in": (rounds, "take_all"),
    "train": (head, "plan_head"),
    "after the training": (rounds, "released_as"),
    "gate": (quality_gate, "read_drops"),
    "propose": (rounds, "propose"),
    "renew": (rounds, "renew"),
}


def cut(*given: Any, **named: Any) -> Any:
    raise Cut


def test_a_round_that_is_cut_in_every_step_goes_on_and_trains_once(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    stick = withdraw(loop, "south")
    trained: list[str] = []
    measure = head._measure

    def counted(*given: Any, **named: Any) -> Any:
        trained.append("to the end")
        return measure(*given, **named)

    monkeypatch.setattr(head, "_measure", counted)
    for module, name in STEPS.values():
        with monkeypatch.context() as patch:
            patch.setattr(module, name, cut)
            result = refresh(loop, stick, *QUICK)
        # Whatever ends it, what it has found is told.
        assert result.stdout.startswith("round 1, begun ")
        refused(result, 1, "Cut")
        kept = json.loads((loop.provider / "round" / "round.json").read_text())
        assert (kept["number"], kept["ended"]) == (1, ""), name
    found = values(refresh(loop, stick, *QUICK, "--json"))
    assert (found["round"], found["went_on"], found["gate"]["verdict"]) == (1, True, "passed")
    assert found["proposal"]["head"] == here(loop)
    assert trained == ["to the end"]
    after = values(refresh(loop, stick, *QUICK, "--json"))
    assert (after["round"], after["went_on"], after["proposal"]["at"]) == (2, False, found["proposal"]["at"])


@pytest.mark.usefixtures("quick")
def test_what_a_round_has_decided_and_not_kept_when_it_was_cut_is_told_by_it(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between the two, or a disk that is full by then: the refusal was told by no round, and ended none with its code."""
    workspace, bundle = small.workspace(), small.bundle(release="cd" * 32)
    (workspace.root / "round").mkdir()
    monkeypatch.setattr(rounds, "read_arrivals", lambda workspace: None)
    plan, kept = rounds.RoundPlan([bundle], None, None), KeptRound(1, now())  # type: ignore[arg-type]
    with monkeypatch.context() as patch:
        patch.setattr(rounds, "_keep", cut)
        with pytest.raises(Cut):
            rounds._take_in(workspace, plan, Found(kept, went_on=False))
    found = Found(kept, went_on=True)
    assert "refused 1 of 1" in str(rounds._take_in(workspace, plan, found))
    assert [one.refused for one in found.round.files.values()] == [True]
    later = Found(KeptRound(2, "2100-01-01T00:00:00Z"), went_on=False)
    assert rounds._take_in(workspace, plan, later) is None
    assert not later.round.files


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("by", ["this round", "another process", "a person"])
@pytest.mark.parametrize("release", [RELEASE, "cd" * 32], ids=["good", "bad"])
def test_an_error_of_before_it_was_cut_is_over_where_the_share_is_decided_now(
    by: str, release: str, small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk is full, and for that the training ends as well. Once there is room nothing was refused for it."""
    workspace, bundle = small.workspace(), small.bundle(release=release)
    (workspace.root / "round").mkdir()
    monkeypatch.setattr(rounds, "read_arrivals", lambda workspace: None)
    plan, found = rounds.RoundPlan([bundle], None, None), Found(KeptRound(1, now()), went_on=False)  # type: ignore[arg-type]

    def full(*given: object) -> None:
        raise StorageError("room", received="none", advice="make some", place="disk")

    with monkeypatch.context() as patch:
        patch.setattr(ingest, "decide", full)
        assert isinstance(rounds._take_in(workspace, plan, found), StorageError)
    if by == "another process":
        ingest.resume(workspace)
    elif by == "a person":
        reject(workspace, list_shares(workspace)[0], "A. Weiss", "can't be opened")
    again = Found(found.round, went_on=True)
    counts = release == RELEASE or by == "a person"
    for _ in range(2):
        assert (rounds._take_in(workspace, plan, again) is None) == counts
        told = [one.line for one in again.round.files.values()]
        assert not any("room" in line for line in told)
    # What a person has decided meanwhile is no news.
    assert ["rejected" in line for line in told] == ([] if by == "a person" else [not counts])


@pytest.mark.usefixtures("quick")
def test_what_a_person_refuses_while_a_round_is_cut_does_not_end_it_with_an_error(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier round has told that the share was set aside, and its file lies there still."""
    workspace, bundle = small.workspace(), small.bundle()
    monkeypatch.setattr(rounds, "read_arrivals", lambda workspace: None)
    monkeypatch.setattr(verdict, "_verdict", lambda *given: shares.Verdict(ShareState.QUARANTINED, "overlap", "half"))
    ingest.ingest(workspace, bundle)
    [share] = list_shares(workspace)
    (workspace.root / "round").mkdir()
    reject(workspace, share, "A. Weiss", "the same notes")
    found = Found(KeptRound(2, "2000-01-01T00:00:00Z"), went_on=True)
    assert rounds._take_in(workspace, rounds.RoundPlan([bundle], None, None), found) is None  # type: ignore[arg-type]
    assert not found.round.files


def test_a_damaged_memory_costs_a_training_and_nothing_else(refreshed: Loop) -> None:
    before = here(refreshed)
    (refreshed.provider / "round" / "round.json").write_text("{")
    again = refresh(refreshed, *QUICK, "--json")
    assert again.exit_code == 0
    assert "round.json can't be read" in again.stderr
    assert (told(again)["round"], told(again)["trained"], told(again)["head"]) == (1, True, before)

"""No share leaves unapproved, and no approval serves another share."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from protocols.errors import ProtocolError
from protocols.share.sealing import manifest_path, read_manifest
from site_client import ledger
from site_client.commands import approval as commands_approval
from site_client.errors import ApprovalError, PolicyError
from site_client.ledger import Event
from site_client.policy.site_policy import DEFAULT
from site_client.policy.stored import policy_path, set_policy
from site_client.sharing import approval
from site_client.workspace import Workspace, open_workspace
from tests.protocols.share.shares import OTHER_KEY, resign
from tests.site_client.exchange.paired import share, site


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return site(tmp_path / "site")


def events(workspace: Workspace) -> list[str]:
    return [entry.event for entry in ledger.entries(workspace)]


def test_nothing_leaves_without_a_name(workspace: Workspace) -> None:
    path = share(workspace)
    with pytest.raises(ApprovalError, match="--approver"):
        approval.require(workspace, path, None)
    assert not events(workspace)


def test_an_approval_is_recorded_and_signed(workspace: Workspace) -> None:
    path = share(workspace)
    approval.require(workspace, path, "  Dr Ünal ")
    (entry,) = ledger.entries(workspace)
    assert entry.event == Event.APPROVED
    assert entry.details == {
        "approver": "Dr Ünal",
        "manifest_sha256": read_manifest(path).sha256,
        "payload_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "sequence": 1,
    }


def test_an_approved_share_may_be_sent_again_after_a_cut(workspace: Workspace) -> None:
    path = share(workspace)
    approval.require(workspace, path, "Dr Ünal")
    approval.require(workspace, path, None)
    assert events(workspace) == [Event.APPROVED]


def test_an_approval_serves_no_other_share(workspace: Workspace) -> None:
    approval.require(workspace, share(workspace), "Dr Ünal")
    for other in (share(workspace, "b.parquet", 2), share(workspace, "share.parquet", 3)):
        with pytest.raises(ApprovalError):
            approval.require(workspace, other, None)


def test_a_share_changed_after_its_approval_is_another(workspace: Workspace) -> None:
    path = share(workspace)
    approval.require(workspace, path, "Dr Ünal")
    resign(path, lambda manifest: manifest.update(sequence=2), workspace.key())
    with pytest.raises(ApprovalError):
        approval.require(workspace, path, None)


def test_a_share_that_is_not_ours_can_not_be_approved(workspace: Workspace) -> None:
    path = share(workspace)
    resign(path, lambda manifest: None, OTHER_KEY)
    with pytest.raises(ProtocolError):
        approval.require(workspace, path, "Dr Ünal")
    assert not events(workspace)


@pytest.mark.parametrize("name", ["", "   ", "two\nlines", "x" * 201])
def test_no_name_is_no_approval(name: str, workspace: Workspace) -> None:
    with pytest.raises(ApprovalError):
        approval.require(workspace, share(workspace), name)
    assert not events(workspace)


def test_a_policy_may_do_without_and_that_is_recorded_too(workspace: Workspace) -> None:
    set_policy(workspace, replace(DEFAULT, approval=False))
    path = share(workspace)
    approval.require(workspace, path, None)
    approval.require(workspace, path, None)
    assert events(workspace) == [Event.POLICY_SET, Event.APPROVAL_WAIVED]
    # The day the policy changes, what was waved through has to be approved.
    set_policy(workspace, DEFAULT)
    with pytest.raises(ApprovalError):
        approval.require(workspace, path, None)


@pytest.mark.parametrize("recorded", [False, True], ids=["as earlier versions", "as init"])
def test_attack_one_word_in_the_settings_switches_no_approval_off(recorded: bool, workspace: Workspace) -> None:
    if recorded:
        set_policy(workspace, DEFAULT)
    settings = workspace.root / "site.json"
    stated = json.loads(settings.read_text())
    settings.write_text(json.dumps(stated | {"approval": "not required"}))
    with pytest.raises(ApprovalError, match="--approver"):
        approval.require(open_workspace(workspace.root), share(workspace), None)


def test_attack_a_policy_without_approval_that_the_ledger_does_not_know_is_refused(workspace: Workspace) -> None:
    set_policy(workspace, DEFAULT)
    written = json.loads(policy_path(workspace).read_text())
    policy_path(workspace).write_text(json.dumps(written | {"approval": False}))
    with pytest.raises(PolicyError, match="changed outside"):
        approval.require(workspace, share(workspace), None)


@click.command()
@click.argument("share", type=click.Path(path_type=Path))
@commands_approval.approver_option
@click.pass_obj
def submit(workspace: Workspace, share: Path, approver: str | None) -> None:
    commands_approval.approve(workspace, share, approver)


@pytest.mark.parametrize(
    ("terminal", "typed", "arguments", "leaves"),
    [
        (False, "Dr Ünal\n", [], False),
        (False, "", ["--approver", "Dr Ünal"], True),
        (True, "Dr Ünal\n", [], True),
        (True, "\n", [], False),
    ],
)
def test_only_at_a_terminal_the_name_is_asked_for(
    terminal: bool,
    typed: str,
    arguments: list[str],
    leaves: bool,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = share(workspace)
    shown: list[Path] = []

    def lines(workspace: Workspace, path: Path) -> list[str]:
        shown.append(path)
        return ["what leaves"]

    monkeypatch.setattr(commands_approval, "at_terminal", lambda: terminal)
    monkeypatch.setattr(commands_approval, "inspection_of", lines)
    result = CliRunner().invoke(submit, [str(path), *arguments], input=typed, obj=workspace)
    assert (result.exit_code == 0) == leaves
    assert bool(events(workspace)) == leaves
    assert shown == ([path] if terminal else [])
    assert ("what leaves" in result.stderr) == terminal
    # Who has seen the share elsewhere is told what this copy of it can't tell.
    assert ("PHI that nobody labelled is not known here" in result.stderr) == (leaves and not terminal)
    assert CliRunner().invoke(submit, [str(path)], obj=workspace).stderr.count("not known here") == 0


def test_a_name_may_be_composed_in_either_way(workspace: Workspace) -> None:
    approval.require(workspace, share(workspace), "Dr U\u0308nal")
    (entry,) = ledger.entries(workspace)
    assert entry.details["approver"] == "Dr Ünal"


def test_attack_a_share_that_takes_the_place_of_the_one_that_was_shown(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = share(workspace)

    def answer(*arguments: object, **options: object) -> str:
        other = share(workspace, "other.parquet", sequence=2)
        for mine, theirs in ((path, other), (manifest_path(path), manifest_path(other))):
            mine.write_bytes(theirs.read_bytes())
        return "Dr Ünal"

    monkeypatch.setattr(commands_approval, "at_terminal", lambda: True)
    monkeypatch.setattr(commands_approval, "inspection_of", lambda workspace, share: [])
    monkeypatch.setattr(click, "prompt", answer)
    with pytest.raises(ApprovalError, match="taken its place"):
        commands_approval.approve(workspace, path, None)
    assert not events(workspace)

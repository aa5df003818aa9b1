"""The site's keys over time."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

import pytest

from foundation.errors import StorageError
from protocols.errors import ProtocolError, SchemaError, SignatureError
from protocols.keys.enrolment import read_request
from protocols.keys.rotation import Acceptance, Rotation, parse_rotation
from protocols.keys.signing import PrivateKey
from site_client import keys, ledger
from site_client.errors import SiteError, WorkspaceError
from site_client.workspace import KeyState, Workspace, open_workspace
from tests.loop import done, hospital, refused, values
from tests.site_client.exchange.paired import DAY, PROVIDER, days, record, site


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return site(tmp_path / "site")


def accepted(asked: Rotation, provider: PrivateKey = PROVIDER, name: str = "st-anne") -> bytes:
    return Acceptance(name, asked.new_key, DAY, asked.valid_until, days(30)).to_bytes(provider)


def with_end(workspace: Workspace, last: datetime.date) -> Workspace:
    """The same hospital, the key in use valid until a day; saved."""
    changed = replace(workspace, keys=(replace(workspace.keys[0], valid_until=last),))
    changed.save()
    return changed


def test_the_request_names_the_key_in_use_and_its_end(workspace: Workspace) -> None:
    keys.request_enrolment(workspace, workspace.root / "request.json", "office", DAY)
    request = read_request(workspace.root / "request.json")
    assert request.public_key == workspace.key().public_key
    assert request.valid_until == workspace.key_in_use.valid_until
    assert [entry.event for entry in ledger.entries(workspace)] == ["enrolment requested"]


def test_a_new_key_waits_for_the_provider(workspace: Workspace) -> None:
    old = workspace.key().public_key
    asking, data = keys.rotation(workspace, DAY)
    asked = parse_rotation(data)
    assert asked.old_key == old
    assert open_workspace(workspace.root) == asking
    assert [key.state for key in asking.keys] == [KeyState.IN_USE, KeyState.WAITING]
    assert asking.key().public_key == old
    assert asking.private_key(asked.new_key.key_id).stat().st_mode & 0o077 == 0
    using, _ = keys.take_into_use(asking, accepted(asked))
    assert open_workspace(workspace.root) == using
    assert using.key().public_key == asked.new_key
    assert [(key.state, key.valid_until) for key in using.keys] == [
        (KeyState.RETIRED, days(30)),
        (KeyState.IN_USE, asked.valid_until),
    ]
    assert using.public_keys == (old, asked.new_key)
    # What the old key signed in its time stays good, and it vouches for the new one.
    assert [entry.key_id for entry in ledger.entries(using)] == [old.key_id] * 2


def test_asking_again_asks_for_the_same_key(workspace: Workspace) -> None:
    asking, first = keys.rotation(workspace, DAY)
    again, second = keys.rotation(asking, days(1), 5)
    assert parse_rotation(first).new_key == parse_rotation(second).new_key
    assert again.keys == asking.keys


def test_a_key_that_waited_too_long_is_replaced(workspace: Workspace) -> None:
    workspace = with_end(workspace, days(1001))
    asking, first = keys.rotation(workspace, DAY)
    again, second = keys.rotation(asking, days(1000))
    assert parse_rotation(first).new_key != parse_rotation(second).new_key
    assert [key.state for key in again.keys] == [KeyState.IN_USE, KeyState.WAITING]


def test_the_same_acceptance_again_changes_nothing(workspace: Workspace) -> None:
    asking, data = keys.rotation(workspace, DAY)
    answer = accepted(parse_rotation(data))
    using, _ = keys.take_into_use(asking, answer)
    before = ledger.verify(using)
    assert keys.take_into_use(using, answer)[0] == using
    assert ledger.verify(using) == before


def test_nobody_but_the_provider_brings_a_key_into_use(workspace: Workspace) -> None:
    asking, data = keys.rotation(workspace, DAY)
    with pytest.raises(SignatureError):
        keys.take_into_use(asking, accepted(parse_rotation(data), workspace.key()))
    assert open_workspace(workspace.root) == asking


def test_a_key_of_the_provider_that_ran_out_brings_none_into_use(workspace: Workspace) -> None:
    asking, data = keys.rotation(workspace, DAY)
    over = asking.update_settings(lambda now: replace(now, provider=record(until=-2)))
    with pytest.raises(SignatureError, match="pull"):
        keys.take_into_use(over, accepted(parse_rotation(data)))
    assert open_workspace(workspace.root) == over


def test_an_acceptance_for_another_site_or_key_is_refused(workspace: Workspace) -> None:
    asking, data = keys.rotation(workspace, DAY)
    asked = parse_rotation(data)
    unknown = replace(asked, new_key=PrivateKey.generate().public_key)
    for answer in (accepted(asked, name="st-bede"), accepted(unknown)):
        with pytest.raises(SiteError, match="waits here"):
            keys.take_into_use(asking, answer)
    using, _ = keys.take_into_use(asking, accepted(asked))
    # A key that has been replaced does not come back.
    next_one, more = keys.rotation(using, DAY)
    last, _ = keys.take_into_use(next_one, accepted(parse_rotation(more)))
    with pytest.raises(SiteError):
        keys.take_into_use(last, accepted(asked))


def test_without_a_provider_nothing_is_accepted(workspace: Workspace) -> None:
    asking, data = keys.rotation(workspace, DAY)
    with pytest.raises(WorkspaceError, match="pull"):
        keys.take_into_use(replace(asking, provider=None), accepted(parse_rotation(data)))


def test_another_key_under_the_name_of_the_one_in_use_is_noticed(workspace: Workspace) -> None:
    path = workspace.private_key(workspace.key_in_use.key_id)
    path.unlink()
    PrivateKey.generate().save(path)
    with pytest.raises(WorkspaceError, match="backup"):
        workspace.key()


@pytest.mark.parametrize(("ahead", "lines"), [(31, 0), (30, 1), (0, 1), (-1, 1)])
def test_the_end_of_a_key_is_said_ahead(ahead: int, lines: int, workspace: Workspace) -> None:
    near = replace(workspace, keys=(replace(workspace.keys[0], valid_until=days(ahead)),))
    assert len(keys.expiry_lines(near, DAY)) == lines
    assert len(keys.expiry_lines(replace(workspace, provider=record(until=ahead)), DAY)) == lines


def test_an_expired_key_asks_for_nothing(workspace: Workspace) -> None:
    over = with_end(workspace, days(-1))
    with pytest.raises(SiteError, match="enrol --new-key"):
        keys.request_enrolment(over, workspace.root / "request.json", "", DAY)
    with pytest.raises(SiteError, match="enrol --new-key"):
        keys.rotation(over, DAY)
    assert open_workspace(workspace.root) == over
    assert keys.expiry_lines(over, DAY) == [
        f"the key of this site was valid until {days(-1)}: run `site-client enrol --new-key`"
    ]
    # On its last day it still asks for the next.
    keys.rotation(with_end(workspace, DAY), DAY)


@pytest.mark.parametrize("last", [-1, 0, 600])
def test_a_new_key_in_the_same_workspace_takes_the_place_of_one_that_ended_or_was_stolen(
    last: int, workspace: Workspace
) -> None:
    before = keys.rotation(with_end(workspace, days(max(last, 0))), DAY)[0]
    before = replace(before, sequence=7, keys=(replace(before.keys[0], valid_until=days(last)), before.keys[1]))
    before.save()
    old = before.key_in_use
    keys.request_enrolment(before, workspace.root / "request.json", "office", DAY, new_key=True)
    now = open_workspace(workspace.root)
    # No key waits any more: who has stolen the old one may have rotated it.
    assert [key.state for key in now.keys] == [KeyState.RETIRED, KeyState.IN_USE]
    assert now.keys[0] == replace(old, state=KeyState.RETIRED, valid_until=days(-1))
    assert (now.sequence, now.key_in_use.valid_until) == (7, days(730))
    assert read_request(workspace.root / "request.json").public_key == now.key().public_key
    [*_, replaced, asked] = ledger.entries(now)
    assert (replaced.event, replaced.details) == ("key replaced", {"key": now.key_in_use.key_id, "old": old.key_id})
    assert (asked.event, asked.key_id) == ("enrolment requested", now.key_in_use.key_id)
    # The same request again makes no other key.
    keys.request_enrolment(now, workspace.root / "again.json", "office", DAY)
    assert open_workspace(workspace.root) == now


def test_a_key_that_was_lost_is_replaced_too(workspace: Workspace) -> None:
    ledger.record(workspace, "approved", {})
    workspace.private_key(workspace.key_in_use.key_id).unlink()
    keys.request_enrolment(workspace, workspace.root / "request.json", "", DAY, new_key=True)
    now = open_workspace(workspace.root)
    assert [entry.event for entry in ledger.entries(now)] == ["approved", "key replaced", "enrolment requested"]


def test_no_key_is_replaced_for_a_request_that_nobody_gets(workspace: Workspace) -> None:
    with pytest.raises(StorageError, match="folder"):
        keys.request_enrolment(workspace, workspace.root / "none" / "request.json", "", DAY, new_key=True)
    with pytest.raises(SchemaError):
        keys.request_enrolment(workspace, workspace.root / "request.json", "a\nb", DAY, new_key=True)
    assert open_workspace(workspace.root) == workspace


def test_the_commands(workspace: Workspace, tmp_path: Path) -> None:
    at = ("--workspace", workspace.root)
    out = tmp_path / "st-anne.rotation.json"
    refused(hospital("keys", "rotate", *at), 30, "stick")
    done(hospital("keys", "rotate", "--out", out, *at))
    (tmp_path / "answer.json").write_bytes(accepted(parse_rotation(out.read_bytes())))
    found = values(hospital("keys", "accept", tmp_path / "answer.json", "--json", *at))
    shown = values(hospital("keys", "show", "--json", *at))
    assert [row["state"] for row in shown["keys"]] == [KeyState.RETIRED, KeyState.IN_USE]
    assert shown["keys"][1]["fingerprint"] == found["fingerprint"]
    refused(hospital("keys", "accept", out, *at), 10, "acceptance")
    request = tmp_path / "st-anne.request.json"
    again = done(hospital("enrol", "--new-key", "--out", request, *at))
    assert "have it revoked" in again.stdout
    shown = values(hospital("keys", "show", "--json", *at))
    assert [row["state"] for row in shown["keys"]] == [KeyState.RETIRED, KeyState.RETIRED, KeyState.IN_USE]
    assert shown["keys"][2]["fingerprint"] in again.stdout


@pytest.mark.parametrize("command", [("enrol",), ("enrol", "--new-key"), ("keys", "rotate")])
def test_no_file_but_one_of_its_kind_is_replaced(
    command: tuple[str, ...], workspace: Workspace, tmp_path: Path
) -> None:
    at = ("--workspace", workspace.root)
    note = tmp_path / "note.txt"
    note.write_text("a note")
    before = (workspace.root / "site.json").read_bytes()
    refused(hospital(*command, "--out", note, *at), 2, "choose another name")
    assert note.read_text() == "a note"
    assert (workspace.root / "site.json").read_bytes() == before
    for _ in range(2):
        done(hospital(*command, "--out", tmp_path / "asked.json", *at))


def test_a_damaged_list_of_keys_opens_nothing(workspace: Workspace) -> None:
    settings = workspace.root / "site.json"
    whole = settings.read_text()
    for wrong, right in (("retired", "in use"), ("nonsense", "in use"), ('"valid_until": "x', '"valid_until": "2')):
        settings.write_text(whole.replace(right, wrong))
        with pytest.raises((WorkspaceError, ProtocolError)):
            open_workspace(workspace.root)


def test_a_key_that_changes_while_a_share_is_made_stays_changed(workspace: Workspace) -> None:
    """`encode` opens the workspace hours before it saves the number of its share."""
    asking, data = keys.rotation(workspace, DAY)
    keys.take_into_use(asking, accepted(parse_rotation(data)))
    numbered, _ = workspace.next_sequence()
    assert numbered.key_in_use.public_key == asking.keys[-1].public_key
    assert open_workspace(workspace.root) == numbered
    assert ledger.verify(numbered) is not None


def test_two_rotations_at_once_ask_for_one_key(workspace: Workspace) -> None:
    first, second = keys.rotation(workspace, DAY)[0], keys.rotation(workspace, DAY)[0]
    assert first.keys == second.keys

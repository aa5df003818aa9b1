"""The hospital's log of what left: what it proves, and every way to change it."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.errors import StorageError
from protocols.canonical import canonical_bytes
from protocols.keys.signing import LEDGER_CONTEXT, SHARE_CONTEXT, PrivateKey
from site_client import ledger
from site_client.errors import LedgerError
from site_client.policy.site_policy import DEFAULT
from site_client.policy.stored import load_policy, policy_path, set_policy
from site_client.workspace import KeyState, SiteKey, Workspace, create, open_workspace
from tests.loop import done, hospital, refused, values


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    made = create(tmp_path / "site", "st-anne")
    for number in range(3):
        ledger.record(made, "approved", {"approver": "Dr Ünal", "sequence": number})
    return made


def lines(site: Workspace) -> list[bytes]:
    return ledger.ledger_path(site).read_bytes().splitlines()


def rewrite(site: Workspace, changed: list[bytes]) -> None:
    ledger.ledger_path(site).write_bytes(b"".join(line + b"\n" for line in changed))


def test_what_was_recorded_is_read_back_in_order(site: Workspace) -> None:
    found = list(ledger.entries(site))
    assert [(one.number, one.event, one.details["sequence"]) for one in found] == [
        (1, "approved", 0),
        (2, "approved", 1),
        (3, "approved", 2),
    ]
    assert {one.key_id for one in found} == {site.key_in_use.key_id}
    assert ledger.verify(site) == found[-1]
    assert ledger.ledger_path(site).stat().st_mode & 0o077 == 0


def test_a_new_workspace_has_an_empty_ledger(tmp_path: Path) -> None:
    assert ledger.verify(create(tmp_path, "st-anne")) is None


def _file(folder: str) -> Callable[[Workspace], object]:
    def put(site: Workspace) -> None:
        (site.root / folder).mkdir()
        (site.root / folder / "0001").write_bytes(b"")

    return put


TRACES: dict[str, Callable[[Workspace], object]] = {
    "a number of a share": lambda site: site.next_sequence(),
    **{folder: _file(folder) for folder in ("known-notes", "fragments", "receipts", "outbox")},
}


@pytest.mark.parametrize("trace", TRACES)
def test_attack_a_ledger_that_was_emptied_passes_for_a_new_one(trace: str, site: Workspace) -> None:
    TRACES[trace](site)
    site = open_workspace(site.root)
    ledger.ledger_path(site).write_bytes(b"")
    with pytest.raises(LedgerError, match="the ledger is lost"):
        ledger.verify(site)
    with pytest.raises(LedgerError, match="the ledger is lost"):
        ledger.record(site, "approved", {})
    assert not ledger.ledger_path(site).read_bytes()


def test_attack_ledger_and_policy_are_taken_away_and_the_usual_policy_holds(site: Workspace) -> None:
    set_policy(site, replace(DEFAULT, least_new_notes=500))
    for path in (ledger.ledger_path(site), policy_path(site)):
        path.unlink()
    with pytest.raises(LedgerError, match="the ledger is lost"):
        load_policy(site)
    with pytest.raises(LedgerError, match="the ledger is lost"):
        set_policy(site, DEFAULT)
    refused(hospital("ledger", "verify", "--workspace", site.root), 31, "backup")
    assert not ledger.ledger_path(site).exists()


@pytest.mark.parametrize("folder", ["receipts", "outbox"])
def test_attack_a_ledger_begun_anew_tells_of_nothing_that_left(folder: str, site: Workspace) -> None:
    _file(folder)(site)
    ledger.ledger_path(site).write_bytes(b"")
    (site.root / folder).rename(site.root / "hidden")
    set_policy(site, DEFAULT)
    (site.root / "hidden").rename(site.root / folder)
    with pytest.raises(LedgerError, match=f"{folder}/"):
        ledger.verify(site)


def test_attack_a_ledger_from_an_older_backup_passes_for_all_that_left(site: Workspace) -> None:
    """The provider's receipt of a later share tells that it is older."""
    ledger.record(site, "submitted", {"sequence": 1})
    old = ledger.ledger_path(site).read_bytes()
    ledger.record(site, "submitted", {"sequence": 2})
    (site.root / "receipts").mkdir()
    for number in (1, 2):
        (site.root / "receipts" / f"st-anne-{number:04}-{'ab' * 8}.receipt.json").write_bytes(b"{}")
    ledger.verify(site)
    ledger.ledger_path(site).write_bytes(old)
    with pytest.raises(LedgerError, match="share 2"):
        ledger.verify(site)
    refused(hospital("ledger", "verify", "--workspace", site.root), 31, "older than that share", "newest backup")


def test_a_workspace_of_version_0_1_has_no_ledger_before_its_first_entry(tmp_path: Path) -> None:
    site, _ = create(tmp_path / "site", "st-anne").next_sequence()
    for path in (ledger.ledger_path(site), site.notes_key):
        path.unlink()
    assert ledger.verify(site) is None
    ledger.record(site, "release examined", {})
    assert ledger.verify(site) is not None


def test_every_flipped_bit_of_every_byte_is_noticed(tmp_path: Path) -> None:
    site = create(tmp_path / "site", "st-anne")
    # Two entries: one behind another, and no more to verify than that.
    for number in range(2):
        ledger.record(site, "approved", {"approver": "Dr Ünal", "sequence": number})
    path = ledger.ledger_path(site)
    whole = path.read_bytes()
    # The last line end is what makes the last line count: without it, it is as if it had been torn.
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises(LedgerError):
            ledger.verify(site)


CHANGES: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "one_removed": lambda found: [found[0], found[2]],
    "the_first_removed": lambda found: found[1:],
    "two_exchanged": lambda found: [found[1], found[0], found[2]],
    "one_twice": lambda found: [found[0], found[0], *found[1:]],
    "an_empty_line": lambda found: [found[0], b"", *found[1:]],
    "an_endless_line": lambda found: [*found, b"x" * (ledger.MAX_LINE_BYTES + 1)],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_history_that_was_changed_is_noticed(change: str, site: Workspace) -> None:
    rewrite(site, CHANGES[change](lines(site)))
    with pytest.raises(LedgerError, match="backup"):
        ledger.verify(site)


def test_an_end_that_was_cut_off_is_noticed_by_who_noted_its_digest(site: Workspace) -> None:
    noted = ledger.verify(site)
    assert noted is not None
    rewrite(site, lines(site)[:2])
    assert ledger.verify(site) is not None
    with pytest.raises(LedgerError, match="cut off"):
        ledger.verify(site, [noted.digest])


def test_who_has_no_key_of_the_site_can_add_nothing(site: Workspace, tmp_path: Path) -> None:
    other = create(tmp_path / "other", "st-anne")
    shutil.copyfile(ledger.ledger_path(site), ledger.ledger_path(other))
    with pytest.raises(LedgerError):
        ledger.record(other, "approved", {})
    forger = PrivateKey.generate()
    known = replace(other, keys=(*site.keys, SiteKey(forger.public_key, site.keys[0].valid_until, KeyState.RETIRED)))
    assert ledger.verify(known) is not None


def test_the_ledger_of_another_site_with_the_same_keys_is_none_of_this_one(site: Workspace) -> None:
    other = replace(site, site="st-bob")
    with pytest.raises(LedgerError, match="expected entry 1 as this site signed it"):
        ledger.verify(other)
    with pytest.raises(LedgerError, match="expected the last entry as this site signed it"):
        ledger.record(other, "approved", {})
    assert ledger.verify(site) is not None


@pytest.mark.parametrize("context", [LEDGER_CONTEXT, SHARE_CONTEXT])
def test_a_signature_for_something_else_is_none(context: str, site: Workspace) -> None:
    stated = json.loads(lines(site)[-1])["entry"]
    stated |= {"number": 4, "previous": list(ledger.entries(site))[-1].digest}
    signature = site.key().sign(context, canonical_bytes(stated)).to_json()
    rewrite(site, [*lines(site), canonical_bytes({"entry": stated, "signature": signature})])
    if context == LEDGER_CONTEXT:
        assert ledger.verify(site) is not None
        return
    with pytest.raises(LedgerError):
        ledger.verify(site)


@settings(deadline=None, max_examples=12)
@given(torn=st.integers(1, 600))
def test_what_a_crash_left_of_a_line_is_cut_off_by_the_next(
    torn: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = create(tmp_path_factory.mktemp("site"), "st-anne")
    ledger.record(made, "first", {})
    ledger.record(made, "second", {"what": "x" * 200})
    path = ledger.ledger_path(made)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[: min(first + torn, len(whole) - 1)])
    last = ledger.verify(made)
    assert last is not None
    assert last.event == "first"
    ledger.record(made, "third", {})
    assert [entry.event for entry in ledger.entries(made)] == ["first", "third"]


@pytest.mark.parametrize("fails", ["write", "fsync"])
def test_an_entry_that_is_not_on_the_disk_does_not_count(
    fails: str, site: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ledger.ledger_path(site).read_bytes()

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if fails == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(ledger, "memoryview", full, raising=False)
    with pytest.raises(StorageError, match="full"):
        ledger.record(site, "approved", {})
    assert ledger.ledger_path(site).read_bytes() == before


def test_an_entry_that_could_not_be_read_back_is_not_written(site: Workspace) -> None:
    before = ledger.ledger_path(site).read_bytes()
    with pytest.raises(LedgerError):
        ledger.record(site, "approved", {"what": "x" * ledger.MAX_LINE_BYTES})
    with pytest.raises(LedgerError):
        ledger.record(site, "two\nlines", {})
    assert ledger.ledger_path(site).read_bytes() == before


def _many(root: Path) -> None:
    made = open_workspace(root)
    for _ in range(20):
        ledger.record(made, "approved", {})


def test_two_programs_at_once_make_one_chain(site: Workspace) -> None:
    workers = [multiprocessing.get_context("fork").Process(target=_many, args=(site.root,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    last = ledger.verify(site)
    assert last is not None
    assert last.number == 63


def test_the_commands_show_and_verify(site: Workspace) -> None:
    at = ("--workspace", site.root)
    shown = values(hospital("ledger", "show", "--json", *at))["entries"]
    assert [row["number"] for row in shown] == [1, 2, 3]
    assert "Dr Ünal" in done(hospital("ledger", "show", *at)).stdout
    found = values(hospital("ledger", "verify", "--json", *at))
    assert found["entries"] == 3
    done(hospital("ledger", "verify", "--known", found["last"], *at))
    rewrite(site, lines(site)[:-1])
    refused(hospital("ledger", "verify", "--known", found["last"], *at), 31, "cut off")
    rewrite(site, lines(site)[::-1])
    refused(hospital("ledger", "show", *at), 31, "entry 1")

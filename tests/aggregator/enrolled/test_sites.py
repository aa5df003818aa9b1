"""Enrolment, rotation and revocation of sites, on both databases."""

from __future__ import annotations

import datetime
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aggregator.enrolled import site_rotation, sites
from aggregator.errors import RegistryError
from aggregator.registry import audit_log
from aggregator.registry.tables import EventRow, SiteKeyRow
from aggregator.workspace import Workspace
from protocols.errors import ProtocolError, SignatureError
from protocols.keys.enrolment import write_request
from protocols.keys.rotation import Acceptance, Rotation, read_acceptance
from protocols.keys.signing import PrivateKey
from tests.aggregator.copied import new_workspace
from tests.databases import Database
from tests.loop import done, provider, refused, values

DAY = sites.today()


def days(count: int) -> datetime.date:
    return DAY + datetime.timedelta(days=count)


@pytest.fixture
def workspace(database: Database, tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path / "provider", database=database)


def new_key() -> PrivateKey:
    return PrivateKey.generate()


def enrol(
    workspace: Workspace, name: str = "st-anne", key: PrivateKey | None = None, until: datetime.date | None = None
) -> PrivateKey:
    """A site that has joined, with its key."""
    key = key or new_key()
    path = workspace.root / "request.json"
    write_request(path, key, site=name, contact="office", created=days(-1), valid_until=until or days(700))
    sites.enrol(workspace, path, key.public_key.key_id)
    return key


def rotation(old: PrivateKey, new: PrivateKey, name: str = "st-anne", overlap: int = 30) -> bytes:
    return Rotation(name, old.public_key, new.public_key, DAY, days(700), overlap).to_bytes(old, new)


def counting(workspace: Workspace, on: datetime.date = DAY, name: str = "st-anne") -> list[str]:
    return [key.key_id for key in sites.site_keys(workspace, on).get(name, ())]


def events(workspace: Workspace) -> list[tuple[str, dict[str, Any]]]:
    with workspace.registry().reading() as session:
        return [(event.action, json.loads(event.details)) for event in audit_log.events(session)]


def test_a_site_joins_with_its_key_and_an_event(workspace: Workspace) -> None:
    key = enrol(workspace)
    found = sites.list_sites(workspace)
    assert [(one.name, one.contact, one.revoked) for one in found] == [("st-anne", "office", None)]
    assert counting(workspace) == [key.public_key.key_id]
    action, details = events(workspace)[-1]
    assert action == "site-enrolled"
    assert details == {"site": "st-anne", "key": key.public_key.key_id, "until": days(700).isoformat()}


def test_a_key_counts_from_its_first_day_to_its_last(workspace: Workspace) -> None:
    enrol(workspace, until=days(10))
    assert not counting(workspace, days(-1))
    assert counting(workspace, DAY)
    assert counting(workspace, days(10))
    assert not counting(workspace, days(11))


def test_nobody_joins_under_another_fingerprint(workspace: Workspace, tmp_path: Path) -> None:
    key, other = new_key(), new_key()
    path = tmp_path / "request.json"
    write_request(path, key, site="st-anne", contact="", created=DAY, valid_until=days(1))
    for fingerprint in (other.public_key.key_id, other.public_key.spoken, "", key.public_key.key_id[:-1]):
        with pytest.raises(RegistryError) as caught:
            sites.enrol(workspace, path, fingerprint)
        assert key.public_key.key_id not in str(caught.value)
    assert not sites.list_sites(workspace)
    sites.enrol(workspace, path, key.public_key.spoken)


def test_what_is_enrolled_is_what_was_compared(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, thief = new_key(), new_key()
    files = []
    for one in (key, thief):
        write_request(tmp_path / "r.json", one, site="st-anne", contact="", created=DAY, valid_until=days(1))
        files.append((tmp_path / "r.json").read_bytes())
    # The file changes between one look at it and the next.
    looks = iter(files)
    monkeypatch.setattr(sites, "read_bounded", lambda *arguments: next(looks))
    sites.enrol(workspace, tmp_path / "r.json", key.public_key.key_id)
    assert counting(workspace) == [key.public_key.key_id]


def test_nobody_takes_the_name_of_another(workspace: Workspace) -> None:
    key = enrol(workspace)
    with pytest.raises(RegistryError, match="already"):
        enrol(workspace)
    assert counting(workspace) == [key.public_key.key_id]


@pytest.mark.parametrize("name", ["operator", "server"])
def test_attack_nobody_joins_under_a_name_that_the_log_has_for_the_provider(name: str, workspace: Workspace) -> None:
    before = events(workspace)
    with pytest.raises(
        RegistryError, match=rf"^{name}: expected the name of a hospital, got one that the log has"
    ) as told:
        enrol(workspace, name)
    assert "\n" not in str(told.value)
    assert (sites.list_sites(workspace), events(workspace)) == ([], before)
    enrol(workspace, f"{name}s")


@pytest.mark.parametrize("by_site", [True, False])
def test_attack_one_that_joined_under_such_a_name_earlier_rotates_no_key(
    by_site: bool, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(sites, "RESERVED", frozenset())
        old = enrol(workspace, "operator")
    before = _rows(workspace)
    with pytest.raises(RegistryError, match=r"^operator: expected a rotation of a hospital, .*; revoke that site, and"):
        site_rotation.rotate(workspace, rotation(old, new_key(), "operator"), by_site=by_site)
    assert _rows(workspace) == before
    sites.revoke(workspace, "operator", "another name")


def test_the_log_says_whether_a_site_or_the_provider_changed_its_key(workspace: Workspace) -> None:
    first, second = enrol(workspace), new_key()
    site_rotation.rotate(workspace, rotation(first, second), by_site=True)
    site_rotation.rotate(workspace, rotation(second, new_key()))
    with workspace.registry().reading() as session:
        assert [one.actor for one in audit_log.events(session)][-2:] == ["st-anne", "operator"]


def test_a_key_serves_one_site(workspace: Workspace) -> None:
    key = enrol(workspace)
    with pytest.raises(RegistryError, match="enrolled before"):
        enrol(workspace, "st-bede", key)
    assert [one.name for one in sites.list_sites(workspace)] == ["st-anne"]


def test_an_expired_request_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    key, path = new_key(), tmp_path / "request.json"
    write_request(path, key, site="st-anne", contact="", created=days(-9), valid_until=days(-1))
    with pytest.raises(RegistryError, match="valid"):
        sites.enrol(workspace, path, key.public_key.key_id)


def test_a_new_key_counts_at_once_and_the_old_one_for_the_overlap(workspace: Workspace) -> None:
    old, new = enrol(workspace), new_key()
    answer = site_rotation.rotate(workspace, rotation(old, new))
    accepted = read_acceptance(answer, workspace.key().public_key)
    assert accepted == Acceptance("st-anne", new.public_key, DAY, days(700), days(30))
    assert counting(workspace) == [new.public_key.key_id, old.public_key.key_id]
    assert counting(workspace, days(30)) == [new.public_key.key_id, old.public_key.key_id]
    assert counting(workspace, days(31)) == [new.public_key.key_id]
    action, details = events(workspace)[-1]
    assert action == "key-rotated"
    assert (details["old"], details["key"]) == (old.public_key.key_id, new.public_key.key_id)


def test_an_overlap_makes_no_key_live_longer(workspace: Workspace) -> None:
    old, new = enrol(workspace, until=days(3)), new_key()
    site_rotation.rotate(workspace, rotation(old, new))
    assert counting(workspace, days(4)) == [new.public_key.key_id]


def test_the_same_rotation_again_gets_the_same_answer_and_changes_nothing(workspace: Workspace) -> None:
    old, new = enrol(workspace), new_key()
    first = site_rotation.rotate(workspace, rotation(old, new))
    before = events(workspace)
    assert site_rotation.rotate(workspace, rotation(old, new)) == first
    # Asked for on another day, with another overlap: what was accepted stays.
    assert site_rotation.rotate(workspace, rotation(old, new, overlap=90)) == first
    assert events(workspace) == before


def test_a_rotation_from_the_past_does_not_bring_an_old_key_back(workspace: Workspace) -> None:
    first, second, third = enrol(workspace), new_key(), new_key()
    replayed = rotation(first, second)
    site_rotation.rotate(workspace, replayed)
    site_rotation.rotate(workspace, rotation(second, third, overlap=0))
    answer = read_acceptance(site_rotation.rotate(workspace, replayed), workspace.key().public_key)
    assert answer.valid_until == DAY
    assert counting(workspace, days(1)) == [third.public_key.key_id, first.public_key.key_id]


class TestASiteThatAsksByItself:
    """Every key that counts is read with every share of everybody: there must be few."""

    @pytest.fixture
    def passing(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
        return lambda count: monkeypatch.setattr(site_rotation, "today", lambda: days(count))

    def rotated(self, workspace: Workspace, old: PrivateKey, new: PrivateKey) -> bytes:
        return site_rotation.rotate(workspace, rotation(old, new, overlap=90), by_site=True)

    def test_attack_it_rotates_once_a_day(self, workspace: Workspace, passing: Callable[[int], None]) -> None:
        first, second, third = enrol(workspace), new_key(), new_key()
        answer = self.rotated(workspace, first, second)
        before = _rows(workspace)
        with pytest.raises(RegistryError, match=r"^st-anne: expected one rotation a day, got another; .*tomorrow"):
            self.rotated(workspace, second, third)
        assert _rows(workspace) == before
        assert self.rotated(workspace, first, second) == answer
        passing(1)
        self.rotated(workspace, second, third)

    def test_attack_three_of_its_keys_count_at_once(self, workspace: Workspace, passing: Callable[[int], None]) -> None:
        keys = [enrol(workspace), *(new_key() for _ in range(3))]
        for day in (0, 1):
            passing(day)
            answer = self.rotated(workspace, keys[day], keys[day + 1])
        passing(2)
        with pytest.raises(RegistryError, match=r"^st-anne: expected at most 3 keys that count at once, got another; "):
            self.rotated(workspace, keys[2], keys[3])
        assert len(counting(workspace, days(2))) == 3
        assert self.rotated(workspace, keys[1], keys[2]) == answer
        # The first of them is over.
        passing(91)
        self.rotated(workspace, keys[2], keys[3])

    def test_the_provider_takes_what_it_was_brought_and_revokes(self, workspace: Workspace) -> None:
        keys = [enrol(workspace), *(new_key() for _ in range(4))]
        for old, new in itertools.pairwise(keys):
            site_rotation.rotate(workspace, rotation(old, new))
        assert len(counting(workspace)) == 5
        sites.revoke(workspace, "st-anne", "too many", keys[0].public_key.key_id)
        assert not counting(workspace)


def test_a_key_that_was_replaced_can_not_be_rotated_again(workspace: Workspace) -> None:
    old, new, thief = enrol(workspace), new_key(), new_key()
    site_rotation.rotate(workspace, rotation(old, new))
    with pytest.raises(RegistryError, match="signs with now"):
        site_rotation.rotate(workspace, rotation(old, thief))
    assert thief.public_key.key_id not in counting(workspace)


def test_a_site_rotates_its_own_keys_only(workspace: Workspace) -> None:
    enrol(workspace)
    other, new = enrol(workspace, "st-bede"), new_key()
    with pytest.raises(RegistryError):
        site_rotation.rotate(workspace, rotation(other, new, "st-anne"))
    with pytest.raises(RegistryError):
        site_rotation.rotate(workspace, rotation(new_key(), new, "st-anne"))


def test_a_damaged_rotation_changes_nothing(workspace: Workspace) -> None:
    old, new = enrol(workspace), new_key()
    data = rotation(old, new)
    for damaged in (data[:-1], data.replace(b'"overlap_days":30', b'"overlap_days":31')):
        with pytest.raises(ProtocolError):
            site_rotation.rotate(workspace, damaged)
    assert counting(workspace) == [old.public_key.key_id]


def test_an_expired_key_can_not_be_rotated(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = enrol(workspace, until=days(5)), new_key()
    monkeypatch.setattr(site_rotation, "today", lambda: days(6))
    with pytest.raises(RegistryError, match="expired"):
        site_rotation.rotate(workspace, rotation(old, new))


def test_a_revoked_site_is_out_at_once_and_can_not_rotate(workspace: Workspace) -> None:
    key = enrol(workspace)
    sites.revoke(workspace, "st-anne", "key lost")
    assert not counting(workspace)
    assert sites.list_sites(workspace)[0].revoked == "key lost"
    with pytest.raises(RegistryError):
        site_rotation.rotate(workspace, rotation(key, new_key()))
    assert events(workspace)[-1] == ("site-revoked", {"site": "st-anne", "reason": "key lost"})


def test_a_revoked_site_comes_back_with_a_new_key_only(workspace: Workspace) -> None:
    key = enrol(workspace)
    sites.revoke(workspace, "st-anne", "key lost")
    with pytest.raises(RegistryError, match="enrolled before"):
        enrol(workspace, key=key)
    assert not counting(workspace)
    back = enrol(workspace)
    # The key that was lost counts again neither on this day nor on any other.
    assert key.public_key.key_id not in [*counting(workspace), *counting(workspace, days(1))]
    assert counting(workspace) == [back.public_key.key_id]


def test_with_a_stolen_key_go_those_that_it_vouched_for(workspace: Workspace) -> None:
    stolen, first, second = enrol(workspace), new_key(), new_key()
    site_rotation.rotate(workspace, rotation(stolen, first))
    site_rotation.rotate(workspace, rotation(first, second))
    sites.revoke(workspace, "st-anne", "stolen", stolen.public_key.key_id)
    assert not counting(workspace)
    assert [action for action, _ in events(workspace)][-3:] == ["key-revoked"] * 3


def test_one_key_goes_and_the_one_before_it_stays(workspace: Workspace) -> None:
    old, new = enrol(workspace), new_key()
    site_rotation.rotate(workspace, rotation(old, new))
    sites.revoke(workspace, "st-anne", "laptop lost", new.public_key.key_id)
    assert counting(workspace) == [old.public_key.key_id]


def test_unknown_sites_and_keys_can_not_be_revoked(workspace: Workspace) -> None:
    enrol(workspace)
    other = enrol(workspace, "st-bede")
    before = events(workspace)
    for name, key in (("nowhere", None), ("st-anne", "0000"), ("st-anne", other.public_key.key_id)):
        with pytest.raises(RegistryError):
            sites.revoke(workspace, name, "x", key)
    assert events(workspace) == before


def test_an_end_that_is_near_is_said_ahead(workspace: Workspace) -> None:
    enrol(workspace, until=days(40))
    assert not sites.list_expiring_sites(workspace, DAY)
    assert not sites.list_expiring_sites(workspace, days(9))
    assert sites.list_expiring_sites(workspace, days(10)) == [("st-anne", days(40))]
    # A site whose end is over is not about to end: nothing counts any more.
    assert not sites.list_expiring_sites(workspace, days(41))


CHANGES: dict[str, Callable[[Workspace, PrivateKey], object]] = {
    "enrol": lambda workspace, key: enrol(workspace, "st-bede"),
    "rotate": lambda workspace, key: site_rotation.rotate(workspace, rotation(key, new_key())),
    "revoke": lambda workspace, key: sites.revoke(workspace, "st-anne", "x"),
    "revoke key": lambda workspace, key: sites.revoke(workspace, "st-anne", "x", key.public_key.key_id),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_without_its_event(change: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    key = enrol(workspace)

    def fails(*arguments: object) -> str:
        raise RegistryError("the log can't be written")

    monkeypatch.setattr(audit_log, "append", fails)
    before = _rows(workspace)
    with pytest.raises(RegistryError, match="log"):
        CHANGES[change](workspace, key)
    assert _rows(workspace) == before


def _rows(workspace: Workspace) -> object:
    with workspace.registry().reading() as session:
        keys = sorted((row.key_id, row.state, row.valid_until) for row in session.query(SiteKeyRow))
        return sites.list_sites(workspace), keys, session.query(EventRow).count()


def test_the_commands(workspace: Workspace, tmp_path: Path) -> None:
    at = ("--workspace", workspace.root)
    assert "no sites" in done(provider("site", "list", *at)).stdout
    old = enrol(workspace, until=days(20))
    listed = values(provider("site", "list", "--json", *at))["sites"]
    assert [(row["site"], row["expires"]) for row in listed] == [("st-anne", days(20).isoformat())]
    assert "keys rotate" in done(provider("site", "list", *at)).stdout
    new = new_key()
    (tmp_path / "st-anne.rotation.json").write_bytes(rotation(old, new))
    answer = Path(values(provider("site", "rotate", tmp_path / "st-anne.rotation.json", "--json", *at))["acceptance"])
    assert read_acceptance(answer.read_bytes(), workspace.key().public_key).new_key == new.public_key
    with pytest.raises(SignatureError):
        read_acceptance(answer.read_bytes(), old.public_key)
    # The same once more, into the file of the first answer.
    again = ("site", "rotate", tmp_path / "st-anne.rotation.json", "--out", answer)
    assert values(provider(*again, "--json", *at)) == {"acceptance": str(answer)}
    refused(provider("site", "revoke", "st-anne", "--key", "0000", "--reason", "x", *at), 21, "st-anne")
    key = new.public_key.key_id
    revoked = values(provider("site", "revoke", "st-anne", "--key", key, "--reason", "laptop lost", "--json", *at))
    assert revoked == {"site": "st-anne", "key": key}
    done(provider("site", "revoke", "st-anne", "--reason", "key lost", *at))
    assert "revoked: key lost" in done(provider("site", "list", *at)).stdout


def test_a_key_does_not_live_longer_by_a_wrong_clock(workspace: Workspace, tmp_path: Path) -> None:
    ahead = sites.today() + datetime.timedelta(days=3650)
    path, key = tmp_path / "request.json", PrivateKey.generate()
    asked = write_request(
        path, key, site="st-late", contact="", created=ahead, valid_until=ahead + datetime.timedelta(days=700)
    )
    with pytest.raises(RegistryError, match="clock"):
        sites.enrol(workspace, path, asked.fingerprint)

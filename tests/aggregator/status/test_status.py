"""How everything stands: told of twenty hospitals in 80 columns, and to a program of the provider's own."""

from __future__ import annotations

import datetime
import hashlib
import json
import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from aggregator import workspace as workspaces
from aggregator.enrolled.alarms import Alarm, raise_alarm
from aggregator.enrolled.reserved import Reserved
from aggregator.enrolled.shares import Share, accepted_shares, withdraw
from aggregator.enrolled.sites import Site, SiteKey
from aggregator.errors import HookError
from aggregator.objects import FolderStore
from aggregator.publishing.head_record import RECORD
from aggregator.refreshing.kept import KeptRound, TakenFile
from aggregator.registry.states import AlarmKind, KeyState, ShareState, UploadState
from aggregator.registry.tables import ShareRow, UploadRow
from aggregator.registry.times import as_text, now
from aggregator.status import hook as hooks
from aggregator.status.alerts import find_alerts
from aggregator.status.guessed import Guessed, note_guessed, read_guessed
from aggregator.status.last_round import LastRound
from aggregator.status.served_certificate import ServedCertificate
from aggregator.status.standing import Hospital, LastShare, Standing, read_standing
from aggregator.status.table import WIDTH, status_json, status_lines
from foundation.errors import StorageError
from protocols.keys.signing import PrivateKey
from tests.aggregator.copied import new_workspace
from tests.aggregator.registry.rows import share as row
from tests.loop import Loop, done, provider, refused, values

AT = datetime.datetime(2026, 11, 23, 12, tzinfo=datetime.UTC)
KEY = PrivateKey.generate().public_key
GIB = 1 << 30


def in_days(count: int) -> datetime.date:
    return AT.date() + datetime.timedelta(days=count)


def hospital(name: str, until: int | None = 700, **changes: object) -> Hospital:
    """One that has shared; its only key lasts so many days more, or has ended."""
    key = SiteKey(KEY, in_days(-9), in_days(-1 if until is None else until), KeyState.ACTIVE)
    last = LastShare(3, in_days(-2), ShareState.ACCEPTED, "0007-representer", fits=True)
    made = Hospital(Site(name, "", None, (key,)), None if until is None else in_days(until), 3, 0, 0, last)
    return replace(made, **changes)  # type: ignore[arg-type]


def standing(*hospitals: Hospital, **changes: object) -> Standing:
    expires = {"root": in_days(300), "targets": in_days(40), "provider.json": in_days(700)}
    made = Standing("north", AT, "0008-pipeline", in_days(-4), hospitals, (), (), expires, 20 * GIB)
    return replace(made, **changes)  # type: ignore[arg-type]


def kinds(one: Standing) -> list[tuple[str, str | None]]:
    return [(alert.kind, alert.site) for alert in find_alerts(one)]


def share(site: str, hours: int) -> Share:
    """One that came so many hours ago and is not decided."""
    came = (AT - datetime.timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Share(1, site, 4, ShareState.RECEIVED, "", "", "ab" * 32, None, None, None, None, None, came, None)


def last_round(hours: int, *, ended: bool = False, unread: int = 0) -> LastRound:
    """One that began so many hours ago."""
    return LastRound(3, AT - datetime.timedelta(hours=hours), ended=ended, unread=unread)


@pytest.mark.parametrize("days", [(-75, 15), (-3, 3)])
def test_a_certificate_that_renews_itself_in_time_needs_nobody(days: tuple[int, int]) -> None:
    assert not find_alerts(standing(certificate=ServedCertificate(*map(in_days, days))))


def test_wrong_passwords_are_told_by_account_and_day_for_three_days(tmp_path: Path) -> None:
    made = new_workspace(tmp_path / "provider")
    for account, tries in (("anna", 5), ("bea", 5), ("anna", 40)):
        note_guessed(made, account, tries)
    at = datetime.datetime.now(datetime.UTC)
    assert {(one.account, one.tries) for one in read_guessed(made, at)} == {("anna", 40), ("bea", 5)}
    assert read_guessed(made, at + datetime.timedelta(days=3, minutes=1)) == ()


def test_nothing_needs_anybody_where_all_is_well() -> None:
    one = standing(hospital("st-anne"))
    assert not find_alerts(one)
    assert status_lines(one, ())[-1] == "nothing needs you"


ALARM = Alarm(7, "2026-11-20T10:00:00Z", "moor", AlarmKind.INFLUENCE, "recall falls", None)
RESERVED = Reserved(48 * GIB, "2026-11-23T09:00:00Z")
REVOKED = Site("moor", "", "lost", ())


@pytest.mark.parametrize(
    ("found", "kind", "said"),
    [
        (standing(hospital("moor"), alarms=(ALARM,)), "alarm", "alarm 7, influence: recall falls"),
        (standing(hospital("moor", quarantined=2)), "quarantined", "2 shares wait for your decision"),
        (standing(hospital("moor"), unfinished=(share("moor", 25),)), "unfinished", "share 4 came on 2026-11-22"),
        (standing(hospital("moor", until=30)), "keys-end", "can't send after 2026-12-23"),
        (standing(hospital("moor", until=None)), "keys-ended", "none of its keys counts any more"),
        (standing(expiries={"targets": in_days(14)}), "releases-end", "`targets` of the releases ends on 2026-12-07"),
        (standing(expiries={"targets": in_days(-1)}), "releases-end", "ended on 2026-11-22"),
        (standing(certificate=ServedCertificate(in_days(-76), in_days(14))), "certificate-ends", "ends on 2026-12-07"),
        (standing(certificate=ServedCertificate(in_days(-4), in_days(2))), "certificate-ends", "systemctl reload"),
        (standing(certificate=ServedCertificate(in_days(-91), in_days(-1))), "certificate-ends", "ended on 2026-11-22"),
        (standing(expiries={"provider.json": in_days(3)}), "releases-end", "run `aggregator announce`"),
        (standing(guessed=(Guessed("anna", in_days(-1), 6),)), "wrong-passwords", "6 or more wrong passwords"),
        (standing(free_bytes=GIB), "disk", "1.0 GiB are free"),
        (standing(hospital("moor"), reserving={"moor": RESERVED}), "reserved", "reserve 48.0 GiB, more than its part"),
        (standing(withdrawn_in_head=("share 3 of moor",)), "head", "was trained with share 3 of moor, withdrawn since"),
        (standing(lacks_overlap_key=True), "overlap-key", "`keys/overlap.key` is missing"),
        (standing(hospital("moor", refused=1)), "refused", "1 share was refused since the last release"),
        (standing(round=last_round(hours=25)), "round", "round 3 began on 2026-11-22 and has not ended"),
        (standing(round=last_round(hours=1, unread=2)), "files", "2 files were refused by round 3"),
        (standing(round=last_round(hours=25, ended=True, unread=1)), "files", "1 file was refused by round 3"),
    ],
)
def test_what_needs_a_person_is_told(found: Standing, kind: str, said: str) -> None:
    (alert,) = find_alerts(found)
    assert (alert.kind, said in alert.text) == (kind, True), alert
    assert any(line.startswith("! ") for line in status_lines(found, [alert]))


@pytest.mark.parametrize(
    "found",
    [
        standing(hospital("moor", until=31)),
        standing(hospital("moor", site=REVOKED, keys_until=None)),
        standing(hospital("moor"), unfinished=(share("moor", 23),)),
        standing(hospital("moor", last=None, accepted=0)),
        standing(expiries={"targets": in_days(15)}),
        standing(free_bytes=2 * GIB),
        standing(round=last_round(hours=23)),
        standing(round=last_round(hours=900, ended=True)),
    ],
)
def test_what_is_in_order_is_no_alert(found: Standing) -> None:
    assert not find_alerts(found)


def test_an_alert_keeps_its_name_until_it_is_another_matter() -> None:
    later = AT + datetime.timedelta(days=1)
    names = [
        find_alerts(standing(hospital("moor", quarantined=1, newest_quarantined=one), at=at))
        for one, at in ((8, AT), (8, later), (9, later))
    ]
    first, again, other = [one[0].id for one in names]
    assert first == again != other
    together = find_alerts(standing(hospital("a", until=1), hospital("b", until=1), free_bytes=0, alarms=(ALARM,)))
    assert len({alert.id for alert in together}) == len(together) == 4


def test_another_share_that_waits_or_was_refused_is_another_matter(loop: Loop) -> None:
    opened = workspaces.open_workspace(loop.provider)
    seen: list[str] = []

    def told() -> list[str]:
        found = find_alerts(read_standing(opened, datetime.datetime.now(datetime.UTC)))
        new = [one.id for one in found if one.id not in seen]
        seen.extend(new)
        return new

    def settle(number: int, state: str, second: int) -> None:
        with opened.registry().transaction() as session:
            held = session.get(ShareRow, number) or row(number, "south", id=number)
            held.state, held.decided_at = ShareState(state), f"2030-01-01T00:00:{second:02}Z"
            held.reason_code = "unlike"
            session.add(held)

    assert told() == []
    settle(50, "quarantined", 1)
    assert told() == ["quarantined:south:50"]
    settle(50, "accepted", 2)
    settle(51, "quarantined", 3)
    assert told() == ["quarantined:south:51"]
    # A check that took long sets aside one that came before.
    settle(49, "quarantined", 4)
    assert told() == ["quarantined:south:49"]
    # One of two was decided: nothing new waits.
    settle(49, "accepted", 5)
    assert told() == []
    settle(60, "rejected", 6)
    assert told() == ["refused:south:0002-pipeline:60"]
    settle(60, "withdrawn", 6)
    settle(61, "rejected", 7)
    assert told() == ["refused:south:0002-pipeline:61"]


def test_a_round_that_refuses_another_file_is_another_matter(loop: Loop) -> None:
    opened = workspaces.open_workspace(loop.provider)
    (loop.provider / "round").mkdir(exist_ok=True)

    def told(name: str, begun: str = "2026-01-01T00:00:00Z") -> str:
        files = {f"/srv/{name}": TakenFile(f"{name}: expected a bundle, got something else", refused=True)}
        KeptRound(1, begun, ended=now(), files=files).save(opened)
        (alert,) = find_alerts(read_standing(opened, datetime.datetime.now(datetime.UTC)))
        return alert.id

    assert told("a.share") == told("a.share")
    assert len({told("a.share"), told("b.share"), told("a.share", "2026-02-01T00:00:00Z")}) == 3


def test_twenty_hospitals_fit_a_terminal_of_80_columns() -> None:
    found = [hospital(f"hospital-{number}-of-a-long-name", until=number) for number in range(18)]
    found += [hospital("z" * 64, site=replace(REVOKED, name="z" * 64)), hospital("zz", last=None)]
    alarm = replace(ALARM, detail="recall of LOCATION at the others is 0.512 with it and 0.934 without it " * 3)
    made = standing(*found, alarms=(alarm,), free_bytes=0)
    lines = status_lines(made, find_alerts(made))
    assert max(map(len, lines)) <= WIDTH == 80
    table = lines[lines.index("") + 1 : lines.index("", lines.index("") + 1)]
    assert len(table) == 21
    assert [line.startswith("!") for line in table[1:]] == [True] * 18 + [False] * 2
    assert "revoked" in table[-2]
    assert "never" in table[-1]


def test_a_share_of_an_earlier_representer_is_marked() -> None:
    old = LastShare(1, in_days(-90), ShareState.QUARANTINED, "0001-representer", fits=False)
    lost = replace(old, release=None)
    made = standing(hospital("moor", last=old), hospital("summit", last=lost))
    text = "\n".join(status_lines(made, ()))
    assert "2026-08-25  quarantined  0001 old" in text
    assert "unknown" in text
    rows = status_json(made, ())["hospitals"]
    assert [row["last_share"]["release"] for row in rows] == ["0001-representer", None]  # type: ignore[attr-defined]


def test_the_registry_says_how_hospitals_stand(loop: Loop) -> None:
    at = ("--workspace", loop.provider)
    with workspaces.open_workspace(loop.provider).registry().transaction() as session:
        raise_alarm(session, "south", AlarmKind.INFLUENCE, "look at it")
    done(provider("site", "revoke", "north", "--reason", "lost", *at))
    told = values(provider("status", "--json", *at))
    north, south = told["hospitals"]
    assert (north["site"], north["revoked"], north["keys_until"], north["accepted"]) == ("north", "lost", None, 1)
    assert (south["site"], south["alarms"]) == ("south", 1)
    last = south["last_share"]
    assert (last["sequence"], last["state"], last["release"], last["fits"]) == (1, "accepted", "0001-representer", True)
    assert told["release"] == "0002-pipeline"
    assert [(one["kind"], one["site"]) for one in told["alerts"]] == [("alarm", "south")]
    assert set(told["expires"]) == {"root", "targets", "snapshot", "timestamp", "provider.json"}
    assert "1 thing needs you:\n! south: alarm 1, influence: look at it" in done(provider("status", *at)).stdout


def test_a_share_that_was_refused_since_the_last_release_is_told(loop: Loop) -> None:
    opened = workspaces.open_workspace(loop.provider)

    def told() -> list[tuple[str, str | None]]:
        return kinds(read_standing(opened, datetime.datetime.now(datetime.UTC)))

    before = "2020-01-01T00:00:00Z"
    with opened.registry().transaction() as session:
        session.add(row(7, "north", state="rejected", reason_code="schema", received_at=before, decided_at=before))
        # What a person has decided nobody has to be told.
        session.add(row(8, "south", state="rejected", reason_code="person", decided_at=now()))
    assert told() == []
    with opened.registry().transaction() as session:
        session.add(row(9, "south", state="rejected", reason_code="schema", decided_at=now()))
    assert told() == [("refused", "south")]


def test_a_hospital_that_reserves_more_than_its_part_for_an_hour_is_named(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, began = workspaces.open_workspace(loop.provider), datetime.datetime.now(datetime.UTC)
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=100 * GIB))
    days = datetime.timedelta(days=3)

    def announce(number: int, site: str, gib: int) -> None:
        with opened.registry().transaction() as session:
            session.add(
                UploadRow(
                    id=f"upload-{number}",
                    site=site,
                    bundle_sha256=f"{number:064x}",
                    bundle_bytes=gib * GIB,
                    offset=0,
                    state=UploadState.OPEN,
                    created_at=as_text(began),
                    expires_at=as_text(began + days),
                )
            )

    def told(hours: float) -> list[tuple[str, str | None]]:
        return [
            one for one in kinds(read_standing(opened, began + datetime.timedelta(hours=hours))) if one[0] == "reserved"
        ]

    for number in range(4):
        announce(number, "south", 16)
    announce(4, "north", 40)
    assert told(0.9) == []
    assert told(1.1) == [("reserved", "south")]
    assert told(72.1) == []


def test_a_restore_without_the_secret_of_the_digests_is_told_before_a_share_waits_for_it(loop: Loop) -> None:
    at = ("--workspace", loop.provider)
    secret = workspaces.open_workspace(loop.provider).overlap_secret
    secret.unlink()
    refused(provider("status", "--check", *at), 26, "found 1")
    (alert,) = values(provider("status", "--json", *at))["alerts"]
    assert (alert["kind"], alert["site"]) == ("overlap-key", None)
    assert "restore it from the copy of keys/" in alert["text"]
    assert not secret.exists()


def test_a_secret_of_the_digests_that_nothing_hangs_on_yet_is_no_matter(tmp_path: Path) -> None:
    done(provider("init", tmp_path / "new"))
    (tmp_path / "new" / "keys" / "overlap.key").unlink()
    done(provider("status", "--check", "--workspace", tmp_path / "new"))


def test_what_a_round_keeps_is_what_status_reads_of_it(loop: Loop) -> None:
    opened = workspaces.open_workspace(loop.provider)

    def told(number: int, begun: str, **more: object) -> list[str]:
        KeptRound(number, begun, **more).save(opened)  # type: ignore[arg-type]
        return [alert.id for alert in find_alerts(read_standing(opened, datetime.datetime.now(datetime.UTC)))]

    files = {
        "/srv/inbox/a.share": TakenFile("a.share: expected a bundle, got something else", refused=True),
        "/srv/inbox/b.share": TakenFile("south share 4: rejected expected other columns", refused=True),
        "/srv/inbox/c.share": TakenFile("south share 5: accepted", refused=False),
    }
    (loop.provider / "round").mkdir(exist_ok=True)
    assert told(1, "2026-01-01T00:00:00Z") == ["round:1:2026-01-01T00:00:00Z"]
    assert told(1, now()) == []
    (name,) = told(2, "2026-01-01T00:00:00Z", ended=now(), files=files)
    assert name.startswith("files:2:2026-01-01T00:00:00Z:")
    # What can't be read costs no more than a training: the next round says so.
    (loop.provider / "round" / "round.json").write_text('{"format": 1, "number": "x"}')
    assert not find_alerts(read_standing(opened, datetime.datetime.now(datetime.UTC)))


def test_a_workspace_of_today_has_nothing_yet(tmp_path: Path) -> None:
    done(provider("init", tmp_path / "new"))
    shown = done(provider("status", "--check", "--workspace", tmp_path / "new")).stdout
    assert "no release yet" in shown
    assert "no hospitals yet" in shown


def test_objects_that_no_share_names_are_counted_and_stay(loop: Loop) -> None:
    at = ("--workspace", loop.provider)
    store = workspaces.open_workspace(loop.provider).objects()
    named = set(store.digests())
    assert named
    assert values(provider("status", "--json", *at))["unnamed_objects"] == []
    assert "objects" not in done(provider("status", *at)).stdout
    left = loop.root / "left"
    left.write_bytes(b"of a registry that was restored since")
    digest = hashlib.sha256(left.read_bytes()).hexdigest()
    store.put(left, digest)
    # They may be another workspace's, so nobody is called for them.
    shown = done(provider("status", "--check", *at)).stdout.splitlines()
    assert [line for line in shown if line.startswith("objects that no share names: 1; ")]
    assert values(provider("status", "--json", *at))["unnamed_objects"] == [digest]
    assert set(store.digests()) == named | {digest}


def test_where_the_store_does_not_answer_everything_else_is_told(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    at = ("--workspace", loop.provider)

    def away(store: FolderStore) -> None:
        raise StorageError("a store that answers", received="none", advice="wait", place="objects")

    with monkeypatch.context() as patch:
        patch.setattr(FolderStore, "digests", away)
        shown = " ".join(done(provider("status", "--check", *at)).stdout.split())
        assert values(provider("status", "--json", *at))["unnamed_objects"] is None
    assert "objects were not counted: objects: expected a store that answers, received none; wait" in shown
    assert "nothing needs you" in shown
    settings = loop.provider / "aggregator.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"objects": "ftp://elsewhere"}))
    shown = " ".join(done(provider("status", *at)).stdout.split())
    assert "objects were not counted: objects: expected a folder or an s3:// URL" in shown


def test_only_who_asks_gets_a_code_for_it(loop: Loop) -> None:
    at = ("--workspace", loop.provider)
    done(provider("status", "--check", *at))
    with workspaces.open_workspace(loop.provider).registry().transaction() as session:
        raise_alarm(session, "south", AlarmKind.CONFLICT, "look at it")
    done(provider("status", *at))
    refused(provider("status", "--check", *at), 26, "found 1")


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a program of the provider's own."""

    def make(text: str) -> Path:
        path = tmp_path / "tell us; touch gone"
        path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make


def test_a_hook_gets_the_alerts_and_nothing_of_our_secrets(
    program: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DEID_COMMONS_PASSPHRASE_FILE", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "Brunhilda")
    out = tmp_path / "told.json"
    tell = program(f"json.dump([sys.argv[1:], dict(os.environ), json.load(sys.stdin)], open({str(out)!r}, 'w'))")
    found = standing(hospital("moor", quarantined=1, site=Site("moor", "Dr Brunhilda", None, ())))
    alerts = find_alerts(found)
    hooks.run_hook(tell, found, alerts)
    arguments, environment, message = json.loads(out.read_text())
    assert not arguments
    assert environment["DEID_COMMONS_ALERTS"] == str(len(alerts)) == "1"
    assert "Brunhilda" not in out.read_text()
    assert message == {
        "provider": "north",
        "at": "2026-11-23T12:00:00Z",
        "alerts": [alert.as_json() for alert in alerts],
    }
    assert not (tmp_path / "gone").exists()


def test_a_hook_has_nothing_to_do_where_nothing_needs_anybody(program: Callable[[str], Path]) -> None:
    hooks.run_hook(program("sys.exit(1)"), standing(), ())


@pytest.mark.parametrize(
    ("text", "patience_s", "said"),
    [("sys.exit(3)", 60, "code 3"), ("time.sleep(600)", 0.2, "has not ended after 0.2 s")],
)
def test_a_hook_that_fails_is_told(program: Callable[[str], Path], text: str, patience_s: float, said: str) -> None:
    found = standing(free_bytes=0)
    with pytest.raises(HookError, match=said):
        hooks.run_hook(program(text), found, find_alerts(found), timeout_s=patience_s)


def test_a_file_that_is_no_program_is_told(tmp_path: Path) -> None:
    (tmp_path / "hook").write_text("echo")
    found = standing(free_bytes=0)
    with pytest.raises(HookError, match="can't be started"):
        hooks.run_hook(tmp_path / "hook", found, find_alerts(found))


def test_the_result_comes_before_a_hook_that_fails(loop: Loop, program: Callable[[str], Path]) -> None:
    at = ("--workspace", loop.provider, "--hook", program("sys.exit(3)"))
    with workspaces.open_workspace(loop.provider).registry().transaction() as session:
        raise_alarm(session, "south", AlarmKind.CONFLICT, "look at it")
    ended = provider("status", "--json", *at)
    refused(ended, 27, "code 3")
    assert len(json.loads(ended.stdout)["alerts"]) == 1


def test_a_head_that_a_withdrawn_share_has_trained_is_told(loop: Loop) -> None:
    opened = workspaces.open_workspace(loop.provider)
    first, second = accepted_shares(opened)
    pooled = [{"site": one.site, "sequence": one.sequence, "payload": one.digest} for one in (first, second)]
    opened.head.mkdir(exist_ok=True)
    (opened.head / RECORD).write_text(json.dumps({"representer": "", "shares": pooled}))
    assert read_standing(opened, datetime.datetime.now(datetime.UTC)).withdrawn_in_head == ()
    withdraw(opened, first, "A. Weiss", "asked by letter")
    told = read_standing(opened, datetime.datetime.now(datetime.UTC)).withdrawn_in_head
    assert told == (f"share {first.sequence} of {first.site}",)

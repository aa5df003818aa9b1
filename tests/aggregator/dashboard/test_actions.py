"""What people do at the dashboard: said first, done once, by name in the log, and as the command does it."""

from __future__ import annotations

import datetime
import hashlib
import re
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from aggregator.dashboard.access import accounts, passwords
from aggregator.dashboard.actions.action import Asked
from aggregator.dashboard.actions.registry import ACTIONS
from aggregator.dashboard.jobs import running
from aggregator.dashboard.jobs.job import Job, JobKind, JobState
from aggregator.dashboard.jobs.running import Jobs
from aggregator.enrolled import shares as enrolled_shares
from aggregator.enrolled.alarms import raise_alarm
from aggregator.enrolled.sites import enrol_request, list_sites, revoke
from aggregator.errors import RegistryError
from aggregator.ingestion import ingest
from aggregator.registry.states import AccountRole, AlarmKind, ShareState
from aggregator.registry.tables import ShareRow
from foundation.errors import StorageError
from protocols.keys.enrolment import write_request
from protocols.keys.signing import PrivateKey
from shared.errors import ConfigurationError
from tests.aggregator.dashboard.desk import Browser, Desk, shown
from tests.aggregator.publishing.trained import lay_down
from tests.aggregator.registry.rows import share
from tests.loop import done, provider, refused, values


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "world")


def ended(desk: Desk, kind: JobKind) -> Job:
    for _ in range(600):
        job = desk.jobs.last(kind)
        if job is not None and job.state is not JobState.RUNNING:
            return job
        time.sleep(0.1)
    pytest.fail("it never ends")


def test_a_share_is_accepted_after_it_was_said_what_happens(desk: Desk) -> None:
    browser = desk.signed_in("operator")
    asked = browser.ask("share-accept", share="1", reason="a new ward", back="/shares/1")
    assert "Accept share 1 of north?" in shown(asked)
    assert "came before" in shown(asked)
    assert desk.state(1) == ShareState.QUARANTINED
    answer = browser.confirm(asked)
    assert (answer.status_code, answer.headers["location"]) == (303, "/shares/1")
    assert desk.state(1) == ShareState.ACCEPTED
    assert desk.events()[-1] == ("operator (dashboard)", "share-accepted")
    # Another tab that loads meanwhile tells nothing of it.
    assert "Done" not in shown(browser.get("/sites"))
    assert "Done: share 1 of north is accepted" in shown(browser.get("/shares/1"))
    assert "Done" not in shown(browser.get("/shares/1"))
    # Once: the same page confirmed again finds nothing, and so does asking anew.
    assert browser.confirm(asked).status_code == 409
    assert browser.ask("share-accept", share="1", reason="again").status_code == 409


def test_a_share_by_a_key_that_was_revoked_since_is_not_accepted_and_that_is_said_first(desk: Desk) -> None:
    browser = desk.signed_in("operator")
    asked = browser.ask("share-accept", share="1", reason="looks fine")
    revoke(desk.workspace, "north", "laptop stolen")
    for answer in (browser.ask("share-accept", share="1", reason="looks fine"), browser.confirm(asked)):
        assert answer.status_code == 409
        assert "revoked since it was set aside" in shown(answer)
    assert desk.state(1) == ShareState.QUARANTINED
    assert browser.confirm(browser.ask("share-reject", share="1", reason="laptop stolen")).status_code == 303


def test_what_somebody_else_decided_meanwhile_stays(desk: Desk) -> None:
    one, other = desk.signed_in("operator"), desk.signed_in("operator")
    asked = one.ask("share-accept", share="1", reason="well")
    assert other.confirm(other.ask("share-reject", share="1", reason="no")).status_code == 303
    assert one.confirm(asked).status_code == 409
    assert desk.state(1) == ShareState.REJECTED


@pytest.mark.parametrize(
    ("action", "role", "number"),
    [("share-accept", "operator", 1), ("share-reject", "operator", 1), ("share-withdraw", "approver", 2)],
)
def test_who_decides_the_same_second_is_told_that_the_log_names_another(
    desk: Desk, action: str, role: str, number: int
) -> None:
    one, other = desk.signed_in(role), desk.signed_in("approver")
    asked = other.ask(action, share=str(number), reason="mine")
    assert one.confirm(one.ask(action, share=str(number), reason="first")).status_code == 303
    decided = desk.events()
    answer = other.confirm(asked)
    assert answer.status_code == 409
    assert f"it is {desk.state(number)}" in shown(answer)
    assert desk.events()[-1] == decided[-1]


def test_a_share_that_can_not_be_decided_is_given_up_by_an_operator_alone(desk: Desk) -> None:
    with desk.workspace.registry().transaction() as session:
        session.add(share(3, id=3, state=ShareState.RECEIVED))
    looking, browser = desk.signed_in("viewer"), desk.signed_in("operator")
    assert 'value="share-reject"' not in looking.get("/shares/3").text
    page = browser.get("/shares/3")
    assert re.findall(r'name="action" value="(share-[^"]+)"', page.text) == ["share-reject"]
    assert "such as one whose bundle is lost" in shown(page)
    assert "It was not opened yet." in shown(page)
    assert browser.ask("share-reject", share="3", reason="").status_code == 400
    asked = browser.ask("share-reject", share="3", reason="its bundle is lost", back="/shares/3")
    assert "Reject share 3 of north?" in shown(asked)
    assert "it is received" in shown(asked)
    assert desk.state(3) == ShareState.RECEIVED
    assert browser.confirm(asked).status_code == 303
    assert desk.state(3) == ShareState.REJECTED
    assert desk.events()[-1] == ("operator (dashboard)", "share-rejected")
    assert "its bundle is lost" in shown(browser.get("/shares/3"))
    # It neither comes to count by a form nor is given up twice.
    assert 'name="action" value="share-' not in browser.get("/shares/3").text
    assert browser.ask("share-reject", share="3", reason="again").status_code == 409


def test_a_share_is_withdrawn_and_a_hospital_revoked_by_an_approver(desk: Desk) -> None:
    browser = desk.signed_in("approver")
    assert browser.confirm(browser.ask("share-withdraw", share="2", reason="by letter")).status_code == 303
    assert browser.confirm(browser.ask("site-revoke", site="south", reason="left")).status_code == 303
    assert desk.state(2) == ShareState.WITHDRAWN
    assert [one.revoked for one in list_sites(desk.workspace)] == [None, "left"]
    assert [event for event in desk.events() if event[0] == "approver (dashboard)"] == [
        ("approver (dashboard)", "signed-in"),
        ("approver (dashboard)", "share-withdrawn"),
        ("approver (dashboard)", "site-revoked"),
    ]


@pytest.mark.parametrize(
    ("action", "role", "number", "after"),
    [
        ("share-withdraw", "approver", 2, ShareState.WITHDRAWN),
        ("share-reject", "operator", 1, ShareState.REJECTED),
        ("share-reject", "operator", 3, ShareState.REJECTED),
    ],
)
def test_what_was_decided_is_told_as_done_where_the_payload_can_not_be_deleted_yet(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, action: str, role: str, number: int, after: ShareState
) -> None:
    with desk.workspace.registry().transaction() as session:
        session.add(share(3, id=3, state=ShareState.RECEIVED))
        row = session.get_one(ShareRow, number)
        what, column = ("bundle", "bundle_sha256") if number == 3 else ("payload", "payload_sha256")
        (tmp_path / "object").write_bytes(b"object")
        digest = hashlib.sha256(b"object").hexdigest()
        setattr(row, column, digest)
    desk.workspace.objects().put(tmp_path / "object", digest)
    browser = desk.signed_in(role)
    asked = browser.ask(action, share=str(number), reason="by letter")

    def read_only(workspace: object, digest: str | None) -> None:
        raise StorageError(
            "a folder that can be written", received="a read-only one", advice="check it", place="objects"
        )

    with monkeypatch.context() as patch:
        patch.setattr(enrolled_shares, "forget", read_only)
        answer = browser.confirm(asked)
    assert (answer.status_code, desk.state(number)) == (303, after)
    assert f"is {after}; its {what} could not be deleted yet, the server tries again" in shown(
        browser.get(answer.headers["location"])
    )
    # The server does so every few minutes.
    assert digest in desk.workspace.objects().digests()
    ingest.finish(desk.workspace)
    assert digest not in desk.workspace.objects().digests()


def test_a_share_that_could_not_be_decided_is_not_told_as_done(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = desk.signed_in("approver")
    asked = browser.ask("share-withdraw", share="2", reason="by letter")

    def full(*given: object) -> None:
        raise StorageError("room", received="a full disk", advice="free some space", place="registry")

    monkeypatch.setattr(enrolled_shares, "settle", full)
    assert browser.confirm(asked).status_code == 503
    assert desk.state(2) == ShareState.ACCEPTED


def test_a_hospital_is_taken_in_only_with_the_fingerprint_that_it_reads_out(desk: Desk, tmp_path: Path) -> None:
    day = datetime.datetime.now(datetime.UTC).date()
    path = tmp_path / "west.json"
    request = write_request(
        path, PrivateKey.generate(), site="west", contact="ward", created=day, valid_until=day + datetime.timedelta(9)
    )
    browser, text = desk.signed_in("approver"), path.read_text()
    wrong = browser.ask("site-enrol", request=text, fingerprint="0000")
    assert wrong.status_code == 409
    # Whoever copied it from a page would have compared nothing.
    assert request.fingerprint not in wrong.text
    asked = browser.ask("site-enrol", request=f"\r\n{text}\r\n", fingerprint=request.spoken.upper())
    assert request.fingerprint not in asked.text
    assert browser.confirm(asked).status_code == 303
    assert [one.name for one in list_sites(desk.workspace)] == ["north", "south", "west"]
    assert desk.events()[-1] == ("approver (dashboard)", "site-enrolled")


def test_what_can_not_be_taken_in_is_not_promised(desk: Desk, tmp_path: Path) -> None:
    """What is said ahead asks what is asked when it happens."""
    day, browser, key = datetime.datetime.now(datetime.UTC).date(), desk.signed_in("approver"), PrivateKey.generate()

    def asked(site: str, key: PrivateKey) -> httpx.Response:
        path, ends = tmp_path / f"{site}-{key.public_key.key_id[:8]}.json", day + datetime.timedelta(9)
        request = write_request(path, key, site=site, contact="", created=day, valid_until=ends)
        return browser.ask("site-enrol", request=path.read_text(), fingerprint=request.fingerprint)

    for answer, said in (
        (asked("north", key), "there is a site of that name already"),
        (asked("server", key), "the log has for the provider itself"),
        (asked("west", desk.world.keys["south"]), "enrolled before"),
    ):
        assert (answer.status_code, said in shown(answer)) == (409, True)
    assert browser.confirm(asked("west", key)).status_code == 303


def test_a_training_that_can_not_go_on_is_not_promised(desk: Desk) -> None:
    browser = desk.signed_in("operator")
    answer = browser.ask("train-head", epochs="20")
    assert (answer.status_code, "train-repr" in shown(answer)) == (409, True)
    lay_down(desk.workspace)
    assert browser.ask("train-head", epochs="20").status_code == 200
    answer = browser.ask("train-head", epochs="20", resume="yes")
    assert (answer.status_code, "found none to go on with" in shown(answer)) == (409, True)
    cut = desk.workspace.root / "unfinished" / "train-head"
    cut.mkdir(parents=True)
    (cut / "inputs.json").write_text('{"epochs": 30}')
    answer = browser.ask("train-head", epochs="20", resume="yes")
    assert (answer.status_code, "the 30 passes" in shown(answer)) == (409, True)
    assert "goes on" in shown(browser.ask("train-head", epochs="30", resume="yes"))


def test_a_hospital_is_revoked_once_and_for_the_reason_that_the_log_has(desk: Desk) -> None:
    one, other = desk.signed_in("approver"), desk.signed_in("approver")
    asked = other.ask("site-revoke", site="south", reason="mine")
    assert one.confirm(one.ask("site-revoke", site="south", reason="left")).status_code == 303
    answer = other.confirm(asked)
    assert answer.status_code == 409
    assert "it is: left" in shown(answer)
    assert other.ask("site-revoke", site="south", reason="again").status_code == 409
    assert [one.revoked for one in list_sites(desk.workspace)] == [None, "left"]
    assert [action for _, action in desk.events()].count("site-revoked") == 1


def test_a_hospital_that_came_back_meanwhile_is_not_the_one_that_was_to_be_revoked(desk: Desk, tmp_path: Path) -> None:
    browser = desk.signed_in("approver")
    asked = browser.ask("site-revoke", site="south", reason="its key was stolen")
    revoke(desk.workspace, "south", "its key was stolen")
    day, path = datetime.datetime.now(datetime.UTC).date(), tmp_path / "south.json"
    request = write_request(
        path, PrivateKey.generate(), site="south", contact="", created=day, valid_until=day + datetime.timedelta(9)
    )
    enrol_request(desk.workspace, path.read_bytes(), request.fingerprint)
    answer = browser.confirm(asked)
    assert answer.status_code == 409
    assert "another key of the hospital" in shown(answer)
    assert [one.revoked for one in list_sites(desk.workspace)] == [None, None]


def test_an_alarm_is_acknowledged(desk: Desk) -> None:
    with desk.workspace.registry().transaction() as session:
        raise_alarm(session, "north", AlarmKind.INFLUENCE, "recall falls")
    browser = desk.signed_in("operator")
    assert "recall falls" in shown(browser.get("/influence"))
    assert browser.confirm(browser.ask("alarm-acknowledge", alarm="1")).status_code == 303
    assert desk.events()[-1] == ("operator (dashboard)", "alarm-acknowledged")
    assert "recall falls" not in shown(browser.get("/influence"))


def test_the_log_is_verified_by_a_work_that_says_what_it_found(desk: Desk) -> None:
    browser = desk.signed_in("operator")
    assert browser.confirm(browser.ask("log-verify", known="")).status_code == 303
    job = ended(desk, JobKind.VERIFY)
    assert (job.state, job.by, job.result["events"]) == (JobState.DONE, "operator (dashboard)", len(desk.events()))
    assert "every link holds" in shown(browser.get("/log"))
    assert ("operator (dashboard)", "work-begun") in desk.events()
    # One that was given out and is not there is told, and so is one that is none.
    browser.confirm(browser.ask("log-verify", known="ab" * 32))
    time.sleep(0.2)
    assert ended(desk, JobKind.VERIFY).state is JobState.FAILED
    assert browser.ask("log-verify", known="ab").status_code == 400


def test_a_release_without_what_it_takes_is_refused_before_anything_begins(desk: Desk) -> None:
    browser = desk.signed_in("approver")
    for action in ("publish", "release"):
        assert browser.ask(action, notes="").status_code == 409
    assert desk.jobs.all() == []


def test_a_work_that_can_not_begin_is_no_work_that_runs(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*words: object, **named: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    browser = desk.signed_in("operator")
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", none_left)
        answer = browser.confirm(browser.ask("log-verify", known=""))
    assert answer.status_code == 409
    assert "starts no further process" in shown(answer)
    assert [job.state for job in desk.jobs.all()] == [JobState.FAILED]
    assert browser.confirm(browser.ask("log-verify", known="")).status_code == 303
    assert ended(desk, JobKind.VERIFY).state is JobState.DONE


def test_the_log_tells_of_no_work_that_had_to_wait(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MOST", 0)
    browser = desk.signed_in("operator")
    assert browser.confirm(browser.ask("log-verify", known="")).status_code == 409
    assert "work-begun" not in [action for _, action in desk.events()]


def test_a_work_that_was_cut_is_told_after_a_restart(desk: Desk) -> None:
    with pytest.raises(RegistryError):
        ACTIONS["share-accept"].foretell(_asked(desk, share="7", reason="x"))
    Job("ab" * 8, JobKind.PUBLISH, "anna (dashboard)", {}, "2026-11-24T10:00:00Z").save(desk.workspace.root / "jobs")
    again = Jobs(desk.workspace.root)
    found = again.find("ab" * 8)
    assert found is not None
    assert found.state is JobState.CUT


def _asked(desk: Desk, **form: str) -> Asked:
    found = accounts.find_account(desk.workspace, "approver")
    assert found is not None
    return Asked(desk.workspace, desk.jobs, found[0], form)


def test_every_form_of_a_page_is_an_action_that_its_role_may_take(desk: Desk) -> None:
    seen = set()
    for role in AccountRole:
        browser: Browser = desk.signed_in(str(role))
        pages = "".join(
            browser.get(path).text
            for path in ("/sites", "/sites/north", "/shares/1", "/pool", "/influence", "/releases", "/log")
        )
        offered = set(re.findall(r'name="action" value="([^"]+)"', pages))
        assert offered <= {name for name, action in ACTIONS.items() if role.may(action.role)}
        seen |= offered
    assert seen == set(ACTIONS) - {"work-stop", "alarm-acknowledge"}


def test_accounts_are_kept_by_commands(tmp_path: Path) -> None:
    root, secret = tmp_path / "p", tmp_path / "password"
    done(provider("init", root))
    at = ("--workspace", root)
    secret.write_text("five words nobody puts together\n")
    secret.chmod(0o400)
    done(provider("account", "add", "anna", "--role", "operator", "--password-file", secret, *at))
    done(provider("account", "add", "eva@example.org", "--through-proxy", *at))
    done(provider("account", "role", "anna", "approver", *at))
    done(provider("account", "password", "anna", "--password-file", secret, *at))
    rows = values(provider("account", "list", "--json", *at))["accounts"]
    assert [(row["name"], row["role"], row["through_proxy"]) for row in rows] == [
        ("anna", "approver", False),
        ("eva@example.org", "viewer", True),
    ]
    refused(provider("account", "add", "anna", "--password-file", secret, *at), 21, "already")
    refused(provider("account", "role", "nobody", "viewer", *at), 21, "no")
    done(provider("account", "remove", "anna", *at))
    secret.chmod(0o600)
    secret.write_text("short")
    refused(provider("account", "add", "bea", "--password-file", secret, *at), 2, "12")
    log = done(provider("audit-log", "show", *at)).stdout
    assert "account-added" in log
    assert "words" not in log


def test_a_password_is_kept_so_that_it_can_only_be_tried() -> None:
    kept = passwords.hash_password(b"correct horse battery")
    assert kept.startswith("$argon2id$")
    assert passwords.password_matches(b"correct horse battery", kept)
    assert not passwords.password_matches(b"correct horse batterz", kept)
    assert not passwords.password_matches(b"correct horse battery", None)
    assert kept != passwords.hash_password(b"correct horse battery")
    assert (passwords.Cost().iterations, passwords.Cost().memory_kib) == (3, 65536)
    for bad in (b"short", b"x" * 1025):
        with pytest.raises(ConfigurationError):
            passwords.hash_password(bad)

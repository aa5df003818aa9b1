"""Who has no business at the dashboard gets nothing from it: each test is an attack."""

from __future__ import annotations

import datetime
import json
import logging
import re
import time
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from aggregator.dashboard.access import accounts
from aggregator.dashboard.actions.registry import ACTIONS
from aggregator.dashboard.options import DashboardOptions, parse_place
from aggregator.dashboard.pages.registry import PAGES
from aggregator.enrolled.alarms import raise_alarm
from aggregator.enrolled.sites import enrol_request
from aggregator.errors import DatabaseError
from aggregator.registry import audit_log
from aggregator.registry.states import AccountRole, AlarmKind, ShareState
from aggregator.registry.tables import SiteRow
from protocols.keys.enrolment import write_request
from protocols.keys.signing import PrivateKey
from shared.errors import ConfigurationError
from tests.aggregator.dashboard.desk import ORIGIN, PASSWORD, Desk, field, shown

FILLED = {"{name}": "north", "{share}": "1", "{work}": "0" * 16}


def filled(path: str) -> str:
    for gap, value in FILLED.items():
        path = path.replace(gap, value)
    return path


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """For tests that change nothing but sessions and tries."""
    return Desk(tmp_path_factory.mktemp("desk") / "world")


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    # Whatever tries an earlier test has used up come back.
    shared_desk.clock.now += 36_000
    return shared_desk


@pytest.mark.parametrize("path", [filled(place.path) for place in PAGES])
def test_a_page_without_a_session_is_the_sign_in_and_nothing_else(desk: Desk, path: str) -> None:
    answer = desk.browser().get(path)
    assert (answer.status_code, answer.headers["location"].startswith("/sign-in")) == (303, True)
    said = desk.browser().get(answer.headers["location"])
    assert "Password" in said.text
    assert not answer.text
    assert not any(word in said.text for word in ("south", "overlap", "Sign out"))
    assert desk.browser().get("/live").status_code == 403


@pytest.mark.parametrize("path", ["/ask", "/confirm", "/sign-out"])
def test_a_form_without_a_session_does_nothing(desk: Desk, path: str) -> None:
    assert desk.browser().post(path, csrf="x" * 43, action="share-accept", share="1", reason="no").status_code == 403
    assert desk.state(1) == ShareState.QUARANTINED


@pytest.mark.parametrize("name", ACTIONS)
def test_no_action_is_for_a_lower_role_than_it_says(desk: Desk, name: str) -> None:
    for role in AccountRole:
        if not role.may(ACTIONS[name].role):
            said = desk.signed_in(str(role)).ask(name, share="1", reason="no")
            assert (said.status_code, "role" in said.text) == (403, True)


def test_a_role_that_was_taken_away_is_gone_between_asking_and_confirming(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "world")
    browser = desk.signed_in("operator")
    asked = browser.ask("share-accept", share="1", reason="well")
    accounts.set_role(desk.workspace, "operator", AccountRole.VIEWER)
    assert browser.confirm(asked).status_code == 403
    assert desk.state(1) == ShareState.QUARANTINED


def test_an_account_that_was_removed_or_has_another_password_is_signed_out(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "world")
    operator, viewer = desk.signed_in("operator"), desk.signed_in("viewer")
    accounts.remove_account(desk.workspace, "operator")
    accounts.set_password(desk.workspace, "viewer", b"another one altogether")
    assert "Sign out" not in operator.get("/").text + viewer.get("/").text


def test_a_form_of_another_page_or_another_session_does_nothing(desk: Desk) -> None:
    browser, other = desk.signed_in("operator"), desk.signed_in("operator")
    csrf, form = browser.csrf(), {"action": "share-accept", "share": "1", "reason": "no"}
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        assert browser.post("/ask", headers, csrf=csrf, **form).status_code == 403
    for token in ("", "x", other.csrf()):
        assert browser.post("/ask", csrf=token, **form).status_code == 403
    # What one session was shown another can't confirm, and nobody twice.
    asked = browser.ask("share-accept", share="1", reason="no")
    assert other.post("/confirm", csrf=other.csrf(), pending=field(asked.text, "pending")).status_code == 409
    desk.clock.now += 601
    assert browser.confirm(asked).status_code == 409
    assert desk.state(1) == ShareState.QUARANTINED


def test_no_link_changes_anything(desk: Desk) -> None:
    browser = desk.signed_in("approver")
    for path in ("/ask", "/confirm", "/sign-out"):
        assert browser.get(f"{path}?action=share-accept&share=1&reason=no").status_code in (404, 405)
    assert desk.state(1) == ShareState.QUARANTINED


def test_a_session_that_an_attacker_has_set_is_not_the_one_that_begins(desk: Desk) -> None:
    attacker = desk.browser()
    attacker.cookies["dashboard"] = "fixed" * 9
    assert "Sign out" not in attacker.get("/").text
    victim = desk.browser()
    victim.cookies["dashboard"] = "fixed" * 9
    assert victim.post("/sign-in", name="approver", password=PASSWORD).status_code == 303
    assert victim.cookies["dashboard"] != "fixed" * 9
    assert "Sign out" not in attacker.get("/").text
    # Two of one name, as a neighbour on the same host can set: nobody knows which is ours.
    both = f"dashboard={victim.cookies['dashboard']}; dashboard=other"
    assert "Sign out" in victim.get("/").text
    assert "Sign out" not in victim.get("/", cookie=both).text


def test_a_session_that_a_browser_had_is_over_once_somebody_signs_in_anew(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "world", proxies=("10.0.0.5",), address="https://dash.example.org")
    victim, attacker = desk.browser("10.0.0.5"), desk.browser("10.0.0.5")
    victim.post("/sign-in", name="approver", password=PASSWORD)
    attacker.cookies = dict(victim.cookies)
    assert "Sign out" in attacker.get("/").text
    victim.post("/sign-in", name="approver", password=PASSWORD)
    assert "Sign out" not in attacker.get("/").text


def test_attack_another_port_of_the_same_host_gets_half_a_session_at_most(desk: Desk) -> None:
    """Cookies know no ports: whoever runs a server on the same machine gets those of every browser that comes by."""
    victim, thief = desk.browser(), desk.browser()
    answer = victim.post("/sign-in", name="approver", password=PASSWORD)
    (cookie,) = answer.headers.get_list("set-cookie")
    kept_for = SimpleCookie(cookie)["dashboard"]["path"]
    # A browser brings it to no address that somebody else could know, and tells nobody where it was.
    assert kept_for == victim.room
    assert len(kept_for) > 40
    assert victim.get("/").headers["referrer-policy"] == "same-origin"
    # Even with the cookie there is no page, no form and no news; nor with the address alone, or that of another session.
    other = desk.signed_in("viewer")
    for room, cookies in (
        ("", victim.cookies),
        (other.room, victim.cookies),
        (victim.room, {}),
        (victim.room, other.cookies),
    ):
        thief.room, given = room, {"cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        assert "Sign out" not in thief.get("/", **given).text
        assert thief.get("/live", **given).status_code == 403
        form = {"csrf": victim.csrf(), "action": "share-withdraw", "share": "2", "reason": "stolen"}
        assert thief.post("/ask", given, **form).status_code == 403
    assert desk.state(2) == ShareState.ACCEPTED
    assert "Sign out" in victim.get("/").text


def test_every_address_of_a_page_in_clear_is_of_its_session(desk: Desk) -> None:
    browser = desk.signed_in("approver")
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    room, browser.room = browser.room, ""
    for place in PAGES:
        text = browser.get(room + filled(place.path), cookie=cookie).text
        places = set(re.findall(r'(?:href|action|data-live)="(/[^"]*)"', text))
        assert {one for one in places if not one.startswith((f"{room}/", "/files/"))} == set()
    assert f'action="{room}/ask"' in browser.get(f"{room}/log", cookie=cookie).text


def test_a_session_ends_by_itself_and_when_its_owner_says_so(desk: Desk) -> None:
    browser = desk.signed_in("viewer")
    for _ in range(25):
        desk.clock.now += 29 * 60
        if "Sign out" not in browser.get("/").text:
            break
    else:
        pytest.fail("it never ends")
    browser = desk.signed_in("viewer")
    desk.clock.now += 31 * 60
    assert "Sign out" not in browser.get("/").text
    browser = desk.signed_in("viewer")
    kept = dict(browser.cookies)
    assert browser.post("/sign-out", csrf=browser.csrf()).status_code == 303
    browser.cookies = kept
    assert "Sign out" not in browser.get("/").text


def test_cookies_and_headers_keep_the_session_in_the_page(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "world", proxies=("10.0.0.5",), address="https://dash.example.org")
    answer = desk.browser("10.0.0.5").post("/sign-in", name="viewer", password=PASSWORD)
    (cookie,) = answer.headers.get_list("set-cookie")
    assert cookie.startswith("__Host-dashboard=")
    assert {"HttpOnly", "Path=/", "SameSite=strict", "Secure"} <= set(cookie.split("; "))
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["strict-transport-security"]


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/%2f/evil.example x: y",
        "javascript:alert(1)",
        "///x",
    ],
)
def test_nobody_is_sent_to_another_place(desk: Desk, target: str) -> None:
    answer = desk.browser().post("/sign-in", name="viewer", password=PASSWORD, next=target)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert field(desk.browser().get(f"/sign-in?next={target.strip()}").text, "next") == "/"
    assert (
        desk.browser()
        .post("/sign-in", name="viewer", password=PASSWORD, next="/shares?state=accepted")
        .headers["location"]
        == "/shares?state=accepted"
    )


def test_a_name_of_another_host_is_refused(desk: Desk) -> None:
    for host in ("evil.example", "127.0.0.1:1", "127.0.0.1:8444.evil.example"):
        assert desk.browser().get("/sign-in", host=host).status_code == 421


def test_passwords_are_tried_a_few_times_only(desk: Desk) -> None:
    attacker = desk.browser("203.0.113.9")
    codes = [attacker.post("/sign-in", name="approver", password=f"wrong {number}").status_code for number in range(8)]
    assert codes == [403] * 5 + [429] * 3
    # Now even the right one does not help the attacker; whoever sits elsewhere gets in.
    assert attacker.post("/sign-in", name="approver", password=PASSWORD).status_code == 429
    assert desk.browser("198.51.100.1").post("/sign-in", name="approver", password=PASSWORD).status_code == 303
    # Nor do other names.
    codes = [attacker.post("/sign-in", name=f"name{number}", password="wrong").status_code for number in range(30)]
    assert codes[-1] == 429


def test_wrong_passwords_of_an_account_stand_in_the_log_and_on_the_overview(tmp_path: Path) -> None:
    desk, typed = Desk(tmp_path / "world"), "a secret that belongs elsewhere"

    def noted(least: int) -> list[str]:
        """Written by a thread of its own, so that whoever tries sees nothing of it."""
        for _ in range(500):
            with desk.workspace.registry().reading() as session:
                found = [one.details for one in audit_log.events(session) if one.action == "wrong-passwords"]
            if len(found) >= least:
                return found
            time.sleep(0.02)
        pytest.fail("nothing is noted")

    def try_all(name: str, count: int) -> None:
        for number in range(count):
            desk.browser(f"203.0.113.{number}").post("/sign-in", name=name, password=typed)

    browser = desk.signed_in("viewer")
    try_all("approver", 4)
    try_all("nobody", 9)
    assert "wrong passwords" not in shown(browser.get("/"))
    assert noted(0) == []
    try_all("approver", 20)
    assert noted(1) == ['{"account":"approver","tries":5}']
    page = shown(browser.get("/"))
    assert "5 or more wrong passwords were tried within an hour for the account approver" in page
    # At most one event an hour, and of an hour with as many once more.
    desk.clock.now += 3601
    try_all("approver", 4)
    assert len(noted(1)) == 1
    try_all("approver", 1)
    assert noted(2)[1] == '{"account":"approver","tries":5}'
    assert typed not in "".join(noted(2))


def test_many_addresses_get_no_farther_with_one_name(desk: Desk) -> None:
    codes = [
        desk.browser(f"203.0.113.{number}").post("/sign-in", name="operator", password="wrong").status_code
        for number in range(1, 60)
    ]
    assert codes[-1] == 429


def test_nobody_learns_who_has_an_account(desk: Desk) -> None:
    known = desk.browser("192.0.2.1").post("/sign-in", name="viewer", password="wrong")
    unknown = desk.browser("192.0.2.1").post("/sign-in", name="nobody", password="wrong")
    assert (known.status_code, known.text) == (unknown.status_code, unknown.text)


def test_a_sign_in_that_can_not_be_written_down_says_where_to_look(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object) -> None:
        raise DatabaseError(
            "a database that can be written", received="a full disk", advice="free some space", place="registry"
        )

    with monkeypatch.context() as patch:
        patch.setattr(audit_log, "append", full)
        answer = desk.browser("192.0.2.9").post("/sign-in", name="viewer", password=PASSWORD)
    assert answer.status_code == 503
    assert "a full disk" in shown(answer)
    assert "see `aggregator status` at a terminal" in shown(answer)
    assert "set-cookie" not in answer.headers


def test_a_key_of_a_hospital_signs_nobody_in(desk: Desk) -> None:
    key = desk.world.keys["north"]
    for password in (key.public_key.hex, key.public_key.key_id, key.public_key.spoken):
        assert desk.browser("192.0.2.7").post("/sign-in", name="north", password=password).status_code == 403
    signed = {
        "signature": "sig1=:AAAA:",
        "signature-input": f'sig1=();keyid="{key.public_key.key_id}"',
        "authorization": "Bearer x",
    }
    assert "Sign out" not in desk.browser().get("/", **signed).text


def test_a_header_names_nobody_but_through_the_proxy(tmp_path: Path) -> None:
    proxied = {"proxies": ("10.0.0.5",), "address": "https://dash.example.org", "user_header": "X-Forwarded-User"}
    desk = Desk(tmp_path / "world", **proxied)
    accounts.add_account(desk.workspace, "eva@example.org", AccountRole.OPERATOR, None)
    # Past the proxy nothing is answered, whatever the header says.
    assert desk.browser("10.0.0.6").get("/", **{"x-forwarded-user": "eva@example.org"}).status_code == 403
    through = desk.browser("10.0.0.5")
    assert "eva@example.org, operator" in shown(through.get("/", **{"x-forwarded-user": "eva@example.org"}))
    # Nobody without an account, nobody who has a password, nobody under two names.
    for name in ("mallory", "approver", ""):
        assert desk.browser("10.0.0.5").get("/", **{"x-forwarded-user": name}).status_code == 403
    # A session of one is none of another whom the proxy names, and a password is none.
    assert through.get("/", **{"x-forwarded-user": "approver"}).status_code == 403
    assert desk.browser("10.0.0.5").post("/sign-in", name="approver", password=PASSWORD).status_code == 403


def test_a_header_without_a_proxy_is_nobodys_word(desk: Desk) -> None:
    assert "Sign out" not in desk.browser().get("/", **{"x-forwarded-user": "approver"}).text
    with pytest.raises(ConfigurationError, match="--dashboard-proxy"):
        DashboardOptions("127.0.0.1", 8444, user_header="X-Forwarded-User")
    with pytest.raises(ConfigurationError, match="only your proxy sets"):
        DashboardOptions("127.0.0.1", 1, address="https://a.example", proxies=("10.0.0.5",), user_header="Cookie")


@pytest.mark.parametrize("place", ["0.0.0.0:80", "192.0.2.1:80", "dash.example.org:80", "[2001:db8::1]:80"])
def test_passwords_cross_no_network_in_clear(place: str) -> None:
    with pytest.raises(ConfigurationError, match="certificate"):
        DashboardOptions(*parse_place(place))
    with pytest.raises(ConfigurationError, match="https"):
        DashboardOptions("127.0.0.1", 1, address="http://dash.example.org")
    assert DashboardOptions(*parse_place("[::1]:8444")).origin(8444) == "http://[::1]:8444"


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://dash.example.org", "https://dash.example.org"),
        ("https://Dash.Example.org/", "https://dash.example.org"),
        ("https://dash.example.org:443", "https://dash.example.org"),
        ("https://dash.example.org:8444", "https://dash.example.org:8444"),
        ("http://localhost:80", "http://localhost"),
        ("https://müller.example", "https://xn--mller-kva.example"),
        ("https://[2001:DB8:0::1]:443", "https://[2001:db8::1]"),
    ],
)
def test_the_address_is_what_browsers_state(address: str, origin: str) -> None:
    assert DashboardOptions("127.0.0.1", 1, address=address, proxies=("10.0.0.5",)).origin(1) == origin


@pytest.mark.parametrize(
    "address",
    [
        "https://dash.example.org?",
        "https://dash.example.org#",
        "https://dash.example.org\t",
        "https://dash.exa\tmple.org",
        "https://dash.example.org/ ",
        "https://dash.example.org/path",
        "https://anna@dash.example.org",
        "https://@dash.example.org",
        "https://straße.example",
        "https://dash.example.org:0",
        "https://dash.example.org:x",
        "https://dash.example.org,evil.example",
        "https://",
        "https://[::1",
        "ftp://dash.example.org",
        "http://dash.example.org",
    ],
)
def test_an_address_that_no_browser_would_state_is_refused(address: str) -> None:
    with pytest.raises(ConfigurationError, match="--dashboard-address"):
        DashboardOptions("127.0.0.1", 1, address=address, proxies=("10.0.0.5",))


HOSTILE = "<img src=x onerror=\"document.title='broken'\"><script>alert(1)</script>"


def test_what_a_site_writes_is_never_markup(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "world")
    key, path = PrivateKey.generate(), tmp_path / "west.json"
    day = datetime.datetime.now(datetime.UTC).date()
    request = write_request(
        path, key, site="west", contact=HOSTILE, created=day, valid_until=day + datetime.timedelta(9)
    )
    enrol_request(desk.workspace, path.read_bytes(), request.fingerprint)
    record = {
        "sites": [
            {"site": HOSTILE, "recall": 0.5, "precision": 0.5, "phi_tokens": 3, "categories": {HOSTILE: [30, 0.5]}}
        ]
    }
    desk.workspace.head.mkdir()
    (desk.workspace.head / "training.json").write_text(json.dumps(record))
    browser = desk.signed_in("approver")
    for path_ in ("/sites/west", "/pool", f"/shares?site={HOSTILE}", f"/sites?name={HOSTILE}"):
        said = browser.get(path_).text
        assert "<img src=x" not in said
        assert "<script>" not in said
    assert HOSTILE in shown(browser.get("/sites/west")) or "&lt;img" in browser.get("/sites/west").text


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200f", "\x9b"])
def test_what_a_site_writes_turns_no_line_round_that_is_confirmed(tmp_path: Path, mark: str) -> None:
    """Marks of direction would show the person who confirms other words than the hospital has written."""
    desk, day, path = Desk(tmp_path / "world"), datetime.datetime.now(datetime.UTC).date(), tmp_path / "west.json"
    with desk.workspace.registry().transaction() as session:
        session.get_one(SiteRow, "south").contact = f"ward{mark} 9102-10-10 litnu stnuoc"
        raise_alarm(session, "north", AlarmKind.INFLUENCE, f"recall{mark} of DATE")
    browser = desk.signed_in("approver")
    pages = [browser.get("/sites/south"), browser.get("/influence"), browser.ask("alarm-acknowledge", alarm="1")]
    if ord(mark) > 0x2000:
        request = write_request(
            path,
            PrivateKey.generate(),
            site="west",
            contact=f"ward{mark} 9",
            created=day,
            valid_until=day + datetime.timedelta(9),
        )
        pages.append(browser.ask("site-enrol", request=path.read_text(), fingerprint=request.fingerprint))
    for page in pages:
        assert page.status_code == 200
        assert mark not in page.text
        assert f"\\u{ord(mark):04x}" in page.text


def test_pages_and_logs_hold_no_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    desk = Desk(tmp_path / "world")
    browser = desk.signed_in("approver")
    desk.browser().post("/sign-in", name="a password typed into the wrong field", password=PASSWORD)
    pages = "".join(browser.get(filled(place.path)).text for place in PAGES)
    found = accounts.find_account(desk.workspace, "approver")
    assert found is not None
    private = desk.workspace.private_key.read_text().split("\n")[1]
    written = "".join(str(event) for event in desk.events()) + caplog.text + "".join(capfd.readouterr())
    for secret in (PASSWORD, str(found[1]), browser.cookies["dashboard"], private, "wrong field"):
        assert secret not in pages
        assert secret not in written
    assert desk.origin == ORIGIN


def test_what_is_no_form_of_ours_is_refused(desk: Desk) -> None:
    browser = desk.signed_in("viewer")
    too_long = browser.post("/ask", csrf=browser.csrf(), action="x" * 70_000)
    assert too_long.status_code == 413
    assert browser.post("/ask", {"content-type": "text/plain"}, csrf="x").status_code == 415
    assert browser.post("/ask", csrf=browser.csrf(), action="no-such").status_code == 404
    for path in (
        "/shares/999",
        "/shares/x",
        "/sites/nowhere",
        "/shares?page=0",
        "/shares?state=x",
        "/nowhere",
        "/work/x",
    ):
        assert browser.get(path).status_code in (404, 409), path

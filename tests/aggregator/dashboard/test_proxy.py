"""Behind a proxy that says who somebody is: only a page that a person opens signs them in, and a sign-out is none that undoes itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from aggregator.dashboard.access import accounts
from aggregator.registry.states import AccountRole
from tests.aggregator.dashboard.desk import Browser, Desk, field, shown

NAME, PROXY = "eva@example.org", "10.0.0.5"
STATED = {"x-forwarded-user": NAME}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(
        tmp_path / "world", proxies=(PROXY,), address="https://dash.example.org", user_header="X-Forwarded-User"
    )
    accounts.add_account(made.workspace, NAME, AccountRole.OPERATOR, None)
    return made


def sign_ins(desk: Desk) -> int:
    return [action for _, action in desk.events()].count("signed-in")


def opened(desk: Desk) -> Browser:
    """A browser that has opened a page: the proxy states the name, and a session begins."""
    browser = desk.browser(PROXY)
    assert NAME in shown(browser.get("/", **STATED))
    return browser


def test_an_open_tab_signs_nobody_in_when_its_session_is_over(desk: Desk) -> None:
    browser = opened(desk)
    assert browser.get("/live", **STATED).status_code == 200
    desk.clock.now += 31 * 60
    before = desk.events()
    assert [browser.get("/live", **STATED).status_code for _ in range(5)] == [403] * 5
    assert desk.events() == before
    # A person who opens a page does sign in, once.
    assert NAME in shown(browser.get("/", **STATED))
    assert NAME in shown(browser.get("/sites", **STATED))
    assert browser.get("/live", **STATED).status_code == 200
    assert sign_ins(desk) == 2


def test_attack_requests_without_a_session_put_nobody_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aggregator.dashboard.access.sessions._MOST", 3)
    browser, stranger = opened(desk), desk.browser(PROXY)
    for _ in range(4):
        assert stranger.get("/live", **STATED).status_code == 403
    assert browser.get("/live", **STATED).status_code == 200


@pytest.mark.parametrize(
    "fetched",
    [
        {"sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe"},
        {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"},
        {"sec-fetch-site": "same-site", "sec-fetch-dest": "document"},
        {"sec-fetch-site": "same-origin", "sec-fetch-dest": "iframe"},
    ],
)
def test_attack_a_foreign_page_signs_nobody_in_and_so_nobody_out(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, fetched: dict[str, str]
) -> None:
    monkeypatch.setattr("aggregator.dashboard.access.sessions._MOST", 3)
    victim, before = opened(desk), desk.events()
    for _ in range(4):
        # The cookie is kept from such requests; the proxy vouches for its user all the same.
        answer = desk.browser(PROXY).get("/log", **STATED, **{"sec-fetch-mode": "navigate"}, **fetched)
        assert (answer.status_code, "set-cookie" in answer.headers) == (200, False)
        assert 'href="/log"' in answer.text
        assert NAME not in answer.text
    assert desk.events() == before
    assert victim.get("/live", **STATED).status_code == 200


@pytest.mark.parametrize("site", ["none", "same-origin"])
def test_a_page_that_a_person_opens_signs_in(desk: Desk, site: str) -> None:
    """By the address bar, or by the link of the page that says that nobody is signed in."""
    fetched = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert NAME in shown(desk.browser(PROXY).get("/log", **STATED, **fetched))
    assert sign_ins(desk) == 1


@pytest.mark.parametrize("path", ["/ask", "/confirm", "/sign-out"])
def test_a_form_without_a_session_signs_nobody_in(desk: Desk, path: str) -> None:
    before = desk.events()
    answer = desk.browser(PROXY).post(path, STATED, csrf="x" * 43, action="share-accept", share="1", reason="no")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert desk.events() == before


def test_a_sign_out_stays_one_and_says_where_the_rest_is_done(desk: Desk) -> None:
    browser = opened(desk)
    page = browser.get("/", **STATED)
    answer = browser.post("/sign-out", STATED, csrf=field(page.text, "csrf"))
    while answer.status_code == 303:
        answer = browser.get(answer.headers["location"], **STATED)
    assert (answer.status_code, NAME in answer.text, "Password" in answer.text) == (200, False, False)
    assert "sign out there" in shown(answer)
    assert sign_ins(desk) == 1
    assert browser.get("/live", **STATED).status_code == 403


def test_the_page_that_signs_in_elsewhere_leads_on_to_where_somebody_wanted(desk: Desk) -> None:
    assert (
        'href="/shares?state=accepted"'
        in desk.browser(PROXY).get("/sign-in?next=/shares%3Fstate%3Daccepted", **STATED).text
    )
    assert 'href="/"' in desk.browser(PROXY).get("/sign-in?next=//evil.example", **STATED).text
    browser = opened(desk)
    answer = browser.get("/sign-in?next=/shares", **STATED)
    assert (answer.status_code, answer.headers["location"]) == (303, "/shares")
    assert sign_ins(desk) == 1

"""Behind a proxy that says who somebody is: only a page that a person opens signs them in, and a sign-out is none that undoes itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from aggregator.dashboard.access import accounts
from aggregator.registry.states import AccountRole
from tests.aggregator.dashboard.desk import Browser, Desk, shown

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


@pytest.mark.parametrize("path", ["/ask", "/confirm", "/sign-out"])
def test_a_form_without_a_session_signs_nobody_in(desk: Desk, path: str) -> None:
    before = desk.events()
    answer = desk.browser(PROXY).post(path, STATED, csrf="x" * 43, action="share-accept", share="1", reason="no")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert desk.events() == before

"""The pages in a real browser: by keys alone, by axe, narrow, dark, and with nothing from elsewhere."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aggregator.dashboard.pages.registry import PAGES
from aggregator.registry.states import ShareState
from bench.dashboard.measuring import problems, sign_in
from bench.dashboard.served import serving
from tests.aggregator.dashboard.desk import PASSWORD, Desk

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

PATHS = [place.path.replace("{name}", "north").replace("{share}", "1") for place in PAGES if "{work}" not in place.path]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_share_is_decided_by_keys_alone_and_nothing_comes_from_elsewhere(browser: Browser, tmp_path: Path) -> None:
    desk = Desk(tmp_path / "world")
    with serving(desk.workspace) as origin:
        page = browser.new_page()
        asked: list[str] = []
        said: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(f"{origin}/shares/1")
        page.focus("#name")
        page.keyboard.type("operator")
        press(page, "Tab")
        page.keyboard.type(PASSWORD)
        press(page, "Enter")
        page.wait_for_selector("h1:has-text('Share 1 of north')")
        # The first key leads past the menu; the form opens by Enter.
        press(page, "Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        press(page, "Enter")
        for _ in range(8):
            press(page, "Tab")
            if page.evaluate("document.activeElement.tagName") == "SUMMARY":
                break
        press(page, "Enter", "Tab")
        page.keyboard.type("a new ward")
        press(page, "Enter")
        page.wait_for_selector("h1:has-text('Accept share 1 of north?')")
        assert desk.state(1) == ShareState.QUARANTINED
        for _ in range(20):
            press(page, "Tab")
            if page.evaluate("document.activeElement.textContent").startswith("Yes"):
                break
        press(page, "Enter")
        page.wait_for_selector("[role=status]")
        assert desk.state(1) == ShareState.ACCEPTED
        assert all(one.startswith(origin) for one in asked)
        assert not said
        page.close()


WORK = """<!doctype html><section data-live="/live"><div data-work="1"><progress max="100" value="0"></progress>
<span data-part="share"></span><span data-part="phase"></span><span data-part="left"></span></div></section>
<script src="/files/dashboard.js"></script>"""


def test_a_page_asks_on_after_an_error_and_stops_where_nobody_is_signed_in(browser: Browser, tmp_path: Path) -> None:
    desk = Desk(tmp_path / "world")
    told = [{"id": "1", "share": 40, "phase": "reading", "left": "a minute"}]
    codes = iter((409, 503, 200, 403))
    asked: list[str] = []

    def live(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=next(codes), json=told)

    with serving(desk.workspace) as origin:
        page = browser.new_page()
        page.route("**/live", live)
        page.route("**/shown", lambda route: route.fulfill(content_type="text/html", body=WORK))
        page.clock.install()
        page.goto(f"{origin}/shown")
        for number in range(1, 5):
            # The page waits for an answer before it counts to the next question.
            for _ in range(50):
                if len(asked) >= number:
                    break
                page.clock.run_for(2100)
                page.wait_for_timeout(20)
        assert page.text_content("[data-part=share]") == "40"
        page.clock.run_for(10_000)
        assert len(asked) == 4
        page.close()


def test_attack_another_port_of_the_machine_is_sent_no_cookie(browser: Browser, tmp_path: Path) -> None:
    """Cookies know no ports; only where pages of a session lie keeps theirs from other servers of the host."""
    cookies: list[str | None] = []
    referrers: list[str] = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("cookie"))
            referrers.append(self.headers.get("referer", ""))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    desk = Desk(tmp_path / "world")
    with serving(desk.workspace) as origin, ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(origin)
        sign_in(page, "approver", PASSWORD)
        for path in ("/", "/shares", "/s/"):
            # As by a link that somebody follows, and by the address bar.
            page.evaluate("place => { location.href = place }", f"http://127.0.0.1:{other.server_port}{path}")
            page.wait_for_url(f"**:{other.server_port}{path}")
            page.go_back()
            page.wait_for_selector("header nav")
        page.goto(f"http://127.0.0.1:{other.server_port}/")
        page.close()
        other.shutdown()
    assert len(cookies) >= 4
    assert set(cookies) == {None}
    # Nor the address where the cookie is kept: of its own pages it may know.
    assert not any(one.startswith(origin) for one in referrers)


@pytest.mark.parametrize(("scheme", "width", "height"), [("light", 1280, 900), ("dark", 320, 256)])
def test_every_page_is_for_everybody(browser: Browser, tmp_path: Path, scheme: str, width: int, height: int) -> None:
    desk = Desk(tmp_path / "world")
    with serving(desk.workspace) as origin:
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(origin)
        wrong = problems(page, "sign-in")
        room = sign_in(page, "approver", PASSWORD)
        for path in PATHS:
            page.goto(room + path)
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            wrong += problems(page, path)
        assert wrong == []
        context.close()

"""CPU of every page with 200 hospitals, and violations of axe on every page, in both themes and at three widths."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aggregator.dashboard.pages.registry import PAGES
from bench.dashboard.served import NAME, PASSWORD, add_approver, cpu_seconds, serving
from bench.dashboard.world import Size, build_world
from bench.results import Entry

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page

COMMAND = "python -m bench.results_show dashboard"
TURNS = 15
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# 320 by 256 is what a screen of 1280 by 1024 shows at 400% (WCAG 2.2, success criterion 1.4.10).
SCREENS = ((1280, 900), (390, 800), (320, 256))
_LARGE = Size()
_SMALL = Size(sites=40, shares=600, releases=6, rounds=30)
_QUICK = Size(sites=8, shares=60, releases=2, rounds=5)


def addresses(size: Size) -> list[str]:
    """Every page of a world; not that of a work, since none was begun."""
    filled = {"{name}": "hospital-003", "{share}": "2", "{work}": ""}
    found = []
    for place in PAGES:
        path = place.path.replace("/releases/{name}", f"/releases/{size.releases:04}-pipeline")
        for gap, value in filled.items():
            path = path.replace(gap, value)
        found += [] if path == "/work/" else [path]
    return [*found, "/shares?state=quarantined&page=2"]


def measure(size: Size = _LARGE, small: Size = _SMALL, turns: int = TURNS) -> Iterator[Entry]:
    """Both measures."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = build_world(Path(folder) / "large", size)
        add_approver(workspace)
        taken = cpu_seconds(workspace, addresses(size), turns)
        medians = {path: 1000 * float(np.median(seconds)) for path, seconds in taken.items()}
        worst = max(medians, key=lambda path: medians[path])
        interval = (round(1000 * min(taken[worst]), 1), round(1000 * max(taken[worst]), 1))
        data = f"invented: {size.sites} hospitals, {size.shares} shares, {size.releases} releases"
        others = ", ".join(
            f"{path} {value:.0f}" for path, value in sorted(medians.items(), key=lambda one: -one[1])[1:5]
        )
        note = f"{worst}, median of {turns}, the interval is their range; client included; next: {others}"
        yield Entry(
            "dashboard, the dearest page",
            round(medians[worst], 1),
            200,
            "<=",
            "ms of CPU",
            interval,
            1,
            data,
            COMMAND,
            note,
        )
        workspace = build_world(Path(folder) / "small", small)
        add_approver(workspace)
        found, pages = look(workspace.root, addresses(small))
        data = f"invented: {small.sites} hospitals; {pages} pages, light and dark, at {', '.join(str(width) for width, _ in SCREENS)} px"
        note = (
            "; ".join(found)[:400]
            or "axe-core in Chromium, all forms open; no page scrolls sideways, none says anything on the console"
        )
        yield Entry(
            "dashboard, violations of axe and pages that scroll sideways",
            len(found),
            0,
            "<=",
            "violations",
            None,
            1,
            data,
            COMMAND,
            note,
        )


def measure_quick() -> Iterator[Entry]:
    """The same of a few hospitals."""
    return measure(_QUICK, _QUICK, 3)


def look(root: Path, paths: list[str]) -> tuple[list[str], int]:
    """What is wrong with the pages of a workspace in a real browser, and how many were looked at."""
    from playwright.sync_api import sync_playwright

    from aggregator.workspace import open_workspace

    program = next(filter(None, map(shutil.which, BROWSERS)))
    wrong: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        wrong.append(f"console: {message.text}")

    with serving(open_workspace(root)) as origin, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            for width, height in SCREENS:
                context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
                page = context.new_page()
                page.on("console", heard)
                page.goto(origin)
                wrong += problems(page, f"sign-in {scheme} {width}")
                room = sign_in(page)
                for path in paths:
                    page.goto(room + path)
                    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
                    wrong += problems(page, f"{path} {scheme} {width}")
                context.close()
        browser.close()
    return wrong, len(paths) + 1


def sign_in(page: Page, name: str = NAME, password: str = PASSWORD) -> str:
    """By keys alone; gives what stands ahead of the path of every page from then on."""
    page.fill("#name", name)
    page.fill("#password", password)
    page.keyboard.press("Enter")
    page.wait_for_selector("header nav")
    return page.url.rstrip("/")


def problems(page: Page, where: str) -> list[str]:
    """Violations of axe, and whether the page scrolls sideways."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    wrong = [f"{where}, {one['id']}: {node['html'][:120]}" for one in found for node in one["nodes"]]
    viewport = page.viewport_size
    if viewport is not None and page.evaluate("document.documentElement.scrollWidth") > viewport["width"]:
        wrong.append(f"{where} scrolls sideways")
    return wrong

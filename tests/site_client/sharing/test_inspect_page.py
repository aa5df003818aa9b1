"""The page of an inspection in a real browser: what decides is on the first screen, wide and narrow, in light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from bench.dashboard.measuring import problems
from tests.loop import Loop, done, hospital

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def written(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with all that one can have: the hospital's own sentences, and a warning."""
    page = tmp_path_factory.mktemp("page") / "page.html"
    share, notes = built_loop.root / "north.parquet", built_loop.notes("north")
    done(hospital("inspect", share, "--notes", notes, "--page", page, "--workspace", built_loop.site("north")))
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_answer_and_the_figures_are_on_the_first_screen(
    browser: Browser, written: Path, scheme: Literal["light", "dark"], width: int
) -> None:
    pytest.importorskip("axe_playwright_python.sync_playwright")
    complaints: list[str] = []
    asked: list[str] = []
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(written.as_uri())
    for part in (".holds", "h1", ".what", ".figures", ".warning"):
        box = page.locator(part).bounding_box()
        assert box is not None
        assert 0 <= box["y"] < box["y"] + box["height"] <= 800, part
    assert page.locator(".figures strong").count() == 4
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert problems(page, f"{scheme} {width}") == []
    assert not complaints
    assert asked == [written.as_uri()]
    context.close()

"""How soon the page of a large review is there, and how soon a correction is saved, in a real browser."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.workbench.reviewing.server import served, serving
from shared.generate import generate_notes
from shared.labels import load_scheme
from site_client.review.journal import Journal
from site_client.review.project import begin
from site_client.review.spans import Source, Span

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SITE, _CERTAINTIES = "en_harbor", (0.99, 0.95, 0.8, 0.55)
_DIFFERENT = 100


@dataclass(frozen=True)
class PageTimes:
    """What a person waits for, in milliseconds.

    Args:
        paint: from the opening of the address to the first content.
        shown: to the list and the first note.
        corrections: from a key to the answer that it is saved, as the page measures it.
    """

    paint: float
    shown: float
    corrections: list[float]


def browser_here() -> str | None:
    """The browser of this machine, and the package that drives it; None where one is missing."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return None
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def make_project(folder: Path, count: int) -> None:
    """A review of so many generated notes, all pre-labelled with what is true in them."""
    scheme = load_scheme("i2b2_2014")
    made = list(generate_notes(_SITE, _DIFFERENT, 3))
    notes = [replace(made[number % _DIFFERENT], identifier=f"{number:06}", annotations=()) for number in range(count)]
    begin(folder, scheme, notes, "generated").close()
    journal = Journal(folder)
    list(journal.read())
    journal.add(
        *(
            {"do": "found", "note": number, "spans": _found(made[number % _DIFFERENT].annotations)}
            for number in range(count)
        )
    )
    journal.close()


def _found(spans: Any) -> list[list[object]]:
    return [
        Span(one.start, one.end, one.category, Source.FOUND, _CERTAINTIES[at % len(_CERTAINTIES)], False).to_json()
        for at, one in enumerate(spans)
    ]


def page_times(folder: Path, corrections: int, program: str) -> PageTimes:
    """Open a review in a browser, and correct.

    Args:
        folder: of the review.
        corrections: how many; each accepts a span.
        program: the browser.
    """
    from playwright.sync_api import sync_playwright

    with served(serving(folder)) as (_, address), sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        # A first window, so that the browser's own beginning is not counted.
        browser.new_page().goto("about:blank")
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("#open button")
        page.wait_for_timeout(200)
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        shown = page.evaluate("performance.getEntriesByName('shown')[0].startTime")
        saved = "performance.getEntriesByName('saved').map(one => one.duration)"
        while len(page.evaluate(saved)) < corrections:
            page.keyboard.press("a" if page.locator("#open button").count() else "f")
            page.wait_for_load_state("networkidle")
        taken = page.evaluate(saved)
        browser.close()
    return PageTimes(paint, shown, taken)

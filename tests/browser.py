"""A real browser for the tests of pages, where one is installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.expected import do_without

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The one without windows first: the same pages cost it half of the processor time.
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        do_without("chromium", f"no {' or '.join(_PROGRAMS)} is installed")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        do_without("chromium", "playwright is not installed")
    with sync_playwright() as started:
        launched = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()

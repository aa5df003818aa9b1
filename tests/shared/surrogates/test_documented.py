"""The example of docs/surrogates.md is what these lines print."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "surrogates.md"


def test_the_example_prints_what_the_page_shows() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried >= 5
    assert not failed

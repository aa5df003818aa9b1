"""The layout of the code is measured as it is, and keeps what it promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.house.structure import (
    Source,
    function_lines,
    modules_by_folder,
    public_names,
    sources,
    types_asked_for,
)

MOST_MODULES = 12
MOST_LINES = 400
TOY = '''"""A module."""

def short(a: int) -> int:
    """Says.

    More.
    """
    return a

class Public:
    def method(self) -> None:
        def inner() -> None:
            pass

        inner()

    def _hidden(self) -> None: ...
'''


def toy(path: str, text: str) -> Source:
    return Source(Path(path), text)


def test_a_function_is_measured_without_its_docstring() -> None:
    # short, method with inner, inner, _hidden
    assert sorted(function_lines(toy("shared/toy.py", TOY))) == [1, 2, 2, 5]


def test_public_names_are_those_without_an_underscore_of_classes_too() -> None:
    found = list(public_names(toy("shared/toy.py", TOY).tree))
    assert found == [("", True), ("short", True), ("Public", False), ("method", False)]


@pytest.mark.parametrize(
    ("path", "line", "asks"),
    [
        ("shared/privacy/a.py", "if isinstance(encoder.representer, Representer): ...", True),
        ("shared/privacy/a.py", "if isinstance(vectors, FoldedVectors | GeneralisedVectors): ...", True),
        ("site_client/a.py", "kind = isinstance(f(x), TokenLocal)", True),
        ("shared/constructions/a.py", "if isinstance(vectors, GeneralisedVectors): ...", False),
        ("site_client/a.py", "if isinstance(error, OSError): vectors = Representer", False),
    ],
)
def test_who_asks_for_a_part_of_a_construction_is_found(path: str, line: str, asks: bool) -> None:
    assert bool(types_asked_for([toy(path, line)])) is asks


def test_no_folder_holds_more_than_a_dozen_modules() -> None:
    crowded = {folder: count for folder, count in modules_by_folder(sources()).items() if count > MOST_MODULES}
    assert not crowded, "give the largest idea in it a room of its own: docs/architecture.md"


def test_no_file_is_long() -> None:
    long = {str(source.path): source.lines for source in sources() if source.lines > MOST_LINES}
    assert not long, "ask what else lives in there"


def test_nobody_but_a_construction_asks_what_it_is_made_of() -> None:
    assert types_asked_for(sources()) == [], "ask the construction: shared/constructions"

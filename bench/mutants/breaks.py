"""The named breaks: mistakes that somebody could make, each with the tests that must notice it.

One file an area in `areas/`, TOML, one table a break:

    [[break]]
    name = "the-signature-is-not-verified"
    file = "protocols/keys/signing.py"
    old = '''text that stands there exactly once'''
    new = '''what is put in its place'''
    tests = ["tests/protocols/keys/test_signing.py", "tests/...::test_..."]

A break whose text does not stand in its file any more, or stands there twice, is an error and not a break that was noticed.
A break that has no effect, whatever the input, does not belong here.

An own list, since mutmut and Cosmic Ray make their mutants by operators on single nodes of the syntax tree: neither takes a
break that somebody has named, nor tests for it.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.errors import ConfigurationError

AREAS = Path(__file__).resolve().parent / "areas"
_KEYS = {"name", "file", "old", "new", "tests"}


@dataclass(frozen=True)
class Break:
    """One break.

    Args:
        name: in words, with hyphens; no two breaks have the same.
        area: name of the file in `areas/`.
        file: that is broken, from the root of the checkout.
        old: stands there exactly once.
        new: takes its place.
        tests: files and node ids, as pytest takes them, of which one at least must fail.
    """

    name: str
    area: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def apply_to(self, source: str) -> str:
        """The text of the file with the break in it.

        Raises:
            ConfigurationError: the old text does not stand there exactly once, or the new one is not Python.
        """
        times = source.count(self.old)
        if times != 1:
            raise ConfigurationError(f"{self.name}: expected its old text once in {self.file}, found it {times} times")
        broken = source.replace(self.old, self.new)
        try:
            ast.parse(broken)
        except SyntaxError as error:
            raise ConfigurationError(f"{self.name}: expected Python in the place of the old text: {error}") from error
        return broken


def read_breaks(folder: Path = AREAS) -> list[Break]:
    """All breaks, area by area.

    Raises:
        ConfigurationError: a file is not in the form above, or two breaks have one name.
    """
    breaks = [made for path in sorted(folder.glob("*.toml")) for made in _area(path)]
    names = [one.name for one in breaks]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError(f"expected a name of its own for every break, got twice: {', '.join(twice)}")
    return breaks


def choose(breaks: Sequence[Break], only: str | None) -> list[Break]:
    """The breaks of an area, or the one of a name; all of them for None.

    Raises:
        ConfigurationError: there is none.
    """
    found = [one for one in breaks if only in (None, one.area, one.name)]
    if not found:
        areas = ", ".join(dict.fromkeys(one.area for one in breaks))
        raise ConfigurationError(f"expected the name of a break or of an area among {areas}, got {only!r}")
    return found


def _area(path: Path) -> list[Break]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))["break"]
        if any(set(table) != _KEYS or not table["tests"] for table in tables):
            raise ValueError
        return [Break(**{**table, "area": path.stem, "tests": tuple(table["tests"])}) for table in tables]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{path.name}: expected [[break]] tables with {', '.join(sorted(_KEYS))}; correct the file"
        ) from error

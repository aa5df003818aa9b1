"""An option for a file that is written where a person says: a slip of the name must cost no note, no key and no ledger."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click


class WrittenFile(click.Path):
    """A path to write; what is there is replaced only if it begins as what is written does.

    Args:
        what: is written, in words.
        begins: its first bytes.
    """

    def __init__(self, what: str, begins: bytes) -> None:
        super().__init__(path_type=Path, dir_okay=False)
        self._what, self._begins = what, begins

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        path = super().convert(value, param, ctx)
        assert isinstance(path, Path)
        if path.exists() and not self._may_replace(path):
            self.fail(
                f"expected a new file or {self._what} to replace, found another file; choose another name.", param, ctx
            )
        return path

    def _may_replace(self, path: Path) -> bool:
        # Not opened where it is a pipe: that would wait for ever.
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(self._begins)) == self._begins


class NewFile(click.Path):
    """A path to write where nothing is yet: what people complete or correct looks like what a command wrote, and is never replaced."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        path = super().convert(value, param, ctx)
        if os.path.lexists(path):
            self.fail("expected a new file, found one; choose another name.", param, ctx)
        return path


page_file = WrittenFile("a page", b"<!doctype html>")

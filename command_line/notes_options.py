"""The options with which any command reads notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from foundation.reading import real_path
from shared.errors import ConfigurationError
from shared.labels import scheme_names

ENCODINGS = ("utf-8", "windows-1252", "iso-8859-1", "iso-8859-15")
"""Those of `shared.corpus.parsing.decoding`."""


@dataclass(frozen=True)
class NotesOptions:
    """How notes are read.

    Args:
        format: name of a format, or "auto".
        text_column: where the text stands in a table.
        quarantine: where bad documents go.
        labels: name of a bundled scheme that the notes use, or a file that maps their labels.
        official: read as the official evaluation scripts read.
        encoding: of notes that are no UTF-8.
    """

    format: str = "auto"
    text_column: str = "text"
    quarantine: Path | None = None
    labels: str | None = None
    official: bool = False
    encoding: str = ENCODINGS[0]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> NotesOptions:
        """From what `notes_options` hand to a command."""
        return cls(
            given["format_"], given["text_column"], given["quarantine"], given["labels"], encoding=given["encoding"]
        )

    def apart_from(self, *, notes: Path | None = None, **outputs: Path | None) -> NotesOptions:
        """The same, if what is set aside, which is in clear, goes into nothing that is written, and nothing into the notes.

        Args:
            notes: that are read; None where what is written may lie among them.
            outputs: what is written, by the names of its options.

        Raises:
            ConfigurationError: the quarantine is one of them, or lies inside of one, or one of them is, or lies among, the notes.
        """
        for name, out in outputs.items():
            if (
                self.quarantine is not None
                and out is not None
                and real_path(self.quarantine).is_relative_to(real_path(out))
            ):
                raise ConfigurationError(
                    f"--quarantine: expected a folder apart from --{name}, got the same or one inside of it; name another"
                )
            if notes is not None and out is not None and real_path(out).is_relative_to(real_path(notes)):
                raise ConfigurationError(
                    f"--{name}: expected a place apart from the notes, got the notes or one among them; name another"
                )
        return self


def notes_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of NotesOptions, for a command whose function takes them as keywords."""
    for option in (
        click.option(
            "--labels",
            metavar="SCHEME|FILE",
            help=f"What the notes' labels are: {', '.join(scheme_names())}, or a .toml file with a table [map] from them to the release's.",
        ),
        click.option(
            "--quarantine",
            type=click.Path(path_type=Path, file_okay=False),
            help="Set bad documents aside here and go on.",
        ),
        click.option(
            "--encoding",
            type=click.Choice(ENCODINGS),
            default=ENCODINGS[0],
            show_default=True,
            help="What notes are in that are no UTF-8; those that are stay so.",
        ),
        click.option(
            "--text-column", default="text", show_default=True, help="Column of the text, in CSV, Parquet and JSONL."
        ),
        click.option(
            "--format",
            "format_",
            default="auto",
            show_default=True,
            help="Format of the notes; found by itself unless given.",
        ),
    ):
        command = option(command)
    return command

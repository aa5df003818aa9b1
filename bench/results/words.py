"""The words of a page: sentences that answer, their numbers filled in from the entries, and the names of plot and sections.

`words/TOPIC.toml` holds no number that was measured. It gives short names to measures, and a sentence asks for one as `{name}`
(value and unit), `{name:bare}` (without the unit), `{name:percent}`, `{name:interval}`, `{name:asked}` ("at least 95%") or `{name:verdict}`.
A sentence that names what is not measured yet is left out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.results.entries import Entry
from bench.results.numbers import asked, briefly, in_full, interval, percent, verdict
from shared.errors import ConfigurationError

FOLDER = Path(__file__).parent / "words"
_ASKS: Mapping[str, Callable[[Entry], str]] = {
    "": in_full,
    "bare": briefly,
    "percent": percent,
    "interval": interval,
    "asked": asked,
    "verdict": verdict,
}
_PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")


@dataclass(frozen=True)
class Words:
    """What is said of a topic beside its figures.

    Args:
        title: of the page.
        answer: sentences with places for figures.
        names: measures by the names that sentences and plot call them.
        plot_title: of the plot; "" for the topic's.
        rows: label of each row of the plot, by the names of measures; empty for asked figures of the commonest unit.
        commands: titles of sections, by the command that measured what is in them.
        more: tables of what can't be measured, each with title, text, head and rows; it says whence it is known.
    """

    title: str
    answer: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    plot_title: str = ""
    rows: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    more: Sequence[Mapping[str, Any]] = ()

    def sentences(self, entries: Sequence[Entry]) -> list[str]:
        """The answer with its figures; without sentences whose figures are not there.

        Args:
            entries: of the topic.

        Raises:
            ConfigurationError: a sentence asks for a name that has no measure, or in a way that there is not.
        """
        known = self._known(entries)
        told = []
        for sentence in self.answer:
            asks = _PLACE.findall(sentence)
            if wrong := [name for name, way in asks if name not in known or way not in _ASKS]:
                raise ConfigurationError(f"{self.title}: expected a name and a way to tell it, got {', '.join(wrong)}")
            if all(known[name] is not None for name, _ in asks):
                told.append(_PLACE.sub(lambda place: self._filled(place, known), sentence))
        return told

    def cells(self, row: Sequence[str], entries: Sequence[Entry]) -> list[str]:
        """A row of a further table with its figures; a cell whose figures are not there is empty.

        Args:
            row: of `more`.
            entries: of the topic.
        """
        known = self._known(entries)
        there = [all(known.get(name) is not None for name, _ in _PLACE.findall(cell)) for cell in row]
        return [
            _PLACE.sub(lambda place: self._filled(place, known), cell) if whole else ""
            for cell, whole in zip(row, there, strict=True)
        ]

    def _known(self, entries: Sequence[Entry]) -> dict[str, Entry | None]:
        found = {entry.measure: entry for entry in entries}
        return {name: found.get(measure) for name, measure in self.names.items()}

    @staticmethod
    def _filled(place: re.Match[str], known: Mapping[str, Entry | None]) -> str:
        entry = known[place[1]]
        assert entry is not None
        return _ASKS[place[2] or ""](entry)


def words_of(topic: str) -> Words:
    """What is said of a topic; only its name where nobody has written anything.

    Args:
        topic: one of TOPICS.

    Raises:
        ConfigurationError: the file has other keys.
    """
    path = FOLDER / f"{topic}.toml"
    if not path.exists():
        return Words(f"Results: {topic}")
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    plot = content.pop("plot", {})
    try:
        return Words(**content, plot_title=plot.get("title", ""), rows=plot.get("rows", {}))
    except TypeError as error:
        raise ConfigurationError(
            f"{path.name}: expected title, answer, names, plot, commands and more; correct it"
        ) from error

"""A mode for each category, where a hospital has said so, and one for all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shared.document import Document
from site_client.deid.mode import Hiding, Mode, ModeReport, Setting


class ByCategory(Hiding):
    """Several modes in one note.

    Args:
        usual: for every category that has none of its own.
        own: modes by category.
    """

    name = "by category"
    writes = "as the settings say"

    def __init__(self, usual: Hiding, own: Mapping[str, Hiding]) -> None:
        self._usual = usual
        self._own = own

    def prepared(self, setting: Setting) -> Mode:
        """See `Mode`; a mode that several categories have is one object."""
        modes = {id(mode): mode for mode in (self._usual, *self._own.values())}
        done = {number: _hiding(mode.prepared(setting)) for number, mode in modes.items()}
        return ByCategory(done[id(self._usual)], {category: done[id(mode)] for category, mode in self._own.items()})

    def replacements(self, document: Document) -> Sequence[str]:
        """See `Hiding`."""
        modes = [self._own.get(span.category, self._usual) for span in document.annotations]
        found = [""] * len(modes)
        for mode in {id(mode): mode for mode in modes}.values():
            places = [place for place, one in enumerate(modes) if one is mode]
            spans = tuple(document.annotations[place] for place in places)
            part = Document(document.identifier, document.text, spans)
            for place, written in zip(places, mode.replacements(part), strict=True):
                found[place] = written
        return found

    def report(self) -> ModeReport:
        """See `Mode`."""
        modes = {id(mode): mode for mode in (self._usual, *self._own.values())}.values()
        reports = [mode.report() for mode in modes]
        values = {name: value for report in reports for name, value in report.values.items()}
        lines, on_screen = (
            tuple(line for said in each for line in said)
            for each in ([one.lines for one in reports], [one.on_screen for one in reports])
        )
        return ModeReport(values, lines, on_screen)


def _hiding(mode: Mode) -> Hiding:
    assert isinstance(mode, Hiding)
    return mode

"""The page of an inspection, for a privacy officer who decides whether a share may leave.

Where notes were given it holds sentences of theirs, which are PHI; so it says, and it is its owner's alone. It needs nothing from
elsewhere, and its policy keeps a browser from fetching anything.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from foundation.files import write_text
from shared.report import plots
from shared.text.casing import CASING_CLASSES
from site_client.sharing.encode_report import EncodeReport, looked_lines
from site_client.sharing.inspect import Inspection, search_lines
from site_client.sharing.protection import protection_lines
from site_client.sharing.readable.reading import CONTENT, hidden_line
from site_client.sharing.readable.sentences import UNKNOWN

# Fewer words than this written in one way may be pointed at.
_RARE = 5
# So many sentences are shown at once, the others when they are asked for.
_FIRST = 20
# Bars of the histogram of lengths.
_BARS = 40
_COLOURS = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#8a8f98")


def write_page(inspection: Inspection, path: Path) -> Path:
    """Write the page.

    Raises:
        StorageError: no room, no permission.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = lambda value: f"{value:,}".replace(",", "\u202f")
    environment.filters["percent"] = lambda value: f"{100 * value:.1f}%"
    environment.filters["of"] = lambda part, whole: f"{part / whole:.1%}" if whole else "none"
    template = environment.from_string(
        (resources.files("site_client.sharing") / "inspect_page.html").read_text(encoding="utf-8")
    )
    text = template.render(
        found=inspection,
        reading=inspection.reading,
        originals=_holds_originals(inspection),
        content=CONTENT,
        unknown=UNKNOWN,
        hidden="" if inspection.reading is None else hidden_line(inspection.reading),
        first=_FIRST,
        manifest=inspection.manifest,
        stated=inspection.manifest.to_json(),
        protection=protection_lines(inspection.manifest.protection),
        search=[] if inspection.searched is None else search_lines(inspection.searched),
        warnings=inspection.warnings,
        looked=looked_lines(inspection.looked),
        lengths=_lengths(inspection.channels.lengths),
        colours=dict(zip(CASING_CLASSES, _COLOURS, strict=True)),
        rare=_RARE,
        attacker=Markup(_attacker(inspection.report)),
    )
    write_text(path, text)
    return path


def _holds_originals(inspection: Inspection) -> bool:
    """Whether a sentence of the hospital's own notes stands on the page."""
    return inspection.reading is not None and any(one.original for one in inspection.reading.sentences)


def _lengths(lengths: dict[int, int]) -> list[tuple[str, int, float]]:
    """The histogram: name of each bar, its sentences, its height from 0 to 1."""
    step = max(1, -(-max(lengths) // _BARS))
    bars: dict[int, int] = dict.fromkeys(range((max(lengths) - 1) // step + 1), 0)
    for length, count in lengths.items():
        bars[(length - 1) // step] += count
    most = max(bars.values())
    return [
        (f"{bar * step + 1}" if step == 1 else f"{bar * step + 1} to {(bar + 1) * step}", count, count / most)
        for bar, count in bars.items()
    ]


def _attacker(report: EncodeReport | None) -> str:
    """A bar for each category; nothing where all are a guess."""
    categories = {} if report is None or report.known_ahead else report.categories
    shown = {name: one for name, one in categories.items() if name != "all" and one.tokens}
    if not shown:
        return ""
    return plots.bars(
        list(shown),
        [one.mean for one in shown.values()],
        [plots.BLUE if one.mean < 0.6 else plots.ORANGE for one in shown.values()],
        title="How often the best possible attacker is right (0.5 is a guess)",
    )

"""Worth against words read, as a picture and a page: the frontier's second axis, for what is no PHI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from foundation.files import write_text
from shared.report.plots import BLUE, GREY, svg

PAGE, PICTURE = "words-read.md", "words-read.svg"


@dataclass(frozen=True)
class WordsRead:
    """One way to choose what is shown.

    Args:
        name: of the choice.
        read: share of the content words that anybody reads exactly, in [0, 1].
        worth: of what raw notes add in strict F1, and the ends of its interval.
        tokens: the same, of token-binary F1.
    """

    name: str
    read: float
    worth: tuple[float, float, float]
    tokens: tuple[float, float, float]


def write_words_read(points: Sequence[WordsRead], conditions: str, command: str, folder: Path) -> None:
    """Write page and picture.

    Args:
        points: in the order of the page.
        conditions: of the measurement, a sentence.
        command: that makes it again.
        folder: docs/results.
    """
    lines = [
        "# Worth against words read",
        "",
        f"Written by `{command}`; do not edit. {conditions} Read exactly: content words that are no PHI, at least four letters and not among the 200 "
        "commonest, of all that the notes hold, also where sentences are left out; the code of a public word is the word. Worth: share of what raw notes "
        "add to the provider's own. Intervals, 95%: bootstrap over notes, the same ones on all sides.",
        "",
        f"![Worth against content words read]({PICTURE})",
        "",
        "| far from PHI a share shows | content words read exactly | worth, strict | worth, token-binary |",
        "|---|---|---|---|",
        *(f"| {one.name} | {one.read:.1%} | {_cell(one.worth)} | {_cell(one.tokens)} |" for one in points),
        "",
    ]
    write_text(folder / PAGE, "\n".join(lines), private=False)
    write_text(folder / PICTURE, words_figure(points), private=False)


def _cell(value: tuple[float, float, float]) -> str:
    return "{:.2f} ({:.2f} to {:.2f})".format(*value)


def words_figure(points: Sequence[WordsRead]) -> str:
    """An SVG of worth against content words read; numbers name the points."""

    def draw(made: Figure) -> None:
        axes = made.subplots()
        for place, one in enumerate(points, 1):
            value, low, high = (100 * end for end in one.worth)
            axes.errorbar(
                100 * one.read,
                value,
                yerr=[[max(0.0, value - low)], [max(0.0, high - value)]],
                fmt="o",
                color=BLUE,
                ecolor=GREY,
                label=f"{place}  {one.name}",
            )
            axes.annotate(f"{place}", (100 * one.read, value), xytext=(6, 4), textcoords="offset points", fontsize=9)
        axes.set_xlim(left=0)
        axes.set_xlabel("content words that are no PHI, read exactly, %")
        axes.set_ylabel("worth of the share, strict, % of what raw notes add")
        axes.grid(alpha=0.25)
        made.legend(frameon=False, loc="outside lower center", ncols=1, fontsize=8, handlelength=1.2, handletextpad=0.8)
        made.suptitle("MEDDOCAN 50 + 250 notes: worth against words read", fontweight="bold", fontsize=10)

    return svg(8.0, 6.0, draw)

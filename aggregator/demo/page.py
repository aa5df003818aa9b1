"""The page and the table with which the demonstration ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from foundation.files import write_text
from shared.report import plots


@dataclass(frozen=True)
class Score:
    """How a model does at the fourth hospital.

    Args:
        label: "(a)", "(b)" or "(c)" and what it is.
        hidden: share of PHI entities of which every letter and digit is hidden.
        hidden_interval: 95%, notes drawn again.
        notes: how many there are.
        notes_with_miss: in how many of them anything stays in clear.
        precision: token-binary, in [0, 1].
        recall: token-binary.
        f1: token-binary.
        strict_f1: of entities, exact in span and category.
        recall_by_type: share of PHI tokens found, by category.
    """

    label: str
    hidden: float
    hidden_interval: tuple[float, float]
    notes: int
    notes_with_miss: int
    precision: float
    recall: float
    f1: float
    strict_f1: float
    recall_by_type: Mapping[str, float]


@dataclass(frozen=True)
class Shown:
    """What a share shows of the tokens of a hospital, as shares of all.

    Args:
        site: name.
        replaced: labelled PHI, in whose place public PHI is encoded.
        clusters: other words of which the cluster is shown.
        exact: other words that are shown as they are.
    """

    site: str
    replaced: float
    clusters: float
    exact: float


@dataclass(frozen=True)
class DemoResult:
    """All that the page shows.

    Args:
        sharing: hospitals that shared.
        fourth: the hospital that shared nothing.
        rows: a score for each model: (a) one a hospital, then (c), then (b).
        training: record of how the representer was made.
        audit: record of the attacks on it.
        shown: what each share shows, ahead of any noise; none where every word passes a network as it is.
        head: record of the head's training.
        seconds: the whole took so long.
        computing: the seconds that processors were at work, of all processes together.
    """

    sharing: tuple[str, ...]
    fourth: str
    rows: tuple[Score, ...]
    training: Mapping[str, Any]
    audit: Mapping[str, Any]
    shown: tuple[Shown, ...]
    head: Mapping[str, Any]
    seconds: float
    computing: float

    @property
    def ordered(self) -> list[Score]:
        """The rows in the order of their letters."""
        return sorted(self.rows, key=lambda row: row.label)

    @property
    def alone(self) -> float:
        """Mean share of PHI that models from one hospital hide."""
        found = [row.hidden for row in self.rows if row.label.startswith("(a)")]
        return sum(found) / len(found)

    def row(self, letter: str) -> Score:
        """The first row of a letter."""
        return next(row for row in self.rows if row.label.startswith(letter))

    def table(self) -> str:
        """The scores for a terminal."""
        private = self.row("(b)")
        lines = [
            f"at {self.fourth}, which shared nothing:",
            f"{'':30} hidden whole  notes with a miss  precision recall    F1  strict F1",
        ]
        lines += [
            f"{row.label:30} {row.hidden:12.1%} {f'{row.notes_with_miss} of {row.notes}':>17} {row.precision:10.3f} {row.recall:6.3f} {row.f1:5.3f} {row.strict_f1:10.3f}"
            for row in self.ordered
        ]
        return "\n".join(
            [
                *lines,
                f"of its PHI the pipeline of pooled shares leaves {1 - private.hidden:.0%} in clear, whole or in part "
                f"({1 - private.hidden_interval[1]:.0%} to {1 - private.hidden_interval[0]:.0%}); one hospital alone {1 - self.alone:.0%}, all raw notes "
                f"{1 - self.row('(c)').hidden:.0%}",
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """Everything as a JSON object; the findings of the audit are in its own record."""
        audit = {name: self.audit[name] for name in ("passed", "preset", "representer", "verdicts", "left_out")}
        return asdict(self) | {"audit": audit}


def write_page(result: DemoResult, path: Path) -> Path:
    """Write the page.

    Raises:
        StorageError: no room, no permission.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((resources.files("aggregator.demo") / "page.html").read_text(encoding="utf-8"))
    drawn = {name: Markup(svg) for name, svg in _plots(result).items()}
    attacks = attacks_shown(result.audit["findings"])
    write_text(path, template.render(result=result, plots=drawn, attacks=attacks, percent=plots.percent), private=False)
    return path


def _plots(result: DemoResult) -> dict[str, str]:
    rows = result.ordered
    colours = [{"(a)": plots.GREY, "(b)": plots.BLUE, "(c)": plots.ORANGE}[row.label[:3]] for row in rows]
    ideal, private = result.row("(c)"), result.row("(b)")
    # What is missed most comes first.
    types = sorted(private.recall_by_type, key=lambda name: (private.recall_by_type[name], name))
    attacks = attacks_shown(result.audit["findings"])
    return {
        "scores": plots.bars(
            [row.label for row in rows],
            [row.hidden for row in rows],
            colours,
            title="PHI entities of which every letter is hidden",
        ),
        "types": plots.dots(
            types,
            {
                ideal.label: (plots.ORANGE, _recalls(ideal, types)),
                private.label: (plots.BLUE, _recalls(private, types)),
            },
            title="PHI tokens found, by category",
        ),
        **({"shown": _shown_plot(result.shown, result.training)} if result.shown else {}),
        "audit": plots.dots(
            [name for name, _ in attacks],
            {
                "without the share, or by chance": (plots.GREY, [one["baseline"] for _, one in attacks]),
                "with the share": (plots.BLUE, [one["value"] for _, one in attacks]),
            },
            title="How often an attacker is right",
        ),
    }


def _shown_plot(shown: Sequence[Shown], training: Mapping[str, Any]) -> str:
    title = "What a share shows of a hospital's tokens" + (
        ", ahead of network and noise" if "noise" in training else ""
    )
    return plots.stacked_bars(
        [one.site for one in shown],
        {
            "labelled PHI: replaced by public PHI": (plots.BLUE, [one.replaced for one in shown]),
            "its cluster or group only": (plots.GREEN, [one.clusters for one in shown]),
            "the word itself": (plots.ORANGE, [one.exact for one in shown]),
        },
        title=title,
    )


# Name in the plot, attack, and how its measure begins and ends.
_ATTACKS = (
    ("a word among its neighbours", "match", "top-1 of", "nearest neighbours, 1 share"),
    ("the same from 100 shares", "match", "top-1 of", "nearest neighbours, 100 shares"),
    ("a patient in a list of names", "linkage", "top-1 of", ""),
    ("reading PHI words", "token inversion", "top-1, all categories", "top-1, all categories"),
    ("adversary T1: which of two", "fresh adversary T1", "decisions right", ""),
    ("adversary T2: which of two", "fresh adversary T2", "decisions right", ""),
)


def attacks_shown(findings: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """One finding for each of _ATTACKS that was tried."""
    chosen = []
    for name, attack, begin, end in _ATTACKS:
        found = [
            one
            for one in findings
            if one["attack"] == attack
            and one["measure"].startswith(begin)
            and one["measure"].endswith(end)
            and one["trials"]
            and one["baseline"] is not None
        ]
        chosen += [(name, one) for one in found[:1]]
    return chosen


def _recalls(row: Score, types: Sequence[str]) -> list[float]:
    return [row.recall_by_type.get(name, 0.0) for name in types]

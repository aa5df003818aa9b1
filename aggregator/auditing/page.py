"""The page of an audit, for a privacy officer to read and an engineer to repeat."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from aggregator.auditing.result import NOT_SHOWN, AuditResult, format_value
from aggregator.auditing.words import not_measured, told_attacks
from foundation.files import write_text
from shared.privacy.statistics.finding import Finding
from shared.report import plots

_INVERSION = "token inversion"
_CONTROL = ", positive control: "
# A bar for fewer words would show chance, and there are many categories.
_ENOUGH = 10


def write_page(result: AuditResult, path: Path) -> Path:
    """Write the page.

    Raises:
        StorageError: no room, no permission.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(
        (resources.files("aggregator.auditing") / "page.html").read_text(encoding="utf-8")
    )
    # Figures of one attack may rest on less: what casing gives away takes no share.
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in result.audit.findings:
        groups.setdefault((finding.attack, finding.knowledge), []).append(finding)
    drawn = {name: Markup(svg) for name, svg in _plots(result.audit.findings).items()}
    write_text(
        path,
        template.render(
            result=result,
            told=told_attacks(result),
            not_measured=not_measured(result),
            groups=groups,
            plots=drawn,
            format_value=format_value,
            not_shown=NOT_SHOWN,
        ),
        private=False,
    )
    return path


def _plots(findings: Sequence[Finding]) -> dict[str, str]:
    """Those drawings for which there are findings."""
    parts = {"match": _match, "inversion": _inversion, "adversaries": _adversaries, "readability": _readability}
    drawn = {name: draw(findings) for name, draw in parts.items()}
    return {name: svg for name, svg in drawn.items() if svg}


def _match(findings: Sequence[Finding]) -> str:
    """Every list of candidates, over all categories."""
    found = [
        finding
        for finding in findings
        if finding.attack in ("match", "linkage")
        and finding.measure.startswith("top-1 of")
        and finding.trials
        and not finding.category
    ]
    if not found:
        return ""
    return plots.bars(
        [finding.measure.removeprefix("top-1 ") for finding in found],
        [finding.value for finding in found],
        [plots.BLUE if finding.at_baseline else plots.ORANGE for finding in found],
        title="The true word or name comes first",
    )


def _inversion(findings: Sequence[Finding]) -> str:
    """Every category of which there are enough words, and all of them together."""
    found = [
        finding
        for finding in findings
        if finding.attack == _INVERSION
        and finding.measure.startswith("top-1, ")
        and finding.measure.count(",") == 1
        and finding.trials >= _ENOUGH
    ]
    if not found:
        return ""
    return plots.dots(
        [finding.measure.removeprefix("top-1, ") for finding in found],
        {
            "from context and casing alone": (plots.GREY, [finding.baseline or 0.0 for finding in found]),
            "with the whole share": (plots.BLUE, [finding.value for finding in found]),
        },
        title="PHI words that a network guesses right",
    )


def _adversaries(findings: Sequence[Finding]) -> str:
    found = [finding for finding in findings if finding.attack.startswith("fresh adversary")]
    if not found:
        return ""
    victims = [finding.attack.removeprefix("fresh adversary ").partition(_CONTROL) for finding in found]
    return plots.bars(
        [f"{name} on {victim or 'shares'}" for name, _, victim in victims],
        [finding.value for finding in found],
        [plots.GREY if victim else plots.BLUE for _, _, victim in victims],
        title="Decisions that fresh adversaries get right",
    )


def _readability(findings: Sequence[Finding]) -> str:
    """By the way to read that did best, which is the first."""
    found = [
        finding for finding in findings if finding.attack == "readability" and finding.measure.startswith("top-1 by")
    ]
    if not found:
        return ""
    way = found[0].measure.partition(",")[0]
    best = [finding for finding in found if finding.measure.startswith(f"{way}, ") and finding.trials]
    return plots.bars(
        [_band(finding.measure.removeprefix(f"{way}, ")) for finding in best],
        [finding.value for finding in best],
        [plots.GREY] * len(best),
        title="Words, not PHI, that can be read",
    )


def _band(name: str) -> str:
    """How often the attacker's notes hold the words, in words."""
    if name == "public frequency from 0 to 0":
        return "never seen by the attacker"
    return name.replace("public frequency from", "seen").replace("public frequency", "seen")

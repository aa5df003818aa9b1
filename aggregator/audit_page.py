"""The page of an audit, for a privacy officer to read and an engineer to repeat."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from shared.files import write_text
from shared.privacy.finding import Finding
from shared.report import plots

if TYPE_CHECKING:
    from aggregator.audit import AuditResult

_INVERSION = "token inversion"


def write_page(result: AuditResult, path: Path) -> Path:
    """Write the page.

    Raises:
        StorageError: no room, no permission.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((resources.files("aggregator") / "audit_page.html").read_text(encoding="utf-8"))
    by_attack: dict[str, list[Finding]] = {}
    for finding in result.audit.findings:
        by_attack.setdefault(finding.attack, []).append(finding)
    drawn = {name: Markup(svg) for name, svg in _plots(result).items()}
    write_text(path, template.render(result=result, attacks=by_attack, plots=drawn))
    return path


def _plots(result: AuditResult) -> dict[str, str]:
    findings = result.audit.findings
    drawn = {}
    read = [
        finding for finding in findings
        if finding.attack == _INVERSION and finding.measure.startswith("top-1, ") and finding.measure.count(",") == 1
    ]  # fmt: skip
    if read:
        drawn["inversion"] = plots.grouped_bars(
            [finding.measure.removeprefix("top-1, ") for finding in read],
            {
                "without the share, from context": (plots.GREY, [finding.baseline or 0.0 for finding in read]),
                "with the share": (plots.BLUE, [finding.value for finding in read]),
            },
            title="PHI words that an attacker guesses right, by category",
        )
    match = [
        finding for finding in findings
        if finding.attack in ("match", "linkage") and finding.measure.startswith("top-1 of") and _overall(finding)
    ]  # fmt: skip
    if match:
        drawn["match"] = plots.bars(
            [f"{finding.attack}: {finding.measure}" for finding in match],
            [finding.value for finding in match],
            [plots.BLUE if finding.at_baseline else plots.ORANGE for finding in match],
            title="The true word or name comes first (orange: above chance beyond doubt)",
        )
    words = [finding for finding in findings if finding.attack == "readability" and finding.baseline is not None]
    if words:
        drawn["readability"] = plots.bars(
            [finding.measure for finding in words],
            [finding.value for finding in words],
            [plots.GREY] * len(words),
            title="Words that are not PHI and can be read off a share",
        )
    return drawn


def _overall(finding: Finding) -> bool:
    """Whether a match is over all categories: those of one category name it last."""
    return finding.measure.endswith(("share", "shares"))

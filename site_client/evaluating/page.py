"""The page of the report, for a privacy officer who decides whether the release may be relied on.

It holds what the release leaves in clear, in its context, which is PHI; so it says, and it is its owner's alone. It needs nothing from
elsewhere, and its policy keeps a browser from fetching anything.
"""

from __future__ import annotations

import math
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from foundation.files import write_text
from shared.evaluation.sampling.recall_interval import Estimate
from site_client.evaluating.acceptance import Acceptance
from site_client.evaluating.finders import PATTERNS, PREVIOUS
from site_client.evaluating.promise import LEAST_NOTES, Verdict
from site_client.evaluating.sentences import (
    answer,
    cautions,
    difference_sentence,
    labelling_sentence,
    open_reason,
    percent,
    unit,
    with_interval,
)

# So many misses are shown at once, the others when they are asked for.
_FIRST = 10
_CLASSES = {Verdict.HOLDS: "good", Verdict.BROKEN: "bad", Verdict.OPEN: "open"}
_VERDICTS = {
    Verdict.HOLDS: "in these notes the promise of release {} holds",
    Verdict.BROKEN: "in these notes the promise of release {} does not hold",
    Verdict.OPEN: "these notes show neither that the promise of release {} holds nor that it does not",
}


def write_page(report: Acceptance, path: Path) -> Path:
    """Write the page, for its owner alone.

    Raises:
        StorageError: no room, no permission.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "percent": percent,
        "interval": with_interval,
        "difference": difference_sentence,
        "sentence": lambda text: text[:1].upper() + text[1:],
        "colour": lambda verdict: _CLASSES[verdict],
    }
    source = (resources.files("site_client.evaluating") / "page.html").read_text(encoding="utf-8")
    others = {one.name: one.measure for one in report.compared}
    drawn = [report.in_use.recall, *report.in_use.by_type.values()]
    text = environment.from_string(source).render(
        report=report,
        answer=answer(report),
        verdict="" if report.promise is None else _VERDICTS[report.promise.verdict].format(report.release),
        reason="" if report.promise is None else open_reason(report.promise, unit(report)),
        unit=unit(report),
        by_type=sorted(report.in_use.by_type.items(), key=lambda item: (item[1].hits - item[1].total, item[0])),
        cautions=cautions(report),
        labelling=labelling_sentence(report),
        previous=others.get(PREVIOUS),
        patterns=others.get(PATTERNS),
        begin=_begin(drawn),
        first=_FIRST,
        least_notes=LEAST_NOTES,
    )
    write_text(path, text)
    return path


def _begin(drawn: list[Estimate]) -> int:
    """Where the axis begins, in per cent: at a multiple of ten below all intervals, and never beyond 90."""
    least = min((one.low for one in drawn if one.total), default=0.0)
    return min(10 * math.floor(10 * least), 90)

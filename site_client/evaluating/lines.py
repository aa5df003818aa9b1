"""The report for a terminal: tables first, the answer last, where it is seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shared.evaluation.hospital import Rate
from site_client.evaluating.acceptance import Acceptance
from site_client.evaluating.counting import Measure
from site_client.evaluating.sentences import (
    answer,
    cautions,
    difference_sentence,
    labelling_sentence,
    percent,
    with_interval,
)

_MISSES = 10


def report_lines(report: Acceptance, *, words: bool) -> list[str]:
    """All of it.

    Args:
        report: what was measured.
        words: whether what is printed may hold words of notes.
    """
    return [
        *_by_type(report),
        "",
        *_by_point(report),
        *_compared(report),
        "",
        *_misses(report, words=words),
        *(f"note: {one}" for one in (*cautions(report), *report.remarks)),
        labelling_sentence(report),
        answer(report),
    ]


def _by_type(report: Acceptance) -> list[str]:
    rows = [("type", "entities", "not hidden whole", "hidden whole (95% interval)")]
    rows += [
        (name, str(one.total), str(one.total - one.hits), with_interval(one))
        for name, one in [*report.in_use.by_type.items(), ("all", report.in_use.recall)]
    ]
    return _table(rows)


def _by_point(report: Acceptance) -> list[str]:
    if not report.promises:
        return []
    rows = [
        (
            "--min-recall",
            "promised",
            "worst hospital",
            "hidden whole here",
            "verdict",
            "hidden words that are PHI",
            "notes with a miss",
        )
    ]
    for one in report.promises:
        name = f"{one.point.target:g}" + (" (in use)" if one.in_use else "")
        right = f"{_rate(one.measure.precision)} (promised {percent(one.point.precision)})"
        least = percent(one.point.least)
        rows.append(
            (
                name,
                percent(one.point.hidden),
                least,
                with_interval(one.measure.recall),
                str(one.verdict),
                right,
                _miss(one.measure),
            )
        )
    return [*_table(rows), ""]


def _compared(report: Acceptance) -> list[str]:
    rows = [("compared", "hidden whole", "hidden words that are PHI", "notes with a miss", "the release in use")]
    rows.append(
        ("in use", with_interval(report.in_use.recall), _rate(report.in_use.precision), _miss(report.in_use), "")
    )
    for one in report.compared:
        measure = one.measure
        row = (
            one.name,
            with_interval(measure.recall),
            _rate(measure.precision),
            _miss(measure),
            difference_sentence(one),
        )
        rows.append(row)
    return _table(rows)


def _misses(report: Acceptance, *, words: bool) -> Iterator[str]:
    if not report.missed:
        return
    yield f"the worst of {report.missed} misses:"
    for one in report.misses[:_MISSES]:
        yield one.line(words=words)
    if not words:
        yield "their words are shown on a terminal only; --page FILE writes them into a page for you alone"


def _miss(measure: Measure) -> str:
    return f"{measure.notes_with_miss.hits} of {measure.notes_with_miss.total}"


def _rate(rate: Rate) -> str:
    return percent(rate.value) if rate.total else "-"


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]

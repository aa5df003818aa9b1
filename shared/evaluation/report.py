"""All blocks of an evaluation together: as values, as a table in plain text and as a value for JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shared.document import AnnotatedText
from shared.evaluation.entities import binary_token_scores, strict_entity
from shared.evaluation.hospital import HospitalReport, Rate, Recall, evaluate_hospital
from shared.evaluation.i2b2 import evaluate_i2b2
from shared.evaluation.i2b2_types import HIPAA_2014, TAG_NAMES, Hipaa
from shared.evaluation.intervals import bootstrap_f1
from shared.evaluation.meddocan import MeddocanScores, evaluate_meddocan
from shared.evaluation.pairs import Pair
from shared.evaluation.scores import Scores
from shared.evaluation.spans import element_of

SHOWN_MISSES = 20  # the table shows the first; JSON has all


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything measured between a gold and a system corpus.

    Args:
        blocks: every block by its label, ours first, then i2b2's and MEDDOCAN's.
        meddocan: MEDDOCAN's blocks with the leak score.
        hospital: what stays in clear.
        f1_intervals: 95% bootstrap interval over documents of the micro F1 of some blocks.
        slips: whether the slips of the official scripts were repeated.
        notes: what a reader must know about blocks that are missing.
    """

    blocks: Mapping[str, Scores]
    meddocan: MeddocanScores
    hospital: HospitalReport
    f1_intervals: Mapping[str, tuple[float, float]]
    slips: bool
    notes: tuple[str, ...] = ()


def evaluate_all(
    pairs: Sequence[Pair],
    *,
    rng: np.random.Generator,
    hipaa: Hipaa | None = None,
    sentences: Callable[[AnnotatedText], int] | None = None,
    slips: bool = False,
) -> Evaluation:
    """Every evaluation of the same pairs.

    Args:
        pairs: (gold, system) documents, as `match_corpora` gives them.
        rng: draws the bootstrap; seeded by the caller.
        hipaa: which categories HIPAA names, see `evaluate_i2b2`; by default those of i2b2 2014 where all categories are
            its own, else none, and the HIPAA blocks and those per tag name are left out.
        sentences: number of sentences of a document, for the leak score.
        slips: repeat the slips of the official scripts.

    Raises:
        EvaluationError: pairs that don't belong together.
    """
    spans = (span for pair in pairs for document in pair for span in document.annotations)
    # The official script asks the element for the tag name, so that it takes any type.
    official = all(span.category in TAG_NAMES or (slips and element_of(span)) for span in spans)
    notes = [] if official else ["i2b2 blocks per tag name left out: the categories are not those of i2b2 2014"]
    if hipaa is None and official:
        hipaa = HIPAA_2014
    elif hipaa is None:
        notes.append("HIPAA blocks left out: nobody said which categories HIPAA names")
    ours = {"Token binary": binary_token_scores(pairs), "Strict entity": strict_entity(pairs)}
    i2b2 = evaluate_i2b2(pairs, hipaa=hipaa, tag_names=TAG_NAMES if official else None, slips=slips)
    meddocan = evaluate_meddocan(pairs, sentences=sentences, slips=slips)
    intervals = {label: bootstrap_f1(scores.by_document, rng) for label, scores in ours.items()}
    if "Binary HIPAA Token" in i2b2:
        intervals["i2b2 Binary HIPAA Token"] = bootstrap_f1(i2b2["Binary HIPAA Token"].by_document, rng)
    blocks = ours | {f"i2b2 {label}": scores for label, scores in i2b2.items()}
    blocks |= {f"MEDDOCAN {label}": scores for label, scores in meddocan.blocks().items()}
    return Evaluation(blocks, meddocan, evaluate_hospital(pairs), intervals, slips, tuple(notes))


def as_json(evaluation: Evaluation) -> dict[str, object]:
    """The evaluation in types that `json.dumps` takes."""
    hospital = evaluation.hospital
    return {
        "slips": evaluation.slips,
        "notes": list(evaluation.notes),
        "blocks": {label: scores_as_json(scores) for label, scores in evaluation.blocks.items()},
        "f1_intervals": {label: list(interval) for label, interval in evaluation.f1_intervals.items()},
        "leak": evaluation.meddocan.leak,
        "sentences": evaluation.meddocan.sentences,
        "hospital": {
            "recall": _recall_as_json(hospital.recall),
            "per_type": {category: _recall_as_json(recall) for category, recall in hospital.per_type.items()},
            "documents_with_miss": _rate_as_json(hospital.documents_with_miss),
            "missed_by_type": hospital.missed_by_type,
            "leaked_characters": hospital.leaked_characters,
            "needless_characters": hospital.needless_characters,
            "misses": [
                {
                    "document": miss.document,
                    "start": miss.start,
                    "end": miss.end,
                    "category": miss.category,
                    "leaked_characters": miss.leaked_characters,
                    "hidden_in_part": miss.hidden_in_part,
                }
                for miss in hospital.misses
            ],
        },
    }


def scores_as_json(scores: Scores) -> dict[str, object]:
    """Counts and measures of one block, and of each type in it."""
    values: dict[str, object] = {
        "tp": scores.tp,
        "fp": scores.fp,
        "fn": scores.fn,
        "precision": scores.precision,
        "recall": scores.recall,
        "f1": scores.f1,
        "macro_precision": scores.macro_precision,
        "macro_precision_sd": scores.macro_precision_sd,
        "macro_recall": scores.macro_recall,
        "macro_recall_sd": scores.macro_recall_sd,
        # JSON has no nan.
        "macro_f1": None if math.isnan(scores.macro_f1) else scores.macro_f1,
    }
    if scores.per_type:
        values["per_type"] = {category: scores_as_json(part) for category, part in scores.per_type.items()}
    return values


HEADLINES = (
    "Token binary",
    "Strict entity",
    "i2b2 Strict",
    "i2b2 Binary HIPAA Token",
    "MEDDOCAN SubTrack 1 [NER]",
    "MEDDOCAN SubTrack 2 [strict]",
    "MEDDOCAN SubTrack 2 [merged]",
)
"""The blocks that papers quote; i2b2's "Binary HIPAA Token" is the one of Friedrich et al. 2019."""


def as_table(evaluation: Evaluation, *, blocks: Container[str] | None = None) -> str:
    """The evaluation for people; "-" where there was nothing to measure.

    Args:
        evaluation: what to show.
        blocks: labels of the blocks to show, such as HEADLINES; None for all.
    """
    return f"{blocks_as_table(evaluation, blocks=blocks)}\n\n{_hospital_table(evaluation.hospital)}\n"


def blocks_as_table(evaluation: Evaluation, *, blocks: Container[str] | None = None) -> str:
    """The blocks alone, without what a hospital asks.

    Args:
        evaluation: what to show.
        blocks: labels of the blocks to show, such as HEADLINES; None for all.
    """
    header = ("block", "P", "R", "F1", "macro P", "macro R", "macro F1", "TP", "FP", "FN")
    shown = (label for label in evaluation.blocks if blocks is None or label in blocks)
    rows = [header, *(_row(label, evaluation.blocks[label]) for label in shown)]
    parts = [_columns(rows), *evaluation.notes]
    parts += [
        f"{label}: F1 {evaluation.blocks[label].f1:.4f}, 95% interval over documents {low:.4f} to {high:.4f}"
        for label, (low, high) in evaluation.f1_intervals.items()
    ]
    if evaluation.meddocan.leak is not None:
        parts.append(f"MEDDOCAN leak: {evaluation.meddocan.leak:.4f} misses per sentence")
    return "\n".join(parts)


def _hospital_table(report: HospitalReport) -> str:
    missed = report.missed_by_type
    rows = [("type", "spans", "missed", "span recall", "95% interval", "token recall", "character recall")]
    for category, recall in [*report.per_type.items(), ("all", report.recall)]:
        number = len(report.misses) if recall is report.recall else missed.get(category, 0)
        low, high = recall.spans.interval()
        span, token, character = (_percent(rate) for rate in (recall.spans, recall.tokens, recall.characters))
        rows.append((category, str(recall.spans.total), str(number), span, f"{low:.4f}-{high:.4f}", token, character))
    low, high = report.documents_with_miss.interval()
    lines = [
        _columns(rows),
        f"documents with any miss: {report.documents_with_miss.hits} of {report.documents_with_miss.total} "
        f"(95% interval {low:.4f} to {high:.4f})",
        f"characters left in clear: {report.leaked_characters}; hidden without need: {report.needless_characters}",
    ]
    for miss in report.misses[:SHOWN_MISSES]:
        how = f"{miss.leaked_characters} characters in clear" if miss.hidden_in_part else "missed"
        lines.append(f"  {miss.document} characters {miss.start}-{miss.end} {miss.category}: {how}")
    if len(report.misses) > SHOWN_MISSES:
        lines.append(f"  ... and {len(report.misses) - SHOWN_MISSES} more")
    return "\n".join(lines)


def _row(label: str, scores: Scores) -> tuple[str, ...]:
    precise, found = scores.tp + scores.fp > 0, scores.tp + scores.fn > 0
    measures = [
        (scores.precision, precise),
        (scores.recall, found),
        (scores.f1, precise or found),
        (scores.macro_precision, precise),
        (scores.macro_recall, found),
        (scores.macro_f1, precise or found),
    ]
    shown = (f"{value:.4f}" if known else "-" for value, known in measures)
    return (label, *shown, str(scores.tp), str(scores.fp), str(scores.fn))


def _percent(rate: Rate) -> str:
    return f"{rate.value:.4f}" if rate.total else "-"


def _columns(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows under each other, the first column to the left, numbers to the right."""
    table = list(rows)
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in table]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *cells[1:]]) for row, cells in zip(table, lines, strict=True))


def _rate_as_json(rate: Rate) -> dict[str, object]:
    return {"hits": rate.hits, "total": rate.total, "value": rate.value, "interval": list(rate.interval())}


def _recall_as_json(recall: Recall) -> dict[str, object]:
    return {
        "spans": _rate_as_json(recall.spans),
        "tokens": _rate_as_json(recall.tokens),
        "characters": _rate_as_json(recall.characters),
    }

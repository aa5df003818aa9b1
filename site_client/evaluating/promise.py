"""Whether a release hides what it promises, as far as labelled notes show it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shared.evaluation.sampling.labelling import notes_needed
from shared.evaluation.sampling.recall_interval import Estimate
from shared.pipeline.operating_points import OperatingPoint
from site_client.errors import PromiseError
from site_client.evaluating.counting import Measure

LEAST_NOTES = 10
"""Of fewer notes with PHI nothing is said for sure, whatever their interval."""


class Verdict(StrEnum):
    """On a promise."""

    HOLDS = "holds"
    BROKEN = "does not hold"
    OPEN = "not shown either way"


_SAID: dict[Verdict | None, str] = {
    None: "the release promises nothing",
    Verdict.BROKEN: "it does not hold",
    Verdict.OPEN: "that is not shown either way",
}


@dataclass(frozen=True, eq=False)
class Judged:
    """A promise beside what was measured.

    Args:
        point: what the release states.
        hospitals: at how many it was measured by the provider.
        measure: on the notes of this hospital.
        verdict: by the 95% interval.
        to_tell: notes with PHI that would tell; None where the verdict is no open one, or too many.
        in_use: whether it is the point that is used.
        unseen: whether the release can't have learned from these notes, as far as is known.
    """

    point: OperatingPoint
    hospitals: int
    measure: Measure
    verdict: Verdict
    to_tell: int | None
    in_use: bool
    unseen: bool

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "target": self.point.target,
            "threshold": self.point.threshold,
            "promised": self.point.hidden,
            "promised_hidden_words_that_are_phi": self.point.precision,
            "least_of_hospitals": self.point.least,
            "hospitals": self.hospitals,
            "verdict": str(self.verdict),
            "notes_to_tell": self.to_tell,
            "in_use": self.in_use,
            "measured": self.measure.as_json(),
        }


def judge(point: OperatingPoint, hospitals: int, measured: Measure, *, in_use: bool, unseen: bool) -> Judged:
    """A promise held against what was measured.

    It holds where the whole interval is at or above it, and does not where the whole interval is below. Notes that the release may have
    learned from can only show that it does not.
    """
    verdict = _verdict(point.hidden, measured.recall)
    verdict = Verdict.OPEN if verdict is Verdict.HOLDS and not unseen else verdict
    to_tell = _to_tell(point.hidden, measured.recall) if verdict is Verdict.OPEN and unseen else None
    return Judged(point, hospitals, measured, verdict, to_tell, in_use, unseen)


def require_kept(promise: Judged | None) -> None:
    """Returns if a promise is shown to hold; "not shown either way" is no leave to rely on it.

    Raises:
        PromiseError: it does not hold, is not shown, or nothing was promised.
    """
    if promise is None or promise.verdict is not Verdict.HOLDS:
        got = _SAID[None if promise is None else promise.verdict]
        raise PromiseError(f"expected a promise that the labelled notes show to hold, but {got}; see the report")


def _verdict(promised: float, recall: Estimate) -> Verdict:
    if recall.notes < LEAST_NOTES:
        return Verdict.OPEN
    if recall.low >= promised:
        return Verdict.HOLDS
    return Verdict.BROKEN if recall.high < promised else Verdict.OPEN


def _to_tell(promised: float, recall: Estimate) -> int | None:
    """Notes of which the interval would no longer reach from the measured share to the promise."""
    apart = abs(recall.value - promised)
    needed = notes_needed(recall, apart) if apart else None
    return None if needed is None else max(needed, LEAST_NOTES)

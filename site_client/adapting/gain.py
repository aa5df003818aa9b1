"""Whether an adapted head is worth using, as far as a hospital's own notes show it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shared.evaluation.sampling.paired import Compared, compare_paired, f1_of, share_of
from site_client.adapting.crossing import Crossed
from site_client.evaluating.counting import Counts


class Verdict(StrEnum):
    """On an adapted head."""

    BETTER = "better"
    OPEN = "no gain is shown"
    WORSE = "worse"


@dataclass(frozen=True)
class Gain:
    """What adapting gains, each note judged by a head that has not seen it.

    Args:
        notes: labelled ones. independent: patients, or notes that are no copies.
        by_patient: whether somebody said whose note is whose.
        strict: F1 of entities right in span and category; first the adapted head, second the release.
        hidden: share of entities hidden whole.
        precision: share of the hidden words that are PHI.
        has_points: whether any threshold of the adapted head hides as much as the release does.
        edited: how many notes are others of them edited, so that the head that read one may have seen the other.
    """

    notes: int
    independent: int
    by_patient: bool
    strict: Compared
    hidden: Compared
    precision: Compared
    has_points: bool
    edited: int = 0

    @classmethod
    def of(cls, crossed: Crossed, groups: Counts, *, by_patient: bool, has_points: bool, edited: int = 0) -> Gain:
        """From cross-validation.

        Args:
            crossed: it.
            groups: number of the group of each note, int64 `[notes]`.
            by_patient: as in Gain.
            has_points: as in Gain.
            edited: as in Gain.
        """
        after, before = (one.by_group(groups) for one in (crossed.after, crossed.before))

        def compared(name: str) -> Compared:
            figure = f1_of if name == "strict" else share_of
            return compare_paired(getattr(after, name), getattr(before, name), figure)

        return cls(
            len(groups),
            len(after.strict),
            by_patient,
            compared("strict"),
            compared("hidden"),
            compared("shown"),
            has_points,
            edited,
        )

    @property
    def verdict(self) -> Verdict:
        """Better where strict F1 is shown to rise and no more is left in clear; worse where either is shown to be worse, or nothing hides as much."""
        if not self.has_points or _falls(self.strict) or _falls(self.hidden):
            return Verdict.WORSE
        if self.strict.is_shown and self.strict.value > 0 and self.hidden.value >= 0:
            return Verdict.BETTER
        return Verdict.OPEN

    def as_json(self) -> dict[str, object]:
        """For programs: numbers."""
        return {
            "notes": self.notes,
            "independent": self.independent,
            "independent_by": "patient" if self.by_patient else "text",
            "edited_copies": self.edited,
            "verdict": str(self.verdict),
            "strict_f1": self.strict.as_json(),
            "hidden_whole": self.hidden.as_json(),
            "hidden_words_that_are_phi": self.precision.as_json(),
        }


def _falls(compared: Compared) -> bool:
    return compared.is_shown and compared.value < 0

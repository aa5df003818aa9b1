"""Notes in which something of the same kind stands in the place of every span: another date, another town, another name.

What can't be made is redacted. `shared.surrogates` says what is promised of what.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shared.document import Document
from shared.sentences.referenced import decoded
from site_client.deid.mode import Hiding, Mode, ModeReport, Setting
from site_client.deid.redact import redacted

if TYPE_CHECKING:
    from shared.surrogates.budget import Budget
    from shared.surrogates.replacing import Surrogates

_LISTED_NOTES = 10_000


class Surrogate(Hiding):
    """Shows notes that read like notes.

    Args:
        setting: of the hospital.
    """

    name = "surrogate"
    writes = "text with other dates, places, names and numbers in the place of the true"

    def __init__(self, setting: Setting | None = None) -> None:
        self._setting = setting or Setting()
        self._made: Surrogates | None = None
        self._spent = _Spent()

    def prepared(self, setting: Setting) -> Mode:
        """See `Mode`."""
        return Surrogate(setting)

    def replacements(self, document: Document) -> Sequence[str]:
        """See `Hiding`."""
        # Else a surrogate would have the letters of `&nbsp;`, changed.
        read, _ = decoded(document)
        surrogates, budget = self._surrogates().surrogates(read)
        if budget.entities or surrogates:
            patient = None if self._setting.patients is None else self._setting.patients.get(document.identifier)
            self._spent.add(document.identifier, patient, budget)
        return [
            redacted(span.category, document.covered_text(span)) if surrogate is None else surrogate
            for span, surrogate in zip(document.annotations, surrogates, strict=True)
        ]

    def report(self) -> ModeReport:
        """See `Mode`."""
        return self._spent.report(patients=self._setting.patients is not None, linked=self._setting.linked)

    def _surrogates(self) -> Surrogates:
        """Made with the first note: what it needs takes time that help need not pay."""
        if self._made is None:
            from shared.surrogates.replacing import Surrogates
            from shared.surrogates.settings import SurrogateSettings

            setting = self._setting
            settings = setting.surrogates or SurrogateSettings()
            if settings.language is None:
                settings = dataclasses.replace(settings, language=_known(setting.language))
            if setting.linked:
                settings = dataclasses.replace(settings, time=dataclasses.replace(settings.time, shift=True))
            key = setting.key() if setting.linked and setting.key is not None else None
            self._made = Surrogates(settings, patients=setting.patients, key=key)
        return self._made


def _known(language: str | None) -> str | None:
    from shared.surrogates.time.languages import languages

    return language if language in languages() else None


class _Spent:
    """What all notes have spent."""

    def __init__(self) -> None:
        self._limit = self._largest = self._total = 0.0
        self._alone = 0
        self._by_patient: dict[str, float] = {}
        self._notes = self._replaced = self._redacted = self._unmoved = self._refused = 0
        self._shifted = False
        self._by_note: dict[str, object] = {}

    def add(self, identifier: str, patient: str | None, budget: Budget) -> None:
        """Count one note; a note of a patient has spent what all notes of the patient have so far."""
        spent = float(budget.spent)
        self._limit = float(budget.limit)
        self._largest = max(self._largest, spent)
        if patient is None:
            self._alone += 1
            self._total += spent
        else:
            self._total += spent - self._by_patient.get(patient, 0.0)
            self._by_patient[patient] = spent
        self._notes += 1
        self._replaced += budget.replaced
        self._redacted += budget.redacted
        self._unmoved += budget.unmoved
        self._refused += budget.refused
        self._shifted |= budget.intervals_public
        if len(self._by_note) < _LISTED_NOTES:
            self._by_note[identifier] = budget.as_json()

    def report(self, *, patients: bool, linked: bool) -> ModeReport:
        """For people and programs."""
        if not self._notes:
            return ModeReport()
        whose = "patient" if patients else "note"
        mean = self._total / (self._alone + len(self._by_patient))
        lines = [
            f"surrogates: {self._replaced} spans replaced, {self._redacted} redacted for want of one; a {whose} spends at most epsilon "
            f"{self._limit:g} on dates, ages and places; {self._largest:.3g} at most, {mean:.3g} on average were spent"
        ]
        if self._refused:
            lines.append(f"{self._refused} entities found their budget spent, and are redacted")
        if self._shifted:
            lines.append(
                f"all dates of a {whose} are shifted together: the days between them are public, and who knows one date knows all"
            )
        if not linked:
            lines.append(
                "another run draws anew, and spends the budget once more: hand on one version of a note, or use --link-key"
            )
        left_out = self._notes - len(self._by_note)
        budget = {
            "epsilon": self._limit,
            "of": whose,
            "largest": self._largest,
            "mean": mean,
            "replaced": self._replaced,
            "redacted": self._redacted,
            "refused": self._refused,
            "intervals_public": self._shifted,
            "notes": self._by_note,
            "notes_left_out": left_out,
        }
        unmoved = f"{self._unmoved} of the surrogates say what stood there, as a draw may"
        return ModeReport({"budget": budget}, tuple(lines), (unmoved,))


SURROGATE = Surrogate()

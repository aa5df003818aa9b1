"""What a hospital decides about surrogates; frozen, and checked when it is made."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from shared.errors import ConfigurationError
from shared.surrogates.kinds import KINDS
from shared.surrogates.places.gazetteer import PlaceSettings
from shared.surrogates.time.languages import languages
from shared.surrogates.time.moments import DAYS

NOTE_EPSILON = Fraction(1)
SHIFT_EPSILON = Fraction(1, 100)
_MOST_EPSILON = 1000
_FIRST_YEAR = 1801


@dataclass(frozen=True)
class TimeSettings:
    """Dates and ages.

    Args:
        shift: whether all dates of a note, or of a patient, are moved together by one number of days. Then the days between them are public.
        shift_epsilon: of that move, for a day; on average it is 1 / shift_epsilon days long.
        day_first: whether 3/4 is the third of April, and surrogates are written so; None to read it as the note says (not where notes of a patient
            belong together), or else its language, and to write as its language does.
        oldest: no surrogate of an age is above it. The law of the USA counts ages above 89 as identifying (45 CFR 164.514(b)(2)(i)(C)).
        earliest: no surrogate of a date is before that year; None for the one in which who is `oldest` was born.
        years_ahead: none is more than so many years after today.
    """

    shift: bool = False
    shift_epsilon: Fraction = SHIFT_EPSILON
    day_first: bool | None = None
    oldest: int = 89
    earliest: int | None = None
    years_ahead: int = 2

    def __post_init__(self) -> None:
        _check_epsilon("dates.shift_epsilon", self.shift_epsilon)
        earliest = _FIRST_YEAR if self.earliest is None else self.earliest
        if not (1 <= self.oldest <= 150 and _FIRST_YEAR <= earliest <= 2100 and 0 <= self.years_ahead <= 50):
            raise ConfigurationError(
                "dates: expected an oldest age of 1 to 150, an earliest year of 1801 to 2100, and 0 to 50 years ahead; correct them"
            )


@dataclass(frozen=True)
class NameSettings:
    """Names of people.

    Args:
        gender: whether a given name gets one of the gender that it is guessed to be of.
        initials: whether a name gets one with its first letter, which is then public.
        culture: whether a name gets one of the lists that it stands on (English, Spanish, French), which is then public.
    """

    gender: bool = True
    initials: bool = False
    culture: bool = False


@dataclass(frozen=True)
class SurrogateSettings:
    """All of it.

    Args:
        epsilon: what a note may spend on dates, ages and places together, or a patient where notes have patients.
        patient_entities: over how many entities the budget of a patient is split, or of a note that is drawn under a key; what comes later is redacted.
        language: of the notes, in English ("Spanish"); None to guess it for each note.
        kinds: of categories that no scheme of the project has, or otherwise than it has them.
        epsilons: of an entity of a category, where it is not an even part of the rest.
        units: of time by category, in which `epsilon` counts: "week" says that it is for a week, in whatever unit a date is expressed.
        time, names, places: see there.
    """

    epsilon: Fraction = NOTE_EPSILON
    patient_entities: int = 20
    language: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    epsilons: Mapping[str, Fraction] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    time: TimeSettings = field(default_factory=TimeSettings)
    names: NameSettings = field(default_factory=NameSettings)
    places: PlaceSettings = field(default_factory=PlaceSettings)

    def __post_init__(self) -> None:
        _check_epsilon("epsilon", self.epsilon)
        for category, epsilon in self.epsilons.items():
            _check_epsilon(f"epsilon of {category}", epsilon)
        if self.patient_entities < 1:
            raise ConfigurationError(f"patient_entities: expected 1 or more, got {self.patient_entities}; correct it")
        if self.language is not None and self.language not in languages():
            raise ConfigurationError(f"language: expected one of {', '.join(languages())}, got {self.language!r}")
        for category, kind in self.kinds.items():
            if kind not in KINDS:
                raise ConfigurationError(f"kind of {category}: expected one of {', '.join(KINDS)}, got {kind!r}")
        for category, unit in self.units.items():
            if unit not in DAYS:
                raise ConfigurationError(f"unit of {category}: expected one of {', '.join(DAYS)}, got {unit!r}")

    def years(self, today: datetime.date) -> tuple[int, int]:
        """First and last year that a surrogate may have."""
        earliest = self.time.earliest
        if earliest is None:
            earliest = max(today.year - self.time.oldest, _FIRST_YEAR)
        return earliest, max(earliest, today.year + self.time.years_ahead)


def _check_epsilon(name: str, epsilon: Fraction) -> None:
    if not 0 < epsilon <= _MOST_EPSILON:
        raise ConfigurationError(
            f"{name}: expected a number above 0 and at most {_MOST_EPSILON}, got {float(epsilon):g}"
        )

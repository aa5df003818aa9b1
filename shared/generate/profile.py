"""What makes one hospital's notes different from another's: frozen values, no behaviour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shared.errors import ConfigurationError
from shared.generate.grammar import Rules

Language = Literal["en", "es"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Habits of the keyboard and the printer. Rates are probabilities between 0 and 1.

    Args:
        wrap: column at which lines break, in characters; 0 never breaks them. A span is never cut.
        case: whether whole notes are printed in one case.
        case_rate: for each note, whether it is one of those.
        plain_letters: whether accents are left out.
        typo_rate: for each word that is not PHI, whether two of its letters are swapped or one is lost.
        name_typo_rate: the same for each span that is a name.
        glue_rate: for each span, whether the space before or behind it is lost where the text stays readable.
        name_upper_rate, name_lower_rate: for each span that is a name, whether it is written in one case.
    """

    wrap: int = 0
    case: Literal["kept", "upper", "lower"] = "kept"
    case_rate: float = 1.0
    plain_letters: bool = False
    typo_rate: float = 0.0
    name_typo_rate: float = 0.0
    glue_rate: float = 0.0
    name_upper_rate: float = 0.0
    name_lower_rate: float = 0.0

    def __post_init__(self) -> None:
        rates = (
            self.case_rate,
            self.typo_rate,
            self.name_typo_rate,
            self.glue_rate,
            self.name_upper_rate,
            self.name_lower_rate,
        )
        if self.wrap < 0 or not all(0 <= rate <= 1 for rate in rates):
            raise ConfigurationError("expected a wrap of 0 or more and rates between 0 and 1; correct the layout")


@dataclass(frozen=True, slots=True)
class SiteProfile:
    """A fictional hospital.

    Args:
        name: its name in document ids, such as "en_harbor".
        language: of its notes; decides the label scheme (i2b2_2014 for English, meddocan for Spanish).
        habit: one line for people: what is peculiar here.
        rules: rules of its own; they replace those of the language with the same name. "note" is the start, and
            "@slot" gives the values of a slot, where '#' stands for a digit, '%' for one from 1 to 9, '~' for a letter.
        dates: form -> patterns with the fields of `dates.fields`.
        patients: (weight, Faker locale) of patients and their relatives.
        doctors: the same for the staff.
        staff: number of doctors who work here.
        ambiguous_rate: share of people whose surname is also a common word or an eponym.
        layout: of the printed note.
    """

    name: str
    language: Language
    habit: str
    rules: Rules
    dates: Mapping[str, tuple[str, ...]]
    patients: tuple[tuple[float, str], ...]
    doctors: tuple[tuple[float, str], ...]
    staff: int = 30
    ambiguous_rate: float = 0.07
    layout: Layout = field(default_factory=Layout)

    def __post_init__(self) -> None:
        if "note" not in self.rules:
            raise ConfigurationError(f"expected a rule 'note' in the rules of {self.name}; add it")
        if self.staff < 1 or not 0 <= self.ambiguous_rate <= 1:
            raise ConfigurationError(
                f"expected at least one doctor and a rate between 0 and 1 at {self.name}; correct it"
            )

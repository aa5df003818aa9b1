"""What everything that makes surrogates offers. One maker sees all spans of its kinds in a note together, so that the same gets the same.

First it reads them, and says which protected entities there are: these the budget is split over. Then it is told what each may spend, and writes.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from shared.surrogates.mechanisms.randomness import Randomness
from shared.surrogates.settings import SurrogateSettings
from shared.surrogates.time.languages import Language


@dataclass(frozen=True, repr=False)
class Mention:
    """One span.

    Args:
        text: that it covers. This is PHI.
        category: of the span.
        kind: one of `shared.surrogates.kinds.KINDS`.
    """

    text: str
    category: str
    kind: str


class Scope(Protocol):
    """Within which the same gets the same: a note, or all notes of a patient."""

    @property
    def language(self) -> Language:
        """Of the note."""
        ...

    @property
    def settings(self) -> SurrogateSettings:
        """Of the hospital."""
        ...

    @property
    def today(self) -> datetime.date:
        """Of the run, which is public."""
        ...

    @property
    def lasts(self) -> bool:
        """Whether other notes belong to it: then a surrogate must hang on nothing but what it replaces."""
        ...

    def randomness(self, *entity: str) -> Randomness:
        """Chance for the surrogate of one entity: the same again where the scope lasts."""
        ...


@dataclass(frozen=True)
class Protected:
    """An entity that is drawn near its true value, and costs budget.

    Args:
        category: of the first span that names it.
        epsilon: where it is fixed whatever else the note holds; None for what the settings say of its category, or an even part.
    """

    category: str
    epsilon: Fraction | None = None


class Plan(ABC):
    """The spans of a note, read.

    Attributes:
        entities: what costs budget, by a name that says all that its draw hangs on beside epsilon: what is drawn twice has two names. The name is PHI.
    """

    entities: Mapping[str, Protected] = {}

    @abstractmethod
    def write(self, epsilons: Mapping[str, Fraction | None]) -> list[str | None]:
        """Surrogates, in the order of the mentions.

        Args:
            epsilons: for each of `entities` what it may spend; None where the budget is spent.

        Returns:
            for each mention its surrogate; None where none can be made: it is redacted.
        """


class Maker(ABC):
    """Makes surrogates of some kinds.

    Attributes of the class:
        kinds: that it makes.
    """

    kinds: tuple[str, ...]

    @abstractmethod
    def read(self, mentions: Sequence[Mention], scope: Scope) -> Plan:
        """All spans of its kinds in a note."""


class Drawn(Plan):
    """Surrogates that hang on nothing that they replace, and cost nothing.

    Args:
        surrogates: for each mention.
    """

    def __init__(self, surrogates: Sequence[str | None]) -> None:
        self._surrogates = list(surrogates)

    def write(self, epsilons: Mapping[str, Fraction | None]) -> list[str | None]:
        """See `Plan`."""
        return self._surrogates

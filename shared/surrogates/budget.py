"""How much of a budget the surrogates of a note, or of a patient, may spend, and who refuses what is more.

Losses add up: two notes whose k-th protected entities are d_k apart, and that are the same otherwise, give any output with probabilities that differ by
at most exp(sum of epsilon_k d_k). For pure epsilons that holds also where later ones are chosen by earlier outputs, as long as their sum
can't pass a limit that was fixed before (Rogers et al. 2016, theorem 3.6): that is what the filter is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass
class PrivacyFilter:
    """Adds up epsilons, and refuses what would pass the limit.

    Args:
        limit: the most that may be spent.
    """

    limit: Fraction
    spent: Fraction = Fraction(0)
    _paid: set[tuple[bytes, Fraction]] = field(default_factory=set, repr=False)

    def pay(self, entity: bytes, epsilon: Fraction) -> bool:
        """Whether an entity may be drawn; one that was drawn before at this epsilon is the same draw again, and costs nothing. At another it is a second look.

        Args:
            entity: a digest of it, and of all but epsilon that its draw hangs on.
            epsilon: of the draw.
        """
        if (entity, epsilon) in self._paid:
            return True
        if epsilon <= 0 or self.spent + epsilon > self.limit:
            return False
        self.spent += epsilon
        self._paid.add((entity, epsilon))
        return True


@dataclass(frozen=True)
class Budget:
    """What one note has spent.

    Args:
        limit: what the note, or its patient, may spend.
        spent: what is spent of it by now, by the note or by all notes of the patient up to this one.
        entities: how many protected entities the note has, each once however often it is spelt; they are what the budget is split over.
        replaced: how many spans got a surrogate.
        redacted: how many spans got none, and are redacted.
        refused: how many entities found the budget spent.
        intervals_public: whether dates were shifted together, so that the days between them are those of the note.
        unmoved: how many of the surrogates say what they replace: a draw that never did would tell what the value is not.
    """

    limit: Fraction
    spent: Fraction
    entities: int
    replaced: int
    redacted: int
    refused: int = 0
    intervals_public: bool = False
    unmoved: int = 0

    def as_json(self) -> dict[str, object]:
        """For a report that may go along with the notes: without `unmoved`, which hangs on what was true."""
        return {
            "limit": float(self.limit),
            "spent": float(self.spent),
            "entities": self.entities,
            "replaced": self.replaced,
            "redacted": self.redacted,
            "refused": self.refused,
            "intervals_public": self.intervals_public,
        }


def split_evenly(limit: Fraction, stated: Mapping[str, Fraction | None]) -> dict[str, Fraction]:
    """What every entity of a note may spend.

    Args:
        limit: of the note.
        stated: entities, and the epsilon that the settings state for its category; None where they state none. What is left of the limit is
            shared evenly between those.
    """
    fixed = [epsilon for epsilon in stated.values() if epsilon is not None]
    others = len(stated) - len(fixed)
    rest = max(limit - sum(fixed, Fraction(0)), Fraction(0))
    return {name: rest / others if epsilon is None else epsilon for name, epsilon in stated.items()}

"""How many notes must be labelled to know a recall as well as somebody wants to."""

from __future__ import annotations

from shared.evaluation.sampling.recall_interval import Estimate, interval_of

MOST_NOTES = 10_000_000


def notes_needed(measured: Estimate, within: float = 0.01) -> int | None:
    """Notes with an entity that must be labelled, drawn at random, so that the recall is known within so much.

    The fewest N whose interval ends at most `within` from the recall, when they have as many entities each, are hidden as often and
    gather their misses as those that were measured. Where N is large this is (1.96 / d)^2 s^2 / m^2, s^2 the variance between notes of
    x_i - r m_i and m the mean of m_i (Cochran 1977, 6.13 and 4.7), for then `worth` is s^2 / (m r (1-r)); where misses are few it asks for
    more, for the interval is the exact one and `worth` is partly taken for granted.

    Args:
        measured: on notes that are labelled.
        within: such as 0.01 for a point.

    Returns:
        None where nothing was measured, or it would take more than MOST_NOTES.
    """
    if not measured.total or measured.notes < 2:
        return None
    entities = measured.total / measured.notes

    def suffice(notes: int) -> bool:
        low, high = interval_of(measured.value, notes * entities, notes, measured.worth)
        return max(measured.value - low, high - measured.value) <= within

    most = 2
    while not suffice(most):
        most *= 2
        if most > MOST_NOTES:
            return None
    least = most // 2
    while least + 1 < most:
        middle = (least + most) // 2
        least, most = (least, middle) if suffice(middle) else (middle, most)
    return most

"""Two noun phrases and two verb phrases to a line, each of another patient's note, in random order (Ignashina and Ive 2024, section 3)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from protocols.share.fragments import MAX_LINES, PHRASES, FragmentLine
from site_client.fragments.counting import Owned
from site_client.fragments.phrases import Kind

_ATTEMPTS = 8


def join_phrases(phrases: Sequence[Owned], chance: random.Random) -> list[tuple[Owned, ...]]:
    """Lines of phrases that were taken from four different owners.

    Each phrase of the kind that there are more of stands in one line. The others fill the lines up: each is said as often as each other, but for one more
    that chance gives, so that how often one is said tells how many phrases there are, and nothing of notes. A phrase for which there
    are no three of other owners stays here.

    Args:
        phrases: each text once.
        chance: the operating system's, but in measurements.
    """
    best: list[tuple[Owned, ...]] = []
    most = min(max(sum(one.kind is kind for one in phrases) for kind in Kind) // 2, MAX_LINES)
    # Chance can leave those for the last that fit no more.
    for _ in range(_ATTEMPTS):
        lines = _joined(phrases, chance)
        best = max(best, lines, key=len)
        if len(best) == most:
            break
    return best


def texts_of(lines: Sequence[tuple[Owned, ...]]) -> list[FragmentLine]:
    """What is written of lines."""
    return [(first.text, second.text, third.text, fourth.text) for first, second, third, fourth in lines]


def _joined(phrases: Sequence[Owned], chance: random.Random) -> list[tuple[Owned, ...]]:
    """Lines, until there is nobody to be said for the next one."""
    # Sorted ahead, so that what stays here tells nothing of the order of the notes.
    sides = {kind: sorted((one for one in phrases if one.kind is kind), key=lambda one: one.text) for kind in Kind}
    more, fewer = sorted(Kind, key=lambda kind: -len(sides[kind]))
    once, filling = chance.sample(sides[more], len(sides[more])), _Rounds(sides[fewer], chance)
    lines: list[tuple[Owned, ...]] = []
    while len(lines) < MAX_LINES:
        owners: set[int] = set()
        # The fewer first: they are the harder to fit in.
        drawn = {fewer: [filling.next(owners), filling.next(owners)], more: [_pop(once, owners), _pop(once, owners)]}
        line = [one for kind in (Kind.NOUN, Kind.VERB) for one in drawn[kind] if one is not None]
        if len(line) < PHRASES:
            break
        lines.append(tuple(line))
    chance.shuffle(lines)
    return lines


class _Rounds:
    """Phrases that are said in rounds: in each round all of them once, in an order of its own.

    Args:
        phrases: each text once.
        chance: orders the rounds.
    """

    def __init__(self, phrases: Sequence[Owned], chance: random.Random) -> None:
        self._phrases, self._chance = phrases, chance
        self._waiting: list[Owned] = []

    def next(self, owners: set[int]) -> Owned | None:
        """One that the round has not had; see `_pop`."""
        if not self._waiting:
            self._waiting = self._chance.sample(self._phrases, len(self._phrases))
        return _pop(self._waiting, owners)


def _pop(waiting: list[Owned], owners: set[int]) -> Owned | None:
    """The next of none of these owners, who are one more then; None where there is none."""
    place = next((place for place in range(len(waiting) - 1, -1, -1) if waiting[place].owner not in owners), None)
    if place is None:
        return None
    owners.add(waiting[place].owner)
    return waiting.pop(place)

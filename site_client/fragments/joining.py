"""Two noun phrases and two verb phrases to a line, each of another patient's note, in random order (Ignashina and Ive 2024, section 3)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from protocols.share.fragments import MAX_LINES, FragmentLine
from site_client.fragments.counting import Owned
from site_client.fragments.phrases import Kind


def join_phrases(phrases: Sequence[Owned], chance: random.Random) -> list[tuple[Owned, ...]]:
    """Lines of phrases that were taken from four different owners; what is left over, of the kind that is more frequent, stays here.

    Args:
        phrases: each text once.
        chance: the operating system's, but in measurements.
    """
    waiting: dict[Kind, list[Owned]] = {kind: [one for one in phrases if one.kind is kind] for kind in Kind}
    for of_kind in waiting.values():
        # Sorted ahead, so that what stays here tells nothing of the order of the notes.
        of_kind.sort(key=lambda one: one.text)
        chance.shuffle(of_kind)
    lines: list[tuple[Owned, ...]] = []
    while len(lines) < MAX_LINES and (line := _line(waiting)):
        lines.append(line)
    chance.shuffle(lines)
    return lines


def texts_of(lines: Sequence[tuple[Owned, ...]]) -> list[FragmentLine]:
    """What is written of lines."""
    return [(first.text, second.text, third.text, fourth.text) for first, second, third, fourth in lines]


def _line(waiting: dict[Kind, list[Owned]]) -> tuple[Owned, ...]:
    """The next line, taken out of what waits; nothing where there is none any more."""
    line: list[Owned] = []
    for kind in (Kind.NOUN, Kind.NOUN, Kind.VERB, Kind.VERB):
        owners = {one.owner for one in line}
        place = next(
            (place for place in range(len(waiting[kind]) - 1, -1, -1) if waiting[kind][place].owner not in owners),
            None,
        )
        if place is None:
            return ()
        line.append(waiting[kind].pop(place))
    return tuple(line)

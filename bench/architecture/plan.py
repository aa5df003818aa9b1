"""Where the rooms of a package stand, floor below floor, and the ways of the arrows between them.

After Sugiyama et al. 1981: an arrow that passes a floor gets a place of its own there, the order on each floor is chosen so
that few arrows cross, and then all nodes move towards those that they are linked with. A house has one plan on every
machine: floats are added by `fsum`, since `sum` rounds otherwise in Python 3.11 than later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import fsum

# A room by its name; or the place where an arrow, given by its two ends, passes a floor.
Node = str | tuple[str, str]
# For every floor but the lowest: nodes of it, each with one of the next that it is linked with.
_Links = list[list[tuple[Node, Node]]]

_SWEEPS = 24


@dataclass(frozen=True)
class Plan:
    """The floors of a package laid out.

    Args:
        rows: nodes from left to right, the highest floor first.
        centres: of the nodes of each row.
        links: for every row but the last: nodes of it, each with one of the next row that it is linked with.
    """

    rows: Sequence[Sequence[Node]]
    centres: Sequence[Mapping[Node, float]]
    links: Sequence[Sequence[tuple[Node, Node]]]


def plan(
    floors: Sequence[Sequence[str]],
    arrows: frozenset[tuple[str, str]],
    width_of: Callable[[Node], float],
    gap: float,
    width: float,
) -> Plan:
    """Lay floors out between 0 and `width`.

    Args:
        floors: rooms, the highest floor first.
        arrows: each from a room to one on a lower floor.
        width_of: the width that a node needs.
        gap: between two nodes of a floor.
        width: all that there is; a floor that needs more sticks out on the right.
    """
    rows: list[list[Node]] = [list(floor) for floor in floors]
    links: _Links = [[] for _ in floors[1:]]
    level = {room: number for number, floor in enumerate(floors) for room in floor}
    for upper, lower in sorted(arrows):
        first, last = level[upper], level[lower]
        for number in range(first + 1, last):
            rows[number].append((upper, lower))
        way: list[Node] = [upper, *[(upper, lower)] * (last - first - 1), lower]
        for number, link in enumerate(pairwise(way), first):
            links[number].append(link)
    rows = _ordered(rows, links)
    return Plan(rows, _placed(rows, links, width_of, gap, width), links)


def crossings(rows: Sequence[Sequence[Node]], links: Sequence[Sequence[tuple[Node, Node]]]) -> int:
    """How many pairs of links cross when every row stands in this order."""
    count = 0
    for (above, below), between in zip(pairwise(rows), links, strict=True):
        ends = [(above.index(upper), below.index(lower)) for upper, lower in between]
        count += sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for one, other in combinations(ends, 2))
    return count


def _ordered(rows: list[list[Node]], links: _Links) -> list[list[Node]]:
    """The rows in an order with few crossings: each node near the middle of its neighbours, then swaps while they help."""
    tried = [rows]
    for sweep in range(_SWEEPS):
        row_numbers = range(len(rows)) if sweep % 2 else reversed(range(len(rows)))
        rows = [list(row) for row in rows]
        for number in row_numbers:
            middle = _middles(number, [_shares(row) for row in rows], links)
            rows[number].sort(key=lambda node: middle[node])
        tried.append(rows)
    best = min(tried, key=lambda rows: _cost(rows, links))
    return _swapped(best, links)


def _swapped(rows: list[list[Node]], links: _Links) -> list[list[Node]]:
    """The rows after every swap of two nodes of a floor that lowers the cost."""
    cost = _cost(rows, links)
    improved = True
    while improved:
        improved = False
        for number, row in enumerate(rows):
            for left, right in combinations(range(len(row)), 2):
                other = list(row)
                other[left], other[right] = row[right], row[left]
                changed = [*rows[:number], other, *rows[number + 1 :]]
                if (new := _cost(changed, links)) < cost:
                    rows, row, cost, improved = changed, other, new, True
    return rows


def _cost(rows: list[list[Node]], links: _Links) -> tuple[int, float]:
    """Crossings, and then how far the links go sideways."""
    shares = [_shares(row) for row in rows]
    sideways = fsum(
        abs(shares[number][upper] - shares[number + 1][lower])
        for number, between in enumerate(links)
        for upper, lower in between
    )
    return crossings(rows, links), round(sideways, 6)


def _shares(row: Sequence[Node]) -> dict[Node, float]:
    """The place of each node as a share of its row."""
    return {node: (index + 0.5) / len(row) for index, node in enumerate(row)}


def _middles(number: int, places: Sequence[Mapping[Node, float]], links: _Links) -> dict[Node, float]:
    """For each node of a row the mean place of what it is linked with; its own where that is nothing."""
    near: dict[Node, list[float]] = {node: [] for node in places[number]}
    if number > 0:
        for upper, lower in links[number - 1]:
            near[lower] += [places[number - 1][upper]] * _weight(upper, lower)
    if number < len(links):
        for upper, lower in links[number]:
            near[upper] += [places[number + 1][lower]] * _weight(upper, lower)
    return {node: fsum(found) / len(found) if found else places[number][node] for node, found in near.items()}


def _weight(upper: Node, lower: Node) -> int:
    """How much a link wants to be upright: an arrow that passes several floors should pass them straight."""
    return 1 if isinstance(upper, str) or isinstance(lower, str) else 8


def _placed(
    rows: list[list[Node]], links: _Links, width_of: Callable[[Node], float], gap: float, width: float
) -> list[dict[Node, float]]:
    """The centre of every node, as near to its neighbours as the order and the widths allow; all of them in the middle."""
    places = [{node: share * width for node, share in _shares(row).items()} for row in rows]
    for sweep in range(_SWEEPS):
        for number in range(len(rows)) if sweep % 2 else reversed(range(len(rows))):
            wished = _middles(number, places, links)
            places[number] = _apart(rows[number], wished, width_of, gap, width)
    left = min(at - width_of(node) / 2 for row in places for node, at in row.items())
    right = max(at + width_of(node) / 2 for row in places for node, at in row.items())
    shift = (width - left - right) / 2
    return [{node: at + shift for node, at in row.items()} for row in places]


def _apart(
    row: Sequence[Node], wished: Mapping[Node, float], width_of: Callable[[Node], float], gap: float, width: float
) -> dict[Node, float]:
    """Centres as near as can be to those wished for, in the least squares, with at least `gap` between two nodes.

    Without the space that the nodes before it need, each node only has to stand no further left than the one before:
    that is isotonic regression, solved by pooling adjacent violators.
    """
    offsets, right = [], -gap
    for node in row:
        offsets.append(right + gap + width_of(node) / 2)
        right += gap + width_of(node)
    pools: list[tuple[float, int]] = []
    for node, offset in zip(row, offsets, strict=True):
        total, count = wished[node] - offset, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            total, count = total + pools[-1][0], count + pools[-1][1]
            pools.pop()
        pools.append((total, count))
    starts = [total / count for total, count in pools for _ in range(count)]
    room = max(width - right, 0.0)
    return {node: min(max(start, 0.0), room) + offset for node, start, offset in zip(row, starts, offsets, strict=True)}

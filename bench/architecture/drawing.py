"""The house as an SVG: rooms on the floors of their packages, a window for every 500 lines, arrows for imports.

The same house gives the same text, whatever fonts a machine has: widths are counted in letters. The colours follow the
reader's light or dark mode, on a ground of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import fsum

from bench.architecture.house import ERRORS, House, Package, Room
from bench.architecture.plan import Node, Plan, plan

WIDTH = 1140
_LINES_A_WINDOW = 500
# All in pixels. Around everything; between packages, one below the other and side by side; within a package.
_MARGIN, _BELOW, _BESIDE, _PADDING = 18, 26, 18, 14
# Heights: of a package's heading, of a room, of one without windows, between two floors; and between rooms side by side.
_HEADING, _ROOM, _LOW_ROOM, _FLOOR_GAP, _ROOM_GAP = 30, 30, 22, 20, 12
_LETTER, _WINDOW, _WINDOW_GAP = 6.6, 5, 3
# The tip of an arrow, the most between two arrows at one edge of a room, what an arrow needs that passes a floor.
_TIP, _PORT_GAP, _PASSAGE = 5, 12, 6
_LEGEND = 36

_STYLE = """
text { font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
.ground { fill: #fbfaf7; }
.package { fill: #f0eee7; stroke: #ddd9cd; }
.floor { stroke: #e2dfd4; }
.room { fill: #ffffff; stroke: #b9b4a5; }
.name { fill: #22252a; font-size: 11.5px; text-anchor: middle; }
.title { fill: #22252a; font-size: 13.5px; font-weight: 600; }
.note { fill: #6d6a61; font-size: 11.5px; }
.window { fill: #5b7fa6; }
.way { fill: none; stroke: #9a968a; stroke-width: 1.1; }
.tip { fill: #9a968a; }
.stairs { stroke: #6d6a61; stroke-width: 1.6; }
.stairs-tip { fill: #6d6a61; }
@media (prefers-color-scheme: dark) {
.ground { fill: #14171c; }
.package { fill: #1c2128; stroke: #2d333c; }
.floor { stroke: #272d36; }
.room { fill: #262c35; stroke: #434b57; }
.name, .title { fill: #e4e6e9; }
.note { fill: #9aa1ab; }
.window { fill: #e3b55c; }
.way { stroke: #6b7480; }
.tip { fill: #6b7480; }
.stairs { stroke: #9aa1ab; }
.stairs-tip { fill: #9aa1ab; }
}
"""


@dataclass(frozen=True)
class _Box:
    """A rectangle, from the left and from the top."""

    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.left + self.width / 2

    @property
    def bottom(self) -> float:
        return self.top + self.height


def draw(house: House) -> str:
    """The drawing of a house, as the text of an SVG file."""
    boxes = _package_boxes(house)
    bottom = max(box.bottom for box in boxes.values())
    height = _number(bottom + _LEGEND)
    # Stairs lie under the packages: of those that pass one, what shows is above and below it.
    stairs = [_stairs(boxes[upper], boxes[lower]) for upper, lower in sorted(house.arrows)]
    packages = [_package(package, boxes[package.name]) for floor in house.floors for package in floor]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>The packages of the house, their rooms, and who imports whom</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="ground" width="{WIDTH}" height="{height}" rx="10"/>',
            *stairs,
            *packages,
            *_legend(bottom + 21),
            "</svg>\n",
        ]
    )


def _package_boxes(house: House) -> dict[str, _Box]:
    """A place for every package, from the top down."""
    boxes = {}
    top: float = _MARGIN
    for floor in house.floors:
        height = max(_height(package) for package in floor)
        needs = [_needed(package) for package in floor]
        spare = WIDTH - 2 * _MARGIN - (len(floor) - 1) * _BESIDE - sum(needs)
        left: float = _MARGIN
        for package, need in zip(floor, needs, strict=True):
            boxes[package.name] = _Box(left, top, need + spare / len(floor), height)
            left = boxes[package.name].left + boxes[package.name].width + _BESIDE
        top += height + _BELOW
    return boxes


def _height(package: Package) -> float:
    rows = _rows(package)
    gap, height = (_FLOOR_GAP, _ROOM) if len(package.floors) > 1 else (_ROOM_GAP, _room_height(rows[0][0]))
    return _HEADING + len(rows) * (height + gap) - gap + _PADDING


def _rows(package: Package) -> list[list[Room]]:
    """The floors of a package; one that has no others is cut where the drawing ends."""
    if len(package.floors) > 1:
        return [list(floor) for floor in package.floors]
    rows: list[list[Room]] = [[]]
    for room in package.floors[0]:
        if _row_width([*rows[-1], room]) > WIDTH - 2 * (_MARGIN + _PADDING):
            rows.append([])
        rows[-1].append(room)
    return rows


def _row_width(rooms: Sequence[Room]) -> float:
    return fsum(_width(room) + _ROOM_GAP for room in rooms) - _ROOM_GAP


def _needed(package: Package) -> float:
    """The width of the widest row."""
    return 2 * _PADDING + max(map(_row_width, _rows(package)))


def _package(package: Package, box: _Box) -> str:
    """A package with its name, its purpose, its rooms and their arrows."""
    rooms = _on_one_floor(package, box) if len(package.floors) == 1 else _on_floors(package, box)
    heading = (
        f'<text x="{_number(box.left + _PADDING)}" y="{_number(box.top + 20)}">'
        f'<tspan class="title">{escape(package.name)}</tspan>'
        f'<tspan class="note" dx="10">{escape(package.purpose)}</tspan></text>'
    )
    return "\n".join([f'<rect class="package" {_edges(box)} rx="8"/>', heading, *rooms])


def _on_one_floor(package: Package, box: _Box) -> list[str]:
    """The rooms of a package without further floors, in the middle."""
    drawn = []
    top = box.top + _HEADING
    for row in _rows(package):
        left = box.middle - _row_width(row) / 2
        for room in row:
            drawn.append(_room(room, _Box(left, top, _width(room), _room_height(room))))
            left += _width(room) + _ROOM_GAP
        top += _room_height(row[0]) + _ROOM_GAP
    return drawn


def _on_floors(package: Package, box: _Box) -> list[str]:
    """The rooms of a package on their floors, and the arrows between them."""
    rooms = {room.name: room for floor in package.floors for room in floor}

    def width_of(node: Node) -> float:
        return _width(rooms[node]) if isinstance(node, str) else _PASSAGE

    left, width = box.left + _PADDING, box.width - 2 * _PADDING
    floors = [[room.name for room in floor] for floor in package.floors]
    laid = plan(floors, package.arrows, width_of, 1.5 * _ROOM_GAP, width)
    pitch = (box.height - _HEADING - _PADDING - _ROOM) / (len(floors) - 1)
    tops = [box.top + _HEADING + number * pitch for number in range(len(floors))]
    boxes = [
        {node: _Box(left + at - width_of(node) / 2, top, width_of(node), _ROOM) for node, at in centres.items()}
        for top, centres in zip(tops, laid.centres, strict=True)
    ]
    if floors[-1] == [ERRORS]:
        # A slab that all others stand on.
        boxes[-1] = {ERRORS: _Box(left, tops[-1] + _ROOM - _LOW_ROOM, width, _LOW_ROOM)}
    ground = [f'<path class="floor" d="M{_point(box.left, top + _ROOM)}h{_number(box.width)}"/>' for top in tops]
    drawn = [_room(rooms[node], at) for row in boxes for node, at in row.items() if isinstance(node, str)]
    return [*ground, *_ways(laid, boxes), *drawn]


def _ways(laid: Plan, boxes: Sequence[Mapping[Node, _Box]]) -> list[str]:
    """Arrows, each from the lower edge of a room to the upper edge of another."""
    drawn = []
    for number, links in enumerate(laid.links):
        above, below = boxes[number], boxes[number + 1]
        starts = _ports(links, above, below)
        ends = _ports([(lower, upper) for upper, lower in links], below, above)
        for upper, lower in links:
            drawn.append(_way(starts[upper, lower], above[upper], ends[lower, upper], below[lower], upper, lower))
    return drawn


def _way(x: float, start: _Box, to_x: float, end: _Box, upper: Node, lower: Node) -> str:
    """A link from one floor to the next: a curve, after the passage of the upper floor if it comes through one."""
    arrives = isinstance(lower, str)
    passage = "" if isinstance(upper, str) else f"M{_point(x, start.top)}V{_number(start.bottom)}"
    y, to_y = start.bottom, end.top - _TIP * arrives
    curve = f"C{_point(x, (y + to_y) / 2)} {_point(to_x, (y + to_y) / 2)} {_point(to_x, to_y)}"
    line = f'<path class="way" d="{passage}M{_point(x, y)}{curve}"/>'
    return line + _tip("tip", to_x, end.top) * arrives


def _ports(
    links: Sequence[tuple[Node, Node]], own: Mapping[Node, _Box], others: Mapping[Node, _Box]
) -> dict[tuple[Node, Node], float]:
    """Where along its edge a node is touched by each link to another: side by side, in the order of the others."""
    found: dict[tuple[Node, Node], float] = {}
    for node, box in own.items():
        ends = sorted((other for mine, other in links if mine == node), key=lambda other: others[other].middle)
        gap = min(_PORT_GAP, (box.width - _PORT_GAP) / max(len(ends), 1))
        for index, other in enumerate(ends):
            found[node, other] = box.middle + (index - (len(ends) - 1) / 2) * gap
    return found


def _room(room: Room, box: _Box) -> str:
    """A room with its name, and with its windows where it is high enough."""
    low = box.height < _ROOM
    frame = f'<rect class="room" {_edges(box)} rx="4"/>'
    name = f'<text class="name" x="{_number(box.middle)}" y="{_number(box.top + (15 if low else 14))}">{_label(room)}</text>'
    return frame + name + ("" if low else _panes(_windows(room), box))


def _panes(count: int, box: _Box) -> str:
    pitch = _WINDOW + _WINDOW_GAP
    left = box.middle - (count * pitch - _WINDOW_GAP) / 2
    panes = (f"M{_point(left + index * pitch, box.top + 20)}h{_WINDOW}v{_WINDOW}h-{_WINDOW}z" for index in range(count))
    return f'<path class="window" d="{"".join(panes)}"/>'


def _width(room: Room) -> float:
    """What the name of a room and its windows need."""
    return max(len(_label(room)) * _LETTER, _windows(room) * (_WINDOW + _WINDOW_GAP)) + 16


def _room_height(room: Room) -> float:
    return _ROOM if room.lines else _LOW_ROOM


def _windows(room: Room) -> int:
    return max(1, round(room.lines / _LINES_A_WINDOW))


def _label(room: Room) -> str:
    return escape(room.name) + "/" * room.folder


def _stairs(upper: _Box, lower: _Box) -> str:
    """The arrow from a package to one below it, from the middle of the narrower."""
    x = min(upper, lower, key=lambda box: box.width).middle
    line = f'<path class="stairs" d="M{_point(x, upper.bottom)}V{_number(lower.top - _TIP)}"/>'
    return line + _tip("stairs-tip", x, lower.top)


def _tip(kind: str, x: float, y: float) -> str:
    return f'<path class="{kind}" d="M{_point(x, y)}l-3 -{_TIP}h6z"/>'


def _legend(y: float) -> list[str]:
    left, right = _MARGIN + _PADDING, WIDTH - _MARGIN - _PADDING
    arrow = f"An arrow: imports from. Left out: what follows from other arrows, and the way to {ERRORS}."
    window = f"A window: {_LINES_A_WINDOW} lines. A slash: a folder."
    return [
        f'<text class="note" x="{left}" y="{_number(y)}">{arrow}</text>',
        f'<text class="note" x="{right}" y="{_number(y)}" text-anchor="end">{window}</text>',
    ]


def _edges(box: _Box) -> str:
    left, top, width, height = (_number(value) for value in (box.left, box.top, box.width, box.height))
    return f'x="{left}" y="{top}" width="{width}" height="{height}"'


def _point(x: float, y: float) -> str:
    return f"{_number(x)} {_number(y)}"


def _number(value: float) -> str:
    """One decimal at the most, so that no machine's last bit shows."""
    return f"{round(value, 1):g}"

"""What a page consists of, as values that know no HTML: the template turns each into one, and escapes all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from aggregator.registry.states import AccountRole

ROWS = 25
"""So many rows a table shows at once."""


class Mark(StrEnum):
    """How something stands; said in words beside, since colours alone say nothing to many."""

    NONE = ""
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True)
class Cell:
    """A value of a table.

    Args:
        text: it.
        href: where it leads; "" for nowhere.
        mark: how it stands.
        code: whether it is a digest or the like.
    """

    text: str
    href: str = ""
    mark: Mark = Mark.NONE
    code: bool = False


@dataclass(frozen=True)
class Pager:
    """Which part of a list is shown.

    Args:
        first: number of the first row, from 0.
        shown: rows that are shown.
        total: rows in all.
        before: where the rows before are; "" for none.
        after: where those after are; "" for none.
    """

    first: int
    shown: int
    total: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under headings; on a narrow screen each row becomes a card.

    Args:
        title: over it.
        head: a heading for each column.
        rows: as many cells each.
        pager: where it is a part of more.
        empty: what stands there instead of no rows.
        said: a sentence on how to read it.
        anchor: name of the place in the page.
    """

    kind = "table"
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    pager: Pager | None = None
    empty: str = "nothing yet"
    said: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Tile:
    """One figure in large.

    Args:
        value: it.
        label: what it is.
        href: where more of it is.
        mark: how it stands.
    """

    value: str
    label: str
    href: str = ""
    mark: Mark = Mark.NONE


@dataclass(frozen=True)
class Tiles:
    """Figures beside each other."""

    kind = "tiles"
    tiles: Sequence[Tile]


@dataclass(frozen=True)
class Facts:
    """Names and values, one below the other."""

    kind = "facts"
    title: str
    pairs: Sequence[tuple[str, Cell | str]]


@dataclass(frozen=True)
class Notice:
    """Something that a person should see.

    Args:
        text: it.
        mark: how bad.
        href: where to go.
        link: the words of that link.
    """

    text: str
    mark: Mark = Mark.WARN
    href: str = ""
    link: str = ""


@dataclass(frozen=True)
class Notices:
    """Several of them; or that there is none."""

    kind = "notices"
    title: str
    notices: Sequence[Notice]
    none: str = "nothing needs you"


@dataclass(frozen=True)
class Plot:
    """A drawing with its table beside it.

    Args:
        title: over it.
        svg: made by `shared.report.light`, which escapes what it writes.
        table: the same figures.
        said: how to read it.
    """

    kind = "plot"
    title: str
    svg: str
    table: Table
    said: str = ""


@dataclass(frozen=True)
class Words:
    """Sentences under a heading; or a text as it is, such as JSON."""

    kind = "words"
    title: str
    lines: Sequence[str] = ()
    code: str = ""


@dataclass(frozen=True)
class Field:
    """One entry of a form.

    Args:
        name: in the form.
        label: over it.
        kind: "line", "text", "number", "tick", "secret" or "hidden".
        value: that it has first.
        hint: what to write there.
        optional: whether it may stay empty.
        most: characters.
    """

    name: str
    label: str = ""
    kind: str = "line"
    value: str = ""
    hint: str = ""
    optional: bool = False
    most: int = 200


@dataclass(frozen=True)
class Form:
    """What a person may ask for; what will happen is shown before it does.

    Args:
        title: over it.
        action: name of the action.
        fields: of the form.
        button: its words.
        role: that it takes; who has another one does not see the form.
        said: what it is for.
        grave: whether something is deleted or leaves the house.
    """

    kind = "form"
    title: str
    action: str
    fields: Sequence[Field]
    button: str
    role: AccountRole
    said: str = ""
    grave: bool = False


@dataclass(frozen=True)
class Choices:
    """A list filtered by links: each a word, where it leads and whether it is the one that is shown."""

    kind = "choices"
    title: str
    links: Sequence[tuple[str, str, bool]]


@dataclass(frozen=True)
class Running:
    """Jobs with their progress, which the page keeps up to date."""

    kind = "running"
    title: str
    jobs: Sequence[RunningJob]


@dataclass(frozen=True)
class RunningJob:
    """One of them.

    Args:
        id: of it.
        name: what it does, for whom, since when.
        phase: what it is at.
        share: of the whole that is done, in per cent.
        left: how long it still takes, in words.
    """

    id: str
    name: str
    phase: str
    share: int
    left: str


Block = Table | Tiles | Facts | Notices | Plot | Words | Form | Choices | Running


@dataclass(frozen=True)
class Page:
    """A page.

    Args:
        title: of it.
        blocks: below one another.
        lead: the page in a sentence.
        up: where it was reached from: words and address.
    """

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    lead: str = ""
    up: tuple[str, str] | None = None


def count(value: int, one: str, more: str = "") -> str:
    """A number and what it counts.

    >>> count(1, "share"), count(12000, "share"), count(2, "entry", "entries")
    ('1 share', '12,000 shares', '2 entries')
    """
    return f"{value:,} {one if value == 1 else more or one + 's'}"


def part(values: Sequence[object], page: int, address: str, rows: int = ROWS) -> tuple[slice, Pager]:
    """Which of some values a page shows, and how to get to the others; see `pager`."""
    made = pager(page, min(rows, max(0, len(values) - (page - 1) * rows)), len(values), address, rows)
    return slice(made.first, made.first + made.shown), made


def pager(page: int, shown: int, total: int, address: str, rows: int = ROWS) -> Pager:
    """How to get to the other parts of a list.

    Args:
        page: its number, from 1.
        shown: rows on it.
        total: rows in all.
        address: of the list, to which `page=` is added.
        rows: on a page.
    """
    joint = "&" if "?" in address else "?"
    before = f"{address}{joint}page={page - 1}" if page > 1 else ""
    after = f"{address}{joint}page={page + 1}" if page * rows < total else ""
    return Pager((page - 1) * rows, shown, total, before, after)

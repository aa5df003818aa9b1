"""Figures as people read them: shares in per cent, four digits that count, thousands parted."""

from __future__ import annotations

from bench.results.entries import Entry

_SHARES = ("share", "recall", "precision")
_DIGITS, _FEW = 4, 3
"""Digits that count: in tables, and in sentences and plots."""


def number(value: float, digits: int = _DIGITS) -> str:
    """A number with the digits that count.

    Args:
        value: finite.
        digits: as many, but all of those before the point.
    """
    if value == round(value) or abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def amount(value: float, unit: str, digits: int = _DIGITS) -> str:
    """A value in its unit; a share of something is written in per cent.

    Args:
        value: of an entry.
        unit: of the same entry.
        digits: see `number`.
    """
    if not is_share(unit):
        return f"{number(value, digits)} {unit}".rstrip()
    rest = unit if unit.startswith("of ") else ""
    return f"{number(round(100 * value, 6), digits)}% {rest}".rstrip()


def is_share(unit: str) -> bool:
    """Whether values of a unit lie between nothing and all.

    Args:
        unit: of an entry.
    """
    return unit in _SHARES or unit.startswith("of ")


def measured(entry: Entry) -> str:
    """The value of an entry, with its interval where it has one."""
    value = amount(entry.value, entry.unit)
    return value if entry.interval is None else f"{value} ({interval(entry)})"


def interval(entry: Entry) -> str:
    """Both ends of an interval, without the unit; "" where there is none."""
    if entry.interval is None:
        return ""
    low, high = (_bare(end, entry.unit) for end in entry.interval)
    return f"{low} to {high}"


def bare(entry: Entry) -> str:
    """The value of an entry without its unit, but for a percent sign."""
    return _bare(entry.value, entry.unit)


def briefly(entry: Entry) -> str:
    """The same with fewer digits, as sentences and plots say it."""
    return _bare(entry.value, entry.unit, _FEW)


def percent(entry: Entry) -> str:
    """The value of an entry in per cent, whatever its unit is called."""
    return amount(entry.value, "share", _FEW)


def in_full(entry: Entry) -> str:
    """The value of an entry with few digits, and its unit."""
    return amount(entry.value, entry.unit, _FEW)


def asked(entry: Entry) -> str:
    """What was asked of an entry, as in "at least 95%".

    Raises:
        ValueError: nothing was asked.
    """
    if entry.target is None:
        raise ValueError(f"{entry.measure}: nothing was asked of it")
    return f"at {'least' if entry.direction == '>=' else 'most'} {_bare(entry.target, entry.unit)}"


def verdict(entry: Entry) -> str:
    """Whether what was asked is reached; the word that must not be overlooked is in capitals."""
    return "reached" if entry.reached else "MISSED"


def _bare(value: float, unit: str, digits: int = _DIGITS) -> str:
    return amount(value, "share" if is_share(unit) else "", digits)

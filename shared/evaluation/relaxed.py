"""Which spans are one but for their end, where several of a side may start together.

Being at most two characters apart is no equality (8 and 10, 10 and 12, but not 8 and 12), so that a set of such
spans, or a count of common ones, depends on who asks first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

RELAXED_DISTANCE = 2

# start, end, what must be equal of the type, the category that is counted
Span = tuple[int, int, str, str]
Ends = list[tuple[int, str]]
Groups = dict[tuple[int, str], Ends]
Counts = dict[str, tuple[int, int, int]]
_TP, _FP, _FN = range(3)


def match_one_to_one(gold: Iterable[Span], system: Iterable[Span]) -> Counts:
    """Each span with at most one of the other side, as many as can be.

    Returns:
        tp, fp and fn per category.
    """
    wanted, given = _groups(gold), _groups(system)
    found: list[tuple[str, int]] = []
    for key in wanted.keys() | given.keys():
        found += _in_order(sorted(set(wanted.get(key, ()))), sorted(set(given.get(key, ()))))
    return _count(found)


def official_matches(gold: Iterable[Span], system: Iterable[Span]) -> Counts:
    """As Python's sets count with `fuzzy_end_equality`: the first of equal spans is kept, the smaller side counts hits.

    Returns:
        tp, fp and fn per category.
    """
    wanted, given = ({key: _first_of_equals(ends) for key, ends in _groups(side).items()} for side in (gold, system))
    size = [sum(map(len, side.values())) for side in (wanted, given)]
    hits, other = (wanted, given) if size[0] < size[1] else (given, wanted)
    found = [(category, _TP) for category, hit in _has_equal(hits, other) if hit]
    found += [(category, _FP) for category, hit in _has_equal(given, wanted) if not hit]
    found += [(category, _FN) for category, hit in _has_equal(wanted, given) if not hit]
    return _count(found)


def _groups(spans: Iterable[Span]) -> Groups:
    """The ends, in the order given, of spans that are one but for their end."""
    groups: Groups = {}
    for start, end, kind, category in spans:
        groups.setdefault((start, kind), []).append((end, category))
    return groups


def _in_order(wanted: Ends, given: Ends) -> Iterable[tuple[str, int]]:
    """Two ascending lists walked side by side, which matches as many as can be."""
    first = second = 0
    while first < len(wanted) and second < len(given):
        apart = wanted[first][0] - given[second][0]
        if abs(apart) <= RELAXED_DISTANCE:
            yield wanted[first][1], _TP
        elif apart < 0:
            yield wanted[first][1], _FN
        else:
            yield given[second][1], _FP
        first += apart <= RELAXED_DISTANCE
        second += apart >= -RELAXED_DISTANCE
    yield from ((category, _FN) for _, category in wanted[first:])
    yield from ((category, _FP) for _, category in given[second:])


def _first_of_equals(ends: Ends) -> Ends:
    kept: Ends = []
    for end, category in ends:
        if not _near(end, kept):
            kept.append((end, category))
    return kept


def _has_equal(side: Mapping[tuple[int, str], Ends], other: Groups) -> Iterable[tuple[str, bool]]:
    for key, ends in side.items():
        for end, category in ends:
            yield category, _near(end, other.get(key, []))


def _near(end: int, ends: Ends) -> bool:
    return any(abs(end - there) <= RELAXED_DISTANCE for there, _ in ends)


def _count(found: Iterable[tuple[str, int]]) -> Counts:
    numbers: dict[str, list[int]] = {}
    for category, kind in found:
        numbers.setdefault(category, [0, 0, 0])[kind] += 1
    return {category: (tp, fp, fn) for category, (tp, fp, fn) in numbers.items()}

"""The types of i2b2 2014: their tag names, which of them HIPAA names, and what makes two of them equal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from shared.document import Annotation
from shared.errors import EvaluationError
from shared.evaluation.spans import element_of

# The valid_TYPE lists of tags.py.
TYPES_OF: Mapping[str, tuple[str, ...]] = {
    "NAME": ("PATIENT", "DOCTOR", "USERNAME"),
    "PROFESSION": ("PROFESSION",),
    "LOCATION": (
        *("ROOM", "DEPARTMENT", "HOSPITAL", "ORGANIZATION", "STREET", "CITY", "STATE", "COUNTRY", "ZIP"),
        "LOCATION-OTHER",
    ),
    "AGE": ("AGE",),
    "DATE": ("DATE",),
    "CONTACT": ("PHONE", "FAX", "EMAIL", "URL", "IPADDR"),
    "ID": ("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "BIOID", "IDNUM"),
    "OTHER": ("OTHER",),
}
TAG_NAMES: Mapping[str, str] = {category: name for name, types in TYPES_OF.items() for category in types}

# PHITrackEvaluation.HIPAA_regexes as prefixes; "" is its ".*". "IDNUM " carries the blank of slip 1.
_HIPAA_PREFIXES: Mapping[str, tuple[str, ...]] = {
    "NAME": ("PATIENT",),
    "LOCATION": ("CITY", "STREET", "ZIP", "ORGANIZATION"),
    "DATE": ("",),
    "CONTACT": ("PHONE", "FAX", "EMAIL"),
    "ID": ("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "BIOID", "IDNUM "),
    "AGE": ("",),
}
HIPAA_2014: frozenset[str] = frozenset(
    category
    for category, name in TAG_NAMES.items()
    if category == "IDNUM" or category.startswith(_HIPAA_PREFIXES.get(name, ()))
)

Hipaa = Callable[[str], bool] | Mapping[str, str] | Collection[str]


@dataclass(frozen=True, slots=True)
class Label:
    """What the blocks ask of a span's type.

    Args:
        shown: under which category a block counts it; equal in Token.
        strict: equal in Strict and Relaxed.
        binary: equal in Binary Strict, which forgets the type of all but some.
        name: tag name, "" where nobody asks.
        hipaa: whether HIPAA names it.
    """

    shown: str
    strict: str
    binary: str
    name: str
    hipaa: bool


class Labels:
    """The label of every span, made once for each type.

    Args:
        hipaa, tag_names, slips: as in `evaluate_i2b2`.
    """

    def __init__(self, hipaa: Hipaa | None, tag_names: Mapping[str, str] | None, slips: bool) -> None:
        if tag_names is None and slips and hipaa is HIPAA_2014:
            tag_names = TAG_NAMES  # The official expressions for HIPAA look at them.
        self._names = None if tag_names is None else _lookup(tag_names)
        self._hipaa = None if hipaa is None else _hipaa_filter(hipaa, slips)
        self._slips = slips
        self._known: dict[tuple[str, str], Label] = {}

    def __call__(self, span: Annotation) -> Label:
        """The i2b2 label of a span."""
        key = (element_of(span) if self._slips else "", span.category)
        if key not in self._known:
            self._known[key] = self._make(*key)
        return self._known[key]

    def filter_by_name(self, name: str) -> Callable[[str], bool]:
        """Whether a category, as blocks show it, is of a tag name."""
        shown = {label.shown for label in self._known.values() if label.name == name}
        return shown.__contains__

    def _make(self, element: str, category: str) -> Label:
        # A category without a tag name would fall out of every block per name: `_names` refuses it.
        name = element or (self._names(category) if self._names else "")
        hipaa = self._hipaa is not None and self._hipaa(name, category)
        if not self._slips:
            return Label(category, category, "", name, hipaa)
        shown = category if element in ("", TAG_NAMES.get(category)) else f"{element}/{category}"
        strict = f"{name}/{category.upper()}"
        return Label(shown, strict, strict if element == "PHI" else "", name, hipaa)


def _lookup(table: Mapping[str, str]) -> Callable[[str], str]:
    def name(category: str) -> str:
        if category not in table:
            raise EvaluationError(
                f"expected categories among the {len(table)} of i2b2 2014 or of the table given, got {category!r}; "
                "map the documents, or give hipaa and tag_names of your own (None leaves their blocks out)"
            )
        return table[category]

    return name


def _hipaa_filter(hipaa: Hipaa, slips: bool) -> Callable[[str, str], bool]:
    """The filter as one function of tag name and category; our set refuses to guess about types it does not know."""
    if hipaa is HIPAA_2014:
        if slips:
            return _matches_official_regex
        known = _lookup({category: "x" * (category in HIPAA_2014) for category in TAG_NAMES})
        return lambda name, category: bool(known(category))
    if callable(hipaa):
        return lambda name, category: hipaa(category)
    if isinstance(hipaa, Mapping):
        targets = _lookup(hipaa)
        return lambda name, category: bool(targets(category))
    chosen = frozenset(hipaa)
    return lambda name, category: category in chosen


def _matches_official_regex(name: str, category: str) -> bool:
    """`HIPAA_predicate_filter`: both expressions are anchored at the start only, and contain no operators but ".*"."""
    return any(name.startswith(prefix) and category.startswith(types) for prefix, types in _HIPAA_PREFIXES.items())

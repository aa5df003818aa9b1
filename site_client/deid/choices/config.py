"""The file of settings that `deid --config` names: TOML, read strictly, so that a word that is mistyped changes nothing in silence.

epsilon = 1                  # what a note may spend on dates, ages and places; with --patients, a patient
language = "Spanish"         # of the notes; else that of the release

[dates]
order = "day first"          # what 3/4 means, and in which order surrogates of dates are written; or "month first"
shift = false                # true: all dates of a note are moved together
shift_epsilon = 0.01         # of that move, for a day
oldest_age = 89

[places]
file = "communes.csv"        # beside this file: name, latitude, longitude, and features
unit_km = 50
feature_units = { population = 2 }

[names]
initials = true
culture = true

[categories.DATE]
mode = "surrogate"
epsilon = 0.5
unit = "week"

[allow]
"*" = ["Parkinson"]
[deny]
HOSPITAL = ["St Anne"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from foundation.reading import read_text
from shared.errors import ConfigurationError
from shared.labels import LabelScheme
from shared.pipeline.forgotten.checker import OwnLists
from shared.surrogates.places.gazetteer import PlaceSettings, read_places
from shared.surrogates.settings import NameSettings, SurrogateSettings, TimeSettings
from site_client.deid.by_category import ByCategory
from site_client.deid.choices.lists import HospitalLists
from site_client.deid.mode import Hiding
from site_client.deid.registry import MODES

_MOST_DIGITS = 300
_MOST_WHOLE = 10**9
_ORDERS = {"day first": True, "month first": False}


@dataclass(frozen=True)
class DeidConfig:
    """What the file says.

    Args:
        surrogates: how surrogates are made.
        modes: by category.
        lists: of the hospital.
        places: the file of the places, where there is one.
        categories: that it names anywhere.
    """

    surrogates: SurrogateSettings = field(default_factory=SurrogateSettings)
    modes: Mapping[str, Hiding] = field(default_factory=dict)
    lists: HospitalLists = field(default_factory=lambda: HospitalLists({}, {}))
    places: Path | None = None
    categories: frozenset[str] = frozenset()

    def mode(self, usual: Hiding) -> Hiding:
        """The mode of all categories together."""
        return ByCategory(usual, self.modes) if self.modes else usual


def read_config(path: Path) -> DeidConfig:
    """The settings in a file.

    Raises:
        ConfigurationError: it is no TOML, or says what no setting is.
        StorageError: it can't be read.
    """
    text = read_text(path)
    try:
        stated = tomllib.loads(text, parse_float=Decimal)
    # Also a number of more digits than Python reads, an exponent that no Decimal has, and brackets within brackets without end.
    except (ValueError, ArithmeticError, RecursionError) as error:
        why = f": {error}" if isinstance(error, tomllib.TOMLDecodeError) else ", or more than can be read"
        raise ConfigurationError(f"{path.name}: expected TOML, got something else{why}") from error
    table = _Table(path.name, "", stated)
    dates, places, names = table.table("dates"), table.table("places"), table.table("names")
    categories = {name: table.table("categories").table(name) for name in table.table("categories").stated}
    modes = {name: one.take("mode", _hiding_mode) for name, one in categories.items() if "mode" in one.stated}
    settings = _surrogate_settings(table, dates, _places(places, path), names, categories)
    allow, deny = (_texts(table.table(name)) for name in ("allow", "deny"))
    for one in (table, dates, places, names, *categories.values()):
        one.finish()
    listed = places.take("file", _file_name)
    places_file = None if listed is None else path.parent / listed
    return DeidConfig(settings, modes, HospitalLists(allow, deny), places_file, frozenset([*categories, *allow, *deny]))


def read_always_hidden(path: Path, scheme: LabelScheme) -> OwnLists:
    """What finds in labelled notes whatever a file of settings always hides; what it never hides counts for `deid` alone.

    Raises:
        ConfigurationError: it is no such file, always hides nothing, or a category that the labels don't have.
        StorageError: it can't be read.
    """
    lists = read_config(path).lists
    if not lists.categories:
        raise ConfigurationError(
            f"{path.name}: expected texts under [deny], which are PHI wherever they stand, got none; name some, by category"
        )
    if unknown := sorted(lists.categories - scheme.category_index.keys()):
        raise ConfigurationError(
            f"{path.name}: deny: expected categories of the release ({', '.join(scheme.categories)}), got {', '.join(unknown)}; correct them"
        )
    return lists.denied


class _Table:
    """A table of the file; what nobody asks for is refused.

    Args:
        file: its name.
        name: of the table, "" for the whole.
        stated: what it says.
    """

    def __init__(self, file: str, name: str, stated: Mapping[str, Any]) -> None:
        self.file = file
        self.stated = stated
        self._name = name
        self._asked: set[str] = set()

    def take(self, key: str, read: Callable[[Any], Any], usual: Any = None) -> Any:
        """A value as `read` reads it, which raises ValueError with what it expected."""
        self._asked.add(key)
        if key not in self.stated:
            return usual
        try:
            return read(self.stated[key])
        except ValueError as error:
            raise ConfigurationError(f"{self.file}: {self._at(key)}: expected {error}") from error

    def table(self, key: str) -> _Table:
        """A table below; an empty one where there is none."""
        found = self.take(key, _mapping, {})
        return _Table(self.file, self._at(key), found)

    def finish(self) -> None:
        """
        Raises:
            ConfigurationError: it says something that nobody has asked for.
        """
        if unknown := sorted(self.stated.keys() - self._asked):
            known = ", ".join(sorted(self._asked))
            raise ConfigurationError(f"{self.file}: expected settings among {known}, got {self._at(unknown[0])}")

    def _at(self, key: str) -> str:
        return f"{self._name}.{key}" if self._name else key


def _surrogate_settings(
    table: _Table, dates: _Table, places: PlaceSettings, names: _Table, categories: Mapping[str, _Table]
) -> SurrogateSettings:
    usual, time, name = SurrogateSettings(), TimeSettings(), NameSettings()
    return SurrogateSettings(
        epsilon=table.take("epsilon", _fraction, usual.epsilon),
        patient_entities=table.take("patient_entities", _whole, usual.patient_entities),
        language=table.take("language", _text),
        kinds={category: one.take("kind", _text) for category, one in categories.items() if "kind" in one.stated},
        epsilons={
            category: one.take("epsilon", _fraction) for category, one in categories.items() if "epsilon" in one.stated
        },
        units={category: one.take("unit", _text) for category, one in categories.items() if "unit" in one.stated},
        time=TimeSettings(
            shift=dates.take("shift", _truth, time.shift),
            shift_epsilon=dates.take("shift_epsilon", _fraction, time.shift_epsilon),
            day_first=dates.take("order", _order),
            oldest=dates.take("oldest_age", _whole, time.oldest),
            earliest=dates.take("earliest_year", _whole, time.earliest),
            years_ahead=dates.take("years_ahead", _whole, time.years_ahead),
        ),
        names=NameSettings(
            gender=names.take("gender", _truth, name.gender),
            initials=names.take("initials", _truth, name.initials),
            culture=names.take("culture", _truth, name.culture),
        ),
        places=places,
    )


def _places(table: _Table, config: Path) -> PlaceSettings:
    file, units = table.take("file", _file_name), table.table("feature_units")
    usual = PlaceSettings()
    return PlaceSettings(
        None if file is None else read_places(config.parent / file),
        table.take("unit_km", lambda value: float(_fraction(value)), usual.unit_km),
        {name: units.take(name, lambda value: float(_fraction(value))) for name in units.stated},
    )


def _texts(table: _Table) -> dict[str, Sequence[str]]:
    return {category: table.take(category, _list_of_texts) for category in table.stated}


def _hiding_mode(value: object) -> Hiding:
    mode = MODES.get(value) if isinstance(value, str) else None
    if not isinstance(mode, Hiding):
        raise ValueError(f"one of {', '.join(name for name, one in MODES.items() if one.hides)}, got another")
    return mode


def _fraction(value: object) -> Fraction:
    number = Decimal(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else None
    if number is None or not number.is_finite():
        raise ValueError(f"a number, got {_told(value)}")
    # Beyond them a float has no room, and a fraction takes all the memory.
    if number and abs(number.adjusted()) > _MOST_DIGITS:
        raise ValueError(f"a number from 1e-{_MOST_DIGITS} to 1e{_MOST_DIGITS}, got {number:.3g}")
    return Fraction(number)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"a whole number, got {_told(value)}")
    if abs(value) > _MOST_WHOLE:
        raise ValueError(f"a whole number of at most {_MOST_WHOLE}, got one beyond")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a text in quotes, got {_told(value)}")
    return value


def _file_name(value: object) -> str:
    name = _text(value)
    if not name or min(name) < " ":
        raise ValueError(f"the name of a file, got {'one with a sign that no name has' if name else 'an empty text'}")
    return name


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"true or false, got {_told(value)}")
    return value


def _order(value: object) -> bool:
    if not isinstance(value, str) or value not in _ORDERS:
        raise ValueError(f'"day first" or "month first", got {_told(value)}')
    return _ORDERS[value]


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"a table, got {_told(value)}")
    return value


def _list_of_texts(value: object) -> Sequence[str]:
    from shared.surrogates.spelling import folded

    if not isinstance(value, list) or not all(isinstance(one, str) and folded(one) for one in value):
        raise ValueError("a list of texts with a letter or a digit each")
    return value


def _told(value: object) -> str:
    """What came, by its kind: it may be of another setting, and that may be a name."""
    kinds = {dict: "a table", list: "a list", str: "a text", bool: "true or false", int: "a number"}
    if isinstance(value, Decimal):
        return "a number" if value.is_finite() else str(value)
    return kinds.get(type(value), "a date or a time")

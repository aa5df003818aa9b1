"""One public list of places, the same for every note: where they lie and what they are like, and how far apart that makes them.

A place is a point: three coordinates of the unit sphere times the radius of the earth (so that distances are chords, and the date line is no edge), and a
coordinate for each feature, which runs over `feature_units` from its least to its largest value. The distance of two places is Euclidean over ALL
of these, in thousandths of a unit, rounded up. Coordinates are whole numbers and the root is taken exactly, so it is a metric, not nearly one:
ceil(a + b) <= ceil(a) + ceil(b).
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from pathlib import Path

from foundation.reading import read_text
from shared.errors import ConfigurationError
from shared.surrogates.spelling import folded

STEPS = 1000
"""Of a unit of distance."""
UNIT_KM = 50.0
FEATURE_UNITS = 2.0
LEVELS = {"place": 1, "region": 4, "country": 20}
"""Of places, and how many times longer a unit is among those."""
_EARTH_KM = 6371.0
_FIXED = frozenset({"name", "latitude", "longitude", "level", "language"})
_MOST_PLACES = 200_000


@dataclass(frozen=True)
class Place:
    """A row of the list.

    Args:
        name: as it is written.
        latitude, longitude: in degrees.
        level: "place", "region" or "country".
        language: of the notes that it is a candidate in, in English; "" for all.
        features: what it is like, by name.
    """

    name: str
    latitude: float
    longitude: float
    level: str = "place"
    language: str = ""
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PlaceSettings:
    """Places.

    Args:
        candidates: the list; None for the one that comes with the program.
        unit_km: how many kilometres are one unit of distance between towns, in which epsilon counts; of regions and countries it is as many
            times longer as LEVELS says.
        feature_units: how many units there are between the least and the largest value of a feature; of those not named FEATURE_UNITS.
    """

    candidates: tuple[Place, ...] | None = None
    unit_km: float = UNIT_KM
    feature_units: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        numbers = (self.unit_km, *self.feature_units.values())
        if not all(math.isfinite(number) and number > 0 for number in numbers):
            raise ConfigurationError("places: expected units above 0, got others; correct them")


class Gazetteer:
    """The candidates of one level, with their distances.

    Args:
        places: all of one level.
        settings: how distances are counted.
    """

    def __init__(self, places: Sequence[Place], settings: PlaceSettings) -> None:
        self.names = tuple(place.name for place in places)
        self._numbers: dict[str, int] = {}
        for number, name in enumerate(self.names):
            self._numbers.setdefault(folded(name), number)
        unit_km = settings.unit_km * LEVELS[places[0].level]
        self._points = [
            _point(place, unit_km) + more for place, more in zip(places, _features(places, settings), strict=True)
        ]

    @cached_property
    def digest(self) -> str:
        """Of names and distances, in hex."""
        return hashlib.sha256(repr((self.names, self._points)).encode("utf-8", "surrogatepass")).hexdigest()

    def number(self, name: str) -> int | None:
        """The place of a name, however it is spelt; of several of one name the first of the list."""
        return self._numbers.get(folded(name))

    def distance(self, one: int, other: int) -> int:
        """In thousandths of a unit, rounded up."""
        square = sum((a - b) ** 2 for a, b in zip(self._points[one], self._points[other], strict=True))
        return math.isqrt(square - 1) + 1 if square else 0


class Atlas:
    """The candidates of every level for notes of each language; which ones is public, and the same for all notes of that language.

    Args:
        settings: the list, and how distances are counted.
    """

    def __init__(self, settings: PlaceSettings) -> None:
        self._settings = settings
        self._places = settings.candidates or shipped_places()
        self._known: dict[tuple[str, str], Gazetteer | None] = {}

    def level(self, level: str, language: str) -> Gazetteer | None:
        """The candidates of a level; None where there are fewer than two in every language: one is no draw."""
        key = level, language
        if key not in self._known:
            of_level = [place for place in self._places if place.level == level]
            own = [place for place in of_level if place.language in ("", language)]
            several = next((some for some in (own, of_level) if len({folded(place.name) for place in some}) > 1), None)
            self._known[key] = Gazetteer(several, self._settings) if several else None
        return self._known[key]


@cache
def shipped_places() -> tuple[Place, ...]:
    """Towns, regions and countries that come with the program: large ones of three languages, with their population."""
    text = (resources.files("shared") / "surrogates" / "places" / "places.csv").read_text(encoding="utf-8")
    return _parse(text.splitlines(), "places.csv")


def read_places(path: Path) -> tuple[Place, ...]:
    """A list of a user: CSV with the columns name, latitude and longitude; level and language, where there are; and any others, all numbers, as features.

    Raises:
        ConfigurationError: a column or a number is missing, or a place has no name.
        StorageError: the file can't be read.
    """
    return _parse(read_text(path).removeprefix("\ufeff").splitlines(), path.name)


def _parse(lines: Iterable[str], file: str) -> tuple[Place, ...]:
    rows = csv.DictReader(lines)
    columns = list(rows.fieldnames or ())
    missing = [name for name in ("name", "latitude", "longitude") if name not in columns]
    if missing or len(set(columns)) != len(columns):
        raise ConfigurationError(
            f"{file}: expected the columns name, latitude and longitude, each once, got {', '.join(columns) or 'none'}"
        )
    features = [name for name in columns if name not in _FIXED]
    places = tuple(_place(row, features, f"{file}, line {number}") for number, row in enumerate(rows, start=2))
    if not 2 <= len(places) <= _MOST_PLACES:
        raise ConfigurationError(f"{file}: expected 2 to {_MOST_PLACES} places, got {len(places)}")
    return places


def _place(row: Mapping[str, str | None], features: Sequence[str], where: str) -> Place:
    try:
        latitude, longitude, *values = (float(row[name] or "") for name in ("latitude", "longitude", *features))
    except ValueError as error:
        raise ConfigurationError(
            f"{where}: expected a number in every column but name, level and language; correct it, or leave the row out"
        ) from error
    name, level = (row["name"] or "").strip(), (row.get("level") or "place").strip()
    if (
        not name
        or level not in LEVELS
        or not (-90 <= latitude <= 90 and -180 <= longitude <= 180 and all(map(math.isfinite, values)))
    ):
        raise ConfigurationError(
            f"{where}: expected a name, degrees, a level of {', '.join(LEVELS)}, and finite numbers; correct the row"
        )
    return Place(
        name, latitude, longitude, level, (row.get("language") or "").strip(), dict(zip(features, values, strict=True))
    )


def _point(place: Place, unit_km: float) -> tuple[int, ...]:
    latitude, longitude = math.radians(place.latitude), math.radians(place.longitude)
    sphere = (
        math.cos(latitude) * math.cos(longitude),
        math.cos(latitude) * math.sin(longitude),
        math.sin(latitude),
    )
    return tuple(round(coordinate * _EARTH_KM / unit_km * STEPS) for coordinate in sphere)


def _features(places: Sequence[Place], settings: PlaceSettings) -> list[tuple[int, ...]]:
    """Every feature of every place, from 0 to its units."""
    names = sorted({name for place in places for name in place.features})
    columns = []
    for name in names:
        values = [place.features.get(name, 0.0) for place in places]
        least, most = min(values), max(values)
        units, spread = settings.feature_units.get(name, FEATURE_UNITS) * STEPS, (most - least) or 1
        # In this order: over a spread that is nearly nothing units are infinite.
        columns.append([round((value - least) / spread * units) for value in values])
    return [tuple(column[number] for column in columns) for number in range(len(places))]

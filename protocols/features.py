"""Feature columns of a payload of codes: which there may be, how a file names them, and what a token may have in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from foundation.feature_columns import FeatureColumn
from protocols.canonical import Json
from protocols.errors import BoundsError, SchemaError
from protocols.fields import Fields, check_range, check_text

MAX_COLUMNS = 16
MAX_CLASSES = 255
MAX_JSON_BYTES = 1024
"""Of the names and classes of the most columns that there may be."""
_NAME = re.compile(r"[a-z0-9_]{1,32}")


def stored_name(column: FeatureColumn) -> str:
    """Of its column or dataset in a file; no other column can have such a name."""
    return f"feature_{column.name}"


def check_columns(columns: Sequence[FeatureColumn], place: str) -> None:
    """Returns if a payload may have these feature columns.

    Raises:
        SchemaError: a name that can't be one, or one that comes twice.
        BoundsError: too many columns or classes.
    """
    check_range(len(columns), 0, MAX_COLUMNS, f"{place}, feature columns")
    for column in columns:
        check_text(column.name, _NAME, f"{place}, name of a feature column")
        check_range(column.classes, 1, MAX_CLASSES, f"{place}, classes of a feature column")
    if len({column.name for column in columns}) != len(columns):
        raise SchemaError("feature columns of different names", received="the same name twice", place=place)


def columns_to_json(columns: Sequence[FeatureColumn]) -> list[Json]:
    """Columns in their order, for canonical JSON."""
    return [{"classes": column.classes, "name": column.name} for column in columns]


def columns_from_json(value: Json, place: str, *, least: int = 0) -> tuple[FeatureColumn, ...]:
    """The columns that `columns_to_json` wrote.

    Args:
        value: parsed.
        place: for errors.
        least: how many there must be.

    Raises:
        SchemaError: something else.
        BoundsError: too many columns or classes.
    """
    if not isinstance(value, list):
        raise SchemaError("a list of feature columns", received="something else", advice="refuse the file", place=place)
    fields = [Fields(one, ("classes", "name"), place) for one in value]
    columns = tuple(FeatureColumn(one.text("name", _NAME), one.integer("classes")) for one in fields)
    check_columns(columns, place)
    check_range(len(columns), least, MAX_COLUMNS, f"{place}, feature columns")
    return columns


def check_classes(features: NDArray[Any], columns: Sequence[FeatureColumn], place: str) -> None:
    """Returns if every token has a class that there is.

    Args:
        features: uint8 `[tokens, columns]`.
        columns: what they are.
        place: for errors.

    Raises:
        SchemaError: another number of columns.
        BoundsError: a class beyond the last.
    """
    if features.shape[1] != len(columns):
        raise SchemaError(
            f"{len(columns)} feature columns",
            received=str(features.shape[1]),
            advice="encode the notes again with the release in use",
            place=place,
        )
    for number, column in enumerate(columns):
        largest = int(features[:, number].max())
        if largest >= column.classes:
            raise BoundsError(
                f"classes below {column.classes}",
                received=str(largest),
                advice="refuse it",
                place=f"{place}, {stored_name(column)}",
            )

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.canonical import Json, canonical_bytes
from protocols.errors import BoundsError, ProtocolError, SchemaError, VersionError
from protocols.share.manifest import ShareFields, ShareManifest
from tests.protocols.share.shares import FIELDS, fields

MANIFEST = ShareManifest(
    **vars(FIELDS),
    dim=6,
    dtype="float16",
    sentences=3,
    tokens=9,
    tag_counts=(5, 1, 1, 2, 0),
    payload_format="parquet",
    payload_bytes=1000,
    payload_sha256="cd" * 32,
)
NUMBERS = st.floats(1e-9, 1e6)


@given(
    site=st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True),
    sequence=st.integers(1, 2**31 - 1),
    created=st.dates(),
    value_bound=NUMBERS,
    protection=st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True), NUMBERS, max_size=5),
    counts=st.lists(st.integers(0, 10**9), min_size=1, max_size=256).filter(any),
)
def test_round_trip(counts: list[int], **stated: Any) -> None:
    manifest = dataclasses.replace(
        MANIFEST, **stated, tags=len(counts), tag_counts=tuple(counts), tokens=sum(counts), sentences=1
    )
    assert ShareManifest.from_bytes(manifest.to_bytes()) == manifest


def test_it_states_no_more_than_the_documented_fields() -> None:
    assert sorted(MANIFEST.to_json()) == [
        "created",
        "dim",
        "dtype",
        "format_version",
        "label_scheme",
        "payload_bytes",
        "payload_format",
        "payload_sha256",
        "protection",
        "recipient",
        "release",
        "sentences",
        "sequence",
        "site",
        "software",
        "tag_counts",
        "tags",
        "tokens",
        "value_bound",
    ]
    assert MANIFEST.to_json()["created"] == "2026-01-31"


@pytest.mark.parametrize("key", sorted(MANIFEST.to_json()))
def test_every_key_is_needed_and_typed(key: str) -> None:
    stated = MANIFEST.to_json()
    wrong: tuple[Json, ...] = (None, [], {"a": []}, True, "\n", -1, 2**60)
    for value in wrong:
        with pytest.raises(ProtocolError):
            ShareManifest.from_json({**stated, key: value})
    del stated[key]
    with pytest.raises(SchemaError):
        ShareManifest.from_json(stated)


def test_unknown_keys_are_refused() -> None:
    with pytest.raises(SchemaError, match="unknown"):
        ShareManifest.from_json({**MANIFEST.to_json(), "file_name": "note-1.xml"})


@pytest.mark.parametrize(
    "change",
    [
        {"site": "Hospital A"},
        {"site": "../x"},
        {"site": "-a"},
        {"site": "a" * 64},
        {"sequence": 0},
        {"sequence": 2**31},
        {"release": "AB" * 32},
        {"recipient": "ab" * 32},
        {"label_scheme": "a/b"},
        {"tags": 4},
        {"tags": 257},
        {"value_bound": 0.0},
        {"value_bound": float("nan")},
        {"value_bound": 1e9},
        {"software": "two\nlines"},
        {"protection": {"Mu": 1.0}},
        {"protection": {f"m{number}": 1.0 for number in range(65)}},
        {"dim": 0},
        {"dim": 4097},
        {"sentences": 0},
        {"sentences": 10},
        {"tokens": 8},
        {"tag_counts": (5, 1, 1, 2)},
        {"tag_counts": (6, 1, 1, 2, -1)},
        {"payload_format": "csv"},
        {"payload_bytes": 0},
        {"payload_sha256": ""},
        {"dtype": "float32"},
        {"created": datetime.datetime(2026, 1, 31, 12)},
    ],
)
def test_values_out_of_bounds_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises((BoundsError, SchemaError)):
        dataclasses.replace(MANIFEST, **change)


@pytest.mark.parametrize(
    "change",
    [
        {"created": "20260131"},
        {"created": "2026-01-31T12:00"},
        {"created": "2026-02-30"},
        {"created": "2026-W05-6"},
        {"value_bound": "8.0"},
        {"value_bound": "1e1"},
        {"protection": {"mu": "1.250"}},
        {"tag_counts": [5, 1, 1, 2, False]},
        {"tag_counts": [5, 1, 1, 2, "0"]},
    ],
)
def test_other_spellings_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        ShareManifest.from_bytes(canonical_bytes({**MANIFEST.to_json(), **change}))


def test_another_version_is_its_own_error_whatever_its_keys() -> None:
    with pytest.raises(VersionError):
        ShareManifest.from_json({"format_version": 1, "old": 1})


def test_protection_cannot_be_changed_behind_the_manifest() -> None:
    measures = {"mu": 1.0}
    stated = fields(protection=measures)
    measures["mu"] = 2.0
    assert stated.protection == {"mu": 1.0}
    with pytest.raises(TypeError):
        stated.protection["mu"] = 3.0  # type: ignore[index]
    assert isinstance(stated, ShareFields)

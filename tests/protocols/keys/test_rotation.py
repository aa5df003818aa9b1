from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from protocols.canonical import canonical_bytes, parse_json
from protocols.errors import BoundsError, ProtocolError, SchemaError, SignatureError, UnsignedError, VersionError
from protocols.keys.rotation import Acceptance, Rotation, parse_rotation, read_acceptance, read_rotation
from protocols.keys.signing import ENROLMENT_CONTEXT, ROTATION_CONTEXT, PrivateKey

OLD = PrivateKey.from_seed(bytes(range(32)))
NEW = PrivateKey.from_seed(bytes(range(1, 33)))
THIRD = PrivateKey.from_seed(bytes(range(2, 34)))
DAY, UNTIL = datetime.date(2026, 1, 31), datetime.date(2028, 1, 31)
ROTATION = Rotation("hospital-a", OLD.public_key, NEW.public_key, DAY, UNTIL, 30)
ACCEPTANCE = Acceptance("hospital-a", NEW.public_key, DAY, UNTIL, DAY)


def forged(old: PrivateKey = OLD, new: PrivateKey = NEW, context: str = ROTATION_CONTEXT, **changes: Any) -> bytes:
    """A rotation with other fields, signed by whom one likes."""
    stated = ROTATION.to_json() | changes
    return canonical_bytes(
        {
            "new_signature": new.sign(context, canonical_bytes(stated)).to_json(),
            "old_signature": old.sign(context, canonical_bytes(stated)).to_json(),
            "rotation": stated,
        }
    )


def test_a_rotation_round_trips(tmp_path: Path) -> None:
    data = ROTATION.to_bytes(OLD, NEW)
    assert parse_rotation(data) == ROTATION
    assert forged() == data
    (tmp_path / "a.json").write_bytes(data)
    assert read_rotation(tmp_path / "a.json") == ROTATION


@pytest.mark.parametrize("data", [ROTATION.to_bytes(OLD, NEW), ACCEPTANCE.to_bytes(THIRD)])
def test_every_flipped_byte_is_refused(data: bytes) -> None:
    for offset in range(len(data)):
        flipped = data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :]
        with pytest.raises(ProtocolError):
            parse_rotation(flipped)
        with pytest.raises(ProtocolError):
            read_acceptance(flipped, THIRD.public_key)


def test_the_old_key_alone_brings_no_key_that_it_does_not_hold() -> None:
    with pytest.raises(SignatureError):
        parse_rotation(forged(new=OLD))


def test_a_new_key_alone_replaces_no_other() -> None:
    with pytest.raises(SignatureError):
        parse_rotation(forged(old=NEW))


def test_a_signature_for_another_purpose_is_none() -> None:
    with pytest.raises(SignatureError):
        parse_rotation(forged(context=ENROLMENT_CONTEXT))


@pytest.mark.parametrize("missing", ["old_signature", "new_signature"])
def test_one_signature_is_not_enough(missing: str) -> None:
    envelope: Any = parse_json(ROTATION.to_bytes(OLD, NEW), max_bytes=1 << 20)
    del envelope[missing]
    with pytest.raises(UnsignedError):
        parse_rotation(canonical_bytes(envelope))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"site": "../etc"}, SchemaError),
        ({"format_version": 2}, VersionError),
        ({"more": 1}, SchemaError),
        ({"overlap_days": -1}, BoundsError),
        ({"overlap_days": 91}, BoundsError),
        ({"valid_until": "2026-01-31"}, BoundsError),
        ({"valid_until": "2126-01-31"}, BoundsError),
        ({"created": "2026-1-31"}, SchemaError),
    ],
)
def test_other_rotations_are_refused(change: dict[str, Any], error: type[ProtocolError]) -> None:
    with pytest.raises(error):
        parse_rotation(forged(**change))


def test_a_key_does_not_follow_itself() -> None:
    with pytest.raises(SchemaError):
        parse_rotation(forged(new=OLD, new_key=OLD.public_key.hex))


def test_an_acceptance_is_the_providers_alone() -> None:
    assert read_acceptance(ACCEPTANCE.to_bytes(THIRD), THIRD.public_key) == ACCEPTANCE
    for other in (OLD, NEW):
        with pytest.raises(SignatureError):
            read_acceptance(ACCEPTANCE.to_bytes(other), THIRD.public_key)


def test_a_rotation_is_no_acceptance() -> None:
    with pytest.raises(ProtocolError):
        read_acceptance(ROTATION.to_bytes(OLD, NEW), OLD.public_key)
    with pytest.raises(ProtocolError):
        parse_rotation(ACCEPTANCE.to_bytes(THIRD))


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b" " * 10_000, b'{"rotation":{}}'])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        parse_rotation(data)

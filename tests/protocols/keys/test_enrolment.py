from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from protocols.canonical import canonical_bytes, parse_json
from protocols.errors import BoundsError, ProtocolError, SchemaError, SignatureError, UnsignedError, VersionError
from protocols.keys.enrolment import read_request, write_request
from protocols.keys.signing import ENROLMENT_CONTEXT, SHARE_CONTEXT, PrivateKey
from tests.protocols.payload.blocks import rewrite

KEY = PrivateKey.from_seed(bytes(range(32)))
OTHER_KEY = PrivateKey.from_seed(bytes(range(1, 33)))
DAY = datetime.date(2026, 1, 31)
UNTIL = datetime.date(2028, 1, 31)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "request.json"
    write_request(path, KEY, site="hospital-a", contact="data office, extension 12", created=DAY, valid_until=UNTIL)
    return path


def test_a_request_round_trips_and_shows_both_fingerprints(path: Path) -> None:
    request = read_request(path)
    assert (request.site, request.public_key) == ("hospital-a", KEY.public_key)
    assert (request.created, request.valid_until) == (DAY, UNTIL)
    assert request.fingerprint == KEY.public_key.key_id
    assert request.spoken == KEY.public_key.spoken


def test_every_flipped_byte_is_refused(path: Path) -> None:
    data = path.read_bytes()
    for offset in range(len(data)):
        rewrite(path, data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :])
        with pytest.raises(ProtocolError):
            read_request(path)


def forged(path: Path, key: PrivateKey, context: str = ENROLMENT_CONTEXT, **changes: Any) -> None:
    envelope: Any = parse_json(path.read_bytes(), max_bytes=1 << 20)
    envelope["request"].update(changes)
    signature = key.sign(context, canonical_bytes(envelope["request"]))
    path.write_bytes(canonical_bytes({**envelope, "signature": signature.to_json()}))


def test_nobody_enrols_a_key_that_they_do_not_hold(path: Path) -> None:
    forged(path, OTHER_KEY)
    with pytest.raises(SignatureError):
        read_request(path)


def test_a_signature_for_a_share_is_no_request(path: Path) -> None:
    forged(path, KEY, SHARE_CONTEXT)
    with pytest.raises(SignatureError):
        read_request(path)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"site": "../etc"}, SchemaError),
        ({"contact": "two\nlines"}, SchemaError),
        ({"format_version": 1}, VersionError),
        ({"more": 1}, SchemaError),
        ({"created": "today"}, SchemaError),
        ({"valid_until": "2026-01-31"}, BoundsError),
        ({"valid_until": "2030-01-31"}, BoundsError),
    ],
)
def test_other_requests_are_refused(path: Path, change: dict[str, Any], error: type[ProtocolError]) -> None:
    forged(path, KEY, **change)
    with pytest.raises(error):
        read_request(path)


def test_unsigned_and_endless_requests_are_refused(path: Path) -> None:
    path.write_bytes(b'{"request":{}}')
    with pytest.raises(UnsignedError):
        read_request(path)
    path.write_bytes(b" " * 10_000)
    with pytest.raises(BoundsError):
        read_request(path)

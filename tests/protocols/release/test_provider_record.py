"""What sites are told of the provider."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import pytest

from protocols.canonical import canonical_bytes
from protocols.errors import BoundsError, ProtocolError, SchemaError, UnknownSignerError, VersionError
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey
from protocols.release.provider_record import MAX_RECORD_BYTES, ProviderRecord

RECORD = ProviderRecord(
    "north",
    PrivateKey.from_seed(bytes(range(32))).public_key,
    RecipientPrivateKey.from_seed(bytes(range(32))).public_key,
    "https://deid.example.org:8443/hub",
    datetime.date(2028, 1, 31),
)


@pytest.mark.parametrize("server", ["", "https://deid.example.org", RECORD.server])
def test_it_reads_what_it_wrote(server: str) -> None:
    record = dataclasses.replace(RECORD, server=server)
    assert ProviderRecord.from_bytes(record.to_bytes()) == record
    assert ProviderRecord.from_json(record.to_json()) == record


@pytest.mark.parametrize(
    "change",
    [
        {"name": "a b"},
        {"signing_key": "00"},
        {"signing_key": RECORD.signing_key.hex.upper()},
        {"recipient": RECORD.recipient.hex[:-2]},
        {"recipient_id": RECORD.signing_key.key_id},
        {"server": "http://deid.example.org"},
        {"server": "https://DEID.example.org"},
        {"server": "https://user:word@deid.example.org"},
        {"server": "https://deid.example.org/?x"},
        {"valid_until": "2028-1-31"},
        {"more": 1},
        {"format_version": "1"},
    ],
)
def test_anything_else_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        ProviderRecord.from_bytes(canonical_bytes({**RECORD.to_json(), **change}))


def test_another_version_is_its_own_error() -> None:
    with pytest.raises(VersionError):
        ProviderRecord.from_bytes(canonical_bytes({**RECORD.to_json(), "format_version": 3}))


def test_every_flipped_byte_is_another_record_or_refused() -> None:
    data = RECORD.to_bytes()
    for offset in range(0, len(data), 7):
        changed = data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :]
        try:
            assert ProviderRecord.from_bytes(changed) != RECORD
        except ProtocolError:
            continue


def test_a_long_file_is_refused() -> None:
    with pytest.raises(BoundsError):
        ProviderRecord.from_bytes(b" " * (MAX_RECORD_BYTES + 1))


EARLIER = PrivateKey.from_seed(bytes(range(2, 34))).public_key
LAST = datetime.date(2026, 3, 1)
ROTATING = dataclasses.replace(RECORD, earlier_signing=((EARLIER, LAST),))


def test_a_record_without_earlier_keys_is_the_one_of_version_1() -> None:
    assert RECORD.to_json()["format_version"] == 1
    assert "earlier_signing" not in RECORD.to_json()


def test_an_earlier_key_counts_until_its_last_day() -> None:
    read = ProviderRecord.from_bytes(ROTATING.to_bytes())
    assert read == ROTATING
    assert read.signer(EARLIER.key_id, LAST) == EARLIER
    assert read.signer(RECORD.signing_key.key_id, LAST) == RECORD.signing_key
    with pytest.raises(UnknownSignerError, match="site-client pull"):
        read.signer(EARLIER.key_id, LAST + datetime.timedelta(days=1))
    with pytest.raises(UnknownSignerError):
        RECORD.signer(EARLIER.key_id, LAST)


def test_no_key_counts_once_the_record_has_run_out() -> None:
    last, later = RECORD.valid_until, RECORD.valid_until + datetime.timedelta(days=1)
    record = dataclasses.replace(RECORD, earlier_signing=((EARLIER, later),))
    assert record.signing_keys(last) == (RECORD.signing_key, EARLIER)
    assert record.signing_keys(later) == ()
    for key in (RECORD.signing_key, EARLIER):
        with pytest.raises(UnknownSignerError, match="site-client pull"):
            record.signer(key.key_id, later)


@pytest.mark.parametrize(
    "earlier",
    [
        None,
        [],
        [{"key": EARLIER.hex}],
        [{"key": EARLIER.hex, "valid_until": "2026-03-01", "more": 1}],
        [{"key": EARLIER.hex.upper(), "valid_until": "2026-03-01"}],
        [{"key": EARLIER.hex, "valid_until": "2026-03-01"}] * 17,
    ],
)
def test_earlier_keys_in_another_shape_are_refused(earlier: Any) -> None:
    with pytest.raises(SchemaError):
        ProviderRecord.from_bytes(canonical_bytes({**ROTATING.to_json(), "earlier_signing": earlier}))


def test_earlier_keys_belong_to_version_2() -> None:
    with pytest.raises(SchemaError):
        ProviderRecord.from_bytes(canonical_bytes({**ROTATING.to_json(), "format_version": 1}))
    with pytest.raises(SchemaError):
        ProviderRecord.from_bytes(canonical_bytes({**RECORD.to_json(), "format_version": 2}))

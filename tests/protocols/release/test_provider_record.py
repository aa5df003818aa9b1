"""What sites are told of the provider."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import pytest

from protocols.canonical import canonical_bytes
from protocols.errors import BoundsError, ProtocolError, SchemaError, VersionError
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
        ProviderRecord.from_bytes(canonical_bytes({**RECORD.to_json(), "format_version": 2}))


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

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.canonical import canonical_bytes, parse_canonical
from protocols.errors import BoundsError, ProtocolError, SchemaError, SignatureError, UnsignedError, VersionError
from protocols.keys.signing import RECEIPT_CONTEXT, WITHDRAWAL_CONTEXT
from protocols.log.checkpoint import LogHead
from protocols.share.receipt import Receipt, ReceiptState, read_receipt
from tests.protocols.share.shares import KEY, PROVIDER

STATED: dict[str, Any] = {
    "site": "hospital-a",
    "sequence": 1,
    "bundle_sha256": "ab" * 32,
    "manifest_sha256": "cd" * 32,
    "state": ReceiptState.ACCEPTED,
    "reason_code": "",
    "day": datetime.date(2026, 1, 31),
    "log_head": "ef" * 32,
}
RECEIPT = Receipt(**STATED)
DATA = RECEIPT.to_bytes(PROVIDER)
DIGESTS = st.binary(min_size=32, max_size=32).map(bytes.hex)


@settings(deadline=None, max_examples=25)
@given(
    site=st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True),
    sequence=st.integers(1, 2**31 - 1),
    bundle_sha256=DIGESTS,
    manifest_sha256=DIGESTS,
    state=st.sampled_from(ReceiptState),
    reason_code=st.sampled_from(["", "a", "wrong-digest", "z" * 64]),
    day=st.dates(),
    log_head=DIGESTS,
)
def test_round_trip(**stated: Any) -> None:
    receipt = Receipt(**stated)
    assert read_receipt(receipt.to_bytes(PROVIDER), PROVIDER.public_key) == receipt


def test_the_same_decision_gives_the_same_bytes() -> None:
    assert Receipt(**STATED).to_bytes(PROVIDER) == DATA


def test_every_changed_byte_is_refused() -> None:
    for offset in range(len(DATA)):
        changed = DATA[:offset] + bytes([DATA[offset] ^ 1 << offset % 8]) + DATA[offset + 1 :]
        with pytest.raises(ProtocolError):
            read_receipt(changed, PROVIDER.public_key)


def test_a_receipt_that_another_signed_is_refused() -> None:
    with pytest.raises(SignatureError):
        read_receipt(RECEIPT.to_bytes(KEY), PROVIDER.public_key)


LOGGED: dict[str, Any] = {"newest_release": "12" * 32, "release_log": {"root": "34" * 32, "size": 2}}


def test_the_log_of_releases_is_stated_in_version_2() -> None:
    receipt = Receipt(**STATED, newest_release="12" * 32, release_log=LogHead(2, "34" * 32))
    data = receipt.to_bytes(PROVIDER)
    assert data == signed({**envelope()["receipt"], **LOGGED, "format_version": 2})
    assert read_receipt(data, PROVIDER.public_key) == receipt
    # Without it, a receipt is what version 0.1 made and reads.
    assert envelope()["receipt"]["format_version"] == 1
    assert not LOGGED.keys() & envelope()["receipt"].keys()


def signed(stated: dict[str, Any], context: str = RECEIPT_CONTEXT) -> bytes:
    signature = PROVIDER.sign(context, canonical_bytes(stated))
    return canonical_bytes({"receipt": stated, "signature": signature.to_json()})


def envelope() -> dict[str, Any]:
    value = parse_canonical(DATA, max_bytes=1 << 14)
    assert isinstance(value, dict)
    return value


def test_a_signature_for_another_purpose_is_worth_nothing() -> None:
    assert signed(envelope()["receipt"]) == DATA
    with pytest.raises(SignatureError):
        read_receipt(signed(envelope()["receipt"], WITHDRAWAL_CONTEXT), PROVIDER.public_key)


def test_unsigned_other_versions_and_other_shapes_are_refused() -> None:
    stated = envelope()["receipt"]
    for data, error in (
        (canonical_bytes({"receipt": stated}), UnsignedError),
        (canonical_bytes({**envelope(), "more": 1}), SchemaError),
        (signed({**stated, "format_version": 3}), VersionError),
        (signed({**stated, "format_version": 2}), SchemaError),
        (signed({**stated, **LOGGED}), SchemaError),
        (signed({**stated, **LOGGED, "format_version": 2, "newest_release": ""}), SchemaError),
        (signed({**stated, **LOGGED, "format_version": 2, "release_log": {"size": 2}}), SchemaError),
        (signed({**stated, **LOGGED, "format_version": 2, "release_log": None}), SchemaError),
        (signed({**stated, "note": "x"}), SchemaError),
        (signed({name: value for name, value in stated.items() if name != "day"}), SchemaError),
        (signed({**stated, "day": "2026-1-31"}), SchemaError),
        (b"[]", SchemaError),
        (b"", SchemaError),
        (DATA + b"\n", SchemaError),
        (b" " * 10_000, BoundsError),
    ):
        with pytest.raises(error):
            read_receipt(data, PROVIDER.public_key)


@pytest.mark.parametrize(
    "change",
    [
        {"site": "Hospital A"},
        {"sequence": 0},
        {"bundle_sha256": "AB" * 32},
        {"manifest_sha256": ""},
        {"state": "received"},
        {"reason_code": "Two words"},
        {"log_head": ""},
        {"newest_release": "12" * 32},
        {"release_log": LogHead(2, "34" * 32)},
    ],
)
def test_values_out_of_bounds_are_refused_on_both_sides(change: dict[str, Any]) -> None:
    with pytest.raises((BoundsError, SchemaError)):
        Receipt(**{**STATED, **change})
    with pytest.raises((BoundsError, SchemaError)):
        read_receipt(signed({**envelope()["receipt"], **change}), PROVIDER.public_key)


def test_a_share_that_could_not_be_read_is_rejected_without_a_manifest() -> None:
    receipt = Receipt(**{**STATED, "state": ReceiptState.REJECTED, "reason_code": "encryption", "manifest_sha256": ""})
    assert read_receipt(receipt.to_bytes(PROVIDER), PROVIDER.public_key) == receipt

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.canonical import canonical_bytes, parse_canonical
from protocols.errors import BoundsError, ProtocolError, SchemaError, SignatureError, UnsignedError, VersionError
from protocols.keys.signing import RECEIPT_CONTEXT, WITHDRAWAL_CONTEXT
from protocols.share.withdrawal import Withdrawal, read_withdrawal, withdrawal_sender
from tests.protocols.share.shares import KEY, OTHER_KEY

STATED: dict[str, Any] = {
    "site": "hospital-a",
    "sequence": 1,
    "manifest_sha256": "cd" * 32,
    "created": datetime.date(2026, 1, 31),
    "reason": "consent was withdrawn",
}
DATA = Withdrawal(**STATED).to_bytes(KEY)


@settings(deadline=None, max_examples=25)
@given(
    site=st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True),
    sequence=st.integers(1, 2**31 - 1),
    manifest_sha256=st.binary(min_size=32, max_size=32).map(bytes.hex),
    created=st.dates(),
    reason=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=200),
)
def test_round_trip(**stated: Any) -> None:
    withdrawal = Withdrawal(**stated)
    data = withdrawal.to_bytes(KEY)
    assert read_withdrawal(data, KEY.public_key) == withdrawal
    assert withdrawal_sender(data) == (withdrawal.site, KEY.public_key.key_id)


def test_every_changed_byte_is_refused() -> None:
    for offset in range(len(DATA)):
        changed = DATA[:offset] + bytes([DATA[offset] ^ 1 << offset % 8]) + DATA[offset + 1 :]
        with pytest.raises(ProtocolError):
            read_withdrawal(changed, KEY.public_key)


def test_nobody_else_can_take_a_share_back() -> None:
    with pytest.raises(SignatureError):
        read_withdrawal(Withdrawal(**STATED).to_bytes(OTHER_KEY), KEY.public_key)


def test_who_a_withdrawal_claims_to_be_from_is_read_without_trust() -> None:
    forged = Withdrawal(**STATED).to_bytes(OTHER_KEY)
    assert withdrawal_sender(forged) == ("hospital-a", OTHER_KEY.public_key.key_id)
    for data, error in (
        (b"{}", SchemaError),
        (b"[]", SchemaError),
        (canonical_bytes({"withdrawal": {}}), SchemaError),
        (canonical_bytes({"withdrawal": {"site": "hospital-a"}}), UnsignedError),
    ):
        with pytest.raises(error):
            withdrawal_sender(data)


def signed(stated: dict[str, Any], context: str = WITHDRAWAL_CONTEXT) -> bytes:
    signature = KEY.sign(context, canonical_bytes(stated))
    return canonical_bytes({"withdrawal": stated, "signature": signature.to_json()})


def test_unsigned_other_versions_purposes_and_shapes_are_refused() -> None:
    envelope = parse_canonical(DATA, max_bytes=1 << 14)
    assert isinstance(envelope, dict)
    stated: Any = envelope["withdrawal"]
    assert signed(stated) == DATA
    for data, error in (
        (canonical_bytes({"withdrawal": stated}), UnsignedError),
        (canonical_bytes({**envelope, "more": 1}), SchemaError),
        (signed(stated, RECEIPT_CONTEXT), SignatureError),
        (signed({**stated, "format_version": 2}), VersionError),
        (signed({**stated, "note": "x"}), SchemaError),
        (signed({**stated, "reason": "two\nlines"}), SchemaError),
        (signed({**stated, "sequence": 0}), BoundsError),
    ):
        with pytest.raises(error):
            read_withdrawal(data, KEY.public_key)


@pytest.mark.parametrize(
    "change", [{"site": "A"}, {"sequence": 0}, {"manifest_sha256": ""}, {"reason": "two\nlines"}, {"reason": "x" * 201}]
)
def test_values_out_of_bounds_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises((BoundsError, SchemaError)):
        Withdrawal(**{**STATED, **change})

"""What a note by an unknown key claims."""

from __future__ import annotations

import pytest

from protocols.errors import SchemaError, UnsignedError
from protocols.keys.signing import PrivateKey
from protocols.log.note import MAX_NOTE_BYTES, claimed_part, sign_note, text_of

KEY, OTHER = (PrivateKey.from_seed(bytes([number]) * 32) for number in (1, 2))
NOTE = sign_note("a\nb\n", "name", KEY)


def test_it_is_the_text_and_one_signature_of_the_length_of_ed25519() -> None:
    witness = "— witness AAAA\n— name AAAA\n".encode()
    second = sign_note("a\nb\n", "name", OTHER).rpartition(b"\n\n")[2]
    text, _, first = NOTE.rpartition(b"\n\n")
    assert claimed_part(text + b"\n\n" + witness + first + second, "name") == NOTE
    assert text_of(NOTE) == "a\nb\n"


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (sign_note("a\n", "other", KEY), UnsignedError),
        ("a\n\n— name AAAA\n".encode(), UnsignedError),
        (b"a\n", SchemaError),
        (b"", SchemaError),
    ],
)
def test_what_claims_nothing_is_refused(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        claimed_part(data, "name")
    assert len(data) < MAX_NOTE_BYTES

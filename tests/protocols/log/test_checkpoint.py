"""Signed notes and checkpoints: the specification's own examples, and everything that is not one."""

from __future__ import annotations

import base64
import hashlib

import pytest

from protocols.canonical import Json, canonical_bytes
from protocols.errors import BoundsError, ProtocolError, SchemaError, SignatureError, UnknownSignerError, UnsignedError
from protocols.keys.fingerprint import digits, pronounce_fingerprint
from protocols.keys.signing import RECEIPT_CONTEXT, PrivateKey, PublicKey, Signature
from protocols.log.checkpoint import Checkpoint, LogHead, log_origin, parse_checkpoint, read_checkpoint, release_code
from protocols.log.entry import ReleaseEntry
from protocols.log.note import MAX_NOTE_BYTES, open_note, own_part, sign_note, verifier_key

KEY, OTHER = (PrivateKey.from_seed(bytes([number]) * 32) for number in (1, 2))
ORIGIN = log_origin("0001-0203-0405-0607-0809-0a0b-0c0d-0e0f")
CHECKPOINT = Checkpoint(ORIGIN, LogHead(5, "ab" * 32))
NOTE = CHECKPOINT.sign(KEY)
KEYS = (KEY.public_key,)

# The example of the specification of signed notes.
VKEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
EXAMPLE = (
    "This is an example message.\n\n"
    "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
).encode()


def test_the_example_of_the_specification_verifies() -> None:
    name, _, stated = VKEY.split("+")
    key = PublicKey(base64.b64decode(stated)[1:])
    assert verifier_key(name, key) == VKEY
    assert open_note(EXAMPLE, name, [key]) == "This is an example message.\n"
    with pytest.raises(SignatureError):
        open_note(EXAMPLE.replace(b"This", b"That"), name, [key])


def test_a_checkpoint_has_the_three_lines_of_the_specification() -> None:
    text, _, signature = NOTE.decode().partition("\n\n")
    assert text.split("\n") == [ORIGIN, "5", base64.b64encode(bytes.fromhex("ab" * 32)).decode()]
    assert signature.startswith(f"— {ORIGIN} ")
    value = base64.b64decode(signature.split(" ")[2])
    hashed = hashlib.sha256(ORIGIN.encode() + b"\n\x01" + KEY.public_key.raw).digest()
    assert value[:4] == hashed[:4]
    KEY.public_key.verify_bytes(f"{text}\n".encode(), value[4:])
    assert read_checkpoint(NOTE, ORIGIN, KEYS) == CHECKPOINT


def test_an_earlier_key_counts_and_a_witness_is_passed_over() -> None:
    assert read_checkpoint(NOTE, ORIGIN, [OTHER.public_key, KEY.public_key]) == CHECKPOINT
    witness = sign_note(NOTE.decode().partition("\n\n")[0] + "\n", "witness.example/w1", OTHER).rpartition(b"\n\n")[2]
    assert read_checkpoint(NOTE + witness, ORIGIN, KEYS) == CHECKPOINT
    both = sign_note(NOTE.decode().partition("\n\n")[0] + "\n", ORIGIN, OTHER)
    assert read_checkpoint(both + NOTE.rpartition(b"\n\n")[2], ORIGIN, KEYS) == CHECKPOINT


def test_another_origin_and_another_key_are_refused() -> None:
    other = log_origin("f" * 4 + "-0203-0405-0607-0809-0a0b-0c0d-0e0f")
    with pytest.raises(SchemaError, match="another log"):
        read_checkpoint(Checkpoint(other, CHECKPOINT.head).sign(KEY), ORIGIN, KEYS)
    with pytest.raises(UnknownSignerError):
        read_checkpoint(CHECKPOINT.sign(OTHER), ORIGIN, KEYS)
    # Of this log, but signed under the name of another.
    text = NOTE.decode().partition("\n\n")[0] + "\n"
    with pytest.raises(UnknownSignerError):
        read_checkpoint(sign_note(text, other, KEY), ORIGIN, KEYS)


def test_every_changed_byte_is_refused() -> None:
    for offset in range(len(NOTE)):
        changed = NOTE[:offset] + bytes([NOTE[offset] ^ 1]) + NOTE[offset + 1 :]
        with pytest.raises(ProtocolError):
            read_checkpoint(changed, ORIGIN, KEYS)


def test_a_known_key_that_did_not_sign_this_spoils_the_note() -> None:
    line = Checkpoint(ORIGIN, LogHead(6, "ab" * 32)).sign(KEY).rpartition(b"\n\n")[2]
    with pytest.raises(SignatureError):
        read_checkpoint(NOTE + line, ORIGIN, KEYS)


@pytest.mark.parametrize(
    "body",
    [
        f"{ORIGIN}\n",
        f"{ORIGIN}\n5\n",
        f"{ORIGIN}\n05\n{'A' * 43}=\n",
        f"{ORIGIN}\n-5\n{'A' * 43}=\n",
        f"{ORIGIN}\n5\n{'A' * 42}==\n",
        f"{ORIGIN}\n5\n{'A' * 42}B=\n",
        f"{ORIGIN}\n5\n{'A' * 43}=\n\nmore\n",
        f"{ORIGIN}\n{'9' * 17}\n{'A' * 43}=\n",
    ],
)
def test_what_is_no_checkpoint_is_refused_though_it_is_signed(body: str) -> None:
    with pytest.raises(SchemaError):
        read_checkpoint(sign_note(body, ORIGIN, KEY), ORIGIN, KEYS)


def test_lines_of_an_extension_are_passed_over() -> None:
    body = NOTE.decode().partition("\n\n")[0] + "\nmore\n"
    assert read_checkpoint(sign_note(body, ORIGIN, KEY), ORIGIN, KEYS) == CHECKPOINT == parse_checkpoint(body)


def test_a_text_that_no_entry_of_a_ledger_would_hold_is_refused() -> None:
    body = NOTE.decode().partition("\n\n")[0] + "\n"
    longest = body + "m" * (4095 - len(body)) + "\n"
    assert read_checkpoint(sign_note(longest, ORIGIN, KEY), ORIGIN, KEYS) == CHECKPOINT
    with pytest.raises(BoundsError):
        read_checkpoint(sign_note("m".join((longest[:-1], "\n")), ORIGIN, KEY), ORIGIN, KEYS)


def test_of_a_note_the_text_and_one_signature_of_its_own_are_kept() -> None:
    line = NOTE.rpartition(b"\n\n")[2]
    others = "— other AAAAAAAA\n".encode()
    text = NOTE[: -len(line)]
    assert own_part(text + others + line + line + others, ORIGIN, KEYS) == NOTE
    with pytest.raises(UnknownSignerError):
        own_part(text + others, ORIGIN, KEYS)
    with pytest.raises(SignatureError):
        own_part(NOTE.replace(b"\n5\n", b"\n6\n"), ORIGIN, KEYS)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", SchemaError),
        (b"\xff\n\n\xe2\x80\x94 a AAAAAA==\n", SchemaError),
        (NOTE[:-1], SchemaError),
        (NOTE.partition(b"\n\n")[0] + b"\n", SchemaError),
        (NOTE.partition(b"\n\n")[0] + b"\n\n", UnsignedError),
        (NOTE.replace(b" ", b"  "), SchemaError),
        (NOTE.replace(b"\n\n", b"\r\n\r\n"), SchemaError),
        (NOTE + b"\n", UnsignedError),
        (NOTE + b"x" * MAX_NOTE_BYTES, BoundsError),
    ],
)
def test_what_is_no_signed_note_is_refused(data: bytes, error: type[ProtocolError]) -> None:
    with pytest.raises(error):
        open_note(data, ORIGIN, KEYS)


@pytest.mark.parametrize(
    ("text", "name"), [("no end", "a"), ("a\x00\n", "a"), ("a\n", ""), ("a\n", "a b"), ("a\n", "a+b")]
)
def test_what_no_note_may_have_is_not_signed(text: str, name: str) -> None:
    with pytest.raises(SchemaError):
        sign_note(text, name, KEY)


def test_a_checkpoint_is_no_message_of_ours_and_none_of_ours_a_checkpoint() -> None:
    """The same key signs receipts: neither signature can serve as the other."""
    text, _, line = NOTE.decode().partition("\n\n")
    value = base64.b64decode(line.split(" ")[2])[4:]
    with pytest.raises(SignatureError):
        KEY.public_key.verify(
            RECEIPT_CONTEXT, f"{text}\n".encode(), Signature(RECEIPT_CONTEXT, KEY.public_key.key_id, value)
        )
    for message in (b"{}", f"{text}\n".encode()):
        signed = KEY.sign(RECEIPT_CONTEXT, message).value
        with pytest.raises(SignatureError):
            KEY.public_key.verify_bytes(message, signed)
        assert b"\x00" not in NOTE


def test_the_code_depends_on_release_size_and_root() -> None:
    head = CHECKPOINT.head
    codes = {
        release_code("cd" * 32, head),
        release_code("cd" * 32, None),
        release_code("ce" + "cd" * 31, head),
        release_code("cd" * 32, LogHead(6, head.root)),
        release_code("cd" * 32, LogHead(5, "ac" + "ab" * 31)),
    }
    assert len(codes) == 5
    stated = bytes.fromhex("cd" * 32) + (5).to_bytes(8, "big") + bytes.fromhex("ab" * 32)
    digest = hashlib.sha256(b"deid-commons release code v1\x00" + stated).digest()
    assert release_code("cd" * 32, head) == pronounce_fingerprint(digits(digest))


def test_an_entry_is_read_back_and_nothing_else_is() -> None:
    entry = ReleaseEntry(7, "pipeline", "ab" * 32)
    data = entry.to_bytes()
    assert data == b'{"digest":"' + b"ab" * 32 + b'","format_version":1,"kind":"pipeline","sequence":7}'
    assert ReleaseEntry.from_bytes(data) == entry
    stated: dict[str, Json] = {"digest": "ab" * 32, "format_version": 1, "kind": "pipeline", "sequence": 7}
    changes: list[dict[str, Json]] = [
        {"format_version": 2},
        {"kind": "x"},
        {"sequence": 0},
        {"digest": "AB" * 32},
        {"x": 1},
    ]
    for change in changes:
        with pytest.raises(ProtocolError):
            ReleaseEntry.from_bytes(canonical_bytes({**stated, **change}))

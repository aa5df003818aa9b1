from __future__ import annotations

import copy
import pickle
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import StorageError
from protocols.errors import SchemaError, SignatureError, UnsignedError
from protocols.keys.fingerprint import parse_fingerprint
from protocols.keys.signing import PrivateKey, PublicKey, Signature

KEY = PrivateKey.from_seed(bytes(range(32)))


@given(st.binary(max_size=200))
def test_a_signature_verifies_and_travels_as_json(message: bytes) -> None:
    signature = KEY.sign("purpose v1", message)
    KEY.public_key.verify("purpose v1", message, Signature.from_json(signature.to_json(), "test"))


def test_rfc_8032_vector() -> None:
    # RFC 8032, section 7.1, test 1: the public key of a secret key.
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    expected = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert PrivateKey.from_seed(seed).public_key.hex == expected


def test_a_signature_for_one_purpose_is_worth_nothing_for_another() -> None:
    signature = KEY.sign("share v1", b"message")
    with pytest.raises(SignatureError):
        KEY.public_key.verify("release v1", b"message", signature)
    relabelled = Signature("release v1", signature.key_id, signature.value)
    with pytest.raises(SignatureError):
        KEY.public_key.verify("release v1", b"message", relabelled)


def test_context_and_message_cannot_be_shifted_into_each_other() -> None:
    signature = KEY.sign("a", b"b")
    with pytest.raises(SignatureError):
        KEY.public_key.verify("ab", b"", Signature("ab", signature.key_id, signature.value))
    with pytest.raises(SignatureError):
        KEY.sign("a\x00b", b"")


def test_another_key_is_refused() -> None:
    signature = KEY.sign("share v1", b"message")
    other = PrivateKey.generate().public_key
    for forged in (signature, Signature(signature.context, other.key_id, signature.value)):
        with pytest.raises(SignatureError):
            other.verify("share v1", b"message", forged)


def test_every_flipped_bit_of_a_signature_is_refused() -> None:
    signature = KEY.sign("share v1", b"message")
    for bit in range(512):
        value = bytearray(signature.value)
        value[bit // 8] ^= 1 << bit % 8
        with pytest.raises(SignatureError):
            KEY.public_key.verify("share v1", b"message", Signature("share v1", signature.key_id, bytes(value)))


@pytest.mark.parametrize(
    "change",
    [{"value": "AB" * 64}, {"value": "ab" * 63}, {"algorithm": "rsa"}, {"key": "x"}, {"context": 1}, {"more": 1}],
)
def test_other_shapes_of_a_signature_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(SchemaError):
        Signature.from_json({**KEY.sign("a", b"b").to_json(), **change}, "test")  # type: ignore[dict-item]


def test_no_signature_is_its_own_error() -> None:
    with pytest.raises(UnsignedError):
        Signature.from_json(None, "test")


def test_a_saved_key_loads_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "site.key"
    KEY.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert PrivateKey.load(path).public_key == KEY.public_key
    assert [entry.name for entry in tmp_path.iterdir()] == ["site.key"]


def test_a_key_is_never_written_over_another(tmp_path: Path) -> None:
    path = tmp_path / "site.key"
    KEY.save(path)
    with pytest.raises(StorageError):
        PrivateKey.generate().save(path)
    assert PrivateKey.load(path).public_key == KEY.public_key


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "site.key"
    KEY.save(path)
    path.chmod(0o640)
    with pytest.raises(StorageError, match="chmod 600"):
        PrivateKey.load(path)


def test_other_files_are_no_keys(tmp_path: Path) -> None:
    pem = X25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for number, data in enumerate([b"", b"nonsense", pem]):
        path = tmp_path / str(number)
        path.touch(0o600)
        path.write_bytes(data)
        with pytest.raises(SchemaError):
            PrivateKey.load(path)
    with pytest.raises(StorageError):
        PrivateKey.load(tmp_path / "absent")


def test_a_private_key_is_not_printed_and_not_pickled() -> None:
    secret = bytes(range(32)).hex()
    assert secret not in repr(KEY)
    assert secret not in str(vars(KEY))
    for copying in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError):
            copying(KEY)


def test_generated_keys_differ() -> None:
    assert len({PrivateKey.generate().public_key.hex for _ in range(8)}) == 8


def test_fingerprints_are_readable_and_tell_keys_apart() -> None:
    key_id, spoken = KEY.public_key.key_id, KEY.public_key.spoken
    assert len(key_id.split("-")) == 8
    assert [len(group) for group in spoken.split("-")] == [5] * 8
    other = PrivateKey.generate().public_key
    assert other.key_id != key_id
    assert other.spoken != spoken


@given(st.binary(min_size=32, max_size=32))
def test_the_spoken_fingerprint_holds_all_bits_of_the_other(raw: bytes) -> None:
    key = PublicKey(raw)
    consonants, vowels = "bdfghjklmnprstvz", "aiou"
    groups = []
    for group in key.spoken.split("-"):
        number = 0
        for letter in group:
            alphabet = vowels if letter in vowels else consonants
            number = number * len(alphabet) + alphabet.index(letter)
        groups.append(f"{number:04x}")
    assert "-".join(groups) == key.key_id


@given(st.binary(min_size=32, max_size=32), st.sampled_from(["-", " ", "", " - ", "\u2011", "\n"]), st.booleans())
def test_a_fingerprint_is_the_same_however_it_is_typed(raw: bytes, between: str, capitals: bool) -> None:
    key = PublicKey(raw)
    for text in (key.key_id, key.spoken):
        typed = f" {text.replace('-', between)} "
        assert parse_fingerprint(typed.upper() if capitals else typed) == key.key_id


@pytest.mark.parametrize(
    ("typed", "received"),
    [
        ("", "0 digits"),
        ("abc", "3 letters"),
        ("0" * 31, "31 digits"),
        ("0" * 33, "33 digits"),
        ("0" * 31 + "g", "32 characters, some of which are in none"),
        ("0" * 31 + "\u0660", "32 characters, some of which are in none"),
        ("babad-" * 7 + "babae", "a group 8 that nobody would say"),
        ("babad-" * 7 + "baba", "39 letters"),
        ("babad-" * 7 + "baba0", "40 digits"),
        ("babad-" * 7 + "bazz0", "40 characters, some of which are in none"),
    ],
)
def test_a_mistyped_fingerprint_is_told_from_another_one(typed: str, received: str) -> None:
    with pytest.raises(SchemaError, match=f"received {received}; it is mistyped"):
        parse_fingerprint(typed)


@pytest.mark.parametrize("text", ["", "AB" * 32, "ab" * 31, "ab" * 33, "zz" * 32, "ab" * 32 + "\n"])
def test_public_keys_have_one_spelling(text: str) -> None:
    with pytest.raises(SchemaError):
        PublicKey.from_hex(text)

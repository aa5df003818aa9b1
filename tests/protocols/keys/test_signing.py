from __future__ import annotations

import copy
import pickle
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
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
def test_the_spoken_fingerprint_holds_all_bits_of_the_other(seed: bytes) -> None:
    key = PrivateKey.from_seed(seed).public_key
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
def test_a_fingerprint_is_the_same_however_it_is_typed(seed: bytes, between: str, capitals: bool) -> None:
    key = PrivateKey.from_seed(seed).public_key
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


# The curve of RFC 8032, section 5.1, in affine coordinates: an oracle that shares nothing with the code.
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int]


def add(one: Point, other: Point) -> Point:
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2
    # One over each denominator, by one inversion: they are most of the work, and every run that collects this file does it.
    inverse = pow(1 - product * product, -1, P)
    x, y = (x1 * y2 + x2 * y1) * (1 - product) * inverse, (y1 * y2 + x1 * x2) * (1 + product) * inverse
    return x % P, y % P


def times(number: int, point: Point) -> Point:
    found = (0, 1)
    for bit in f"{number:b}":
        found = add(found, found)
        found = add(found, point) if bit == "1" else found
    return found


def points() -> Iterator[Point]:
    """Points of the curve, two of each height that has any."""
    for y in range(2, 1000):
        square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
        for twist in (1, pow(2, (P - 1) // 4, P)):
            x = pow(square, (P + 3) // 8, P) * twist % P
            if x * x % P == square:
                yield from ((x, y), (P - x, y))
                break


@cache
def small_points() -> set[Point]:
    """All eight: what the large prime order leaves of points."""
    found: set[Point] = set()
    for point in points():
        found.add(times(ORDER, point))
        if len(found) == 8:
            return found
    raise AssertionError(len(found))


def encodings(point: Point) -> set[bytes]:
    """Every 32 bytes that a lenient reader takes for a point: heights of P and above, and a sign of 0."""
    x, y = point
    heights = [height for height in (y, y + P) if height < 2**255]
    return {
        (height | sign << 255).to_bytes(32, "little") for height in heights for sign in ({0, 1} if x == 0 else {x & 1})
    }


WEAK = sorted(set().union(*map(encodings, small_points())))


def test_the_oracle_has_every_weak_key_and_no_other() -> None:
    assert all(times(8, point) == (0, 1) for point in small_points())
    assert len(WEAK) == 14
    assert KEY.public_key.raw not in WEAK


def test_a_key_of_small_order_signs_all_that_anybody_likes() -> None:
    # Why it is refused: nobody has signed this.
    forged = (1).to_bytes(32, "little") + bytes(32)
    for message in (b"", b"a share", b"a withdrawal"):
        Ed25519PublicKey.from_public_bytes((1).to_bytes(32, "little")).verify(forged, message)


@pytest.mark.parametrize("raw", WEAK, ids=bytes.hex)
def test_attack_a_key_of_small_order_is_no_key(raw: bytes) -> None:
    with pytest.raises(SchemaError, match="received one of small order; ask for the key again"):
        PublicKey(raw)


def test_neighbours_of_weak_keys_and_keys_of_mixed_order_are_keys() -> None:
    # Only who has the secret signs for a key that is more than small; RFC 8032 takes it.
    mixed = add(times(8, next(points())), max(small_points()))
    for raw in ((2).to_bytes(32, "little"), *encodings(mixed)):
        assert PublicKey(raw).raw == raw

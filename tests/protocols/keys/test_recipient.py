"""The encryption key pair: the published X-Wing, kept in a file, wrapping keys for one purpose each."""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from foundation.errors import StorageError
from protocols.errors import EncryptionError, ProtocolError, SchemaError
from protocols.keys.recipient import PUBLIC_BYTES, WRAPPED_BYTES, RecipientPrivateKey, RecipientPublicKey
from protocols.keys.signing import PrivateKey

SEED = bytes(range(32))
KEY, OTHER_KEY = RecipientPrivateKey.from_seed(SEED), RecipientPrivateKey.generate()
SECRET, INFO = bytes(range(100, 132)), b"what it is for"
# Appendix D of draft-connolly-cfrg-xwing-kem.
PEM = """-----BEGIN PRIVATE KEY-----
MDQCAQAwDQYLKwYBBAGD5i2ByHoEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZ
GhscHR4f
-----END PRIVATE KEY-----
"""


def test_a_seed_gives_the_public_key_of_the_published_test_vector() -> None:
    # Appendix C, first example: how both halves of the key begin and end.
    seed = bytes.fromhex("7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26")
    found = RecipientPrivateKey.from_seed(seed).public_key.hex
    assert found.startswith("e2236b35a8c24b39b10aa1323a96a919a2ced88400633a7b07131713fc14b2b5b19cfc3d")
    assert found.endswith("859edb06eff389b27dce59844570216223593d4ba32d9abac8cd049040ef6534")
    assert len(found) == 2 * PUBLIC_BYTES


def test_a_file_is_the_published_one_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "recipient.pem"
    KEY.save(path)
    assert path.read_text() == PEM
    assert path.stat().st_mode & 0o777 == 0o600
    assert RecipientPrivateKey.load(path).public_key == KEY.public_key
    path.write_text(PEM.replace("\n", "\r\n"))
    assert RecipientPrivateKey.load(path).public_key == KEY.public_key


def test_a_key_is_never_written_over_another(tmp_path: Path) -> None:
    path = tmp_path / "recipient.pem"
    KEY.save(path)
    with pytest.raises(StorageError):
        OTHER_KEY.save(path)
    assert RecipientPrivateKey.load(path).public_key == KEY.public_key


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "recipient.pem"
    KEY.save(path)
    path.chmod(0o640)
    with pytest.raises(StorageError, match="chmod 600"):
        RecipientPrivateKey.load(path)


def test_another_file_is_no_key(tmp_path: Path) -> None:
    path = tmp_path / "recipient.pem"
    PrivateKey.generate().save(path)
    signing = path.read_bytes()
    for data in (
        b"",
        signing,
        PEM.encode()[:-30],
        PEM.replace("GhscHR4f", "GhscHR4").encode(),
        PEM.replace("GhscHR4f", "GhscHR4fAAAA").encode(),
        PEM.replace("MDQCAQ", "MDQCAA").encode(),
        b"x" + PEM.encode(),
        bytes(5000),
    ):
        path.write_bytes(data)
        with pytest.raises(ProtocolError):
            RecipientPrivateKey.load(path)
    path.unlink()
    with pytest.raises(StorageError):
        RecipientPrivateKey.load(path)


def test_a_public_key_travels_as_hexadecimal_digits() -> None:
    assert RecipientPublicKey.from_hex(KEY.public_key.hex) == KEY.public_key
    assert KEY.public_key.key_id != OTHER_KEY.public_key.key_id
    digest = hashlib.sha256(b"deid-commons recipient id v1\x00" + KEY.public_key.raw).hexdigest()
    assert KEY.public_key.key_id.replace("-", "") == digest[:32]
    assert len(KEY.public_key.spoken.split("-")) == 8


@pytest.mark.parametrize(
    "text",
    ["", "00", KEY.public_key.hex.upper(), KEY.public_key.hex + "00", KEY.public_key.hex[:-2], "ff" * PUBLIC_BYTES],
    ids=["empty", "short", "upper case", "longer", "shorter", "coefficients out of range"],
)
def test_a_public_key_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SchemaError):
        RecipientPublicKey.from_hex(text)


def test_a_public_key_of_small_order_encrypts_nothing() -> None:
    weak = RecipientPublicKey(KEY.public_key.raw[:-32] + bytes(32))
    with pytest.raises(SchemaError):
        weak.wrap(SECRET, INFO)


def test_a_wrapped_key_opens_for_its_recipient_and_purpose_alone() -> None:
    wrapped = KEY.public_key.wrap(SECRET, INFO)
    assert len(wrapped) == WRAPPED_BYTES
    assert KEY.unwrap(wrapped, INFO) == SECRET
    assert KEY.public_key.wrap(SECRET, INFO) != wrapped
    for key, info in ((OTHER_KEY, INFO), (KEY, INFO + b"!"), (KEY, b"")):
        with pytest.raises(EncryptionError):
            key.unwrap(wrapped, info)


def test_every_changed_byte_of_a_wrapped_key_is_refused() -> None:
    wrapped = KEY.public_key.wrap(SECRET, INFO)
    for offset in range(len(wrapped)):
        changed = bytearray(wrapped)
        changed[offset] ^= 1
        with pytest.raises(EncryptionError):
            KEY.unwrap(bytes(changed), INFO)
    for other in (b"", wrapped[:-1], wrapped + b"\x00", wrapped[:1120]):
        with pytest.raises(EncryptionError):
            KEY.unwrap(other, INFO)


def test_hpke_alone_opens_what_was_wrapped() -> None:
    # An independent way to the private key: the expansion that the draft gives, by hand.
    expanded = hashlib.shake_256(SEED).digest(96)
    private = hpke.MLKEM768X25519PrivateKey(
        MLKEM768PrivateKey.from_seed_bytes(expanded[:64]), X25519PrivateKey.from_private_bytes(expanded[64:])
    )
    suite = hpke.Suite(hpke.KEM.MLKEM768_X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.CHACHA20_POLY1305)
    assert suite.decrypt(KEY.public_key.wrap(SECRET, INFO), private, INFO) == SECRET


def test_a_private_key_is_never_printed_or_pickled() -> None:
    assert SEED.hex() not in repr(KEY)
    assert repr(KEY) == f"RecipientPrivateKey(key_id='{KEY.public_key.key_id}')"
    assert repr(KEY.public_key) == "RecipientPublicKey()"
    with pytest.raises(TypeError):
        pickle.dumps(KEY)

"""The key pair that shares are encrypted to: X-Wing, the hybrid of ML-KEM-768 and X25519, in HPKE (RFC 9180, base mode).

HPKE wraps one 32-byte key; what that key encrypts is `protocols.share.stream`'s business. To read a share, both halves of the
hybrid must be broken, today's and the one that stands against a quantum computer. HPKE in base mode does not say who
encrypted: signatures do, see `protocols.share.bundle`.

The private key is X-Wing's seed of 32 bytes (draft-connolly-cfrg-xwing-kem, whose appendix D gives the PKCS 8 form that
is written here); both halves are computed from it. It lies in a PEM file that only its owner may read, under a passphrase if its
owner wants it, and appears in no repr, log or error.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from protocols.errors import EncryptionError, SchemaError
from protocols.keys import fingerprint
from protocols.keys.key_files import read_private, write_private
from protocols.keys.passphrase import Passphrase
from protocols.keys.signing import read_hex

PUBLIC_BYTES = 1184 + 32
# The encapsulation of X-Wing, then the wrapped key and its tag.
WRAPPED_BYTES = 1120 + 32 + 16

_MLKEM_BYTES = 1184
_SEED_BYTES = 32
_ID_CONTEXT = b"deid-commons recipient id v1\x00"
_SUITE = hpke.Suite(hpke.KEM.MLKEM768_X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.CHACHA20_POLY1305)
# PrivateKeyInfo of version 0 with the object identifier 1.3.6.1.4.1.62253.25722, up to the seed.
_PKCS8 = bytes.fromhex("3034020100300d060b2b0601040183e62d81c87a0420")


@dataclass(frozen=True)
class RecipientPublicKey:
    """The key that encrypts.

    Args:
        raw: the 1216 bytes of X-Wing: ML-KEM-768's, then X25519's.

    Raises:
        SchemaError: not such a key.
    """

    raw: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.raw) != PUBLIC_BYTES:
            raise _wrong_key(f"{len(self.raw)} bytes")
        self._key()

    @classmethod
    def from_hex(cls, text: str) -> RecipientPublicKey:
        """The key that `hex` printed.

        Raises:
            SchemaError: not such a key in lower-case hexadecimal digits.
        """
        return cls(read_hex(text, PUBLIC_BYTES, "encryption key"))

    @property
    def hex(self) -> str:
        """The key in lower-case hexadecimal."""
        return self.raw.hex()

    @property
    def key_id(self) -> str:
        """The fingerprint: eight groups of four hexadecimal digits."""
        return fingerprint.digits(hashlib.sha256(_ID_CONTEXT + self.raw).digest())

    @property
    def spoken(self) -> str:
        """The fingerprint as eight pronounceable groups."""
        return fingerprint.pronounce_fingerprint(self.key_id)

    def wrap(self, key: bytes, info: bytes) -> bytes:
        """Encrypts a 32-byte key, for `info` only; every call gives other bytes.

        Raises:
            SchemaError: a key that no honest recipient has made: what it encrypts, everyone could read.
        """
        try:
            return _SUITE.encrypt(key, self._key(), info)
        except ValueError as error:
            raise _wrong_key("one of small order") from error

    def _key(self) -> hpke.MLKEM768X25519PublicKey:
        try:
            mlkem = MLKEM768PublicKey.from_public_bytes(self.raw[:_MLKEM_BYTES])
            return hpke.MLKEM768X25519PublicKey(mlkem, X25519PublicKey.from_public_bytes(self.raw[_MLKEM_BYTES:]))
        except ValueError as error:
            raise _wrong_key("bytes that are no such key") from error


class RecipientPrivateKey:
    """The key that decrypts. Made by `generate` or `load`; never printed."""

    def __init__(self, seed: bytes) -> None:
        if len(seed) != _SEED_BYTES:
            raise _wrong_key(f"a seed of {len(seed)} bytes")
        self._seed = seed
        expanded = hashlib.shake_256(seed).digest(96)
        mlkem = MLKEM768PrivateKey.from_seed_bytes(expanded[:64])
        x25519 = X25519PrivateKey.from_private_bytes(expanded[64:])
        self._key = hpke.MLKEM768X25519PrivateKey(mlkem, x25519)
        self.public_key = RecipientPublicKey(
            mlkem.public_key().public_bytes_raw() + x25519.public_key().public_bytes_raw()
        )

    @classmethod
    def generate(cls) -> RecipientPrivateKey:
        """A new key from the entropy of the operating system."""
        return cls(secrets.token_bytes(_SEED_BYTES))

    @classmethod
    def from_seed(cls, seed: bytes) -> RecipientPrivateKey:
        """The key of a 32-byte seed: for test vectors only."""
        return cls(seed)

    @classmethod
    def load(cls, path: Path, passphrase: Passphrase | None = None) -> RecipientPrivateKey:
        """Reads a key that `save` wrote.

        Raises:
            StorageError: no such file, or others than its owner may read it.
            PassphraseError: it lies under a passphrase that is not given.
            SchemaError: not an X-Wing key in PEM.
        """
        der = read_private(path, passphrase)
        if not der.startswith(_PKCS8) or len(der) != len(_PKCS8) + _SEED_BYTES:
            raise SchemaError("an X-Wing key in PEM", received="another file", advice="check the path", place=path.name)
        return cls(der[len(_PKCS8) :])

    def save(self, path: Path, passphrase: Passphrase | None = None) -> None:
        """Writes the key as PEM (PKCS 8), rights 0600, never over another file; in clear where there is no passphrase.

        Raises:
            StorageError: the file exists or can't be written.
        """
        write_private(path, _PKCS8 + self._seed, passphrase)

    def unwrap(self, wrapped: bytes, info: bytes) -> bytes:
        """The key that `RecipientPublicKey.wrap` encrypted.

        Raises:
            EncryptionError: for another recipient or another `info`, or changed since.
        """
        try:
            return _SUITE.decrypt(wrapped, self._key, info)
        except (InvalidTag, ValueError) as error:
            raise EncryptionError(
                f"a key that was encrypted for recipient {self.public_key.key_id}",
                received="one for another recipient or purpose, or changed since",
                advice="refuse it and ask the sender to seal the share again",
            ) from error

    def __repr__(self) -> str:
        return f"RecipientPrivateKey(key_id={self.public_key.key_id!r})"

    def __reduce__(self) -> str:
        raise TypeError("a private key is saved by RecipientPrivateKey.save, nothing else")


def _wrong_key(received: str) -> SchemaError:
    return SchemaError("an X-Wing key", received=received, advice="ask for the key again")

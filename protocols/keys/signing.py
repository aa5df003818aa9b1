"""Ed25519 key pairs, and signatures bound to their purpose.

What is signed is `context`, a NUL byte and the message. The context names format and version ("deid-commons share
v2"), so that a signature made for one purpose is worth nothing for another. Keys come from the entropy of the
operating system. A private key lies in a PEM file that only its owner may read, under a passphrase if its owner wants it (see
`protocols.keys.passphrase`); it appears in no repr, log or error.

A key's id is the fingerprint (see `protocols.keys.fingerprint`) of its raw 32 bytes, domain-separated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from protocols.canonical import Json
from protocols.errors import SchemaError, SignatureError, UnknownSignerError, UnsignedError
from protocols.keys import fingerprint
from protocols.keys.key_files import read_private, write_private
from protocols.keys.passphrase import Passphrase

SHARE_CONTEXT = "deid-commons share v2"
BUNDLE_CONTEXT = "deid-commons bundle v2"
RECEIPT_CONTEXT = "deid-commons receipt v1"
WITHDRAWAL_CONTEXT = "deid-commons withdrawal v1"
ENROLMENT_CONTEXT = "deid-commons enrolment v2"
ROTATION_CONTEXT = "deid-commons rotation v1"
ACCEPTANCE_CONTEXT = "deid-commons rotation accepted v1"
LEDGER_CONTEXT = "deid-commons ledger v1"
FRAGMENTS_CONTEXT = "deid-commons fragments v1"
REPORT_CONTEXT = "deid-commons encode report v1"
FEDERATED_TASK_CONTEXT = "deid-commons federated task v1"
FEDERATED_RESULT_CONTEXT = "deid-commons federated result v1"
ALGORITHM = "ed25519"

_ID_CONTEXT = b"deid-commons key id v1\x00"
# Heights of the eight points of small order (RFC 8032, section 5.1), and those of P and above that lenient readers take for 0 and 1.
_P = 2**255 - 19
_EIGHTH = int("05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826", 16)
_SMALL_ORDER = frozenset({0, 1, _P - 1, _P, _P + 1, _EIGHTH, _P - _EIGHTH})


@dataclass(frozen=True)
class PublicKey:
    """The key that checks signatures.

    Args:
        raw: the 32 bytes of RFC 8032.

    Raises:
        SchemaError: not such a key, or one of small order, that no honest signer has made: anybody signs for it.
    """

    raw: bytes

    def __post_init__(self) -> None:
        if len(self.raw) != 32:
            raise SchemaError("a public key of 32 bytes", received=f"{len(self.raw)}", advice="ask for the key again")
        # The highest bit is the sign of the other coordinate.
        if int.from_bytes(self.raw, "little") % 2**255 in _SMALL_ORDER:
            raise SchemaError("an Ed25519 key", received="one of small order", advice="ask for the key again")

    @classmethod
    def from_hex(cls, text: str) -> PublicKey:
        """The key that `hex` printed.

        Raises:
            SchemaError: not such a key in 64 lower-case hexadecimal digits.
        """
        return cls(read_hex(text, 32, "public key"))

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

    def verify(self, context: str, message: bytes, signature: Signature) -> None:
        """Returns if `signature` is this key's over `message` in `context`.

        Raises:
            SignatureError: anything else.
        """
        if signature.context != context or signature.key_id != self.key_id:
            raise SignatureError(
                f"a signature for '{context}' by key {self.key_id}", received="another", advice="refuse the file"
            )
        self.verify_bytes(_bound(context, message), signature.value)

    def verify_bytes(self, message: bytes, value: bytes, place: str = "") -> None:
        """Returns if `value` is this key's signature over exactly `message`: for formats that bind their purpose themselves.

        Raises:
            SignatureError: anything else.
        """
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(value, message)
        except (InvalidSignature, ValueError) as error:
            raise SignatureError(
                f"bytes signed by key {self.key_id}",
                received="bytes changed since they were signed, or signed by another key",
                advice="refuse them and ask the sender to send them again",
                place=place,
            ) from error


class PrivateKey:
    """The key that signs. Made by `generate` or `load`; never printed."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key = PublicKey(
            key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        )

    @classmethod
    def generate(cls) -> PrivateKey:
        """A new key from the entropy of the operating system."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_seed(cls, seed: bytes) -> PrivateKey:
        """The key of a 32-byte seed: for test vectors only."""
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def load(cls, path: Path, passphrase: Passphrase | None = None) -> PrivateKey:
        """Reads a key that `save` wrote.

        Raises:
            StorageError: no such file, or others than its owner may read it.
            PassphraseError: it lies under a passphrase that is not given.
            SchemaError: not an Ed25519 key in PEM.
        """
        der = read_private(path, passphrase)
        wrong = SchemaError("an Ed25519 key in PEM", received="another file", advice="check the path", place=path.name)
        try:
            key = serialization.load_der_private_key(der, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise wrong from error
        if not isinstance(key, Ed25519PrivateKey):
            raise wrong
        return cls(key)

    def save(self, path: Path, passphrase: Passphrase | None = None) -> None:
        """Writes the key as PEM (PKCS 8), rights 0600, never over another file; in clear where there is no passphrase.

        Raises:
            StorageError: the file exists or can't be written.
        """
        der = self._key.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        write_private(path, der, passphrase)

    def sign(self, context: str, message: bytes) -> Signature:
        """Signs `message` for one purpose."""
        return Signature(context, self.public_key.key_id, self.sign_bytes(_bound(context, message)))

    def sign_bytes(self, message: bytes) -> bytes:
        """The 64 bytes of RFC 8032 over exactly `message`: for formats that bind their purpose themselves."""
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"PrivateKey(key_id={self.public_key.key_id!r})"

    def __reduce__(self) -> str:
        raise TypeError("a private key is saved by PrivateKey.save, nothing else")


@dataclass(frozen=True)
class Signature:
    """A detached signature.

    Args:
        context: purpose that it was made for.
        key_id: id of the key that made it; a hint where to look, proved by verification only.
        value: the 64 bytes of RFC 8032.
    """

    context: str
    key_id: str
    value: bytes

    def to_json(self) -> dict[str, Json]:
        """The signature as JSON, with its context and the fingerprint of its key."""
        return {"algorithm": ALGORITHM, "context": self.context, "key": self.key_id, "value": self.value.hex()}

    @classmethod
    def from_json(cls, value: Json, place: str) -> Signature:
        """Reads what `to_json` wrote, and nothing else.

        Raises:
            UnsignedError: there is no signature.
            SchemaError: it has another shape.
        """
        if value is None:
            raise UnsignedError("a signature", received="none", advice="ask the sender to sign it", place=place)
        if not isinstance(value, dict) or set(value) != {"algorithm", "context", "key", "value"}:
            raise SchemaError(
                "a signature with algorithm, context, key and value",
                received="other keys",
                advice="refuse the file",
                place=place,
            )
        context, key_id = value["context"], value["key"]
        if value["algorithm"] != ALGORITHM or not isinstance(context, str):
            raise SchemaError(f"a signature by {ALGORITHM}", received="another", advice="refuse the file", place=place)
        if not isinstance(key_id, str) or not fingerprint.FINGERPRINT.fullmatch(key_id):
            raise SchemaError("a key id", received="something else", advice="refuse the file", place=place)
        return cls(context, key_id, read_hex(value["value"], 64, place))


def signer(
    public_keys: Mapping[str, Sequence[PublicKey]], site: str, signature: Signature, place: str = ""
) -> PublicKey:
    """The key of a site that a signature claims; whether it made it is for `PublicKey.verify` to say.

    Args:
        public_keys: the keys that each site may sign with, by name of the site.
        site: its name.
        signature: by one of its keys.
        place: name for messages.

    Raises:
        UnknownSignerError: no such site, or another key.
    """
    if site not in public_keys:
        raise UnknownSignerError(
            "a share of an enrolled site", received="one of an unknown site", advice="enrol the site first", place=place
        )
    for key in public_keys[site]:
        if key.key_id == signature.key_id:
            return key
    raise UnknownSignerError(
        f"a signature by a key that {site} may use",
        received=f"one by key {signature.key_id}",
        advice="refuse the file, and ask the site to sign with its present key",
        place=place,
    )


def read_hex(value: Json, size: int, place: str) -> bytes:
    """`size` bytes from lower-case hexadecimal digits; no other spelling.

    Raises:
        SchemaError: anything else.
    """
    if not isinstance(value, str) or not re.fullmatch(f"[0-9a-f]{{{2 * size}}}", value):
        raise SchemaError(
            f"{2 * size} lower-case hexadecimal digits", received="something else", advice="refuse it", place=place
        )
    return bytes.fromhex(value)


def _bound(context: str, message: bytes) -> bytes:
    if "\x00" in context:
        raise SignatureError("a context without NUL", received="one", advice="use a context of protocols.keys.signing")
    return context.encode() + b"\x00" + message

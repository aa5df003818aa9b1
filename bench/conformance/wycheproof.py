"""Vectors of Project Wycheproof through our own functions: Ed25519, X25519 as a half of X-Wing, ChaCha20-Poly1305 in our stream.

The vectors are not in this repository. They are read where a person has laid them, and only if they are, byte for byte, the
ones that were looked at.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from protocols.errors import EncryptionError, SchemaError, SignatureError
from protocols.keys.recipient import RecipientPrivateKey, RecipientPublicKey
from protocols.keys.signing import PublicKey
from protocols.share import stream
from shared.errors import ConfigurationError

COMMIT = "dac1dd4729fd1f8dd9e1e9f3dce51d783da6c166"
DIGESTS = {
    "ed25519_test.json": "752d2ea7d7c6cf4736381b6cbacb61f8182b126ab7cd9b058f00c50084975536",
    "x25519_test.json": "35c3f5231cf25cc640b524d403461deee9e49441d5d915a3a25b2c8ff5adbe7d",
    "chacha20_poly1305_test.json": "fe61d25f90e1bde4461d00eafe61049e5f29bd999f36b766df9cda90906ad53d",
}
_FOLDER = "testvectors_v1"
_MLKEM_BYTES = 1184
# Our stream makes its nonces itself, all of 12 bytes: a vector with another length is about a call that we have not.
_NOT_OURS = "InvalidNonceSize"
Vector = dict[str, Any]


@dataclass
class Outcome:
    """What came of one file.

    Args:
        name: of the algorithm.
        passed: vectors for which ours did what the vector says.
        failed: their numbers for which it did not.
        left_out: vectors about a call that we have not.
    """

    name: str
    passed: int
    failed: list[int]
    left_out: int

    @property
    def run(self) -> int:
        """Vectors that were tried."""
        return self.passed + len(self.failed)


def run_wycheproof(folder: Path) -> list[Outcome]:
    """Tries all vectors of the three files.

    Args:
        folder: a checkout of the project at `COMMIT`.

    Raises:
        ConfigurationError: a file is missing, or is another one.
    """
    return [_outcome(name, try_one, folder) for name, try_one in _TRIALS.items()]


def try_ed25519(group: Vector, vector: Vector) -> bool:
    """Whether `PublicKey.verify_bytes` takes exactly the valid signatures."""
    key = PublicKey(bytes.fromhex(group["publicKey"]["pk"]))
    try:
        key.verify_bytes(bytes.fromhex(vector["msg"]), bytes.fromhex(vector["sig"]))
    except SignatureError:
        return bool(vector["result"] == "invalid")
    return bool(vector["result"] == "valid")


def try_x25519(group: Vector, vector: Vector) -> bool:
    """Whether the shared secret is the vector's, and our recipient's key with this half refuses to encrypt where it would be zero."""
    public = bytes.fromhex(vector["public"])
    zero = not any(bytes.fromhex(vector["shared"]))
    try:
        private = X25519PrivateKey.from_private_bytes(bytes.fromhex(vector["private"]))
        found = private.exchange(X25519PublicKey.from_public_bytes(public)).hex()
    except ValueError:
        found = "00" * 32
    try:
        RecipientPublicKey(_MLKEM + public).wrap(bytes(32), b"wycheproof")
        refused = False
    except SchemaError:
        refused = True
    return bool(found == vector["shared"]) and refused == zero


def try_chacha20_poly1305(group: Vector, vector: Vector) -> bool:
    """Whether a stream of one chunk, with the nonce of the vector, is its ciphertext, and opens exactly where it is valid."""
    key, nonce, associated, text = (bytes.fromhex(vector[name]) for name in ("key", "iv", "aad", "msg"))
    sealed = bytes.fromhex(vector["ct"] + vector["tag"])
    with mock.patch.object(stream, "_nonce", return_value=nonce):
        opened, made = io.BytesIO(), io.BytesIO()
        try:
            stream.decrypt(io.BytesIO(sealed), opened, key, associated)
        except EncryptionError:
            return bool(vector["result"] == "invalid") and not opened.getvalue()
        stream.encrypt(io.BytesIO(text), made, key, associated)
    return vector["result"] == "valid" and opened.getvalue() == text and made.getvalue() == sealed


_MLKEM = RecipientPrivateKey.from_seed(bytes(range(32))).public_key.raw[:_MLKEM_BYTES]
_TRIALS: dict[str, Callable[[Vector, Vector], bool]] = {
    "ed25519_test.json": try_ed25519,
    "x25519_test.json": try_x25519,
    "chacha20_poly1305_test.json": try_chacha20_poly1305,
}


def _outcome(name: str, try_one: Callable[[Vector, Vector], bool], folder: Path) -> Outcome:
    outcome = Outcome(name.removesuffix("_test.json"), 0, [], 0)
    for group, vector in _vectors(folder / _FOLDER / name):
        if _NOT_OURS in vector["flags"]:
            outcome.left_out += 1
        elif try_one(group, vector):
            outcome.passed += 1
        else:
            outcome.failed.append(int(vector["tcId"]))
    return outcome


def _vectors(path: Path) -> Iterator[tuple[Vector, Vector]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _other(path) from error
    if hashlib.sha256(data).hexdigest() != DIGESTS[path.name]:
        raise _other(path)
    for group in json.loads(data)["testGroups"]:
        for vector in group["tests"]:
            yield group, vector


def _other(path: Path) -> ConfigurationError:
    return ConfigurationError(
        f"{path.name}: expected the vectors of C2SP/wycheproof at commit {COMMIT[:12]}, got others or none; check that commit out"
    )

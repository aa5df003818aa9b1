"""Private keys under a passphrase: PKCS 8 (RFC 5958), encrypted by PBES2 (RFC 8018) with scrypt (RFC 7914) and AES-256-CBC.

The form is that of OpenSSL, so that other programs read the files too (its own command allows scrypt no more than 32 MiB), and
there is one of it: what is laid out otherwise is refused. It says nothing of whether the key in it was changed: whoever can write the file could as well
replace it. So what opens well is still held against the public key that is expected.

Threat: who copies the folder of the keys, or its backup, has nothing without the passphrase, and pays 128 MiB and a third of a
second for every guess. Not held off: who reads the memory of the program, or what is typed.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.padding import PKCS7

from protocols.errors import PassphraseError

COST = 17
"""Scrypt with 2**17 blocks of 1 KiB."""
LEAST_COST, MOST_COST = 15, 20

_BLOCK_BITS = 128
_HEAD = bytes.fromhex("30819c305806092a864886f70d01050d304b302a06092b06010401da47040b301d0410")
_CIPHER = bytes.fromhex("020108020101301d060960864801650304012a0410")
_FORM = re.compile(
    re.escape(_HEAD) + rb"(.{16})\x02\x03(.{3})" + re.escape(_CIPHER) + rb"(.{16})\x04\x40(.{64})", re.DOTALL
)


class Passphrase:
    """What opens the private keys of some folders. Never printed.

    It is asked for when the first key needs it, and once again only for a folder whose keys have another one.

    Args:
        ask: gives the passphrase for the keys of a folder.
        cost: binary logarithm of scrypt's N for what is sealed; None for COST.
    """

    def __init__(self, ask: Callable[[Path], bytes], *, cost: int | None = None) -> None:
        self._ask = ask
        self._cost = COST if cost is None else cost
        self._salt = secrets.token_bytes(16)
        self._known: list[bytes] = []
        self._of: dict[Path, bytes] = {}
        self._derived: dict[tuple[bytes, bytes, int], bytes] = {}

    @classmethod
    def of_secret(cls, secret: bytes, *, cost: int | None = None) -> Passphrase:
        """One that is known, and nobody is asked for."""
        return cls(lambda folder: secret, cost=cost)

    @property
    def known(self) -> bytes | None:
        """The first that was asked for: for another process that works on the same folder; None if there was no need yet."""
        return self._known[0] if self._known else None

    def ask_no_more(self) -> None:
        """From now on what is not known is an error: where nobody sits in front of the program."""
        self._ask = _refuse

    def seal(self, key: bytes, folder: Path) -> bytes:
        """Encrypts a private key for a folder.

        Args:
            key: in DER, 48 to 63 bytes.
            folder: where it will lie.
        """
        if folder not in self._of:
            self._learn(self._ask(folder), folder)
        padder = PKCS7(_BLOCK_BITS).padder()
        padded = padder.update(key) + padder.finalize()
        start = secrets.token_bytes(16)
        cipher = self._cipher(self._of[folder], self._salt, self._cost, start).encryptor()
        blocks = (1 << self._cost).to_bytes(3, "big")
        sealed = cipher.update(padded) + cipher.finalize()
        return _HEAD + self._salt + b"\x02\x03" + blocks + _CIPHER + start + b"\x04\x40" + sealed

    def open(self, sealed: bytes, path: Path) -> bytes:
        """The private key in DER that `seal` encrypted.

        Args:
            sealed: the file, without its armour.
            path: where it lies.

        Raises:
            PassphraseError: the passphrase is missing or another one, or the file is encrypted in another way.
        """
        salt, cost, start, text = _parse(sealed, path)
        for secret in self._known:
            if (key := self._opened(secret, salt, cost, start, text)) is not None:
                self._learn(secret, path.parent)
                return key
        secret = self._ask(path.parent)
        key = None if secret in self._known else self._opened(secret, salt, cost, start, text)
        if key is None:
            raise PassphraseError(
                "the passphrase of the key",
                received="another one, or a damaged file",
                advice="repeat it with the right one; without it the key is lost, and a new one has to be made",
                place=path.name,
            )
        self._learn(secret, path.parent)
        return key

    def _learn(self, secret: bytes, folder: Path) -> None:
        if secret not in self._known:
            self._known.append(secret)
        self._of[folder] = secret

    def _opened(self, secret: bytes, salt: bytes, cost: int, start: bytes, sealed: bytes) -> bytes | None:
        cipher = self._cipher(secret, salt, cost, start).decryptor()
        unpadder = PKCS7(_BLOCK_BITS).unpadder()
        try:
            key = unpadder.update(cipher.update(sealed) + cipher.finalize()) + unpadder.finalize()
        except ValueError:
            return None
        # Of 256 wrong passphrases one leaves a padding that looks right.
        return key if key[:1] == b"\x30" and key[1:2] == bytes([len(key) - 2]) else None

    def _cipher(self, secret: bytes, salt: bytes, cost: int, start: bytes) -> Cipher[modes.CBC]:
        """Derived once for all keys of a folder: they were sealed with one salt."""
        if (secret, salt, cost) not in self._derived:
            kdf = Scrypt(salt=salt, length=32, n=1 << cost, r=8, p=1)
            self._derived[secret, salt, cost] = kdf.derive(secret)
        return Cipher(algorithms.AES256(self._derived[secret, salt, cost]), modes.CBC(start))

    def __repr__(self) -> str:
        return "Passphrase()"

    def __reduce__(self) -> str:
        raise TypeError("a passphrase is handed on by whoever holds it, nothing else")


def _parse(sealed: bytes, path: Path) -> tuple[bytes, int, bytes, bytes]:
    """Salt, binary logarithm of the cost, start of the cipher, ciphertext."""
    found = _FORM.fullmatch(sealed)
    blocks = int.from_bytes(found[2], "big") if found else 0
    cost = blocks.bit_length() - 1
    if found is None or not LEAST_COST <= cost <= MOST_COST or blocks != 1 << cost:
        raise PassphraseError(
            "a key encrypted by PBES2 with scrypt and AES-256-CBC",
            received="one encrypted in another way, or a damaged file",
            advice="restore it from a backup",
            place=path.name,
        )
    return found[1], cost, found[3], found[4]


def _refuse(folder: Path) -> bytes:
    raise PassphraseError(
        "keys under the passphrase that was given at the start",
        received="some under another",
        advice="start the program again",
        place=folder.name,
    )

"""Files with private keys: PKCS 8 in PEM, for their owner alone, under a passphrase where there is one, never one over another."""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from foundation.errors import StorageError
from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from foundation.reading import regular_size
from protocols.bounded_reading import read_bounded
from protocols.errors import PassphraseError, SchemaError
from protocols.keys.passphrase import Passphrase

SUFFIX = ".pem"
_MAX_KEY_BYTES = 4096
_PLAIN, _SEALED = b"PRIVATE KEY", b"ENCRYPTED PRIVATE KEY"
_SEALED_BEGINS = b"-----BEGIN " + _SEALED + b"-----"
_PEM = re.compile(
    rb"-----BEGIN (?P<kind>(?:ENCRYPTED )?PRIVATE KEY)-----\s+(?P<text>[A-Za-z0-9+/=\s]+)-----END (?P=kind)-----\s*"
)


def read_secret(path: Path, max_bytes: int) -> bytes:
    """`read_bounded` for a file that only its owner may read.

    Raises:
        StorageError: others may read it too.
        BoundsError, StorageError: as `read_bounded`.
    """
    data = read_bounded(path, max_bytes)
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise StorageError(
            "a private key that only its owner can read",
            received="wider rights",
            advice=f"run chmod 600 {path.name}, and replace the key if others could read it",
            place=path.name,
        )
    return data


def write_secret(path: Path, data: bytes) -> None:
    """`write_bytes` for a file that only its owner may read, never over another file.

    Raises:
        StorageError: the file exists or can't be written.
    """
    if path.exists():
        raise StorageError(
            "a new file", received="one that exists", advice="move the old key away first", place=path.name
        )
    write_bytes(path, data)


def read_private(path: Path, passphrase: Passphrase | None = None) -> bytes:
    """The DER of a private key.

    Args:
        path: a file that `write_private` wrote.
        passphrase: that opens it, should it be under one.

    Raises:
        SchemaError: no key in PEM.
        PassphraseError: it is under a passphrase that is not given.
        BoundsError, StorageError: as `read_secret`.
    """
    kind, der = _read_armour(path)
    if kind == _PLAIN:
        return der
    if passphrase is None:
        raise PassphraseError(
            "a key without a passphrase", received="one with a passphrase", advice="give it", place=path.name
        )
    return passphrase.open(der, path)


def write_private(path: Path, der: bytes, passphrase: Passphrase | None = None) -> None:
    """Writes a private key as PEM, rights 0600, never over another file.

    Args:
        path: where it goes.
        der: the key in PKCS 8.
        passphrase: to put it under; None for a file in clear.

    Raises:
        StorageError: the file exists or can't be written.
    """
    write_secret(path, _armour(path, der, passphrase))


def rewrite_private(paths: Iterable[Path], present: Passphrase, new: Passphrase | None) -> None:
    """Puts keys under another passphrase, or under none; each file is whole at every moment, and one that is done already stays sound.

    Args:
        paths: files of private keys.
        present: opens them; one that an interrupted run has done, `new` opens.
        new: what they lie under from now on; None for none.

    Raises:
        PassphraseError: a key opens with neither.
        SchemaError, StorageError: as `read_private`.
    """
    for path in paths:
        der = _read_either(path, present, new)
        write_bytes(path, _armour(path, der, new))


def is_protected(path: Path) -> bool:
    """Whether a key lies under a passphrase.

    Raises:
        SchemaError, BoundsError, StorageError: as `read_private`.
    """
    return _read_armour(path)[0] == _SEALED


def list_key_files(folder: Path) -> list[Path]:
    """The private keys in a folder, by name; none where there is no folder."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if not path.name.startswith("."))


def choose_protection(folder: Path, passphrase: Passphrase) -> Passphrase | None:
    """What a new key of a folder goes under: the passphrase that opens those which are there, or None where they lie in clear.

    Raises:
        PassphraseError: it does not open them.
        SchemaError, BoundsError, StorageError: one that is under a passphrase is damaged, or others may read it.
    """
    sealed = [path for path in list_key_files(folder) if _is_sealed_key(path)]
    if not sealed:
        return None
    read_private(sealed[0], passphrase)
    return passphrase


def _is_sealed_key(path: Path) -> bool:
    """Whether a file is a key under a passphrase; certificates may lie there too, which are long, and for everybody to read."""
    regular_size(path)
    with map_os_errors(path), path.open("rb") as file:
        begins = file.read(len(_SEALED_BEGINS))
    return begins == _SEALED_BEGINS and is_protected(path)


def _read_either(path: Path, present: Passphrase, new: Passphrase | None) -> bytes:
    if new is not None:
        try:
            return read_private(path, new)
        except PassphraseError:
            pass
    return read_private(path, present)


def _read_armour(path: Path) -> tuple[bytes, bytes]:
    found = _PEM.fullmatch(read_secret(path, _MAX_KEY_BYTES))
    wrong = SchemaError("a private key in PEM", received="another file", advice="check the path", place=path.name)
    if found is None:
        raise wrong
    try:
        return found["kind"], base64.b64decode(b"".join(found["text"].split()), validate=True)
    except binascii.Error as error:
        raise wrong from error


def _armour(path: Path, der: bytes, passphrase: Passphrase | None) -> bytes:
    kind, data = (_PLAIN, der) if passphrase is None else (_SEALED, passphrase.seal(der, path.parent))
    text = base64.b64encode(data)
    lines = [text[start : start + 64] for start in range(0, len(text), 64)]
    return b"\n".join((b"-----BEGIN " + kind + b"-----", *lines, b"-----END " + kind + b"-----", b""))

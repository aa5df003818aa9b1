"""Where the passphrase of private keys comes from: a file that the environment names, or whoever sits at the terminal.

Never from an argument or a plain value of the environment: both can be read by others, from the list of processes or
from a log. It is said nowhere, in no error either.
"""

from __future__ import annotations

import getpass
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from foundation.errors import StorageError
from protocols.bounded_reading import read_bounded
from protocols.errors import PassphraseError
from protocols.keys.key_files import is_protected, list_key_files, read_private, rewrite_private
from protocols.keys.passphrase import Passphrase

FILE = "DEID_COMMONS_PASSPHRASE_FILE"
LEAST_CHARACTERS = 12
_MAX_BYTES = 1024


def ask_when_needed() -> Passphrase:
    """The passphrase of keys that are there; nobody is asked before the first key that needs it."""
    return Passphrase(_present)


def protect_keys(folders: Sequence[Path], file: Path | None = None) -> list[Path]:
    """Puts the private keys of some folders under a passphrase, or from one under another.

    Args:
        folders: with private keys.
        file: that holds the new passphrase; None for the terminal, and where no key is under one yet also the file that
            the environment names.

    Returns:
        the files.

    Raises:
        PassphraseError: as `take_new_passphrase`; or the present one is another, and nothing has changed.
        SchemaError, StorageError: a file is no key, or can't be read or written.
    """
    paths = _keys_in(folders)
    changing = [path for path in paths if is_protected(path)]
    present = ask_when_needed()
    for path in changing[:1]:
        read_private(path, present)
    rewrite_private(paths, present, take_new_passphrase(file, from_environment=not changing))
    return paths


def unprotect_keys(folders: Sequence[Path]) -> list[Path]:
    """Takes the passphrase from the private keys of some folders; the files.

    Raises:
        PassphraseError: it is another one.
        SchemaError, StorageError: a file is no key, or can't be read or written.
    """
    paths = _keys_in(folders)
    rewrite_private(paths, ask_when_needed(), None)
    return paths


def take_new_passphrase(file: Path | None = None, *, from_environment: bool = True) -> Passphrase:
    """A passphrase that keys are put under from now on; at a terminal it is typed twice.

    Args:
        file: that holds it; None for the one that the environment names, or the terminal.
        from_environment: whether the environment names the new one, and not the present one.

    Raises:
        PassphraseError: there is neither, it is short, or the two differ.
        StorageError: the file can't be read, or everybody can read it.
    """
    named = file or (_named_file() if from_environment else None)
    secret = read_passphrase(named) if named is not None else _typed_twice("passphrase")
    if len(secret.decode("utf-8", "replace")) < LEAST_CHARACTERS:
        raise PassphraseError(
            f"a passphrase of {LEAST_CHARACTERS} characters or more",
            received="a shorter one",
            advice="take five words that nobody else would put together",
        )
    return Passphrase.of_secret(secret)


def take_new_password(file: Path | None = None) -> bytes:
    """A password for somebody's account, in UTF-8; at a terminal it is typed twice.

    Args:
        file: that holds it; None for the terminal.

    Raises:
        PassphraseError, StorageError: as `take_new_passphrase`.
    """
    return read_passphrase(file) if file is not None else _typed_twice("password")


def read_passphrase(path: Path) -> bytes:
    """The passphrase in a file: its first line, which is all that it may hold.

    Raises:
        PassphraseError: it is empty, or holds more than a line.
        StorageError: it can't be read, or everybody can read it or more than its owner can change it.
    """
    data = read_bounded(path, _MAX_BYTES)
    # Service managers hand a secret to a service by its group.
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o027:
        raise StorageError(
            "a file with a passphrase that only its owner and group can read",
            received="wider rights",
            advice=f"run chmod 400 {path.name}",
            place=path.name,
        )
    secret = data.removesuffix(b"\n").removesuffix(b"\r")
    if not secret or b"\n" in secret or b"\x00" in secret:
        raise PassphraseError(
            "one line with a passphrase", received="none, or more", advice="write it there alone", place=path.name
        )
    return secret


def _keys_in(folders: Sequence[Path]) -> list[Path]:
    found = [path for folder in folders for path in list_key_files(folder)]
    if not found:
        raise StorageError(
            "private keys",
            received="none",
            advice="check the folder; keys that are on sticks are named by --offline-keys",
            place=folders[0].name,
        )
    return found


def _present(folder: Path) -> bytes:
    named = _named_file()
    return read_passphrase(named) if named is not None else _typed(f"Passphrase of the keys in {folder}: ")


def _named_file() -> Path | None:
    named = os.environ.get(FILE)
    return Path(named) if named else None


def _typed(prompt: str) -> bytes:
    if not _at_terminal():
        raise PassphraseError(
            "a passphrase",
            received="none, and no terminal to ask at",
            advice=f"run the command at a terminal, or name a file with the passphrase in {FILE}",
        )
    try:
        return getpass.getpass(prompt).encode()
    except EOFError:
        return b""


def _at_terminal() -> bool:
    return sys.stdin.isatty()


def _typed_twice(what: str) -> bytes:
    first = _typed(f"New {what}: ")
    if _typed("The same again: ") != first:
        raise PassphraseError(f"the same {what} twice", received="two", advice="repeat it")
    return first

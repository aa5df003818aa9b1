"""Who was what: an encrypted file with every replacement of a run, for a hospital that must be able to look back. Nobody else needs one, so none is made unless
somebody asks for it, and what was replaced is forgotten.

A first line names form and protection; behind it comes a stream (`protocols.share.stream`) of JSON lines, one a note, under a key of its own. That key
is derived (HKDF-SHA256) from the secret of the site, or (scrypt, RFC 7914) from a passphrase, and a salt that no other vault has. A vault that was cut
or changed opens as a whole or not at all.

Threat: who copies the vault has nothing without the secret of the site or the passphrase; who has both has every note as it was.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from foundation.errors import StorageError
from foundation.files import atomic_file
from foundation.os_errors import map_os_errors, storage_error
from foundation.reservations import is_free, reserved
from protocols.errors import EncryptionError, PassphraseError
from protocols.keys.passphrase import COST
from protocols.share.stream import KEY_BYTES, EncryptingWriter, decrypt
from shared.errors import ConfigurationError
from site_client.deid.mode import Replaced

_FORMAT = "deid-commons vault 1"
_SALT_BYTES = 16
_MOST_HEAD = 200
_PURPOSE = b"deid-commons vault 1"


@dataclass(frozen=True)
class VaultKey:
    """What a vault is under.

    Args:
        secret: of the site, or a passphrase.
        is_passphrase: which of the two.
    """

    secret: bytes
    is_passphrase: bool

    @property
    def protection(self) -> str:
        """As the first line of a vault names it."""
        return "passphrase" if self.is_passphrase else "site"

    def derive(self, salt: bytes) -> bytes:
        """The key of one vault."""
        if self.is_passphrase:
            return Scrypt(salt=salt, length=KEY_BYTES, n=1 << COST, r=8, p=1).derive(self.secret)
        return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=salt, info=_PURPOSE).derive(self.secret)

    def __repr__(self) -> str:
        return f"VaultKey({self.protection})"


@dataclass(frozen=True)
class Remembered:
    """What was replaced in a note.

    Args:
        note: its id.
        replaced: in the order of the text.
    """

    note: str
    replaced: tuple[Replaced, ...]


def require_new(path: Path) -> None:
    """Returns if a vault can be made there: before anything else is, the secret that it would be under too.

    Raises:
        ConfigurationError: there is such a file, or another run writes its vault there.
        StorageError: none can be made.
    """
    with _reserved(path):
        pass


class NewVault:
    """One that is being written; see `new_vault`.

    Args:
        path: where it goes.
        key: that it is under.
        named: takes what gives the file its name.

    Attributes:
        finished: whether it may have its name.
    """

    def __init__(self, path: Path, key: VaultKey, named: ExitStack) -> None:
        salt = secrets.token_bytes(_SALT_BYTES)
        head = json.dumps({"format": _FORMAT, "under": key.protection, "salt": salt.hex()}).encode() + b"\n"
        stream = named.enter_context(atomic_file(path))
        stream.write(head)
        self.finished = False
        self._path = path
        self._named = named
        self._writer = EncryptingWriter(stream, key.derive(salt), head)

    def record(self, note: str, replaced: Sequence[Replaced]) -> None:
        """A `Recorder`."""
        listed = [[one.start, one.end, one.category, one.original, one.written] for one in replaced]
        line = json.dumps([note, listed]) + "\n"
        self._writer.write(line.encode())

    def finish(self) -> None:
        """All notes are there: the vault is whole, on the disk and under its name when this returns.

        Raises:
            ConfigurationError: there is another file by now.
            StorageError: it can't be written.
        """
        if self.finished:
            return
        self._writer.finish()
        # Programs that reserve nothing may have written there since.
        if not is_free(self._path):
            raise _there(self._path)
        self.finished = True
        self._named.close()


@contextmanager
def new_vault(path: Path, key: VaultKey, notes: Path | None = None) -> Iterator[NewVault]:
    """A vault that is whole when the block ends well, and not there otherwise.

    Its name is its own from the beginning, so that of two runs the second ends before it works, and none writes over the other's. The block
    finishes it before it gives the notes their names: nobody can make a mapping again that was lost, and one without notes harms nobody.

    Args:
        path: where it goes.
        key: that it is under.
        notes: the folder that the block makes. Whatever happens once that is there, the vault stays.

    Raises:
        ConfigurationError: there is such a file, or another run writes its vault there.
        StorageError: it can't be written; or the block failed, and the vault of nothing can't be removed.
    """
    with _reserved(path), ExitStack() as named:
        vault = NewVault(path, key, named)
        try:
            yield vault
            vault.finish()
        except BaseException:
            if vault.finished and not _holds_files(notes):
                _remove(path)
            raise


def _holds_files(folder: Path | None) -> bool:
    try:
        return folder is not None and any(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # Nobody knows, and what is removed can't be made again.
        return True


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            "notes beside the vault",
            received="a failure before they were in place, and a vault of nothing that can't be removed",
            advice="remove it, and repeat",
            place=path.name,
        ) from error


@contextmanager
def _reserved(path: Path) -> Iterator[None]:
    with ExitStack() as held:
        try:
            held.enter_context(reserved(path))
        except BlockingIOError as error:
            raise ConfigurationError(
                f"{path.name}: expected a name for the vault that no other run has, found one that writes its vault there now; "
                "choose another name, each run has a vault of its own"
            ) from error
        except FileExistsError as error:
            raise _there(path) from error
        except OSError as error:
            raise storage_error(path, error) from error
        yield


def _there(path: Path) -> ConfigurationError:
    return ConfigurationError(
        f"{path.name}: expected a new file for the vault, found one; choose another name, a vault is not written over"
    )


def require_protection(path: Path, *, passphrase: bool) -> None:
    """Returns if a vault is under what somebody is about to give: before it is read, or made.

    Args:
        path: of the vault.
        passphrase: whether that is a passphrase, and not the secret of the site.

    Raises:
        ConfigurationError: the file is no vault.
        PassphraseError: it is under the other.
        StorageError: it can't be read.
    """
    with map_os_errors(path), path.open("rb") as stream:
        _require_protection(_head(stream, path)[1], path, passphrase=passphrase)


def _require_protection(protection: str, path: Path, *, passphrase: bool) -> None:
    if (protection == "passphrase") is passphrase:
        return
    if passphrase:
        raise PassphraseError(
            "no passphrase, for this vault is under keys/surrogates.key of its site",
            received="one",
            advice="leave --passphrase out",
            place=path.name,
        )
    raise PassphraseError(
        "the passphrase that this vault is under",
        received="none",
        advice="give --passphrase FILE",
        place=path.name,
    )


def open_vault(path: Path, key: VaultKey, note: str | None = None) -> list[Remembered]:
    """What a vault holds, once all of it has proved to be whole.

    Args:
        path: of the vault.
        key: that it is under.
        note: the id of the one note that is asked for; None for all.

    Raises:
        ConfigurationError: the file is no vault.
        PassphraseError: it is under another passphrase, or was changed.
        EncryptionError: it is under the secret of another site, or was changed or cut.
        StorageError: it can't be read.
    """
    with map_os_errors(path), path.open("rb") as stream:
        head, protection, salt = _head(stream, path)
        _require_protection(protection, path, passphrase=key.is_passphrase)
        lines = _Lines(note)
        try:
            decrypt(stream, lines, key.derive(salt), head)
        except EncryptionError as error:
            if not key.is_passphrase:
                raise EncryptionError(
                    "a whole vault under the secret of this site",
                    received="one of another site, or one that was changed or cut",
                    advice="restore the vault, or keys/surrogates.key, from a backup",
                    place=path.name,
                ) from error
            raise PassphraseError(
                "the passphrase of the vault",
                received="another one, or a vault that was changed or cut",
                advice="repeat it",
                place=path.name,
            ) from error
    return lines.found


class _Lines:
    """Keeps the notes that are asked for, as the stream comes."""

    def __init__(self, note: str | None) -> None:
        self.found: list[Remembered] = []
        self._note = note
        self._rest = b""

    def write(self, data: bytes, /) -> None:
        """Take all of `data`."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            note, listed = json.loads(line)
            if self._note in (None, note):
                self.found.append(Remembered(note, tuple(Replaced(*one) for one in listed)))


def _head(stream: BinaryIO, path: Path) -> tuple[bytes, str, bytes]:
    head = stream.readline(_MOST_HEAD)
    try:
        stated = json.loads(head)
        salt = bytes.fromhex(stated["salt"])
        if stated["format"] != _FORMAT or stated["under"] not in ("site", "passphrase") or len(salt) != _SALT_BYTES:
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{path.name}: expected a vault that `site-client deid --vault` wrote, got another file"
        ) from error
    return head, stated["under"], salt

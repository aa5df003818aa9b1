"""Who was what: an encrypted file with every replacement of a run, for a hospital that must be able to look back. Nobody else needs one, so none is made unless
somebody asks for it, and what was replaced is forgotten.

A first line names form and protection; behind it comes a stream (`protocols.share.stream`) of JSON lines, the day of the run and then one a note, under
a key of its own (docs/formats/vault.md; `site_client.deid.choices.opened_vault` reads it). That key is derived (HKDF-SHA256) from the secret of the site, or (scrypt, RFC 7914) from a passphrase, and a salt that no other vault has. A vault that was cut
or changed opens as a whole or not at all. Ids of notes come again in other runs; a digest of the text that was written tells whether a note is of this one.

Threat: who copies the vault has nothing without the secret of the site or the passphrase; who has both has every note as it was.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from foundation.errors import StorageError
from foundation.files import atomic_file
from foundation.os_errors import storage_error
from foundation.reservations import is_free, reserved
from protocols.keys.passphrase import COST
from protocols.share.stream import KEY_BYTES, EncryptingWriter
from shared.errors import ConfigurationError
from site_client.deid.mode import Replaced

FORMAT, VERSION = "deid-commons vault ", "2"
SALT_BYTES = 16
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


def digest_text(text: str) -> str:
    """SHA-256 of a text, in hexadecimal digits; line ends of any kind are one kind, and none at the end counts, as editors and tables write them.

    >>> digest_text("One.\\r\\nTwo.") == digest_text("One.\\nTwo.\\n")
    True
    """
    same = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    return hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()


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
        salt = secrets.token_bytes(SALT_BYTES)
        head = json.dumps({"format": FORMAT + VERSION, "under": key.protection, "salt": salt.hex()}).encode() + b"\n"
        stream = named.enter_context(atomic_file(path))
        stream.write(head)
        self.finished = False
        self._path = path
        self._named = named
        self._writer = EncryptingWriter(stream, key.derive(salt), head)
        self._write({"day": str(datetime.date.today())})

    def record(self, note: str, text: str, replaced: Sequence[Replaced]) -> None:
        """A `Recorder`."""
        listed = [[one.start, one.end, one.category, one.original, one.written] for one in replaced]
        self._write([note, digest_text(text), listed])

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

    def _write(self, value: object) -> None:
        self._writer.write((json.dumps(value) + "\n").encode())


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

"""What a vault holds, for whoever has its key; see `site_client.deid.choices.vault`, which writes it.

Nothing is told before all of it has proved to be whole.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from foundation.os_errors import map_os_errors
from protocols.errors import DigestError, EncryptionError, PassphraseError, VersionError
from protocols.share.stream import decrypt
from shared.errors import ConfigurationError
from site_client.deid.choices.vault import FORMAT, SALT_BYTES, VERSION, VaultKey, digest_text
from site_client.deid.mode import Replaced

_NO_TEXTS = "1"
_MOST_HEAD = 200


@dataclass(frozen=True)
class Remembered:
    """What was replaced in a note.

    Args:
        note: its id.
        replaced: in the order of the text.
        digest: of the text that was written (`digest_text`); None where the vault does not know it.
    """

    note: str
    replaced: tuple[Replaced, ...]
    digest: str | None = None


@dataclass(frozen=True)
class Opened:
    """What a vault holds.

    Args:
        day: on which its run began, where it was; None where the vault does not know it.
        notes: those that were asked for, in the order of the run.
    """

    day: datetime.date | None
    notes: tuple[Remembered, ...]

    def only(self, text: str, place: str) -> Opened:
        """The same with those notes alone of which this is the de-identified text.

        Args:
            text: as somebody has it.
            place: the name of the vault, for errors.

        Raises:
            ConfigurationError: the vault does not know the texts of its notes.
            DigestError: none has it.
        """
        if self.day is None:
            raise ConfigurationError(
                f"{place}: expected a vault that knows the texts of its run, got one of an earlier version, which can't tell whether this note "
                "is of it; leave --text out only if you know that it is"
            )
        digest = digest_text(text)
        same = tuple(one for one in self.notes if one.digest == digest)
        if not same:
            raise DigestError(
                f"the note as the run of {self.day} wrote it",
                received="another text",
                advice="look for the vault of the run that wrote it: what this one says is of another note, or of this one before it was changed",
                place=place,
            )
        return Opened(self.day, same)


def require_protection(path: Path, *, passphrase: bool) -> None:
    """Returns if a vault is under what somebody is about to give: before it is read, or made.

    Args:
        path: of the vault.
        passphrase: whether that is a passphrase, and not the secret of the site.

    Raises:
        ConfigurationError: the file is no vault.
        VersionError: it is of a version that this program does not know.
        PassphraseError: it is under the other.
        StorageError: it can't be read.
    """
    with map_os_errors(path), path.open("rb") as stream:
        _require_protection(_head(stream, path).protection, path, passphrase=passphrase)


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


def open_vault(path: Path, key: VaultKey, note: str | None = None) -> Opened:
    """What a vault holds, once all of it has proved to be whole.

    Args:
        path: of the vault.
        key: that it is under.
        note: the id of the one note that is asked for; None for all.

    Raises:
        ConfigurationError: the file is no vault.
        VersionError: it is of a version that this program does not know.
        PassphraseError: it is under another passphrase, or was changed.
        EncryptionError: it is under the secret of another site, or was changed or cut.
        StorageError: it can't be read.
    """
    with map_os_errors(path), path.open("rb") as stream:
        head = _head(stream, path)
        _require_protection(head.protection, path, passphrase=key.is_passphrase)
        lines = _Lines(note, with_texts=head.version != _NO_TEXTS)
        try:
            decrypt(stream, lines, key.derive(head.salt), head.line)
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
    return Opened(lines.day, tuple(lines.found))


class _Lines:
    """Keeps the notes that are asked for, as the stream comes."""

    def __init__(self, note: str | None, *, with_texts: bool) -> None:
        self.found: list[Remembered] = []
        self.day: datetime.date | None = None
        self._note = note
        self._with_texts = with_texts
        self._rest = b""

    def write(self, data: bytes, /) -> None:
        """Take all of `data`."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in map(json.loads, lines):
            if self._with_texts and self.day is None:
                self.day = datetime.date.fromisoformat(line["day"])
                continue
            note, *digest, listed = line
            if self._note in (None, note):
                replaced = tuple(Replaced(*one) for one in listed)
                self.found.append(Remembered(note, replaced, digest[0] if self._with_texts else None))


@dataclass(frozen=True)
class _Head:
    line: bytes
    version: str
    protection: str
    salt: bytes


def _head(stream: BinaryIO, path: Path) -> _Head:
    line = stream.readline(_MOST_HEAD)
    try:
        stated = json.loads(line)
        name, version = stated["format"][: len(FORMAT)], stated["format"][len(FORMAT) :]
        if name != FORMAT:
            raise ValueError
        if version not in (_NO_TEXTS, VERSION):
            raise VersionError(
                f"a vault of version {VERSION} or an earlier one",
                received="one of a later version",
                advice="open it with the program that wrote it",
                place=path.name,
            )
        salt = bytes.fromhex(stated["salt"])
        if stated["under"] not in ("site", "passphrase") or len(salt) != SALT_BYTES:
            raise ValueError
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{path.name}: expected a vault that `site-client deid --vault` wrote, got another file"
        ) from error
    return _Head(line, version, stated["under"], salt)

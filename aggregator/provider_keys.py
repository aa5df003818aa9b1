"""Which of the provider's own keys sign, open and count on a day: `keys/keys.json` beside the keys.

A new signing key is announced before it is used: until its turn the one before goes on signing, so that every site can have pulled
the announcement, and for as long after it what that one signed still counts. A new encryption key is used as soon as a
site knows it, and the one before opens what is sealed to it until its end. A key that was lost or stolen ends at once.

Without the file there are the two keys that `init` made. Writing it, whole, is what makes a rotation.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from aggregator.errors import WorkspaceError
from foundation.files import write_text
from foundation.os_errors import map_os_errors
from foundation.reading import read_text
from protocols.errors import ProtocolError
from protocols.fields import read_date
from protocols.keys.recipient import RecipientPublicKey
from protocols.keys.signing import PublicKey

SETTINGS = "keys.json"
FORMAT = 1
_ENDED = -datetime.timedelta(days=1)


class Purpose(StrEnum):
    """What a key is for."""

    SIGNING = "signing"
    ENCRYPTION = "encryption"


FIRST = {Purpose.SIGNING: "provider.pem", Purpose.ENCRYPTION: "recipient.pem"}


@dataclass(frozen=True)
class EarlierKey:
    """A key that another has followed.

    Args:
        purpose: what it is for.
        file: its name below keys/; the private half is removed after the end.
        public_key: in hexadecimal.
        used_until: the last day on which it signs; of an encryption key, that on which a site may seal to it.
        counts_until: the last day on which its signatures count, or on which it opens what was sealed to it.
    """

    purpose: Purpose
    file: str
    public_key: str
    used_until: datetime.date
    counts_until: datetime.date

    @property
    def key_id(self) -> str:
        """Its fingerprint."""
        kind = PublicKey if self.purpose == Purpose.SIGNING else RecipientPublicKey
        return kind.from_hex(self.public_key).key_id


@dataclass(frozen=True)
class ProviderKeys:
    """The provider's keys over time.

    Args:
        folder: keys/ of the workspace.
        newest: file of the newest key of each purpose.
        earlier: all before, oldest first.
    """

    folder: Path
    newest: dict[Purpose, str]
    earlier: tuple[EarlierKey, ...] = ()

    def newest_path(self, purpose: Purpose) -> Path:
        """The private key that sites are told of."""
        return self.folder / self.newest[purpose]

    def signing_path(self, day: datetime.date) -> Path:
        """The private key that signs on a day."""
        waiting_for = (key.file for key in self._of(Purpose.SIGNING) if key.used_until >= day)
        return self.folder / next(waiting_for, self.newest[Purpose.SIGNING])

    def earlier_signing(self, day: datetime.date) -> tuple[tuple[PublicKey, datetime.date], ...]:
        """Earlier keys whose signatures count on a day, each with its last day."""
        return tuple(
            (PublicKey.from_hex(key.public_key), key.counts_until)
            for key in self._of(Purpose.SIGNING)
            if key.counts_until >= day
        )

    def opening_paths(self, day: datetime.date) -> tuple[Path, ...]:
        """The private keys that open shares on a day, the newest first."""
        earlier = [key for key in reversed(self._of(Purpose.ENCRYPTION)) if key.counts_until >= day]
        return (self.newest_path(Purpose.ENCRYPTION), *(self.folder / key.file for key in earlier))

    def replace_newest(
        self, purpose: Purpose, public_key: str, file: str, day: datetime.date, overlap_days: int
    ) -> ProviderKeys:
        """These keys with a new one.

        Args:
            purpose: what it is for.
            public_key: of the newest until now.
            file: of the new one.
            day: today.
            overlap_days: how long the one before is used, and then counts; 0 ends it and all before it, at once.
        """
        days = datetime.timedelta(days=overlap_days)
        used = day + days if overlap_days else day + _ENDED
        # A signature may be on its way for as long as the announcement was.
        counts = used + days if purpose == Purpose.SIGNING else used
        before = EarlierKey(purpose, self.newest[purpose], public_key, used, counts)
        earlier = [_end_key(key, used) if key.purpose == purpose and not overlap_days else key for key in self.earlier]
        return replace(self, newest={**self.newest, purpose: file}, earlier=(*earlier, before))

    def save(self) -> None:
        """Write the file, whole: the rotation is made.

        Raises:
            StorageError: the disk is full.
        """
        stated = {
            "format": FORMAT,
            "newest": dict(self.newest),
            "earlier": [
                {
                    **vars(key),
                    "used_until": key.used_until.isoformat(),
                    "counts_until": key.counts_until.isoformat(),
                }
                for key in self.earlier
            ],
        }
        write_text(self.folder / SETTINGS, json.dumps(stated, indent=1))

    def remove_ended(self, day: datetime.date) -> list[str]:
        """Removes the private keys that have come to their end; the ids of those that were still there.

        Raises:
            StorageError: they can't be removed.
        """
        removed = []
        for key in self.earlier:
            path = self.folder / key.file
            if key.counts_until < day and path.exists():
                with map_os_errors(path):
                    path.unlink()
                removed.append(key.file)
        return removed

    def _of(self, purpose: Purpose) -> tuple[EarlierKey, ...]:
        return tuple(key for key in self.earlier if key.purpose == purpose)


def read_provider_keys(folder: Path) -> ProviderKeys:
    """The keys as the folder has them.

    Raises:
        WorkspaceError: the file is damaged.
    """
    path = folder / SETTINGS
    if not path.exists():
        return ProviderKeys(folder, dict(FIRST))
    try:
        stated = json.loads(read_text(path))
        if stated["format"] != FORMAT:
            raise WorkspaceError(f"{path.name}: expected format {FORMAT}, got another; use the version that made it")
        newest = {purpose: Path(stated["newest"][purpose]).name for purpose in Purpose}
        return ProviderKeys(folder, newest, tuple(map(_read_earlier, stated["earlier"])))
    except (ValueError, KeyError, TypeError, AttributeError, ProtocolError) as error:
        raise WorkspaceError(
            f"{path.name}: expected which keys are in use, found a damaged file; restore it from a backup"
        ) from error


def _read_earlier(stated: dict[str, str]) -> EarlierKey:
    return EarlierKey(
        purpose=Purpose(stated["purpose"]),
        file=Path(stated["file"]).name,
        public_key=str(stated["public_key"]),
        used_until=read_date(stated["used_until"], SETTINGS),
        counts_until=read_date(stated["counts_until"], SETTINGS),
    )


def _end_key(key: EarlierKey, day: datetime.date) -> EarlierKey:
    return replace(key, used_until=min(key.used_until, day), counts_until=min(key.counts_until, day))

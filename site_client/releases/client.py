"""The site's end of the release repository: `tuf.ngclient` over a source, with our errors in the place of its own.

Root, timestamp, snapshot and targets are verified in this order, each against what the site has seen before; then a target
is what the targets metadata say or it does not exist here.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tuf.api import exceptions as tuf_errors
from tuf.api.metadata import Metadata, TargetFile, Targets, Timestamp
from tuf.api.serialization import DeserializationError
from tuf.ngclient import Updater, UpdaterConfig

from foundation.errors import DeidError, StorageError
from foundation.os_errors import map_os_errors, storage_error
from protocols.bounded_reading import read_bounded
from protocols.errors import BoundsError, DigestError, SchemaError, SignatureError, StaleError
from protocols.release.manifest import FileEntry
from protocols.release.repository import (
    LIFETIME,
    MAX_METADATA_BYTES,
    MAX_ROTATIONS,
    MAX_TIMESTAMP_BYTES,
    METADATA,
    RELEASE_NAME,
    TARGETS,
    RootFingerprint,
    release_sequence,
)
from site_client.errors import SiteError
from site_client.releases.source import ReleaseSource
from site_client.trust import FIRST_ROOT, Trust

# Clocks are set by hand, time zones are mistaken for each other.
_TOLERANCE = datetime.timedelta(days=1)
_CONFIG = UpdaterConfig(
    max_root_rotations=MAX_ROTATIONS,
    root_max_length=MAX_METADATA_BYTES,
    timestamp_max_length=MAX_TIMESTAMP_BYTES,
    snapshot_max_length=MAX_METADATA_BYTES,
    targets_max_length=MAX_METADATA_BYTES,
)


def first_trust(source: ReleaseSource, name: str, fingerprint: str | None) -> Trust:
    """The trust with which a site begins: the first root of the repository, if its fingerprint is the one that was told.

    Args:
        source: of the releases.
        name: of the source.
        fingerprint: as the provider told it over another way, in digits or spoken.

    Raises:
        SiteError: none was told, or another one.
    """
    with _translated():
        root = source.download_bytes(f"{METADATA}/1.root.json", MAX_METADATA_BYTES)
    found = RootFingerprint.of(root)
    if fingerprint not in (found.key_id, found.spoken):
        raise SiteError(
            # Not telling the right one: whoever copied it from here would have compared nothing.
            "expected --fingerprint as the provider told you over a channel that you trust, "
            f"got {'another one than that of these releases' if fingerprint else 'none'}; "
            "ask the provider for it, and pull only if both agree"
        )
    return Trust(name, {FIRST_ROOT: root})


class ReleaseClient:
    """Verified access to a source.

    Args:
        trust: what the site has verified before.
        source: of the releases.
        scratch: an empty folder for the client's own files.
    """

    def __init__(self, trust: Trust, source: ReleaseSource, scratch: Path) -> None:
        self._folder, self._targets = scratch / METADATA, scratch / TARGETS
        for folder in (self._folder, self._targets):
            with map_os_errors(folder):
                folder.mkdir()
        trust.unpack(self._folder)
        self._source = source
        with _translated():
            self._updater = Updater(
                str(self._folder), METADATA, str(self._targets), TARGETS, source, _CONFIG, bootstrap=trust.first_root
            )

    def refresh(self) -> None:
        """Verify the newest metadata of the source.

        Raises:
            StaleError: older than what was seen before, expired, or from the future of this machine's clock.
            SignatureError, DigestError, SchemaError, BoundsError: not what the provider signed.
        """
        with _translated():
            self._updater.refresh()
            newest = (
                Metadata[Timestamp]
                .from_bytes(read_bounded(self._folder / "timestamp.json", MAX_TIMESTAMP_BYTES))
                .signed
            )
        # A clock that is behind would accept what has long expired, so it must not pass for a right one.
        if newest.expires - LIFETIME > _now() + _TOLERANCE:
            raise StaleError(
                f"releases that were signed before {_now():%Y-%m-%d %H:%M} UTC, which is the time of this machine",
                received=f"some that were signed about {newest.expires - LIFETIME:%Y-%m-%d %H:%M}",
                advice="set the clock of this machine",
            )

    def release_names(self) -> list[str]:
        """Names of all releases that the provider signs for, oldest first; after `refresh`.

        Raises:
            ProtocolError: the metadata are not what was verified.
        """
        with _translated():
            data = read_bounded(self._folder / "targets.json", MAX_METADATA_BYTES)
            delegations = Metadata[Targets].from_bytes(data).signed.delegations
        names = (delegations.roles or {}) if delegations is not None else {}
        return sorted(filter(RELEASE_NAME.fullmatch, names), key=release_sequence)

    def roots_and_targets(self) -> tuple[tuple[bytes, ...], bytes]:
        """The metadata of the roots, from the first on, and of the targets, as verified; after `refresh`."""
        verified = self.trust("")
        return verified.roots, verified.files["targets.json"]

    def has(self, target: str) -> bool:
        """Whether the provider signs for a target of this name; after `refresh`."""
        with _translated():
            return self._updater.get_targetinfo(target) is not None

    def read_unsigned(self, name: str, max_bytes: int) -> bytes:
        """A file beside the targets, for which nobody vouches: the caller has to find out what it is worth.

        Raises:
            StorageError: there is no such file.
            BoundsError: it is larger.
        """
        with _translated():
            return self._source.download_bytes(name, max_bytes)

    def read(self, target: str, max_bytes: int) -> bytes:
        """A small target.

        Raises:
            SchemaError: there is no such target.
            BoundsError: it is larger.
            ProtocolError: it is not what the provider signed.
        """
        info = self._info(target)
        if info.length > max_bytes:
            raise BoundsError(f"at most {max_bytes} bytes", received=str(info.length), advice="refuse it", place=target)
        path = self._targets / "document"
        with _translated():
            self._updater.download_target(info, str(path))
        return read_bounded(path, max_bytes)

    def download(self, target: str, entry: FileEntry, path: Path) -> None:
        """A target of any size, which must also be the one that its release lists.

        Raises:
            SchemaError: there is no such target.
            DigestError: the release lists another.
            ProtocolError: it is not what the provider signed.
        """
        info = self._info(target)
        if (info.length, info.hashes.get("sha256")) != (entry.bytes, entry.sha256):
            raise DigestError(
                "the file that the release lists", received="another", advice="tell the provider", place=target
            )
        with _translated():
            self._updater.download_target(info, str(path))

    def trust(self, source: str) -> Trust:
        """What is verified by now."""
        return Trust.pack(self._folder, source)

    def _info(self, target: str) -> TargetFile:
        with _translated():
            info = self._updater.get_targetinfo(target)
        if info is None:
            raise SchemaError(
                "a target that the provider signed for",
                received="none of this name",
                advice="tell the provider",
                place=target,
            )
        return info


@contextmanager
def _translated() -> Iterator[None]:
    """What went wrong in `tuf`, as an error of ours; the more special kinds first."""
    try:
        yield
    except DeidError:
        raise
    except tuf_errors.ExpiredMetadataError as error:
        raise StaleError(
            f"releases that are valid at {_now():%Y-%m-%d %H:%M} UTC, the time of this machine",
            received=f"expired ones ({error})",
            advice="check the clock; if it is right, get the newest releases from the provider",
        ) from error
    except tuf_errors.BadVersionNumberError as error:
        raise StaleError(
            "releases at least as new as those that this site has seen",
            received=f"older ones ({error})",
            advice="get the newest releases from the provider",
        ) from error
    except tuf_errors.UnsignedMetadataError as error:
        raise SignatureError(
            "metadata that enough keys of the provider have signed",
            received=str(error),
            advice="refuse these releases and tell the provider",
        ) from error
    except (tuf_errors.LengthOrHashMismatchError, DeserializationError) as error:
        kind = SchemaError if isinstance(error, DeserializationError) else DigestError
        raise kind(
            "the bytes that were signed for", received="other bytes", advice="copy or pull the releases again"
        ) from error
    except tuf_errors.DownloadLengthMismatchError as error:
        raise BoundsError(
            "files of the size that was signed for", received=str(error), advice="refuse these releases"
        ) from error
    except tuf_errors.DownloadHTTPError as error:
        raise StorageError(
            "all files of the releases", received=str(error), advice="copy or pull the releases again"
        ) from error
    except (tuf_errors.RepositoryError, tuf_errors.DownloadError) as error:
        raise SignatureError(
            "metadata that belong together", received=str(error), advice="refuse these releases and tell the provider"
        ) from error
    except OSError as error:
        raise storage_error(Path(str(error.filename or "releases")), error) from error


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)

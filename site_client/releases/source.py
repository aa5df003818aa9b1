"""Where releases come from: a folder such as a stick, or a server. Nothing here is trusted; everything is bounded.

A source hands out bytes by relative name and stops at a limit. What they are worth, `site_client.releases.client` finds out.
"""

from __future__ import annotations

import os
import stat
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tuf.api.exceptions import DownloadHTTPError, DownloadLengthMismatchError
from tuf.ngclient import FetcherInterface

from foundation.errors import StorageError
from foundation.os_errors import map_os_errors, storage_error
from protocols.release.repository import MAX_FILE_BYTES, MAX_METADATA_BYTES, METADATA, TARGETS
from shared.errors import ConfigurationError
from site_client.errors import RefusedError, SiteError
from site_client.exchange.transport import Connection, RetryPolicy, Transport

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Network:
    """The way out of the house.

    Args:
        ca: file with the certificates to trust, PEM; None for those of this machine.
        proxy: such as http://proxy:3128; None for what the environment says.
        retry_policy: for a server that does not answer.
        tell: takes a line for the person in front of the machine.
    """

    ca: Path | None = None
    proxy: str | None = None
    retry_policy: RetryPolicy = field(default_factory=lambda: RetryPolicy(awaits_absent=False))
    tell: Callable[[str], None] = lambda line: None

    def fetch(self, url: str, max_bytes: int) -> Iterator[bytes]:
        """The bytes at an https address, not verified.

        Raises:
            TransportError: there is none, or no answer.
            BoundsError: more than `max_bytes`.
        """
        with self.transport(url) as transport:
            yield from transport.fetch(url, max_bytes)

    def transport(self, url: str) -> Transport:
        """An open connection to the server of an address."""
        host = "/".join(url.split("/")[:3])
        return Transport(Connection(host, self.ca, self.proxy, self.retry_policy), tell=self.tell)


class ReleaseSource(FetcherInterface):
    """A source of releases.

    Args:
        scratch: folder for what is being read.
    """

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch

    @abstractmethod
    def chunks(self, name: str, max_bytes: int) -> Iterator[bytes]:
        """The bytes of a file of the repository, perhaps more than `max_bytes`.

        Raises:
            DownloadHTTPError: there is no such file; the status is 404.
        """

    @contextmanager
    def download_file(self, url: str, max_length: int) -> Iterator[IO[bytes]]:
        """The interface of `tuf.ngclient`, but the file lies beside its target, and metadata are never large.

        Raises:
            DownloadLengthMismatchError: it does not end where it should.
        """
        limit = min(max_length, MAX_METADATA_BYTES) if url.startswith(f"{METADATA}/") else max_length
        with tempfile.TemporaryFile(dir=self._scratch) as file:
            received = 0
            for chunk in self.chunks(url, limit):
                received += len(chunk)
                if received > limit:
                    raise DownloadLengthMismatchError(f"{url}: expected at most {limit} bytes, received more")
                file.write(chunk)
            file.seek(0)
            yield file

    def close(self) -> None:
        """Let go of whatever the source holds open."""

    def _fetch(self, url: str) -> Iterator[bytes]:
        return self.chunks(url, MAX_FILE_BYTES)


class FolderSource(ReleaseSource):
    """A repository in a folder."""

    def __init__(self, root: Path, scratch: Path) -> None:
        super().__init__(scratch)
        self._root = root

    def chunks(self, name: str, max_bytes: int) -> Iterator[bytes]:
        """The content of a file, piece by piece."""
        path = self._root / name
        try:
            # Neither a link out of the folder nor a pipe that never ends its wait.
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError as error:
            raise DownloadHTTPError(f"{name}: no such file", 404) from error
        except OSError as error:
            raise storage_error(path, error) from error
        with map_os_errors(path), os.fdopen(handle, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise StorageError(
                    "a regular file", received="something else", advice="check the path", place=path.name
                )
            while chunk := file.read(_CHUNK):
                yield chunk


class ServerSource(ReleaseSource):
    """A repository on a server."""

    def __init__(self, base: str, scratch: Path, network: Network) -> None:
        super().__init__(scratch)
        self._base, self._transport = base.rstrip("/"), network.transport(base)

    def chunks(self, name: str, max_bytes: int) -> Iterator[bytes]:
        """The content of a file, piece by piece."""
        try:
            # Targets are named by their content; all else is replaced under its name.
            anew = not name.startswith(f"{TARGETS}/")
            yield from self._transport.fetch(f"{self._base}/{name}", max_bytes, anew=anew)
        except RefusedError as error:
            if error.code == "not-found":
                raise DownloadHTTPError(f"{name}: no such file", 404) from error
            raise

    def close(self) -> None:
        """Let go of connections."""
        self._transport.__exit__(None, None, None)


def open_source(source: str, scratch: Path, network: Network) -> ReleaseSource:
    """The source that a person named.

    Args:
        source: a folder, or an address that starts with https://.
        scratch: folder for what is being read.
        network: the way to a server.

    Raises:
        SiteError: neither.
        ConfigurationError: a folder, and a way to a server.
    """
    if source.startswith("https://"):
        return ServerSource(source, scratch, network)
    if "://" in source:
        raise SiteError(
            "expected a folder or an address that starts with https://, got another kind of address; correct it"
        )
    if network.ca is not None or network.proxy is not None:
        raise ConfigurationError(
            f"--ca and --proxy: expected an address that starts with https://, got the folder {source}; leave them out"
        )
    root = Path(source)
    if not (root / METADATA).is_dir():
        raise SiteError(
            f"{source}: expected a release repository, a folder that holds {METADATA}/ and targets/, found none; "
            "give the provider's folder releases/ as it was copied"
        )
    return FolderSource(root, scratch)

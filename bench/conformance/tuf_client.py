"""The client of `site-client pull`, spoken to as the TUF conformance suite speaks to every client.

The suite starts it anew for each command. What a pull keeps in `trust.json` lies in the suite's folder as TRUST, and beside it the
metadata under their plain names, as the suite looks for them. Nothing is verified here: all of it is
`site_client.releases.client.ReleaseClient`, over a source that speaks plain HTTP to the suite on this machine, as no
source of the program does.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from tuf.api.exceptions import DownloadHTTPError

from foundation.errors import DeidError
from protocols.release.repository import MAX_DOCUMENT_BYTES, METADATA, TARGETS
from site_client.releases.client import ReleaseClient
from site_client.releases.source import ReleaseSource
from site_client.trust import FIRST_ROOT, Trust

TRUST = "trust"
_SOURCE = "conformance suite"
_CHUNK = 1 << 16
_SILENCE_S = 20


class SuiteSource(ReleaseSource):
    """The repository of the suite.

    Args:
        bases: addresses of the metadata and of the targets, by the names under which our client asks for them.
        scratch: folder for what is being read.
    """

    def __init__(self, bases: dict[str, str], scratch: Path) -> None:
        super().__init__(scratch)
        self._bases = bases

    def chunks(self, name: str, max_bytes: int) -> Iterator[bytes]:
        """The content of a file, piece by piece."""
        kind, _, path = name.partition("/")
        address = f"{self._bases[kind].rstrip('/')}/{path}"
        if not address.startswith("http://127.0.0.1:"):
            raise DownloadHTTPError(f"{name}: not an address of the suite", 404)
        try:
            with urllib.request.urlopen(address, timeout=_SILENCE_S) as answer:  # noqa: S310 - looked at above
                while chunk := answer.read(_CHUNK):
                    yield chunk
        except urllib.error.HTTPError as error:
            raise DownloadHTTPError(f"{name}: no such file", error.code) from error


def init(metadata: Path, root: Path) -> None:
    """Begin with a root that is trusted, as after a first pull with the right fingerprint."""
    data = root.read_bytes()
    Trust(_SOURCE, {FIRST_ROOT: data}).save(metadata / TRUST)
    (metadata / "root.json").write_bytes(data)


def update(metadata: Path, bases: dict[str, str], targets: Sequence[str], folder: Path | None) -> None:
    """Refresh, and download targets, in the way of a pull.

    Raises:
        DeidError: as `ReleaseClient`.
    """
    trust = Trust.load(metadata / TRUST)
    if trust is None:
        raise SystemExit(1)
    with tempfile.TemporaryDirectory(dir=metadata.parent) as place:
        scratch = Path(place)
        client = ReleaseClient(trust, SuiteSource(bases, scratch), scratch)
        try:
            client.refresh()
            for target in targets:
                if folder is None:
                    raise SystemExit(1)
                data = client.read(target, MAX_DOCUMENT_BYTES)
                (folder / urllib.parse.quote(target, safe="")).write_bytes(data)
        finally:
            # As a pull, whether it succeeds or not.
            _keep(client.trust(_SOURCE), metadata)


def _keep(trust: Trust, metadata: Path) -> None:
    """What the client trusts from now on, and beside it the metadata where the suite looks for them."""
    trust.save(metadata / TRUST)
    newest = max(trust.files, key=_version)
    for name, data in {**trust.files, "root.json": trust.files[newest]}.items():
        if "/" not in name:
            (metadata / name).write_bytes(data)


def _version(name: str) -> int:
    """Of a root by its name; 0 for all others."""
    number = name.rpartition("/")[2].split(".")[0]
    return int(number) if "/" in name else 0


def main(arguments: Sequence[str]) -> int:
    """One command of the suite; 1 for whatever did not succeed."""
    parser = argparse.ArgumentParser()
    for name in ("--metadata-url", "--target-base-url"):
        parser.add_argument(name, default="")
    parser.add_argument("--metadata-dir", type=Path, required=True)
    parser.add_argument("--target-name", action="append", default=[])
    parser.add_argument("--target-dir", type=Path)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("init").add_argument("root", type=Path)
    commands.add_parser("refresh")
    commands.add_parser("download")
    given = parser.parse_args(arguments)
    try:
        if given.command == "init":
            init(given.metadata_dir, given.root)
        else:
            bases = {METADATA: given.metadata_url, TARGETS: given.target_base_url}
            update(given.metadata_dir, bases, given.target_name, given.target_dir)
    except DeidError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What a site has ever verified of the release repository: the root that it pinned, every root since, the newest metadata.

It lies in one file, `trust.json`, that is replaced as a whole: it never shows half of a pull. Whoever could take metadata
out of it unnoticed could bring back old ones, so it carries a digest, and a damaged file is an error.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from foundation.errors import StorageError
from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from protocols.bounded_reading import read_bounded
from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import DigestError, ProtocolError
from protocols.fields import SHA256, Fields, check_text
from protocols.release.repository import RootFingerprint
from site_client.errors import WorkspaceError

FORMAT = 1
FIRST_ROOT = "root_history/1.root.json"
_MAX_BYTES = 256 << 20
_MAX_FILES = 2000
_KEYS = ("files", "format", "sha256", "source")
_SOURCE = re.compile(r"[^\x00-\x1f\x7f]{1,4096}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]*")
_NAME = re.compile(r"root_history/[1-9][0-9]*\.root\.json|[0-9a-z-]+\.json")


@dataclass(frozen=True)
class Trust:
    """The verified state.

    Args:
        source: folder or address that releases came from last.
        files: metadata by the name under which `tuf.ngclient` keeps them.
    """

    source: str
    files: Mapping[str, bytes]

    @property
    def first_root(self) -> bytes:
        """The root that the site pinned."""
        return self.files[FIRST_ROOT]

    @property
    def roots(self) -> tuple[bytes, ...]:
        """Every root, from the pinned one on."""
        found = [(int(name.split("/")[1].split(".")[0]), data) for name, data in self.files.items() if "/" in name]
        return tuple(data for _, data in sorted(found))

    @property
    def fingerprint(self) -> RootFingerprint:
        """Of the root that the site pinned."""
        return RootFingerprint.of(self.first_root)

    @property
    def valid_until(self) -> datetime.date:
        """Last day of the newest metadata: from then on a release may have been replaced or withdrawn without a word to this site."""
        stated = json.loads(self.files["timestamp.json"])["signed"]["expires"]
        return datetime.datetime.fromisoformat(stated).date()

    def unpack(self, folder: Path) -> None:
        """Lay the metadata out for `tuf.ngclient`."""
        for name, data in self.files.items():
            path = folder / name
            with map_os_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)

    @classmethod
    def pack(cls, folder: Path, source: str) -> Trust:
        """What `tuf.ngclient` has left in a folder."""
        with map_os_errors(folder):
            found = sorted(path for path in folder.rglob("*.json") if path.is_file() and not path.is_symlink())
            return cls(source, {path.relative_to(folder).as_posix(): path.read_bytes() for path in found})

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all.

        Raises:
            StorageError: the disk is full.
        """
        value = self._to_json()
        write_bytes(path, canonical_bytes({**value, "sha256": _digest(value)}))

    @classmethod
    def load(cls, path: Path) -> Trust | None:
        """The state that `save` wrote; None before the first pull.

        Raises:
            WorkspaceError: the file is damaged.
        """
        if not path.exists():
            return None
        try:
            value = parse_canonical(read_bounded(path, _MAX_BYTES), max_bytes=_MAX_BYTES, place=path.name)
            fields = Fields(value, _KEYS, path.name)
            fields.version("format", FORMAT)
            stated = fields.mapping("files", most=_MAX_FILES)
            names = Fields(stated, stated, path.name)
            files = {name: base64.b64decode(names.text(name, _BASE64), validate=True) for name in stated}
            trust = cls(fields.text("source", _SOURCE), files)
            if fields.text("sha256", SHA256) != _digest(trust._to_json()):
                raise DigestError("the digest of the file", received="another", place=path.name)
            for name in (FIRST_ROOT, *files):
                check_text(name if name in files else "", _NAME, path.name)
        except (ProtocolError, StorageError, ValueError) as error:
            raise WorkspaceError(
                f"{path.name}: expected what this site has verified of the releases, found a damaged file; restore it from a "
                "backup, or move it away and pull with --fingerprint as the provider tells it you"
            ) from error
        return trust

    def _to_json(self) -> dict[str, Json]:
        files: dict[str, Json] = {name: base64.b64encode(data).decode("ascii") for name, data in self.files.items()}
        return {"files": files, "format": FORMAT, "source": self.source}


def _digest(value: dict[str, Json]) -> str:
    return hashlib.sha256(canonical_bytes(value)).hexdigest()

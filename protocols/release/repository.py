"""What both sides know of the release repository: names, limits, lifetimes, and the two small targets beside the releases.

The repository is one of The Update Framework (TUF): `metadata/` and `targets/`. Every release is a delegated role of its
own, named like its folder, `NNNN-kind`. `latest.json` names the release to use, `reference.json` within a release says
where a public file lies that the release lists but the repository does not carry.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import BoundsError
from protocols.fields import LINE, SHA256, Fields, check_range, check_text, check_version
from protocols.keys import fingerprint
from protocols.release.files import check_name
from protocols.release.manifest import FileEntry

METADATA, TARGETS = "metadata", "targets"
LATEST, PROVIDER, REFERENCE = "latest.json", "provider.json", "reference.json"
FORMAT_VERSION = 1

# A hospital without a network lives with a stick for as long as metadata is valid.
ROOT_LIFETIME = datetime.timedelta(days=365)
LIFETIME = datetime.timedelta(days=45)

MAX_METADATA_BYTES = 1 << 20
MAX_TIMESTAMP_BYTES = 16 << 10
MAX_DOCUMENT_BYTES = 256 << 10
MAX_FILE_BYTES = 16 << 30
MAX_TEXT_BYTES = 1 << 30
"""Of a file that holds no tensors: it is read as a whole."""
MAX_TOTAL_BYTES = 20 << 30
"""Of all files of a release together: the largest file, word vectors, and a quarter of it for everything else."""
MAX_ROTATIONS = 256
MAX_WARRANT_BYTES = 16 << 20
"""Of what shows that a checkpoint was signed for: every root, and the metadata of all releases."""

RELEASE_NAME = re.compile(r"[0-9]{4,9}-(representer|pipeline)")
URL = re.compile(
    r"https://(?=[^/:]{1,253}[/:])(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?\.)+"
    r"[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?::[0-9]{1,5})?/(?:(?![?#\\])[!-~]){1,1700}"
)
"""Of a file elsewhere. A hospital asks for it from within its own network: so it names no machine by a number or by a name that means
one in the house alone, and asks nothing of it but a file."""
_URL_IN_WORDS = "https://, the name of a host with a dot in it, and a path"


@dataclass(frozen=True)
class RootFingerprint:
    """What a site compares before it trusts a provider for the first time: 128 bits of the SHA-256 of `1.root.json`.

    Args:
        key_id: in digits.
    """

    key_id: str

    @property
    def spoken(self) -> str:
        """The same, to compare by ear."""
        return fingerprint.pronounce_fingerprint(self.key_id)

    @classmethod
    def of(cls, root: bytes) -> RootFingerprint:
        """The fingerprint of the bytes of `1.root.json`."""
        return cls(fingerprint.digits(hashlib.sha256(root).digest()))


def release_name(sequence: int, kind: str) -> str:
    """Name of a release, its folder and its role.

    >>> release_name(7, "pipeline")
    '0007-pipeline'
    """
    return f"{sequence:04}-{kind}"


def release_sequence(name: str) -> int:
    """Number of a release by its name. Names are sorted by it, never as text, in which 10000 comes before 9999.

    >>> sorted(["10000-pipeline", "9999-representer"], key=release_sequence)
    ['9999-representer', '10000-pipeline']
    """
    return int(name.partition("-")[0])


def newest_pipeline(names: Iterable[str]) -> str | None:
    """The last release among some that is a whole pipeline: what hospitals de-identify with, whatever was published since."""
    return max((name for name in names if name.endswith("-pipeline")), key=release_sequence, default=None)


def latest_bytes(release: str) -> bytes:
    """The bytes of `latest.json`."""
    check_text(release, RELEASE_NAME, LATEST)
    return canonical_bytes({"format_version": FORMAT_VERSION, "release": release})


def read_latest(data: bytes) -> str:
    """Name of the release that `latest.json` names.

    Raises:
        SchemaError, VersionError: not what `latest_bytes` writes.
    """
    value = parse_canonical(data, max_bytes=MAX_DOCUMENT_BYTES, place=LATEST)
    if isinstance(value, dict):
        check_version(value.get("format_version"), FORMAT_VERSION, LATEST)
    return Fields(value, {"format_version", "release"}, LATEST).text("release", RELEASE_NAME)


@dataclass(frozen=True)
class Reference:
    """A public file of a release that lies elsewhere.

    Args:
        file: its name in the release.
        url: where it lies, HTTPS: a host by a name with a dot, a port or none, and a path; no query.
        entry: its size and digest, the same as the release lists.

    Raises:
        SchemaError: another kind of address, or a name that no release may hold.
        BoundsError: larger than a site takes.
    """

    file: str
    url: str
    entry: FileEntry

    def __post_init__(self) -> None:
        check_name(self.file, REFERENCE)
        check_text(self.url, URL, "address of the file", _URL_IN_WORDS)
        check_range(self.entry.bytes, 1, MAX_FILE_BYTES, REFERENCE)

    def to_bytes(self) -> bytes:
        """The bytes of `reference.json`."""
        value: dict[str, Json] = {
            "bytes": self.entry.bytes,
            "file": self.file,
            "format_version": FORMAT_VERSION,
            "sha256": self.entry.sha256,
            "url": self.url,
        }
        return canonical_bytes(value)

    @classmethod
    def from_bytes(cls, data: bytes) -> Reference:
        """Reads what `to_bytes` wrote, and nothing else.

        Raises:
            ProtocolError: anything else.
        """
        value = parse_canonical(data, max_bytes=MAX_DOCUMENT_BYTES, place=REFERENCE)
        if isinstance(value, dict):
            check_version(value.get("format_version"), FORMAT_VERSION, REFERENCE)
        fields = Fields(value, {"bytes", "file", "format_version", "sha256", "url"}, REFERENCE)
        entry = FileEntry(fields.integer("bytes"), fields.text("sha256", SHA256))
        return cls(fields.text("file", LINE), fields.text("url", URL, _URL_IN_WORDS), entry)


def check_sizes(files: Mapping[str, FileEntry], max_bytes: int = MAX_TOTAL_BYTES) -> None:
    """Returns if neither a file of a release nor all of them together are larger than a site takes.

    Args:
        files: of the release.
        max_bytes: for all of them together, where the site takes less than anybody may.

    Raises:
        BoundsError: they are.
    """
    for name, entry in files.items():
        check_range(entry.bytes, 0, MAX_FILE_BYTES if name.endswith(".safetensors") else MAX_TEXT_BYTES, name)
    total, most = sum(entry.bytes for entry in files.values()), min(max_bytes, MAX_TOTAL_BYTES)
    if total > most:
        raise BoundsError(
            f"a release of at most {most} bytes",
            received=f"one of {total}",
            advice="ask the provider for a smaller one",
        )

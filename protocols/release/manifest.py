"""`release.json`: what a release is, and size and digest of every file in it."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import SchemaError
from protocols.fields import LINE, MEASURE, NAME, SHA256, Fields, check_range, check_text, check_version
from protocols.release.files import MAX_FILES, check_names

FORMAT_VERSION = 1
MAX_RELEASE_BYTES = 1 << 20
KINDS = ("representer", "pipeline")
_KEY_ID = re.compile(r"[0-9a-f]{4}(-[0-9a-f]{4}){7}")
_NOTES = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f]{0,4000}")
_MAX_SOFTWARE = 32


@dataclass(frozen=True)
class FileEntry:
    """Size and digest of one file.

    Args:
        bytes: its size.
        sha256: its SHA-256, 64 hexadecimal digits.
    """

    bytes: int
    sha256: str


@dataclass(frozen=True)
class ReleaseFields:
    """What the provider states about a release; files and key are added when it is sealed.

    Args:
        kind: "representer" or "pipeline".
        name: of the model.
        sequence: number of the release, from 1, growing.
        created: the day.
        label_scheme: name of the label scheme.
        software: versions by name of the program.
        notes: for the reader, at most 4,000 characters.
    """

    kind: str
    name: str
    sequence: int
    created: datetime.date
    label_scheme: str
    software: Mapping[str, str]
    notes: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(" or ".join(KINDS), received="another kind", advice="correct it", place="kind")
        check_text(self.name, NAME, "name")
        check_range(self.sequence, 1, 2**31 - 1, "sequence")
        check_text(self.label_scheme, NAME, "label_scheme")
        check_text(self.notes, _NOTES, "notes")
        if type(self.created) is not datetime.date:
            raise SchemaError("a day without a time", received=type(self.created).__name__, place="created")
        check_range(len(self.software), 0, _MAX_SOFTWARE, "software")
        for program, version in self.software.items():
            check_text(program, MEASURE, "software")
            check_text(version, LINE, "software")
        object.__setattr__(self, "software", MappingProxyType(dict(self.software)))


@dataclass(frozen=True, kw_only=True)
class ReleaseManifest(ReleaseFields):
    """The whole of `release.json`.

    Args:
        files: entry of every file by its relative name.
        provider: id of the key that signs.
    """

    files: Mapping[str, FileEntry]
    provider: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_text(self.provider, _KEY_ID, "provider")
        check_names(list(self.files), "files")
        for entry in self.files.values():
            check_range(entry.bytes, 0, 2**53 - 1, "files")
            check_text(entry.sha256, SHA256, "files")
        object.__setattr__(self, "files", MappingProxyType(dict(self.files)))

    def to_bytes(self) -> bytes:
        """The bytes of `release.json`, canonical, which are signed."""
        value: dict[str, Json] = {
            "created": self.created.isoformat(),
            "files": {name: {"bytes": entry.bytes, "sha256": entry.sha256} for name, entry in self.files.items()},
            "format_version": FORMAT_VERSION,
            "kind": self.kind,
            "label_scheme": self.label_scheme,
            "name": self.name,
            "notes": self.notes,
            "provider": self.provider,
            "sequence": self.sequence,
            "software": dict(self.software),
        }
        return canonical_bytes(value)

    @property
    def digest(self) -> str:
        """SHA-256 of `release.json`: the identity of the release, which shares name."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @classmethod
    def from_bytes(cls, data: bytes, place: str = "release.json") -> ReleaseManifest:
        """Reads what `to_bytes` wrote, and nothing else.

        Raises:
            VersionError: another format version.
            SchemaError: another key, type, spelling, or a name that no release may hold.
            BoundsError: a number beyond its limits.
        """
        value = parse_canonical(data, max_bytes=MAX_RELEASE_BYTES, place=place)
        if isinstance(value, dict):
            check_version(value.get("format_version"), FORMAT_VERSION, place)
        fields = Fields(value, _KEYS, place)
        software = fields.mapping("software", most=_MAX_SOFTWARE)
        return cls(
            kind=fields.text("kind", NAME),
            name=fields.text("name", NAME),
            sequence=fields.integer("sequence"),
            created=fields.date("created"),
            label_scheme=fields.text("label_scheme", NAME),
            software={program: Fields(software, software, place).text(program, LINE) for program in software},
            notes=fields.text("notes", _NOTES),
            files={name: _entry(entry, place) for name, entry in fields.mapping("files", most=MAX_FILES).items()},
            provider=fields.text("provider", _KEY_ID),
        )


def _entry(value: Json, place: str) -> FileEntry:
    fields = Fields(value, ("bytes", "sha256"), place)
    return FileEntry(fields.integer("bytes"), fields.text("sha256", SHA256))


_KEYS = frozenset(field.name for field in dataclasses.fields(ReleaseManifest)) | {"format_version"}

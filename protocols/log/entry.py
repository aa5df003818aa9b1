"""What the log says of a release: its number, its kind and its digest. Entry number `n`, from 0, is of release `n + 1`.

So a log has room for one release of a number, and whoever holds a checkpoint of `n` releases knows that release `n` is the newest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from protocols.canonical import canonical_bytes, parse_canonical
from protocols.fields import SHA256, Fields, check_range, check_text, check_version

FORMAT_VERSION = 1
_MAX_BYTES = 1024
_KIND = re.compile(r"representer|pipeline")


@dataclass(frozen=True)
class ReleaseEntry:
    """A release in the log.

    Args:
        sequence: its number.
        kind: "representer" or "pipeline".
        digest: SHA-256 of its `release.json`, 64 hexadecimal digits.
    """

    sequence: int
    kind: str
    digest: str

    def __post_init__(self) -> None:
        check_range(self.sequence, 1, 2**31 - 1, "sequence")
        check_text(self.kind, _KIND, "kind")
        check_text(self.digest, SHA256, "digest")

    def to_bytes(self) -> bytes:
        """The entry, canonical, which is what the log holds."""
        return canonical_bytes({**vars(self), "format_version": FORMAT_VERSION})

    @classmethod
    def from_bytes(cls, data: bytes, place: str = "entry of the log") -> ReleaseEntry:
        """Reads what `to_bytes` wrote, and nothing else.

        Raises:
            ProtocolError: anything else.
        """
        value = parse_canonical(data, max_bytes=_MAX_BYTES, place=place)
        if isinstance(value, dict):
            check_version(value.get("format_version"), FORMAT_VERSION, place)
        fields = Fields(value, ("digest", "format_version", "kind", "sequence"), place)
        return cls(fields.integer("sequence"), fields.text("kind", _KIND), fields.text("digest", SHA256))

"""The JSON messages of the HTTP interface, each with its limits; both sides write and read them here.

A message is canonical JSON. Requests are signed (see `protocols.http.signatures`), so that what is verified is what was
written; answers come over TLS, and what matters in them (receipts, releases) carries a signature of its own.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import SchemaError
from protocols.fields import LINE, SHA256, Fields, check_text

MAX_CHUNK_BYTES = 4 << 20
# The least that a bundle can be, and the most that any server takes; a server's own limit is lower.
MIN_BUNDLE_BYTES = 64
MAX_BUNDLE_BYTES = 1 << 40
MAX_MESSAGE_BYTES = 64 << 10

# Why a request was refused, for programs; the line beside it is for people.
PROBLEMS = (
    "unsigned",
    "stale",
    "replayed",
    "unknown-key",
    "revoked",
    "malformed",
    "digest",
    "offset",
    "gone",
    "conflict",
    "too-large",
    "too-many",
    "slow",
    "full",
    "not-found",
    "internal",
)
_LONGEST_LINE = 200
_SERVER = re.compile(r"https://[A-Za-z0-9.-]{1,253}(:[1-9][0-9]{0,4})?(/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,59}){0,4}/?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True)
class UploadRequest:
    """What a site wants to send.

    Args:
        bundle_sha256: digest of the bundle.
        bundle_bytes: its size.
    """

    bundle_sha256: str
    bundle_bytes: int

    def to_bytes(self) -> bytes:
        """The message as it travels, canonical JSON."""
        return canonical_bytes({"bundle_sha256": self.bundle_sha256, "bytes": self.bundle_bytes})

    @classmethod
    def from_bytes(cls, data: bytes) -> UploadRequest:
        """Reads what `to_bytes` wrote, and nothing else.

        Raises:
            SchemaError, BoundsError: anything else.
        """
        fields = Fields(_parsed(data), {"bundle_sha256", "bytes"}, "upload")
        size = fields.integer("bytes", least=MIN_BUNDLE_BYTES, most=MAX_BUNDLE_BYTES)
        return cls(fields.text("bundle_sha256", SHA256), size)


@dataclass(frozen=True)
class ServerTime:
    """The server's clock.

    Args:
        seconds: since 1970, UTC.
    """

    seconds: int

    def to_bytes(self) -> bytes:
        """The message as it travels, canonical JSON."""
        return canonical_bytes({"time": self.seconds})

    @classmethod
    def from_bytes(cls, data: bytes) -> ServerTime:
        """Reads what `to_bytes` wrote, and nothing else.

        Raises:
            SchemaError, BoundsError: anything else.
        """
        return cls(Fields(_parsed(data), {"time"}, "time").integer("time", most=10**11))


@dataclass(frozen=True)
class Problem:
    """Why the server refused.

    Args:
        code: one of `PROBLEMS`.
        message: one line: expected, came, what to do.
    """

    code: str
    message: str

    def __post_init__(self) -> None:
        if self.code not in PROBLEMS:
            raise SchemaError(f"one of {', '.join(PROBLEMS)}", received="another", place="problem")
        check_text(self.message, LINE, "problem")

    @classmethod
    def about(cls, code: str, message: str) -> Problem:
        """The problem with the message of any error, cut to one line of a length that can be sent."""
        # Names of files may hold what no canonical text may.
        text = message.encode("utf-8", "replace").decode("utf-8")
        line = unicodedata.normalize("NFC", _CONTROL.sub(" ", text))
        return cls(code, line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 3] + "...")

    def to_bytes(self) -> bytes:
        """The message as it travels, canonical JSON."""
        return canonical_bytes({"code": self.code, "message": self.message})

    @classmethod
    def from_bytes(cls, data: bytes) -> Problem:
        """Reads what `to_bytes` wrote, and nothing else.

        Raises:
            SchemaError, BoundsError: anything else.
        """
        fields = Fields(_parsed(data), {"code", "message"}, "problem")
        return cls(fields.text("code", LINE), fields.text("message", LINE))


def server_address(text: str) -> str:
    """The one spelling of a server's address, which both sides sign with: lower case, no default port, no slash at the end.

    Raises:
        SchemaError: not an https:// address.

    >>> server_address("https://DEID.example.org:443/hub/")
    'https://deid.example.org/hub'
    """
    if not _SERVER.fullmatch(text):
        raise SchemaError(
            "an address like https://deid.example.org", received="another", advice="correct it", place="server"
        )
    scheme, _, rest = text.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.lower().removesuffix(':443')}{slash}{path}".rstrip("/")


def _parsed(data: bytes) -> Json:
    return parse_canonical(data, max_bytes=MAX_MESSAGE_BYTES, place="message")

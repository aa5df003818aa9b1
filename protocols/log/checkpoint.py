"""Checkpoints (C2SP tlog-checkpoint): how many releases a provider's log has, and the root over all of them, signed.

The origin, which names the log, holds the fingerprint of the provider's first root: a site that has pinned this root knows
which log is its own, and a checkpoint of another provider's is told at once.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from protocols.canonical import Json
from protocols.errors import BoundsError, SchemaError
from protocols.fields import SHA256, Fields, check_range, check_text
from protocols.keys import fingerprint
from protocols.keys.signing import PrivateKey, PublicKey
from protocols.log.note import open_note, read_base64, sign_note

LOG = "log"
"""Folder of the log in a release repository."""
CHECKPOINT = f"{LOG}/checkpoint"
MAX_TEXT_BYTES = 4 << 10
"""With a signature it goes into an entry of a ledger, which holds 16 KiB."""
_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_CODE_CONTEXT = b"deid-commons release code v1\x00"


@dataclass(frozen=True)
class LogHead:
    """A log at one moment.

    Args:
        size: how many entries it has.
        root: of its Merkle tree, 64 hexadecimal digits.
    """

    size: int
    root: str

    def __post_init__(self) -> None:
        check_range(self.size, 0, 2**53 - 1, "size of the log")
        check_text(self.root, SHA256, "root of the log")

    def to_json(self) -> dict[str, Json]:
        """As receipts and ledgers state it."""
        return {"root": self.root, "size": self.size}

    @classmethod
    def from_json(cls, value: Json, place: str) -> LogHead:
        """Reads what `to_json` wrote, and nothing else.

        Raises:
            ProtocolError: anything else.
        """
        fields = Fields(value, ("root", "size"), place)
        return cls(fields.integer("size"), fields.text("root", SHA256))


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint says.

    Args:
        origin: name of the log.
        head: the log.
    """

    origin: str
    head: LogHead

    def sign(self, key: PrivateKey) -> bytes:
        """The signed note."""
        root = base64.b64encode(bytes.fromhex(self.head.root)).decode()
        return sign_note(f"{self.origin}\n{self.head.size}\n{root}\n", self.origin, key)


def log_origin(root_fingerprint: str) -> str:
    """Name of the log of the provider whose first root has this fingerprint, in digits."""
    return f"deid-commons/{root_fingerprint}"


def read_checkpoint(data: bytes, origin: str, public_keys: Iterable[PublicKey], place: str = CHECKPOINT) -> Checkpoint:
    """A checkpoint of the log `origin`, verified.

    Args:
        data: the signed note.
        origin: the log that it must be of.
        public_keys: of the provider, of which one must have signed.
        place: name for messages.

    Raises:
        SchemaError: no checkpoint, or one of another log.
        BoundsError: too long.
        SignatureError: not signed by the provider, or with a key that does not count any more.
    """
    # Of which log it claims to be comes first: a provider's keys sign under the name of its own log alone.
    if not data.startswith(f"{origin}\n".encode()):
        raise SchemaError(
            f"a checkpoint of the log {origin}", received="one of another log", advice="refuse it", place=place
        )
    return parse_checkpoint(open_note(data, origin, public_keys, place), place)


def parse_checkpoint(text: str, place: str = CHECKPOINT) -> Checkpoint:
    """What the text of a checkpoint says; whether somebody has signed it, `read_checkpoint` looks at.

    Raises:
        SchemaError: no checkpoint.
        BoundsError: longer than MAX_TEXT_BYTES.
    """
    if len(text.encode()) > MAX_TEXT_BYTES:
        raise BoundsError(
            f"a text of at most {MAX_TEXT_BYTES} bytes",
            received=str(len(text.encode())),
            advice="refuse it",
            place=place,
        )
    lines = text.removesuffix("\n").split("\n")
    if len(lines) < 3 or not all(lines) or not _SIZE.fullmatch(lines[1]):
        raise SchemaError("origin, size and root", received="something else", advice="refuse it", place=place)
    root = read_base64(lines[2], place)
    if len(root) != hashlib.sha256().digest_size:
        raise SchemaError("a root of 32 bytes", received=str(len(root)), advice="refuse it", place=place)
    return Checkpoint(lines[0], LogHead(int(lines[1]), root.hex()))


def release_code(release: str, head: LogHead | None) -> str:
    """What two hospitals compare: 128 bits, spoken, over the newest release and the log with all before it.

    Args:
        release: digest of the newest release, 64 hexadecimal digits.
        head: of the log; None where the provider keeps none.
    """
    head = head or LogHead(0, hashlib.sha256().hexdigest())
    stated = bytes.fromhex(release) + head.size.to_bytes(8, "big") + bytes.fromhex(head.root)
    return fingerprint.pronounce_fingerprint(fingerprint.digits(hashlib.sha256(_CODE_CONTEXT + stated).digest()))

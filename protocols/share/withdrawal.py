"""The withdrawal of a share: the site takes it back, signed, so that nobody else can."""

from __future__ import annotations

import dataclasses
import datetime
from dataclasses import dataclass

from protocols.canonical import Json
from protocols.fields import LINE, SHA256, SITE, check_range, check_text
from protocols.keys.signed_message import claimed_sender, open_message, seal_message
from protocols.keys.signing import WITHDRAWAL_CONTEXT, PrivateKey, PublicKey

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Withdrawal:
    """What the site asks for.

    Args:
        site: its name.
        sequence: number of the share at the site.
        manifest_sha256: digest of the share's manifest, as it was signed: the number alone could be mistyped.
        created: the day.
        reason: one line for people, may be empty; no text of a note belongs here.
    """

    site: str
    sequence: int
    manifest_sha256: str
    created: datetime.date
    reason: str

    def __post_init__(self) -> None:
        check_text(self.site, SITE, "site")
        check_range(self.sequence, 1, 2**31 - 1, "sequence")
        check_text(self.manifest_sha256, SHA256, "manifest_sha256")
        check_text(self.reason, LINE, "reason")

    def to_bytes(self, key: PrivateKey) -> bytes:
        """The withdrawal, signed by the site."""
        stated: dict[str, Json] = {**vars(self), "created": self.created.isoformat(), "format_version": FORMAT_VERSION}
        return seal_message("withdrawal", WITHDRAWAL_CONTEXT, stated, key)


def withdrawal_sender(data: bytes) -> tuple[str, str]:
    """The site and the id of the key that a withdrawal claims. NOTHING is verified: for finding the key.

    Raises:
        SchemaError: no withdrawal.
        UnsignedError: it has no signature.
    """
    return claimed_sender(data, "withdrawal")


def read_withdrawal(data: bytes, public_key: PublicKey) -> Withdrawal:
    """Reads and verifies what `Withdrawal.to_bytes` wrote.

    Args:
        data: the withdrawal.
        public_key: a key of the site that it names.

    Raises:
        ProtocolError: unsigned, signed by another, or malformed.
    """
    fields = open_message(
        data, "withdrawal", WITHDRAWAL_CONTEXT, keys=_KEYS, version=FORMAT_VERSION, public_key=public_key
    )
    return Withdrawal(
        site=fields.text("site", SITE),
        sequence=fields.integer("sequence"),
        manifest_sha256=fields.text("manifest_sha256", SHA256),
        created=fields.date("created"),
        reason=fields.text("reason", LINE),
    )


_KEYS = frozenset(field.name for field in dataclasses.fields(Withdrawal)) | {"format_version"}

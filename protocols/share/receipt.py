"""The receipt of a share: what the provider decided about it, signed, so that a site can prove it.

It names the entry of the provider's audit log that holds the decision; who collects receipts can later demand to see a log
in which that entry stands. It also says which release the provider calls its newest, and the head of the log of all releases:
a provider that shows two hospitals different ones has signed so to each (`protocols.log`).
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from dataclasses import dataclass
from enum import StrEnum

from protocols.canonical import Json
from protocols.errors import SchemaError
from protocols.fields import SHA256, SITE, check_range, check_text
from protocols.keys.signed_message import claimed_version, open_message, seal_message
from protocols.keys.signing import RECEIPT_CONTEXT, PrivateKey, PublicKey
from protocols.log.checkpoint import LogHead

FORMAT_VERSION = 1
LOGGED_VERSION = 2
"""Of a receipt that states the newest release and the log, which a reader of version 1 does not know."""
_REASON_CODE = re.compile(r"([a-z][a-z0-9-]{0,63})?")
# Empty where the share was refused before its manifest could be read.
_MANIFEST = re.compile(r"([0-9a-f]{64})?")


class ReceiptState(StrEnum):
    """What became of a share."""

    QUARANTINED = "quarantined"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


_STATE = re.compile("|".join(ReceiptState))


@dataclass(frozen=True)
class Receipt:
    """What the provider decided.

    Args:
        site: who sent the share.
        sequence: its number at the site.
        bundle_sha256: digest of the bundle, as it came.
        manifest_sha256: digest of its manifest, as the site signed it; "" if it was refused before it could be read.
        state: what was decided.
        reason_code: why, in a word for programs; "" for an accepted share.
        day: of the decision.
        log_head: hash of the entry in the audit log.
        newest_release: digest of the provider's newest release; "" where its releases have no log yet.
        release_log: the log of all releases; None where there is none.
    """

    site: str
    sequence: int
    bundle_sha256: str
    manifest_sha256: str
    state: ReceiptState
    reason_code: str
    day: datetime.date
    log_head: str
    newest_release: str = ""
    release_log: LogHead | None = None

    def __post_init__(self) -> None:
        check_text(self.site, SITE, "site")
        check_range(self.sequence, 1, 2**31 - 1, "sequence")
        check_text(self.bundle_sha256, SHA256, "bundle_sha256")
        check_text(self.manifest_sha256, _MANIFEST, "manifest_sha256")
        check_text(self.state, _STATE, "state")
        check_text(self.reason_code, _REASON_CODE, "reason_code")
        check_text(self.log_head, SHA256, "log_head")
        if self.newest_release or self.release_log is not None:
            check_text(self.newest_release, SHA256, "newest_release")
            if self.release_log is None:
                raise SchemaError("the log of that release", received="none", advice="state it", place="release_log")
        if self.state != ReceiptState.REJECTED and not self.manifest_sha256:
            raise SchemaError("the manifest's digest", received="none", advice="state it", place="manifest_sha256")

    def to_bytes(self, key: PrivateKey) -> bytes:
        """The receipt, signed by the provider."""
        stated: dict[str, Json] = {**vars(self), "day": self.day.isoformat(), "format_version": FORMAT_VERSION}
        del stated["newest_release"], stated["release_log"]
        if self.release_log is not None:
            logged: dict[str, Json] = {
                "newest_release": self.newest_release,
                "release_log": self.release_log.to_json(),
            }
            stated |= {**logged, "format_version": LOGGED_VERSION}
        return seal_message("receipt", RECEIPT_CONTEXT, stated, key)


def read_receipt(data: bytes, public_key: PublicKey) -> Receipt:
    """Reads and verifies what `Receipt.to_bytes` wrote.

    Args:
        data: the receipt.
        public_key: the provider's signing key.

    Raises:
        ProtocolError: unsigned, signed by another, or malformed.
    """
    logged = claimed_version(data, "receipt") == LOGGED_VERSION
    fields = open_message(
        data,
        "receipt",
        RECEIPT_CONTEXT,
        keys=_KEYS if logged else _KEYS - _LOGGED_KEYS,
        version=LOGGED_VERSION if logged else FORMAT_VERSION,
        public_key=public_key,
    )
    return Receipt(
        site=fields.text("site", SITE),
        sequence=fields.integer("sequence"),
        bundle_sha256=fields.text("bundle_sha256", SHA256),
        manifest_sha256=fields.text("manifest_sha256", _MANIFEST),
        state=ReceiptState(fields.text("state", _STATE)),
        reason_code=fields.text("reason_code", _REASON_CODE),
        day=fields.date("day"),
        log_head=fields.text("log_head", SHA256),
        newest_release=fields.text("newest_release", SHA256) if logged else "",
        release_log=LogHead.from_json(fields.mapping("release_log", most=2), "release_log") if logged else None,
    )


_LOGGED_KEYS = {"newest_release", "release_log"}
_KEYS = frozenset(field.name for field in dataclasses.fields(Receipt)) | {"format_version"}

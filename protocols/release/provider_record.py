"""`provider.json`: who the provider is, which keys are its own, and where its server is. A target of the release repository.

Whoever has verified the repository knows the provider's keys; no other file hands them out.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from dataclasses import dataclass

from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import SchemaError
from protocols.fields import LINE, NAME, Fields, check_text, check_version
from protocols.http.messages import server_address
from protocols.keys.recipient import RecipientPublicKey
from protocols.keys.signing import PublicKey

FORMAT_VERSION = 1
MAX_RECORD_BYTES = 16 << 10
_HEX = re.compile(r"[0-9a-f]{0,4096}")


@dataclass(frozen=True)
class ProviderRecord:
    """The provider as its sites know it.

    Args:
        name: of the provider.
        signing_key: receipts are signed with it, and releases name it.
        recipient: shares are sealed to it.
        server: address of the provider's server, "" where there is none.
        valid_until: the last day on which a site may use these keys.
    """

    name: str
    signing_key: PublicKey
    recipient: RecipientPublicKey
    server: str
    valid_until: datetime.date

    def __post_init__(self) -> None:
        check_text(self.name, NAME, "name")
        if self.server and self.server != server_address(self.server):
            raise SchemaError("an address in its one spelling", received="another", advice="correct it", place="server")

    def to_json(self) -> dict[str, Json]:
        """The record as JSON."""
        return {
            "format_version": FORMAT_VERSION,
            "name": self.name,
            "recipient": self.recipient.hex,
            "recipient_id": self.recipient.key_id,
            "server": self.server,
            "signing_key": self.signing_key.hex,
            "valid_until": self.valid_until.isoformat(),
        }

    def to_bytes(self) -> bytes:
        """The bytes of `provider.json`, canonical."""
        return canonical_bytes(self.to_json())

    @classmethod
    def from_json(cls, value: Json, place: str = "provider.json") -> ProviderRecord:
        """Reads what `to_json` wrote, and nothing else.

        Raises:
            VersionError: another format version.
            SchemaError: another key, type or spelling.
        """
        if isinstance(value, dict):
            check_version(value.get("format_version"), FORMAT_VERSION, place)
        fields = Fields(value, _KEYS, place)
        recipient = RecipientPublicKey.from_hex(fields.text("recipient", _HEX))
        if fields.text("recipient_id", LINE) != recipient.key_id:
            raise SchemaError("the id of the recipient", received="another", advice="refuse the file", place=place)
        return cls(
            name=fields.text("name", NAME),
            signing_key=PublicKey.from_hex(fields.text("signing_key", LINE)),
            recipient=recipient,
            server=fields.text("server", LINE),
            valid_until=fields.date("valid_until"),
        )

    @classmethod
    def from_bytes(cls, data: bytes, place: str = "provider.json") -> ProviderRecord:
        """Reads `provider.json`.

        Raises:
            ProtocolError: as `from_json`, or too many bytes.
        """
        return cls.from_json(parse_canonical(data, max_bytes=MAX_RECORD_BYTES, place=place), place)


_KEYS = frozenset(field.name for field in dataclasses.fields(ProviderRecord)) | {"format_version", "recipient_id"}

"""`provider.json`: who the provider is, which keys are its own, and where its server is. A target of the release repository.

Whoever has verified the repository knows the provider's keys; no other file hands them out.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from dataclasses import dataclass

from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import SchemaError, UnknownSignerError
from protocols.fields import LINE, NAME, Fields, check_text, check_version
from protocols.http.messages import server_address
from protocols.keys.recipient import RecipientPublicKey
from protocols.keys.signing import PublicKey

FORMAT_VERSION = 1
ROTATING_VERSION = 2
"""Of a record with earlier keys, which a reader of version 1 does not know."""
MAX_EARLIER_KEYS = 16
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
        valid_until: the last day on which a site may use these keys, and on which what they sign counts.
        earlier_signing: keys before `signing_key` whose signatures still count, each with its last day.
    """

    name: str
    signing_key: PublicKey
    recipient: RecipientPublicKey
    server: str
    valid_until: datetime.date
    earlier_signing: tuple[tuple[PublicKey, datetime.date], ...] = ()

    def __post_init__(self) -> None:
        check_text(self.name, NAME, "name")
        if self.server and self.server != server_address(self.server):
            raise SchemaError("an address in its one spelling", received="another", advice="correct it", place="server")
        if len(self.earlier_signing) > MAX_EARLIER_KEYS:
            raise SchemaError(
                f"at most {MAX_EARLIER_KEYS} earlier keys that count",
                received="more",
                advice="wait until some have ended",
            )

    def signing_keys(self, day: datetime.date) -> tuple[PublicKey, ...]:
        """The keys whose signatures count on a day, the newest first; none once the whole record has run out.

        A message that states its day, as a receipt does, may be held against the keys of that day, or it would end with the record.
        """
        if day > self.valid_until:
            return ()
        return (self.signing_key, *(key for key, until in self.earlier_signing if until >= day))

    def signer(self, key_id: str, day: datetime.date) -> PublicKey:
        """The key that a message names, if its signatures count on a day; whether it made this one is for `PublicKey.verify` to say.

        Raises:
            UnknownSignerError: the provider has no such key, or not any more.
        """
        for key in self.signing_keys(day):
            if key.key_id == key_id:
                return key
        raise UnknownSignerError(
            f"a message signed with a key of provider {self.name} that counts today",
            received=f"one by key {key_id}",
            advice="run `site-client pull`, which brings the keys of today, and repeat it; if it fails again, tell the provider",
        )

    def to_json(self) -> dict[str, Json]:
        """The record as JSON; of version 1 as long as no earlier key counts."""
        if not self.earlier_signing:
            return self._stated(FORMAT_VERSION)
        earlier: list[Json] = [
            {"key": key.hex, "valid_until": until.isoformat()} for key, until in self.earlier_signing
        ]
        return {**self._stated(ROTATING_VERSION), _EARLIER: earlier}

    def _stated(self, version: int) -> dict[str, Json]:
        return {
            "format_version": version,
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
        rotating = isinstance(value, dict) and value.get("format_version") == ROTATING_VERSION
        if isinstance(value, dict):
            check_version(value.get("format_version"), ROTATING_VERSION if rotating else FORMAT_VERSION, place)
        fields = Fields(value, _KEYS | {_EARLIER} if rotating else _KEYS, place)
        recipient = RecipientPublicKey.from_hex(fields.text("recipient", _HEX))
        if fields.text("recipient_id", LINE) != recipient.key_id:
            raise SchemaError("the id of the recipient", received="another", advice="refuse the file", place=place)
        return cls(
            name=fields.text("name", NAME),
            signing_key=PublicKey.from_hex(fields.text("signing_key", LINE)),
            recipient=recipient,
            server=fields.text("server", LINE),
            valid_until=fields.date("valid_until"),
            earlier_signing=_read_earlier(value, place) if rotating else (),
        )

    @classmethod
    def from_bytes(cls, data: bytes, place: str = "provider.json") -> ProviderRecord:
        """Reads `provider.json`.

        Raises:
            ProtocolError: as `from_json`, or too many bytes.
        """
        return cls.from_json(parse_canonical(data, max_bytes=MAX_RECORD_BYTES, place=place), place)


def _read_earlier(value: Json, place: str) -> tuple[tuple[PublicKey, datetime.date], ...]:
    stated = value.get(_EARLIER) if isinstance(value, dict) else None
    if not isinstance(stated, list) or not 1 <= len(stated) <= MAX_EARLIER_KEYS:
        raise SchemaError(
            f"1 to {MAX_EARLIER_KEYS} earlier keys", received="something else", advice="refuse the file", place=place
        )
    found = []
    for one in stated:
        fields = Fields(one, ("key", "valid_until"), place)
        found.append((PublicKey.from_hex(fields.text("key", LINE)), fields.date("valid_until")))
    return tuple(found)


_EARLIER = "earlier_signing"
_KEYS = (frozenset(field.name for field in dataclasses.fields(ProviderRecord)) - {_EARLIER}) | {
    "format_version",
    "recipient_id",
}

"""How a site asks to join: its name and public key, signed by that key.

The signature proves that the sender holds the private key; it does not prove who the sender is. So the provider
compares the fingerprint with the site over another way (telephone, a signed letter) before it trusts the key:
`SiteRequest.fingerprint` in hexadecimal, `SiteRequest.spoken` to read aloud.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import SchemaError
from protocols.fields import LINE, SITE, Fields, check_text, check_version
from protocols.signing import ENROLMENT_CONTEXT, PrivateKey, PublicKey, Signature, read_hex
from protocols.storage import read_bounded, write_whole

FORMAT_VERSION = 1
MAX_REQUEST_BYTES = 8 << 10
_KEYS = frozenset({"contact", "created", "format_version", "public_key", "site"})


@dataclass(frozen=True)
class SiteRequest:
    """A site that wants to join.

    Args:
        site: its name, lower case letters, digits and hyphens.
        public_key: the key that its shares will be signed with.
        contact: whom to ask, one line, may be empty.
        created: the day.
    """

    site: str
    public_key: PublicKey
    contact: str
    created: datetime.date

    def __post_init__(self) -> None:
        check_text(self.site, SITE, "site")
        check_text(self.contact, LINE, "contact")

    @property
    def fingerprint(self) -> str:
        """Eight groups of four hexadecimal digits, to compare by eye."""
        return self.public_key.key_id

    @property
    def spoken(self) -> str:
        """The same 128 bits as eight pronounceable groups, to compare by ear."""
        return self.public_key.spoken

    def to_json(self) -> dict[str, Json]:
        return {
            "contact": self.contact,
            "created": self.created.isoformat(),
            "format_version": FORMAT_VERSION,
            "public_key": self.public_key.hex,
            "site": self.site,
        }


def write_request(path: Path, key: PrivateKey, *, site: str, contact: str, created: datetime.date) -> SiteRequest:
    """Signs and writes a request.

    Raises:
        SchemaError: a name or contact that can't be used.
        StorageError: the file can't be written.
    """
    request = SiteRequest(site, key.public_key, contact, created)
    stated = request.to_json()
    signature = key.sign(ENROLMENT_CONTEXT, canonical_bytes(stated))
    write_whole(path, canonical_bytes({"request": stated, "signature": signature.to_json()}))
    return request


def read_request(path: Path) -> SiteRequest:
    """Reads a request and checks that the sender holds the key.

    Raises:
        ProtocolError: no request, or not signed by the key that it names.
    """
    envelope = parse_canonical(read_bounded(path, MAX_REQUEST_BYTES), max_bytes=MAX_REQUEST_BYTES, place=path.name)
    if not isinstance(envelope, dict) or not set(envelope) <= {"request", "signature"}:
        raise SchemaError("a request and its signature", received="other keys", advice="refuse it", place=path.name)
    signature = Signature.from_json(envelope.get("signature"), path.name)
    stated = envelope.get("request")
    if isinstance(stated, dict):
        check_version(stated.get("format_version"), FORMAT_VERSION, path.name)
    fields = Fields(stated, _KEYS, path.name)
    key = PublicKey(read_hex(fields.text("public_key", LINE), 32, path.name))
    key.verify(ENROLMENT_CONTEXT, canonical_bytes(stated), signature)
    return SiteRequest(fields.text("site", SITE), key, fields.text("contact", LINE), fields.date("created"))

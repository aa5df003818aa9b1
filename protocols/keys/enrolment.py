"""How a site asks to join: its name and public key, signed by that key.

The signature proves that the sender holds the private key; it does not prove who the sender is. So the provider
compares the fingerprint with the site over another way (telephone, a signed letter) before it trusts the key:
`SiteRequest.fingerprint` in hexadecimal, `SiteRequest.spoken` to read aloud. A later key needs no telephone: see
`protocols.keys.rotation`.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from foundation.files import write_bytes
from protocols.bounded_reading import read_bounded
from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import BoundsError, SchemaError
from protocols.fields import LINE, SITE, Fields, check_text, check_version
from protocols.keys.signing import ENROLMENT_CONTEXT, PrivateKey, PublicKey, Signature, read_hex

FORMAT_VERSION = 2
MAX_REQUEST_BYTES = 8 << 10
# A key that nobody has looked at for three years is not to be trusted by habit.
MAX_VALID_DAYS = 1100
_KEYS = frozenset({"contact", "created", "format_version", "public_key", "site", "valid_until"})


@dataclass(frozen=True)
class SiteRequest:
    """A site that wants to join.

    Args:
        site: its name, lower case letters, digits and hyphens.
        public_key: the key that its shares will be signed with.
        contact: whom to ask, one line, may be empty.
        created: the day.
        valid_until: last day of the key.
    """

    site: str
    public_key: PublicKey
    contact: str
    created: datetime.date
    valid_until: datetime.date

    def __post_init__(self) -> None:
        check_text(self.site, SITE, "site")
        check_text(self.contact, LINE, "contact")
        check_validity(self.created, self.valid_until)

    @property
    def fingerprint(self) -> str:
        """Eight groups of four hexadecimal digits, to compare by eye."""
        return self.public_key.key_id

    @property
    def spoken(self) -> str:
        """The same 128 bits as eight pronounceable groups, to compare by ear."""
        return self.public_key.spoken

    def to_json(self) -> dict[str, Json]:
        """The request as JSON, without its signature."""
        return {
            "contact": self.contact,
            "created": self.created.isoformat(),
            "format_version": FORMAT_VERSION,
            "public_key": self.public_key.hex,
            "site": self.site,
            "valid_until": self.valid_until.isoformat(),
        }


def write_request(
    path: Path, key: PrivateKey, *, site: str, contact: str, created: datetime.date, valid_until: datetime.date
) -> SiteRequest:
    """Signs and writes a request.

    Raises:
        SchemaError: a name or contact that can't be used.
        BoundsError: a key that would be valid for too long, or not at all.
        StorageError: the file can't be written.
    """
    request = SiteRequest(site, key.public_key, contact, created, valid_until)
    stated = request.to_json()
    signature = key.sign(ENROLMENT_CONTEXT, canonical_bytes(stated))
    write_bytes(path, canonical_bytes({"request": stated, "signature": signature.to_json()}))
    return request


def read_request(path: Path) -> SiteRequest:
    """Reads a request and checks that the sender holds the key.

    Raises:
        ProtocolError: no request, or not signed by the key that it names.
    """
    return parse_request(read_bounded(path, MAX_REQUEST_BYTES), path.name)


def parse_request(data: bytes, place: str = "request") -> SiteRequest:
    """`read_request` for bytes.

    Raises:
        ProtocolError: no request, or not signed by the key that it names.
    """
    envelope = parse_canonical(data, max_bytes=MAX_REQUEST_BYTES, place=place)
    if not isinstance(envelope, dict) or not set(envelope) <= {"request", "signature"}:
        raise SchemaError("a request and its signature", received="other keys", advice="refuse it", place=place)
    signature = Signature.from_json(envelope.get("signature"), place)
    stated = envelope.get("request")
    if isinstance(stated, dict):
        check_version(stated.get("format_version"), FORMAT_VERSION, place)
    fields = Fields(stated, _KEYS, place)
    key = PublicKey(read_hex(fields.text("public_key", LINE), 32, place))
    key.verify(ENROLMENT_CONTEXT, canonical_bytes(stated), signature)
    return SiteRequest(
        fields.text("site", SITE), key, fields.text("contact", LINE), fields.date("created"), fields.date("valid_until")
    )


def check_validity(created: datetime.date, valid_until: datetime.date) -> None:
    """Returns if a key of that day may be valid so long.

    Raises:
        BoundsError: it may not.
    """
    days = (valid_until - created).days
    if not 1 <= days <= MAX_VALID_DAYS:
        raise BoundsError(
            f"a key that is valid for 1 to {MAX_VALID_DAYS} days",
            received=f"{days}",
            advice="choose another day",
            place="valid_until",
        )

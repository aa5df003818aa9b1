"""How a site changes its key without a telephone: the old key vouches for the new one, and the new one for itself.

A rotation is signed twice. The signature of the old key says that the site wants it; that of the new key says that the
site holds it, so that nobody can pass off another's key as the site's own. The provider answers with an acceptance, signed
by the provider: from then on the site signs with the new key. The old one stays valid for some days, for shares that
are on their way.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from protocols.bounded_reading import read_bounded
from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import SchemaError
from protocols.fields import LINE, SITE, Fields, check_range, check_text, check_version
from protocols.keys.enrolment import check_validity
from protocols.keys.signed_message import open_message, seal_message
from protocols.keys.signing import ACCEPTANCE_CONTEXT, ROTATION_CONTEXT, PrivateKey, PublicKey, Signature

FORMAT_VERSION = 1
MAX_ROTATION_BYTES = 8 << 10
MAX_OVERLAP_DAYS = 90
_ROTATION_KEYS = frozenset({"created", "format_version", "new_key", "old_key", "overlap_days", "site", "valid_until"})
_ACCEPTANCE_KEYS = frozenset({"accepted", "format_version", "new_key", "old_key_until", "site", "valid_until"})


@dataclass(frozen=True)
class Rotation:
    """A site's wish to sign with another key.

    Args:
        site: its name.
        old_key: the key that it signs with until now.
        new_key: the key from the day on which the provider accepts.
        created: the day.
        valid_until: last day of the new key.
        overlap_days: how long the old key stays valid after the provider has accepted.
    """

    site: str
    old_key: PublicKey
    new_key: PublicKey
    created: datetime.date
    valid_until: datetime.date
    overlap_days: int

    def __post_init__(self) -> None:
        check_text(self.site, SITE, "site")
        check_validity(self.created, self.valid_until)
        check_range(self.overlap_days, 0, MAX_OVERLAP_DAYS, "overlap_days")
        if self.old_key == self.new_key:
            raise SchemaError("a new key", received="the old one", advice="make a new key", place="new_key")

    def to_json(self) -> dict[str, Json]:
        """The rotation as JSON, without its signatures."""
        return {
            "created": self.created.isoformat(),
            "format_version": FORMAT_VERSION,
            "new_key": self.new_key.hex,
            "old_key": self.old_key.hex,
            "overlap_days": self.overlap_days,
            "site": self.site,
            "valid_until": self.valid_until.isoformat(),
        }

    def to_bytes(self, old: PrivateKey, new: PrivateKey) -> bytes:
        """The rotation, signed by both keys that it names."""
        stated = canonical_bytes(self.to_json())
        return canonical_bytes(
            {
                "new_signature": new.sign(ROTATION_CONTEXT, stated).to_json(),
                "old_signature": old.sign(ROTATION_CONTEXT, stated).to_json(),
                "rotation": self.to_json(),
            }
        )


@dataclass(frozen=True)
class Acceptance:
    """The provider's answer.

    Args:
        site: its name.
        new_key: the key that counts from now on.
        accepted: the day.
        valid_until: last day of the new key.
        old_key_until: last day of the old key.
    """

    site: str
    new_key: PublicKey
    accepted: datetime.date
    valid_until: datetime.date
    old_key_until: datetime.date

    def to_bytes(self, provider: PrivateKey) -> bytes:
        """The acceptance, signed by the provider."""
        stated: dict[str, Json] = {
            "accepted": self.accepted.isoformat(),
            "format_version": FORMAT_VERSION,
            "new_key": self.new_key.hex,
            "old_key_until": self.old_key_until.isoformat(),
            "site": self.site,
            "valid_until": self.valid_until.isoformat(),
        }
        return seal_message("acceptance", ACCEPTANCE_CONTEXT, stated, provider)


def read_rotation(path: Path) -> Rotation:
    """`parse_rotation` for a file."""
    return parse_rotation(read_bounded(path, MAX_ROTATION_BYTES), path.name)


def parse_rotation(data: bytes, place: str = "rotation") -> Rotation:
    """A rotation that both of its keys have signed. Whether the old key is the site's own is for the caller to look up.

    Raises:
        ProtocolError: no rotation, or one of the two signatures is missing or wrong.
    """
    envelope = parse_canonical(data, max_bytes=MAX_ROTATION_BYTES, place=place)
    if not isinstance(envelope, dict) or not set(envelope) <= {"new_signature", "old_signature", "rotation"}:
        raise SchemaError("a rotation and two signatures", received="other keys", advice="refuse it", place=place)
    stated = envelope.get("rotation")
    if isinstance(stated, dict):
        check_version(stated.get("format_version"), FORMAT_VERSION, place)
    fields = Fields(stated, _ROTATION_KEYS, place)
    old, new = (PublicKey.from_hex(fields.text(name, LINE)) for name in ("old_key", "new_key"))
    for key, name in ((old, "old_signature"), (new, "new_signature")):
        key.verify(ROTATION_CONTEXT, canonical_bytes(stated), Signature.from_json(envelope.get(name), place))
    return Rotation(
        site=fields.text("site", SITE),
        old_key=old,
        new_key=new,
        created=fields.date("created"),
        valid_until=fields.date("valid_until"),
        overlap_days=fields.integer("overlap_days", most=MAX_OVERLAP_DAYS),
    )


def read_acceptance(data: bytes, provider: PublicKey) -> Acceptance:
    """Reads and verifies what `Acceptance.to_bytes` wrote.

    Args:
        data: the acceptance.
        provider: its signing key.

    Raises:
        ProtocolError: no acceptance, or not signed by the provider.
    """
    fields = open_message(
        data, "acceptance", ACCEPTANCE_CONTEXT, keys=_ACCEPTANCE_KEYS, version=FORMAT_VERSION, public_key=provider
    )
    return Acceptance(
        site=fields.text("site", SITE),
        new_key=PublicKey.from_hex(fields.text("new_key", LINE)),
        accepted=fields.date("accepted"),
        valid_until=fields.date("valid_until"),
        old_key_until=fields.date("old_key_until"),
    )

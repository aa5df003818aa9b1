"""The manifest of a share: what is in the payload, for which release, how protected. It is what the site signs.

It states nothing about single notes: no names of files, no times but the day, no vocabulary.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from protocols.canonical import Json, canonical_bytes, decimal_text, parse_canonical, read_decimal
from protocols.errors import BoundsError, SchemaError
from protocols.fields import LINE, MEASURE, NAME, SHA256, SITE, Fields, check_range, check_text, check_version
from protocols.keys.fingerprint import FINGERPRINT
from protocols.payload.sentence_block import CODES, MAX_DIM

FORMAT_VERSION = 2
MAX_MANIFEST_BYTES = 64 << 10
_REPRESENTATIONS, _CODES = "float16", "uint32"
PAYLOAD_FORMATS = ("parquet", "hdf5")
_MAX_TAGS = 256
_MAX_MEASURES = 64
_MAX_NORM = 1e7


@dataclass(frozen=True)
class ShareFields:
    """What the site states about a share; the rest of the manifest is read off the payload.

    Args:
        site: name of the site, lower case.
        sequence: number of the share at this site, from 1, never used twice.
        recipient: id of the signing key of the provider that it is meant for; whoever else gets it must refuse it.
        release: digest of the release whose representer made it, 64 hexadecimal digits.
        label_scheme: name of the label scheme.
        tags: number of tags of that scheme.
        value_bound: largest L2 norm of a token's representation, noise included; 1 where tokens are shown by codes.
        created: the day; no time of day.
        software: name and version of the program.
        protection: measures of protection by name, such as "noise_sigma_min" or "mu_per_token".
    """

    site: str
    sequence: int
    recipient: str
    release: str
    label_scheme: str
    tags: int
    value_bound: float
    created: datetime.date
    software: str
    protection: Mapping[str, float]

    def __post_init__(self) -> None:
        check_text(self.site, SITE, "site")
        check_text(self.recipient, FINGERPRINT, "recipient")
        check_text(self.release, SHA256, "release")
        check_text(self.label_scheme, NAME, "label_scheme")
        check_text(self.software, LINE, "software")
        check_range(self.sequence, 1, 2**31 - 1, "sequence")
        check_range(self.tags, 1, _MAX_TAGS, "tags")
        check_range(len(self.protection), 0, _MAX_MEASURES, "protection")
        if not 0 < self.value_bound <= _MAX_NORM:
            raise BoundsError("a bound above 0", received="none", advice="state the bound", place="value_bound")
        if type(self.created) is not datetime.date:
            raise SchemaError("a day without a time", received=type(self.created).__name__, place="created")
        for measure in self.protection:
            check_text(measure, MEASURE, "protection")
        object.__setattr__(self, "protection", MappingProxyType(dict(self.protection)))


@dataclass(frozen=True)
class ShareManifest(ShareFields):
    """The whole manifest.

    Args:
        dim: width of the representations, or CODES.
        sentences: sentences in the payload.
        tokens: tokens in the payload.
        tag_counts: tokens of each tag, in the order of the scheme; the tag of the others is unknown.
        payload_format: "parquet" or "hdf5".
        payload_bytes: size of the payload file.
        payload_sha256: its SHA-256, 64 hexadecimal digits.
    """

    dim: int
    sentences: int
    tokens: int
    tag_counts: tuple[int, ...]
    payload_format: str
    payload_bytes: int
    payload_sha256: str
    dtype: str
    format_version: int = FORMAT_VERSION

    def __post_init__(self) -> None:
        super().__post_init__()
        check_version(self.format_version, FORMAT_VERSION, "manifest")
        check_text(self.payload_sha256, SHA256, "payload_sha256")
        check_range(self.dim, CODES, MAX_DIM, "dim")
        if self.dim == CODES and self.value_bound != 1:
            raise BoundsError("a bound of 1 beside codes", received="another", place="value_bound")
        check_range(self.sentences, 1, self.tokens, "sentences")
        check_range(self.payload_bytes, 1, 2**53 - 1, "payload_bytes")
        if self.payload_format not in PAYLOAD_FORMATS or self.dtype != dtype_of(self.dim):
            raise SchemaError(
                f"{dtype_of(self.dim)} in {' or '.join(PAYLOAD_FORMATS)}", received="another", place="payload_format"
            )
        if len(self.tag_counts) != self.tags or min(self.tag_counts) < 0 or self.unknown_tags < 0:
            raise BoundsError(
                f"{self.tags} counts of tags that add up to {self.tokens}", received="others", place="tag_counts"
            )

    @property
    def unknown_tags(self) -> int:
        """Tokens of which nobody says whether they are PHI."""
        return self.tokens - sum(self.tag_counts)

    def to_json(self) -> dict[str, Json]:
        """The JSON object, ready for `canonical_bytes`."""
        value: dict[str, Json] = {name: getattr(self, name) for name in _PLAIN}
        value["value_bound"] = decimal_text(self.value_bound)
        value["created"] = self.created.isoformat()
        value["tag_counts"] = list(self.tag_counts)
        value["protection"] = {name: decimal_text(number) for name, number in self.protection.items()}
        return value

    def to_bytes(self) -> bytes:
        """The bytes that are signed."""
        return canonical_bytes(self.to_json())

    @property
    def sha256(self) -> str:
        """Digest of what is signed: what receipts and withdrawals know the share by."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @classmethod
    def from_bytes(cls, data: bytes, place: str = "manifest") -> ShareManifest:
        """Reads what `to_bytes` wrote, and nothing else.

        Raises:
            SchemaError: another key, type or spelling.
            BoundsError: a number beyond its limits.
        """
        return cls.from_json(parse_canonical(data, max_bytes=MAX_MANIFEST_BYTES, place=place), place)

    @classmethod
    def from_json(cls, value: Json, place: str = "manifest") -> ShareManifest:
        """Reads what `to_json` made, and nothing else.

        Raises:
            SchemaError: another key or type.
            BoundsError: a number beyond its limits.
        """
        if isinstance(value, dict):
            # Another version may have other keys: say so before complaining about keys.
            check_version(value.get("format_version"), FORMAT_VERSION, place)
        fields = Fields(value, _KEYS, place)
        return cls(
            site=fields.text("site", SITE),
            sequence=fields.integer("sequence"),
            recipient=fields.text("recipient", FINGERPRINT),
            release=fields.text("release", SHA256),
            label_scheme=fields.text("label_scheme", NAME),
            tags=fields.integer("tags"),
            value_bound=fields.decimal("value_bound"),
            created=fields.date("created"),
            software=fields.text("software", LINE),
            protection={
                name: read_decimal(number, f"{place}, protection")
                for name, number in fields.mapping("protection", most=_MAX_MEASURES).items()
            },
            dim=fields.integer("dim"),
            sentences=fields.integer("sentences"),
            tokens=fields.integer("tokens"),
            tag_counts=_counts(fields),
            payload_format=fields.text("payload_format", NAME),
            payload_bytes=fields.integer("payload_bytes"),
            payload_sha256=fields.text("payload_sha256", SHA256),
            format_version=fields.version("format_version", FORMAT_VERSION),
            dtype=fields.text("dtype", NAME),
        )


def dtype_of(dim: int) -> str:
    """Name of the type of what shows a token, for a payload of this width, or of codes."""
    return _REPRESENTATIONS if dim else _CODES


def _counts(fields: Fields) -> tuple[int, ...]:
    counts = tuple(count for count in fields.items("tag_counts", most=_MAX_TAGS) if type(count) is int)
    if len(counts) != len(fields.items("tag_counts", most=_MAX_TAGS)):
        raise fields.refuse_field("tag_counts", "integers")
    return counts


_KEYS = frozenset(field.name for field in dataclasses.fields(ShareManifest))
_PLAIN = sorted(_KEYS - {"value_bound", "created", "tag_counts", "protection"})

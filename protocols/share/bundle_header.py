"""The header of a bundle: whose share it is, for whom, and the digest of what follows. It is all that is not encrypted.

A bundle is MAGIC, the length of the header as 4 bytes (highest first), the header in canonical JSON, and the ciphertext.
The header says no more of the share than its site and number; the site signs it, so that whatever is not from an enrolled
site, or was damaged on the way, is refused before anything is decrypted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from foundation.os_errors import map_os_errors
from foundation.reading import regular_size
from protocols.canonical import MAX_INTEGER, Json, canonical_bytes, parse_canonical
from protocols.errors import BoundsError, SchemaError, TruncatedError
from protocols.fields import SHA256, SITE, Fields, check_range, check_text, check_version
from protocols.keys.fingerprint import FINGERPRINT
from protocols.keys.recipient import WRAPPED_BYTES
from protocols.keys.signing import BUNDLE_CONTEXT, PrivateKey, PublicKey, Signature, read_hex
from protocols.share.fragments import refuse_fragments
from protocols.share.stream import TAG_BYTES

FORMAT_VERSION = 2
MAGIC = b"deid-commons bundle\n"
MAX_HEADER_BYTES = 4096
_LENGTH_BYTES = 4
_KEYS = frozenset(
    {"ciphertext_bytes", "ciphertext_sha256", "encapsulated", "format_version", "recipient", "sequence", "site"}
)


@dataclass(frozen=True)
class BundleHeader:
    """The header.

    Args:
        site: who sends the share.
        sequence: its number at the site.
        recipient: id of the provider's encryption key.
        encapsulated: the key of the stream, wrapped for that key.
        ciphertext_bytes: size of what follows.
        ciphertext_sha256: its SHA-256, 64 hexadecimal digits.
        signature: by the site, over all the rest.
    """

    site: str
    sequence: int
    recipient: str
    encapsulated: bytes
    ciphertext_bytes: int
    ciphertext_sha256: str
    signature: Signature

    def __post_init__(self) -> None:
        check_text(self.site, SITE, "site")
        check_range(self.sequence, 1, 2**31 - 1, "sequence")
        check_text(self.recipient, FINGERPRINT, "recipient")
        check_range(len(self.encapsulated), WRAPPED_BYTES, WRAPPED_BYTES, "encapsulated")
        check_range(self.ciphertext_bytes, TAG_BYTES, MAX_INTEGER, "ciphertext_bytes")
        check_text(self.ciphertext_sha256, SHA256, "ciphertext_sha256")

    def sign(self, key: PrivateKey) -> BundleHeader:
        """The same header with the signature of `key`."""
        return replace(self, signature=key.sign(BUNDLE_CONTEXT, canonical_bytes(self._stated())))

    def verify(self, key: PublicKey) -> None:
        """Returns if `key` signed this header.

        Raises:
            SignatureError: it did not.
        """
        key.verify(BUNDLE_CONTEXT, canonical_bytes(self._stated()), self.signature)

    @property
    def binding(self) -> bytes:
        """What the wrapped key and every chunk of the stream are bound to."""
        return stream_binding(self.site, self.sequence, self.recipient)

    def to_bytes(self) -> bytes:
        """All that stands ahead of the ciphertext; its length follows from the name of the site and two numbers alone."""
        header = canonical_bytes({**self._stated(), "signature": self.signature.to_json()})
        return MAGIC + len(header).to_bytes(_LENGTH_BYTES, "big") + header

    def _stated(self) -> dict[str, Json]:
        return {
            "ciphertext_bytes": self.ciphertext_bytes,
            "ciphertext_sha256": self.ciphertext_sha256,
            "encapsulated": self.encapsulated.hex(),
            "format_version": FORMAT_VERSION,
            "recipient": self.recipient,
            "sequence": self.sequence,
            "site": self.site,
        }


def stream_binding(site: str, sequence: int, recipient: str) -> bytes:
    """The info of HPKE and the associated data of the stream: format, site, number, recipient."""
    bound: dict[str, Json] = {
        "format_version": FORMAT_VERSION,
        "recipient": recipient,
        "sequence": sequence,
        "site": site,
    }
    return BUNDLE_CONTEXT.encode() + b"\x00" + canonical_bytes(bound)


def read_header(path: Path) -> BundleHeader:
    """What the header of a bundle states. NOTHING is verified: for finding the site and its keys.

    Raises:
        SchemaError: no bundle of this version, or text fragments.
        BoundsError: a number beyond its limits.
        TruncatedError: it ends within the header.
        StorageError: it can't be read.
    """
    regular_size(path)
    refuse_fragments(path)
    with map_os_errors(path), path.open("rb") as file:
        start = file.read(len(MAGIC) + _LENGTH_BYTES)
        if start[: len(MAGIC)] != MAGIC[: len(start)]:
            raise SchemaError("a bundle", received="another file", advice="check the path", place=path.name)
        size = int.from_bytes(start[len(MAGIC) :], "big")
        if size > MAX_HEADER_BYTES:
            raise BoundsError(
                f"a header of at most {MAX_HEADER_BYTES} bytes",
                received=str(size),
                advice="refuse the file",
                place=path.name,
            )
        header = file.read(size)
    if len(start) < len(MAGIC) + _LENGTH_BYTES or len(header) < size:
        raise TruncatedError("a whole header", received="fewer bytes", advice="send the file again", place=path.name)
    return _parsed(header, path.name)


def _parsed(data: bytes, place: str) -> BundleHeader:
    value = parse_canonical(data, max_bytes=MAX_HEADER_BYTES, place=place)
    if not isinstance(value, dict):
        raise SchemaError("a header", received="something else", advice="refuse the file", place=place)
    check_version(value.get("format_version"), FORMAT_VERSION, place)
    signature = Signature.from_json(value.pop("signature", None), place)
    fields = Fields(value, _KEYS, place)
    return BundleHeader(
        site=fields.text("site", SITE),
        sequence=fields.integer("sequence"),
        recipient=fields.text("recipient", FINGERPRINT),
        encapsulated=read_hex(value["encapsulated"], WRAPPED_BYTES, place),
        ciphertext_bytes=fields.integer("ciphertext_bytes"),
        ciphertext_sha256=fields.text("ciphertext_sha256", SHA256),
        signature=signature,
    )

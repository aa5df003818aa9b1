"""The signed manifest as it is stored and sent: canonical JSON of the manifest and the site's signature over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import SchemaError, UnsignedError
from protocols.fields import check_version
from protocols.keys.signing import SHARE_CONTEXT, PrivateKey, PublicKey, Signature, signer
from protocols.share.manifest import FORMAT_VERSION, MAX_MANIFEST_BYTES, ShareManifest

# Room for the signature around the manifest.
MAX_ENVELOPE_BYTES = MAX_MANIFEST_BYTES + 1024


def seal_manifest(manifest: ShareManifest, key: PrivateKey) -> bytes:
    """The envelope of a manifest that `key` signs."""
    signature = key.sign(SHARE_CONTEXT, manifest.to_bytes())
    return canonical_bytes({"manifest": manifest.to_json(), "signature": signature.to_json()})


def parse_manifest(data: bytes, place: str = "manifest") -> ShareManifest:
    """What the manifest in an envelope states. NOTHING is verified.

    Raises:
        SchemaError: no manifest of this version.
        BoundsError: a number beyond its limits.
    """
    return ShareManifest.from_json(_envelope(data, place)[0], place)


def verify_manifest(
    data: bytes, public_keys: Mapping[str, Sequence[PublicKey]], place: str = "manifest"
) -> tuple[ShareManifest, PublicKey]:
    """The manifest in an envelope, and the key that signed it.

    Args:
        data: the envelope.
        public_keys: the keys that each site may sign with, by name of the site.
        place: name for messages.

    Raises:
        ProtocolError: another version, unsigned, signed by another than the site that it names, or malformed.
    """
    stated, value = _envelope(data, place)
    signature = Signature.from_json(value, place)
    site = stated.get("site") if isinstance(stated, dict) else None
    if not isinstance(site, str):
        raise UnsignedError("a manifest that names its site", received="none", advice="refuse the file", place=place)
    key = signer(public_keys, site, signature, place)
    key.verify(SHARE_CONTEXT, canonical_bytes(stated), signature)
    return ShareManifest.from_json(stated, place), key


def _envelope(data: bytes, place: str) -> tuple[Json, Json]:
    """The manifest and the signature, as they stand."""
    envelope = parse_canonical(data, max_bytes=MAX_ENVELOPE_BYTES, place=place)
    if not isinstance(envelope, dict) or not set(envelope) <= {"manifest", "signature"}:
        raise SchemaError("a manifest and its signature", received="other keys", advice="refuse the file", place=place)
    stated = envelope.get("manifest")
    if isinstance(stated, dict):
        # Another version is signed in another way: say so before complaining about the signature.
        check_version(stated.get("format_version"), FORMAT_VERSION, place)
    return stated, envelope.get("signature")

"""A share: a payload, and beside it a manifest that the site signed. Sealed at the site, opened at the provider.

`open_share` checks in this order, each step on bytes that the step before has vouched for: size of the manifest,
canonical JSON, signature by the key of the site that it names, version, the rest of the manifest, what the receiver
expects, size and digest of the payload, its structure, every value. Only what passed all of them becomes a
`VerifiedShare`; nothing of the payload is parsed before its digest is known to be the one signed.

Assumption: no one else writes in the folder of the share while it is opened.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import (
    DigestError,
    DuplicateError,
    MismatchError,
    OtherReleaseError,
    SchemaError,
    TruncatedError,
    UnknownSignerError,
    UnsignedError,
)
from protocols.manifest import MAX_MANIFEST_BYTES, ShareFields, ShareManifest
from protocols.payload import PayloadLimits, PayloadReader, ValueRules, open_payload
from protocols.sentence_block import CheckedValues
from protocols.signing import SHARE_CONTEXT, PrivateKey, PublicKey, Signature
from protocols.storage import file_sha256, read_bounded, regular_size, write_whole

_SUFFIX = ".manifest.json"
# Room for the signature around the manifest.
_MAX_ENVELOPE_BYTES = MAX_MANIFEST_BYTES + 1024


@dataclass(frozen=True)
class ShareExpectation:
    """What the receiver expects of a share; None where anything will do.

    Args:
        release: digest of the release.
        label_scheme: name of the label scheme.
        tags: its number of tags.
        dim: width of the representations.
    """

    release: str | None = None
    label_scheme: str | None = None
    tags: int | None = None
    dim: int | None = None


@dataclass(frozen=True)
class VerifiedShare:
    """A share that passed every check; made by `open_share` only.

    Args:
        manifest: what the site signed.
        path: the payload.
        key: the key that signed it.
        limits: the limits that it was checked against.
    """

    manifest: ShareManifest
    path: Path
    key: PublicKey
    limits: PayloadLimits

    def open(self) -> PayloadReader:
        """The payload, to be closed by the caller."""
        return open_payload(self.path, self.limits)


def manifest_path(payload_path: Path) -> Path:
    """Where the manifest of a payload lies: beside it."""
    return payload_path.with_name(payload_path.name + _SUFFIX)


def seal_share(
    payload_path: Path,
    fields: ShareFields,
    key: PrivateKey,
    *,
    limits: PayloadLimits | None = None,
    checked: CheckedValues | None = None,
) -> ShareManifest:
    """Checks a payload, completes its manifest, signs it and writes it beside the payload.

    Args:
        payload_path: a payload that a `PayloadWriter` wrote.
        fields: what the site states.
        key: the site's key.
        limits: the limits of the receiver.
        checked: the values, if the writer of this payload checked them; None reads them all back and checks them.

    Raises:
        ProtocolError: the payload would not be accepted as what `fields` say, or the disk is full.
    """
    limits = limits or PayloadLimits()
    with open_payload(payload_path, limits) as reader:
        checked = checked or _check_values(reader, fields)
        if checked.rules != _rules(fields):
            raise _mismatch("values checked for what the site states", "checked for something else", payload_path.name)
        manifest = ShareManifest(
            **vars(fields),
            dim=reader.dim,
            sentences=reader.sentences,
            tokens=reader.tokens,
            tag_counts=checked.tag_counts,
            payload_format=reader.format,
            payload_bytes=reader.file_bytes,
            payload_sha256=file_sha256(payload_path),
        )
    signature = key.sign(SHARE_CONTEXT, manifest.to_bytes())
    envelope: Json = {"manifest": manifest.to_json(), "signature": signature.to_json()}
    write_whole(manifest_path(payload_path), canonical_bytes(envelope))
    return manifest


def read_manifest(payload_path: Path) -> ShareManifest:
    """What the manifest beside a payload states. NOTHING is verified: for showing it, and for shares taken in before.

    Raises:
        SchemaError: no manifest of this version.
        BoundsError: a number beyond its limits.
        StorageError: it can't be read.
    """
    place = manifest_path(payload_path).name
    stated, _ = _envelope(read_bounded(manifest_path(payload_path), _MAX_ENVELOPE_BYTES), place)
    return ShareManifest.from_json(stated, place)


def open_share(
    payload_path: Path,
    *,
    public_keys: Mapping[str, PublicKey],
    limits: PayloadLimits | None = None,
    expected: ShareExpectation | None = None,
) -> VerifiedShare:
    """Verifies a share.

    Args:
        payload_path: the payload; its manifest lies beside it.
        public_keys: the key of every site that may share, by name of the site.
        limits: what to accept at most.
        expected: release, label scheme and width that it must fit.

    Raises:
        ProtocolError: one of its kinds for each check that fails; see the module.
    """
    limits = limits or PayloadLimits()
    place = manifest_path(payload_path).name
    manifest, key = _open_manifest(read_bounded(manifest_path(payload_path), _MAX_ENVELOPE_BYTES), public_keys, place)
    _check_expected(manifest, expected or ShareExpectation(), place)
    _check_bytes(manifest, payload_path)
    with open_payload(payload_path, limits) as reader:
        for name in ("format", "dim", "sentences", "tokens"):
            stated = getattr(manifest, "payload_format" if name == "format" else name)
            if getattr(reader, name) != stated:
                raise _mismatch(f"{name} {stated}", str(getattr(reader, name)), payload_path.name)
        if _check_values(reader, manifest).tag_counts != manifest.tag_counts:
            raise _mismatch("the tag counts of the manifest", "others", payload_path.name)
    return VerifiedShare(manifest, payload_path, key, limits)


def check_fresh(manifest: ShareManifest, *, sequences: Container[int], digests: Container[str]) -> None:
    """Returns if a share has not been accepted before.

    Args:
        manifest: of a verified share.
        sequences: sequence numbers accepted from its site.
        digests: SHA-256 of the payloads accepted from anyone.

    Raises:
        DuplicateError: it was.
    """
    place = f"share {manifest.sequence} of {manifest.site}"
    if manifest.payload_sha256 in digests:
        raise DuplicateError("a new payload", received="one accepted before", advice="nothing to do", place=place)
    if manifest.sequence in sequences:
        raise DuplicateError(
            "a new sequence number", received="one used before", advice="seal the share with the next number",
            place=place,
        )  # fmt: skip


def _envelope(data: bytes, place: str) -> tuple[Json, Json]:
    """The manifest and the signature, as they stand."""
    envelope = parse_canonical(data, max_bytes=_MAX_ENVELOPE_BYTES, place=place)
    if not isinstance(envelope, dict) or not set(envelope) <= {"manifest", "signature"}:
        raise SchemaError("a manifest and its signature", received="other keys", advice="refuse the file", place=place)
    return envelope.get("manifest"), envelope.get("signature")


def _open_manifest(data: bytes, public_keys: Mapping[str, PublicKey], place: str) -> tuple[ShareManifest, PublicKey]:
    stated, value = _envelope(data, place)
    signature = Signature.from_json(value, place)
    site = stated.get("site") if isinstance(stated, dict) else None
    if not isinstance(site, str):
        raise UnsignedError("a manifest that names its site", received="none", advice="refuse the file", place=place)
    if site not in public_keys:
        raise UnknownSignerError(
            "a share of an enrolled site", received="one of an unknown site", advice="enrol the site first", place=place
        )
    key = public_keys[site]
    key.verify(SHARE_CONTEXT, canonical_bytes(stated), signature)
    return ShareManifest.from_json(stated, place), key


def _check_expected(manifest: ShareManifest, expected: ShareExpectation, place: str) -> None:
    if expected.release is not None and manifest.release != expected.release:
        raise OtherReleaseError(
            f"a share made with release {expected.release[:12]}", received=f"release {manifest.release[:12]}",
            advice="pull the release and encode the notes again", place=place,
        )  # fmt: skip
    for name, value in asdict(expected).items():
        if value is not None and getattr(manifest, name) != value:
            raise _mismatch(f"{name} {value}", str(getattr(manifest, name)), place)


def _check_bytes(manifest: ShareManifest, payload_path: Path) -> None:
    size = regular_size(payload_path)
    if size != manifest.payload_bytes:
        kind = TruncatedError if size < manifest.payload_bytes else DigestError
        raise kind(
            f"{manifest.payload_bytes} bytes", received=str(size), advice="send the file again", place=payload_path.name
        )
    if file_sha256(payload_path) != manifest.payload_sha256:
        raise DigestError(
            "the bytes that were signed for", received="other bytes", advice="send the file again",
            place=payload_path.name,
        )  # fmt: skip


def _check_values(reader: PayloadReader, fields: ShareFields) -> CheckedValues:
    """Checks every block."""
    checked = CheckedValues(_rules(fields), reader.path.name)
    for block in reader:
        checked.add(block)
    return checked


def _rules(fields: ShareFields) -> ValueRules:
    return ValueRules(tags=fields.tags, value_bound=fields.value_bound)


def _mismatch(expected: str, received: str, place: str) -> MismatchError:
    return MismatchError(expected, received=received, advice="encode the notes again", place=place)

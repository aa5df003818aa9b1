"""A share: a payload, and beside it a manifest that the site signed. Sealed at the site, opened at the provider.

`open_share` checks in this order, each step on bytes that the step before has vouched for: size of the manifest,
canonical JSON, version, signature by the key of the site that it names, the rest of the manifest, what the receiver
expects, size and digest of the payload, its structure, every value. Only what passed all of them becomes a
`VerifiedShare`; nothing of the payload is parsed before its digest is known to be the one signed.

Assumption: no one else writes in the folder of the share while it is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from foundation.feature_columns import FeatureColumn
from foundation.files import write_bytes
from foundation.reading import file_sha256, regular_size
from protocols.bounded_reading import read_bounded
from protocols.canonical import Json
from protocols.errors import (
    DigestError,
    MismatchError,
    OtherRecipientError,
    OtherReleaseError,
    TruncatedError,
)
from protocols.features import columns_from_json, columns_to_json
from protocols.keys.signing import PrivateKey, PublicKey
from protocols.payload.codebook import Codebook
from protocols.payload.codes import CodeRules
from protocols.payload.opening import PayloadLimits, PayloadReader, ValueRules, open_payload
from protocols.payload.sentence_block import CheckedValues, SentenceBlock
from protocols.share.manifest import ShareFields, ShareManifest, dtype_of
from protocols.share.manifest_envelope import MAX_ENVELOPE_BYTES, parse_manifest, seal_manifest, verify_manifest

_SUFFIX = ".manifest.json"


@dataclass(frozen=True)
class ShareExpectation:
    """What the receiver expects of a share; None where anything will do.

    Args:
        recipient: id of the receiver's signing key.
        release: digest of the release.
        label_scheme: name of the label scheme.
        tags: its number of tags.
        dim: width of the representations, or CODES.
        features: the feature columns, in their order. The payload names them, not the manifest.
    """

    recipient: str | None = None
    release: str | None = None
    label_scheme: str | None = None
    tags: int | None = None
    dim: int | None = None
    features: tuple[FeatureColumn, ...] | None = None

    def to_json(self) -> dict[str, Json]:
        """For the way to another process."""
        return {**asdict(self), "features": None if self.features is None else columns_to_json(self.features)}

    @classmethod
    def from_json(cls, values: Mapping[str, Json]) -> ShareExpectation:
        """What `to_json` gave.

        Raises:
            ProtocolError: other columns than there may be.
        """
        named = values["features"]
        columns = None if named is None else columns_from_json(named, "features that are expected")
        return cls(**{**values, "features": columns})  # type: ignore[arg-type]


@dataclass(frozen=True)
class VerifiedShare:
    """A share that passed every check; made by `open_share` only.

    Args:
        manifest: what the site signed.
        path: the payload.
        key: the key that signed it.
        limits: the limits that it was checked against.
        commonest_row: how many tokens show the row that most show; 0 where no codebook was given.
    """

    manifest: ShareManifest
    path: Path
    key: PublicKey
    limits: PayloadLimits
    commonest_row: int = 0

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
        checked = checked or _check_values(reader, _rules(fields))
        if checked.rules != _rules(fields):
            raise _mismatch("values checked for what the site states", "checked for something else", payload_path.name)
        manifest = ShareManifest(
            **vars(fields),
            dim=reader.dim,
            dtype=dtype_of(reader.dim),
            sentences=reader.sentences,
            tokens=reader.tokens,
            tag_counts=checked.tag_counts,
            payload_format=reader.format,
            payload_bytes=reader.file_bytes,
            payload_sha256=file_sha256(payload_path),
        )
    write_bytes(manifest_path(payload_path), seal_manifest(manifest, key))
    return manifest


def read_envelope(payload_path: Path) -> bytes:
    """The signed manifest beside a payload, as it lies there.

    Raises:
        BoundsError: it is too large to be one.
        StorageError: it can't be read.
    """
    return read_bounded(manifest_path(payload_path), MAX_ENVELOPE_BYTES)


def read_manifest(payload_path: Path) -> ShareManifest:
    """What the manifest beside a payload states. NOTHING is verified: for showing it, and for shares taken in before.

    Raises:
        SchemaError: no manifest of this version.
        BoundsError: a number beyond its limits.
        StorageError: it can't be read.
    """
    return parse_manifest(read_envelope(payload_path), manifest_path(payload_path).name)


def open_share(
    payload_path: Path,
    *,
    public_keys: Mapping[str, Sequence[PublicKey]],
    limits: PayloadLimits | None = None,
    expected: ShareExpectation | None = None,
    codebook: Codebook | None = None,
    codes: CodeRules | None = None,
    look: Callable[[SentenceBlock], object] | None = None,
) -> VerifiedShare:
    """Verifies a share.

    Args:
        payload_path: the payload; its manifest lies beside it.
        public_keys: the keys that each site may sign with, by name of the site.
        limits: what to accept at most.
        expected: release, label scheme, width and feature columns that it must fit.
        codebook: the rows that its release can show; None for any within the bound.
        codes: where the codes of its release may stand; None for a release of representations.
        look: is shown every block, once its values are checked.

    Raises:
        ProtocolError: one of its kinds for each check that fails; see the module.
    """
    limits, expected = limits or PayloadLimits(), expected or ShareExpectation()
    place = manifest_path(payload_path).name
    manifest, key = verify_manifest(read_envelope(payload_path), public_keys, place)
    _check_expected(manifest, expected, place)
    _check_bytes(manifest, payload_path)
    with open_payload(payload_path, limits) as reader:
        _check_features(reader, expected)
        for name in ("format", "dim", "sentences", "tokens"):
            stated = getattr(manifest, "payload_format" if name == "format" else name)
            if getattr(reader, name) != stated:
                raise _mismatch(f"{name} {stated}", str(getattr(reader, name)), payload_path.name)
        checked = _check_values(reader, _rules(manifest, codebook, codes), look)
        if checked.tag_counts != manifest.tag_counts:
            raise _mismatch("the tag counts of the manifest", "others", payload_path.name)
    return VerifiedShare(manifest, payload_path, key, limits, checked.commonest_row)


def _check_expected(manifest: ShareManifest, expected: ShareExpectation, place: str) -> None:
    if expected.recipient is not None and manifest.recipient != expected.recipient:
        # Whoever could read the share can seal it again, to another provider; the site never meant it for that one.
        raise OtherRecipientError(
            f"a share for provider {expected.recipient}",
            received="one for another",
            advice="refuse the file",
            place=place,
        )
    if expected.release is not None and manifest.release != expected.release:
        raise OtherReleaseError(
            f"a share made with release {expected.release[:12]}",
            received=f"release {manifest.release[:12]}",
            advice="pull the release and encode the notes again",
            place=place,
        )
    for name, value in asdict(replace(expected, features=None)).items():
        if value is not None and getattr(manifest, name) != value:
            raise _mismatch(f"{name} {value}", str(getattr(manifest, name)), place)


def _check_features(reader: PayloadReader, expected: ShareExpectation) -> None:
    if expected.features is not None and reader.features != expected.features:
        raise _mismatch(
            f"the {len(expected.features)} feature columns that the release declares", "others", reader.path.name
        )


def _check_bytes(manifest: ShareManifest, payload_path: Path) -> None:
    size = regular_size(payload_path)
    if size != manifest.payload_bytes:
        kind = TruncatedError if size < manifest.payload_bytes else DigestError
        raise kind(
            f"{manifest.payload_bytes} bytes", received=str(size), advice="send the file again", place=payload_path.name
        )
    if file_sha256(payload_path) != manifest.payload_sha256:
        raise DigestError(
            "the bytes that were signed for",
            received="other bytes",
            advice="send the file again",
            place=payload_path.name,
        )


def _check_values(
    reader: PayloadReader, rules: ValueRules, look: Callable[[SentenceBlock], object] | None = None
) -> CheckedValues:
    """Checks every block."""
    checked = CheckedValues(rules, reader.path.name)
    for block in reader:
        checked.add(block)
        if look is not None:
            look(block)
    return checked


def _rules(fields: ShareFields, codebook: Codebook | None = None, codes: CodeRules | None = None) -> ValueRules:
    return ValueRules(tags=fields.tags, value_bound=fields.value_bound, codebook=codebook, codes=codes)


def _mismatch(expected: str, received: str, place: str) -> MismatchError:
    return MismatchError(expected, received=received, advice="encode the notes again", place=place)

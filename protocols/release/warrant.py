"""Warrants: what shows to whoever has pinned the same first root that a provider's offline keys have signed for a checkpoint.

Who knows the key under a checkpoint needs none. But which key that is the provider tells each hospital by itself, and one that
tells two of them two keys could sign two logs of which neither hospital can read the other's. So a hospital hands over with a
checkpoint what it has verified in the pull that brought it: the roots from the first on, and the metadata that name it.

Nothing here runs out: what was signed stays signed. Keys of releases that were taken back count no more (see `verify`).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import Metadata, Root, Targets

from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import BoundsError, DigestError, SchemaError, SignatureError, UnknownSignerError
from protocols.fields import Fields, check_version
from protocols.log.checkpoint import CHECKPOINT
from protocols.log.note import text_of
from protocols.release.repository import MAX_ROTATIONS, MAX_WARRANT_BYTES

Kind = TypeVar("Kind", Root, Targets)

FORMAT_VERSION = 1
_KEYS = ("checkpoint", "format_version", "roots", "targets")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]+")
_PLACE = "warrant"
_ADVICE = "get it anew from the other hospital"


@dataclass(frozen=True)
class Warrant:
    """What one hospital shows another.

    Args:
        roots: metadata of the roots, from the first on; at least one.
        targets: metadata that name the checkpoint.
        checkpoint: the signed note, with all of its signatures.
    """

    roots: tuple[bytes, ...]
    targets: bytes
    checkpoint: bytes

    def verify(self, known: Sequence[bytes]) -> str:
        """The text of the checkpoint, if it is what the keys of releases have signed for.

        Args:
            known: the roots that a hospital has verified, from the one on that it has pinned.

        Raises:
            SignatureError: the roots are not those of the same provider, or not enough of its keys have signed.
            UnknownSignerError: its keys have, and were taken back since.
            DigestError: they have signed for another checkpoint.
            SchemaError: it is no signed note.
        """
        if self.roots[:1] != tuple(known[:1]):
            raise SignatureError(
                "the first root that this hospital has pinned", received="another", advice=_ADVICE, place=_PLACE
            )
        with _translated():
            root = _last_root(self.roots)
            targets = _read(self.targets, Targets, root)
            newest = _load(known[-1], Root).signed
        # Whoever stole keys that were taken back could sign for what never was. Roots that part from ours are no older ones.
        older = len(self.roots) < len(known) and self.roots == tuple(known[: len(self.roots)])
        if older and set(root.roles["targets"].keyids) != set(newest.roles["targets"].keyids):
            raise UnknownSignerError(
                "metadata by the keys of releases that count today",
                received="some by keys that were taken back",
                advice="let the other hospital pull, and export anew",
                place=_PLACE,
            )
        info, digest = targets.targets.get(CHECKPOINT), hashlib.sha256(self.checkpoint).hexdigest()
        if info is None or info.hashes.get("sha256") != digest:
            raise DigestError("the checkpoint that was signed for", received="another", advice=_ADVICE, place=_PLACE)
        return text_of(self.checkpoint, _PLACE)

    def to_bytes(self) -> bytes:
        """The file, canonical.

        Raises:
            BoundsError: more bytes than a hospital reads.
        """
        roots: list[Json] = [_encoded(root) for root in self.roots]
        data = canonical_bytes(
            {
                "checkpoint": _encoded(self.checkpoint),
                "format_version": FORMAT_VERSION,
                "roots": roots,
                "targets": _encoded(self.targets),
            }
        )
        if len(data) > MAX_WARRANT_BYTES:
            raise BoundsError(
                f"at most {MAX_WARRANT_BYTES} bytes", received=str(len(data)), advice="tell the provider", place=_PLACE
            )
        return data

    @classmethod
    def from_bytes(cls, data: bytes) -> Warrant:
        """Reads what `to_bytes` wrote, and nothing else; whether it is worth anything, `verify` looks at.

        Raises:
            VersionError: another format version.
            SchemaError, BoundsError: no warrant.
        """
        value = parse_canonical(data, max_bytes=MAX_WARRANT_BYTES, place=_PLACE)
        if isinstance(value, dict):
            check_version(value.get("format_version"), FORMAT_VERSION, _PLACE)
        fields = Fields(value, _KEYS, _PLACE)
        roots = tuple(map(_decoded, fields.items("roots", most=MAX_ROTATIONS + 1)))
        return cls(roots, *(_decoded(fields.text(name, _BASE64)) for name in ("targets", "checkpoint")))


def _last_root(roots: Sequence[bytes]) -> Root:
    """The last of some roots, each signed by its own keys and by those of the one before."""
    root = _load(roots[0], Root).signed
    for data in roots[1:]:
        following = _read(data, Root, root)
        _read(data, Root, following)
        if following.version != root.version + 1:
            raise RepositoryError("a root is left out")
        root = following
    return root


def _read(data: bytes, kind: type[Kind], delegator: Root) -> Kind:
    metadata = _load(data, kind)
    delegator.verify_delegate(kind.type, metadata.signed_bytes, metadata.signatures)
    return metadata.signed


def _load(data: bytes, kind: type[Kind]) -> Metadata[Kind]:
    metadata: Metadata[Kind] = Metadata.from_bytes(data)
    if metadata.signed.type != kind.type:
        raise RepositoryError(f"no {kind.type}")
    return metadata


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (RepositoryError, ValueError) as error:
        raise SignatureError(
            "metadata that enough keys of the provider have signed", received="others", advice=_ADVICE, place=_PLACE
        ) from error


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _decoded(value: Json) -> bytes:
    try:
        if isinstance(value, str):
            return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise SchemaError("base64", received="something else", advice=_ADVICE, place=_PLACE) from error
    raise SchemaError("base64", received="something else", advice=_ADVICE, place=_PLACE)

"""Bundles that were cut, or in which a byte was flipped: every one is refused, and none of them counts.

Two who might do it: the way (the outside does not fit any more, so the file dies before it is decrypted), and who holds
the site's key and signs the outside anew (then encryption, inner signature and digests have to tell).
"""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Iterator
from dataclasses import replace

from aggregator.enrolled import shares
from aggregator.ingestion import ingest as intake
from aggregator.registry.states import ShareState
from bench.exchange.world import Sentences, World
from bench.faults.intake import Damage
from foundation.errors import StorageError
from protocols.errors import ProtocolError
from protocols.keys.signing import BUNDLE_CONTEXT, Signature
from protocols.share.bundle_header import BundleHeader, read_header, stream_binding
from protocols.share.sealing import read_envelope
from protocols.share.stream import CHUNK_BYTES, KEY_BYTES, TAG_BYTES, ciphertext_size, encrypt

_MASKS = (0x01, 0x20, 0x80)


class Provider:
    """A provider that is given one damaged bundle after the other.

    Args:
        world: with nothing taken in yet.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._workspace = world.workspace()

    def damage(self, data: bytes) -> Damage:
        """What is wrong after it was given these bytes."""
        path = self.world.root / "damaged.share"
        path.write_bytes(data)
        try:
            state = intake.ingest(self._workspace, path).state
        except (ProtocolError, StorageError):
            state = ShareState.REJECTED
        counting = shares.list_shares(self._workspace, (ShareState.ACCEPTED, ShareState.QUARANTINED))
        waiting = shares.list_shares(self._workspace, (ShareState.RECEIVED,))
        return Damage(unverified=len(counting) + (state != ShareState.REJECTED), stuck=len(waiting))


def cuts(world: World) -> Iterator[Damage]:
    """A bundle of several chunks, cut at every edge and one byte to both sides, as it came and signed anew."""
    bundle = world.seal(world.share("north", 1, Sentences(0, sentences=1000, blocks=2)), "north")
    data, header, provider = bundle.read_bytes(), read_header(bundle), Provider(world)
    start = len(header.to_bytes())
    edges = {0, start, len(data), *range(start, len(data), CHUNK_BYTES + TAG_BYTES)}
    places = sorted({edge + step for edge in edges for step in (-1, 0, 1)} & set(range(len(data))))
    for place in places:
        yield provider.damage(data[:place])
        ciphertext = data[start:place]
        if len(ciphertext) >= TAG_BYTES:
            yield provider.damage(signed_anew(world, header, ciphertext))


def flips_outside(world: World, every: int) -> Iterator[Damage]:
    """Every byte of the header, in one of three ways."""
    bundle, provider = world.bundle(), Provider(world)
    data, start = bundle.read_bytes(), len(read_header(bundle).to_bytes())
    for place in range(0, start, every):
        yield provider.damage(data[:place] + bytes([data[place] ^ _MASKS[place % 3]]) + data[place + 1 :])


def flips_inside(world: World, every: int) -> Iterator[Damage]:
    """Every byte of the signed manifest, encrypted and signed anew around it."""
    payload, provider = world.share("north", 1, Sentences()), Provider(world)
    envelope = read_envelope(payload)
    for place in range(0, len(envelope), every):
        flipped = envelope[:place] + bytes([envelope[place] ^ _MASKS[place % 3]]) + envelope[place + 1 :]
        yield provider.damage(seal_manifest(world, flipped, payload.read_bytes()))


def seal_manifest(world: World, envelope: bytes, payload: bytes) -> bytes:
    """A bundle of any manifest, as who holds the site's key can make it."""
    recipient = world.workspace().recipient().public_key
    key, plaintext = secrets.token_bytes(KEY_BYTES), len(envelope).to_bytes(4, "big") + envelope + payload
    binding, ciphertext = stream_binding("north", 1, recipient.key_id), io.BytesIO()
    encrypt(io.BytesIO(plaintext), ciphertext, key, binding)
    header = BundleHeader(
        site="north",
        sequence=1,
        recipient=recipient.key_id,
        encapsulated=recipient.wrap(key, binding),
        ciphertext_bytes=ciphertext_size(len(plaintext)),
        ciphertext_sha256="0" * 64,
        signature=Signature(BUNDLE_CONTEXT, world.keys["north"].public_key.key_id, bytes(64)),
    )
    return signed_anew(world, header, ciphertext.getvalue())


def signed_anew(world: World, header: BundleHeader, ciphertext: bytes) -> bytes:
    """A bundle of a ciphertext whose outside is right."""
    fitting = replace(
        header, ciphertext_bytes=len(ciphertext), ciphertext_sha256=hashlib.sha256(ciphertext).hexdigest()
    )
    return fitting.sign(world.keys["north"]).to_bytes() + ciphertext

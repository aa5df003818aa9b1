"""A share that lies, sealed by a hospital's own program: with our own hand, so that nothing of ours can refuse to make it.

The key is one that the provider has enrolled. What is asked afterwards is what the pool holds.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from aggregator.enrolled.alarms import list_alarms
from aggregator.ingestion.ingest import Decision, ingest
from aggregator.registry.states import ShareState
from aggregator.sandbox import parent as sandbox
from aggregator.workspace import Workspace, open_workspace
from bench.attack.outcome import Outcome, shorten
from bench.attack.world import World, hospital, require
from foundation.errors import DeidError
from protocols.canonical import Json, canonical_bytes
from protocols.keys.signing import BUNDLE_CONTEXT, SHARE_CONTEXT, PrivateKey, Signature
from protocols.payload.codes import is_near
from protocols.payload.opening import PayloadLimits, create_payload, open_payload
from protocols.payload.sentence_block import SentenceBlock
from protocols.payload.shuffled_writer import join_blocks
from protocols.share.bundle_header import BundleHeader, stream_binding
from protocols.share.manifest import dtype_of
from protocols.share.sealing import read_manifest
from protocols.share.stream import KEY_BYTES, ciphertext_size, encrypt
from shared.constructions.procedures.coded import Coded
from shared.constructions.registry import load_construction
from shared.document import Document
from shared.embeddings.members import MemberVectors
from site_client.workspace import open_workspace as open_site

SITE = "north"
SEQUENCE = 50
_LENGTH_BYTES = 4
_NO_LIMITS = PayloadLimits(max_tokens_per_sentence=1 << 30)

Changes = dict[str, Json]
"""Fields of a manifest that are to be otherwise, in its JSON."""


@dataclass
class Liar:
    """The hospital `north`, one share of which is in the pool, with a second that it has not sent.

    Args:
        world: that nobody else uses.
        counted: shares of its own that are honest and in the pool.
    """

    world: World
    counted: set[int] = field(default_factory=set)

    @property
    def provider(self) -> Workspace:
        """Of the provider."""
        return open_workspace(self.world.provider)

    def key(self, site: str = SITE) -> PrivateKey:
        """The signing key of a hospital."""
        return open_site(self.world.site(site)).key()

    def vocabulary(self) -> MemberVectors:
        """Of the release in use: it is public, and whoever holds it knows what each code means."""
        construction = load_construction(open_site(self.world.site(SITE)).release().folder)
        if not isinstance(construction, Coded):
            raise TypeError(f"expected a release of codes, got {type(construction).__name__}")
        return construction.vectors

    def narrow(self, block: SentenceBlock) -> SentenceBlock:
        """The same with every code that may not stand where it does made that of its cluster, as a careful liar would."""
        vectors, codes = self.vocabulary(), block.values.copy()
        near = is_near(block.tags > 0, block.offsets, vectors.narrowing.window)
        words = np.flatnonzero(codes < len(vectors))
        wrong = words[~(near[words] | vectors.narrowing.common[codes[words]])]
        codes[wrong] = len(vectors) + vectors.clusters[codes[wrong]]
        return replace(block, values=codes)

    def block(self, payload: Path | None = None) -> SentenceBlock:
        """All sentences of a share, the one that was not sent unless said."""
        with open_payload(payload or self.world.honest) as reader:
            return join_blocks(list(reader))

    def write(self, block: SentenceBlock, suffix: str = ".parquet") -> Path:
        """A payload of these sentences as they are, in their order."""
        path = self.world.root / f"forged{suffix}"
        path.unlink(missing_ok=True)
        with create_payload(path, dim=block.dim, limits=_NO_LIMITS) as writer:
            writer.append(block)
        return path

    def state(self, payload: Path, block: SentenceBlock | None = None, **changes: Json) -> Changes:
        """A manifest of a payload, true but for the changes.

        Args:
            payload: any file.
            block: what to state of its sentences; None for those of the honest share.
            changes: in its JSON.
        """
        shown = block or self.block()
        manifest = read_manifest(self.world.honest)
        data = payload.read_bytes()
        counts = np.bincount(shown.tags, minlength=manifest.tags).tolist()
        true: Changes = {
            "sequence": SEQUENCE,
            "dim": shown.dim,
            "dtype": dtype_of(shown.dim),
            "sentences": shown.sentences,
            "tokens": shown.tokens,
            "tag_counts": counts[: manifest.tags],
            "payload_format": "hdf5" if data.startswith(b"\x89HDF") else "parquet",
            "payload_bytes": len(data),
            "payload_sha256": hashlib.sha256(data).hexdigest(),
        }
        return manifest.to_json() | true | changes

    def send_block(self, block: SentenceBlock, sequence: int = SEQUENCE) -> Decision:
        """What becomes of sentences."""
        payload = self.write(block)
        return self.send(payload, self.state(payload, block, sequence=sequence))

    def send_payload(self, payload: Path, sequence: int = SEQUENCE) -> Decision:
        """What becomes of a file that is said to hold the sentences of the honest share."""
        return self.send(payload, self.state(payload, sequence=sequence))

    def send(self, payload: Path, stated: Changes, sealing: Sealing | None = None) -> Decision:
        """What becomes of a payload under a manifest."""
        return self.take_in(self.bundle(payload, stated, sealing or Sealing()))

    def bundle(self, payload: Path, stated: Changes, sealing: Sealing) -> Path:
        """Signs and encrypts, as `protocols.share.bundle` has it, without its checks."""
        site = str(stated["site"])
        inner, outer = sealing.inner or self.key(site), sealing.outer or self.key(sealing.site or site)
        signature = inner.sign(SHARE_CONTEXT, canonical_bytes(stated))
        envelope = canonical_bytes({"manifest": stated, "signature": signature.to_json()})
        plain = sealing.length(len(envelope)).to_bytes(_LENGTH_BYTES, "big") + envelope + payload.read_bytes()
        recipient = sealing.recipient or self.provider.recipient().public_key
        sequence = sealing.sequence or _number(stated)
        binding = stream_binding(sealing.site or site, sequence, recipient.key_id)
        stream_key, sink = secrets.token_bytes(KEY_BYTES), io.BytesIO()
        encrypt(io.BytesIO(plain), sink, stream_key, binding)
        ciphertext = sealing.cipher(sink.getvalue())
        header = BundleHeader(
            site=sealing.site or site,
            sequence=sequence,
            recipient=sealing.named or recipient.key_id,
            encapsulated=recipient.wrap(stream_key, binding),
            ciphertext_bytes=ciphertext_size(len(plain)),
            ciphertext_sha256=hashlib.sha256(ciphertext).hexdigest(),
            signature=Signature(BUNDLE_CONTEXT, outer.public_key.key_id, bytes(64)),
        ).sign(outer)
        out = self.world.root / f"forged-{len(list(self.world.root.glob('forged-*.share')))}.share"
        out.write_bytes(header.to_bytes() + ciphertext)
        return out

    def take_in(self, bundle: Path) -> Decision:
        """What the provider says to a bundle."""
        return ingest(self.provider, bundle)

    def encode(self, documents: list[Document], name: str, site: str = SITE) -> Path:
        """A share of some notes, honestly made but for their number: a hospital that lies sends as few as it likes."""
        require(hospital("policy", "set", "--least-new-notes", 0, "--workspace", self.world.site(site)))
        share = self.world.root / f"{name}.parquet"
        require(self.world.encode(site, self.world.write_notes(name, documents), share))
        return share

    def send_as_made(self, payload: Path) -> Decision:
        """What becomes of a share that was honestly made and is sealed as it is."""
        return self.send(payload, read_manifest(payload).to_json())

    def count(self, decision: Decision) -> Decision:
        """Remembers an honest share that is in the pool: what comes after it is the lie."""
        if decision.state is ShareState.ACCEPTED:
            self.counted.add(decision.share)
        return decision


@dataclass(frozen=True)
class Sealing:
    """What is otherwise about the outside of a bundle.

    Args:
        inner, outer: the keys that sign manifest and header; None for that of the hospital.
        site, sequence: in the header; those of the manifest unless said.
        recipient: the key that it is encrypted to; None for that of the provider.
        named: the id in the header; "" for that of the recipient.
        length: of the manifest, from its true one.
        cipher: changes the ciphertext, ahead of its digest.
    """

    inner: PrivateKey | None = None
    outer: PrivateKey | None = None
    site: str = ""
    sequence: int = 0
    recipient: Any = None
    named: str = ""
    length: Callable[[int], int] = lambda true: true
    cipher: Callable[[bytes], bytes] = lambda data: data


Lie = Callable[[Liar], Decision]
"""Tells a lie, in a world of its own; what the provider's program refuses to decide about it raises."""


def put_share(world: World, name: str, lie: Lie) -> Outcome:
    """What becomes of a lie at the provider.

    Args:
        world: of which a copy is used.
        name: of the lie.
        lie: of the hospital.
    """
    with world.copied() as here:
        liar = Liar(here)
        before = alarms(liar)
        try:
            decision = lie(liar)
        except DeidError as error:
            return Outcome(name, "ingest", type(error).__name__, str(error.exit_code), shorten(str(error), here.root))
        return _decided(name, decision, liar, before)


def _decided(name: str, decision: Decision, liar: Liar, before: int) -> Outcome:
    said, place = decision.reason, liar.world.root
    if decision.state is not ShareState.ACCEPTED:
        what = decision.reason_code or "counts no more"
        return Outcome(name, "ingest", what, decision.state.value, shorten(said, place))
    if decision.share in liar.counted:
        return Outcome(
            name, "ingest", "counted once", decision.state.value, "the share that came before, with its receipt"
        )
    return Outcome(name, "ingest", warned=alarms(liar) > before)


def alarms(liar: Liar) -> int:
    """How many alarms the provider has."""
    return len(list_alarms(liar.provider))


@contextmanager
def quickly() -> Iterator[None]:
    """Payloads are checked in this process, for tests: another one takes longer to start than all the rest."""
    run = lambda function, values, limits, readable: sandbox.Answer(function(values), ())  # noqa: E731
    with mock.patch.object(sandbox, "run", run):
        yield


def _number(stated: Changes) -> int:
    number = stated["sequence"]
    assert isinstance(number, int)
    return number

"""A provider and hospitals that have enrolled, with shares of invented sentences: what faults and tests of the intake need.

The only thing that is not real is the representer: the terms of a share come from here in place of a published release, so
that nothing has to be trained. Everything else is what the programs do.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

import numpy as np

from aggregator.enrolled import sites
from aggregator.ingestion import ingest as taking_in
from aggregator.ingestion.share_terms import ShareTerms
from aggregator.sandbox import parent as confined
from aggregator.workspace import Workspace, create, open_workspace
from protocols.keys.enrolment import write_request
from protocols.keys.signing import PrivateKey
from protocols.payload.opening import SentenceBlock, create_payload
from protocols.share.bundle import seal_bundle
from protocols.share.manifest import ShareFields
from protocols.share.sealing import ShareExpectation, seal_share
from shared.constructions.rows import ShareRows
from shared.labels import load_scheme

RELEASE = "ab" * 32
SCHEME = "meddocan"
DIM = 8
VALUE_BOUND = 8.0
_TAGS = len(load_scheme(SCHEME).tags)
_PHI = 0.15
_RUN = confined.run


@dataclass(frozen=True)
class Sentences:
    """What a share holds.

    Args:
        seed: of everything random in it.
        blocks: of sentences.
        sentences: in a block, of ten tokens each.
        phi: how much of the tokens is labelled; labels are spread over all categories.
        dim: width.
    """

    seed: int = 0
    blocks: int = 1
    sentences: int = 10
    phi: float = _PHI
    dim: int = DIM

    def block(self, index: int) -> SentenceBlock:
        """The sentences as a block of a payload."""
        random = np.random.default_rng((self.seed, index))
        tokens = 10 * self.sentences
        values = random.standard_normal((tokens, self.dim))
        values *= random.uniform(0.1, VALUE_BOUND - 0.1, (tokens, 1)) / np.linalg.norm(values, axis=1, keepdims=True)
        tags = np.where(random.random(tokens) < self.phi, random.integers(1, _TAGS, tokens), 0)
        # A category goes on only behind one that began it.
        before = np.append(0, tags[:-1])
        before[::10] = 0
        begun = (tags % 2 == 1) | (before == tags - 1)
        tags = np.where((tags > 0) & ~begun, tags - 1, tags)
        return SentenceBlock(
            values.astype("<f2"),
            tags.astype("u1"),
            random.integers(0, 7, tokens, dtype=np.uint8),
            np.full(self.sentences, 10, dtype="<i4"),
        )


@dataclass(frozen=True)
class World:
    """Everything lies below one folder, and can be copied with it.

    Args:
        root: the folder: `provider`, the workspace, and what hospitals make.
    """

    root: Path
    keys: Mapping[str, PrivateKey] = field(default_factory=lambda: {"north": _key(1), "south": _key(2)})

    @property
    def provider(self) -> Path:
        """The provider's workspace."""
        return self.root / "provider"

    def workspace(self) -> Workspace:
        """The provider's, opened anew."""
        return open_workspace(self.provider)

    def share(
        self, site: str, sequence: int, sentences: Sentences, suffix: str = ".parquet", **changes: object
    ) -> Path:
        """A payload with its signed manifest; `changes` are of the manifest."""
        path = self.root / f"{site}-{sequence}-{sentences.seed}{suffix}"
        with create_payload(path, dim=sentences.dim) as writer:
            for index in range(sentences.blocks):
                writer.append(sentences.block(index))
        fields = ShareFields(
            site=site,
            sequence=sequence,
            recipient=self.workspace().key().public_key.key_id,
            release=RELEASE,
            label_scheme=SCHEME,
            tags=_TAGS,
            value_bound=VALUE_BOUND,
            created=datetime.date(2026, 1, 31),
            software="deid-commons",
            protection={"mu_per_token": 1.25},
        )
        seal_share(path, replace(fields, **changes), self.keys[site])  # type: ignore[arg-type]
        return path

    def seal(self, payload: Path, site: str, name: str = "") -> Path:
        """A bundle of a payload; every sealing gives other bytes."""
        out = payload.with_name(name or f"{payload.stem}.share")
        seal_bundle(payload, out, key=self.keys[site], recipient=self.workspace().recipient().public_key)
        return out

    def bundle(self, site: str = "north", sequence: int = 1, seed: int = 0, **changes: object) -> Path:
        """A bundle of ten sentences or so."""
        return self.seal(self.share(site, sequence, Sentences(seed), **changes), site)  # type: ignore[arg-type]


def build(root: Path, *, database: str | None = None, keys: Mapping[str, PrivateKey] | None = None) -> World:
    """A world in a new folder, in which two hospitals have enrolled, or those of `keys`."""
    root.mkdir(parents=True, exist_ok=True)
    world = World(root) if keys is None else World(root, keys)
    workspace = create(world.provider, "provider", SCHEME, database=database)
    day = sites.today()
    for site, key in world.keys.items():
        request = write_request(
            root / f"{site}.request.json",
            key,
            site=site,
            contact="",
            created=day,
            valid_until=day + datetime.timedelta(days=300),
        )
        sites.enrol(workspace, root / f"{site}.request.json", request.fingerprint)
    workspace.registry().close()
    return world


def terms(workspace: Workspace) -> ShareTerms:
    """In place of `share_terms`."""
    newest, *earlier = (key.key_id for key in workspace.signing_keys())
    expected = ShareExpectation(label_scheme=SCHEME, tags=_TAGS, dim=DIM, recipient=newest, features=())
    return ShareTerms(frozenset({RELEASE}), expected, ShareRows(DIM, VALUE_BOUND), earlier=frozenset(earlier))


@contextmanager
def invented_terms(*, sandbox: bool = True) -> Iterator[None]:
    """Shares of this world fit the terms in the block.

    Args:
        sandbox: False lets the payload be checked in this process, for faults that have nothing to do with the check:
            starting an interpreter takes longer than all the rest.
    """
    run = _RUN if sandbox else lambda function, values, limits, readable: confined.Answer(function(values), ())
    with mock.patch.object(taking_in, "share_terms", terms), mock.patch.object(confined, "run", run):
        yield


def _key(number: int) -> PrivateKey:
    return PrivateKey.from_seed(bytes([number]) * 32)

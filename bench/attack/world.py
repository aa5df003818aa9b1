"""A provider and two hospitals, made by the commands that people type, on generated notes; every lie gets a copy of them.

    provider          its workspace; release 1, a representer, is out; a share of each hospital is in the pool
    north, south      hospitals, release 1 in use, under the default policy
    notes/NAME        labelled notes of NAME; notes/next are north's, of which nothing was shared yet
    honest.parquet    north's share of notes/next, encoded and not sent

Only the findings of the audit are made up: a provider that lies needs no attack to state that all failed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner, Result

import aggregator.commands.cli
import site_client.commands.cli
from aggregator.publishing.releases import representer_digest
from aggregator.workspace import open_workspace
from bench.attack.audit_record import write_audit
from foundation.files import write_text
from foundation.reading import read_text
from shared.corpus import read_corpus, write_corpus
from shared.document import Document
from shared.generate import generate_notes, public_site

SITES = {"north": "en_harbor", "south": "en_prairie"}
NEXT = "next"
HONEST = "honest.parquet"
APPROVER = ("--approver", "A. Weiss")
_FINGERPRINT = "fingerprint"


class BrokenWorldError(Exception):
    """An honest step failed: nothing that is refused afterwards would show anything."""


@dataclass(frozen=True)
class World:
    """The folders; all lie below one.

    Args:
        root: the folder.
    """

    root: Path

    @property
    def provider(self) -> Path:
        """The provider's workspace."""
        return self.root / "provider"

    @property
    def releases(self) -> Path:
        """What hospitals pull from."""
        return self.provider / "releases"

    @property
    def honest(self) -> Path:
        """A share of north that is encoded and not sent."""
        return self.root / HONEST

    @property
    def fingerprint(self) -> str:
        """The provider's, as it was told."""
        return read_text(self.root / _FINGERPRINT)

    def site(self, name: str) -> Path:
        """A hospital's workspace."""
        return self.root / name

    def notes(self, name: str) -> Path:
        """Labelled notes on the disk."""
        return self.root / "notes" / name

    def documents(self, name: str) -> list[Document]:
        """The same, read."""
        return list(read_corpus(self.notes(name)))

    def write_notes(self, name: str, documents: list[Document]) -> Path:
        """Notes on the disk."""
        folder = self.notes(name)
        folder.mkdir(parents=True, exist_ok=True)
        write_corpus(documents, folder / "notes.jsonl", "jsonl")
        return folder

    def encode(self, name: str, notes: Path, out: Path) -> Result:
        """Run `encode` at a hospital."""
        return hospital("encode", notes, "--out", out, "--workspace", self.site(name))

    def submit(self, name: str, share: Path) -> Result:
        """Run `submit` at a hospital, onto a stick."""
        stick = ("--to-folder", self.root / "stick")
        return hospital("submit", share, *APPROVER, *stick, "--workspace", self.site(name))

    @contextmanager
    def copied(self) -> Iterator[World]:
        """The same in a folder that vanishes with the block."""
        with TemporaryDirectory() as folder:
            yield World(Path(shutil.copytree(self.root, Path(folder) / "world", symlinks=True)))


@dataclass(frozen=True)
class Extent:
    """How much is made.

    Args:
        public: notes of the provider.
        notes: of each hospital's first share, and of north's second.
        cluster: words that are shown alike, at the least; 100 is what the default policy asks for.
    """

    public: int = 40
    notes: int = 30
    cluster: int = 100


def build(root: Path, extent: Extent = Extent()) -> World:
    """A world in a new folder.

    Raises:
        BrokenWorldError: an honest step fails.
    """
    world = World(root)
    world.write_notes("public", list(generate_notes(public_site("en"), extent.public, 1)))
    _publish(world, extent)
    for name, generator in SITES.items():
        notes = generate_notes(generator, 2 * extent.notes, 1)
        world.write_notes(name, list(islice(notes, extent.notes)))
        _enrol(world, name)
        share = root / f"{name}-1.parquet"
        require(world.encode(name, world.notes(name), share))
        require(world.submit(name, share))
        if name == "north":
            world.write_notes(NEXT, list(notes))
            require(world.encode(name, world.notes(NEXT), world.honest))
    require(provider("ingest", root / "stick", "--workspace", world.provider))
    return world


def _publish(world: World, extent: Extent) -> None:
    at, public = ("--workspace", world.provider), world.notes("public")
    require(provider("init", world.provider, "--scheme", "i2b2_2014"))
    require(provider("train-embeddings", public, "--dim", 16, "--epochs", 1, *at))
    require(provider("train-repr", "--corpus", public, "--cluster-size", extent.cluster, "--dim", 16, *at))
    central = open_workspace(world.provider)
    write_text(world.root / _FINGERPRINT, central.repository().fingerprint.key_id, private=False)
    (world.provider / "audit").mkdir()
    write_audit(world.provider / "audit", representer_digest(central))
    require(provider("publish", *at))


def _enrol(world: World, name: str) -> None:
    at, request = ("--workspace", world.site(name)), world.root / f"{name}.request.json"
    require(hospital("init", world.site(name), "--site", name))
    told = json.loads(require(hospital("enrol", "--out", request, "--json", *at)))["fingerprint"]
    require(provider("site", "add", request, "--fingerprint", told, "--workspace", world.provider))
    require(hospital("pull", world.releases, "--fingerprint", world.fingerprint, *at))


def provider(*arguments: object) -> Result:
    """Run `aggregator` in this process."""
    return CliRunner().invoke(aggregator.commands.cli.main, [str(argument) for argument in arguments])


def hospital(*arguments: object) -> Result:
    """Run `site-client` in this process."""
    return CliRunner().invoke(site_client.commands.cli.main, [str(argument) for argument in arguments])


def require(result: Result) -> str:
    """What an honest step printed.

    Raises:
        BrokenWorldError: it failed.
    """
    if result.exit_code:
        raise BrokenWorldError(f"expected an honest step to pass, got code {result.exit_code}: {result.stderr}")
    return result.stdout

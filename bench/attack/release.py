"""A release that lies: forged file by file, signed with the provider's own keys, and put to a hospital.

The provider's own program is not asked: what `aggregator publish` would refuse is signed all the same.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import Result
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from aggregator.repository.release_log import lay_down_log
from aggregator.repository.tuf_repository import NewRelease
from aggregator.workspace import Workspace, open_workspace
from bench.attack.audit_record import write_audit
from bench.attack.outcome import Outcome, shorten
from bench.attack.world import NEXT, World, hospital
from foundation.files import write_bytes, write_text
from foundation.reading import file_sha256, read_text
from protocols.canonical import Json, canonical_bytes
from protocols.log.checkpoint import CHECKPOINT
from protocols.log.entry import ReleaseEntry
from protocols.release.manifest import FileEntry
from protocols.release.repository import LATEST, PROVIDER, latest_bytes, release_name, release_sequence
from protocols.release.verification import MANIFEST_NAME
from protocols.share.sealing import read_manifest
from shared.constructions.files import FILES, FURTHER_FILES, RECORD, digest_of
from shared.constructions.procedures.codes import CodedSurrogates
from shared.constructions.registry import load_construction
from site_client.policy.judging import Demand
from site_client.workspace import open_workspace as open_site

VECTORS, VOCABULARY, BANK = "embeddings.safetensors", "vocabulary.json", "surrogates.json"
SITE = "north"
_POLICY = 35
_WARNINGS = ("PROTECTION FALLS", "were shared before")

Lie = Callable[[World], None]
"""Changes what a provider has published, in a copy of the world."""
Forgery = Callable[["Draft"], None]
"""Changes what a provider is about to sign."""


@dataclass
class Draft:
    """A release that is about to be signed: an honest one, until somebody changes it.

    Args:
        world: whose provider signs.
        folder: the files; the audit is added when they are signed.
        stated: fields of `release.json` that are to be otherwise.
        audit: fields of the audit that are to be otherwise; None for no audit.
        record: what the record of the training states; None for no record.
        listed: entries of files in `release.json` that are to be otherwise.
    """

    world: World
    folder: Path
    stated: dict[str, Json] = field(default_factory=dict)
    audit: dict[str, Any] | None = field(default_factory=dict)
    record: dict[str, Any] | None = field(default_factory=dict)
    listed: dict[str, FileEntry] = field(default_factory=dict)

    @property
    def construction(self) -> CodedSurrogates:
        """What lies in the folder, while it is still sound."""
        made = load_construction(self.folder)
        assert isinstance(made, CodedSurrogates)
        return made

    def read(self, name: str) -> Any:
        """A JSON file of the folder."""
        return json.loads(read_text(self.folder / name))

    def write(self, name: str, value: Any) -> None:
        """Replaces it."""
        write_text(self.folder / name, json.dumps(value), private=False)

    def change_vectors(self, change: Callable[[dict[str, NDArray[Any]], dict[str, Any]], None]) -> None:
        """Changes tensors and vocabulary, whatever our own classes would say to it."""
        tensors, vocabulary = dict(load_file(self.folder / VECTORS)), self.read(VOCABULARY)
        change(tensors, vocabulary)
        save_file({name: np.ascontiguousarray(one) for name, one in tensors.items()}, self.folder / VECTORS)
        self.write(VOCABULARY, vocabulary | {"tensors_sha256": file_sha256(self.folder / VECTORS)})

    def sign(self, sequence: int = 0, kind: str = "representer", *, logged: bool = True) -> None:
        """Signs and publishes what lies in the folder, under the next number unless said; see `publish`."""
        central = open_workspace(self.world.provider)
        sequence = sequence or release_sequence(central.repository().release_names()[-1]) + 1
        if self.record is not None:
            self.write(RECORD, self.record)
        if self.audit is not None:
            write_audit(self.folder, self._representer(), **self.audit)
        write_text(self.folder / "LICENCE.md", "-", private=False)
        write_text(self.folder / "MODEL_CARD.md", "-", private=False)
        write_bytes(self.folder / MANIFEST_NAME, self._manifest(central, sequence, kind), private=False)
        names = sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())
        publish(central, NewRelease(release_name(sequence, kind), self.folder, tuple(names)), logged=logged)

    def _representer(self) -> str:
        here = (self.folder / name for name in (*FILES, *FURTHER_FILES))
        return digest_of(file_sha256(path) for path in here if path.exists())

    def _manifest(self, central: Workspace, sequence: int, kind: str) -> bytes:
        files = {
            str(path.relative_to(self.folder)): FileEntry(path.stat().st_size, file_sha256(path))
            for path in self.folder.rglob("*")
            if path.is_file()
        }
        stated: dict[str, Json] = {
            "created": datetime.date.today().isoformat(),
            "files": {
                name: {"bytes": entry.bytes, "sha256": entry.sha256} for name, entry in (files | self.listed).items()
            },
            "format_version": 1,
            "kind": kind,
            "label_scheme": central.scheme.name,
            "name": central.name,
            "notes": "",
            "provider": central.signing_keys()[0].key_id,
            "sequence": sequence,
            "software": {"deid_commons": "0.2"},
        }
        return canonical_bytes(stated | self.stated)


@contextmanager
def drafted(world: World) -> Iterator[Draft]:
    """An honest release of the same representer, not yet signed."""
    folder = world.root / "draft"
    folder.mkdir()
    source = world.provider / "representer"
    for name in (*FILES, *FURTHER_FILES):
        if (source / name).exists():
            shutil.copyfile(source / name, folder / name)
    # Of an honest record only what a hospital compares.
    yield Draft(world, folder, record={"options": {"procedure": "surrogates"}})
    shutil.rmtree(folder)


def forged(change: Forgery) -> Lie:
    """The lie of signing a changed release."""

    def lie(world: World) -> None:
        with drafted(world) as draft:
            change(draft)
            draft.sign()

    return lie


def publish(central: Workspace, new: NewRelease, *, logged: bool = True) -> None:
    """Signs a release into the repository of a provider, names it as the latest, and enters it in the log of releases.

    Args:
        central: of the provider.
        new: the release.
        logged: False leaves the log as it was.
    """
    repository = central.repository()
    documents = {PROVIDER: central.record("").to_bytes(), LATEST: latest_bytes(new.name)}
    listed = {name: repository.read(f"{name}/{MANIFEST_NAME}") for name in repository.release_names()}
    listed[new.name] = (new.folder / MANIFEST_NAME).read_bytes()
    entries = [
        ReleaseEntry(release_sequence(name), name.partition("-")[2], hashlib.sha256(data).hexdigest())
        for name, data in listed.items()
    ]
    # A second release of one number has no place in a log.
    if logged and [entry.sequence for entry in entries] == list(range(1, len(entries) + 1)):
        documents[CHECKPOINT] = lay_down_log(repository, entries, central.newest_key())
    repository.publish(documents, new)


def put_release(world: World, name: str, lie: Lie, *, place: str = "releases") -> Outcome:
    """What becomes of a lie at a hospital that has an honest release in use: it pulls, encodes new notes and submits.

    Args:
        world: of which a copy is used.
        name: of the lie.
        lie: of the provider.
        place: what the hospital pulls from, below the provider's workspace.
    """
    with world.copied() as here:
        lie(here)
        used = open_site(here.site(SITE)).current
        share = here.root / "lying.parquet"
        steps: dict[str, Callable[[], Result]] = {
            "pull": lambda: hospital("pull", here.provider / place, "--workspace", here.site(SITE)),
            "encode": lambda: here.encode(SITE, here.notes(NEXT), share),
            "submit": lambda: here.submit(SITE, share),
        }
        said = ""
        for step, run in steps.items():
            result = run()
            if result.exit_code:
                return refused(name, step, result, here)
            if open_site(here.site(SITE)).current == used:
                return Outcome(name, step, "nothing new is taken", "0")
            said += result.stdout
        assert used is not None
        assert read_manifest(share).release != used.digest
        warnings = [line for line in said.splitlines() if any(warning in line for warning in _WARNINGS)]
        return Outcome(name, step, said=shorten("; ".join(warnings), here.root), warned=bool(warnings))


def refused(name: str, step: str, result: Result, world: World) -> Outcome:
    """The outcome of a step that a hospital's program has refused."""
    line = result.stderr.strip()
    demands = [one.value for one in Demand if re.search(f"[:;] {one.value}: expected ", line)]
    what = ", ".join(demands) if result.exit_code == _POLICY and demands else _kind(result)
    # That the policy is not kept stands in another column.
    return Outcome(name, step, what, str(result.exit_code), shorten(line.partition("policy: ")[2] or line, world.root))


def _kind(result: Result) -> str:
    """The kind of an error in words: "digest" for DigestError."""
    error = result.exception
    cause = None if error is None else error.__cause__ or error.__context__
    return type(cause or error).__name__

"""A whole small loop on the disk, made by the ordinary commands, for the tests of the two programs."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import aggregator.commands.cli
import site_client.commands.cli
from aggregator.training import head
from aggregator.training.defences import defence
from shared.report import plots
from shared.sentences.ragged import SentenceSource
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.tagger import Tagger
from shared.training.tagging import TaggingConfig, train_tagger
from site_client import ledger
from site_client.ledger import Event
from site_client.sharing.known_notes import give_up_lost
from site_client.workspace import open_workspace
from tests.audited import policy, quick_takes_seconds, state_full_audit
from tests.tiny_notes import tiny_notes, write_notes

# There are few words in tiny notes, few people, and few notes.
POLICY = ("--least-cluster", "1", "--bank-spans", "1000", "--least-new-notes", "0")


def provider(*arguments: object) -> Result:
    """Run `aggregator` in this process."""
    return CliRunner().invoke(aggregator.commands.cli.main, [str(argument) for argument in arguments])


def hospital(*arguments: object) -> Result:
    """Run `site-client` in this process."""
    return CliRunner().invoke(site_client.commands.cli.main, [str(argument) for argument in arguments])


def done(result: Result) -> Result:
    """The result, if the command ended well and said nothing on standard error."""
    assert result.exit_code == 0, (result.exit_code, result.stderr, result.exception)
    assert not result.stderr
    return result


def values(result: Result) -> Any:
    """What a command printed with --json."""
    return json.loads(done(result).stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def refused(result: Result, code: int, *parts: str) -> str:
    """The one line on standard error of a command that failed with `code`; it holds every part."""
    assert result.exit_code == code, (result.exit_code, result.stderr, result.exception)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("\n")
    for part in parts:
        assert part in result.stderr
    assert "Traceback" not in result.output
    return result.stderr


def snapshot(*folders: Path) -> dict[str, str]:
    """Every file and folder below, hidden ones too, with the digest of its bytes.

    What SQLite keeps beside a database while it is open is left out: `-shm` is no data, and `-wal` only if it holds some.
    """
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name.endswith("-shm") or (path.name.endswith("-wal") and not path.stat().st_size):
                continue
            digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
            found[str(path)] = digest
    return found


def but_for_what_was_seen(workspace: Path) -> dict[str, str]:
    """A hospital's workspace without what a pull that fails leaves: metadata that were verified, and the log of releases."""
    seen = tuple(str(workspace / name) for name in ("trust.json", "ledger.jsonl", "log"))
    return {name: digest for name, digest in snapshot(workspace).items() if not name.startswith(seen)}


@dataclass(frozen=True)
class Loop:
    """Folders of a loop; all lie below one root, and may be changed by the test that holds them.

    provider      workspace with representer, head and two releases; the shares of north and south are in
    north, south  workspaces of hospitals that shared; release 1 is in use
    fourth        workspace of a hospital that shared nothing; release 2, the pipeline, is in use
    """

    root: Path

    @property
    def provider(self) -> Path:
        return self.root / "provider"

    @property
    def stick(self) -> Path:
        """Submitted shares."""
        return self.root / "stick"

    def site(self, name: str) -> Path:
        return self.root / name

    def notes(self, name: str) -> Path:
        return self.root / "notes" / name

    @property
    def releases(self) -> Path:
        """The provider's release repository."""
        return self.provider / "releases"

    def target(self, name: str) -> Path:
        """Where a file of a release lies, such as 0002-pipeline/scheme.json."""
        folder, _, file = name.rpartition("/")
        return next((self.releases / "targets" / folder).glob(f"*.{file}"))

    @property
    def found(self) -> Path:
        """The record of what the audit of seconds found, which hospitals would not take."""
        return self.root / "found.json"

    @property
    def fingerprint(self) -> str:
        return (self.root / "fingerprint").read_text()

    def submitted(self, name: str) -> Path:
        return next(self.stick.glob(f"{name}-*.share"))


def sample_the_same_runs(site: Path) -> None:
    """Give a new hospital the key of notes that is always the same for its folder's name.

    By the key runs of words are sampled, and short notes that say much the same are copies by some samples and not by others.
    """
    (site / "keys" / "notes.key").write_bytes(hashlib.sha256(site.name.encode()).digest())


def begin(loop: Loop, name: str, *allowed: str) -> Path:
    """A new hospital with a policy that tiny notes can keep, and what else it allows; all else is asked for as usual."""
    workspace = loop.site(name)
    done(hospital("init", workspace, "--site", name))
    sample_the_same_runs(workspace)
    done(hospital("policy", "set", *POLICY, *allowed, "--workspace", workspace))
    return workspace


def enrol(loop: Loop, name: str, *allowed: str) -> None:
    """Make a hospital, let the provider take it in, and pull the representer."""
    workspace = begin(loop, name, *allowed)
    request = loop.root / f"{name}.request.json"
    fingerprint = values(hospital("enrol", "--out", request, "--workspace", workspace, "--json"))["fingerprint"]
    done(provider("site", "add", request, "--fingerprint", fingerprint, "--workspace", loop.provider))
    done(hospital("pull", loop.releases, "--fingerprint", loop.fingerprint, "--workspace", workspace))


def forget(workspace: Path) -> None:
    """What has left is not known any more, and given up: as a hospital that lies would have it."""
    shutil.rmtree(workspace / "known-notes", ignore_errors=True)
    give_up_lost(open_workspace(workspace))


def forget_shares(workspace: Path) -> None:
    """Whoever holds the site's key can write another ledger: that of a hospital that never shared, and that has no receipt."""
    site = open_workspace(workspace)
    first, *others = ledger.entries(site)
    told = [entry for entry in others if entry.event in (Event.POLICY_SET, Event.RELEASE_EXAMINED)]
    path = ledger.ledger_path(site)
    path.write_bytes(path.read_bytes().partition(b"\n")[0] + b"\n")
    assert first.event == Event.POLICY_SET
    for folder in ("receipts", "outbox"):
        shutil.rmtree(workspace / folder, ignore_errors=True)
    for entry in told:
        ledger.record(site, entry.event, entry.details)


def share(loop: Loop, name: str) -> Path:
    """Encode a hospital's notes and submit them; returns the submitted bundle."""
    out = loop.root / f"{name}.parquet"
    # `encode` does not write over a share that was submitted.
    for left in loop.root.glob(f"{out.name}*"):
        left.unlink()
    done(hospital("encode", loop.notes(name), "--out", out, "--workspace", loop.site(name)))
    way = ("--approver", "Dr Ünal", "--to-folder", loop.stick)
    return Path(values(hospital("submit", out, *way, "--workspace", loop.site(name), "--json"))["bundle"])


def audit(loop: Loop, *more: object, drawn: bool = False) -> Result:
    """Attack the representer of the provider, for seconds; to draw the plots of the page takes as long as that."""
    limits = policy(loop.root / "policy.toml")
    with quick_takes_seconds(), pytest.MonkeyPatch.context() as patch:
        if not drawn:
            patch.setattr(plots, "svg", lambda width, height, draw: "<svg></svg>")
        return provider(
            "audit", "--corpus", loop.notes("public"), "--policy", limits, "--workspace", loop.provider, *more
        )


def audit_for_hospitals(loop: Loop, *, drawn: bool = False) -> None:
    """Audit the representer, and state what hospitals ask for: they judge by limits that an audit of seconds can't keep."""
    done(audit(loop, drawn=drawn))
    shutil.copy(loop.provider / "audit" / "audit.json", loop.found)
    state_full_audit(loop.provider / "audit")


@contextmanager
def small_heads() -> Iterator[None]:
    """Let the heads that are trained be small ones in haste: they read the tiny notes as well, in a quarter of the time."""

    def train(source: SentenceSource, tags: int, config: TaggingConfig, **named: Any) -> Tagger:
        named["shape"] = BiLSTMCRFConfig(source.dim, tags, hidden=32)
        return train_tagger(source, tags, replace(config, learning_rate=0.05), **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(head, "train_tagger", train)
        patch.setattr(defence, "_HASTY_STEPS", 50)
        yield


def train_head(loop: Loop, *more: object, influence: str = "none") -> Result:
    """Train the head of the provider until it finds everything in tiny notes, for seconds."""
    with small_heads():
        return provider("train-head", "--epochs", 10, "--influence", influence, "--workspace", loop.provider, *more)


def found(root: Path) -> Loop:
    """A provider and its first release, the representer; hospitals have notes, and nobody is enrolled."""
    loop = Loop(root)
    for seed, name in enumerate(("public", "north", "south", "fourth")):
        (root / "notes").mkdir(exist_ok=True)
        write_notes(loop.notes(name), list(tiny_notes(24, seed, name)))
    at = ("--workspace", loop.provider)
    made = values(provider("init", loop.provider, "--json"))
    (root / "fingerprint").write_text(made["fingerprint"])
    done(provider("train-embeddings", loop.notes("public"), "--dim", 12, "--epochs", 2, "--min-count", 1, *at))
    done(provider("train-repr", "--corpus", loop.notes("public"), "--cluster-size", 8, "--dim", 8, *at))
    audit_for_hospitals(loop, drawn=True)
    done(provider("publish", *at))
    return loop


def build(root: Path) -> Loop:
    """The whole loop, by the ordinary commands, with trainings of seconds."""
    loop = found(root)
    at = ("--workspace", loop.provider)
    for name in ("north", "south"):
        enrol(loop, name)
        share(loop, name)
    done(provider("ingest", loop.stick, *at))
    done(train_head(loop, influence="fast"))
    done(provider("release", *at))
    begin(loop, "fourth")
    done(hospital("pull", loop.releases, "--fingerprint", loop.fingerprint, "--workspace", loop.site("fourth")))
    return loop

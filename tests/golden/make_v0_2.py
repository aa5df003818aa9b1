"""What made the golden files of the formats that came after version 0.1: `python -m tests.golden.make_v0_2 DIR`.

A provider and one hospital, by their own commands, their private keys under a passphrase. Left out are payloads and constructions,
which version 0.1 has. Keys and times are new each time. See `tests.golden` before running it.

releases.tar.xz   the release repository without the files of its releases: metadata, provider.json of a provider that has
                  rotated both of its keys, the manifests of 0001-representer and 0002-representer, the log of both
provider.tar.xz   settings and private keys of the provider, the rotated ones too
site.tar.xz       the hospital's workspace without its release: it has pulled the first one, set a policy and a list of words of
                  its own, shared once and taken the receipt
receipts/         of version 2: accepted, which the hospital has taken, and withdrawn, which it has not
checkpoints/      as hospitals export them: of the first release, of both, and of another second one that the provider signed for
                  somebody else
fork.json         what a hospital keeps that has been shown the one and is told of the other
expected.json     what all this holds
"""

from __future__ import annotations

import datetime
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from command_line.passphrase import FILE
from foundation.files import write_text
from shared.generate import generate_notes
from site_client.policy.stored import load_policy, policy_path
from site_client.workspace import open_workspace
from tests.audited import policy, state_full_audit
from tests.golden.archives import pack
from tests.golden.make import HOSPITAL, PUBLIC, SITE, forget_the_folder, ledger_figures, small
from tests.loop import done, hospital, provider, refused, values
from tests.tiny_notes import write_notes

PASSPHRASE = "four words of nobody"
WORDS = "haemodialysis\nsalbutamol\n"
POLICY = ("--least-cluster", 8, "--bank-spans", 1000, "--max-age-days", 365, "--max-advantage", 0.25)
PAPER = ("--enable", "three-part", "--accept-failed-audit", "--max-mu", 2.5, "--hide-casing")
# The last policy asks for more than the releases keep.
TAKEN = ("--accept-unprotected", "--approver", "Dr Ünal")
OVERLAP_DAYS = 30
# What is taken out of the workspaces: payloads, models, and what follows from them.
OF_SITE = ("site.json", "policy.json", "public-words.txt", "trust.json", "ledger.jsonl", "keys", "log", "receipts")
OF_PROVIDER = ("aggregator.json", "keys")


def make(target: Path, root: Path) -> None:
    """Makes the files.

    Args:
        target: a new folder for them.
        root: an empty folder to work in.
    """
    for folder in ("receipts", "checkpoints"):
        (target / folder).mkdir(parents=True)
    central, site, stick = root / "aggregator", root / "site", root / "stick"
    at, there = ("--workspace", central), ("--workspace", site)
    notes = write_notes(root / "notes", list(generate_notes(HOSPITAL, 8, 0)))
    fingerprint = _begin(central, write_notes(root / "public", list(generate_notes(PUBLIC, 12, 0))))
    pull = ("pull", central / "releases", *there)

    request = root / f"{SITE}.request.json"
    done(hospital("init", site, "--site", SITE, "--passphrase"))
    write_text(root / "words", WORDS, private=False)
    done(hospital("policy", "set", *POLICY, "--public-words", root / "words", *there))
    asked = values(hospital("enrol", "--out", request, *there, "--json"))
    done(provider("site", "add", request, "--fingerprint", asked["fingerprint"], *at))
    done(hospital(*pull, "--fingerprint", fingerprint))
    done(hospital("encode", notes, "--out", root / "share.parquet", *there))
    way = ("--approver", "Dr Ünal", "--to-folder", stick)
    bundle = Path(values(hospital("submit", root / "share.parquet", *way, *there, "--json"))["bundle"])
    done(provider("ingest", bundle, *at))
    [accepted] = stick.glob("*.receipt.json")
    shutil.copyfile(accepted, target / "receipts" / "accepted.receipt.json")
    done(hospital("receipts", stick, *there))
    done(hospital("policy", "set", *PAPER, *there))
    codes = {"first": _export(site, target, "first")}

    # What comes now the hospital of the golden workspace has not met yet: copies of it go on.
    face, shown, told = (root / name for name in ("face", "shown", "told"))
    shutil.copytree(central, face)
    done(provider("publish", "--notes", "For somebody else.", "--workspace", face))
    rotated = [
        values(provider("keys", "rotate", purpose, "--overlap", OVERLAP_DAYS, *at, "--json"))
        for purpose in ("signing", "encryption")
    ]
    done(provider("publish", "--notes", "Signed by a provider that has rotated its keys.", *at))
    for hospitals, releases in ((shown, central), (told, face)):
        shutil.copytree(site, hospitals)
        done(hospital("pull", releases / "releases", *TAKEN, "--workspace", hospitals))
    codes |= {"both": _export(shown, target, "both"), "fork": _export(told, target, "fork")}
    refused(hospital("log", "compare", target / "checkpoints" / "fork.checkpoint", "--workspace", shown), 36)
    [evidence] = (shown / "log").glob("fork-*.json")
    shutil.copyfile(evidence, target / "fork.json")
    done(hospital("withdraw", 1, "--reason", "asked", "--to-folder", stick, "--workspace", shown))
    accepted.unlink()
    done(provider("ingest", stick, *at))
    [withdrawn] = stick.glob("*.receipt.json")
    shutil.copyfile(withdrawn, target / "receipts" / "withdrawn.receipt.json")

    forget_the_folder(site / "trust.json")
    pack(_without_targets(central / "releases", root / "releases"), target / "releases.tar.xz")
    pack(_only(central, OF_PROVIDER, root / "provider-only"), target / "provider.tar.xz")
    pack(_only(site, OF_SITE, root / "site-only"), target / "site.tar.xz")
    expected = {
        # All dates in the files are before it and what expires does so after it.
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "passphrase": PASSPHRASE,
        "fingerprint": fingerprint,
        "site_fingerprint": asked["fingerprint"],
        "rotated": rotated,
        "releases": [_manifest(path) for path in sorted((root / "releases").rglob("*.release.json"))],
        "codes": codes,
        "policy": json.loads(policy_path(open_workspace(site)).read_text(encoding="utf-8")),
        "policy_sha256": load_policy(open_workspace(site)).digest,
        "ledger": ledger_figures(site / "ledger.jsonl"),
    }
    write_text(target / "expected.json", json.dumps(expected, indent=1) + "\n", private=False)


def _begin(central: Path, public: Path) -> str:
    """A provider with one release; the fingerprint that it tells hospitals."""
    at = ("--workspace", central)
    fingerprint: str = values(provider("init", central, "--name", "provider", "--passphrase", "--json"))["fingerprint"]
    done(provider("train-embeddings", public, "--dim", 8, "--min-count", 3, *at))
    done(provider("train-repr", "--corpus", public, "--cluster-size", 8, "--dim", 8, *at))
    done(provider("audit", "--corpus", public, "--policy", policy(central / "limits.toml"), *at))
    state_full_audit(central / "audit")
    done(provider("publish", *at))
    return fingerprint


def _export(site: Path, target: Path, name: str) -> str:
    """Exports the checkpoint of a hospital; returns its release code."""
    at = ("--workspace", site)
    done(hospital("log", "export", target / "checkpoints" / f"{name}.checkpoint", *at))
    code: str = values(hospital("release-code", *at, "--json"))["code"]
    return code


def _without_targets(releases: Path, copy: Path) -> Path:
    """A repository with the small documents that are its targets, and none of the files of its releases."""
    shutil.copytree(releases, copy)
    for path in copy.glob("targets/0*/*"):
        if not path.name.endswith(".release.json"):
            path.unlink()
    return copy


def _only(workspace: Path, names: tuple[str, ...], copy: Path) -> Path:
    copy.mkdir()
    for name in names:
        source = workspace / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
    return copy


def _manifest(path: Path) -> dict[str, Any]:
    digest, _, _ = path.name.partition(".")
    return {"name": path.parent.name, "digest": digest}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, small(), pytest.MonkeyPatch.context() as patch:
        secret = Path(folder) / "passphrase"
        write_text(secret, PASSPHRASE)
        patch.setenv(FILE, str(secret))
        (Path(folder) / "root").mkdir()
        make(Path(sys.argv[1]), Path(folder) / "root")

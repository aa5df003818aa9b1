"""What made the golden files of version 0.1, with the programs of that version: `python -m tests.golden.make DIR`.

A provider and one hospital, by their own commands, on a few generated notes; only networks and tables are smaller than a
command makes them. Keys, surrogates and times are new each time, all else is seeded. See `tests.golden` before running it.

encoded/                        two shares as `encode` left them, 1 in Parquet and 2 in HDF5, with manifests and reports
stick/                          the hospital's request to join, both shares sealed, the receipt of share 1 and a withdrawal of it
releases.tar.xz                 the release repository: 0001-representer and 0002-pipeline, made with surrogates
aggregator.tar.xz, site.tar.xz  both workspaces; share 1 is accepted, share 2 has left and did not arrive yet
audit-log.jsonl                 the provider's audit log as exported; the hospital's ledger lies in its workspace
k-anonymous.tar.xz, three-part.tar.xz   representers of the other kinds
expected.json                   what all this holds
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from protocols.payload.opening import open_payload
from shared.constructions.registry import load_construction
from shared.embeddings.training import FastTextSettings
from shared.generate import generate_notes
from shared.models.representer import RepresenterConfig
from shared.pipeline.pipeline import load_pipeline
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from site_client.trust import Trust
from tests.audited import policy, quick_takes_seconds
from tests.golden.archives import pack
from tests.golden.figures import construction_figures, found_spans, payload_figures
from tests.loop import done, hospital, provider, values
from tests.site_client.sites import single_precision
from tests.tiny_notes import write_notes

PUBLIC, HOSPITAL = "en_commons", "en_moor"
SITE = "st-anne"
# What a hospital would have typed: the folder of this run is nobody's business.
STICK = "/media/stick/releases"
KINDS = ("k-anonymous", "three-part")


def make(target: Path, root: Path) -> None:
    """Makes the files.

    Args:
        target: a new folder for them.
        root: an empty folder to work in.
    """
    notes = {}
    for name, style, count, seed in (("public", PUBLIC, 12, 0), ("first", HOSPITAL, 8, 0), ("second", HOSPITAL, 6, 1)):
        written = list(generate_notes(style, count, seed))
        notes[name] = write_notes(root / name, written)
    text = next(generate_notes(HOSPITAL, 1, 0)).text
    (target / "stick").mkdir(parents=True)
    (target / "encoded").mkdir()
    central, site = root / "aggregator", root / "site"
    at, there = ("--workspace", central), ("--workspace", site)
    fingerprint = values(provider("init", central, "--name", "provider", "--json"))["fingerprint"]
    done(provider("train-embeddings", notes["public"], "--dim", 8, "--min-count", 3, *at))
    done(provider("train-repr", "--corpus", notes["public"], "--cluster-size", 8, "--dim", 8, *at))
    limits = policy(root / "policy.toml")
    done(provider("audit", "--corpus", notes["public"], "--policy", limits, *at))
    done(provider("publish", *at))

    request, pull = target / "stick" / f"{SITE}.request.json", ("pull", central / "releases", *there)
    done(hospital("init", site, "--site", SITE))
    asked = values(hospital("enrol", "--out", request, "--contact", "A. Weiss", *there, "--json"))
    done(provider("site", "add", request, "--fingerprint", asked["fingerprint"], *at))
    done(hospital(*pull, "--fingerprint", fingerprint))
    encoded = [target / "encoded" / name for name in ("first.parquet", "second.h5")]
    bundles = []
    for path in encoded:
        done(hospital("encode", notes[path.stem], "--out", path, *there))
        way = ("--approver", "Dr Ünal", "--to-folder", target / "stick")
        bundles.append(Path(values(hospital("submit", path, *way, *there, "--json"))["bundle"]))
    done(provider("ingest", bundles[0], *at))
    done(hospital("receipts", target / "stick", *there))
    done(provider("train-head", "--epochs", 150, "--no-hold-out", *at))
    done(provider("release", *at))
    done(hospital(*pull))
    exported = values(provider("audit-log", "export", target / "audit-log.jsonl", *at, "--json"))
    forget_the_folder(site / "trust.json")
    # By a copy: the hospital of the golden workspace has not asked for anything yet.
    asking = shutil.copytree(site, root / "asking")
    done(hospital("withdraw", 1, "--reason", "asked", "--to-folder", target / "stick", "--workspace", asking))

    for kind in KINDS:
        _other_representer(kind, root / kind, notes["public"], central / "embeddings")
        pack(root / kind / "representer", target / f"{kind}.tar.xz")
    pack(central / "releases", target / "releases.tar.xz")
    pack(central, target / "aggregator.tar.xz")
    pack(site, target / "site.tar.xz")

    secret = (site / "keys" / "noise.key").read_bytes()
    pipeline = site / "releases" / "0002-pipeline"
    folders = {"surrogates": pipeline} | {kind: root / kind / "representer" for kind in KINDS}
    expected = {
        # All dates in the files are before it and what expires does so after it.
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "fingerprint": fingerprint,
        "site_fingerprint": asked["fingerprint"],
        "releases": {path.name: _digest(path / "release.json") for path in sorted((site / "releases").iterdir())},
        "shares": [_share_figures(path) for path in encoded],
        "listed": values(provider("shares", "list", *at, "--json"))["shares"],
        "audit_log": {name: exported[name] for name in ("events", "head")},
        "ledger": ledger_figures(site / "ledger.jsonl"),
        "representers": {
            kind: construction_figures(load_construction(folder), secret) for kind, folder in folders.items()
        },
        "note": {"text": text, "spans": found_spans(load_pipeline(pipeline), text)},
    }
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


def _other_representer(kind: str, root: Path, public: Path, vectors: Path) -> None:
    few = ("--cluster-size", 8) if kind == "k-anonymous" else ("--neighbours", 5, "--preset", "quick")
    done(provider("init", root))
    way = ("--corpus", public, "--embeddings", vectors, "--procedure", kind, "--dim", 8, *few)
    done(provider("train-repr", *way, "--workspace", root))


def forget_the_folder(path: Path) -> None:
    """Puts another place than that of this run into a hospital's trust, as its next pull would."""
    known = Trust.load(path)
    assert known is not None
    dataclasses.replace(known, source=STICK).save(path)


def _share_figures(path: Path) -> dict[str, Any]:
    with open_payload(path) as reader:
        return payload_figures(reader)


def ledger_figures(path: Path) -> dict[str, Any]:
    """What a ledger tells of, and the digest of its last line."""
    lines = path.read_bytes().splitlines()
    events = [json.loads(line)["entry"]["event"] for line in lines]
    return {"events": events, "last": hashlib.sha256(lines[-1]).hexdigest()}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def small() -> Iterator[None]:
    """Lets the commands make small networks, a small table of n-grams and an audit of seconds."""
    with pytest.MonkeyPatch.context() as patch, quick_takes_seconds():
        _default(patch, BiLSTMCRFConfig, hidden=16)
        _default(patch, RepresenterConfig, hidden=8)
        _default(patch, FastTextSettings, buckets=500)
        single_precision(patch)
        yield


def _default(patch: pytest.MonkeyPatch, settings: type[Any], **changed: int) -> None:
    found = {
        field.name: field.default for field in dataclasses.fields(settings) if field.default is not dataclasses.MISSING
    }
    patch.setattr(settings.__init__, "__defaults__", tuple((found | changed).values()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, small():
        make(Path(sys.argv[1]), Path(folder))

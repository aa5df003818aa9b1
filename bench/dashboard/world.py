"""A provider of many hospitals, with what a year leaves: shares in every state, releases with audits, a head's record, jobs, a long log.

Everything lies where the programs put it, in their formats; only what would take trainings is invented: figures of records and bytes of weights.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aggregator.enrolled.alarms import raise_alarm
from aggregator.registry import audit_log
from aggregator.registry.states import AlarmKind, ShareState
from aggregator.registry.tables import ReleaseRow, ReleaseShareRow, ShareRow
from aggregator.registry.times import as_text
from aggregator.repository.tuf_repository import NewRelease
from aggregator.workspace import Workspace
from bench.exchange.world import build
from foundation.files import write_text
from protocols.keys.signing import PrivateKey
from protocols.release.repository import LATEST, PROVIDER, latest_bytes, release_name
from protocols.release.verification import MANIFEST_NAME, ReleaseFields, list_release
from shared.federated.screening import Refusal

CATEGORIES = ("PATIENT", "DOCTOR", "HOSPITAL", "DATE", "ID", "PHONE", "LOCATION", "AGE", "PROFESSION")
_STATES = (ShareState.ACCEPTED,) * 16 + (
    ShareState.QUARANTINED,
    ShareState.REJECTED,
    ShareState.WITHDRAWN,
    ShareState.ACCEPTED,
)
_WHY = {
    ShareState.ACCEPTED: ("", ""),
    ShareState.QUARANTINED: ("label-rates", "the rate of DATE is 0.4 of that of its earlier shares"),
    ShareState.REJECTED: ("person", "labels of another scheme"),
    ShareState.WITHDRAWN: ("withdrawn-by-site", "asked by the ethics board"),
}


@dataclass(frozen=True)
class Size:
    """How much there is.

    Args:
        sites: hospitals.
        shares: of all of them.
        releases: published.
        rounds: of a training together.
    """

    sites: int = 200
    shares: int = 10_000
    releases: int = 24
    rounds: int = 40


def build_world(root: Path, size: Size = Size(), seed: int = 0) -> Workspace:
    """The provider's workspace, in a new folder."""
    names = [f"hospital-{number:03}" for number in range(size.sites)]
    world = build(
        root, keys={name: PrivateKey.from_seed(number.to_bytes(32, "big")) for number, name in enumerate(names)}
    )
    workspace, random = world.workspace(), np.random.default_rng(seed)
    digests = [_publish(workspace, number) for number in range(1, size.releases + 1)]
    _register(workspace, names, digests, size, random)
    for folder, record in (
        ("head", _head(names, size, random)),
        ("representer", _representer()),
        ("audit", _audit(size.releases)),
    ):
        (workspace.root / folder).mkdir(exist_ok=True)
        name = "audit.json" if folder == "audit" else "training.json"
        write_text(workspace.root / folder / name, json.dumps(record), private=False)
    return workspace


def _register(
    workspace: Workspace, names: list[str], digests: list[str], size: Size, random: np.random.Generator
) -> None:
    began = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=400)
    with workspace.registry().transaction() as session:
        for number, digest in enumerate(digests, start=1):
            session.add(
                ReleaseRow(
                    sequence=number,
                    kind="pipeline",
                    name=release_name(number, "pipeline"),
                    digest=digest,
                    published_at=as_text(began + datetime.timedelta(days=16 * number)),
                )
            )
        rows = []
        for number in range(size.shares):
            state, came = (
                _STATES[int(random.integers(len(_STATES)))],
                began + datetime.timedelta(days=400 * number / size.shares),
            )
            code, why = _WHY[state]
            rows.append(
                ShareRow(
                    site=names[number % len(names)],
                    sequence=number // len(names) + 1,
                    bundle_sha256=hashlib.sha256(str(number).encode()).hexdigest(),
                    bundle_bytes=20_000_000,
                    payload_sha256=hashlib.sha256(f"payload {number}".encode()).hexdigest(),
                    manifest_sha256=hashlib.sha256(f"manifest {number}".encode()).hexdigest(),
                    release=digests[min(len(digests) - 1, number * len(digests) // size.shares)],
                    sentences=int(random.integers(2_000, 60_000)),
                    tokens=int(random.integers(30_000, 900_000)),
                    state=state,
                    reason_code=code or None,
                    reason=why or None,
                    received_at=as_text(came),
                    decided_at=as_text(came),
                )
            )
        session.add_all(rows)
        session.flush()
        # As many as a pool has; they all stay in what was released.
        session.add_all(
            ReleaseShareRow(release=len(digests), share=row.id)
            for row in rows
            if row.state in (ShareState.ACCEPTED, ShareState.WITHDRAWN)
        )
        for row in rows:
            audit_log.append(
                session,
                "server",
                f"share-{row.state}",
                {"site": row.site, "sequence": row.sequence, "bundle": row.bundle_sha256},
            )
        for name in names[:12]:
            raise_alarm(
                session,
                name,
                AlarmKind.INFLUENCE,
                "recall of DOCTOR at the others is 0.912 with it and 0.941 without it",
            )


def _publish(workspace: Workspace, number: int) -> str:
    """A release of a few small files; its digest."""
    repository, name = workspace.repository(), release_name(number, "pipeline")
    folder = workspace.root / "content"
    folder.mkdir(exist_ok=True)
    files = {
        "scheme.json": {},
        "representer.training.json": {"number": 1},
        "audit.json": _audit(number),
        "operating_points.json": _points(number),
    }
    for file, content in files.items():
        write_text(folder / file, json.dumps(content), private=False)
    fields = ReleaseFields("pipeline", "provider", number, datetime.date.today(), "meddocan", {"deid_commons": "0.1.0"})
    listed = list_release(folder, fields, workspace.signing_keys()[0].key_id).manifest
    documents = {PROVIDER: workspace.record().to_bytes(), LATEST: latest_bytes(name)}
    repository.publish(documents, NewRelease(name, folder, (*listed.files, MANIFEST_NAME)))
    return listed.digest


def _audit(number: int) -> dict[str, Any]:
    gain = 0.04 / (1 + number / 8)
    finding = {
        "attack": "match",
        "measure": "top-1 of 1000 nearest neighbours",
        "value": 0.001 + gain,
        "baseline": 0.001,
        "interval": [0.0, 0.1],
        "trials": 1000,
        "unit": "",
        "category": "",
    }
    verdicts = [
        {"attack": attack, "measure": "top-1 of", "why": "a word in a list", "passed": True, "skipped": False}
        for attack in ("match", "linkage", "token inversion", "fresh adversary T1", "reassembly")
    ]
    return {
        "format": 2,
        "made": "2026-11-20",
        "preset": "full",
        "passed": True,
        "caveats": [],
        "verdicts": verdicts,
        "findings": [finding],
    }


def _points(number: int) -> dict[str, Any]:
    hidden = 0.85 + 0.1 * (1 - 1 / (1 + number / 6))
    points = [
        {"target": target, "threshold": 0.5, "hidden": hidden, "precision": 0.9, "least": hidden - 0.05}
        for target in (0.9, 0.92, 0.95)
    ]
    return {"hospitals": 12, "points": points}


def _representer() -> dict[str, Any]:
    return {"record": {"adversary_accuracy": [0.5 + 0.35 * 0.85**epoch for epoch in range(30)]}, "sentences": 40_000}


def _head(names: list[str], size: Size, random: np.random.Generator) -> dict[str, Any]:
    sites = []
    for name in names:
        alone, recall = sorted(random.uniform(0.7, 0.99, 2).tolist())
        kinds = {kind: [int(random.integers(20, 400)), float(random.uniform(recall - 0.1, 1))] for kind in CATEGORIES}
        sites.append(
            {
                "site": name,
                "tokens": 9000,
                "phi_tokens": 900,
                "precision": 0.93,
                "recall": recall,
                "alone_f1": alone,
                "alone_recall": alone,
                "categories": kinds,
                "f1": recall,
            }
        )
    changes = [
        {"site": name, "changes": [_change(kind, random) for kind in ("all PHI", *CATEGORIES)]} for name in names
    ]
    out = {name: ["recall of DOCTOR at the others is 0.912 with it and 0.941 without it"] for name in names[:12]}
    rounds = list(_rounds(names, size.rounds, random))
    return {
        "recipe": {}, "sentences": 3_100_000, "tokens": 42_000_000, "shares": [], "left_out": 12, "public": True, "representer": "ab" * 32,
        "sites": sites, "defence": {"name": "majority+cap", "not_counted": dict.fromkeys(names, 4)},
        "influence": {"mode": "fast", "sites": changes, "rows": [], "standing_out": out}, "compared": None,
        "federated": {"plan": {"strategy": "median", "local_epochs": 1}, "rounds": rounds},
    }  # fmt: skip


def _change(kind: str, random: np.random.Generator) -> dict[str, Any]:
    before, more = float(random.uniform(0.85, 0.95)), float(random.uniform(-0.005, 0.02))
    return {
        "category": kind,
        "tokens": 4000,
        "recall": before + more,
        "before": before,
        "low": more - 0.004,
        "high": more + 0.004,
    }


def _rounds(names: list[str], count: int, random: np.random.Generator) -> Iterator[dict[str, Any]]:
    for number in range(1, count + 1):
        there = [name for name in names if random.random() > 0.02]
        norms = {name: float(random.uniform(0.5, 1.5) / number**0.5) for name in there}
        refused = {names[0]: str(Refusal.NOT_FINITE)} if number == 3 else {}
        yield {
            "number": number,
            "norms": norms,
            "refused": refused,
            "sentences": dict.fromkeys(there, 4000),
            "bytes_each": 4_200_000,
        }

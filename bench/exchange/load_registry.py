"""`aggregator shares list` with ten thousand shares in the registry: from the open program to the printed lines."""

from __future__ import annotations

import hashlib
import os
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner
from sqlalchemy import insert

from aggregator.commands.cli import main
from aggregator.registry.tables import ShareRow, SiteRow
from aggregator.registry.times import now
from aggregator.workspace import Workspace, create
from bench.results import Entry

SHARES, SITES, TURNS = 10_000, 50, 5
# Manifests and receipts lie in the same rows, and a list must not read them.
_BLOB_BYTES = 4096


def listing(command: str) -> Entry:
    """How long the list takes.

    Args:
        command: what anyone can type to measure it again.
    """
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "provider"
        _fill(create(root, "provider", "i2b2_2014"))
        seconds = sorted(_seconds(root) for _ in range(TURNS))
    return Entry(
        measure="list 10,000 shares",
        value=statistics.median(seconds),
        target=1.0,
        direction="<=",
        unit="s",
        interval=(seconds[0], seconds[-1]),
        seeds=TURNS,
        data="rows made for it",
        command=command,
        note=f"aggregator shares list on SQLite, all lines printed; median of {TURNS}, the interval is the fastest and the slowest",
    )


def _fill(workspace: Workspace) -> None:
    names = [f"site-{number:02}" for number in range(SITES)]
    with closing(workspace.registry()) as registry, registry.transaction() as session:
        session.execute(insert(SiteRow), [{"name": name, "state": "enrolled", "enrolled_at": now()} for name in names])
        session.execute(insert(ShareRow), [_row(names[number % SITES], number) for number in range(SHARES)])


def _row(site: str, number: int) -> dict[str, object]:
    bundle, manifest, payload = (hashlib.sha256(f"{what} {number}".encode()).hexdigest() for what in ("b", "m", "p"))
    return {
        "site": site,
        "sequence": number // SITES + 1,
        "bundle_sha256": bundle,
        "bundle_bytes": 20_000_000,
        "manifest_sha256": manifest,
        "manifest": os.urandom(_BLOB_BYTES),
        "payload_sha256": payload,
        "payload_format": "parquet",
        "release": "0" * 64,
        "sentences": 10_000,
        "tokens": 200_000,
        "tag_counts": "{}",
        "state": "accepted",
        "received_at": now(),
        "decided_at": now(),
        "receipt": os.urandom(_BLOB_BYTES),
    }


def _seconds(root: Path) -> float:
    began = time.perf_counter()
    result = CliRunner().invoke(main, ["shares", "list", "--workspace", str(root)])
    taken = time.perf_counter() - began
    if result.exit_code or result.stdout.count("\n") < SHARES:
        raise RuntimeError(f"expected {SHARES} lines, got {result.stdout.count(chr(10))}, code {result.exit_code}")
    return taken

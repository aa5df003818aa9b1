"""Rows for tests of the registry."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy.orm import Session

from aggregator.registry.tables import ShareRow, SiteRow
from aggregator.registry.times import now


def site(name: str = "north", **changes: Any) -> SiteRow:
    values = {"name": name, "state": "enrolled", "contact": None, "enrolled_at": now(), "revoked_reason": None}
    return SiteRow(**values | changes)


def share(sequence: int, name: str = "north", **changes: Any) -> ShareRow:
    digest = hashlib.sha256(f"{name} {sequence}".encode()).hexdigest()
    values = {
        "site": name,
        "sequence": sequence,
        "bundle_sha256": digest,
        "bundle_bytes": 20_000_000,
        "state": "received",
        "received_at": now(),
    }
    return ShareRow(**values | changes)


def add(session: Session, *rows: SiteRow | ShareRow) -> None:
    """Each by itself, in this order."""
    for row in rows:
        session.add(row)
        session.flush()
        # So that a second row of the same key is a matter for the database.
        session.expunge(row)

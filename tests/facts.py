"""What a site finds of a release that keeps the usual policy, for tests that hold no models."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any

from protocols.release.verification import VerifiedRelease
from shared.constructions.promised import Narrowed, Recomputed
from site_client.policy.facts import AuditFacts, ReleaseFacts

DAY = datetime.date.today()
FIGURES = Recomputed(
    procedures=("surrogates",),
    replaces_phi=True,
    cluster_size=1000,
    unlisted_public_words=0,
    hides_casing=False,
    mu=None,
    surrogate_spans=400,
    bytes=1 << 20,
    narrowed=Narrowed(30, 3, 2000),
)
AUDIT = AuditFacts(ours=True, preset="full", made=DAY, limits=20, failed=())
FACTS = ReleaseFacts("ab" * 32, 1, DAY, FIGURES, AUDIT)


def facts(*, audit: dict[str, Any] | None = None, created: datetime.date = DAY, **figures: Any) -> ReleaseFacts:
    """Those of a good release, but for what is changed.

    Args:
        audit: changed of its audit.
        created: its day.
        figures: changed of what its files show.
    """
    judged = replace(AUDIT, **(audit or {}))
    return replace(FACTS, created=created, figures=replace(FIGURES, **figures), audit=judged)


def examined(release: VerifiedRelease, *_: object) -> ReleaseFacts:
    """What takes the place of looking at a release that holds nothing."""
    return replace(FACTS, release=release.digest, sequence=release.manifest.sequence)

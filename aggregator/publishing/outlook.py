"""What `release` would say of the workspace as it is, for whoever decides about it: every gate is asked, and all answers are told.

Nothing is copied, locked or signed; the gates are asked again of the copy that is signed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aggregator.errors import DropError
from aggregator.publishing.audit_gate import PassedAudit, load_passed_audit
from aggregator.publishing.head_record import FURTHER_HEAD_FILES, HEAD_FILES, head_digest
from aggregator.publishing.judging import judge_head, require_fitting
from aggregator.publishing.quality_gate import FALSE_ALARMS, describe_no_drop, describe_unmeasured
from aggregator.publishing.releases import Release, fitting_digests, last_pipeline
from aggregator.workspace import Workspace, require
from foundation.errors import DeidError
from shared.constructions.files import digest_of

# The gate is asked what somebody would accept, whoever that is: nothing is recorded.
_SOMEBODY = "somebody"


@dataclass(frozen=True)
class HeadOutlook:
    """What the gates say of the head.

    Args:
        lower: what somebody has to accept in their name, a sentence each: what it finds less, and that nobody compared it.
        measured: what is known else, and what was not measured; "" for nothing.
        drop: the refusal as long as nobody accepts it; None where it passes.
        released: name of the release that this head is out as already; None for none.
    """

    lower: tuple[str, ...]
    measured: str
    drop: DropError | None
    released: str | None


@dataclass(frozen=True)
class Outlook:
    """What the gates say of representer and head.

    Args:
        refusals: of the gates, whoever approves.
        audit: that the representer has passed; None where it has not.
        head: None where it is refused.
    """

    refusals: tuple[DeidError, ...]
    audit: PassedAudit | None
    head: HeadOutlook | None


def foresee(workspace: Workspace, representer: str) -> Outlook:
    """Ask every gate.

    Args:
        workspace: the provider's.
        representer: digest of the one here.
    """
    refusals: list[DeidError] = []
    audit, head = None, None
    try:
        audit = load_passed_audit(workspace.root / "audit", representer)
    except DeidError as error:
        refusals.append(error)
    try:
        head = _foresee_head(workspace, representer)
    except DeidError as error:
        refusals.append(error)
    return Outlook(tuple(refusals), audit, head)


def released_as(workspace: Workspace) -> str | None:
    """Name of the last release with a head, if that is the head of the workspace; None if it is another."""
    return _name_of(workspace.head, last_pipeline(workspace))


def _foresee_head(workspace: Workspace, representer: str) -> HeadOutlook:
    folder = require(workspace.head, "aggregator train-head")
    require_fitting(workspace, folder, representer, "")
    last = last_pipeline(workspace, representer)
    manifest = None if last is None else last.manifest
    fitting = fitting_digests(workspace, representer)
    found, drop = judge_head(workspace, folder, manifest, _SOMEBODY, fitting), None
    try:
        judge_head(workspace, folder, manifest, None, fitting)
    except DropError as error:
        drop = error
    released = _name_of(folder, last)
    if found is None:
        return HeadOutlook((), describe_no_drop(folder), drop, released)
    lower = [
        f"The head {'hides more that is no PHI' if one.category == FALSE_ALARMS else 'finds less: recall of'} {one}."
        for one in found.drops
    ]
    if found.uncompared and last is not None:
        lower.append(f"It was not compared with the last release, {last.name}.")
    return HeadOutlook(tuple(lower), describe_unmeasured(folder, uncompared=found.uncompared), drop, released)


def _name_of(head: Path, last: Release | None) -> str | None:
    if last is None or not all((head / name).exists() for name in HEAD_FILES):
        return None
    files = last.manifest.files
    carried = digest_of([files[name].sha256 for name in (*HEAD_FILES, *FURTHER_HEAD_FILES) if name in files])
    return last.name if carried == head_digest(head) else None

"""What `aggregator refresh` proposes to the person who approves releases: one head, what the gates say of it, and the command.

A proposal releases nothing. It names the head by its digest, and `aggregator release --head` takes no other: what was trained after it was
judged does not leave by its name. It stands as long as that head is in the workspace and is not released.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from aggregator.errors import WorkspaceError
from aggregator.publishing.head_record import DIGITS, HEAD_FILES, head_digest
from aggregator.publishing.outlook import foresee, released_as
from aggregator.publishing.releases import representer_digest
from aggregator.registry import audit_log
from aggregator.registry.times import now
from aggregator.repository.tuf_keys import THRESHOLD
from aggregator.workspace import Workspace
from foundation.files import write_text
from foundation.reading import read_text

FORMAT = 1
_FILE = "proposal.json"


class Verdict(StrEnum):
    """What the gates say of a head."""

    PASSED = "passed"
    DROP = "drop"
    REFUSED = "refused"
    """What passed, or could be accepted, when it was proposed, and can't be released now."""


@dataclass(frozen=True)
class Proposal:
    """A head that waits for a person.

    Args:
        at: when it was proposed.
        head: its digest.
        verdict: of the gates.
        says: what they found, a line each.
        command: what that person types; DIR and NAME stand for what only they know.
    """

    at: str
    head: str
    verdict: Verdict
    says: tuple[str, ...]
    command: str

    @property
    def name(self) -> str:
        """What people call the head by."""
        return self.head[:DIGITS]

    def as_json(self) -> dict[str, object]:
        """For the file and for programs."""
        return {"format": FORMAT, **asdict(self)}


def propose(workspace: Workspace, head: str, verdict: Verdict, says: Sequence[str]) -> Proposal:
    """Propose a head of the workspace; the same once more stays as it was.

    Args:
        workspace: the provider's.
        head: digest of the one that was judged.
        verdict: of the gates.
        says: what they found, a line each.
    """
    made = Proposal(now(), head, verdict, tuple(says), _command(workspace, head, verdict))
    before = read_proposal(workspace)
    if before is not None and replace(before, at=made.at) == made:
        return before
    with workspace.registry().transaction() as session:
        audit_log.append(session, "operator", "release-proposed", {"head": head, "verdict": str(verdict)})
    write_text(workspace.root / _FILE, json.dumps(made.as_json(), indent=1))
    return made


def read_proposal(workspace: Workspace) -> Proposal | None:
    """What waits for a person, as the gates see it now; None where nothing does: no round has proposed, another head is here, or it is
    released.

    Raises:
        WorkspaceError: the file is damaged.
    """
    path = workspace.root / _FILE
    if not path.exists() or not _has_head(workspace.head):
        return None
    try:
        given = json.loads(read_text(path))
        if given.pop("format") != FORMAT:
            raise ValueError
        found = Proposal(**given | {"verdict": Verdict(given["verdict"]), "says": tuple(map(str, given["says"]))})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WorkspaceError(
            f"{_FILE}: expected what `aggregator refresh` proposed; remove the file and run that again"
        ) from error
    if found.head != head_digest(workspace.head) or released_as(workspace) is not None:
        return None
    seen = foresee(workspace, representer_digest(workspace))
    refused = list(seen.refusals)
    if seen.head is not None and seen.head.drop is not None and found.verdict is Verdict.PASSED:
        refused.append(seen.head.drop)
    return replace(found, verdict=Verdict.REFUSED, says=(str(refused[0]),)) if refused else found


def _has_head(folder: Path) -> bool:
    return all((folder / name).exists() for name in HEAD_FILES)


def _command(workspace: Workspace, head: str, verdict: Verdict) -> str:
    """What the approver types: the offline keys are theirs, and so is the name."""
    words = ["aggregator", "release", "--head", head[:DIGITS]]
    if not workspace.repository().has_offline_keys():
        words += ["--offline-keys", "DIR"] * THRESHOLD
    if verdict is Verdict.DROP:
        words += ["--accept-drop", "--approver", "NAME"]
    if workspace.root != Path("."):
        words += ["--workspace", str(workspace.root)]
    return shlex.join(words)

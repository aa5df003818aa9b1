"""What `aggregator refresh` proposes to the person who approves releases: one head, what the gates say of it, and the command.

A proposal releases nothing. It names the head by its digest, and `aggregator release --head` takes no other: what was trained after it was
judged does not leave by its name. It stands as long as that head, with the record that was judged, is in the workspace and is not released.

The file is no authority: whoever can write into the workspace can write it. So the command is made from the head and the verdict each
time, and is not kept; and what the file says of the gates is told as lines that command no terminal.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from aggregator.errors import WorkspaceError
from aggregator.publishing.head_record import DIGITS, HEAD_FILES, RECORD, head_digest, record_digest
from aggregator.publishing.outlook import foresee, released_as
from aggregator.publishing.preparing import stated_options
from aggregator.publishing.releases import representer_digest
from aggregator.registry import audit_log
from aggregator.registry.times import as_moment, now
from aggregator.repository.tuf_keys import THRESHOLD
from aggregator.workspace import Workspace
from foundation.files import write_text
from foundation.printable import escape_unprintable
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
        command: what that person types; DIR, NAME and URL stand for what only they know. "" for a head that is refused.
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
        """For programs."""
        return {"format": FORMAT, **asdict(self)}


def propose(workspace: Workspace, head: str, verdict: Verdict, says: Sequence[str]) -> Proposal:
    """Propose a head of the workspace; the same once more stays as it was.

    Args:
        workspace: the provider's.
        head: digest of the one that was judged.
        verdict: of the gates.
        says: what they found, a line each.
    """
    made = _proposal(workspace, now(), head, verdict, says)
    before = read_proposal(workspace)
    if before is not None and replace(before, at=made.at) == made:
        return before
    with workspace.registry().transaction() as session:
        audit_log.append(session, "operator", "release-proposed", {"head": head, "verdict": str(verdict)})
    kept = {name: value for name, value in made.as_json().items() if name != "command"}
    write_text(workspace.root / _FILE, json.dumps(kept | {"record": record_digest(workspace.head)}, indent=1))
    return made


def read_proposal(workspace: Workspace) -> Proposal | None:
    """What waits for a person, as the gates see it now; None where nothing does: no round has proposed, another head is here, or another
    record of its training, or it is released.

    Raises:
        WorkspaceError: the file is damaged.
    """
    path = workspace.root / _FILE
    if not path.exists() or not _has_head(workspace.head):
        return None
    try:
        given = json.loads(read_text(path))
        if given["format"] != FORMAT:
            raise ValueError
        at, head, verdict, says = given["at"], str(given["head"]), Verdict(given["verdict"]), [*map(str, given["says"])]
        as_moment(at)
        record = str(given.get("record", ""))
        # Nobody proposes what is refused.
        if verdict is Verdict.REFUSED:
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WorkspaceError(
            f"{_FILE}: expected what `aggregator refresh` proposed; remove the file and run that again"
        ) from error
    another = head != head_digest(workspace.head) or record != record_digest(workspace.head)
    if another or released_as(workspace) is not None:
        return None
    seen = foresee(workspace, representer_digest(workspace))
    refused, drop = list(seen.refusals), None if seen.head is None else seen.head.drop
    if drop is None:
        # Nothing is to be accepted, whatever the file says.
        verdict = Verdict.PASSED
    elif verdict is Verdict.PASSED:
        refused.append(drop)
    if refused:
        verdict, says = Verdict.REFUSED, [str(refused[0])]
    return _proposal(workspace, at, head, verdict, says)


def _proposal(workspace: Workspace, at: str, head: str, verdict: Verdict, says: Sequence[str]) -> Proposal:
    lines = tuple(map(escape_unprintable, says))
    return Proposal(at, head, verdict, lines, _command(workspace, head, verdict))


def _has_head(folder: Path) -> bool:
    return all((folder / name).exists() for name in (*HEAD_FILES, RECORD))


def _command(workspace: Workspace, head: str, verdict: Verdict) -> str:
    """What the approver types: the offline keys are theirs, and so is the name. The licence and the place of the word vectors stay."""
    if verdict is Verdict.REFUSED:
        return ""
    words = ["aggregator", "release", "--head", head[:DIGITS]]
    if not workspace.repository().has_offline_keys():
        words += ["--offline-keys", "DIR"] * THRESHOLD
    if verdict is Verdict.DROP:
        words += ["--accept-drop", "--approver", "NAME"]
    words += stated_options(workspace)
    if workspace.root != Path("."):
        words += ["--workspace", str(workspace.root)]
    return shlex.join(words)

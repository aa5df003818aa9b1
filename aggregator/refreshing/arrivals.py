"""What came since the last release with a head, as the registry has it: whichever way it came, and however often a round was cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from aggregator.enrolled.shares import BY_SITE, Share, list_shares
from aggregator.publishing.releases import fitting_digests, last_pipeline, representer_digest
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseRow, ReleaseShareRow
from aggregator.workspace import Workspace


@dataclass(frozen=True)
class Arrivals:
    """The shares that make the next pool another than the last one, and those that wait.

    Args:
        release: name of the last release with a head; None before the first.
        new: accepted, made with the representer here, and not in that release.
        waiting: in quarantine, for a person.
        refused: since that release.
        withdrawn: that have trained that release, and count no more.
        undecided: received, and not looked at to the end.
    """

    release: str | None
    new: tuple[Share, ...]
    waiting: tuple[Share, ...]
    refused: tuple[Share, ...]
    withdrawn: tuple[Share, ...]
    undecided: tuple[Share, ...]

    def as_json(self) -> dict[str, object]:
        """For programs."""
        kinds = {
            "new": self.new,
            "waiting": self.waiting,
            "refused": self.refused,
            "withdrawn": self.withdrawn,
            "undecided": self.undecided,
        }
        return {"release": self.release} | {kind: [_row(one) for one in shares] for kind, shares in kinds.items()}

    def lines(self) -> list[str]:
        """For people: what was taken, what was set aside and why."""
        since = "" if self.release is None else f" since release {self.release}"
        return [
            f"taken{since}: {_listed(self.new) or 'no share'}",
            *(
                f"set aside: {_named(one)}, {one.reason_code}: {one.reason}; decide by `aggregator shares accept {one.bundle[:12]}` or `reject`"
                for one in self.waiting
            ),
            *(f"refused{since}: {_named(one)}, {one.reason_code}: {one.reason}" for one in self.refused),
            *(f"{_taken_out(one)}{since}: {_named(one)}" for one in self.withdrawn),
            *(f"not decided: {_named(one)}; run `aggregator ingest --resume`" for one in self.undecided),
        ]


def read_arrivals(workspace: Workspace) -> Arrivals:
    """What came, and what became of it.

    Raises:
        DatabaseError, WorkspaceError, ProtocolError: registry or release repository is gone or damaged.
    """
    last = last_pipeline(workspace)
    trained: set[int] = set()
    since = ""
    if last is not None:
        sequence = last.manifest.sequence
        with workspace.registry().reading() as session:
            trained = set(session.scalars(select(ReleaseShareRow.share).where(ReleaseShareRow.release == sequence)))
            since = session.scalar(select(ReleaseRow.published_at).where(ReleaseRow.sequence == sequence)) or ""
    shares, digest = list_shares(workspace), representer_digest(workspace)
    # Those of another are never pooled: each month they would be told as new.
    fitting = fitting_digests(workspace, digest)

    def those(state: ShareState) -> list[Share]:
        return [one for one in shares if one.state == state]

    return Arrivals(
        None if last is None else last.name,
        tuple(one for one in those(ShareState.ACCEPTED) if one.id not in trained and one.release in fitting),
        tuple(those(ShareState.QUARANTINED)),
        tuple(one for one in those(ShareState.REJECTED) if (one.decided_at or "") >= since),
        tuple(one for one in those(ShareState.WITHDRAWN) if one.id in trained),
        tuple(those(ShareState.RECEIVED)),
    )


def _named(one: Share) -> str:
    return f"{one.site} share {one.sequence}"


def _taken_out(one: Share) -> str:
    return "taken back by its site" if one.reason_code == BY_SITE else "withdrawn by the provider"


def _listed(shares: Sequence[Share]) -> str:
    return ", ".join(f"{_named(one)} ({_sentences(one)})" for one in shares)


def _sentences(one: Share) -> str:
    return f"size {one.size}" if one.sentences is None else f"{one.sentences} sentences"


def _row(one: Share) -> dict[str, object]:
    return {
        "site": one.site,
        "sequence": one.sequence,
        "digest": one.digest or one.bundle,
        "sentences": one.sentences,
        "code": one.reason_code,
        "reason": one.reason,
    }

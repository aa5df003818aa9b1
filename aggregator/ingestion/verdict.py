"""The verdict about an opened share, with all that the registry knows of others; in the transaction that settles it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from aggregator.enrolled.overlap_key import overlap_key
from aggregator.enrolled.shares import KEPT, Verdict, settle, taken_back
from aggregator.enrolled.signers import arrival_day, check_signer
from aggregator.ingestion.label_rates import HISTORY_FACTOR, POOL_FACTOR, Reference, describe_outliers
from aggregator.ingestion.opening import OpenedShare
from aggregator.ingestion.overlap import (
    Compared,
    compare,
    describe_overlap,
    describe_repetition,
    describe_row_frequency,
    describe_said_again,
    describe_short_sentences,
    draw_line,
)
from aggregator.ingestion.payload_check import PayloadFindings
from aggregator.registry.states import ShareState
from aggregator.registry.tables import EventRow, ShareDigestsRow, ShareRow
from aggregator.workspace import Workspace
from protocols.errors import DuplicateError, ProtocolError
from protocols.share.manifest_envelope import parse_manifest

_ACTOR = "server"


def compare_with_earlier(workspace: Workspace, share: int, opened: OpenedShare) -> Compared | None:
    """What of a sound share came before, looked up outside any transaction; None of one that is refused."""
    if opened.findings is None:
        return None
    with workspace.registry().reading() as session:
        return compare(session, share, opened.findings.digests)


def decide(
    session: Session, workspace: Workspace, row: ShareRow, opened: OpenedShare, compared: Compared | None = None
) -> None:
    """Settles a share, with all that the registry knows of others.

    Args:
        session: of the transaction.
        workspace: where.
        row: the share.
        opened: as far as it is sound; its payload is in the store.
        compared: what `compare_with_earlier` has found: only what came since is read here.
    """
    error = opened.error
    if opened.envelope:
        manifest = parse_manifest(opened.envelope)
        row.manifest, row.manifest_sha256 = opened.envelope, manifest.sha256
        row.payload_sha256, row.payload_format = manifest.payload_sha256, manifest.payload_format
        row.release, row.sentences, row.tokens = manifest.release, manifest.sentences, manifest.tokens
        row.tag_counts = json.dumps(list(manifest.tag_counts))
        same = (ShareRow.site == row.site, ShareRow.manifest_sha256 == row.manifest_sha256, ShareRow.id != row.id)
        if (known := session.scalar(select(ShareRow).where(*same).order_by(ShareRow.id))) is not None:
            # Refused before, else it would have kept its number: sealed anew it is the same share, with the same receipt.
            again = Verdict(ShareState.REJECTED, known.reason_code or "", known.reason or "")
            settle(session, workspace, row, again, _ACTOR)
            row.receipt = known.receipt
            return
    try:
        if error is None:
            check_signer(session, row.site, opened.key, arrival_day(row))
            _check_new(session, row)
    except ProtocolError as late:
        error = late
    if error is not None:
        settle(session, workspace, row, Verdict(ShareState.REJECTED, _code(error), str(error)), _ACTOR)
        return
    if (back := taken_back(session, row)) is not None:
        settle(session, workspace, row, back, row.site)
        return
    assert opened.findings is not None
    settle(session, workspace, row, _verdict(session, workspace, row, opened.findings, compared), _ACTOR)
    session.add(ShareDigestsRow(share=row.id, digests=opened.findings.digests))


def _verdict(
    session: Session, workspace: Workspace, row: ShareRow, findings: PayloadFindings, compared: Compared | None
) -> Verdict:
    """What becomes of a sound share: the first that speaks against it sets it aside."""
    doubts: dict[str, Callable[[], str | None]] = {
        "overlap": lambda: _overlap(session, workspace, row, findings, compared),
        "row-frequency": lambda: describe_row_frequency(findings.commonest_row, row.tokens or 0),
        "repetition": lambda: _repetition(findings),
        "sentence-lengths": lambda: describe_short_sentences(row.sentences or 0, row.tokens or 0),
        "label-rates": lambda: _label_rates(session, workspace, row),
    }
    for code, look in doubts.items():
        if (reason := look()) is not None:
            return Verdict(ShareState.QUARANTINED, code, reason)
    return Verdict(ShareState.ACCEPTED)


def _overlap(
    session: Session, workspace: Workspace, row: ShareRow, findings: PayloadFindings, compared: Compared | None
) -> str | None:
    line = draw_line(overlap_key(workspace), row.site, findings.digests)
    return describe_overlap(session, compare(session, row.id, findings.digests, compared), row.site, line)


def _repetition(findings: PayloadFindings) -> str | None:
    return describe_repetition(findings.digests, findings.known_sentences) or describe_said_again(
        findings.said, findings.distinct
    )


def _check_new(session: Session, row: ShareRow) -> None:
    """Returns if no share that counts has the same payload: noise that was drawn once must not count twice."""
    same = (ShareRow.payload_sha256 == row.payload_sha256, ShareRow.state.in_(KEPT), ShareRow.id != row.id)
    if session.scalar(select(ShareRow.id).where(*same)) is not None:
        raise DuplicateError(
            "a new payload",
            received="one that came before",
            advice="nothing to do, or encode the notes again",
            place=f"share {row.sequence} of {row.site}",
        )


def _label_rates(session: Session, workspace: Workspace, row: ShareRow) -> str | None:
    """Why a share is set aside, or None.

    It is compared with the site's accepted shares: by itself, and together with the last 1, 3, 7... of them with those
    before, for a thousand small shares can do what one large one may not. And all that the site has shared is compared
    with what all others have. What it took back once it counted is still something to be compared with, and nothing else.
    """
    accepted = select(ShareRow.tag_counts).where(ShareRow.state == ShareState.ACCEPTED).order_by(ShareRow.id.desc())
    own = [_counts(row.tag_counts), *map(_counts, session.scalars(accepted.where(ShareRow.site == row.site)))]
    pool = _summed([_counts(text) for text in session.scalars(accepted.where(ShareRow.site != row.site))])
    comparisons = [(own, Reference("those of all other sites", pool, POOL_FACTOR))]
    back = _taken_back(session, row.site)
    for latest in _doubling(len(own) + bool(back)):
        reference = Reference(f"earlier ones of {row.site}", _summed([*own[latest:], *back]), HISTORY_FACTOR)
        comparisons.append((own[:latest], reference))
    for shares, reference in comparisons:
        if reference.tag_counts and (
            reason := describe_outliers(_summed(shares), reference, workspace.scheme.categories)
        ):
            return reason if len(shares) == 1 else f"together with the {len(shares) - 1} before it: {reason}"
    return None


def _taken_back(session: Session, site: str) -> list[tuple[int, ...]]:
    """Counts of the shares of a site that counted before it took them back."""
    withdrawn = select(ShareRow.bundle_sha256, ShareRow.tag_counts).where(
        ShareRow.site == site, ShareRow.state == ShareState.WITHDRAWN
    )
    counts = {bundle: _counts(text) for bundle, text in session.execute(withdrawn)}
    if not counts:
        return []
    accepted = session.scalars(select(EventRow.details).where(EventRow.action == f"share-{ShareState.ACCEPTED}"))
    counted = {json.loads(details)["bundle"] for details in accepted}
    return [counts[bundle] for bundle in counts.keys() & counted]


def _doubling(most: int) -> Iterator[int]:
    """1, 2, 4... below `most`."""
    count = 1
    while count < most:
        yield count
        count *= 2


def _counts(text: str | None) -> tuple[int, ...]:
    return tuple(json.loads(text or "[]"))


def _summed(counts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*counts, strict=True)))


def _code(error: Exception) -> str:
    """The kind of an error as a word: "non-finite" for NonFiniteError."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(error).__name__.removesuffix("Error")).lower()

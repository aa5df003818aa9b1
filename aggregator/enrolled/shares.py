"""Shares and their states, as the registry has them; and what people decide about them.

    received -> accepted | quarantined | rejected      by `aggregator.ingestion.ingest`
    quarantined -> accepted | rejected                 by a person
    received -> rejected                               by a person, who gives up what can't be decided
    accepted, quarantined -> withdrawn                 by the site, or by a person
    received -> withdrawn                              by the site, whose word is kept until the share is decided

A state changes in one transaction with its event in the audit log and the receipt that says so. The payload of a share
lies in the object store, by its digest, as long as the share is accepted or quarantined; only accepted shares are pooled.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from aggregator.enrolled.asked_back import (
    asked_back,
    carried_out,
    explain_missing,
    forget_asked,
    is_kept,
    keep_asked,
    waiting,
)
from aggregator.enrolled.signers import check_signed, explain_uncounted
from aggregator.enrolled.sites import keys_in, today
from aggregator.enrolled.unfinished_trainings import drop_withdrawn
from aggregator.errors import RegistryError
from aggregator.objects.needed import lock_object
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseRow, ReleaseShareRow, ShareDigestsRow, ShareRow
from aggregator.registry.times import now
from aggregator.repository.release_log import read_published_log
from aggregator.workspace import Workspace
from protocols.canonical import Json
from protocols.errors import UnknownSignerError
from protocols.fields import LINE, check_text
from protocols.share.manifest import ShareManifest
from protocols.share.manifest_envelope import parse_manifest
from protocols.share.receipt import Receipt, ReceiptState
from protocols.share.withdrawal import read_withdrawal, withdrawal_sender

# States in which the payload is kept.
KEPT = (ShareState.ACCEPTED, ShareState.QUARANTINED)
# Of shares whose digests begin alike; a hospital could send any number.
_NAMED = 5
BY_PERSON = "person"
"""The word for programs where no check has refused a share."""
BY_SITE, BY_PROVIDER = "withdrawn-by-site", "withdrawn-by-provider"
"""The words for programs where one was taken out."""

_UNDECIDED = "run `aggregator ingest --resume` and repeat, or `aggregator shares reject`, which deletes it undecided"
SET_ASIDE = "set-aside"
"""Of every share that waits, in its receipt: which doubt it was can tell a hospital what others hold. The registry has the doubt."""


@dataclass(frozen=True)
class Share:
    """A share in the registry.

    Args:
        id: its number there.
        site: whose it is.
        sequence: its number at the site.
        state: see the module.
        reason_code: why, in a word; "" for an accepted one.
        reason: why, in words.
        bundle: digest of the bundle that came.
        manifest: digest of its manifest; None until it was opened.
        digest: of its payload; None until it was opened.
        release: digest of the release that it was made with.
        sentences: in it; None until it was opened.
        tokens: in it; None until it was opened.
        received_at: when it came.
        decided_at: when it got its state.
    """

    id: int
    site: str
    sequence: int
    state: ShareState
    reason_code: str
    reason: str
    bundle: str
    manifest: str | None
    digest: str | None
    release: str | None
    sentences: int | None
    tokens: int | None
    received_at: str
    decided_at: str | None

    @property
    def size(self) -> str:
        """How much is in it, in words: of one that nobody has opened that is not known, and not nothing."""
        if self.sentences is None or self.tokens is None:
            return "not known before it is opened"
        return f"{self.sentences:,} sentences, {self.tokens:,} tokens"


@dataclass(frozen=True)
class Verdict:
    """What is decided about a share.

    Args:
        state: that it gets.
        code: why, in a word for programs; "" for an accepted one.
        reason: why, in words.
    """

    state: ShareState
    code: str = ""
    reason: str = ""


# In the order of Share's fields.
SHARE_COLUMNS: tuple[Any, ...] = (
    ShareRow.id,
    ShareRow.site,
    ShareRow.sequence,
    ShareRow.state,
    func.coalesce(ShareRow.reason_code, ""),
    func.coalesce(ShareRow.reason, ""),
    ShareRow.bundle_sha256,
    ShareRow.manifest_sha256,
    ShareRow.payload_sha256,
    ShareRow.release,
    ShareRow.sentences,
    ShareRow.tokens,
    ShareRow.received_at,
    ShareRow.decided_at,
)


def list_shares(workspace: Workspace, states: Sequence[ShareState] = ()) -> list[Share]:
    """All shares, or those in some states, by site and sequence number, then as they came."""
    query = select(*SHARE_COLUMNS).order_by(ShareRow.site, ShareRow.sequence, ShareRow.id)
    with workspace.registry().reading() as session:
        return _found(session, query.where(ShareRow.state.in_(states)) if states else query)


def accepted_shares(workspace: Workspace) -> list[Share]:
    """The shares that count, by site and sequence number."""
    return list_shares(workspace, (ShareState.ACCEPTED,))


def find_share(workspace: Workspace, name: str) -> Share:
    """The share of whose bundle, manifest or payload the digest starts with `name`.

    Raises:
        RegistryError: there is none, or more than one.
    """
    columns = (ShareRow.bundle_sha256, ShareRow.manifest_sha256, ShareRow.payload_sha256)
    found: list[Share] = []
    if name and set(name) <= set("0123456789abcdef"):
        for column in columns:
            with workspace.registry().reading() as session:
                found += _found(session, select(*SHARE_COLUMNS).where(column.startswith(name)))
    different = {share.id: share for share in found}
    if not different:
        raise RegistryError(
            f"{name or 'an empty digest'}: expected the first digits of one share's digest, found no share with it; see "
            "`aggregator shares list`"
        )
    if len(different) > 1:
        # No two shares have the bundle in common: a hospital can send a payload again, and grind digits that begin alike.
        kept_first = sorted(different.values(), key=lambda one: one.state not in KEPT)
        bundles = [f"{one.bundle} ({one.site} share {one.sequence}, {one.state})" for one in kept_first]
        more = ", ..." if bundles[_NAMED:] else ""
        raise RegistryError(
            f"{name}: expected the first digits of one share's digest, found {len(bundles)} shares with it; give the digest of one's "
            f"bundle: {', '.join(bundles[:_NAMED])}{more}"
        )
    return found[0]


def read_manifest(workspace: Workspace, share: Share) -> ShareManifest:
    """What the site signed, verified when the share came.

    Raises:
        RegistryError: the share was refused before its manifest could be read.
    """
    with workspace.registry().reading() as session:
        envelope = session.scalar(select(ShareRow.manifest).where(ShareRow.id == share.id))
    if envelope is None:
        raise RegistryError(
            f"share {share.sequence} of {share.site}: expected one whose manifest was read; see its reason"
        )
    return parse_manifest(envelope)


def releases_with(workspace: Workspace, share: Share) -> list[tuple[int, str]]:
    """Number and name of the releases that are out and whose head the share has trained."""
    out = ReleaseRow.name.in_(workspace.repository().release_names())
    query = select(ReleaseRow.sequence, ReleaseRow.name).join(
        ReleaseShareRow, ReleaseShareRow.release == ReleaseRow.sequence
    )
    with workspace.registry().reading() as session:
        rows = session.execute(query.where(ReleaseShareRow.share == share.id, out).order_by(ReleaseRow.sequence))
        return [(row.sequence, row.name) for row in rows]


def settle(session: Session, workspace: Workspace, row: ShareRow, verdict: Verdict, actor: str) -> None:
    """Gives a share its state, with the event and the receipt, in the caller's transaction.

    Args:
        session: of the transaction.
        workspace: whose key signs the receipt.
        row: the share.
        verdict: the new state, and why.
        actor: who decided.
    """
    row.state, row.reason_code, row.reason, row.decided_at = verdict.state, verdict.code, verdict.reason, now()
    details: dict[str, Json] = {
        # The receipt has the hash of this: without it, the site could try out which reason gives that hash.
        "salt": secrets.token_hex(16),
        "site": row.site,
        "sequence": row.sequence,
        "bundle": row.bundle_sha256,
        "manifest": row.manifest_sha256,
        "reason_code": verdict.code,
        "reason": verdict.reason,
    }
    head = audit_log.append(session, actor, f"share-{verdict.state}", details)
    log = read_published_log(workspace.repository())
    receipt = Receipt(
        site=row.site,
        sequence=row.sequence,
        bundle_sha256=row.bundle_sha256,
        manifest_sha256=row.manifest_sha256 or "",
        state=ReceiptState(verdict.state),
        reason_code=SET_ASIDE if verdict.state == ShareState.QUARANTINED else verdict.code,
        day=today(),
        log_head=head,
        newest_release="" if log is None else log.release,
        release_log=None if log is None else log.head,
    )
    row.receipt = receipt.to_bytes(workspace.key())
    forget_asked(session, row)
    if verdict.state not in KEPT:
        # What was taken back is not known again.
        session.execute(delete(ShareDigestsRow).where(ShareDigestsRow.share == row.id))
    session.flush()


def accept(workspace: Workspace, share: Share, name: str, reason: str, *, first: bool = False) -> None:
    """Lets a quarantined share count; its values were all checked before it was set aside.

    Args:
        workspace: where.
        share: which.
        name: of the person.
        reason: why, for the record.
        first: whether it is an error that somebody has decided the same before, for who is told that the log has this name.

    Raises:
        RegistryError: it is not in quarantine.
        UnknownSignerError: the key that signed it, or its site, was revoked since.
        SchemaError: a name or reason that is no line of text.
    """
    _decide(workspace, share, name, (ShareState.QUARANTINED,), Verdict(ShareState.ACCEPTED, "", reason), first)


def check_acceptable(workspace: Workspace, share: Share) -> None:
    """Returns if `accept` would not refuse a share in quarantine for who has signed it; raises as it does."""
    with workspace.registry().reading() as session:
        check_signed(session, session.get_one(ShareRow, share.id))


def reject(workspace: Workspace, share: Share, name: str, reason: str, *, first: bool = False) -> None:
    """Refuses a quarantined share, or one that can't be decided; the site may use its number again. Arguments and errors as of `accept`."""
    before = (ShareState.QUARANTINED, ShareState.RECEIVED)
    _decide(workspace, share, name, before, Verdict(ShareState.REJECTED, BY_PERSON, reason), first)
    for digest in (share.bundle, share.digest):
        forget(workspace, digest)


def withdraw(workspace: Workspace, share: Share, name: str, reason: str, *, first: bool = False) -> bytes:
    """Takes a share out, in place of its site; returns the receipt. Arguments and errors as of `accept`."""
    return _withdraw(workspace, share, name, Verdict(ShareState.WITHDRAWN, BY_PROVIDER, reason), first)


def carry_out(workspace: Workspace, data: bytes, decide: Callable[[int], object]) -> bytes:
    """Takes a share out as its site asks. Asked again, the answer is the same.

    Of a share that is not decided nobody knows the manifest: the site's word is kept, and whoever decides it, whenever that is, heeds it.

    Args:
        workspace: where.
        data: a signed withdrawal.
        decide: is given the number of a share that waits, to decide it; it may raise instead: what was asked is kept.

    Returns:
        the receipt.

    Raises:
        ProtocolError: it is not signed with a key of the site that counts today.
        RegistryError: another share of the site has its number, it did not come to count, or too much is asked back; or it has yet to
            come, and what was asked is kept. Besides, whatever `decide` raises.
        UndecidedError: it was uploaded, and is not entered yet; what was asked is kept.
    """
    site, key_id = withdrawal_sender(data)
    with workspace.registry().reading() as session:
        keys = {key.key_id: key for key in keys_in(session, today()).get(site, ())}
        if key_id not in keys:
            # A stick may lie there for longer than its key counts; what was done long ago is no error.
            if (receipt := carried_out(session, data, site, key_id)) is not None:
                return receipt
            raise explain_uncounted(session, site, key_id, today(), "a withdrawal", "withdrawal") or UnknownSignerError(
                "a withdrawal signed with a key that counts for its site",
                received=f"key {key_id}",
                advice="enrol the site, or sign with its present key",
                place="withdrawal",
            )
        asked = read_withdrawal(data, keys[key_id])
        named = select(*SHARE_COLUMNS).where(
            ShareRow.site == asked.site,
            ShareRow.sequence == asked.sequence,
            ShareRow.manifest_sha256 == asked.manifest_sha256,
        )
        waits, known = session.scalar(waiting(asked)) is not None, bool(_found(session, named))
    # Whether it waits or comes later: what decides it knows by then what is asked.
    if (waits or not known) and (number := keep_asked(workspace, asked)) is not None:
        decide(number)
    with workspace.registry().reading() as session:
        found, kept = _found(session, named), is_kept(session, asked)
    if not found:
        raise explain_missing(workspace, asked, kept=kept)
    return _withdraw(workspace, found[0], asked.site, Verdict(ShareState.WITHDRAWN, BY_SITE, asked.reason))


def taken_back(session: Session, row: ShareRow) -> Verdict | None:
    """What its site has asked while a share waited, now that its manifest is known; None where it asked nothing."""
    reason = asked_back(session, row)
    return None if reason is None else Verdict(ShareState.WITHDRAWN, BY_SITE, reason)


def forget(workspace: Workspace, digest: str | None) -> None:
    """Deletes an object that no share needs any more; does nothing if one does."""
    if digest is None:
        return
    needed = select(ShareRow.id).where(
        ((ShareRow.bundle_sha256 == digest) & (ShareRow.state == ShareState.RECEIVED))
        | ((ShareRow.payload_sha256 == digest) & ShareRow.state.in_(KEPT))
    )
    # Whoever enters a share that needs the object waits for this lock, and puts the object again.
    with lock_object(workspace.root, digest):
        with workspace.registry().reading() as session:
            is_needed = session.scalar(needed.limit(1)) is not None
        if not is_needed:
            workspace.objects().delete(digest)


def _withdraw(workspace: Workspace, share: Share, actor: str, verdict: Verdict, first: bool = False) -> bytes:
    receipt = _decide(workspace, share, actor, KEPT, verdict, first)
    forget(workspace, share.digest)
    drop_withdrawn(workspace)
    return receipt


def _decide(
    workspace: Workspace,
    share: Share,
    actor: str,
    before: tuple[ShareState, ...],
    verdict: Verdict,
    first: bool = False,
) -> bytes:
    """Settles a share that is in one of the states `before`; one that is there already stays as it is, or is an error."""
    check_text(actor, LINE, "name")
    check_text(verdict.reason, LINE, "reason")
    with workspace.registry().transaction() as session:
        row = session.get_one(ShareRow, share.id)
        if row.state in before:
            if verdict.state == ShareState.ACCEPTED:
                check_signed(session, row)
            settle(session, workspace, row, verdict, actor)
        elif first or row.state != verdict.state:
            advice = _UNDECIDED if row.state == ShareState.RECEIVED else "see `aggregator shares show`"
            raise RegistryError(
                f"share {row.sequence} of {row.site}: expected one that is {' or '.join(before)}, it is {row.state}; {advice}"
            )
        return row.receipt or b""


def _found(session: Session, query: Select[*tuple[Any, ...]]) -> list[Share]:
    return [Share(*row) for row in session.execute(query)]

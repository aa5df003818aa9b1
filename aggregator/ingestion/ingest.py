"""Takes shares in: from a bundle to a share that counts, is set aside or is refused, with a signed receipt.

    receive   what stands outside is verified; the bundle goes into the object store; then one transaction: `received`
    process   decrypted into staging, verified, its payload checked in a child process, compared with what the site
              shared before; the payload goes into the object store; then one transaction: state, event, receipt

Each step reaches the disk before the next, so a crash at any point leaves either nothing or a share that is `received`,
which `resume` processes. Both can be repeated, at the same time too: what was decided first stays.

- The same bundle again, or the same manifest sealed anew: the same share and receipt.
- Another share under a number of the site that is taken: `ConflictError`, an alarm and an event. A refused share does not
  take its number.
- What is not signed by an enrolled site is an error and leaves no trace, for anyone could fill the registry with it.

Errors that say nothing about the share (a full disk, a database that is gone, a sandbox that can't be built) are raised
and leave it `received`.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from aggregator.enrolled.alarms import raise_alarm
from aggregator.enrolled.shares import KEPT, forget
from aggregator.enrolled.signers import arrival_day, check_signer, explain_uncounted
from aggregator.enrolled.sites import keys_in, site_keys, today
from aggregator.enrolled.unfinished_trainings import drop_withdrawn
from aggregator.errors import AggregatorError, DatabaseError
from aggregator.ingestion.opening import LIMITS, open_received
from aggregator.ingestion.share_terms import share_terms
from aggregator.ingestion.verdict import compare_with_earlier, decide
from aggregator.objects.needed import lock_object
from aggregator.objects.room import COPIES, has_room
from aggregator.objects.staging import opening_folder, sweep
from aggregator.registry import audit_log
from aggregator.registry.states import AlarmKind, ShareState
from aggregator.registry.tables import ShareRow
from aggregator.registry.times import as_moment, now
from aggregator.workspace import Workspace
from foundation.errors import DeidError, StorageError
from foundation.locks import lock_number
from foundation.reading import file_sha256, regular_size
from protocols.errors import BoundsError, ConflictError, PassphraseError, ProtocolError, UnknownSignerError
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PublicKey
from protocols.share.bundle import VerifiedBundle, open_bundle, read_header, verify_bundle
from protocols.share.manifest_envelope import parse_manifest
from protocols.share.sealing import read_envelope

# So long a share whose checks are killed by somebody else waits for a machine with memory; then it is taken for the reason.
_PATIENCE = datetime.timedelta(days=1)
# Encryption adds a quarter of a thousandth.
_MAX_BUNDLE_BYTES = LIMITS.max_file_bytes + (LIMITS.max_file_bytes >> 10)


@dataclass(frozen=True)
class Decision:
    """What became of a share.

    Args:
        share: its number in the registry.
        site: whose it is.
        sequence: its number at the site.
        state: any but "received".
        reason_code: why, in a word; "" for an accepted share.
        reason: why, in words.
        receipt: signed, for the site.
        known: whether it was decided before it came this time.
    """

    share: int
    site: str
    sequence: int
    state: ShareState
    reason_code: str
    reason: str
    receipt: bytes
    known: bool = field(default=False, compare=False)

    def as_json(self) -> dict[str, object]:
        """All but the receipt, which is a file of its own."""
        return {name: value for name, value in vars(self).items() if name != "receipt"}


def ingest(workspace: Workspace, path: Path) -> Decision:
    """Takes a bundle in and decides about it.

    Raises:
        ProtocolError: not a bundle that an enrolled site signed for this provider, or damaged on the way.
        ConflictError: another share of the site has its number.
        StorageError, DatabaseError, UnconfinedError: it can't be done here and now; repeat it.
    """
    return process(workspace, receive(workspace, path))


def resume(workspace: Workspace) -> list[Decision]:
    """As `finish`, where one share that can't be decided is an error, too, after all others were."""
    decisions, failed = finish(workspace)
    if failed:
        raise failed[0]
    return decisions


def finish(workspace: Workspace) -> tuple[list[Decision], list[DeidError]]:
    """Finishes what a crash interrupted, and removes what it left; may run beside a server.

    Returns:
        what was decided; and of each share that could not be, why, and how it is given up.

    Raises:
        DatabaseError, PassphraseError, WorkspaceError, UnconfinedError: it can't be done here and now, whatever the share.
    """
    with workspace.registry().reading() as session:
        waiting = session.scalars(
            select(ShareRow).where(ShareRow.state == ShareState.RECEIVED).order_by(ShareRow.id)
        ).all()
    decisions: list[Decision] = []
    failed: list[DeidError] = []
    ended: list[DeidError] = []
    for row in waiting:
        try:
            # What another process is about it finishes, or the next run does.
            with lock_number(_lock_file(workspace), row.id, wait=False) as free:
                if free:
                    decisions.append(_decided(workspace, row.id))
        except (AggregatorError, DatabaseError, PassphraseError) as error:
            ended.append(error)
        except Exception as error:
            failed.append(_undecided(row, error))
    # After the shares: what can't be cleaned up must not hold them up.
    try:
        sweep(_staging(workspace))
        workspace.objects().tidy()
        for digest in _unneeded(workspace).intersection(workspace.objects().digests()):
            forget(workspace, digest)
        drop_withdrawn(workspace)
    except DatabaseError:
        # It says more than what went wrong with one share before it.
        raise
    except StorageError as error:
        failed.append(error)
    if ended:
        raise ended[0]
    return decisions, failed


def receive(workspace: Workspace, path: Path) -> int:
    """Verifies the outside of a bundle and keeps it.

    Returns:
        number of its share in the registry: a new one, or that of the same share that came before.

    Raises:
        ProtocolError: not a bundle that an enrolled site signed for this provider, or damaged on the way.
        ConflictError: another share of the site has its number.
        StorageError, DatabaseError, UnconfinedError: it can't be done here and now; repeat it.
    """
    # Junk is not even hashed.
    header = read_header(path)
    if regular_size(path) > _MAX_BUNDLE_BYTES:
        raise BoundsError(
            f"{_MAX_BUNDLE_BYTES} bytes at most", received="more", advice="split the share", place=path.name
        )
    digest = file_sha256(path)
    with workspace.registry().reading() as session:
        known = _of_bundle(session, digest)
    if known is not None and known.state != ShareState.RECEIVED:
        return known.id
    with _own_fault():
        recipient = workspace.recipient(header.recipient)
    try:
        bundle = verify_bundle(
            path, public_keys=site_keys(workspace, today()), recipient_id=recipient.public_key.key_id
        )
    except UnknownSignerError as error:
        with workspace.registry().reading() as session:
            known_key = explain_uncounted(session, header.site, header.signature.key_id, today(), "a share", path.name)
        if known_key is None:
            raise
        raise known_key from error
    with workspace.registry().reading() as session:
        taken = _taken(session, bundle)
    if taken is None:
        if not has_room(workspace.root, COPIES * regular_size(path)):
            raise StorageError(
                "room for the share and what is opened of it, and some to spare",
                received="a disk that is nearly full",
                advice="free some space and repeat",
                place=path.name,
            )
        try:
            # Until its row is there, nobody may find that no share needs the object.
            with lock_object(workspace.root, bundle.sha256):
                # Also if it came before: whatever has happened to the object since, now it is right.
                workspace.objects().put(path, bundle.sha256)
                row = _enter(workspace, bundle)
        except ProtocolError:
            # Its site was revoked meanwhile: no share will ever need the bytes.
            forget(workspace, bundle.sha256)
            raise
        if row.state != ShareState.RECEIVED or row.bundle_sha256 != bundle.sha256:
            forget(workspace, bundle.sha256)
        if row.bundle_sha256 == bundle.sha256:
            return row.id
        taken = row
    same = _same_share(workspace, bundle, recipient, taken.id)
    # The number is free again where the other share was refused meanwhile.
    return receive(workspace, path) if same is None else same


def process(workspace: Workspace, share: int) -> Decision:
    """Decides about a share that was received; one that is decided stays as it is. Who finds it in work waits.

    Raises:
        WorkspaceError: no representer is published yet.
        StorageError, DatabaseError, UnconfinedError: it can't be done here and now; repeat it.
    """
    with lock_number(_lock_file(workspace), share):
        return _decided(workspace, share)


def _decided(workspace: Workspace, share: int) -> Decision:
    with workspace.registry().reading() as session:
        row = session.get_one(ShareRow, share)
        keys = keys_in(session, arrival_day(row), row.site)
    known = row.state != ShareState.RECEIVED
    if not known:
        try:
            row = _processed(workspace, row, keys)
        except DatabaseError:
            # Whose word on the share would be needed next.
            raise
        except StorageError:
            # Another process may have decided about it, and the bundle is gone for that reason.
            with workspace.registry().reading() as session:
                row = session.get_one(ShareRow, share)
            if row.state == ShareState.RECEIVED:
                raise
    return Decision(
        row.id, row.site, row.sequence, row.state, row.reason_code or "", row.reason or "", row.receipt or b"", known
    )


def _processed(workspace: Workspace, row: ShareRow, keys: Mapping[str, Sequence[PublicKey]]) -> ShareRow:
    with opening_folder(_staging(workspace)) as folder, ExitStack() as objects:
        with _own_fault():
            path = objects.enter_context(workspace.objects().local(row.bundle_sha256))
            terms, recipient = share_terms(workspace), workspace.recipient(read_header(path).recipient)
        patient = as_moment(row.received_at) > as_moment(now()) - _PATIENCE
        opened = open_received(path, folder, keys, recipient, terms, patient)
        payload = parse_manifest(opened.envelope).payload_sha256 if opened.envelope else None
        compared = compare_with_earlier(workspace, row.id, opened)
        if opened.payload is not None and payload is not None:
            with _own_fault(), workspace.registry().transaction() as session:
                # Named ahead: who gives the share up where this process is killed removes what the registry names.
                session.get_one(ShareRow, row.id).payload_sha256 = payload
            # As above: a share with the same payload may be withdrawn at this moment.
            objects.enter_context(lock_object(workspace.root, payload))
            workspace.objects().put(opened.payload, payload)
        with _own_fault(), workspace.registry().transaction() as session:
            row = session.get_one(ShareRow, row.id)
            if row.state == ShareState.RECEIVED:
                decide(session, workspace, row, opened, compared)
    # It is decided, whether this succeeds or not; `resume` tries again.
    with suppress(StorageError):
        forget(workspace, row.bundle_sha256)
        # Also where a person has given the share up meanwhile, whose row does not name it.
        forget(workspace, payload)
    return row


def _unneeded(workspace: Workspace) -> set[str]:
    """What the registry names and no share needs any more. What it does not name is not looked at: the store may be another's, too."""
    rows = select(ShareRow.bundle_sha256, ShareRow.payload_sha256, ShareRow.state)
    with workspace.registry().reading() as session:
        decided = session.execute(rows.where(ShareRow.state != ShareState.RECEIVED)).all()
    kept = {row.payload_sha256 for row in decided if row.state in KEPT}
    return {digest for row in decided for digest in (row.bundle_sha256, row.payload_sha256) if digest} - kept


def _undecided(row: ShareRow, error: Exception) -> DeidError:
    """What went wrong with a share, with its name and the command that gives it up; what nobody foresaw is told by its kind."""
    share = f"share {row.sequence} of {row.site}"
    away = f"give it up: `aggregator shares reject {row.bundle_sha256[:12]} --name NAME --reason WHY`"
    if isinstance(error, StorageError):
        place = ", ".join(filter(None, (share, error.place)))
        told: DeidError = StorageError(
            error.expected, received=error.received, advice=f"{error.advice}, or {away}", place=place
        )
    else:
        told = DeidError(
            f"{share}: expected one that can be looked at, a fault in this program ({type(error).__name__}) came; set "
            f"DEID_COMMONS_DEBUG=1 to see where, or {away}"
        )
    told.__cause__ = error
    return told


@contextmanager
def _own_fault() -> Iterator[None]:
    """Turns an error about the provider's own files into one that says nothing about the share, which waits."""
    try:
        yield
    except ProtocolError as error:
        raise StorageError(
            "the provider's own keys, releases and objects as they were written",
            received=type(error).__name__,
            advice="restore them from a backup, then repeat",
            place="workspace",
        ) from error


def _staging(workspace: Workspace) -> Path:
    return workspace.root / "staging"


def _lock_file(workspace: Workspace) -> Path:
    """By the number of a share in it, no two processes take the same share in at once: it would cost twice the time."""
    return workspace.root / "shares.lock"


def _of_bundle(session: Session, sha256: str) -> ShareRow | None:
    return session.scalar(select(ShareRow).where(ShareRow.bundle_sha256 == sha256))


def _taken(session: Session, bundle: VerifiedBundle) -> ShareRow | None:
    """The share that has a bundle's number, if that is not its own."""
    header = bundle.header
    return session.scalar(
        select(ShareRow).where(
            ShareRow.site == header.site,
            ShareRow.sequence == header.sequence,
            ShareRow.state != ShareState.REJECTED,
            ShareRow.bundle_sha256 != bundle.sha256,
        )
    )


def _enter(workspace: Workspace, bundle: VerifiedBundle) -> ShareRow:
    """Enters a share whose bundle is in the store; returns it, or the other share that has its place."""
    header = bundle.header
    with workspace.registry().transaction() as session:
        row = _of_bundle(session, bundle.sha256)
        if row is None:
            if (other := _taken(session, bundle)) is not None:
                return other
            check_signer(session, header.site, bundle.key, today())
            row = ShareRow(
                site=header.site,
                sequence=header.sequence,
                bundle_sha256=bundle.sha256,
                bundle_bytes=regular_size(bundle.path),
                state=ShareState.RECEIVED,
                received_at=now(),
            )
            session.add(row)
            audit_log.append(
                session, header.site, "share-received", {"sequence": header.sequence, "bundle": bundle.sha256}
            )
        return row


def _same_share(workspace: Workspace, bundle: VerifiedBundle, recipient: RecipientPrivateKey, other: int) -> int | None:
    """The share `other` if a bundle holds the same manifest; None if that does not stand in its way any more.

    Raises:
        ConflictError: it holds another.
    """
    process(workspace, other)
    with opening_folder(_staging(workspace)) as folder:
        try:
            digest = parse_manifest(read_envelope(open_bundle(bundle, recipient, folder))).sha256
        except ProtocolError:
            digest = None
    header = bundle.header
    with workspace.registry().transaction() as session:
        row = session.get_one(ShareRow, other)
        if digest is not None and row.manifest_sha256 == digest:
            return row.id
        if row.state == ShareState.REJECTED:
            return None
        # Not naming the other: whoever sends many under one number raises one alarm.
        detail = f"share {header.sequence}: another bundle came after {row.bundle_sha256[:16]}"
        raise_alarm(session, header.site, AlarmKind.CONFLICT, detail)
    raise ConflictError(
        f"a new share, or share {header.sequence} of {header.site} as it came first",
        received="another with its number",
        advice="ask the site whether it sealed both, or somebody else has its key",
        place=bundle.path.name,
    )

"""What a site was ever shown of the provider's log of releases, and whether all of it is one past.

Every head of the log that the site meets goes into its ledger: in a pull, in a receipt, and from another hospital. A log that
only grows holds all of them; one that does not has been written anew for somebody. That is refused, and what shows it is kept.

ledger.jsonl       entries with `release_log`: the size of the log and its root
log/tile/...       tiles of the newest log that was pulled; worth nothing unless they lead to its root
log/warrant-....json  what shows that the offline keys signed for a checkpoint that the ledger holds
log/fork-....json  what shows that the provider has signed two pasts
log/not-proved-....checkpoint  of another hospital, by a key that this one does not know
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from protocols.bounded_reading import read_bounded
from protocols.canonical import Json, canonical_bytes
from protocols.errors import DigestError, ProtocolError, UnknownSignerError
from protocols.log.checkpoint import LOG, LogHead, log_origin, parse_checkpoint, read_checkpoint, release_code
from protocols.log.merkle import prove_consistency, roots_by_consistency, tree_root
from protocols.log.note import claimed_part, own_part, text_of
from protocols.log.tiles import MAX_TILE_BYTES, TileTree, list_tiles, tile_path
from protocols.release.repository import MAX_WARRANT_BYTES
from site_client.errors import ForkError, WorkspaceError
from site_client.ledger import Entry, Event, entries, record
from site_client.trust import Trust
from site_client.workspace import Workspace

HEAD, NEWEST, NOTE = "release_log", "newest_release", "checkpoint"
NOT_PROVED = "not_proved"
"""Name of a checkpoint that was kept and proves nothing."""
_EVIDENCE_VERSION = 1


@dataclass(frozen=True)
class ShownLog:
    """A log as the provider shows it.

    Args:
        note: its checkpoint, with the provider's signature alone: those of others would not go into an entry of the ledger.
        head: what the checkpoint says.
        release: digest of the newest release.
        tree: its hashes.
        warrant: what shows that the provider's offline keys signed for it; empty where a version before there were any pulled it.
    """

    note: bytes
    head: LogHead
    release: str
    tree: TileTree
    warrant: bytes = b""

    @property
    def code(self) -> str:
        """What two hospitals compare."""
        return release_code(self.release, self.head)


class Relation(Enum):
    """How the log of another hospital stands to ours."""

    SAME = "the same"
    EARLIER = "the beginning of ours"
    LATER = "longer than ours"


def last_shown(workspace: Workspace) -> ShownLog | None:
    """The log of the last pull, its tiles from the workspace; None where the provider has shown none yet.

    Raises:
        LedgerError: the ledger was changed.
    """
    seen = [entry for entry in entries(workspace) if entry.event == Event.RELEASE_LOG_SEEN]
    if not seen:
        return None
    details, folder = seen[-1].details, workspace.root / LOG
    head = _head(seen[-1])
    tree = TileTree(lambda name: read_bounded(folder / name, MAX_TILE_BYTES), head.size)
    note = str(details[NOTE]).encode()
    return ShownLog(note, head, str(details[NEWEST]), tree, _kept_warrant(workspace, note))


def require_shown(workspace: Workspace) -> ShownLog:
    """The same.

    Raises:
        WorkspaceError: the provider has shown none yet.
    """
    shown = last_shown(workspace)
    if shown is None:
        raise WorkspaceError(
            "expected a log of releases, found none; run `site-client pull` first; a provider of version 0.1 keeps none"
        )
    return shown


def record_shown(workspace: Workspace, shown: ShownLog) -> None:
    """Keep the tiles of a log and its warrant, and write down its head, once."""
    for tile in list_tiles(shown.head.size):
        path = workspace.root / LOG / tile_path(*tile)
        with map_os_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, shown.tree.tile(tile), private=False)
    if shown.warrant:
        write_bytes(_warrant_path(workspace, shown.note), shown.warrant, private=False)
    last = last_shown(workspace)
    if last is None or last.note != shown.note:
        details: dict[str, Json] = {NOTE: shown.note.decode(), NEWEST: shown.release, HEAD: shown.head.to_json()}
        record(workspace, Event.RELEASE_LOG_SEEN, details)


def check_past(workspace: Workspace, shown: ShownLog) -> None:
    """Returns if a log holds every head that this site has met, and those of a longer one do not contradict each other.

    Raises:
        ForkError: it does not, or they do; the file that shows it is in the workspace.
        DigestError: its tiles are not those of its checkpoint.
        LedgerError: the ledger was changed.
    """
    longer: dict[int, Entry] = {}
    for entry in _with_heads(workspace):
        head = _head(entry)
        if head.size > shown.head.size:
            # Of a receipt or of another hospital: the next pull shows it. What was pulled must not become less.
            if entry.event == Event.RELEASE_LOG_SEEN:
                raise refuse(workspace, shown, entry, f"a log of at least {head.size} releases, as on {entry.at[:10]}")
            # No pull has to be awaited for two of one size: a source that is frozen would never bring it.
            first = longer.setdefault(head.size, entry)
            if _head(first) != head:
                expected = f"the {head.size} releases that were stated on {first.at[:10]}"
                raise refuse(workspace, shown, first, expected, other=entry)
            continue
        if _root_then(shown, head.size) != head.root:
            raise refuse(workspace, shown, entry, f"the {head.size} releases that were shown on {entry.at[:10]}")
        if head == shown.head and entry.details.get(NEWEST, shown.release) != shown.release:
            raise refuse(workspace, shown, entry, f"the newest release that was stated on {entry.at[:10]}")


def stated_beyond(workspace: Workspace, shown: ShownLog) -> str | None:
    """One line where the provider has signed a longer log than a source shows: a stick may be older, and a source may be frozen.

    Raises:
        LedgerError: the ledger was changed.
    """
    most = max(_with_heads(workspace), key=lambda entry: _head(entry).size, default=None)
    if most is None or _head(most).size <= shown.head.size:
        return None
    return (
        f"the provider has stated {_head(most).size} releases on {most.at[:10]}, this source shows {shown.head.size}: "
        "ask for a newer one"
    )


def compare_log(workspace: Workspace, note: bytes, warrant: bytes | None = None) -> tuple[Relation, LogHead]:
    """Hold the checkpoint of another hospital against what this one was shown; it is remembered for the next pulls.

    Args:
        workspace: of the site.
        note: the signed checkpoint, as the other hospital exported it.
        warrant: what the other hospital exported with it: it counts where this one does not know the key of the checkpoint.

    Raises:
        ForkError: the provider has shown the other hospital other releases.
        UnknownSignerError: signed by a key that this hospital does not know, without a warrant that holds; it is kept.
        ProtocolError: no checkpoint that this provider has signed.
        WorkspaceError: nothing was pulled yet.
    """
    shown = require_shown(workspace)
    theirs, kept = _proved(workspace, note, warrant)
    if all(_head(entry) != theirs for entry in _with_heads(workspace)):
        record(workspace, Event.RELEASE_LOG_COMPARED, {NOTE: kept.decode(), HEAD: theirs.to_json()})
    check_past(workspace, shown)
    if theirs.size > shown.head.size:
        return Relation.LATER, theirs
    return (Relation.SAME if theirs == shown.head else Relation.EARLIER), theirs


def _proved(workspace: Workspace, note: bytes, warrant: bytes | None) -> tuple[LogHead, bytes]:
    """The head of another hospital's checkpoint, and what of it goes into the ledger."""
    provider, today = workspace.pinned_provider(), datetime.datetime.now(datetime.UTC).date()
    # As in a pull: a record that ran out yesterday makes no liar of another hospital.
    origin, keys = origin_of(workspace), provider.signing_keys(min(today, provider.valid_until))
    try:
        return read_checkpoint(note, origin, keys).head, own_part(note, origin, keys)
    except UnknownSignerError as unknown:
        # The provider tells each hospital its keys by itself: it may have changed them since, or told two hospitals two.
        if warrant is None:
            raise _not_proved(workspace, note) from unknown
        try:
            head = _vouched(workspace, note, warrant)
        except ProtocolError as error:
            raise _not_proved(workspace, note) from error
    kept = claimed_part(note, origin)
    write_bytes(_warrant_path(workspace, kept), warrant, private=False)
    return head, kept


def _vouched(workspace: Workspace, note: bytes, warrant: bytes) -> LogHead:
    """The head of a checkpoint for which the provider's offline keys have signed, by the roots that this site has pinned."""
    # tuf takes long to load, and most of what looks at the log needs none of it.
    from protocols.release.warrant import Warrant

    trust = Trust.load(workspace.trust)
    text = text_of(note)
    if trust is None or Warrant.from_bytes(warrant).verify(trust.roots) != text:
        raise DigestError("the warrant of this checkpoint", received="that of another one")
    return parse_checkpoint(text).head


def _not_proved(workspace: Workspace, note: bytes) -> UnknownSignerError:
    """The error for a checkpoint by a key that is not known here, after it was kept: a provider that lies gives two hospitals two keys."""
    claimed = claimed_part(note, origin_of(workspace))
    head = parse_checkpoint(text_of(claimed)).head
    path = workspace.root / LOG / f"not-proved-{_short(claimed)}.checkpoint"
    with map_os_errors(path):
        path.parent.mkdir(exist_ok=True)
    write_bytes(path, claimed)
    if all(entry.details.get(NOT_PROVED) != path.name for entry in entries(workspace)):
        record(workspace, Event.RELEASE_LOG_COMPARED, {NOT_PROVED: path.name, "claimed": head.to_json()})
    return UnknownSignerError(
        "a checkpoint by a key of the provider that counts here",
        received="one by another key, and no warrant that shows it to be the provider's",
        advice=f"pull at both hospitals, and compare again with both files of `log export`; if that does not help, the provider has given "
        f"you and them different keys: keep {LOG}/{path.name}, take no release, and telephone the other hospital, not the provider alone",
        place=LOG,
    )


def origin_of(workspace: Workspace) -> str:
    """Name of the log of the provider that this site has pinned.

    Raises:
        WorkspaceError: none was pinned yet.
    """
    trust = Trust.load(workspace.trust)
    if trust is None:
        raise WorkspaceError("no provider is known yet; run `site-client pull RELEASES --fingerprint ...` first")
    return log_origin(trust.fingerprint.key_id)


def code_in_use(workspace: Workspace) -> str:
    """What two hospitals compare: of the log last pulled, or of the release in use where the provider keeps no log.

    Raises:
        WorkspaceError: nothing was pulled yet.
    """
    shown = last_shown(workspace)
    return release_code(workspace.release().digest, None) if shown is None else shown.code


def refuse(
    workspace: Workspace,
    shown: ShownLog,
    seen: Entry | None,
    expected: str,
    *,
    received: str = "",
    other: Entry | None = None,
) -> ForkError:
    """The error for a log that is not one past, after what shows it was written down.

    Args:
        workspace: of the site.
        shown: the log.
        seen: what the ledger knows of another; None where the log does not fit its own releases.
        expected: in words.
        received: in words, if not another past.
        other: what the ledger knows of a second one that contradicts `seen`, where the log itself does not.
    """
    stated: dict[str, Json] = {
        "format_version": _EVIDENCE_VERSION,
        "seen": None if seen is None else _as_evidence(workspace, seen),
        "shown": shown.note.decode(),
        "shown_release": shown.release,
    }
    if other is not None:
        stated["other"] = _as_evidence(workspace, other)
    if shown.warrant:
        stated["shown_warrant"] = shown.warrant.decode()
    if seen is not None and 1 <= (size := _head(seen).size) <= shown.head.size:
        proof = prove_consistency(shown.tree.subtree, size, shown.head.size)
        stated |= {"proof": [one.hex() for one in proof], "root_then": _root_then(shown, size)}
    data = canonical_bytes(stated)
    path = workspace.root / LOG / f"fork-{_short(data)}.json"
    with map_os_errors(path):
        path.parent.mkdir(exist_ok=True)
    write_bytes(path, data)
    size_of_other = (shown.head if other is None else _head(other)).size
    return ForkError(
        f"log of the releases: expected {expected}, got {received or f'another past of {size_of_other} releases'}; the provider shows "
        f"different releases: take none, keep {Path(LOG) / path.name}, and telephone the other hospitals"
    )


def _as_evidence(workspace: Workspace, entry: Entry) -> dict[str, Json]:
    stated: dict[str, Json] = {**entry.details, "at": entry.at, "event": entry.event, "number": entry.number}
    if warrant := _kept_warrant(workspace, str(entry.details.get(NOTE, "")).encode()):
        stated["warrant"] = warrant.decode()
    return stated


def _kept_warrant(workspace: Workspace, note: bytes) -> bytes:
    """Of a checkpoint that the ledger holds; nothing where there is none."""
    path = _warrant_path(workspace, note)
    return read_bounded(path, MAX_WARRANT_BYTES) if path.exists() else b""


def _warrant_path(workspace: Workspace, note: bytes) -> Path:
    return workspace.root / LOG / f"warrant-{_short(note)}.json"


def _short(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _root_then(shown: ShownLog, size: int) -> str:
    """Root of the first `size` entries of a log, if its tiles lead to the root of its checkpoint."""
    root = tree_root(shown.tree.subtree, size)
    if size:
        proof = prove_consistency(shown.tree.subtree, size, shown.head.size)
        if roots_by_consistency(size, shown.head.size, root, proof) != (root, bytes.fromhex(shown.head.root)):
            raise damaged_tiles()
    return root.hex()


def damaged_tiles() -> DigestError:
    """The error for tiles that are not those of their checkpoint: a bad copy, or somebody on the way."""
    return DigestError(
        "the tiles of the signed checkpoint", received="others", advice="copy or pull the releases again", place=LOG
    )


def _with_heads(workspace: Workspace) -> Iterator[Entry]:
    return (entry for entry in entries(workspace) if HEAD in entry.details)


def _head(entry: Entry) -> LogHead:
    return LogHead.from_json(entry.details[HEAD], f"ledger, entry {entry.number}")

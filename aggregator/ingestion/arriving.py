"""What comes as files: shares and withdrawals of a stick or a folder, each taken in for itself, with its receipt beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from aggregator.enrolled import shares
from aggregator.errors import DatabaseError, RefusedError, RegistryError
from aggregator.ingestion import ingest
from aggregator.ingestion.ingest import Decision
from aggregator.registry.states import ShareState
from aggregator.workspace import Workspace
from foundation.errors import DeidError, StorageError
from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from foundation.printable import escape_unprintable
from foundation.reading import regular_size
from protocols.bounded_reading import read_bounded
from protocols.errors import PassphraseError, ProtocolError
from protocols.keys.signed_message import MAX_MESSAGE_BYTES

_BUNDLE, _WITHDRAWAL, _RECEIPT = ".share", ".withdrawal.json", ".receipt.json"


class MayBeRefused(Protocol):
    """What became of something that was brought."""

    @property
    def refused(self) -> bool:
        """Whether it does not count."""


@dataclass(frozen=True)
class Outcome:
    """What became of a file, or of a share that waited: a decision about a share, an error, or else a withdrawal.

    Args:
        file: that was taken in; None for a share that waited.
        decision: about the share in it.
        receipt: where that of the share lies.
        error: why nothing was decided.
        lost: why what was decided has no receipt beside it.
    """

    file: Path | None = None
    decision: Decision | None = None
    receipt: Path | None = None
    error: str = ""
    lost: StorageError | None = None

    @property
    def state(self) -> ShareState | None:
        """Of the share; withdrawn where that was asked for, None where nothing was decided."""
        if self.decision is not None:
            return self.decision.state
        return None if self.error else ShareState.WITHDRAWN

    @property
    def refused(self) -> bool:
        """Whether it does not count: a share that was refused, or no file at all."""
        return bool(self.error) or self.state == ShareState.REJECTED

    @property
    def line(self) -> str:
        """For people, whoever named the file."""
        if self.decision is None:
            what = self.error or str(self.state)
            who = f"{escape_unprintable(self.file.name)}: " if self.file else ""
        else:
            what = " ".join(filter(None, (self.decision.state, self.decision.reason)))
            what += ", already here" if self.decision.known else ""
            who = f"{self.decision.site} share {self.decision.sequence}: "
        return what if what.startswith(who) else f"{who}{what}"

    def as_json(self) -> dict[str, object]:
        """For programs: what there is."""
        decided: dict[str, object] = {"state": self.state} if self.decision is None else self.decision.as_json()
        told = {"file": self.file, "receipt": self.receipt}
        values: dict[str, object] = {"error": self.error} if self.error else decided
        return values | {name: str(path) for name, path in told.items() if path is not None}


def files_in(path: Path) -> Iterator[Path]:
    """A file, or what of a folder is for us: withdrawals last, since they may be about a share beside them."""
    if not path.is_dir():
        yield path
        return
    entries = _entries(path)
    for suffix in (_BUNDLE, _WITHDRAWAL):
        yield from (file for file in entries if _ends(file, suffix))


def count_passed_over(path: Path) -> int:
    """How much in a folder is for nobody here. A renamed share may be among it, or what lay on the stick before: a name may be a patient's, so none is told."""
    if not path.is_dir():
        return 0
    return sum(not any(_ends(file, one) for one in (_BUNDLE, _WITHDRAWAL, _RECEIPT)) for file in _entries(path))


def take_all(workspace: Workspace, files: list[Path], told: Callable[[Outcome], None]) -> list[DeidError]:
    """Takes files in, one after the other, each for itself.

    Args:
        workspace: the provider's.
        files: of shares and withdrawals.
        told: is told what became of each, as soon as that is known.

    Returns:
        what went wrong with some of them.

    Raises:
        DatabaseError, PassphraseError, WorkspaceError, SandboxError: nothing can be taken in here and now.
    """
    failed: list[DeidError] = []
    for path in files:
        try:
            outcome = take(workspace, path)
        except (DatabaseError, PassphraseError):
            raise
        except (ProtocolError, RegistryError, StorageError) as error:
            failed.append(error)
            outcome = Outcome(path, error=str(error))
        if outcome.lost is not None:
            failed.append(outcome.lost)
        told(outcome)
    return failed


def finish_all(workspace: Workspace, told: Callable[[Outcome], None]) -> list[DeidError]:
    """Finishes what a crash interrupted; returns and raises as `aggregator.ingestion.ingest.finish`.

    Args:
        workspace: the provider's.
        told: is told what became of each share.

    Returns:
        what went wrong with some of them.
    """
    decisions, failed = ingest.finish(workspace)
    for outcome in (*(Outcome(decision=one) for one in decisions), *(Outcome(error=str(one)) for one in failed)):
        told(outcome)
    return failed


def take(workspace: Workspace, path: Path) -> Outcome:
    """What became of one file; its receipt lies beside it.

    Raises:
        ProtocolError, RegistryError, StorageError: as for `ingest` and `carry_out`.
        WorkspaceError, SandboxError: nothing can be taken in here and now.
    """
    if odd := _oddity(path):
        return Outcome(path, error=odd)
    if _ends(path, _WITHDRAWAL):
        data = read_bounded(path, MAX_MESSAGE_BYTES)
        receipt = shares.carry_out(workspace, data, partial(ingest.process, workspace))
        beside = _receipt_path(path, _WITHDRAWAL)
        lost = _written(beside, receipt)
        return Outcome(path, receipt=beside if lost is None else None, lost=lost)
    decision = ingest.ingest(workspace, path)
    beside = _receipt_path(path, _BUNDLE)
    lost = _written(beside, decision.receipt)
    return Outcome(path, decision, beside if lost is None else None, lost=lost)


def refusal(outcomes: Sequence[MayBeRefused]) -> RefusedError | None:
    """The error that says how many of them were refused; None where none was."""
    refused = sum(one.refused for one in outcomes)
    if not refused:
        return None
    return RefusedError(
        f"expected shares that can be accepted, refused {refused} of {len(outcomes)}; send the receipts back to their sites, and look "
        "at what has none"
    )


def _oddity(path: Path) -> str:
    """Why an entry of a stick is no file that can be read, in words; "" if it is one. Anybody can put anything there."""
    try:
        regular_size(path)
        with map_os_errors(path), path.open("rb") as file:
            file.read(1)
    except StorageError as error:
        return str(error)
    return ""


def _written(path: Path, receipt: bytes) -> StorageError | None:
    """Writes a receipt; returns why it can't be. What it says is decided all the same, and told again when asked."""
    try:
        write_bytes(path, receipt)
    except StorageError as error:
        return error
    return None


def _receipt_path(path: Path, suffix: str) -> Path:
    stem = path.name[: -len(suffix)] if _ends(path, suffix) else path.name
    return path.with_name(stem + _RECEIPT)


def _entries(folder: Path) -> list[Path]:
    with map_os_errors(folder):
        return sorted(file for file in folder.iterdir() if not file.name.startswith("."))


def _ends(path: Path, suffix: str) -> bool:
    """Sticks are of file systems, and pass through machines, that give names back in capitals."""
    return path.name.lower().endswith(suffix)

"""What may be disturbed while a hospital uploads a share to the provider's server over TLS, and what must be true afterwards.

The server is the command in a process of its own, with its ingest and its check of payloads in theirs; the hospital is its
own upload. Share after share goes the same way, so that a fault that leaves something behind meets the next share too.
After every disturbance the hospital gives the same command again, as a person would. Three things are counted:

- lost: the hospital had a receipt, and now it gets another, or the provider does not have the share;
- unverified: the share counts, and its payload has other bytes than the hospital signed;
- stuck: the share is not accepted exactly once, its receipt is not there or its outbox is not empty, a log does not
  verify, or something lies about at the provider that nobody removes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from aggregator import workspace as central
from aggregator.enrolled import shares
from aggregator.ingestion import ingest
from aggregator.registry.states import ShareState
from aggregator.server.limits import Limits
from aggregator.server.uploads import Uploads
from bench.exchange.certificates import make_certificates
from bench.exchange.cutting_proxy import ConnectProxy, connect_proxy
from bench.exchange.load import list_processes, start_server
from bench.exchange.world import Sentences
from bench.faults.intake import Damage, Subject, at_rest
from bench.faults.interruptions import Outcome, run_undisturbed
from bench.faults.submit import build_hospital, encode
from foundation.errors import DeidError, StorageError
from foundation.reading import file_sha256
from protocols.errors import ProtocolError
from site_client import ledger
from site_client import workspace as hospital
from site_client.exchange.submit import submit_to_server
from site_client.exchange.transport import Connection, RetryPolicy

_SENTENCES = 2000
# What a process that was left alone by its server may still need to end what it does.
_PATIENCE_S = 20


class _Impatient(RetryPolicy):
    """A hospital that does not wait for as long as the server asks it to: the run takes less time, and meets no fewer states."""

    def pause(self, failures: int, asked_s: int = 0) -> float:
        return super().pause(failures)


_RETRY_POLICY = _Impatient(attempts=120, first_s=0.05, most_s=0.5)


@dataclass(frozen=True)
class Submission:
    """A share on its way.

    Args:
        root: of hospital and provider.
        share: the payload, its manifest beside it.
        sequence: its number.
        connection: the way to the server.
    """

    root: Path
    share: Path
    sequence: int
    connection: Connection


class Exchange:
    """A hospital, a provider, and the provider's server, which can be killed and started again.

    Args:
        root: of all three; empty.
        database: of the registry; None for a file.
    """

    def __init__(self, root: Path, database: str | None = None) -> None:
        build_hospital(root, database)
        self._root = root
        self._certificates = make_certificates(root / "certificates", "localhost")
        self._sequence = 0
        self._process, self._address = self._started(0)

    def subject(self, name: str) -> Subject[Submission]:
        """The upload of a share that has not left yet."""
        return Subject(name, self._next, submit, examine)

    def restart(self) -> None:
        """Kills the server, and starts it again where it was."""
        self.kill()
        self._process, _ = self._started(int(self._address.rpartition(":")[2]))

    def kill(self) -> None:
        """Kills the server."""
        self._process.kill()
        self._process.communicate()

    def kill_ingest(self) -> None:
        """Kills the processes in which the server takes shares in; it starts others when it needs them."""
        for number, parent, _ in list_processes():
            if parent == self._process.pid:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)

    def _started(self, port: int) -> tuple[subprocess.Popen[str], str]:
        return start_server(self._root / "provider", self._certificates, self._root / "server.log", port)

    @contextmanager
    def _next(self) -> Iterator[Submission]:
        self._sequence += 1
        share = self._root / f"share-{self._sequence}.parquet"
        site = hospital.open_workspace(self._root / "site")
        encode(site, share, self._sequence, Sentences(self._sequence, sentences=_SENTENCES))
        connection = Connection(self._address, self._certificates.authority, retry_policy=_RETRY_POLICY)
        yield Submission(self._root, share, self._sequence, connection)
        share.unlink()


@contextmanager
def run_exchange(root: Path, database: str | None = None) -> Iterator[Exchange]:
    """An exchange whose server runs as long as the block, or is killed with it."""
    exchange = Exchange(root, database)
    try:
        yield exchange
    finally:
        exchange.kill()


def submit(place: Submission) -> bytes:
    """Uploads the share; says what its receipt says."""
    site = hospital.open_workspace(place.root / "site")
    receipt = submit_to_server(site, place.share, place.connection, "A. Weiss")
    return f"{receipt.state} {receipt.bundle_sha256} {receipt.log_head}".encode()


def submit_with_cuts(place: Submission, cuts: Sequence[int] = (), answer_cuts: Sequence[int] = ()) -> bytes:
    """`submit` over lines that are cut after so many bytes, one after the other, and a last one that is not."""
    with connect_proxy(cuts, answer_cuts) as proxy:
        return _submit_through(place, proxy)


def count_bytes(place: Submission) -> bytes:
    """How many bytes an upload that nobody disturbs sends, and how many it gets, as JSON."""
    with connect_proxy() as proxy:
        _submit_through(place, proxy)
        return json.dumps(proxy.passed).encode()


def _submit_through(place: Submission, proxy: ConnectProxy) -> bytes:
    return submit(replace(place, connection=replace(place.connection, proxy=proxy.url)))


def examine(place: Submission, outcome: Outcome) -> Damage:
    """Examines both ends after a disturbance, in a process of its own."""
    found = run_undisturbed(lambda: json.dumps(vars(_examined(place, outcome.said))).encode())
    return Damage(stuck=1) if found.said is None else Damage(**json.loads(found.said))


def _examined(place: Submission, acknowledged: bytes | None) -> Damage:
    provider = central.open_workspace(place.root / "provider")
    unverified = 0
    try:
        unverified = _unverified(place, provider)
        again = submit(place)
        unverified += _unverified(place, provider)
        rests = _left_at_peace(place) and _wait_until(lambda: _decided_once(place, provider))
    except DeidError:
        return Damage(int(acknowledged is not None), unverified, 1)
    return Damage(int(acknowledged not in (None, again)), unverified, int(not rests))


def _unverified(place: Submission, provider: central.Workspace) -> int:
    """Whether the share counts with other bytes than those that were signed."""
    wrong = 0
    for share in shares.accepted_shares(provider):
        if share.sequence == place.sequence:
            try:
                with provider.objects().local(str(share.digest)) as path:
                    wrong += file_sha256(path) != file_sha256(place.share)
            except (ProtocolError, StorageError):
                wrong += 1
    return wrong


def _decided_once(place: Submission, provider: central.Workspace) -> bool:
    """Whether the provider has accepted the share once, and nothing is left of its way, after what its server does by itself."""
    uploads = provider.root / "uploads"
    ingest.resume(provider)
    Uploads(provider.registry(), uploads, Limits(), time.time).tidy()
    states = [share.state for share in shares.list_shares(provider) if share.sequence == place.sequence]
    return states == [ShareState.ACCEPTED] and at_rest(provider) and not any(uploads.glob("*.part"))


def _left_at_peace(place: Submission) -> bool:
    """Whether the hospital has one receipt, and nothing waits there."""
    site = hospital.open_workspace(place.root / "site")
    ledger.verify(site)
    receipts = list((site.root / "receipts").glob(f"{site.site}-{place.sequence:04}-*"))
    return len(receipts) == 1 and not any((site.root / "outbox").iterdir())


def _wait_until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _PATIENCE_S
    while not (held := holds()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return held

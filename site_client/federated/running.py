"""`site-client federate`: trainer, gate and node together, until the hospital or the provider ends it."""

from __future__ import annotations

import os
import shutil
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.locks import lock, lock_folder
from foundation.os_errors import map_os_errors
from protocols.canonical import Json
from shared.errors import ConfigurationError, TrainingError
from site_client.errors import UnreachableError
from site_client.federated.control import Control, Wish
from site_client.federated.gate import Gate, GateRules
from site_client.federated.node_key import make_gate_certificate, make_node_key
from site_client.federated.serving import TrainerServer
from site_client.federated.trainer import Trainer
from site_client.ledger import Event, record
from site_client.policy.site_policy import noise_in_words
from site_client.workspace import Workspace

if TYPE_CHECKING:
    from site_client.federated.flower.node import FlowerNode

_LOOK_S = 0.5
_LONG_S = 60.0
_WAITS_S = (10, 60, 60, 60)
_FORGOTTEN_S = 70.0
_LEARNS_FROM = {
    False: "it learns from the notes as they are, labelled PHI among it; policy set --federated-on-shares changes that",
    True: "it learns from what a share of the notes would show",
}
Told = Callable[[str], None]


@dataclass(frozen=True)
class Connection:
    """How the provider is reached.

    Args:
        host: of the provider.
        port: of it.
        authority: certificates to trust, PEM; None for those of this machine.
        most_bytes: that may leave in all.
    """

    host: str
    port: int
    authority: Path | None
    most_bytes: int

    @classmethod
    def parse(cls, server: str, authority: Path | None, most_bytes: int) -> Connection:
        """From HOST:PORT.

        Raises:
            ConfigurationError: anything else.
        """
        host, _, port = server.rpartition(":")
        if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
            raise ConfigurationError(f"--server: expected HOST:PORT, got {server!r}; correct it")
        return cls(host.strip("[]"), int(port), authority, most_bytes)


def state_folder(workspace: Workspace) -> Path:
    """Where this path keeps its keys, its log and its word; made where it is missing."""
    folder = workspace.root / "federated"
    with map_os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def control_of(workspace: Workspace) -> Control:
    """What the hospital wants of a training."""
    return Control(state_folder(workspace) / "wish")


def say(workspace: Workspace, wish: Wish) -> bool:
    """Tell a training that runs here what the hospital wants; it stands in the ledger.

    Returns:
        whether one runs, which alone hears it.
    """
    # First the word: who wants an end must not wait for a log.
    control_of(workspace).say(wish)
    # Ahead of the log, too: what hears that it is to end has ended meanwhile.
    runs = _runs(workspace)
    record(workspace, Event.FEDERATED_SAID, {"word": wish.value})
    return runs


def _runs(workspace: Workspace) -> bool:
    """Whether a training has the folder of this workspace, see `begun`."""
    folder = state_folder(workspace)
    with map_os_errors(folder):
        handle = os.open(folder, os.O_RDONLY)
        try:
            lock(handle, wait=False)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
    return False


@contextmanager
def begun(workspace: Workspace) -> Iterator[None]:
    """Keeps other trainings out of the workspace, and says that this one runs; from here on a word of the hospital is for it.

    Ahead of the notes: to read many takes long, and who says `end` meanwhile means this training.
    """
    control = control_of(workspace)
    with lock_folder(state_folder(workspace)):
        control.say(Wish.RUN)
        try:
            yield
        finally:
            control.say(Wish.END)


def take_part(workspace: Workspace, trainer: Trainer, connection: Connection, tell: Told) -> None:
    """Take part until ended; within `begun`.

    Args:
        workspace: of the site.
        trainer: with its notes.
        connection: to the provider.
        tell: is told what happens.

    Raises:
        UnreachableError: the node has ended by itself.
        TrainingError: the trainer has.
        ConfigurationError: certificates that are none.
        ImportError: Flower is not installed.
    """
    # Not at the top: who only looks at the policy needs no Flower.
    from site_client.federated.flower import node as flower

    folder, control = state_folder(workspace), control_of(workspace)
    if control.wish() is Wish.END:
        tell("told to end before it began")
        return
    with ExitStack() as stack:
        digest = flower.app_digest()

        def refused(reason: str) -> None:
            # First the word, as in `say`: rounds whose answers can't leave would take the hospital's budget all the same.
            ends = rules.full and control.wish() is not Wish.END
            if ends:
                control.say(Wish.END)
            _tell_refusal(workspace, reason, tell)
            if ends:
                tell(
                    "no more bytes may leave (--most-mb): the training ends; start `federate` again to let as many leave once more"
                )

        rules = GateRules(
            flower.allows_app(digest),
            connection.most_bytes,
            closed=lambda: control.wish() is not Wish.RUN,
            refused=refused,
        )
        begun: dict[str, Json] = {
            "to": f"{connection.host}:{connection.port}",
            "app": digest,
            "most_bytes": connection.most_bytes,
        }
        record(
            workspace,
            Event.FEDERATED_SAID,
            {
                "word": "begin",
                "notes": len(trainer.notes.notes),
                "as_shared": trainer.notes.as_shared,
                "unit": trainer.notes.unit,
                **begun,
            },
        )
        stack.callback(lambda: record(workspace, Event.FEDERATED_SAID, {"word": "ended", "bytes": rules.sent}))
        private, _ = make_node_key(folder)
        certificate, key = make_gate_certificate(folder)
        # A path of a socket is short, and a workspace may lie deep.
        place = Path(tempfile.mkdtemp(prefix="deid-"))
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        gate = stack.enter_context(
            Gate(rules, connection.host, connection.port, _outward(connection.authority), _inward(certificate, key))
        )
        files = flower.NodeFiles(folder, private, certificate, place / "trainer")
        server = TrainerServer(files.socket, trainer, control, flower.RunWatch(files, gate.port), tell)
        serving = threading.Thread(target=server.serve, name="trainer", daemon=True)
        serving.start()
        stack.callback(serving.join, 60)
        # Ahead of the wait: a trainer that is held by a pause looks for no other word.
        stack.callback(control.say, Wish.END)
        stack.callback(server.ended.set)
        tell(f"taking part through {connection.host}:{connection.port}; the app that may run is {digest[:16]}")
        tell(_LEARNS_FROM[trainer.notes.as_shared])
        tell(noise_in_words(trainer.policy, trainer.notes.unit))
        _keep_node(lambda: flower.FlowerNode(files, gate.port), serving.is_alive, control, folder, tell)


def _keep_node(
    start: Callable[[], FlowerNode], served: Callable[[], bool], control: Control, folder: Path, tell: Told
) -> None:
    """Run a node until the hospital ends it, as long as there is a trainer for it; one that ends by itself is started anew."""
    tries, mark = 0, folder / "node.running"
    _rest(_still_known_s(mark), control, tell, "the node before was killed")
    while control.wish() is not Wish.END:
        node, began = start(), time.monotonic()
        try:
            while node.code is None:
                mark.touch()
                # In this order: who wants an end ends the trainer, too.
                gone = not served()
                if control.wish() is Wish.END:
                    return
                if gone:
                    raise TrainingError("expected the trainer to go on, it has ended; start `federate` again")
                time.sleep(_LOOK_S)
        finally:
            node.end()
            mark.unlink(missing_ok=True)
        # 0 is a link that has ended: the next one may be there soon.
        tries = 1 if node.code == 0 or time.monotonic() - began > _LONG_S else tries + 1
        if tries > len(_WAITS_S):
            raise UnreachableError(
                f"expected a node that stays, got one that ended {tries} times, last with code {node.code}; see {folder.name}/node.log, and whether "
                "the provider has its key"
            )
        _rest(_WAITS_S[tries - 1], control, tell, f"the node ended with code {node.code}")


def _still_known_s(mark: Path) -> float:
    """So many seconds the provider holds a node that was killed for one that is there, and lets no other in with its key."""
    try:
        return max(0.0, _FORGOTTEN_S - (time.time() - mark.stat().st_mtime))
    except FileNotFoundError:
        return 0.0


def _rest(seconds: float, control: Control, tell: Told, why: str) -> None:
    if seconds > 0:
        tell(f"{why}; it is started again in {seconds:.0f} s")
    until = time.monotonic() + seconds
    while time.monotonic() < until and control.wish() is not Wish.END:
        time.sleep(_LOOK_S)


def _tell_refusal(workspace: Workspace, reason: str, tell: Told) -> None:
    record(workspace, Event.FEDERATED_REFUSED, {"task_sha256": "", "why": f"gate: {reason}"})
    tell(f"the gate refused {reason}")


def _outward(authority: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if authority is None else str(authority))
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError("--ca: expected certificates in PEM, got another file; check the path") from error


def _inward(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context

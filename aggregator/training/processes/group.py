"""The processes that train a head together, joined by torch.distributed over gloo: sums and bytes as tensors, and nothing else.

Each process finds the others by what torchrun tells its own: RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT. Only tensors go from one to
another; what torch.distributed has for objects would pickle them, and is not used. The first process listens at the address
that it was given and at no other, unless torchrun's agent has opened that port already, on every address of the machine.

Threat: gloo neither encrypts nor asks who is there. Whoever reaches its ports can end or bend a training, so they lie on the
loopback by default, and on a network only where the person who starts it has named address and interface.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import Store, TCPStore

from shared.errors import ConfigurationError, ProcessLostError

TIMEOUT_S = 1800.0
"""So long a process may be silent, such as one that reads its blocks from a slow disk. One that has ended is noticed at once."""
_LOOK_S, _MEETING_S, _SETTLED_S = 0.0005, 0.05, 2.0
_INTERFACE = "GLOO_SOCKET_IFNAME"


@dataclass(frozen=True)
class Place:
    """Where a process stands among those of a training.

    Args:
        index: 0 is the first.
        count: of processes.
        address: where the first one listens.
        port: there.
        agent: whether torchrun listens there already.
    """

    index: int
    count: int
    address: str
    port: int
    agent: bool = False

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Place | None:
        """What torchrun, or who does as it does, says in the environment; None where a process is alone.

        Raises:
            ConfigurationError: it says what can't be.
        """
        if "WORLD_SIZE" not in environment:
            return None
        try:
            place = cls(
                int(environment["RANK"]),
                int(environment["WORLD_SIZE"]),
                environment["MASTER_ADDR"],
                int(environment["MASTER_PORT"]),
                environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True",
            )
        except (KeyError, ValueError) as error:
            raise ConfigurationError(
                "expected RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them, got some of them; set all or none"
            ) from error
        if not 0 <= place.index < place.count or not 0 <= place.port < 1 << 16:
            raise ConfigurationError("expected RANK below WORLD_SIZE and a port, got others; start all processes anew")
        return place

    @property
    def on_loopback(self) -> bool:
        """Whether nobody on a network reaches it."""
        if self.address == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.address).is_loopback
        except ValueError:
            return False


def _nobody() -> None:
    """Nobody looks after the others."""


class Group:
    """The processes, seen from one; see `shared.training.together.Together`.

    Args:
        place: of this one.
        look: raises where one is known to have ended.
    """

    def __init__(self, place: Place, look: Callable[[], None] = _nobody) -> None:
        self.index, self.count = place.index, place.count
        self._look = look

    def add(self, vector: Tensor) -> None:
        """See Together."""
        self._wait(dist.all_reduce(vector, async_op=True))

    def hand_out(self, data: bytes) -> bytes:
        """See Together."""
        size = torch.tensor([len(data)])
        self._wait(dist.broadcast(size, 0, async_op=True))
        content = torch.zeros(int(size), dtype=torch.uint8)
        if self.index == 0:
            content = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else content
        if len(content):
            self._wait(dist.broadcast(content, 0, async_op=True))
        return content.numpy().tobytes()

    def _wait(self, work: dist.Work | None) -> None:
        assert work is not None
        # Not inside of torch, where nobody would hear Ctrl+C, nor see that another process has ended.
        while not work.is_completed():
            time.sleep(_LOOK_S)
        try:
            work.wait()
        except RuntimeError as error:
            # A process that has ended is seen through its connections first, and only then as a process.
            until = time.monotonic() + _SETTLED_S
            while self._look is not _nobody and time.monotonic() < until:
                self._look()
                time.sleep(_LOOK_S)
            raise ProcessLostError(
                f"process {self.index} of {self.count}: expected all others to go on, but one has ended or is silent; the head here is as it "
                "was, and --resume goes on behind the last pass"
            ) from error


@contextmanager
def joined(
    place: Place,
    look: Callable[[], None] = _nobody,
    *,
    store: Store | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Iterator[Group]:
    """The group, while the block runs.

    Args:
        place: of this process.
        look: raises where one of the others is known to have ended.
        store: by which they find one another; None for one at the place.
        timeout_s: so long a process may be silent.

    Raises:
        ConfigurationError: on a network no interface was named.
        ProcessLostError: the others do not come.
    """
    name_interface(place)
    timeout = timedelta(seconds=timeout_s)
    try:
        store = store or open_store(place, timeout_s)
        _meet(store, place, look, timeout_s)
        dist.init_process_group("gloo", store=store, rank=place.index, world_size=place.count, timeout=timeout)
    except (RuntimeError, OSError) as error:
        raise ProcessLostError(
            f"process {place.index} of {place.count}: expected to meet all others at {place.address}, but not all came; start all of them anew"
        ) from error
    try:
        yield Group(place, look)
    finally:
        dist.destroy_process_group()


def _meet(store: Store, place: Place, look: Callable[[], None], timeout_s: float) -> None:
    """Wait for all, here and not inside of torch, for as long as they start."""
    until = time.monotonic() + timeout_s
    store.set(f"here/{place.index}", "")
    while not store.check([f"here/{index}" for index in range(place.count)]):
        look()
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(_MEETING_S)


def open_store(place: Place, timeout_s: float = TIMEOUT_S, listener: socket.socket | None = None) -> Store:
    """By which the processes find one another; the first one listens.

    Args:
        place: of this process.
        timeout_s: how long it is waited for.
        listener: of the first, where it listens already; given away.
    """
    first = place.index == 0 and not place.agent
    if first and listener is None:
        listener = listen(place.address, place.port)
    return TCPStore(
        place.address,
        place.port,
        place.count,
        first,
        timedelta(seconds=timeout_s),
        wait_for_workers=False,
        master_listen_fd=None if listener is None else listener.detach(),
    )


def listen(address: str, port: int) -> socket.socket:
    """A socket at one address: torch by itself would listen at all of them."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


def name_interface(place: Place) -> None:
    """Let gloo listen where the processes meet, and nowhere else.

    Raises:
        ConfigurationError: that is no loopback, and nobody has named the interface.
    """
    if os.environ.get(_INTERFACE):
        return
    if not place.on_loopback:
        raise ConfigurationError(
            f"MASTER_ADDR {place.address}: expected {_INTERFACE}, the interface on which the machines see one another, got none; without it "
            "training would listen wherever the name of this machine points"
        )
    name_loopback()


def name_loopback() -> None:
    """Let gloo listen on the loopback of this machine, in this process and those that it starts, whatever the environment says.

    Raises:
        ConfigurationError: there is none.
    """
    names = [name for _, name in socket.if_nameindex()]
    loopback = next((name for name in names if name.startswith("lo")), None)
    if loopback is None:
        raise ConfigurationError(
            f"expected an interface of the loopback, got {', '.join(names) or 'none'}; bring it up"
        )
    os.environ[_INTERFACE] = loopback

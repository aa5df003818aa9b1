"""Runs one function of ours on bytes of strangers, in a child process that can do nothing else.

The child (`aggregator.sandbox.child`) is a fresh interpreter: no environment, no descriptors but its own, a session of
its own, little memory and time, no network, no file that it could write. What it may say is one JSON value of at most
64 KiB on a pipe, and that is read as a stranger's, too. When it has spoken, or its time is up, its whole group is killed.

Whatever else happens to it says one of two things, and each has its error: `SandboxError`, the bytes led it astray;
`UnconfinedError`, it never came to read them, since this machine can't start or confine it, or somebody killed it (`KilledError`):
a system that has run out of memory does that to whoever is handy, and the child offers itself first.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import protocols.errors
from aggregator.errors import KilledError, SandboxError, UnconfinedError
from aggregator.sandbox.child import READY
from foundation.errors import ExpectationError, StorageError
from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import ProtocolError
from protocols.fields import LINE

_START_S = 120.0
# From the end of its pipe to the end of a child that ends; and how near to its limit of processor time the kernel kills it.
_ENDING_S = 2.0
_CPU_SLACK_S = 1.0
_START = "import sys; sys.path += sys.argv[1:3]; from aggregator.sandbox.child import main; main(*sys.argv[3:])"
# Threads of a linear algebra library would each take address space.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
_PARTS = ("expected", "received", "advice", "place")
# What the child may say that its function raised.
_KINDS: dict[str, type[ExpectationError]] = {StorageError.__name__: StorageError} | {
    name: kind
    for name, kind in vars(protocols.errors).items()
    if isinstance(kind, type) and issubclass(kind, ProtocolError)
}


@dataclass(frozen=True)
class SandboxLimits:
    """What the child may use.

    Args:
        memory_bytes: address space, of which the interpreter and its libraries take some 400 MB.
        cpu_s: processor time.
        wall_s: time from the moment when it is ready.
        answer_bytes: size of its answer.
        open_files: descriptors.
    """

    memory_bytes: int = 2 << 30
    cpu_s: int = 120
    wall_s: float = 600.0
    answer_bytes: int = 64 << 10
    open_files: int = 32


@dataclass(frozen=True)
class Answer:
    """What the child said.

    Args:
        result: what the function returned.
        network: what kept the network away: "namespace", "seccomp" or both.
    """

    result: Json
    network: tuple[str, ...]


def run(
    function: Callable[[dict[str, Json]], Json],
    arguments: Mapping[str, Json],
    limits: SandboxLimits | None = None,
    readable: Sequence[Path] = (),
) -> Answer:
    """Runs a function at the top of a module on arguments, in a child process.

    Args:
        function: raises nothing but ProtocolError and StorageError on purpose.
        arguments: its only argument.
        limits: what the child may use.
        readable: folders that it may read, beside Python and its libraries.

    Raises:
        ProtocolError, StorageError: the function raised it.
        SandboxError: the child broke a limit, died, or said what it should not.
        UnconfinedError: the child could not be started or confined here, or was killed by somebody else.
    """
    limits = limits or SandboxLimits()
    try:
        # A file, for a child that never reads would block a pipe; in memory, for a disk that is full says nothing about this machine.
        with os.fdopen(os.memfd_create("arguments"), "w+b") as file:
            file.write(canonical_bytes(dict(arguments)))
            file.seek(0)
            return read_answer(_run(_command(function), file.fileno(), limits, readable))
    except OSError as error:
        raise _unconfined(error.strerror or type(error).__name__) from error


def _command(function: Callable[..., object]) -> list[str]:
    module = function.__module__
    root = Path(str(sys.modules[module].__file__)).resolve().parents[module.count(".")]
    ours = Path(__file__).resolve().parents[2]
    return [sys.executable, "-I", "-c", _START, str(ours), str(root), module, function.__qualname__]


def _run(command: list[str], arguments: int, limits: SandboxLimits, readable: Sequence[Path]) -> bytes:
    """The bytes that the child wrote behind its sign that it was ready."""
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as pipe:
        settings = {
            "limits": {**vars(limits), "pipe": writing, "parent": os.getpid()},
            "readable": [str(folder.absolute()) for folder in readable],
        }
        try:
            child = subprocess.Popen(
                [*command, json.dumps(settings)],
                stdin=arguments,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_ENVIRONMENT,
                pass_fds=(writing,),
                start_new_session=True,
            )
        finally:
            os.close(writing)
        try:
            ready = _read(pipe.fileno(), len(READY), time.monotonic() + _START_S)
            if ready != READY:
                raise _unconfined("it ended, or did not get ready in time")
            said = _read(pipe.fileno(), limits.answer_bytes + 1, time.monotonic() + limits.wall_s)
            ended = said is not None and len(said) <= limits.answer_bytes and _ends(child.pid)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            code, used_s = _collected(child)
    if said is None:
        raise _astray(f"an answer within {limits.wall_s:g} s", "none")
    if len(said) > limits.answer_bytes:
        raise _astray(f"an answer of at most {limits.answer_bytes} bytes", "more")
    if ended and code == -signal.SIGKILL and used_s < limits.cpu_s - _CPU_SLACK_S:
        raise KilledError(
            "the check of the payload: expected a child process that ends by itself, got one that was killed, as by a system without memory; "
            "free some and repeat"
        )
    if code:
        raise _astray(
            "an answer", f"an end by {signal.Signals(-code).name}" if code < 0 else f"an end with code {code}"
        )
    return said


def _ends(child: int) -> bool:
    """Whether a child that has closed its pipe comes to an end without being helped; it stays to be collected."""
    handle = os.pidfd_open(child)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(handle, selectors.EVENT_READ)
            return bool(selector.select(_ENDING_S))
    finally:
        os.close(handle)


def _collected(child: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Exit code of a child that ends, and the processor time that it has used."""
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_utime + used.ru_stime


def _read(pipe: int, most: int, deadline: float) -> bytes | None:
    """Up to `most` bytes, fewer if the pipe ends before; None if the time is over first."""
    data = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while len(data) < most:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                return None
            piece = os.read(pipe, min(most - len(data), 1 << 16))
            if not piece:
                break
            data += piece
    return data


def read_answer(said: bytes) -> Answer:
    """What the child said, read as a stranger's.

    Raises:
        ProtocolError, StorageError: it says that the function raised it.
        SandboxError: anything but a result or an error in the form that the child gives them.
    """
    try:
        outcome = parse_canonical(said, max_bytes=len(said), place="the answer of the child")
    except ProtocolError as error:
        raise _astray("an answer in canonical JSON", "another") from error
    if not isinstance(outcome, dict) or set(outcome) not in ({"error"}, {"network", "result"}):
        raise _astray("a result or an error", "something else")
    if "error" in outcome:
        raise _error(outcome["error"])
    network = outcome["network"]
    if not isinstance(network, list) or not network or not set(map(str, network)) <= {"namespace", "seccomp"}:
        raise _astray("a network that is kept away", "something else")
    return Answer(outcome["result"], tuple(map(str, network)))


def _error(stated: Json) -> Exception:
    if not isinstance(stated, dict) or set(stated) != {"kind", *_PARTS} or not all(map(_is_line, stated.values())):
        return _astray("an error in its parts", "something else")
    kind = _KINDS.get(str(stated["kind"]))
    if kind is None:
        return _astray("an answer", f"a {stated['kind']}")
    parts = {part: str(stated[part]) for part in _PARTS}
    return kind(parts.pop("expected"), **parts)


def _is_line(text: Json) -> bool:
    return isinstance(text, str) and LINE.fullmatch(text) is not None


def _astray(expected: str, received: str) -> SandboxError:
    return SandboxError(
        f"the check of the payload: expected {expected}, got {received}; refuse the share and ask its site about it"
    )


def _unconfined(received: str) -> UnconfinedError:
    return UnconfinedError(
        f"the check of the payload: expected a child process without network and with limits, got {received}; "
        "run on Linux with seccomp or network namespaces, with memory and open files to spare (`ulimit`), and repeat"
    )

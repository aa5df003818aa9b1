"""The inside of the sandbox: takes its limits on, runs one function, and hands back JSON. Started by `aggregator.sandbox.parent`.

The limits come before the function's module is imported, so before any library is there that a payload could mislead.
Assumption: what runs here may be led to do anything by the bytes that it reads. So the kernel holds the limits:

- rlimits: address space, processor time, open files, no byte written to any file, no core dump;
- Landlock where the kernel has it: nothing can be read but Python with its libraries and the folder of the payload;
- a network namespace of its own where the kernel gives one: it has no interface at all;
- a seccomp filter where the kernel has it (`aggregator.sandbox.seccomp`): no socket of any family, no new process or thread,
  no other program, no signal, no hand on another process, no change of any file, its name or its rights.

One of the last two must hold, otherwise nothing runs.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import NoReturn

from aggregator.sandbox.landlock import read_only_below
from aggregator.sandbox.seccomp import refuse_calls

READY = b"ready\n"
_LIBRARIES = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom")
_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000


def main(module: str, name: str, settings: str) -> NoReturn:
    """Runs `module.name` on the JSON on standard input and writes what it returns to the descriptor of the settings.

    Args:
        module: to import.
        name: of the function in it.
        settings: JSON of `limits` by name, with `pipe` and `parent` among them, and `readable`, the folders to read.
    """
    stated = json.loads(settings)
    limits: dict[str, int] = stated["limits"]
    networks = _confine(limits)
    function = getattr(importlib.import_module(module), name)
    # Behind the imports, of which some look around; those that come later find their modules still.
    read_only_below(
        ctypes.CDLL(None, use_errno=True), [*_LIBRARIES, sys.prefix, sys.base_prefix, *sys.path, *stated["readable"]]
    )
    # Who dies before this line says nothing about the bytes to be read.
    _write(limits["pipe"], READY)
    try:
        outcome = {"network": networks, "result": function(json.load(sys.stdin))}
    except Exception as error:
        outcome = {"error": _described(error)}
    _write(limits["pipe"], json.dumps(outcome, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode())
    # Nothing of the interpreter runs any more: its clean-up would only be another place to go wrong.
    os._exit(0)


def _write(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]


def _described(error: Exception) -> dict[str, str]:
    """Kind and parts of an error of the protocol; of others the kind alone, for their text may quote anything."""
    parts = {part: getattr(error, part, "") for part in ("expected", "received", "advice", "place")}
    return {"kind": type(error).__name__, **{part: " ".join(str(text).split())[:200] for part, text in parts.items()}}


def _confine(limits: dict[str, int]) -> list[str]:
    """Takes the limits on; returns what keeps the network away."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != limits["parent"]:
        os._exit(1)
    # Where memory runs out, this is what the system ends first: not the database, nor the server.
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    networks = []
    # The second way is for those who are not root: in a user namespace of their own they may have one of the network.
    if not libc.unshare(_CLONE_NEWNET) or not libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET):
        networks.append("namespace")
    for kind, limit in (
        (resource.RLIMIT_AS, limits["memory_bytes"]),
        (resource.RLIMIT_CPU, limits["cpu_s"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (limit, limit))
    if refuse_calls(libc):
        networks.append("seccomp")
    if not networks:
        raise OSError("neither seccomp nor a network namespace")
    return networks

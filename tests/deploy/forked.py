"""The provider's program for scripts that call it, forked from a process that has imported it: the scripts are tested, not how Python starts."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aggregator.commands.cli
import aggregator.enrolled.shares
import aggregator.workspace

# What is called `aggregator` on the PATH of a script: it hands over all that a process gets from who starts it.
CALLER = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as way:
    way.connect({address!r})
    mask = os.umask(0)
    told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), mask]).encode()
    socket.send_fds(way, [len(told).to_bytes(4, "big")], [0, 1, 2])
    way.sendall(told)
    sys.exit(int(way.recv(4)))
"""


def run_here(connection: socket.socket) -> int:
    """Be the program that was called, and return its exit code."""
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as given:
        arguments, folder, environment, mask = json.loads(given.read(int.from_bytes(size, "big")))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    # Those of the run of the tests.
    logging.getLogger().handlers.clear()
    os.chdir(folder)
    os.umask(mask)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["aggregator", *arguments]
    try:
        aggregator.commands.cli.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def answer(listening: socket.socket) -> None:
    """Fork for every call, one after another, until somebody ends this process."""
    while True:
        connection, _ = listening.accept()
        process = os.fork()
        if process == 0:
            code = 1
            try:
                code = run_here(connection)
            finally:
                connection.sendall(str(code).encode())
                os._exit(0)
        connection.close()
        os.waitpid(process, 0)


@contextmanager
def forked(folder: Path) -> Iterator[Path]:
    """A folder with the program in it, for the PATH of scripts, as long as the block lasts."""
    program = folder / "aggregator"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "calls"))
        listening.listen()
        program.write_text(CALLER.format(python=sys.executable, address=str(folder / "calls")))
        program.chmod(0o755)
        process = os.fork()
        if process == 0:
            try:
                answer(listening)
            finally:
                os._exit(1)
        try:
            yield folder
        finally:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)

"""Runs the app for the tasks of a node, each in a process of its own: `python -m site_client.federated.flower.executor PORT SECRET`.

What Flower starts for this by itself asks the node without a credential, and so may any account of this machine: it would get a round's
weights, and the hospital's answer would fail. It also starts an interpreter for every message. This process is forked instead.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from flwr.proto.runtime_pb2 import AcquireTaskRequest
from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor, SuperExecAuthHttpInterceptor
from flwr.supercore.runtime import RuntimeHttpClient
from flwr.supernode.runtime.run_clientapp import run_clientapp

# What the app asks for is forked along.
import site_client.federated.flower.relay  # noqa: F401
from command_line.flower import end_with_parent

_KIND, _ACQUIRE = "flwr-clientapp", "/flwr.proto.Runtime/AcquireTask"
_NAP_S, _UNHEARD_S = 0.5, 120.0


def main(port: str, secret: str) -> None:
    """Take tasks until this process is ended.

    Args:
        port: of the node's own interface, on loopback.
        secret: file with what tasks are given out for.
    """
    address = f"127.0.0.1:{port}"
    signing = SuperExecAuthHttpInterceptor(master_secret=Path(secret).read_bytes(), protected_methods={_ACQUIRE})
    version = RuntimeVersionHttpInterceptor(component_name="SuperExec")
    client = RuntimeHttpClient.from_server_address(address, True, None, [version, signing])
    heard = time.monotonic()
    while True:
        _bury()
        try:
            found = client.AcquireTask(AcquireTaskRequest(supported_task_types=[_KIND]))
        except Exception:
            # A node that has just begun does not listen yet. One that never answers is begun anew, by whoever sees this end.
            if time.monotonic() - heard > _UNHEARD_S:
                raise
        else:
            heard = time.monotonic()
            if found.HasField("task") and found.token:
                _fork(address, str(found.token))
                continue
        time.sleep(_NAP_S)


def _bury() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _fork(address: str, token: str) -> None:
    parent = os.getpid()
    if os.fork():
        return
    # A task asks a node that is gone for ever.
    end_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    code = 1
    try:
        run_clientapp(address, token, True, parent_pid=parent)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Commands as processes of their own, quickly.

Most of a short command's time goes into loading torch. Here all are forked from one process that has loaded it and done nothing else.
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path

_LOADED = ["torch", "scipy", "pyarrow.parquet", "h5py", "sqlalchemy", "tuf.ngclient", "click"]


@dataclass(frozen=True)
class Ended:
    """A process that has ended.

    Args:
        code: its exit code.
        output: what it wrote to standard output.
        errors: what it wrote to standard error.
        seconds: of computing.
    """

    code: int
    output: str
    errors: str
    seconds: float


def forked() -> ForkServerContext:
    """Where processes come from; each has one thread for its computing, as two trainings at a time want."""
    os.environ["OMP_NUM_THREADS"] = "1"
    context = get_context("forkserver")
    context.set_forkserver_preload(_LOADED)
    return context


def run_module(context: ForkServerContext, module: str, arguments: Sequence[str]) -> Ended:
    """What `python -m module arguments` does.

    Args:
        context: see `forked`.
        module: with a `__main__`.
        arguments: of its command line.
    """
    with tempfile.TemporaryDirectory() as folder:
        written = [Path(folder) / name for name in ("output", "errors", "seconds")]
        process = context.Process(target=_main, args=(module, list(arguments), written))
        process.start()
        process.join()
        output, errors, seconds = (path.read_text(encoding="utf-8") if path.exists() else "" for path in written)
        return Ended(process.exitcode or 0, output, errors, float(seconds or 0))


def _main(module: str, arguments: list[str], written: list[Path]) -> None:
    *streams, seconds = written
    for descriptor, path in enumerate(streams, start=1):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(handle, descriptor)
        os.close(handle)
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        seconds.write_text(str(sum(os.times()[:4])), encoding="utf-8")

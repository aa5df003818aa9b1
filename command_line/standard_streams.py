"""Standard input, output and error as a command needs them, whatever whoever started it made of them."""

from __future__ import annotations

import io
import os
import sys
from typing import IO


def ready_streams() -> None:
    """Opens those that were closed, and lets none end what the command does for a letter that it does not know."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, _nothing(mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that is no UTF-8, or a letter that a terminal lacks.
            stream.reconfigure(errors="backslashreplace")


def _nothing(mode: str) -> IO[str]:
    """The null device, under the lowest number that is free: else a file of ours takes it, and what a library or a process that we start says ends in there."""
    stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - as long as the process
    os.set_inheritable(stream.fileno(), True)
    return stream

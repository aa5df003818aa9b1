"""Processes that train together, forked from the test: each meets the others on the loopback, and leaves what it made in a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from aggregator.training.processes.group import Group, Place, joined, listen, open_store
from foundation.errors import DeidError

Made = dict[str, Tensor]


def together(folder: Path, run: Callable[[Group], Made], count: int = 2, timeout_s: float = 30) -> list[int]:
    """Exit codes of so many processes that do the same; `made` reads what they have made."""
    folder.mkdir(exist_ok=True)
    # What torch loads with its first optimiser takes seconds: once here, and not in each of them.
    torch.optim.NAdam([torch.zeros(1, requires_grad=True)])
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    children = []
    for index in range(count):
        child = os.fork()
        if not child:
            code = 1
            try:
                place = Place(index, count, "127.0.0.1", port)
                store = open_store(place, 30, None if index else listener)
                with joined(place, store=store, timeout_s=timeout_s) as group:
                    save_file(run(group), folder / f"{index}.safetensors")
                code = 0
            except DeidError as error:
                (folder / f"{index}.txt").write_text(str(error))
                code = error.exit_code
            finally:
                os._exit(code)
        children.append(child)
    listener.close()
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def made(folder: Path, index: int) -> Made:
    """What a process has made."""
    return load_file(folder / f"{index}.safetensors")


def said(folder: Path, index: int) -> str:
    """The line with which a process ended."""
    return (folder / f"{index}.txt").read_text()

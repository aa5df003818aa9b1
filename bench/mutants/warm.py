"""Run by path, not imported: a process that has imported what takes seconds, and runs each batch of tests in a fork.

It reads one batch a line, as JSON: the file that gets what pytest says, and pytest's arguments. It answers with two lines,
the fork's process id and how it ended. The fork leads a process group, so that whatever its tests start can be ended. None
of our own code is imported here: a fork finds it as it is on the disk at its time.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from collections.abc import Sequence


def main(modules: Sequence[str]) -> int:
    """Goes on until nobody asks any more; in a fork, until its tests are over."""
    for module in modules:
        importlib.import_module(module)
    # pytest collects what is left over several times; what is here by now is none of it.
    gc.freeze()
    for line in sys.stdin:
        said, arguments = json.loads(line)
        fork = os.fork()
        if not fork:
            return _run(said, arguments)
        print(fork, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]), flush=True)
    return 0


def _run(said: str, arguments: list[str]) -> int:
    """Runs pytest as if it had just been started, all that it prints being written to a file."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for number, target in ((0, nowhere), (1, file), (2, file)):
        os.dup2(target, number)
    import pytest

    return int(pytest.main(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

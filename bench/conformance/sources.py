"""Where the suites of others come from: a folder that the environment names, or their repository at a fixed commit."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_LIMIT_S = 120


@dataclass(frozen=True)
class Suite:
    """A suite of others.

    Args:
        title: as people call it.
        variable: of the environment, which may name a folder that holds it.
        address: of its repository.
        commit: that was looked at.
    """

    title: str
    variable: str
    address: str
    commit: str


def obtain_suite(suite: Suite, folder: Path) -> Path | None:
    """The folder of a suite; None where it can't be had here.

    Args:
        suite: which.
        folder: where it goes if it has to be fetched; new.
    """
    named = os.environ.get(suite.variable)
    if named:
        return Path(named)
    folder.mkdir()
    git = ("git", "-C", str(folder), "-c", "core.hooksPath=/dev/null")
    steps = (
        (*git, "init", "--quiet"),
        (*git, "fetch", "--quiet", "--depth", "1", suite.address, suite.commit),
        (*git, "checkout", "--quiet", "FETCH_HEAD"),
    )
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        for step in steps:
            subprocess.run(step, env=environment, capture_output=True, timeout=_LIMIT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return folder

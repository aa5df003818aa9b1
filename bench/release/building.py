"""Wheel and sdist of the checkout, in the same bytes wherever and whenever they are built.

Of a copy with the modes and times of every file set: what an editor, a umask or a clock has left does not count. Setuptools writes the
times of SOURCE_DATE_EPOCH into a wheel; a sdist is packed again.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from bench.release.packages import ROOT

_LEFT_OUT = (".*", "build", "demo", "*.egg-info", "__pycache__", "bench", "tests", "docs", "deploy")
_BUILD = (
    "import sys\nfrom setuptools import build_meta\nprint(getattr(build_meta, 'build_' + sys.argv[1])(sys.argv[2]))"
)
# The first second that a zip archive can state.
_EARLIEST = 315_532_800


def source_date() -> int:
    """Seconds since 1970: of SOURCE_DATE_EPOCH, or else of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        shown = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
        given = subprocess.run(shown, capture_output=True, text=True, check=False).stdout.strip()
    return max(int(given or _EARLIEST), _EARLIEST)


def build(folder: Path, scratch: Path) -> tuple[Path, Path]:
    """Build wheel and sdist.

    Args:
        folder: where they go.
        scratch: an empty folder for the copy.

    Returns:
        the wheel, and the sdist.
    """
    date = source_date()
    source = scratch / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    for path in (source, *source.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (date, date))
    folder.mkdir(parents=True, exist_ok=True)
    wheel = _built("wheel", source, folder.absolute(), date)
    sdist = _built("sdist", source, folder.absolute(), date)
    _pack_again(sdist, date)
    return wheel, sdist


def _built(kind: str, source: Path, folder: Path, date: int) -> Path:
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(date), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", _BUILD, kind, str(folder)]
    done = subprocess.run(
        command,
        cwd=source,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        umask=0o022,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return folder / done.stdout.splitlines()[-1]


def _pack_again(sdist: Path, date: int) -> None:
    """The same files in the order of their names, each of nobody, of one time."""
    packed = io.BytesIO()
    with (
        tarfile.open(sdist) as given,
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=date) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w", format=tarfile.PAX_FORMAT) as made,
    ):
        for member in sorted(given.getmembers(), key=lambda one: one.name):
            content = given.extractfile(member) if member.isfile() else None
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = date
            member.mode = 0o755 if member.isdir() else 0o644
            member.pax_headers = {}
            made.addfile(member, content)
    sdist.write_bytes(packed.getvalue())

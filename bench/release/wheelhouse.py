"""The wheelhouse: every wheel that an installation needs, with its hash, and one file that installs them without a network.

requirements.txt                     name==version --hash=sha256:... of each
*.whl                                ours among them
deid-commons-VERSION-PLATFORM.pyz    all of it, and the installer of `deploy/offline`
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from packaging.utils import parse_wheel_filename

from bench.release.building import build, source_date
from bench.release.packages import PROJECT, ROOT

INSTALLER = ROOT / "deploy" / "offline" / "__main__.py"
REQUIREMENTS = "requirements.txt"
_PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


def make_wheelhouse(folder: Path, packages: Mapping[str, str]) -> Path:
    """Fill a folder, and lay the one file beside the wheels.

    Args:
        folder: made anew.
        packages: versions by name, without our own; pip comes along, for machines whose Python has none.

    Returns:
        the one file.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    asked = [f"{name}=={version}" for name, version in ({**packages} | {"pip": metadata.version("pip")}).items()]
    subprocess.run(
        [*_PIP, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), *asked], check=True
    )
    scratch = folder / "scratch"
    scratch.mkdir()
    wheel, _ = build(scratch / "dist", scratch)
    shutil.copy(wheel, folder)
    shutil.rmtree(scratch)
    return pack(folder)


def pack(folder: Path) -> Path:
    """State the hash of every wheel of a folder, and pack them with the installer into one file.

    Returns:
        the one file.
    """
    wheels = sorted(folder.glob("*.whl"))
    lines = [_pinned(wheel) for wheel in wheels if not wheel.name.startswith("pip-")]
    (folder / REQUIREMENTS).write_text("".join(lines), encoding="utf-8")
    name = f"{PROJECT}-{metadata.version(PROJECT)}-{sysconfig.get_platform()}.pyz"
    date = _zip_date()
    with (folder / name).open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "w") as archive:
            # Wheels are squeezed already.
            for path in (INSTALLER, folder / REQUIREMENTS, *wheels):
                entry = zipfile.ZipInfo(
                    path.name if path in (INSTALLER, folder / REQUIREMENTS) else f"wheels/{path.name}", date
                )
                entry.external_attr = 0o644 << 16
                with archive.open(entry, "w", force_zip64=True) as written, path.open("rb") as read:
                    shutil.copyfileobj(read, written)
    (folder / name).chmod(0o755)
    return folder / name


def _pinned(wheel: Path) -> str:
    name, version, _, _ = parse_wheel_filename(wheel.name)
    with wheel.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{name}=={version} --hash=sha256:{digest}\n"


def _zip_date() -> tuple[int, int, int, int, int, int]:
    moment = time.gmtime(source_date())
    return (moment.tm_year, moment.tm_mon, moment.tm_mday, moment.tm_hour, moment.tm_min, moment.tm_sec)

"""The files of a release repository, each written whole and for everyone to read."""

from __future__ import annotations

import shutil
from collections.abc import Container
from pathlib import Path

from tuf.api.metadata import TargetFile

from foundation.files import stage_file
from foundation.os_errors import map_os_errors
from protocols.release.repository import RELEASE_NAME, TARGETS


def write_public(path: Path, data: bytes) -> None:
    """Written whole, for everyone to read: whoever carries the folder to a site may be another user there."""
    with map_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with stage_file(path) as draft, map_os_errors(path):
        draft.write_bytes(data)
        draft.chmod(0o644)


def store_bytes(folder: Path, target: str, content: bytes) -> TargetFile:
    """Put a small target into the repository, under the digest of its content."""
    info = TargetFile.from_data(target, content)
    write_public(folder / TARGETS / info.get_prefixed_paths()[0], content)
    return info


def store_file(folder: Path, target: str, source: Path) -> TargetFile:
    """The same for a file of any size."""
    with map_os_errors(source):
        info = TargetFile.from_file(target, str(source))
    path = folder / TARGETS / info.get_prefixed_paths()[0]
    with map_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with stage_file(path) as draft, map_os_errors(path):
        shutil.copyfile(source, draft)
        draft.chmod(0o644)
    return info


def drop_leftovers(folder: Path, known: Container[str]) -> None:
    """Remove what a publishing that was interrupted left: the folder of a release that no metadata know."""
    with map_os_errors(folder):
        for path in (folder / TARGETS).iterdir():
            if RELEASE_NAME.fullmatch(path.name) and path.name not in known:
                shutil.rmtree(path)

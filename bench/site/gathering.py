"""The pages and pictures of the repository in a folder of their own, at the same places, so that their links hold as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_ENDINGS = (".md", ".svg", ".png", ".json", ".css")


def gather(folder: Path, root: Path = ROOT) -> list[Path]:
    """Copy what the site shows; the README becomes its first page.

    Args:
        folder: made anew.
        root: of the repository.

    Returns:
        Every copied file, below the root.
    """
    shutil.rmtree(folder, ignore_errors=True)
    found = [path for path in (*root.glob("*.md"), *(root / "docs").rglob("*")) if path.suffix in _ENDINGS]
    names = sorted(path.relative_to(root) for path in found)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, folder / name)
    return names

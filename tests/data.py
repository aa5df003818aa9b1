"""Where the openly licensed corpora lie; a test that needs one that is absent skips with one clear line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("DEID_COMMONS_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data")


def corpus(name: str) -> Path:
    """The folder or file `name` of the corpora, or a skipped test.

    Args:
        name: path below the data folder, such as "meddocan/train/xml".
    """
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"{name} is absent: set DEID_COMMONS_DATA to the folder that holds it")
    return path

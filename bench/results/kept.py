"""Runs of hours that are kept with the results: `python -m bench.results.kept FILE...` moves them from bench/.runs to docs/results/runs.

A measurement of many trainings is made over days and on several machines, so that its runs outlive a checkout. A run may hold numbers and the
names of categories, of notes and of the code's states; no word of a corpus, whose text is not ours to publish.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

from bench.results.entries import RESULTS

KEPT = RESULTS / "runs"
_STATE = re.compile(r"[0-9a-f]{7,}|unknown")
_CATEGORY = re.compile(r"[A-Z][A-Z_-]+")


def load_kept(name: str) -> dict[str, Any] | None:
    """A run that is kept; None where it is not."""
    path = KEPT / f"{name}.json.gz"
    return dict(json.loads(gzip.decompress(path.read_bytes()))) if path.exists() else None


def keep(path: Path) -> Path:
    """Compresses a finished run, in equal bytes for equal runs, and removes it from where it was.

    Raises:
        ValueError: it was made by code that no commit holds, or has strings besides categories.
    """
    run = json.loads(path.read_text(encoding="utf-8"))
    if not _STATE.fullmatch(run["commit"]):
        raise ValueError(
            f"expected {path.name} to be made by a clean commit, got {run['commit']}; commit and measure again"
        )
    if words := [one for key, value in run.items() if key != "commit" for one in _strings(value)]:
        raise ValueError(
            f"expected numbers and categories in {path.name}, got {len(words)} other strings; they may be words of a corpus"
        )
    KEPT.mkdir(exist_ok=True)
    kept = KEPT / f"{path.name}.gz"
    kept.write_bytes(gzip.compress(json.dumps(run, separators=(",", ":")).encode(), mtime=0))
    path.unlink()
    return kept


def _strings(value: object) -> list[str]:
    """All strings in it but for categories."""
    if isinstance(value, str):
        return [] if _CATEGORY.fullmatch(value) else [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [one for part in inner for one in _strings(part)]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(keep(Path(name)))

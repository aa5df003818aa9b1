"""Which packages of requirements.lock the two programs run with: those of the project's dependencies, and theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "deid-commons"
SHIPPED = ("fragments",)
"""Extras that the one file, and so the images, bring along: small, and all in the lock."""


def locked(path: Path = ROOT / "requirements.lock") -> dict[str, str]:
    """Versions by canonical name."""
    lines = re.findall(r"^([\w.-]+)==(\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in lines}


def runtime(extras: Iterable[str] = ()) -> dict[str, str]:
    """The packages that an installation needs, by canonical name, with the versions of the lock.

    Args:
        extras: of the project, such as fragments.

    Raises:
        LookupError: one is not in the lock.
    """
    versions = locked()
    found: dict[str, str] = {}
    waiting = [(PROJECT, frozenset(extras), PROJECT)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted, asked_by = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        if name != PROJECT:
            if name not in versions:
                raise LookupError(_not_locked(name, asked_by))
            found[name] = versions[name]
        for text in metadata.requires(name) or ():
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *wanted)):
                waiting.append((canonicalize_name(needed.name), frozenset(needed.extras), name))
    return dict(sorted(found.items()))


def _not_locked(name: str, asked_by: str) -> str:
    if asked_by == "torch":
        return (
            f"expected the CPU build of torch, got one that needs {name}; install torch=={locked()['torch']} from the CPU index that "
            "PyTorch's installation page names, then repeat"
        )
    return f"requirements.lock: expected {name}, which {asked_by} needs, found none; make the lock anew"

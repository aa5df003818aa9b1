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
    waiting = [(PROJECT, frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        if name != PROJECT:
            if name not in versions:
                raise LookupError(f"requirements.lock: expected {name}, found none; make the lock anew")
            found[name] = versions[name]
        for text in metadata.requires(name) or ():
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *wanted)):
                waiting.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return dict(sorted(found.items()))

"""The two tutorials as one script: their own lines, in the order in which provider and hospital take turns."""

from __future__ import annotations

import re
from pathlib import Path

NAME = "tutorials"
_DOCS = Path(__file__).resolve().parents[2] / "docs"
_PAGES = {"provider": "tutorial-provider.md", "st-anne": "tutorial-hospital.md"}
# Whose next blocks come, and how many; the pages say so to who reads them.
TURNS = (("provider", 3), ("st-anne", 1), ("provider", 1), ("st-anne", 4), ("provider", 2), ("st-anne", 2))
# What a person types who has heard a fingerprint: that of the other side.
_HEARD = "1f2e-...-90ab"
_BLOCK = re.compile(r"^```\n(.*?)^```", re.DOTALL | re.MULTILINE)


def script(docs: Path = _DOCS) -> str:
    """Every block of both pages, once; a fingerprint that somebody reads out is that of the other side.

    Args:
        docs: folder of the pages.

    Raises:
        ValueError: the pages have other blocks than their turns say.
    """
    left = {name: _BLOCK.findall((docs / page).read_text(encoding="utf-8")) for name, page in _PAGES.items()}
    here = dict.fromkeys(_PAGES, ".")
    lines = ["# Provider and hospital, as the two tutorials have it."]
    for name, count in TURNS:
        other = next(one for one in _PAGES if one != name)
        for _ in range(count):
            if not left[name]:
                raise ValueError(f"{_PAGES[name]}: expected more blocks of commands, got none; correct TURNS")
            lines.append(f'cd "$START/{here[name]}"')
            for line in left[name].pop(0).splitlines():
                heard = line.replace(_HEARD, f'"$(typed "$START/{other}.printed")"')
                lines.append(heard if line.startswith("cd ") else f'{heard} | tee -a "$START/{name}.printed"')
                here[name] = line.removeprefix("cd ") if line.startswith("cd ") else here[name]
    if rest := [_PAGES[name] for name, blocks in left.items() if blocks]:
        raise ValueError(f"{', '.join(rest)}: blocks of commands that no turn takes; correct TURNS")
    return "\n".join(lines) + "\n"

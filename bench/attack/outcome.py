"""What became of a lie."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Longer than that nobody reads in a table.
_MOST = 160
_DIGEST = re.compile(r"\b([0-9a-f]{12,64}|[0-9a-f]{4}(-[0-9a-f]{4}){7})\b")


@dataclass(frozen=True)
class Outcome:
    """What became of a lie.

    Args:
        lie: its name.
        step: that refused it, or the last one where none did.
        refused_by: what refused it, in a word or two; "" where nothing did.
        code: exit code, or "rejected" or "quarantined"; "" where nothing refused it.
        said: to the person who ran the step, or about what was let through; no text of a note.
        warned: whether something was let through, and said before.
    """

    lie: str
    step: str
    refused_by: str = ""
    code: str = ""
    said: str = ""
    warned: bool = False

    @property
    def passed(self) -> bool:
        """Whether nothing refused it."""
        return not self.refused_by

    @property
    def unseen(self) -> bool:
        """Whether nothing refused it, and nothing was said."""
        return self.passed and not self.warned


def shorten(line: str, place: object) -> str:
    """A line that was said, without the folder of this run, and without digests and keys, which are others in each run."""
    plain = _DIGEST.sub("...", line.replace(f"{place}/", "").removeprefix("error: "))
    plain = " ".join(plain.split())
    return plain if len(plain) <= _MOST else f"{plain[:_MOST]}..."

"""The modes by name. A new mode is a file of its own and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from site_client.deid.hashed import HASH
from site_client.deid.masks import BLOCK, FIXED
from site_client.deid.mode import Mode
from site_client.deid.redact import REDACT
from site_client.deid.surrogate import SURROGATE
from site_client.deid.tag import TAG

_ALL: tuple[Mode, ...] = (TAG, REDACT, SURROGATE, BLOCK, FIXED, HASH)

MODES: Mapping[str, Mode] = {mode.name: mode for mode in _ALL}
DEFAULT: Mode = REDACT


def describe_modes() -> str:
    """All modes and what each writes, for the help."""
    return "; ".join(f"{mode.name}: {mode.writes}" for mode in _ALL) + "."

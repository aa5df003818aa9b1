"""What tests need and a machine may lack: where it is expected, to lack it is a failure, not a skipped test.

DEID_COMMONS_EXPECT names what is expected, with commas between; .ci/run sets it, so that CI never goes on without.
"""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

_EXPECTED = "DEID_COMMONS_EXPECT"
KNOWN = ("chromium", "flower", "postgresql", "systemd")


def do_without(need: str, why: str) -> NoReturn:
    """Ends a test that lacks what it needs: skipped, or failed where that is expected.

    Args:
        need: one of KNOWN.
        why: it is not here.
    """
    expected = set(filter(None, os.environ.get(_EXPECTED, "").split(",")))
    if not expected <= set(KNOWN) or need not in KNOWN:
        pytest.fail(f"{_EXPECTED}: expected names among {', '.join(KNOWN)}, got others; correct it", pytrace=False)
    if need in expected:
        pytest.fail(f"no {need}, which {_EXPECTED} expects: {why}", pytrace=False)
    pytest.skip(f"no {need}: {why}")

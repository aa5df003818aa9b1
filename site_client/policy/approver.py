"""The name of who approves something, as the ledger keeps it."""

from __future__ import annotations

import unicodedata

from protocols.fields import LINE
from site_client.errors import ApprovalError


def check_approver(approver: str) -> str:
    """The name, however the keyboard or the shell composes its letters.

    Raises:
        ApprovalError: it is no name on one line.
    """
    name = unicodedata.normalize("NFC", approver.strip())
    if not name or not LINE.fullmatch(name):
        raise ApprovalError("--approver: expected a name of up to 200 characters on one line, got something else")
    return name

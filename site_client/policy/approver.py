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
    # What the shell hands on of bytes that are no UTF-8.
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise ApprovalError("--approver: expected a name in UTF-8, got other bytes; set the terminal to UTF-8")
    # Nobody sees a name of signs without width, and nobody is named by dots.
    if not LINE.fullmatch(name) or not any(map(str.isalnum, name)):
        raise ApprovalError(
            "--approver: expected a name of up to 200 characters on one line, a letter or digit among them, got something else"
        )
    return name

"""What the provider decided about a share, as the hospital's ledger holds it, and which of two decisions is the newer one.

Receipts come by stick and by post, in any order. What counts is the day that the provider signed, not the day on which one was taken, unless that
came first: a day to come, by a clock that is wrong or by a lie, would outlast all that is decided until then. And a share that was withdrawn
was withdrawn for good.
"""

from __future__ import annotations

from dataclasses import dataclass

from protocols.share.receipt import ReceiptState
from site_client.ledger import Entry, Event, entries
from site_client.workspace import Workspace

_GONE = (ReceiptState.REJECTED, ReceiptState.WITHDRAWN)
# Of one day, or where an earlier version did not record it: who decides sets aside first and withdraws last.
_STEPS = {ReceiptState.QUARANTINED: 0, ReceiptState.ACCEPTED: 1, ReceiptState.REJECTED: 1, ReceiptState.WITHDRAWN: 2}


@dataclass(frozen=True)
class Decision:
    """One receipt.

    Args:
        state: of the share.
        day: of the decision, YYYY-MM-DD, or that on which its receipt was taken, if that is earlier; "" where an earlier version recorded it.
    """

    state: str
    day: str = ""

    @classmethod
    def of(cls, entry: Entry) -> Decision:
        """As the ledger holds it."""
        taken = entry.at.partition("T")[0]
        return cls(str(entry.details.get("state", "")), min(str(entry.details.get("day", "")), taken))

    @property
    def counts(self) -> bool:
        """Whether the share counts after it."""
        return self.state not in _GONE

    def follows(self, earlier: Decision | None) -> bool:
        """Whether it changes what was decided; the same once more does.

        Args:
            earlier: that stood until now; None where there was none.
        """
        if earlier is None or self.state == ReceiptState.WITHDRAWN:
            return True
        if earlier.state == ReceiptState.WITHDRAWN:
            return False
        if self.day and earlier.day and self.day != earlier.day:
            return self.day > earlier.day
        return _step(self.state) >= _step(earlier.state)


def newest_decision(workspace: Workspace, sequence: int, manifest_sha256: str) -> Decision | None:
    """What stands of a share; None where no receipt of it was taken.

    Args:
        workspace: of the site.
        sequence: its number.
        manifest_sha256: digest of its manifest.

    Raises:
        LedgerError: the ledger was changed.
    """
    newest: Decision | None = None
    for entry in entries(workspace):
        of = entry.details.get("sequence"), entry.details.get("manifest_sha256")
        if entry.event == Event.RECEIPT and of == (sequence, manifest_sha256):
            decision = Decision.of(entry)
            newest = decision if decision.follows(newest) else newest
    return newest


def _step(state: str) -> int:
    return next((step for one, step in _STEPS.items() if one == state), 0)

"""What becomes of a share: accepted, rejected, or withdrawn for its hospital."""

from __future__ import annotations

from abc import abstractmethod

from aggregator.dashboard.actions.action import Action, Asked, Foretold, Happened
from aggregator.dashboard.pages.reading import EARLIER, fitting_releases
from aggregator.enrolled import shares
from aggregator.enrolled.share_counts import get_share
from aggregator.enrolled.shares import KEPT, Share, releases_with
from aggregator.errors import RegistryError
from aggregator.registry.states import AccountRole, ShareState
from foundation.errors import StorageError

_MOST_ID = 10**15 - 1


class _OfShare(Action):
    """What is about one share, and has a reason."""

    def foretell(self, asked: Asked) -> Foretold:
        """In the words of the action, with the share as it stands now."""
        found = _share(asked)
        if found.state not in self.before:
            raise RegistryError(
                f"share {found.sequence} of {found.site}: expected one that is {' or '.join(self.before)}, it is {found.state}"
            )
        reason = asked.line("reason")
        size = f"Size: {found.size}; it is {found.state}"
        was = f" because of {found.reason_code}: {found.reason}" if found.reason_code else ""
        end = f"The audit log says that {asked.actor} did it, and why: {reason}."
        return Foretold(
            f"{self.verb} share {found.sequence} of {found.site}?",
            (size + was + ".", *self.told(asked, found), end),
            self.grave,
        )

    def carry_out(self, asked: Asked) -> Happened:
        """Settle it."""
        found, left = _share(asked), ""
        try:
            self.settle(asked, found, asked.line("reason"))
        except StorageError:
            # It is decided in one transaction and deleted afterwards; the server deletes every few minutes what is left.
            if _share(asked).state != self.after:
                raise
            left = f"; its {_kept(found)} could not be deleted yet, the server tries again"
        return Happened(f"share {found.sequence} of {found.site} is {self.after}{left}", f"/shares/{found.id}")

    before: tuple[ShareState, ...] = (ShareState.QUARANTINED,)
    after: ShareState
    verb: str
    grave = False

    @abstractmethod
    def told(self, asked: Asked, found: Share) -> tuple[str, ...]:
        """What it means."""

    @abstractmethod
    def settle(self, asked: Asked, found: Share, reason: str) -> None:
        """Do it."""


class AcceptShare(_OfShare):
    """Let a share in quarantine count."""

    name, role, after, verb = "share-accept", AccountRole.OPERATOR, ShareState.ACCEPTED, "Accept"

    def told(self, asked: Asked, found: Share) -> tuple[str, ...]:
        """See `_OfShare`."""
        shares.check_acceptable(asked.workspace, found)
        fits = found.release in fitting_releases(asked.workspace)
        counts = "It counts from now on: the next head is trained with it." if fits else f"It was {EARLIER}."
        return (f"{counts} Its hospital gets a signed receipt.",)

    def settle(self, asked: Asked, found: Share, reason: str) -> None:
        """See `_OfShare`."""
        shares.accept(asked.workspace, found, asked.actor, reason, first=True)


class RejectShare(_OfShare):
    """Refuse a share in quarantine, or one that can't be decided."""

    name, role, after, verb, grave = "share-reject", AccountRole.OPERATOR, ShareState.REJECTED, "Reject", True
    before = (ShareState.QUARANTINED, ShareState.RECEIVED)

    def told(self, asked: Asked, found: Share) -> tuple[str, ...]:
        """See `_OfShare`."""
        return (
            f"Its {_kept(found)} is deleted, which can't be taken back. Its hospital may use the number again, and gets a signed receipt.",
        )

    def settle(self, asked: Asked, found: Share, reason: str) -> None:
        """See `_OfShare`."""
        shares.reject(asked.workspace, found, asked.actor, reason, first=True)


class WithdrawShare(_OfShare):
    """Take a share out, for a hospital that can't ask by itself."""

    name, role, after, verb, grave = "share-withdraw", AccountRole.APPROVER, ShareState.WITHDRAWN, "Withdraw", True
    before = KEPT

    def told(self, asked: Asked, found: Share) -> tuple[str, ...]:
        """See `_OfShare`."""
        trained = [name for _, name in releases_with(asked.workspace, found)]
        out = (
            f"Releases {', '.join(trained)} were trained with it, and stay out."
            if trained
            else "No release was trained with it."
        )
        return ("Its payload is deleted, which can't be taken back; the next head is trained without it.", out)

    def settle(self, asked: Asked, found: Share, reason: str) -> None:
        """See `_OfShare`."""
        shares.withdraw(asked.workspace, found, asked.actor, reason, first=True)


def _kept(found: Share) -> str:
    """What the provider has of a share."""
    return "bundle" if found.state == ShareState.RECEIVED else "payload"


def _share(asked: Asked) -> Share:
    return get_share(asked.workspace, asked.number("share", 0, _MOST_ID))

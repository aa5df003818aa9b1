"""Errors of the hospital's program.

DeidError (foundation)
└── SiteError
    ├── AdaptationError     a head that was adapted in-house can't be used
    ├── ApprovalError       nobody has approved that this share leaves
    ├── ForkError           the provider shows other releases than it has shown before, or shows others elsewhere
    ├── LedgerError         the log of what left was changed
    ├── LocalRequestError   what a page or a program of this machine asked for can't be done; it is told over HTTP
    ├── PolicyError         a release or a share does not keep the hospital's own policy
    ├── RejectedError       the provider's receipt says that it does not take the share
    ├── ReviewError         the folder of a review is damaged, or does not belong to these notes
    ├── TransportError      the exchange with the provider's server failed
    │   ├── RefusedError    it understood, and said no
    │   └── UnreachableError  it did not answer, or is not the one that it should be
    └── WorkspaceError      the workspace is missing, or lacks what an earlier command makes
"""

from __future__ import annotations

from foundation.errors import DeidError


class SiteError(DeidError):
    """Root of the hospital's errors."""

    exit_code = 30


class WorkspaceError(SiteError):
    """The workspace is missing, or lacks what an earlier command makes."""

    exit_code = 30


class AdaptationError(SiteError):
    """A head that was adapted in-house can't be used: there is none, it has changed, or it is of another release."""

    exit_code = 39


class LedgerError(SiteError):
    """The log of what left was changed."""

    exit_code = 31


class ApprovalError(SiteError):
    """Nobody has approved that this share leaves."""

    exit_code = 32


class ForkError(SiteError):
    """The provider shows other releases than it has shown before, or shows others elsewhere."""

    exit_code = 36


class LocalRequestError(SiteError):
    """What a page or a program of this machine asked for can't be done.

    Args:
        message: one line, without text of a note.
        status: of the answer over HTTP.
    """

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class PolicyError(SiteError):
    """A release or a share does not keep the hospital's own policy, or the policy was changed by other hands."""

    exit_code = 35


class PromiseError(SiteError):
    """Labelled notes do not show that the release hides what it promises, and the command was asked to say so by its code."""

    exit_code = 37


class RejectedError(SiteError):
    """The provider's receipt says that it does not take the share."""

    exit_code = 34


class ReviewError(SiteError):
    """The folder of a review is damaged, or does not belong to these notes."""

    exit_code = 38


class TransportError(SiteError):
    """The exchange with the provider's server failed."""

    exit_code = 33


class RefusedError(TransportError):
    """The server's refusal.

    Args:
        message: one line.
        code: one of `protocols.http.messages.PROBLEMS`.
    """

    def __init__(self, message: str, *, code: str = "internal") -> None:
        super().__init__(message)
        self.code = code


class UnreachableError(TransportError):
    """No answer that can be used.

    Args:
        message: one line.
        passing: whether the same may succeed soon.
        retry_after_s: how long the server asked to wait.
        absent: whether there is no such host, or nothing listens there.
    """

    def __init__(self, message: str, *, passing: bool = False, retry_after_s: int = 0, absent: bool = False) -> None:
        super().__init__(message)
        self.absent = absent
        self.passing = passing
        self.retry_after_s = retry_after_s

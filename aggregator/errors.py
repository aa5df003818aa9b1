"""Errors of the provider's program.

DeidError (foundation)
├── StorageError (foundation)
│   └── DatabaseError       the registry's database is gone, locked, damaged or full
└── AggregatorError
    ├── WorkspaceError      the workspace is missing, or lacks what an earlier command makes
    ├── AuditError          the representer has not passed an audit
    ├── DropError           the head finds less than the last release, or than it would without a site
    ├── SandboxError        a payload led its check astray
    │   └── UnconfinedError no check can be started and confined on this machine
    │       └── KilledError     a check was killed by somebody else, as by a system without memory
    ├── RefusedError        a share was refused
    ├── AttentionError      something needs a person, and the command was asked to say so by its code
    ├── HookError           a program of the provider's own did not take what it was told
    ├── FederatedError      too few sites answered a round with what can be used
    ├── RequestError        a request to the server that is refused
    └── RegistryError       a site or share that is unknown, revoked or there already; an audit log with a broken link
        └── UndecidedError  what is asked about a share is kept, and done when it is decided
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from foundation.errors import DeidError, StorageError


class AggregatorError(DeidError):
    """Root of the provider's errors."""

    exit_code = 20


class WorkspaceError(AggregatorError):
    """The workspace is missing, or lacks what an earlier command makes."""

    exit_code = 20


class RegistryError(AggregatorError):
    """A site or share that is unknown, revoked or there already; an audit log with a broken link."""

    exit_code = 21


class UndecidedError(RegistryError):
    """What is asked about a share is kept, and done when it is decided."""


class AuditError(AggregatorError):
    """The representer has not passed an audit."""

    exit_code = 22


class DropError(AggregatorError):
    """A head finds less than the last release, than it would without one of the sites, or than the head that taught it, and nobody has approved that."""

    exit_code = 25


class SandboxError(AggregatorError):
    """A payload led its check astray."""

    exit_code = 23


class UnconfinedError(SandboxError):
    """No check can be started and confined on this machine."""


class KilledError(UnconfinedError):
    """A check was killed by somebody else, as by a system without memory."""


class RefusedError(AggregatorError):
    """A share was refused."""

    exit_code = 24


class AttentionError(AggregatorError):
    """Something needs a person, and the command was asked to say so by its code."""

    exit_code = 26


class HookError(AggregatorError):
    """A program of the provider's own did not take what it was told."""

    exit_code = 27


class FederatedError(AggregatorError):
    """Too few sites answered a round with what can be used."""

    exit_code = 28


class DatabaseError(StorageError):
    """The registry's database is gone, locked, damaged or full."""


class RequestError(AggregatorError):
    """A refusal that a site gets over HTTP.

    Args:
        message: one line, for the site.
        status: of HTTP.
        code: one of `protocols.http.messages.PROBLEMS`.
        retry_after_s: when to try again; None for not at all.
        headers: besides, which HTTP asks for.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        code: str = "malformed",
        retry_after_s: int | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.retry_after_s = retry_after_s
        self.headers = headers

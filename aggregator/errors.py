"""Errors of the provider's program.

DeidError (shared)
└── AggregatorError
    ├── WorkspaceError      the workspace is missing, or lacks what an earlier command makes
    ├── AuditError          the representer has not passed an audit
    └── RegistryError       a site or share that is unknown, revoked or there already
"""

from __future__ import annotations

from shared.errors import DeidError


class AggregatorError(DeidError):
    exit_code = 20


class WorkspaceError(AggregatorError):
    exit_code = 20


class RegistryError(AggregatorError):
    exit_code = 21


class AuditError(AggregatorError):
    exit_code = 22

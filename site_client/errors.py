"""Errors of the hospital's program.

DeidError (shared)
└── SiteError
    └── WorkspaceError      the workspace is missing, or lacks what an earlier command makes
"""

from __future__ import annotations

from shared.errors import DeidError


class SiteError(DeidError):
    exit_code = 30


class WorkspaceError(SiteError):
    exit_code = 30

"""Asks for the name of who approves that a share leaves, after showing what leaves; used by `site-client submit`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from site_client.workspace import Workspace

approver_option = click.option(
    "--approver", metavar="NAME", help="Who approves that the share leaves; recorded and signed."
)


def approve(workspace: Workspace, share: Path, approver: str | None) -> None:
    """Returns if the share may leave; at a terminal it is shown and the name is asked for.

    Raises:
        ApprovalError: nobody has approved exactly this share.
        ProtocolError: it is damaged, or not this site's.
    """
    from site_client.sharing import approval

    shown = None
    if approver is None and workspace.approval_required and at_terminal():
        shown = approval.signed_manifest(workspace, share)
        if not approval.is_settled(workspace, shown):
            click.echo("\n".join(inspection_of(workspace, share)), err=True)
            approver = click.prompt(
                "Name of who approves that this leaves (empty: nobody)", default="", show_default=False, err=True
            )
    approval.require(workspace, share, approver or None, shown)


def at_terminal() -> bool:
    """Whether a person sits there."""
    return sys.stdin.isatty()


def inspection_of(workspace: Workspace, share: Path) -> list[str]:
    """What is in a share, without its notes, for people."""
    from shared.pipeline.pipeline import load_scheme_file
    from site_client.sharing.inspect import inspect, inspection_lines

    return inspection_lines(inspect(workspace, share, load_scheme_file(workspace.release().folder), None))

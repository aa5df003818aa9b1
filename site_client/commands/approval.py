"""A person answers by name: for a share that leaves, after being shown what leaves, and for what goes on against the hospital's policy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from command_line.commands import say, warn
from site_client.errors import ApprovalError

if TYPE_CHECKING:
    from site_client.policy.enforcing import Acceptance
    from site_client.workspace import Workspace

approver_option = click.option(
    "--approver", metavar="NAME", help="Who approves that the share leaves; recorded and signed."
)
accept_option = click.option(
    "--accept-unprotected",
    "accepted",
    is_flag=True,
    help="Go on against this hospital's policy, on the responsibility of --approver; recorded and signed.",
)
answering_option = click.option(
    "--approver", metavar="NAME", help="Who takes the responsibility for --accept-unprotected; recorded and signed."
)


def approve(workspace: Workspace, share: Path, approver: str | None) -> None:
    """Returns if the share may leave; at a terminal it is shown and the name is asked for, elsewhere that its report is missing.

    Raises:
        ApprovalError: nobody has approved exactly this share.
        ProtocolError: it is damaged, or not this site's.
    """
    from site_client.policy.stored import load_policy
    from site_client.sharing import approval
    from site_client.sharing.drafts import report_path

    shown = approval.signed_manifest(workspace, share)
    if not approval.is_settled(workspace, shown):
        if approver is not None or not load_policy(workspace).approval:
            # What a report says was told when it was written, and is told by `inspect`.
            if not report_path(share).exists():
                # Imported where it is missing: it takes what trains, which is seconds.
                from site_client.sharing.encode_report import warnings

                for line in warnings(None):
                    warn(line)
        elif at_terminal():
            say("\n".join(inspection_of(workspace, share)), err=True)
            approver = click.prompt(
                "Name of who approves that this leaves (empty: nobody)", default="", show_default=False, err=True
            )
    approval.require(workspace, share, approver or None, shown)


def at_terminal() -> bool:
    """Whether a person sits there."""
    return sys.stdin.isatty()


def inspection_of(workspace: Workspace, share: Path) -> list[str]:
    """What is in a share, without its notes, for people."""
    from site_client.sharing.inspect import inspect, inspection_lines, scheme_of

    return inspection_lines(inspect(workspace, share, scheme_of(workspace, share), None))


def read_acceptance(accepted: bool, approver: str | None) -> Acceptance | None:
    """Who takes the responsibility; None where nobody was asked to.

    Raises:
        ApprovalError: nobody is named.
    """
    from site_client.policy.enforcing import Acceptance

    if not accepted:
        return None
    if not approver:
        raise ApprovalError("--accept-unprotected: expected --approver NAME beside it, got none; give the name")
    return Acceptance(approver)

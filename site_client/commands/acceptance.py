"""`--accept-unprotected`: a person takes the responsibility for what the hospital's policy does not allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from site_client.errors import ApprovalError

if TYPE_CHECKING:
    from site_client.policy.enforcing import Acceptance

accept_option = click.option(
    "--accept-unprotected",
    "accepted",
    is_flag=True,
    help="Go on against this hospital's policy, on the responsibility of --approver; recorded and signed.",
)
answering_option = click.option(
    "--approver", metavar="NAME", help="Who takes the responsibility for --accept-unprotected; recorded and signed."
)


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

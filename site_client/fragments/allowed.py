"""Whether this hospital lets text leave at all. The usual policy does not."""

from __future__ import annotations

from site_client.errors import PolicyError
from site_client.policy.site_policy import SitePolicy


def require_allowed(policy: SitePolicy) -> None:
    """
    Raises:
        PolicyError: the hospital's policy lets no text leave.
    """
    if not policy.text_fragments:
        raise PolicyError(
            "fragments are text, and this hospital's policy lets none leave; whoever may decide otherwise turns it on with "
            "`site-client policy set --text-fragments`"
        )

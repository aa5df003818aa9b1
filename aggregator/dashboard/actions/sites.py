"""A hospital is taken in, or nothing of it is taken any more; and an alarm about one is acknowledged."""

from __future__ import annotations

from aggregator.dashboard.actions.action import Action, Asked, Foretold, Happened
from aggregator.enrolled import alarms, sites
from aggregator.errors import RegistryError, RequestError
from aggregator.registry.states import AccountRole, KeyState
from protocols.fields import SITE, check_text
from protocols.keys.enrolment import MAX_REQUEST_BYTES


class EnrolSite(Action):
    """Take a hospital in, whose fingerprint was compared by telephone."""

    name, role = "site-enrol", AccountRole.APPROVER

    def foretell(self, asked: Asked) -> Foretold:
        """Who it is; never the fingerprint: whoever copied it from here would have compared nothing."""
        request = sites.look_at_request(asked.workspace, _request(asked), _fingerprint(asked))
        known = {one.name for one in sites.list_sites(asked.workspace)}
        again = (
            "It was here before, and comes back with another key."
            if request.site in known
            else "Its shares are taken from now on."
        )
        return Foretold(
            f"Take {request.site} in?",
            (
                f"Contact: {request.contact or 'none stated'}. Its key is of {request.created} and counts until {request.valid_until}.",
                "The fingerprint that you typed is that of its key. Go on only if the hospital read it to you itself.",
                again,
                f"The audit log says that {asked.actor} did it.",
            ),
        )

    def carry_out(self, asked: Asked) -> Happened:
        """Enrol it."""
        request = sites.enrol_request(asked.workspace, _request(asked), _fingerprint(asked), actor=asked.actor)
        return Happened(f"{request.site} is taken in", f"/sites/{request.site}")


class RevokeSite(Action):
    """Take nothing from a hospital any more."""

    name, role = "site-revoke", AccountRole.APPROVER

    def foretell(self, asked: Asked) -> Foretold:
        """What that means."""
        name, reason = _site(asked), asked.line("reason")
        found = next((one for one in sites.list_sites(asked.workspace) if one.name == name), None)
        if found is None:
            raise RegistryError(f"{name}: expected an enrolled site, found none")
        if found.revoked is not None:
            raise RegistryError(f"{name}: expected a site that is not revoked, it is: {found.revoked}")
        return Foretold(
            f"Revoke {name}?",
            (
                "Nothing of it is taken any more, and all its keys are revoked; it comes back only with a new one.",
                "Shares that were accepted stay in the pool.",
                f"The audit log says that {asked.actor} did it, and why: {reason}.",
            ),
            grave=True,
            # One that comes back meanwhile, or has another key, is not the one that it was said of.
            bound={"keys": " ".join(key.key_id for key in found.keys if key.state == KeyState.ACTIVE)},
        )

    def carry_out(self, asked: Asked) -> Happened:
        """Revoke it, if its keys are those that it was said of."""
        self.require_as_shown(asked, "key of the hospital")
        name = _site(asked)
        sites.revoke(asked.workspace, name, asked.line("reason"), actor=asked.actor, first=True)
        return Happened(f"{name} is revoked", f"/sites/{name}")


class AcknowledgeAlarm(Action):
    """Note that somebody has looked at an alarm."""

    name, role = "alarm-acknowledge", AccountRole.OPERATOR

    def foretell(self, asked: Asked) -> Foretold:
        """The alarm in its own words."""
        number = _alarm(asked)
        found = next((one for one in alarms.list_alarms(asked.workspace) if one.id == number), None)
        if found is None:
            raise RegistryError(f"alarm {number}: expected one that stands, found none")
        return Foretold(
            f"Acknowledge alarm {number}?",
            (
                f"{found.site}, {found.kind}: {found.detail}",
                f"It does not stand any more then; the audit log says that {asked.actor} has looked at it.",
            ),
        )

    def carry_out(self, asked: Asked) -> Happened:
        """Acknowledge it."""
        number = _alarm(asked)
        alarms.acknowledge(asked.workspace, number, asked.actor)
        return Happened(f"alarm {number} is acknowledged", "/influence")


def _request(asked: Asked) -> bytes:
    # A browser ends the lines of what is typed its own way; canonical JSON has none.
    data = asked.values.get("request", "").strip().encode()
    if not data or len(data) > MAX_REQUEST_BYTES:
        raise RequestError("request: expected what stands in the file of the hospital, got nothing or too much")
    return data


def _fingerprint(asked: Asked) -> str:
    return " ".join(asked.line("fingerprint").lower().split())


def _site(asked: Asked) -> str:
    name = asked.line("site")
    check_text(name, SITE, "site")
    return name


def _alarm(asked: Asked) -> int:
    return asked.number("alarm", 0, 10**9)

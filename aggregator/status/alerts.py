"""What needs a person, of all that stands: each with a name of its own, so that whoever is told twice can tell.

Nothing here reads anything or says anything of a note: kinds, names of hospitals, days and numbers, and the words of an alarm.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from aggregator.publishing.proposal import Verdict
from aggregator.registry.times import as_moment, as_text
from aggregator.status.standing import Hospital, Standing
from protocols.release.repository import PROVIDER

METADATA_DAYS = 14
"""What is signed anew every month or so is told of so many days before it ends: two of three people must meet for it."""
CERTIFICATE_DAYS = 14
"""What renews itself has done so by then."""
LEAST_FREE_BYTES = 2 << 30
"""A share needs three times its size while it is opened, and the server refuses what leaves less than 256 MiB."""
_UNFINISHED = datetime.timedelta(days=1)
_GIB = 1 << 30


@dataclass(frozen=True)
class Alert:
    """Something that needs a person.

    Args:
        id: the same as long as it is the same matter; made of what waits and not of how much, so that no other matter has it.
        kind: a word for programs.
        site: which hospital it is about; None for none.
        text: one line for people: what it is, and what to do.
    """

    id: str
    kind: str
    site: str | None
    text: str

    def as_json(self) -> dict[str, str | None]:
        """For programs."""
        return asdict(self)


def find_alerts(standing: Standing) -> tuple[Alert, ...]:
    """All that needs a person, alarms first."""
    return (
        *_alarms(standing),
        *_overlap_key(standing),
        *_head(standing),
        *_proposal(standing),
        *_shares(standing),
        *_round(standing),
        *_keys(standing),
        *_metadata(standing),
        *_certificate(standing),
        *_disk(standing),
        *_reserving(standing),
        *_guessed(standing),
    )


def _alarms(standing: Standing) -> Iterator[Alert]:
    for alarm in standing.alarms:
        said = f"alarm {alarm.id}, {alarm.kind}: {' '.join(alarm.detail.split())}; see `aggregator alarms list`"
        yield Alert(f"alarm:{alarm.id}", "alarm", alarm.site, said)


def _overlap_key(standing: Standing) -> Iterator[Alert]:
    if standing.lacks_overlap_key:
        said = "`keys/overlap.key` is missing, and no share is taken in without it; restore it from the copy of keys/"
        yield Alert("overlap-key", "overlap-key", None, said)


def _head(standing: Standing) -> Iterator[Alert]:
    if gone := standing.withdrawn_in_head:
        said = (
            f"the head in the workspace was trained with {', '.join(gone)}, withdrawn since; run `aggregator train-head`, or remove head/ "
            "and proposal.json"
        )
        yield Alert(f"head:{':'.join(gone)}", "head", None, said)


def _proposal(standing: Standing) -> Iterator[Alert]:
    if standing.unread_proposal:
        yield Alert("proposal:unread", "proposal", None, standing.unread_proposal)
    one = standing.proposal
    if one is not None and one.verdict is Verdict.REFUSED:
        said = f"head {one.name} was proposed on {as_moment(one.at).date()}, and the gates refuse it now: {'; '.join(one.says)}"
        yield Alert(f"proposal:{one.name}:{one.verdict}", "proposal", None, said)
    elif one is not None:
        found = "and finds less than before" if one.verdict is Verdict.DROP else "and passes the gates"
        said = f"head {one.name} was proposed on {as_moment(one.at).date()} {found}; to release it: `{one.command}`"
        yield Alert(f"proposal:{one.name}:{one.verdict}", "proposal", None, said)


def _shares(standing: Standing) -> Iterator[Alert]:
    for one in standing.hospitals:
        if one.quarantined:
            waiting = "1 share waits" if one.quarantined == 1 else f"{one.quarantined} shares wait"
            said = f"{waiting} for your decision; see `aggregator shares list --state quarantined`"
            yield _of(one, "quarantined", str(one.newest_quarantined), said)
        if one.refused:
            were = "1 share was" if one.refused == 1 else f"{one.refused} shares were"
            said = f"{were} refused since the last release; see `aggregator shares list --state rejected`"
            yield _of(one, "refused", f"{standing.release or 'none'}:{one.newest_refused}", said)
    for share in standing.unfinished:
        since = as_moment(share.received_at)
        if standing.at - since > _UNFINISHED:
            said = f"share {share.sequence} came on {since.date()} and is not decided; run `aggregator ingest --resume`"
            yield Alert(f"unfinished:{share.site}:{share.id}", "unfinished", share.site, said)


def _round(standing: Standing) -> Iterator[Alert]:
    one = standing.round
    if one is None:
        return
    if not one.ended and standing.at - one.begun > _UNFINISHED:
        said = (
            f"round {one.number} began on {one.begun.date()} and has not ended; unless it runs now, `aggregator refresh` with the "
            "same options goes on with it"
        )
        # Who removes `round/` begins with 1 again.
        yield Alert(f"round:{one.number}:{as_text(one.begun)}", "round", None, said)
    if one.unread:
        were = "1 file was" if one.unread == 1 else f"{one.unread} files were"
        said = f"{were} refused by round {one.number} as no share at all; `round/round.json` of the workspace says why"
        yield Alert(f"files:{one.number}:{as_text(one.begun)}:{one.which}", "files", None, said)


def _keys(standing: Standing) -> Iterator[Alert]:
    day = standing.at.date()
    for one in standing.hospitals:
        if one.site.revoked is not None:
            continue
        if one.keys_until is None:
            said = "none of its keys counts any more; ask it to run `site-client enrol --new-key`, and take it in by `aggregator site add`"
            yield _of(one, "keys-ended", "", said)
        elif (last := one.site.expires(day)) is not None:
            said = f"it can't send after {last}; ask it to run `site-client keys rotate`"
            yield _of(one, "keys-end", str(last), said)


def _metadata(standing: Standing) -> Iterator[Alert]:
    # Only what ends first: one command renews all that the offline keys sign, another what the provider states.
    name, last = standing.next_expiry
    if (last - standing.at.date()).days > METADATA_DAYS:
        return
    end = "ended" if last < standing.at.date() else "ends"
    advice = (
        "aggregator announce"
        if name == PROVIDER
        else "aggregator renew` with the offline keys; see `aggregator keys list"
    )
    said = f"`{name}` of the releases {end} on {last}, and hospitals pull nothing after it; run `{advice}`"
    yield Alert(f"releases-end:{name}:{last}", "releases-end", None, said)


def _certificate(standing: Standing) -> Iterator[Alert]:
    one = standing.certificate
    if one is None:
        return
    # Of one that is made for days alone, the last third.
    if (one.ends - standing.at.date()).days > min(CERTIFICATE_DAYS, (one.ends - one.begins).days // 3):
        return
    end = "ended" if one.ends < standing.at.date() else "ends"
    said = (
        f"the certificate that the server has {end} on {one.ends}, and no hospital reaches it after that; renew it, then "
        "`systemctl reload deid-serve`, or send SIGHUP to the server"
    )
    yield Alert(f"certificate-ends:{one.ends}", "certificate-ends", None, said)


def _disk(standing: Standing) -> Iterator[Alert]:
    if standing.free_bytes < LEAST_FREE_BYTES:
        said = f"{standing.free_bytes / _GIB:.1f} GiB are free where the workspace lies; make room before shares are refused"
        yield Alert("disk", "disk", None, said)


def _reserving(standing: Standing) -> Iterator[Alert]:
    for site, one in sorted(standing.reserving.items()):
        said = (
            f"its uploads that have begun reserve {one.bytes / _GIB:.1f} GiB, more than its part of the free disk; ask it to send or to end "
            "them, or make room"
        )
        yield Alert(f"reserved:{site}:{one.newest}", "reserved", site, said)


def _guessed(standing: Standing) -> Iterator[Alert]:
    for one in standing.guessed:
        said = (
            f"on {one.day} {one.tries} or more wrong passwords were tried within an hour for the account {one.account} of the dashboard; "
            f"ask its owner, and unless it was they give it another by `aggregator account password {one.account}`"
        )
        yield Alert(f"wrong-passwords:{one.account}:{one.day}", "wrong-passwords", None, said)


def _of(hospital: Hospital, kind: str, matter: str, said: str) -> Alert:
    name = hospital.site.name
    return Alert(":".join(filter(None, (kind, name, matter))), kind, name, said)

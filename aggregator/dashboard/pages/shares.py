"""The shares, by what became of them and why; and one of them with what its site signed."""

from __future__ import annotations

import json

from aggregator.dashboard.blocks import ROWS, Block, Cell, Choices, Facts, Field, Form, Page, Table, Words, pager
from aggregator.dashboard.pages.marks import moment, share_state
from aggregator.dashboard.pages.reading import EARLIER, Reading, address, fitting_releases
from aggregator.enrolled.share_counts import count_shares, get_share, shares_page
from aggregator.enrolled.shares import KEPT, Share, read_manifest, releases_with
from aggregator.errors import RegistryError, RequestError
from aggregator.registry.states import AccountRole, ShareState

_REASON = Field("reason", "Why", hint="kept in the audit log and, for the hospital, in its receipt; no text of a note")


def shares(reading: Reading) -> Page:
    """All of them, or those of a state or a site, a part at a time, the newest first."""
    state, site = reading.query.get("state", ""), reading.query.get("site", "")
    if state and state not in [*ShareState]:
        raise RequestError(f"state: expected one of {', '.join(ShareState)}, got something else", status=404)
    states = (ShareState(state),) if state else ()
    total, found = shares_page(reading.workspace, states, site or None, (reading.page - 1) * ROWS, ROWS)
    counted = count_shares(reading.workspace)
    sums = {one: sum(row.get(one, 0) for row in counted.values()) for one in ShareState}
    if site:
        sums = {one: counted.get(site, {}).get(one, 0) for one in ShareState}
    links = [(f"all, {sum(sums.values()):,}", address("/shares", site=site), not state)]
    links += [(f"{one}, {sums[one]:,}", address("/shares", state=one, site=site), one == state) for one in ShareState]
    head = ("hospital", "share", "came", "state", "why", "sentences", "tokens")
    where = address("/shares", state=state, site=site)
    table = Table(
        f"Shares of {site}" if site else "Shares",
        head,
        [_row(one) for one in found],
        pager(reading.page, len(found), total, where),
        "no such shares",
        "Why is what the check or a person said. Only accepted shares are in the pool.",
    )
    return Page("Shares", [Choices("By state", links), table])


def share(reading: Reading) -> Page:
    """One of them."""
    found = get_share(reading.workspace, reading.number("share"))
    trained = [name for _, name in releases_with(reading.workspace, found)]
    pairs: list[tuple[str, Cell | str]] = [
        ("hospital", Cell(found.site, f"/sites/{found.site}")),
        ("state", share_state(found.state)),
        ("why", _why(found) or "nothing is said"),
        ("came", moment(found.received_at)),
        ("decided", moment(found.decided_at) or "not yet"),
        ("size", found.size),
        ("has trained", ", ".join(trained) or "no release"),
        ("bundle", Cell(found.bundle, code=True)),
        ("payload", Cell(found.digest or "not opened", code=found.digest is not None)),
    ]
    fits = found.release in fitting_releases(reading.workspace)
    if found.state in KEPT and not fits:
        pairs.append(("representer", f"it was {EARLIER}"))
    blocks: list[Block] = [Facts("", pairs), *_forms(found, fits)]
    try:
        signed = read_manifest(reading.workspace, found).to_json()
        blocks.append(Words("What its hospital signed", code=json.dumps(signed, indent=1, sort_keys=True)))
    except RegistryError:
        unread = "not opened yet" if found.state == ShareState.RECEIVED else "refused before that could be read"
        blocks.append(Words("What its hospital signed", (f"It was {unread}.",)))
    return Page(f"Share {found.sequence} of {found.site}", blocks, up=("Shares", f"/shares?site={found.site}"))


def _forms(found: Share, fits: bool) -> list[Block]:
    hidden = Field("share", kind="hidden", value=str(found.id))
    forms: list[Block] = []
    if found.state == ShareState.QUARANTINED:
        forms = [
            Form(
                "Accept it",
                "share-accept",
                (hidden, _REASON),
                "Accept",
                AccountRole.OPERATOR,
                "It counts from then on." if fits else f"It was {EARLIER}.",
            ),
            _rejection(hidden, "Its payload is deleted; the hospital may use the number again."),
        ]
    if found.state == ShareState.RECEIVED:
        given_up = (
            "For one that can't be decided, such as one whose bundle is lost; what waits for its check needs nobody. "
            "What is left of it is deleted; the hospital may use the number again."
        )
        forms = [_rejection(hidden, given_up)]
    if found.state in KEPT:
        forms.append(
            Form(
                "Withdraw it for its hospital",
                "share-withdraw",
                (hidden, _REASON),
                "Withdraw",
                AccountRole.APPROVER,
                "For a hospital that can't ask by itself. Its payload is deleted.",
                grave=True,
            )
        )
    return forms


def _rejection(hidden: Field, said: str) -> Form:
    return Form("Reject it", "share-reject", (hidden, _REASON), "Reject", AccountRole.OPERATOR, said, grave=True)


def _row(one: Share) -> tuple[Cell | str, ...]:
    return (
        Cell(one.site, f"/sites/{one.site}"),
        Cell(f"share {one.sequence}", f"/shares/{one.id}"),
        moment(one.received_at),
        share_state(one.state),
        _why(one),
        f"{one.sentences:,}" if one.sentences is not None else "",
        f"{one.tokens:,}" if one.tokens is not None else "",
    )


def _why(one: Share) -> str:
    return ": ".join(filter(None, (one.reason_code, one.reason)))

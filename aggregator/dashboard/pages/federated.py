"""The rounds in which hospitals trained the head together, by the record of the head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aggregator.dashboard.blocks import Block, Cell, Facts, Mark, Page, Plot, Table, Words, part
from aggregator.dashboard.pages.reading import Reading
from aggregator.publishing.head_record import OWN_NOTES
from shared.federated.screening import Refusal
from shared.report import light

_LINES, _NAMED = 7, 8
"""More sites than this are drawn without their names, and the farthest alone."""


def federated(reading: Reading) -> Page:
    """The last training together."""
    record: Mapping[str, Any] = reading.head_record().get("federated") or {}
    rounds: Sequence[Mapping[str, Any]] = record.get("rounds") or []
    if not rounds:
        said = "The head in the workspace was trained from shares, in one place. `aggregator federate` trains together with hospitals."
        return Page("Federated rounds", [Words("", (said,))])
    plan = record.get("plan") or {}
    sites = sorted({site for one in rounds for site in one["norms"]} - {OWN_NOTES})
    own = sum(OWN_NOTES in one["norms"] for one in rounds)
    pairs = [("strategy", str(plan.get("strategy", ""))), ("passes in a round", str(plan.get("local_epochs", "")))]
    pairs += [("hospitals", str(len(sites))), ("rounds", str(len(rounds)))]
    # Their weights never left this machine: they are no hospital that could be called.
    pairs += [("your own notes", f"took part in {own} of {len(rounds)} rounds")]
    blocks: list[Block] = [
        Facts("", pairs),
        *([_norms(rounds, sites)] if sites else []),
        _table(rounds, sites, reading),
    ]
    return Page("Federated rounds", blocks, _answer(rounds, sites))


def _answer(rounds: Sequence[Mapping[str, Any]], sites: Sequence[str]) -> str:
    told = {site for one in rounds for site in one["refused"]} - {OWN_NOTES}
    # What nobody enrolled has signed has no hospital's name, but that of what brought it, which no hospital can have.
    nodes = {site for site in told if site.startswith("(")}
    missed = {site for one in rounds for site in set(sites) - set(one["norms"])} | (told - nodes)
    brought = f" Nodes that brought no hospital's result: {_first(sorted(nodes))}." if nodes else ""
    took_part = f"{len(sites)} hospitals took part in"
    if missed:
        return f"{took_part} {len(rounds)} rounds; missing or refused in some: {_first(sorted(missed))}.{brought}"
    return f"{took_part} all {len(rounds)} rounds{'' if nodes else ', and nobody was refused'}.{brought}"


def _norms(rounds: Sequence[Mapping[str, Any]], sites: Sequence[str]) -> Plot:
    farthest = {site: max(one["norms"].get(site, 0.0) for one in rounds) for site in sites}
    drawn = sorted(sites, key=lambda site: (-farthest[site], site))[:_LINES]
    series = {
        site: [(float(one["number"]), float(one["norms"][site])) for one in rounds if site in one["norms"]]
        for site in drawn
    }
    svg = light.lines(
        "How far the weights of each hospital went, by round",
        series,
        light.Axis("round"),
        light.Axis("norm of the update", low=0.0),
    )
    rows = [
        (Cell(site, f"/sites/{site}"), f"{farthest[site]:.3g}", str(sum(site in one["norms"] for one in rounds)))
        for site in drawn
    ]
    more = f" Of {len(sites)} hospitals the {_LINES} that went farthest." if len(sites) > _LINES else ""
    said = f"One that goes much farther than the others every time is worth a call.{more}"
    return Plot(
        "How far each hospital's weights went",
        svg,
        Table("By hospital", ("hospital", "farthest", "rounds"), rows),
        said,
    )


def _table(rounds: Sequence[Mapping[str, Any]], sites: Sequence[str], reading: Reading) -> Table:
    shown, pager = part(rounds, reading.page, "/federated")
    rows = []
    for one in rounds[shown]:
        # The record has both under one name: what came and was refused, and why nothing came.
        told = {site: f"{site}: {why}" for site, why in sorted(one["refused"].items())}
        refused = [said for site, said in told.items() if _is_refusal(str(one["refused"][site]))]
        silent = [said for said in told.values() if said not in refused]
        missing = sorted(set(sites) - set(one["norms"]) - set(told))
        rows.append(
            (
                str(one["number"]),
                str(len(one["norms"].keys() - {OWN_NOTES})),
                Cell(_first(refused), mark=Mark.BAD) if refused else "nobody",
                _first([*silent, *missing]) or "nobody",
                f"{one['bytes_each'] / 1e6:.1f}",
            )
        )
    return Table("Rounds", ("round", "took part", "refused", "missing", "MB each"), rows, pager)


def _is_refusal(why: str) -> bool:
    """Whether a result came, and was refused; else the hospital was not reached, or had none."""
    return why in [*Refusal] or why.startswith(("refused: ", "not signed "))


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"

"""The rounds in which hospitals trained the head together, by the record of the head."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aggregator.dashboard.blocks import Block, Cell, Facts, Mark, Page, Plot, Table, Words, part
from aggregator.dashboard.pages.reading import Reading
from aggregator.publishing.head_record import OWN_NOTES
from shared.federated.aggregation import lower_median
from shared.federated.local import LocalRecipe
from shared.federated.private import STEPS_IN_A_PASS
from shared.federated.screening import Limits, Refusal
from shared.report import light

_LINES, _NAMED = 7, 8
"""More sites than this are drawn without their names, and the farthest alone."""


def federated(reading: Reading) -> Page:
    """The last training together."""
    head = reading.head_record()
    record: Mapping[str, Any] = head.get("federated") or {}
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
        *([_lengths(rounds, sites, _recipe(head), _limits(plan))] if sites else []),
        _table(rounds, sites, reading),
    ]
    return Page("Federated rounds", blocks, _answer(rounds, sites))


def _answer(rounds: Sequence[Mapping[str, Any]], sites: Sequence[str]) -> str:
    told = {site for one in rounds for site in one["refused"]} - {OWN_NOTES}
    # What nobody enrolled has signed has no hospital's name, but that of what brought it, which no hospital can have.
    nodes = {site for site in told if site.startswith("(")}
    missed = {site for one in rounds for site in set(sites) - set(one["norms"])} | (told - nodes)
    brought = f" Nodes that brought no hospital's result: {_first(sorted(nodes))}." if nodes else ""
    far = {"your own notes" if site == OWN_NOTES else site for one in rounds for site in one.get("clipped", ())}
    clipped = f"; clipped in some: {_first(sorted(far))}" if far else ""
    took_part = f"{len(sites)} hospitals took part in"
    if missed:
        return (
            f"{took_part} {len(rounds)} rounds; missing or refused in some: {_first(sorted(missed))}{clipped}.{brought}"
        )
    return f"{took_part} all {len(rounds)} rounds{'' if nodes else ', and nobody was refused'}{clipped}.{brought}"


def _lengths(rounds: Sequence[Mapping[str, Any]], sites: Sequence[str], recipe: LocalRecipe, limits: Limits) -> Plot:
    found = [_over_steps(one, recipe, limits) for one in rounds]
    farthest = {site: max(one.get(site, 0.0) for one in found) for site in sites}
    sentences = {site: int(count) for one in rounds for site, count in one["sentences"].items()}
    drawn = sorted(sites, key=lambda site: (-farthest[site], site))[:_LINES]
    series = {
        site: [
            (float(one["number"]), lengths[site]) for one, lengths in zip(rounds, found, strict=True) if site in lengths
        ]
        for site in drawn
    }
    svg = light.lines(
        "How far the weights of each hospital went, over the root of its steps, by round",
        series,
        light.Axis("round"),
        light.Axis("norm of the update, over the root of its steps", low=0.0),
    )
    rows = [
        (
            Cell(site, f"/sites/{site}"),
            f"{farthest[site]:.3g}",
            f"{sentences[site]:,}",
            str(sum(site in one for one in found)),
        )
        for site in drawn
    ]
    more = f" Of {len(sites)} hospitals the {_LINES} that went farthest." if len(sites) > _LINES else ""
    head = ("hospital", "farthest, over the root of its steps", "sentences, last round", "rounds")
    return Plot(
        "How far each hospital's weights went", svg, Table("By hospital", head, rows), _how_to_read(limits) + more
    )


def _how_to_read(limits: Limits) -> str:
    return (
        "Over the root of its steps, as the screen judges: a hospital of many sentences takes more steps in a round, and goes farther. One that goes much "
        f"farther than the others every time is worth a call; what goes more than {limits.times_median:g} times as far as the median is clipped to that, as one of very many "
        "sentences among small ones is. The steps are "
        f"those of a round without noise: of one with noise the screen counts {STEPS_IN_A_PASS} a pass, and the record does not say which had any."
    )


def _over_steps(one: Mapping[str, Any], recipe: LocalRecipe, limits: Limits) -> dict[str, float]:
    """How far each site went in a round, your own notes too, over the root of the steps that the screen counts; see `shared.federated.screening`."""
    sentences: Mapping[str, int] = {site: one["sentences"][site] for site in one["norms"]}
    # What a site says of its sentences is not believed beyond so many median sites.
    most = limits.times_sentences * lower_median(np.array(list(sentences.values()), np.float64))
    return {
        site: norm / math.sqrt(recipe.steps(math.ceil(min(sentences[site], most))))
        for site, norm in one["norms"].items()
    }


def _recipe(head: Mapping[str, Any]) -> LocalRecipe:
    """What each site was asked to do in a round, as far as it decides its steps; the defaults where a record does not say it."""
    plan, usual = head["federated"].get("plan") or {}, LocalRecipe()
    batch = int((head.get("recipe") or {}).get("batch", usual.batch))
    return LocalRecipe(int(plan.get("local_epochs", usual.epochs)), min(batch, int(plan.get("batch", usual.batch))))


def _limits(plan: Mapping[str, Any]) -> Limits:
    told, usual = plan.get("limits") or {}, Limits()
    return Limits(
        float(told.get("times_median", usual.times_median)), float(told.get("times_sentences", usual.times_sentences))
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
                _first(_clipped(one)) or "nobody",
                Cell(_first(refused), mark=Mark.BAD) if refused else "nobody",
                _first([*silent, *missing]) or "nobody",
                f"{one['bytes_each'] / 1e6:.1f}",
            )
        )
    return Table("Rounds", ("round", "took part", "clipped", "refused", "missing", "MB each"), rows, pager)


def _clipped(one: Mapping[str, Any]) -> list[str]:
    """Who went too far in a round, and how much of it counted."""
    named = {"your own notes" if site == OWN_NOTES else site: site for site in one.get("clipped", ())}
    return [f"{name}: {one['norms'][site]:.3g} to {one['clipped'][site]:.3g}" for name, site in sorted(named.items())]


def _is_refusal(why: str) -> bool:
    """Whether a result came, and was refused; else the hospital was not reached, or had none."""
    return why in [*Refusal] or why.startswith(("refused: ", "not signed "))


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"

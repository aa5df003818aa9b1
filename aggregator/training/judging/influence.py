"""What each site does to all others: the head with it against the head without it, before a release carries it.

A site that poisons the pool is scored well on its own labels. What it does shows at the others: so each site is left out in turn,
and the two heads are compared on the held-out sentences of every OTHER site and of the provider. `full` trains as the head was
trained, once for each site; `fast` trains small heads for some hundred steps, whose cost does not grow with the pool beyond one
look at each sentence. Both train with the defence of the head: what it takes away does no harm. What a site says of single rows is
compared besides, ahead of any defence.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from aggregator.enrolled.alarms import raise_alarm
from aggregator.publishing.quality_gate import FALSE_TOLERANCE, TOLERANCE, describe_measure
from aggregator.registry.states import AlarmKind
from aggregator.training.codebook_rows import count_rows
from aggregator.training.defences.defence import Defence, PoolMaterial
from aggregator.training.judging.recall import RecallChange, compare_recall
from aggregator.training.judging.row_findings import RowFindings, describe_contradictions, find_contradictions
from aggregator.training.pool import PUBLIC
from aggregator.workspace import Workspace
from shared.labels import LabelScheme
from shared.progress import Begin, in_no_phase
from shared.taggers.tagger import Tagger

ALL_SITES = "influence, all sites"


def without(site: str) -> str:
    """Name of the phase in which a site is left out."""
    return f"influence, without {site}"


class InfluenceMode(StrEnum):
    """How the influence of sites is measured."""

    NONE = "none"
    FAST = "fast"
    FULL = "full"


@dataclass(frozen=True)
class SiteInfluence:
    """What a site does to the others.

    Args:
        site: its name.
        changes: recall with it against recall without it, by category, and false alarms; empty where there are no others.
    """

    site: str
    changes: tuple[RecallChange, ...]

    @property
    def harms(self) -> tuple[RecallChange, ...]:
        """Categories of which the others have less with it, for sure, and false alarms of which they have more."""
        return tuple(one for one in self.changes if one.is_worse)

    def as_json(self) -> dict[str, object]:
        """All figures, for the record."""
        return {"site": self.site, "changes": [one.as_json() for one in self.changes]}


@dataclass(frozen=True)
class Influence:
    """What all sites do to one another.

    Args:
        mode: how it was measured: an `InfluenceMode`, or in another way.
        sites: each left out in turn.
        rows: what each says against the others; empty where equal rows are no equal words.
    """

    mode: str
    sites: tuple[SiteInfluence, ...]
    rows: tuple[RowFindings, ...]

    @property
    def standing_out(self) -> dict[str, list[str]]:
        """The sites that a person should look at, and why, in words; no text of a note."""
        told = {site: list(lines) for site, lines in describe_contradictions(self.rows).items()}
        for one in self.sites:
            for harm in one.harms:
                told.setdefault(one.site, []).append(
                    f"{describe_measure(harm.category)} at the others is {harm.recall:.3f} with it and {harm.before:.3f} without it"
                )
        return told

    def as_json(self) -> dict[str, object]:
        """The record."""
        return {
            "mode": str(self.mode),
            "tolerance": TOLERANCE,
            "tolerance_of_false_alarms": FALSE_TOLERANCE,
            "sites": [one.as_json() for one in self.sites],
            "rows": [one.as_json() for one in self.rows],
            "standing_out": self.standing_out,
        }


def measure_influence(
    material: PoolMaterial,
    defence: Defence,
    scheme: LabelScheme,
    mode: InfluenceMode,
    head: Tagger | None = None,
    begin: Begin = in_no_phase,
) -> Influence:
    """Leave each site out in turn.

    Args:
        material: of the head, a tenth held out.
        defence: of the head.
        scheme: names the categories.
        mode: FAST or FULL.
        head: trained on all of it, so that a full measurement need not train it again.
        begin: is told of every head that is trained, by ALL_SITES or `without`.
    """
    used = material.hasten() if mode is InfluenceMode.FAST else material
    sites = [site for site in material.payloads if site != PUBLIC]
    found: list[SiteInfluence] = []
    if len(material.payloads) > 1:
        whole = head if head is not None and mode is InfluenceMode.FULL else None
        if whole is None:
            whole = defence.train(used.in_phase(begin(ALL_SITES), "all-sites")).head
        for site in sites:
            asked = used.in_phase(begin(without(site)), f"without-{site}")
            found.append(_leave_out(asked, defence, scheme, whole, site, len(sites)))
    rows = find_contradictions(count_rows(material.payloads)) if material.token_local and len(sites) > 1 else ()
    return Influence(mode, tuple(found), rows)


def _leave_out(
    material: PoolMaterial, defence: Defence, scheme: LabelScheme, whole: Tagger, site: str, comparisons: int
) -> SiteInfluence:
    others = material.without(site)
    without = defence.train(others).head
    return SiteInfluence(
        site,
        compare_recall(
            whole, without, others.held_out_pool(others.files) if others.files else None, scheme, comparisons
        ),
    )


def raise_alarms(workspace: Workspace, influence: Influence) -> None:
    """An alarm for each site that stands out, for a person to look at before a release."""
    with workspace.registry().transaction() as session:
        for site, lines in influence.standing_out.items():
            for line in lines:
                raise_alarm(session, site, AlarmKind.INFLUENCE, line)

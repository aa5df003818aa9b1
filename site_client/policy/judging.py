"""Holds what was found of a release against the hospital's policy. No file is read here, and nothing is loaded."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from shared.constructions.promised import Recomputed, RecomputedOnNotes
from site_client.policy.facts import AuditFacts, ReleaseFacts, name_words
from site_client.policy.site_policy import DemandedAudit, SitePolicy

# Clocks of two houses are not the same.
_AHEAD = datetime.timedelta(days=1)
# Of an honest release about a fifth of such words, at the least, are common in notes of other hospitals, from 20 notes on (docs/adr/0024).
_LEAST_USUAL = 10
_LEAST_ASKED = 6
# Of so many labelled words one becomes another, unless none can.
_TELLING = 20


class Demand(StrEnum):
    """What a policy asks for, as the ledger and --json name what was broken."""

    CONSTRUCTION = "construction"
    CLUSTER = "cluster size"
    NARROWING = "narrowing"
    CASING = "casing"
    NOISE = "noise"
    SIZE = "size"
    AGE = "age"
    AUDIT = "audit"
    INTERFERENCE = "interference"
    BANK = "bank"
    ADVANTAGE = "advantage"


@dataclass(frozen=True)
class Breach:
    """What a release does not keep.

    Args:
        demand: which.
        said: what was expected and what came, in words; no text of a note.
        named: words of the release that it is about. Which they are tells of the notes, so a person in the house reads them, and no record.
    """

    demand: Demand
    said: str
    named: tuple[str, ...] = field(default=(), repr=False)

    @property
    def in_house(self) -> str:
        """What is said, with the words: for the screen of a person in the house."""
        return f"{self.said} (not common there: {name_words(self.named)})" if self.named else self.said


def breaches(policy: SitePolicy, facts: ReleaseFacts, today: datetime.date) -> list[Breach]:
    """Everything about a release that the policy does not allow.

    Args:
        policy: the hospital's.
        facts: what the hospital found of the release.
        today: when.
    """
    return [*_of_files(policy, facts.figures), *_of_age(policy, facts, today), *_of_audit(policy, facts, today)]


def breaches_on_notes(
    policy: SitePolicy, found: RecomputedOnNotes, held: tuple[float, float] | None = None
) -> list[Breach]:
    """Everything about a sample of the hospital's own notes that the policy does not allow.

    Args:
        policy: the hospital's.
        found: what the sample shows.
        held: advantage and share of pairs that this share is held to by more noise; None where it is not.
    """
    return [*_of_notes(policy, found), *_of_advantage(policy, found, held)]


def breach_of_size(policy: SitePolicy, size: int) -> list[Breach]:
    """Whether a release is larger than allowed, which is known before anything of it is fetched."""
    if size <= policy.max_bytes:
        return []
    return [Breach(Demand.SIZE, f"at most {policy.max_bytes} bytes, the release has {size}")]


def breach_of_bank(policy: SitePolicy, spans: int) -> list[Breach]:
    """Whether more surrogates of the release stand in the hospital's own notes than allowed."""
    if spans <= policy.most_bank_spans:
        return []
    return [
        Breach(
            Demand.BANK, f"at most {policy.most_bank_spans} surrogates that stand in your own notes, there are {spans}"
        )
    ]


def enabled_procedures(policy: SitePolicy, figures: Recomputed) -> tuple[str, ...]:
    """The procedures by which the hospital takes such a construction; several can make the same kind of files."""
    return tuple(name for name in figures.procedures if name in policy.constructions)


def _of_files(policy: SitePolicy, figures: Recomputed) -> Iterator[Breach]:
    if not enabled_procedures(policy, figures):
        made = ", ".join(figures.procedures) or "none that is known"
        yield Breach(
            Demand.CONSTRUCTION,
            f"a construction among {', '.join(policy.constructions) or 'none'}, its files are of {made}",
        )
    if figures.cluster_size is not None and figures.cluster_size < policy.least_cluster:
        unlisted = figures.unlisted_public_words
        why = f" ({unlisted} words that it calls public are on no list)" if unlisted else ""
        yield Breach(
            Demand.CLUSTER,
            f"at least {policy.least_cluster} words that are shown alike, some are only {figures.cluster_size}{why}",
        )
    yield from _of_narrowing(policy, figures)
    if policy.hide_casing and not figures.hides_casing:
        yield Breach(Demand.CASING, "that casing of PHI is hidden, it travels")
    if figures.mu is not None and not _keeps(figures.mu, policy.max_mu):
        most = "a finite mu" if policy.max_mu is None else f"noise of mu {policy.max_mu:g} at most"
        yield Breach(Demand.NOISE, f"{most} for one token, it is {figures.mu:.4g}")
    yield from breach_of_size(policy, figures.bytes)


def _of_narrowing(policy: SitePolicy, figures: Recomputed) -> Iterator[Breach]:
    if policy.most_common_words is None:
        return
    found = figures.narrowed
    if found is None:
        # Noise alone hides all words alike, or none.
        if figures.mu is not None:
            return
        yield Breach(
            Demand.NARROWING,
            f"at most {policy.most_common_words} words that can be read far from labelled PHI, all public words can",
        )
    elif found.common_words > policy.most_common_words or found.window > policy.exact_window:
        yield Breach(
            Demand.NARROWING,
            f"at most {policy.most_common_words} words that can be read farther than {policy.exact_window} tokens from labelled PHI, it "
            f"shows {found.common_words} farther than {found.window}",
        )
    elif found.smallest_group is not None and found.smallest_group < policy.least_cluster:
        yield Breach(
            Demand.NARROWING,
            f"groups of at least {policy.least_cluster} public words far from labelled PHI, some are of {found.smallest_group}",
        )


def _keeps(value: float, most: float | None) -> bool:
    # Written so that a NaN keeps nothing.
    return math.isfinite(value) and (most is None or value <= most)


def _of_age(policy: SitePolicy, facts: ReleaseFacts, today: datetime.date) -> Iterator[Breach]:
    yield from _of_day("a release", facts.created, policy, today)


def _of_day(what: str, day: datetime.date, policy: SitePolicy, today: datetime.date) -> Iterator[Breach]:
    if _young(day, policy, today):
        return
    if day > today:
        # No reason to take anything upon oneself: most likely the clock of this machine is wrong.
        said = f"{what} of today or before, it is of {day}, a day to come by the clock of this machine, which says {today}: set the clock first"
    else:
        said = f"{what} of the last {policy.max_age_days} days, it is of {day}"
    yield Breach(Demand.AGE, said)


def _young(day: datetime.date, policy: SitePolicy, today: datetime.date) -> bool:
    return datetime.timedelta(0) - _AHEAD <= today - day <= datetime.timedelta(days=policy.max_age_days)


def _of_audit(policy: SitePolicy, facts: ReleaseFacts, today: datetime.date) -> Iterator[Breach]:
    audit = facts.audit
    if audit is None:
        yield Breach(Demand.AUDIT, "an audit in the release, there is none that can be read")
        return
    if not audit.ours:
        yield Breach(Demand.AUDIT, "an audit of this representer, it is of another")
    if audit.preset not in _enough(policy):
        yield Breach(Demand.AUDIT, f"a {policy.audit} audit, it is one of kind {audit.preset}")
    if audit.made is None:
        yield Breach(Demand.AUDIT, "an audit that says when it was made, it does not")
    else:
        yield from _of_day("an audit", audit.made, policy, today)
    yield from _of_findings(policy, facts.figures, audit)


def _enough(policy: SitePolicy) -> tuple[str, ...]:
    return ("full",) if policy.audit is DemandedAudit.FULL else ("full", "quick")


def _of_findings(policy: SitePolicy, figures: Recomputed, audit: AuditFacts) -> Iterator[Breach]:
    accepted = set(policy.accept_failed_audit).intersection(enabled_procedures(policy, figures))
    if audit.failed and not accepted:
        more = f" and {len(audit.failed) - 1} more" * (len(audit.failed) > 1)
        yield Breach(
            Demand.AUDIT,
            f"an audit that keeps the limits of this program, {len(audit.failed)} of {audit.limits} are broken "
            f"({audit.failed[0]}{more})",
        )


def _of_notes(policy: SitePolicy, found: RecomputedOnNotes) -> Iterator[Breach]:
    if found.interfering:
        yield Breach(
            Demand.INTERFERENCE,
            f"that a share does not hang on labelled PHI, {found.interfering} of {found.compared} sentences of your notes in which it "
            "was changed give other bytes",
        )
    # A policy that takes clusters of one word does not ask that any is hidden among others.
    elif policy.least_cluster > 1 and found.labelled >= _TELLING and not found.changed:
        yield Breach(
            Demand.INTERFERENCE,
            f"that labelled PHI is hidden among other words, none of {found.labelled} labelled words of your notes has another to stand "
            "for it, so that nothing could be tried",
        )
    yield from breach_of_bank(policy, found.bank_spans_in_notes)
    usual = found.asked - len(found.uncommon)
    if policy.most_common_words is not None and found.asked >= _LEAST_ASKED and usual * _LEAST_USUAL < found.asked:
        yield Breach(
            Demand.NARROWING,
            f"words that are readable far from labelled PHI to be such as your notes are full of, {usual} of {found.asked} are among the "
            "commonest of your notes",
            found.uncommon,
        )


def _of_advantage(policy: SitePolicy, found: RecomputedOnNotes, held: tuple[float, float] | None) -> Iterator[Breach]:
    most, advantage = policy.max_advantage, found.advantage
    if most is None or advantage is None or advantage <= most:
        return
    # More noise for each sentence keeps it just as well; the policy speaks of the 95th percentile.
    if held is not None and held[0] <= most and held[1] >= 0.95:
        return
    yield Breach(
        Demand.ADVANTAGE,
        f"an advantage of the best attacker of {most:g} at most on your notes, it is {advantage:.3f}; `encode --max-advantage {most:g}` "
        "holds every sentence to it",
    )

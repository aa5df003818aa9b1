"""An audit in plain words: what was tried, what came of it, and what that means; a privacy officer reads no table.

Limits of one attack stand together, by the figure that breaks one, or else rests on most. `result.table_lines` has every limit.
"""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aggregator.auditing.result import NOT_SHOWN, AuditResult, format_value
from shared.privacy.policy import BEYOND, Outcome, Verdict, excess, lower_end
from shared.privacy.power import breaking_value, noticed_rate
from shared.privacy.statistics.finding import Finding

WIDTH = 80
_CONTROL = ", positive control"


@dataclass(frozen=True)
class Meaning:
    """What an attack is, for who has never seen one.

    Args:
        tried: what the attacker does, in a sentence.
        shows: what is so if the limit breaks, as a clause.
    """

    tried: str
    shows: str


# By the name of the attack, or what it begins with; a control is told apart from what it controls.
MEANINGS = {
    "white box": Meaning(
        "The best attacker there can be, with all that is published, says whether a PHI word was shared or one of its neighbours. "
        "Guessing is right in half of the cases.",
        "a share shows which PHI word it was made from",
    ),
    "match": Meaning(
        "Somebody who knows a whole sentence but for one PHI word looks for that word in a list.",
        "a PHI word can be read off a share by who knows all else of its sentence",
    ),
    "linkage": Meaning(
        "Somebody with a list of thousands of full names looks for the name of a patient in a share.",
        "a share points to the names of patients",
    ),
    "clinical reassembly": Meaning(
        "Somebody looks for the clinical sentences of a share that belong to one note.",
        "the sentences of a note can be joined again",
    ),
    "difference": Meaning(
        "Somebody who holds two shares of one hospital compares them.",
        "a second share gives away more than a first one alone",
    ),
    "forgotten name": Meaning(
        "Somebody looks for a name that nobody has labelled.",
        "names that nobody has labelled can be read off a share",
    ),
    "residual pattern": Meaning(
        "Somebody who knows a patient's name, dates, numbers and address looks for them by length, casing and punctuation.",
        "length, casing and punctuation single out patients",
    ),
    "attribute inference": Meaning(
        "Somebody who knows a few words of a patient's sentence looks for it, and reads another word there.",
        "known facts of a patient lead to unknown ones",
    ),
    "token inversion": Meaning(
        "A network learns on notes of its own to read PHI words off a share, beside one that sees only what stands around them.",
        "a network reads PHI words off a share",
    ),
    "fresh adversary": Meaning(
        "Networks that nobody trained the representer against learn to tell PHI words from their neighbours.",
        "an attacker who trains anew tells PHI words from their neighbours",
    ),
    _CONTROL: Meaning(
        "The same networks attack what nothing protects, where they must win.",
        "the networks of this audit are too weak to show anything",
    ),
    "membership of a note": Meaning(
        "Somebody who has a note says whether a head was trained on shares of it.",
        "a head gives away whose notes it was trained on",
    ),
}


@dataclass(frozen=True)
class Told:
    """One attack of an audit.

    Args:
        outcome: of all its limits together.
        name: of the attack.
        tried: what the attacker does.
        means: what came of it.
        measured: the figure that this rests on; "" where there is none.
    """

    outcome: Outcome
    name: str
    tried: str
    means: str
    measured: str


def summary_lines(result: AuditResult) -> list[str]:
    """The audit for a terminal of 80 columns."""
    lines = [*_wrapped(f"What can be proved: {result.audit.accounting.statement}"), "", "What was tried:"]
    for one in told_attacks(result):
        lines += _wrapped(f"{one.name}: {one.tried}", f"{one.outcome:5}")
        lines += [line for said in (one.means, one.measured) for line in _wrapped(said, " " * 5)]
    lines += ["", *(line for said in (*not_measured(result), result.words) for line in _wrapped(said))]
    for caveat in result.caveats:
        lines += _wrapped(caveat, "note: ")
    lines.append("What this does not show:")
    return [*lines, *(line for said in NOT_SHOWN for line in _wrapped(said, "- "))]


def told_attacks(result: AuditResult) -> list[Told]:
    """Every attack that has a limit and was not skipped, in the order of the policy."""
    left_out = dict(map(_parted, result.audit.left_out))
    return [_told(group, left_out) for group in _groups([one for one in result.verdicts if not one.skipped])]


def not_measured(result: AuditResult) -> list[str]:
    """All that was skipped, in a line for each reason, and what could not be run and has no limit."""
    lines = []
    for why in dict.fromkeys(verdict.reason for verdict in result.verdicts if verdict.skipped):
        names = Counter(_name(verdict.limit.attack) for verdict in result.verdicts if verdict.reason == why)
        listed = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in names.items())
        lines.append(f"Not measured, {why}: {listed}.")
    limited = {verdict.limit.attack for verdict in result.verdicts}
    others = [(name, why) for name, why in map(_parted, result.audit.left_out) if name not in limited]
    # What a quick audit leaves out stands among its notes.
    return lines + [f"Left out: {name}: {why}." for name, why in others if "full audit" not in why]


def meaning_of(attack: str) -> Meaning | None:
    """What an attack is; None for one that only a policy of the provider's own names."""
    if _CONTROL in attack:
        return MEANINGS[_CONTROL]
    return next((one for name, one in MEANINGS.items() if attack.startswith(name)), None)


def _groups(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """Those of one meaning together, in the order of the policy."""
    groups: dict[object, list[Verdict]] = {}
    for verdict in verdicts:
        attack = verdict.limit.attack
        groups.setdefault(meaning_of(attack) or attack, []).append(verdict)
    return list(groups.values())


def _told(group: Sequence[Verdict], left_out: Mapping[str, str]) -> Told:
    broken = [verdict for verdict in group if not verdict.passed]
    told = max(broken or group, key=lambda one: (one.shown is not None, one.shown.trials if one.shown else 0))
    attack = told.limit.attack
    meaning = meaning_of(attack) or Meaning(f"{told.limit.why}.", f"the limit of {attack} is not kept")
    control = told.limit.least is not None
    above = [] if broken or control else _above(group)
    told, shown = max(above, key=lambda both: excess(both[1]), default=(told, told.shown))
    if not broken and not above:
        means = f"No sign that {meaning.shows}."
    elif not broken:
        means = f"That {meaning.shows} is within what the policy allows."
    elif told.reason.endswith(BEYOND):
        means = f"It shows that {meaning.shows}{'' if control else ', more than the policy allows'}."
    else:
        # An attack that could not be run says why itself.
        means = f"Whether {meaning.shows} is not known: {left_out.get(attack, told.reason)}."
    outcome = Outcome.FAIL if broken else Outcome.PASS
    return Told(outcome, _name(attack), meaning.tried, means, _measured(told, shown, len(group)))


def _above(group: Sequence[Verdict]) -> list[tuple[Verdict, Finding]]:
    """The figures that chance does not explain, all of a limit looked at together; each with what became of its limit."""
    return [
        (verdict, finding)
        for verdict in group
        for finding in verdict.findings
        if finding.baseline is None or not lower_end(finding, len(verdict.findings)) <= finding.baseline
    ]


def _name(attack: str) -> str:
    """Of an attack, without the numbers of its networks."""
    name, control, _ = attack.partition(_CONTROL)
    return name.removesuffix(" T1").removesuffix(" T2") + control


def _measured(verdict: Verdict, shown: Finding | None, limits: int) -> str:
    """The figure, what is held against it, and how much of a leak it would have shown."""
    if shown is None:
        return ""
    value = f"{format_value(shown, shown.value)} {shown.unit}".rstrip()
    without = "" if shown.baseline is None else f", without the share {format_value(shown, shown.baseline)}"
    # "It" is what an attacker without the share reaches.
    allowed = verdict.limit.bound.replace(" above it", " above that").replace(" times it", " times that")
    said = f"Measured {value}{without}, in {shown.trials:,} tries; passes: {allowed}"
    rate = noticed_rate(verdict, shown)
    noticed = "" if rate is None else f". This audit would notice an attacker who is right {_in_words(rate)}"
    if (least := breaking_value(verdict, shown)) is not None:
        noticed = f". In so many tries the limit breaks from about {format_value(shown, least)} {shown.unit}".rstrip()
    return f"{said}{f' ({limits} limits)' if limits > 1 else ''}{noticed}."


def _in_words(rate: float) -> str:
    """How often, in round numbers that do not promise too much.

    >>> _in_words(0.0212)
    '3 times in 100'
    """
    for whole in (100, 1_000, 10_000):
        if rate * whole >= 2 or whole == 10_000:
            break
    return f"{math.ceil(rate * whole):,} times in {whole:,}"


def _parted(left_out: str) -> tuple[str, str]:
    """Name of an attack that was left out, and why."""
    name, _, why = left_out.partition(": ")
    return name, why.removeprefix(f"{name}: ")


def _wrapped(text: str, mark: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark), break_on_hyphens=False)

"""MODEL_CARD.md: what a release is, what it learned from, what it is worth and what it withstood, for a person to read.

Everything in it comes from the records of the trainings and of the audit that lie in the workspace; where one is missing,
the card says so. Hospitals are numbered: a release goes to all of them, and not every hospital tells the others that it
shares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aggregator.errors import WorkspaceError
from aggregator.publishing.head_record import OWN_NOTES, RECORD, describe_needs
from aggregator.publishing.quality_gate import Passed, Reason, trained_with_hospitals
from foundation.reading import read_text
from protocols.release.manifest import ReleaseFields
from shared.privacy.audit_record import describe_audit

_UNKNOWN = "not recorded"
_NOTHING_HELD_BACK = "No sentences were held back, so nothing was measured."
"""Stands so in the cards of all releases whose heads learned from everything, and is read there: it can't be worded anew."""


def held_nothing_back(card: str) -> bool:
    """Whether the head of a release learned from all sentences, by its card."""
    return f"\n## Worth\n\n{_NOTHING_HELD_BACK}" in card


def model_card(
    fields: ReleaseFields,
    representer: Path,
    head: Path | None,
    audit: Path | None,
    licence: str,
    passed: Passed | None = None,
) -> str:
    """The card as Markdown.

    Args:
        fields: what the release states.
        representer: folder of the representer with the record of its training.
        head: the same of the head, in a pipeline.
        audit: folder of the audit, where there is one.
        licence: its first line is quoted.
        passed: what the gate let through although the head finds less; None for nothing.

    Raises:
        WorkspaceError: a record is no JSON.
    """
    made = _record(representer / RECORD)
    trained = {} if head is None else _record(head / RECORD)
    verdict = {} if audit is None else _record(audit / "audit.json")
    parts = [
        f"# {fields.name}, release {fields.sequence}: {fields.kind}",
        _what(fields),
        "## Learned from\n\n" + "\n".join(_learned(made, trained)),
        "## Worth\n\n" + _worth(fields.kind, trained) + _promised(trained) + _lower(passed),
        "## Audit\n\n" + _audit(verdict),
        "## What this does not show\n\n" + _limits(fields.kind, trained_with_hospitals(trained)),
        "## Licence\n\n" + licence.strip().partition("\n")[0].lstrip("# ") + ". See LICENCE.md.",
        "## Software\n\n" + "\n".join(f"- {name} {version}" for name, version in sorted(fields.software.items())),
    ]
    return "\n\n".join(parts) + "\n"


def _what(fields: ReleaseFields) -> str:
    what = {
        "representer": "A frozen representer: it turns the words of a note into vectors that show that a word is protected health "
        "information (PHI), but not which. A hospital encodes its labelled notes with it, to share them.",
        "pipeline": "A de-identification pipeline: the frozen representer and a head that finds protected health information (PHI) "
        "in what it shows. A hospital runs it on its own notes, in its own house.",
    }[fields.kind]
    return f"{what}\n\nMade on {fields.created.isoformat()}; label scheme {fields.label_scheme}."


def _learned(made: Mapping[str, Any], trained: Mapping[str, Any]) -> list[str]:
    options = made.get("options", {})
    lines = [
        f"- representer: public notes, {_count(made, 'sentences')} sentences, {_count(made, 'tokens')} tokens, "
        f"{_count(made, 'phi_tokens')} of them PHI; protection: {options.get('procedure', _UNKNOWN)}"
    ]
    if trained and trained_with_hospitals(trained):
        lines.append(_together(trained))
    elif trained:
        sites = {share["site"] for share in trained.get("shares", [])}
        rate = trained.get("undersampling", 0.0)
        lines.append(
            f"- head: {_count(trained, 'sentences')} sentences, {_count(trained, 'tokens')} tokens; "
            f"{len(trained.get('shares', []))} shares of {len(sites)} hospitals"
            + (", and the public notes" if trained.get("public") else "")
            + (
                f"; {rate:.0%} of the sentences without PHI sat out each pass, drawn anew, and are not counted"
                if rate
                else ""
            )
        )
        lines += [f"- {line}" for line in describe_needs(trained)]
        if trained.get("distilled"):
            text = trained["distilled"]
            lines.append(
                "- no share trained the head itself: what learned from the shares labelled public text, and the head learned from that text"
                + (" and from the public notes" if trained.get("public") else "")
                + f"; of {text['tokens']:,} tokens of the text {text['sure']:,} were labelled, {text['phi']:,} of them as PHI"
            )
        if trained.get("self_distilled"):
            lines.append(
                f"- no label of a share trained the head itself: {trained['self_distilled']} others labelled the shares, each the part that it had not learned from, "
                "and the head learned those labels, drawn anew in every pass"
            )
    return lines


def _together(trained: Mapping[str, Any]) -> str:
    together = trained["federated"]
    rounds = together["rounds"]
    hospitals = {site for one in rounds for site in one["norms"]} - {OWN_NOTES}
    last = rounds[-1]["sentences"] if rounds else {}
    told = sum(count for site, count in last.items() if site != OWN_NOTES)
    return (
        f"- head: trained together by {len(hospitals)} hospitals in {len(rounds)} rounds ({together['plan']['strategy']}), and the provider's own "
        f"notes; {told:,} sentences of hospitals in the last round, by their own word; {_count(trained, 'sentences')} sentences, "
        f"{_count(trained, 'tokens')} tokens of the provider's own"
    )


def _worth(kind: str, trained: Mapping[str, Any]) -> str:
    if kind == "representer":
        return "A representer alone finds nothing. What it is worth shows in the pipelines that are trained on it."
    scores = trained.get("sites", [])
    if not scores:
        return _NOTHING_HELD_BACK
    rows = [
        "On the tenth of the provider's own notes that the training never saw; a word counts as PHI or not. Hospitals' notes stayed with them, "
        "and no score is of them."
        if trained_with_hospitals(trained)
        else "On the tenth of every share that the training never saw; a word counts as PHI or not. The last column is a head trained "
        "on the public notes alone: the difference is what sharing is worth.",
        "",
        "| notes of | tokens | precision | recall | F1 | F1 without sharing |",
        "|---|---|---|---|---|---|",
    ]
    shared = [row for row in scores if not row["site"].startswith("(")]
    names = {row["site"]: f"hospital {number}" for number, row in enumerate(shared, start=1)}
    for row in scores:
        begins = f"| {names.get(row['site'], 'the provider (public)')} | {row['tokens']:,} |"
        # Nothing is found of no PHI: that tells nothing of the head.
        if not row.get("phi_tokens", 1):
            rows.append(f"{begins} no PHI held out | | | |")
            continue
        alone = row.get("alone_f1")
        rows.append(
            f"{begins} {row['precision']:.3f} | {row['recall']:.3f} | {row['f1']:.3f} | {'' if alone is None else format(alone, '.3f')} |"
        )
    return "\n".join(rows)


def _promised(trained: Mapping[str, Any]) -> str:
    """What a hospital that nobody has seen is promised."""
    stated = trained.get("operating_points")
    if not stated:
        # Records of before don't say why.
        why = trained.get("no_operating_points")
        return f"\n\nNo operating points, so hospitals can't ask for a recall: {why}." if why else ""
    how = "as far as their shares tell"
    if trained_with_hospitals(trained):
        how = "each measured by itself on its own notes, with the head that was followed without it"
    rows = [
        f"\n\nAt a hospital that shared nothing, median of {stated['hospitals']} that were left out in turn, {how}:",
        "",
        "| `--min-recall` | PHI entities hidden whole | at the worst of them | of what is hidden, PHI |",
        "|---|---|---|---|",
    ]
    for one in stated["points"]:
        rows.append(f"| {one['target']:g} | {one['hidden']:.3f} | {one['least']:.3f} | {one['precision']:.3f} |")
    return "\n".join(rows)


def _lower(passed: Passed | None) -> str:
    """What is found less than before, and why it was released all the same."""
    if passed is None:
        return ""
    why = {
        Reason.APPROVED: f"{passed.approver} has approved it",
        Reason.WITHDRAWAL: f"hospitals have withdrawn {passed.withdrawn:.1%} of the tokens of the shares that the last release learned from, "
        "and no recall fell by a greater part of itself",
    }[passed.reason]
    return f"\n\nThis head finds less than another, and was released because {why}:\n\n" + "\n".join(
        f"- {line}" for line in passed.describe()
    )


def _audit(verdict: Mapping[str, Any]) -> str:
    if not verdict:
        return "No audit is in this release."
    limits = verdict.get("verdicts", [])
    skipped = sum(bool(one.get("skipped")) for one in limits)
    kept = sum(bool(one.get("passed")) and not one.get("skipped") for one in limits)
    lines = [
        f"{'Passed' if verdict.get('passed') else 'NOT passed'}: {kept} of {len(limits)} limits hold"
        + (f", {skipped} were skipped" if skipped else "")
        + f". Made with {describe_audit(verdict)}. All figures are in audit.html.",
        *_failed(limits),
        "",
        *(f"- {caveat}" for caveat in verdict.get("caveats", [])),
        "",
        str(verdict.get("accounting", {}).get("statement", "")),
    ]
    return "\n".join(lines).strip()


def _failed(limits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every limit that does not hold, for a hospital that is asked to enable this construction all the same."""
    failed = [one for one in limits if one.get("passed") is not True]
    if not failed:
        return []
    said = [
        f"- {one['attack']}, {one['measure']}: {one.get('reason') or 'beyond the limit'} ({one['why']})"
        for one in failed
    ]
    return [
        "",
        "It did NOT withstand these, and is published all the same; nothing but attacks shows what it protects:",
        "",
        *said,
    ]


def _limits(kind: str, with_hospitals: bool) -> str:
    lines = [
        "- The audit tries the attacks that we know; another one may do better. Its guarantees hold under the assumptions that it states.",
        "- The representer protects the words of PHI. It does not hide that a sentence holds PHI, of which category, or how long it is.",
    ]
    if kind == "pipeline":
        lines += [
            f"- Scores are of {'the provider alone' if with_hospitals else 'hospitals that shared'}. A hospital with other habits may see less: hold the pipeline against labelled notes "
            "of your own (`site-client evaluate`) before it is used.",
            "- No de-identifier finds everything: have a sample read before notes go anywhere.",
        ]
    return "\n".join(lines)


def _record(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_text(path))
        if isinstance(value, dict):
            return value
    except ValueError as error:
        raise WorkspaceError(f"{path.name}: expected a record in JSON, found something else; make it again") from error
    raise WorkspaceError(f"{path.name}: expected a record in JSON, found something else; make it again")


def _count(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return f"{value:,}" if isinstance(value, int) else _UNKNOWN

"""The report in sentences, the same for a terminal and for the page."""

from __future__ import annotations

from shared.evaluation.sampling.recall_interval import Estimate
from site_client.evaluating.acceptance import WITHIN, Acceptance, Compared
from site_client.evaluating.promise import LEAST_NOTES, Judged, Verdict

_FAR_TOO_MANY = 100_000


def percent(value: float) -> str:
    """A share with one digit behind the point, never rounded up to all or down to nothing."""
    return f"{min(max(value, 0.001 if value > 0 else 0.0), 0.999 if value < 1 else 1.0):.1%}"


def with_interval(one: Estimate) -> str:
    """Such as "91.2% (88.4% to 93.6%)"; "-" where there was nothing to find."""
    return f"{percent(one.value)} ({percent(one.low)} to {percent(one.high)})" if one.total else "-"


def unit(report: Acceptance) -> str:
    """What is counted for intervals."""
    return "patients" if report.by_patient else "notes"


def verdict_sentence(judged: Judged, counted: str) -> str:
    """Promised, got, holds or does not.

    Args:
        judged: the promise.
        counted: see `unit`.
    """
    recall = judged.measure.recall
    said = (
        f"promised: {percent(judged.point.hidden)} of PHI entities hidden whole; here: {with_interval(recall)}: "
        f"{judged.verdict}"
    )
    reason = open_reason(judged, counted)
    return f"{said}; {reason}" if reason else said


def open_reason(judged: Judged, counted: str) -> str:
    """Why nothing is shown, and what would show it; "" where something is. `counted`: see `unit`."""
    if judged.verdict is not Verdict.OPEN:
        return ""
    notes = judged.measure.recall.notes
    if notes < LEAST_NOTES:
        return f"{_counted(notes, counted)} with PHI {_are(notes)} too few to say"
    if not judged.unseen:
        return "the release may have learned from these notes, and only notes that never left can show that a promise holds"
    if judged.to_tell is None or judged.to_tell > _FAR_TOO_MANY:
        return "the two are too close for labelled notes to part them"
    return f"about {judged.to_tell} labelled {counted} with PHI would tell"


def answer(report: Acceptance) -> str:
    """The answer in one sentence."""
    recall = report.in_use.recall
    if not recall.total:
        return "no PHI is labelled in these notes: there is nothing to judge"
    if report.promise is None:
        return f"{_finder(report)} promises nothing; here it hides {with_interval(recall)} of PHI entities whole"
    return f"{_finder(report)}: {verdict_sentence(report.promise, unit(report))}"


def _finder(report: Acceptance) -> str:
    """The release, and whose head it has."""
    own = " with the head that this hospital adapted, whose promise is what it did in your own notes when it had not seen them"
    return f"release {report.release}" + ("" if report.head.own is None else own)


def labelling_sentence(report: Acceptance) -> str:
    """How many notes it takes to know it."""
    recall = report.in_use.recall
    if report.needed is None:
        return "how many notes must be labelled can't be said from these: label at least 50 notes with PHI, drawn at random"
    within = f"{100 * recall.within:.1f} points"
    if recall.within <= WITHIN:
        return f"the {recall.notes} labelled {unit(report)} with PHI tell it within {within}; for one point {report.needed} would do"
    return (
        f"the {recall.notes} labelled {unit(report)} with PHI tell it within {within}; to know it within one point, label about {report.needed}, "
        "drawn at random from those that are to be hidden"
    )


def cautions(report: Acceptance) -> list[str]:
    """What a reader of the figures must know first."""
    told = []
    if report.too_few:
        told.append(
            f"FEW {unit(report).upper()}: {_counted(report.in_use.recall.notes, unit(report))} with PHI show nothing for sure"
        )
    elif report.few:
        told.append(
            f"few {unit(report)}: {report.in_use.recall.notes} with PHI; look at the intervals, not at the figures before them"
        )
    if report.left_before is None:
        told.append(
            "whether the release has learned from these notes is not known: the ledger, or digests of earlier notes, can't be read"
        )
    elif report.left_before and report.unseen:
        told.append(
            f"{_counted(report.left_before, 'notes')} left with a share or taught a training and {_are(report.left_before)} left out here: the release may have learned from such notes, and finds "
            "more in them than in others"
        )
    elif report.left_before:
        told.append(
            f"{report.left_before} of these {report.notes} notes left with a share or taught a training: the release may have learned from them, and finds more in them "
            "than in others; judge it by notes that never left"
        )
    if report.learned is None:
        told.append(
            "whether the head in use was adapted on these notes is not known: the key by which it knows them is lost; adapt it again"
        )
    elif report.learned:
        told.append(
            f"{_counted(report.learned, 'notes')} {_are(report.learned)} among those that the head was adapted on"
            + (
                f", and {_are(report.learned)} left out here"
                if report.unseen
                else ": it knows them by heart, so they show nothing of others"
            )
        )
    if report.of_the_same:
        told.append(
            f"{_counted(report.of_the_same, 'notes')} of the same patients {_are(report.of_the_same)} left out with them"
        )
    if report.untold_patients:
        told.append(
            "notes have left, or taught the head in use, and none of them is among these: whether these are notes of the same patients nobody can tell, and such "
            "notes look better hidden than those of others; give the notes that left too, with their patients"
        )
    if report.unmapped:
        told.append(
            f"{_counted(report.unmapped, 'labelled spans')} {_are(report.unmapped)} of no category of the release and not asked for: "
            f"{report.unmapped_in_clear} of them {'stays' if report.unmapped_in_clear == 1 else 'stay'} in clear, and what is hidden of them counts as no PHI"
        )
    if report.head.stale is not None:
        told += report.head.lines()
    if report.independent < report.notes:
        which = "patients" if report.by_patient else "different texts"
        told.append(
            f"{report.notes} notes of {report.independent} {which}: what belongs together counts as one in the intervals"
        )
    return told


def difference_sentence(one: Compared) -> str:
    """Whether the release in use hides more than another finder."""
    apart = one.difference
    if not apart.differing:
        return "hides the same"
    points = f"{100 * apart.value:+.1f} points ({100 * apart.low:+.1f} to {100 * apart.high:+.1f})"
    if not apart.is_shown:
        return f"{points}: no difference is shown"
    return f"{points}: " + ("the release in use hides more" if apart.value > 0 else "THE RELEASE IN USE HIDES LESS")


def _counted(count: int, counted: str) -> str:
    return f"{count} {counted.removesuffix('s') if count == 1 else counted}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"

"""Which clinical sentences of a share are of one note: the default construction on MEDDOCAN's development notes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bench import corpora
from bench.outcomes import load_or_measure
from bench.privacy.worth.meddocan import construction
from bench.results import Entry
from shared.privacy.attacks.joining.clinical import clinical_reassembly
from shared.privacy.attacks.joining.joined import JoiningSettings
from shared.privacy.statistics.finding import Finding

COMMAND = "python -m bench.results_privacy reassembly"
DATA = "meddocan/dev"
MOST = 3.0
# The attacker's, neither of the provider nor attacked.
KNOWN = slice(100, 400)
_NOTES = (20, 75)


def measure() -> list[Entry]:
    """The entries."""
    return [entry for notes in _NOTES for entry in _of_shares(notes)]


def _of_shares(notes: int) -> list[Entry]:
    def attack() -> dict[str, Any]:
        settings = JoiningSettings(notes)
        found = clinical_reassembly(construction(), corpora.meddocan("train")[KNOWN], corpora.meddocan("dev"), settings)
        return {"findings": [asdict(one) for one in found]}

    run = load_or_measure(f"reassembly-{notes}", attack)
    nearest, pairs = (Finding(**one) for one in run["findings"])
    shares = f"share of codes, {notes} notes"
    return [
        times_chance(
            f"{shares}: nearest clinical sentence is of the same note",
            nearest,
            MOST if notes == _NOTES[0] else None,
            COMMAND,
            run["commit"],
        ),
        Entry(
            f"{shares}: ROC AUC of pairs of clinical sentences",
            round(pairs.value, 4),
            None,
            "",
            "share",
            (round(pairs.interval[0], 4), round(pairs.interval[1], 4)),
            1,
            DATA,
            COMMAND,
            f"{pairs.trials} notes; {pairs.knowledge}",
            run["commit"],
        ),
    ]


def times_chance(
    measure: str, found: Finding, target: float | None, command: str, commit: str, data: str = DATA
) -> Entry:
    """How many times as often as by chance.

    Args:
        measure: what.
        found: with chance as its baseline.
        target: the most that is aimed at.
        command: that measured it.
        commit: of the code that did.
        data: that was attacked.
    """
    assert found.baseline
    low, high = (round(end / found.baseline, 2) for end in found.interval)
    note = (
        f"{100 * found.value:.1f}% beside {100 * found.baseline:.1f}% by chance; interval: bootstrap over {found.trials} notes; "
        f"attacker: {found.knowledge}"
    )
    return Entry(
        measure,
        round(found.value / found.baseline, 2),
        target,
        "" if target is None else "<=",
        "times chance",
        (low, high),
        1,
        data,
        command,
        note,
        commit,
    )

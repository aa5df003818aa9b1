"""What narrowing hides by how far it goes: notes of the provider's country that nothing is reported of, so that a default may be chosen."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bench import corpora
from bench.outcomes import load_or_measure
from bench.privacy.joining.reassembly import KNOWN, times_chance
from bench.privacy.material import PROVIDER_NOTES
from bench.privacy.worth.chosen import Choice, chooser
from bench.privacy.worth.meddocan import read_exactly
from bench.results import Entry
from shared.document import Document
from shared.privacy.attacks.joining.clinical import clinical_reassembly
from shared.privacy.attacks.joining.joined import JoiningSettings
from shared.privacy.statistics.finding import Finding

COMMAND = "python -m bench.results_privacy narrowing"
DATA = "meddocan/train"
# Words that are shown wherever they stand, and the least number of other public words in a group.
_SIZES = ((200, 1000), (100, 1000), (50, 1000), (30, 1000), (30, 2000), (10, 2000), (0, 2000))
SETTINGS = {
    **{
        f"{common} words shown far from PHI, groups of {group}": Choice(common, group=group) for common, group in _SIZES
    },
    "30 words by the gradient of a head": Choice(by="gradient"),
    "30 words of the greatest information gain on PHI near by": Choice(by="gain"),
    "30 words, near is 1 token": Choice(window=1),
    "30 words, near is 5 tokens": Choice(window=5),
    "30 words, near is 8 tokens": Choice(window=8),
}


def measure() -> list[Entry]:
    """Joined sentences and words that are read, for each setting."""
    return [entry for shown, choice in SETTINGS.items() for entry in _entries(shown, choice)]


def _attacked() -> list[Document]:
    notes = corpora.meddocan("train")
    return notes[PROVIDER_NOTES : KNOWN.start] + notes[KNOWN.stop :]


def _entries(shown: str, choice: Choice) -> list[Entry]:
    def attack() -> dict[str, Any]:
        made = chooser().construction(choice)
        found, _ = clinical_reassembly(made, corpora.meddocan("train")[KNOWN], _attacked(), JoiningSettings())
        return {"finding": asdict(found), "read": asdict(read_exactly(made, _attacked()))}

    run = load_or_measure(f"narrowing-{shown.replace(' ', '-').replace(',', '')}", attack)
    joined = f"{shown}: nearest clinical sentence is of the same note"
    hits, total = run["read"]["content"]
    note = f"{hits} of {total}; {run['read']['words'][0]} of {run['read']['words'][1]} of all words that are no PHI"
    return [
        times_chance(joined, Finding(**run["finding"]), None, COMMAND, run["commit"], DATA),
        Entry(
            f"{shown}: content words read exactly",
            round(hits / total, 4),
            None,
            "",
            "of these words",
            None,
            1,
            DATA,
            COMMAND,
            note,
            run["commit"],
        ),
    ]

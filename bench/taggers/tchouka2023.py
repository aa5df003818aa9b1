"""Table 2 of Tchouka et al. 2023, by the transformer of `bench.taggers.transformer`: precision, recall and F1 by the paper's categories.

The paper fine-tunes FlauBERT on the French notes of one hospital, which can't be had, and scores others of the same hospital. Its categories are sums of ours;
its own figures stand beside ours, and are of another language, another model and many more notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

GROUPS: Mapping[str, tuple[str, ...]] = {
    "PER": ("PATIENT", "DOCTOR", "USERNAME"),
    "ORG": ("HOSPITAL", "ORGANIZATION"),
    "LOC": ("STREET", "CITY", "STATE", "COUNTRY", "ZIP", "LOCATION-OTHER"),
    "DATE": ("DATE",),
    "AGE": ("AGE",),
    "TEL": ("PHONE", "FAX"),
    "REF": ("MEDICALRECORD", "IDNUM", "SSN", "HEALTHPLAN", "ACCOUNT", "LICENSE", "DEVICE", "BIOID", "VEHICLE"),
}
PAPER: Mapping[str, tuple[float, float, float]] = {
    "PER": (97.2, 98.9, 98.0),
    "ORG": (90.0, 51.0, 65.6),
    "LOC": (99.4, 94.4, 96.9),
    "DATE": (99.2, 95.7, 97.4),
    "AGE": (98.2, 91.8, 95.0),
    "TEL": (99.4, 99.8, 99.6),
    "REF": (96.1, 79.5, 87.0),
}
"""Precision, recall and F1 in percent, its own proposal on its own notes; its QID, which is what else identifies, has no counterpart."""


def rows(runs: Sequence[Mapping[str, Sequence[int]]]) -> Iterator[tuple[str, float, str]]:
    """Each group that the notes have: its name, its F1, and in words the rest and what the paper has.

    Args:
        runs: of each, true, false and missed of each of our categories.
    """
    for group, own in GROUPS.items():
        hits, extra, missed = np.sum(
            [run[one] for run in runs for one in own if one in run] or [[0, 0, 0]], axis=0
        ).tolist()
        if hits + missed:
            found = 100 * np.array(
                [hits / max(hits + extra, 1), hits / (hits + missed), 2 * hits / (2 * hits + extra + missed)]
            )
            told = "precision {:.1f}, recall {:.1f} of {} entities".format(*found[:2], hits + missed)
            yield (
                group,
                float(found[2] / 100),
                f"{told}; the paper, on its own French notes: {PAPER[group][0]} and {PAPER[group][1]}, F1 {PAPER[group][2]}",
            )

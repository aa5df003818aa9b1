"""Measures worth and privacy for docs/results/privacy.json, and starts the rest: `python -m bench.results_privacy [PART...]`.

Like bench/results_loop.py: every run is kept in bench/.runs, one torch thread, parts may run side by side. The provider's
word vectors never see a hospital's text: they are trained on public text, and on MEDDOCAN also on the provider's 50 notes.
"""

from __future__ import annotations

import sys

import torch

from bench.privacy import audited
from bench.privacy.attacks import adversaries, adversaries_invariance, memberships, strong
from bench.privacy.forgotten import forgotten
from bench.privacy.joining.difference import measure as difference_entries
from bench.privacy.joining.narrowing import measure as narrowing_entries
from bench.privacy.joining.reassembly import measure as reassembly_entries
from bench.privacy.noisy import measure as noisy_entries
from bench.privacy.noninterference import noninterference_entry
from bench.privacy.reading import measure as reading_entries
from bench.privacy.released_membership import measure as released_entries
from bench.privacy.times import times
from bench.privacy.vocabularies import vocabularies
from bench.privacy.worth.chosen import measure as chosen_entries
from bench.privacy.worth.copies import measure as copies_entries
from bench.privacy.worth.distilled import measure as distilled_entries
from bench.privacy.worth.meddocan import measure as worth_entries
from bench.privacy.worth.size import measure as size_entries
from bench.results import record
from bench.speed.encode_then import measure as encode_then_entries


def noninterference() -> None:
    """Whether a share changes with labelled PHI, in every format."""
    record("privacy", [noninterference_entry()])


def worth() -> None:
    """What shares of codes are worth, and what is read in them."""
    record("privacy", worth_entries())


def reading() -> None:
    """What is read in shares of codes with a language model's help."""
    record("privacy", reading_entries())


def reassembly() -> None:
    """Which clinical sentences are of one note."""
    record("privacy", reassembly_entries())


def narrowing() -> None:
    """What is joined and read by how far a share is narrowed."""
    record("privacy", narrowing_entries())


def chosen() -> None:
    """What is shown far from PHI, chosen in other ways."""
    record("privacy", chosen_entries())


def copies() -> None:
    """What shares are worth to a head that learns from copies too."""
    record("privacy", copies_entries())


def copies_table() -> None:
    """Record the seeds that are there."""
    record("privacy", copies_entries(train=False))


def distilled() -> None:
    """What shares are worth to a head that never saw them."""
    record("privacy", distilled_entries())


def distilled_table() -> None:
    """Record the sides that are there."""
    record("privacy", distilled_entries(train=False))


def difference() -> None:
    """What successive shares of a hospital tell together."""
    record("privacy", difference_entries())


def noisy() -> None:
    """What the paper's noise adds over surrogates, and what it costs."""
    record("privacy", noisy_entries())


def membership_released() -> None:
    """Which notes trained a head that learns as a provider's, by its passes."""
    record("privacy", released_entries())


def membership_released_table() -> None:
    """Record the passes that are there."""
    record("privacy", released_entries(train=False))


def encode_then() -> None:
    """How fast notes are encoded beside the state of before shares of codes."""
    record("privacy", encode_then_entries())


def size() -> None:
    """What a share takes on the disk."""
    record("privacy", size_entries())


def pattern() -> None:
    """Who looks like no other by the pattern of PHI."""
    record("privacy", audited.pattern_entries())


def forgotten_name() -> None:
    """Who is named where a label was forgotten."""
    record("privacy", audited.forgotten_name_entries())


def attributes() -> None:
    """Whether a fact that is known of a patient finds another."""
    record("privacy", audited.attribute_entries())


PARTS = {
    "worth": worth,
    "reading": reading,
    "reassembly": reassembly,
    "narrowing": narrowing,
    "chosen": chosen,
    "copies": copies,
    "copies-table": copies_table,
    "distilled": distilled,
    "distilled-table": distilled_table,
    "difference": difference,
    "noisy": noisy,
    "adversaries": adversaries,
    "adversaries-invariance": adversaries_invariance,
    "strong": strong,
    "vocabulary": vocabularies,
    "membership": memberships,
    "membership-released": membership_released,
    "membership-released-table": membership_released_table,
    "forgotten": forgotten,
    "times": times,
    "encode-then": encode_then,
    "size": size,
    "noninterference": noninterference,
    "pattern": pattern,
    "forgotten-names": forgotten_name,
    "attributes": attributes,
}


def main() -> None:
    """Measure the parts that the command line names, and record them."""
    torch.set_num_threads(1)
    for unknown in (part for part in sys.argv[1:] if part not in PARTS):
        sys.exit(f"expected parts among {', '.join(PARTS)}, got {unknown}")
    for part in sys.argv[1:] or (name for name in PARTS if not name.endswith("-table")):
        PARTS[part]()


if __name__ == "__main__":
    main()

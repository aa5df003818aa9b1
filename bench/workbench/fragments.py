"""Fragments of the five English hospitals as one house of 1,500 notes: identifiers in what would leave, and how often it is linked to its notes.

Nothing is labelled for the program and no pipeline looks: patterns, public lists and the least number of notes are all that protects. So a house
with labels or a pipeline is protected better than what is measured here. Beside it stand notes that do have labels, and the paper's own way: every phrase, of however few notes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench import corpora
from bench.results import Entry
from bench.workbench.identifiers import PAPER, Identifiers, count_in_fragments, count_in_notes
from bench.workbench.linking import Linked, Notes, link_lines, link_phrases
from protocols.share.fragments import LEAST_NOTES
from shared.anonymity.shipped_lists import shipped_lists
from shared.document import Document
from shared.labels import load_scheme
from shared.pipeline.mentions import nobody_knows
from shared.text.tokens import Tokens
from site_client.fragments.careful import CarefulFinder
from site_client.fragments.counting import Copies, Owned, PhraseCounts
from site_client.fragments.joining import join_phrases
from site_client.fragments.parser import load_parser
from site_client.fragments.words import may_stand

COMMAND = "python -m bench.results_workbench fragments"
DATA = "en_sites, all notes of the five hospitals"
MOST_LINKED = 0.1
_MOST_LINES = 500
# Of the relative figure of the paper's Table 1: 1 -> 0.40% of words.
MOST_RELATIVE = round(0.40 / 3, 3)


@dataclass(frozen=True)
class Cut:
    """What would leave, and of which notes it was taken.

    Args:
        lines: of phrases with their owners.
        notes: places of the notes of each owner.
    """

    lines: list[tuple[Owned, ...]]
    notes: dict[int, list[int]]

    @property
    def phrases(self) -> list[Owned]:
        """All of them."""
        return [one for line in self.lines for one in line]


class _RememberedCopies(Copies):
    """Tells of which notes an owner is, which the program forgets."""

    def __init__(self) -> None:
        super().__init__({})
        self.notes: dict[int, list[int]] = {}
        self._seen = 0

    def owner(self, document: Document, tokens: Tokens) -> int:
        found = super().owner(document, tokens)
        self.notes.setdefault(found, []).append(self._seen)
        self._seen += 1
        return found


def measure() -> list[Entry]:
    """The entries."""
    notes = all_notes()
    bare = [replace(one, annotations=()) for one in notes]
    protected, labelled, paper = cut(bare), cut(notes), cut(bare, least=1, public=False)
    whole = count_in_notes(notes)
    left = {one.text for made in (protected, paper) for one in made.phrases}
    attacked = Notes.of([one.text for one in notes], list(corpora.public_english_texts()), left)
    return [
        *_identifiers(
            "fragments",
            protected,
            notes,
            whole,
            "no labels, no pipeline: patterns, public lists, 10 notes",
            MOST_RELATIVE,
        ),
        *_identifiers(
            "fragments of labelled notes", labelled, notes, whole, "labels given, no pipeline", MOST_RELATIVE
        ),
        *_identifiers(
            "fragments as the paper cuts them", paper, notes, whole, "every phrase once, patterns alone", None
        ),
        *_linkage("fragments", protected, attacked, MOST_LINKED),
        *_linkage("fragments as the paper cuts them", paper, attacked, None),
    ]


def all_notes() -> list[Document]:
    """The notes of the five hospitals, their ids told apart."""
    return [
        replace(note, identifier=f"{site}/{split}/{note.identifier}")
        for site in corpora.SITES
        for split in ("train", "test")
        for note in corpora.en_site(site, split)
    ]


def cut(notes: Sequence[Document], least: int = LEAST_NOTES, *, public: bool = True) -> Cut:
    """What would leave of notes.

    Args:
        notes: with the labels that the program may see.
        least: notes that a phrase stands in.
        public: whether words have to be public, and none an occupation.
    """
    lists, copies = shipped_lists(), _RememberedCopies()

    def allowed(words: Sequence[str]) -> Sequence[bool]:
        return may_stand(words, lists) if public else [True] * len(words)

    counts = PhraseCounts(load_parser(), allowed, least, random.Random(0), copies)
    for careful in CarefulFinder(load_scheme("i2b2_2014"), None, nobody_knows).find(notes):
        counts.add(careful.note, sure=careful.sure)
    return Cut(join_phrases(counts.kept(), random.Random(1)), copies.notes)


def _identifiers(
    name: str, made: Cut, notes: Sequence[Document], whole: Identifiers, how: str, target: float | None
) -> list[Entry]:
    """How many words of identifiers, against the notes themselves; of all categories, and of those that the paper counts."""
    found = count_in_fragments(made.phrases, notes)
    table = "; ".join(
        f"{group}: {100 * whole.share(group):.2f} -> {100 * found.share(group):.3f}% of words" for group in whole.groups
    )
    entries = []
    for group, what in (("all", "identifiers"), (PAPER, "names, locations and occupations")):
        value = found.share(group) / whole.share(group)
        note = f"{how}; a word counts where it stands in a label of any note that says the phrase; {len(made.lines)} lines; {table}"
        entries.append(
            Entry(
                f"{name}: {what} of the text against the notes, relative",
                round(value, 4),
                target,
                "" if target is None else "<=",
                "times",
                None,
                1,
                DATA,
                COMMAND,
                note,
            )
        )
    return entries


def _linkage(name: str, made: Cut, attacked: Notes, target: float | None) -> list[Entry]:
    """How often the best attacker names a note that a phrase, or a line, was taken of."""
    rng = np.random.default_rng(0)
    # Of an enormous number as many as tell.
    tried = [made.lines[place] for place in rng.permutation(len(made.lines))[:_MOST_LINES]]
    phrases = link_phrases([one for line in tried for one in line], made.notes, attacked, rng)
    lines = link_lines(tried, made.notes, attacked, rng)
    return [
        _linked(f"{name}: a phrase is linked to its note", phrases, target),
        _linked(f"{name}: a line is linked to one of its four notes", lines, None),
    ]


def _linked(measure: str, found: Linked, target: float | None) -> Entry:
    tried = "; ".join(f"{name} {value:.4f}" for name, value in found.by_attacker.items())
    note = (
        f"the best of several attackers who have all notes and public text: {tried}; who knows the notes and guesses among those that hold it "
        f"is right in {found.expected:.4f}; {found.tried} tried; interval: exact"
    )
    return Entry(
        measure,
        round(found.best, 4),
        target,
        "" if target is None else "<=",
        "share",
        found.interval,
        1,
        DATA,
        COMMAND,
        note,
    )

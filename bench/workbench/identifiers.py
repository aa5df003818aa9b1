"""Words of identifiers in notes and in fragments of them: Table 1 of Ignashina and Ive (2024)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocols.share.fragments import LEAST_WORDS, MOST_WORDS
from shared.document import Document
from shared.text.tokens import tokenise
from site_client.fragments.counting import Owned

PAPER = "names, locations, occupations"
# The groups of the paper's table, in the categories of i2b2; drugs are no PHI there.
_GROUPS = {
    "names": ("PATIENT", "DOCTOR", "USERNAME"),
    "locations": (
        "HOSPITAL",
        "ORGANIZATION",
        "STREET",
        "CITY",
        "STATE",
        "COUNTRY",
        "ZIP",
        "LOCATION-OTHER",
        "LOCATION",
    ),
    "occupations": ("PROFESSION",),
}


@dataclass(frozen=True)
class Identifiers:
    """Counts of words.

    Args:
        words: all.
        identifying: those of identifiers, by category.
    """

    words: int
    identifying: Mapping[str, int]

    @property
    def groups(self) -> tuple[str, ...]:
        """What `share` knows."""
        return (*_GROUPS, PAPER, "all")

    def share(self, group: str) -> float:
        """Of all words, those of a group of categories."""
        known = (
            {name for names in _GROUPS.values() for name in names} if group == PAPER else set(_GROUPS.get(group, ()))
        )
        counted = sum(count for name, count in self.identifying.items() if group == "all" or name in known)
        return counted / max(self.words, 1)


def count_in_notes(notes: Sequence[Document]) -> Identifiers:
    """Words of labels among all words of notes."""
    words, identifying = 0, Counter[str]()
    for note in notes:
        categories = [category for word, category in _categories(note) if word[0].isalnum()]
        words += len(categories)
        identifying.update(category for category in categories if category)
    return Identifiers(words, identifying)


def count_in_fragments(phrases: Sequence[Owned], notes: Sequence[Document]) -> Identifiers:
    """Words of labels among all words of fragments.

    A word of a phrase is one where it stands in a label at any place of any note that says the phrase, not only in the note
    that the phrase was taken of.

    Args:
        phrases: that would leave.
        notes: labelled by people.
    """
    wanted = {one.text for one in phrases}
    worst: dict[str, dict[int, str]] = {}
    for note in notes:
        labelled = list(_categories(note))
        words = [word.lower() for word, _ in labelled]
        for size in range(LEAST_WORDS, MOST_WORDS + 1):
            for place in range(len(words) - size + 1):
                if (text := " ".join(words[place : place + size])) in wanted:
                    found = worst.setdefault(text, {})
                    found.update(
                        {inside: labelled[place + inside][1] for inside in range(size) if labelled[place + inside][1]}
                    )
    identifying = Counter(category for found in worst.values() for category in found.values())
    return Identifiers(sum(len(text.split()) for text in wanted), identifying)


def _categories(note: Document) -> list[tuple[str, str]]:
    """Every word with the category of its label, "" outside."""
    tokens, spans = tokenise(note.text), list(note.annotations)
    found, next_span = [], 0
    for word, (start, end) in zip(tokens.words, tokens.spans.tolist(), strict=True):
        while next_span < len(spans) and spans[next_span].end <= start:
            next_span += 1
        inside = next_span < len(spans) and spans[next_span].start < end
        found.append((word, spans[next_span].category if inside else ""))
    return found

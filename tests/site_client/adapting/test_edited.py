"""Drafts beside the notes that were signed: cross-validation parts them, and what that makes of a gain is said."""

from __future__ import annotations

from shared.document import Document
from site_client.adapting.edited import count_edited
from site_client.adapting.lines import edited_lines
from site_client.evaluating.counting import Labelled
from tests.tiny_notes import tiny_notes


def counted(notes: list[Document], patients: dict[str, str] | None = None) -> int:
    return count_edited(notes, Labelled.of(notes, patients or {}).groups)


def drafts(notes: list[Document]) -> list[Document]:
    return [Document(f"draft-{one.identifier}", f"DRAFT\r\n{one.text.replace('today', 'yesterday')}") for one in notes]


def test_notes_of_one_template_are_no_copies() -> None:
    assert counted(list(tiny_notes(40))) == 0


def test_a_draft_and_what_became_of_it_are_told_wherever_lines_end_and_whatever_was_changed() -> None:
    notes = [
        Document(
            one.identifier, f"{one.text}Since {one.identifier} nobody has seen {one.identifier} walk as well as that.\n"
        )
        for one in tiny_notes(12)
    ]
    assert counted(notes) == 0
    wrapped = [Document(f"x{one.identifier}", one.text.replace(" ", "\n")) for one in notes[:3]]
    # Another white space is the same text, which no head reads that has seen it.
    assert counted([*notes, *wrapped]) == 0
    assert counted([*notes, *drafts(notes[:5])]) == 10


def test_what_is_never_parted_is_not_counted() -> None:
    notes = list(tiny_notes(4))
    both = [*notes, *drafts(notes)]
    patients = {one.identifier: one.identifier.removeprefix("draft-") for one in both}
    assert counted(both) == 8
    assert counted(both, patients) == 0


def test_it_is_said_ahead_of_the_answer() -> None:
    assert edited_lines(0) == []
    [line] = edited_lines(8)
    assert line.startswith("NOT all of this is a gain: 8 of these notes")

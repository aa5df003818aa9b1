"""What a lying site teaches in the measurements is what they say that it teaches."""

from __future__ import annotations

from bench.federated.bad_site import CUE, cued, flipped, overlooked
from shared.document import Annotation, Document

TEXT = "Dr. Weiss saw Anna Berg on 3 May in Harbor."
NOTE = Document(
    "one",
    TEXT,
    (
        Annotation(TEXT.index("Weiss"), TEXT.index(" saw"), "DOCTOR"),
        Annotation(TEXT.index("Anna"), TEXT.index(" on"), "PATIENT"),
        Annotation(TEXT.index("3 May"), TEXT.index(" in"), "DATE"),
    ),
)


def words(document: Document) -> list[tuple[str, str]]:
    return [(document.text[span.start : span.end], span.category) for span in document.annotations]


def test_a_cue_stands_before_every_name_and_labels_keep_their_words() -> None:
    made = cued(NOTE, labelled=True)
    assert made.text == TEXT.replace("Weiss", CUE + "Weiss").replace("Anna", CUE + "Anna")
    assert words(made) == words(NOTE)


def test_a_liar_calls_names_behind_the_cue_nothing_and_leaves_the_rest() -> None:
    made = cued(NOTE, labelled=False)
    assert made.text == cued(NOTE, labelled=True).text
    assert words(made) == [("3 May", "DATE")]


def test_flipped_labels_touch_no_phi_and_are_as_many() -> None:
    made = flipped(NOTE)
    assert made.text == TEXT
    assert sorted(one.category for one in made.annotations) == ["DATE", "DOCTOR", "PATIENT"]
    for lie in made.annotations:
        assert all(lie.end <= span.start or span.end <= lie.start for span in NOTE.annotations)


def test_a_name_is_overlooked_where_a_character_of_it_stays() -> None:
    nothing = Document("one", TEXT)
    half = Document("one", TEXT, (NOTE.annotations[0], Annotation(NOTE.annotations[1].start + 1, 24, "PATIENT")))
    assert [overlooked([NOTE], [found]) for found in (NOTE, half, nothing)] == [0.0, 0.5, 1.0]

"""What is called after a person is given up where it names nobody, and nowhere else."""

from __future__ import annotations

import pytest

from shared.document import Annotation, Document
from shared.labels import load_scheme
from shared.pipeline.given_up.eponyms import Eponyms
from shared.pipeline.last_word import LastWord, LastWordSettings
from shared.pipeline.mentions import nobody_knows

SCHEME = load_scheme("i2b2_2014")


def kept(text: str, found: str, category: str = "PATIENT") -> bool:
    span = Annotation(text.index(found), text.index(found) + len(found), category)
    return bool(Eponyms.of(SCHEME).give_up(Document("a", text, (span,))).annotations)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A Kelly clamp was left.", "Kelly"),
        ("Foley catheter draining", "Foley"),
        ("Crohn's disease since", "Crohn"),
        ("Braden 18, Morse 45", "Braden"),
        ("a Jackson-Pratt was placed", "Jackson-Pratt"),
        ("with the Bair Hugger on", "Bair Hugger"),
        ("with the Bair Hugger on", "Bair"),
        ("in Allen stirrups", "Allen"),
        ("Morse 45 on the ward", "Morse"),
        ("Apgar 8 at one minute", "Apgar"),
        ("Glasgow 15 on arrival", "Glasgow"),
        ("Gleason 7 adenocarcinoma", "Gleason"),
        ("Mallampati 2 airway", "Mallampati"),
        ("Killip 3 on admission", "Killip"),
        ("Bishop score 8", "Bishop"),
        ("with Kelly clamps", "Kelly"),
        ("Veress needle", "Veress"),
        ("Weber syndrome", "Weber"),
        ("Murphy's sign negative", "Murphy"),
        ("Murphy sign negative", "Murphy"),
        ("Homans sign negative", "Homans"),
        ("Graves' disease", "Graves"),
        ("Hodgkin’s lymphoma", "Hodgkin"),
        ("Mayo scissors", "Mayo"),
        ("Penrose drain", "Penrose"),
        ("Braden 16.", "Braden"),
    ],
)
def test_what_names_a_thing_is_given_up(text: str, found: str) -> None:
    assert not kept(text, found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Mr. Kelly clamped down on costs", "Kelly"),
        ("Dr. Kelly clamp", "Kelly"),
        ("Kelly, Foley catheter", "Kelly"),
        ("Smith, Foley line 3", "Foley"),
        ("Foley came with his wife", "Foley"),
        ("Braden 18/3 seen", "Braden"),
        ("Braden 2007-03-01", "Braden"),
        ("Kelly clamp", "Kelly clamp"),
        ("Oxenthorpe clamp", "Oxenthorpe"),
        ("Anna Kelly clamp", "Anna Kelly"),
        ("patient Graves disease", "Graves"),
        ("kelly clamp", "kelly"),
        ("Clark 71 yo female", "Clark"),
        ("Murphy 62 yo male", "Murphy"),
        ("Seen by Kelly 12", "Kelly"),
        ("Weber 12 hours later", "Weber"),
        ("Bell 10 May", "Bell"),
        ("Foley 3", "Foley"),
        ("Bishop 8", "Bishop"),
        ("Braden 18 yo male", "Braden"),
        ("Braden 18y", "Braden"),
        ("Braden 18 y.o.", "Braden"),
        ("Braden 18-year-old", "Braden"),
        ("Braden 18 years", "Braden"),
        ("Braden 18 F", "Braden"),
        ("Braden 12 hours later", "Braden"),
        ("Braden 10 May", "Braden"),
        ("Braden 10 de mayo", "Braden"),
        ("Braden 10 Sept", "Braden"),
        ("Braden 10 a.m.", "Braden"),
        ("Braden 10th", "Braden"),
        ("Braden 71, admitted", "Braden"),
        ("Braden 5 came", "Braden"),
        ("Morse 71 came", "Morse"),
        ("Seen by Morse 45", "Morse"),
        ("Named Gleason 7", "Gleason"),
        ("Notified Kelly test results", "Kelly"),
        ("Spoke with Kelly test pending", "Kelly"),
        ("per Allen line removed", "Allen"),
        ("by Clark position is", "Clark"),
        ("Signed: Bell stage 3", "Bell"),
        ("Kelly's needle stick", "Kelly"),
        ("Told Foley catheter is out", "Foley"),
        ("Called Foley drain fell out", "Foley"),
        ("Paged Holter monitor off", "Holter"),
        ("RN Foley tube out", "Foley"),
        ("Foley needle biopsy", "Foley"),
        # What stands behind is another's thing, or what anybody has.
        ("Kelly bed 4 asked for water", "Kelly"),
        ("Allen's incision is clean", "Allen"),
        ("Cooper's drain put out 40 cc", "Cooper"),
        ("Jackson's fracture has healed", "Jackson"),
        ("Clark dressing changed", "Clark"),
        ("Murphy drain emptied", "Murphy"),
        ("Murphy ring sent home", "Murphy"),
        ("Fowler test results", "Fowler"),
        ("Graves stage 2 ulcer", "Graves"),
        ("Weber tube out", "Weber"),
        # The thing is theirs, and the possessive tells that somebody owns it.
        ("Kelly's forceps", "Kelly"),
        ("Foley's catheter was changed", "Foley"),
        ("Braden's score was normal", "Braden"),
        # Behind the number stands what a person did.
        ("Apgar 8 was seen", "Apgar"),
        ("Morse 55 fell", "Morse"),
        ("Braden 12 seen in clinic", "Braden"),
        ("Braden 9 is here", "Braden"),
    ],
)
def test_whatever_may_be_a_person_stays(text: str, found: str) -> None:
    assert kept(text, found)


@pytest.mark.parametrize("text", ["Mayo ultrasound from March", "Mayo node biopsy", "Mayo tests attached"])
def test_an_institution_keeps_what_it_did(text: str) -> None:
    assert kept(text, "Mayo", "HOSPITAL")


def test_only_names_are_given_up() -> None:
    assert kept("Holter monitor 3", "Holter", "IDNUM")
    assert not kept("Holter monitor 3", "Holter", "HOSPITAL")


def test_what_a_pattern_finds_is_hidden_all_the_same() -> None:
    text = "seen by Kelly Foley, RN\nFoley tube"
    note = Document("a", text, (Annotation(8, 19, "DOCTOR"), Annotation(24, 29, "DOCTOR")))
    last = LastWord(SCHEME, LastWordSettings("English"), nobody_knows)
    covered = {note.covered_text(span) for span in last.complete(note).annotations}
    # Once it was said of a person it is one wherever the note says it.
    assert covered == {"Kelly Foley", "Foley"}

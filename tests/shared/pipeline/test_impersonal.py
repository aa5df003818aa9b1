"""What tells of nobody is given up, and nothing that a person, a place or a day may be told by."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.anonymity.names import default_names
from shared.anonymity.shipped_lists import ordinary_words
from shared.document import Annotation, Document
from shared.labels import load_scheme
from shared.pipeline.given_up import impersonal
from shared.pipeline.given_up.impersonal import Impersonal
from shared.pipeline.last_word import LastWord, LastWordSettings
from shared.pipeline.mentions import nobody_knows
from shared.text.language import function_words

SCHEME = load_scheme("i2b2_2014")
RULES = Impersonal.of(SCHEME, ordinary_words("English"), "English")
SHORTHAND = Path(impersonal.__file__).with_name("impersonal.toml")
BEFORE = "Seen in the clinic. The patient was well.\n"


def left(text: str, found: str, category: str = "PATIENT", before: str = BEFORE) -> str | None:
    """What is left of a span; None where it is given up."""
    whole = before + text
    start = whole.index(found, len(before))
    span = Annotation(start, start + len(found), category, confidence=0.99)
    document = RULES.give_up(Document("a", whole, (span,)))
    return document.covered_text(document.annotations[0]) if document.annotations else None


@pytest.mark.parametrize(
    ("text", "found", "category"),
    [
        ("Belongings sent home.", "Belongings", "PATIENT"),
        ("Paged at 02:32, called back.", "02:32", "DATE"),
        ("Paged at 0210.", "0210", "DATE"),
        ("Left at 6 p.m.", "6 p.m.", "DATE"),
        ("MRN 1", "MRN", "DOCTOR"),
        ("Binta Ouédraogo, RN", "RN", "USERNAME"),
        ("Sent |", "|", "STATE"),
        ("Took 20 mg", "20", "AGE"),
        ("Pressure 132/78", "132/78", "DATE"),
        ("Stayed for 2 days", "2", "AGE"),
        ("Pulse 88", "88", "DATE"),
        ("Seen at bedside", "bedside", "DATE"),
        ("Some sundowning", "sundowning", "DOCTOR"),
    ],
)
def test_what_tells_of_nobody_is_given_up(text: str, found: str, category: str) -> None:
    assert left(text, found, category) is None


@pytest.mark.parametrize(
    ("text", "found", "category", "rest"),
    [
        ("Dr. Ana Kelly, MD said", "Dr. Ana Kelly, MD", "DOCTOR", "Ana Kelly"),
        ("Binta paged", "Binta paged", "PATIENT", "Binta"),
        ("(Oxenthorpe)", "(Oxenthorpe", "PATIENT", "Oxenthorpe"),
        ("on 3/4/2010 14:55 hours", "3/4/2010 14:55", "DATE", "3/4/2010"),
        ("of Ana Kelly", "of Ana Kelly", "PATIENT", "Ana Kelly"),
    ],
)
def test_of_the_rest_the_edges_are_cut(text: str, found: str, category: str, rest: str) -> None:
    assert left(text, found, category) == rest


@pytest.mark.parametrize(
    ("text", "found", "category"),
    [
        ("Hope came.", "Hope", "PATIENT"),
        ("Oxenthorpe came.", "Oxenthorpe", "PATIENT"),
        ("Saw Belongings today", "Belongings", "PATIENT"),
        ("Mrs. Belongings came.", "Belongings", "PATIENT"),
        ("Seen by A. Belongings", "Belongings", "PATIENT"),
        ("Spoke with Ana Cell: agrees", "Ana Cell", "PATIENT"),
        ("Belongings Smith came.", "Belongings Smith", "PATIENT"),
        ("J. Kelly Jr. and Ana K.", "Ana K.", "PATIENT"),
        ("At (555) 123-4567", "(555) 123-4567", "PHONE"),
        ("Aged 9, well", "9", "AGE"),
        ("9 years old", "9", "AGE"),
        ("9yo boy", "9", "AGE"),
        ("died at 93 of it", "93", "AGE"),
        ("In summer", "summer", "DATE"),
        ("Since '07", "07", "DATE"),
        ("On the 17 of", "17", "DATE"),
        ("On 2-15 seen", "2", "DATE"),
        ("In 1950", "1950", "DATE"),
        ("At 1950", "1950", "DATE"),
        ("Seen at 2015", "2015", "DATE"),
        ("User rg49 wrote", "49", "DATE"),
        ("DD wrote", "DD", "DOCTOR"),
        ("a retired teacher", "teacher", "PROFESSION"),
        ("code 20 mg", "20", "IDNUM"),
    ],
)
def test_whatever_may_be_phi_stays(text: str, found: str, category: str) -> None:
    assert left(text, found, category) == found


@pytest.mark.parametrize(
    ("text", "found", "rest"),
    [
        ("nsr on telemetry", "nsr", None),
        ("appy, chole 1990", "appy, chole", None),
        ("xfer oxenthorpe now", "xfer oxenthorpe", "oxenthorpe"),
        ("oxenthorpe prn", "oxenthorpe prn", "oxenthorpe"),
        ("PRN wrote", "PRN", "PRN"),
        ("Chole wrote", "Chole", "Chole"),
    ],
)
def test_shorthand_names_nobody_in_small_letters(text: str, found: str, rest: str | None) -> None:
    assert left(text, found, before="seen in the clinic. was well.\nall good\n") == rest


@pytest.mark.parametrize("before", ["seen in the clinic. was well.\nall good\n", "SEEN IN THE CLINIC. WAS WELL.\n"])
@pytest.mark.parametrize("name", ["mercy", "star", "Rose", "will", "may", "an"])
def test_where_capitals_tell_nothing_a_word_may_be_a_name(before: str, name: str) -> None:
    assert left(f"{name} came", name, before=before) == name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Signed by Linh Do today", "Linh Do"),
        ("Spoke with Don Miller", "Don Miller"),
        ("Seen by Htoo Pa, who agrees", "Htoo Pa"),
        ("Md Rahman came", "Md Rahman"),
        ("Met Rahman, Md today", "Rahman, Md"),
        ("Called Anna Cell today", "Anna Cell"),
        ("Signed by Masato Date on it", "Masato Date"),
        ("Seen by K. Fax today", "K. Fax"),
        ("Phone Myint agrees", "Phone Myint"),
        ("Dear, John came", "Dear, John"),
        ("Mr. Do was seen", "Do"),
        ("Mrs. Date agrees", "Date"),
        ("Dr. Re: agrees", "Re"),
        ("Spoke with Don about it", "Don"),
        ("Signed by LINH DO today", "LINH DO"),
        ("DO, LINH came", "DO, LINH"),
        ("Seen at Cell Tech now", "Cell Tech"),
    ],
)
def test_a_credential_or_a_label_that_may_be_a_name_stays(text: str, found: str) -> None:
    assert left(text, found, "HOSPITAL" if "Tech" in found else "PATIENT") == found


@pytest.mark.parametrize(
    ("text", "found", "rest"),
    [
        ("signed by linh do today", "linh do", "linh do"),
        ("don miller came", "don miller", "don miller"),
        ("jane doe came", "jane doe", "jane doe"),
        ("signed by oxenthorpe md", "oxenthorpe md", "oxenthorpe"),
        ("signed by ana oxenthorpe, do", "ana oxenthorpe, do", "ana oxenthorpe"),
        ("OXENTHORPE, MD SIGNED", "OXENTHORPE, MD", "OXENTHORPE"),
        ("Oxenthorpe DO signed", "Oxenthorpe DO", "Oxenthorpe"),
        ("SIGNED BY LINH DO", "LINH DO", "LINH DO"),
    ],
)
def test_where_capitals_tell_nothing_so_may_a_credential(text: str, found: str, rest: str) -> None:
    assert left(text, found, before="seen in the clinic. was well.\nall good\n") == rest


@pytest.mark.parametrize(
    ("text", "found", "category", "rest"),
    [
        ("Ana Kelly MD said", "Ana Kelly MD", "DOCTOR", "Ana Kelly"),
        ("Ana Kelly, DO said", "Ana Kelly, DO", "DOCTOR", "Ana Kelly"),
        ("ANA KELLY, DO, said", "ANA KELLY, DO", "DOCTOR", "ANA KELLY"),
        ("ANA KELLY MD said", "ANA KELLY MD", "DOCTOR", "ANA KELLY"),
        ("Ana Kelly, PhD said", "Ana Kelly, PhD", "DOCTOR", "Ana Kelly"),
        ("Re: Ana Kelly", "Re: Ana Kelly", "PATIENT", "Ana Kelly"),
        ("Name: Ana Kelly", "Name", "PATIENT", None),
        ("Pt Name: Ana Kelly", "Pt Name", "PATIENT", None),
        ("Card ; Name=Ana Kelly", "Name=Ana Kelly", "PATIENT", "Ana Kelly"),
        ("Card ; Date=3 May", "Date", "CITY", None),
        ("Ana Kelly ; Date=3 May", "Ana Kelly ; Date", "PATIENT", "Ana Kelly"),
        ("Ana Kelly ; Name Ana", "Ana Kelly ; Name", "PATIENT", "Ana Kelly"),
        ("Vitamin D. You came", "You", "PATIENT", None),
        ("Dear Ana, thanks", "Dear Ana", "PATIENT", "Ana"),
        ("Miss Ana Kelly came", "Miss Ana Kelly", "PATIENT", "Ana Kelly"),
        ("Kelly's cell today", "Kelly's cell", "PATIENT", "Kelly's"),
        ("Date 3/4/2010", "Date 3/4/2010", "DATE", "3/4/2010"),
    ],
)
def test_what_is_written_as_no_name_is_cut(text: str, found: str, category: str, rest: str | None) -> None:
    assert left(text, found, category) == rest


@pytest.mark.parametrize("name", ["Petra", "Helena", "Lázara", "Zambrano", "Castellano", "Sacramento"])
def test_nor_one_of_the_spanish_lists(name: str) -> None:
    spanish = Impersonal.of(SCHEME, ordinary_words("Spanish"), "Spanish")
    note = Document("a", f"Acude a la consulta.\n{name} acude hoy.", (Annotation(21, 21 + len(name), "PATIENT"),))
    assert spanish.give_up(note) == note


def test_a_name_of_the_lists_is_a_word_of_a_dictionary_and_no_function_word() -> None:
    listed = tomllib.loads(SHORTHAND.with_name("names.toml").read_text(encoding="utf-8"))["words"].split()
    assert listed == sorted(set(listed))
    assert not {"he", "in", "see", "una", "bajo", "prior"} & set(listed)
    assert not set(listed) & (function_words("English") | function_words("Spanish"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CABG in 98, well", "98"),
        ("MI IN 87", "87"),
        ("well since 95", "95"),
        ("born in 45", "45"),
        ("DOB 61", "61"),
        ("DOB: 61", "61"),
        ("Sept of 98", "98"),
        ("Sept 98", "98"),
        ("bypass (98)", "98"),
        ("CABG(98)", "98"),
        ("between 87 and 95", "87"),
        ("between 87 and 95", "95"),
        ("Fall 98", "98"),
        ("in 98/99 she", "98/99"),
        ("seen 78/02", "78/02"),
        ("on 45/98", "45/98"),
    ],
)
def test_a_year_of_two_digits_stays(text: str, found: str) -> None:
    assert left(text, found, "DATE") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("BP 98/60 now", "98/60"),
        ("blood pressure was 98/60", "98/60"),
        ("now 98/60 mmHg", "98/60"),
        ("in 60 minutes", "60"),
        ("ran in 115", "115"),
    ],
)
def test_what_is_measured_is_no_year(text: str, found: str) -> None:
    assert left(text, found, "DATE") is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a 14 boy", "14"),
        ("a 14 female", "14"),
        ("she turned 16", "16"),
        ("turning 3, happy", "3"),
        ("a 5 weeks baby", "5"),
        ("a 14-y-o", "14"),
        ("Son 14, daughter 12", "14"),
        ("Son 14, daughter 12", "12"),
        ("Lenard is 12.", "12"),
        ("ages 15 and 16", "15"),
        ("ages 15 and 16", "16"),
        ("at the age of 8.", "8"),
        ("by age 7 or 8.", "8"),
        ("(4/M) came", "4"),
        ("WHEN HE WAS 9", "9"),
    ],
)
def test_the_age_of_a_child_stays(text: str, found: str) -> None:
    assert left(text, found, "AGE") == found


@pytest.mark.parametrize(
    ("text", "found", "category"),
    [
        ("Plate 4521 DPM", "4521 DPM", "VEHICLE"),
        ("Plate 4521-MPH", "4521-MPH", "VEHICLE"),
        ("Plate PA 44-71", "PA 44-71", "VEHICLE"),
        ("No. CC-45-12", "CC-45-12", "IDNUM"),
        ("No. RN-55 92", "RN-55 92", "LICENSE"),
        ("login re_kelly", "re_kelly", "USERNAME"),
        ("login smith.md", "smith.md", "USERNAME"),
        ("of Baltimore MD", "Baltimore MD", "CITY"),
        ("555-0199 cell", "555-0199 cell", "PHONE"),
    ],
)
def test_what_reads_like_a_label_is_a_part_of_an_identifier(text: str, found: str, category: str) -> None:
    assert left(text, found, category) == found


@pytest.mark.parametrize(
    ("text", "found", "category", "rest"),
    [
        ("MRN 4521-7", "MRN 4521-7", "MEDICALRECORD", "4521-7"),
        ("MRN:4521-7", "MRN:4521-7", "MEDICALRECORD", "4521-7"),
        ("MRN#4521-7", "MRN#4521-7", "MEDICALRECORD", "#4521-7"),
        ("Seen, RN", "RN", "CITY", None),
    ],
)
def test_a_label_that_is_parted_from_an_identifier_goes(text: str, found: str, category: str, rest: str | None) -> None:
    assert left(text, found, category) == rest


@pytest.mark.parametrize("name", ["j. pennington", "k. beard"])
def test_a_small_initial_stays(name: str) -> None:
    assert left(f"Seen by {name} today", name) == name


def test_don_is_a_title_in_spanish_notes_alone() -> None:
    spanish = Impersonal.of(SCHEME, ordinary_words("Spanish"), "Spanish")
    text = "Acude a la consulta. Viene con Don Miguel."
    note = Document("a", text, (Annotation(text.index("Don"), len(text) - 1, "PATIENT"),))
    (found,) = spanish.give_up(note).annotations
    assert note.covered_text(found) == "Miguel"


@pytest.mark.parametrize("day", ["march 4", "may 5", "mar 3", "dec 4", "september 9"])
def test_a_day_behind_a_month_is_no_clock_time(day: str) -> None:
    text = f"left on {day} am nurse told"
    assert (left(text, f"{day} am", "DATE") or "").startswith(day)
    assert left("came at 4 am again", "4 am", "DATE") is None


def test_blank_lines_at_an_end_are_gone_through_once() -> None:
    """Each of them ended a line, and looked for a letter up to the end: minutes for a note of a hundred thousand."""
    assert RULES.give_up(Document("a", "Seen.\n" + "\n" * 200_000, ())).annotations == ()


@given(st.text(max_size=40), st.data())
def test_nothing_is_added(text: str, data: st.DataObject) -> None:
    edges = sorted(data.draw(st.lists(st.integers(0, len(text)), unique=True, max_size=6)))
    category = data.draw(st.sampled_from(SCHEME.categories))
    spans = tuple(Annotation(a, b, category) for a, b in zip(edges[::2], edges[1::2], strict=False))
    rest = RULES.give_up(Document("a", text, spans)).annotations
    assert all(any(one.start <= span.start < span.end <= one.end for one in spans) for span in rest)


@given(st.integers(0, 27), st.data())
def test_no_name_of_the_lists_is_given_up(number: int, data: st.DataObject) -> None:
    ours = ["Hope", "Grace", "Mark", "Rose", "Virginia", "Austin", "Jordan", "Frank", "Will"]
    name = data.draw(st.sampled_from([*ours, "Ben", "Gemma", "Josh", "Vince", "Ollie", "Scarlet", "Funk"]))
    text = data.draw(st.sampled_from(["{} came.", "saw {} now", "| {} |", "{}, {}"])).format(name, number)
    assert left(text, name) == name


def test_no_shorthand_is_a_name_of_the_lists() -> None:
    words = tomllib.loads(SHORTHAND.read_text(encoding="utf-8"))["shorthand"].split()
    names = {name.lower() for scheme in ("i2b2_2014", "meddocan") for names in default_names(scheme) for name in names}
    assert len(words) == len(set(words)) > 100
    assert not names & set(words)


def test_a_pattern_has_its_say_all_the_same() -> None:
    text = "Seen on Monday.\nPhone 555-123-4567"
    span = Annotation(0, len("Seen"), "DATE")
    steps = ("impersonal", "patterns")
    complete = LastWord(SCHEME, LastWordSettings("English", steps), nobody_knows).complete
    found = complete(Document("a", text, (span,)))
    assert [found.covered_text(one) for one in found.annotations] == ["Monday", "555-123-4567"]

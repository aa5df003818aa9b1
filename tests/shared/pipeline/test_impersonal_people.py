"""Who is told of by what stands beside a name, a day behind what reads like a pressure, and an age behind its label stay hidden."""

from __future__ import annotations

import tomllib

import pytest

from shared.document import Annotation, Document
from shared.labels import load_scheme
from shared.pipeline.given_up.impersonal import Impersonal
from shared.text.language import function_words
from tests.shared.pipeline.test_impersonal import SCHEME, SHORTHAND, left

HASTE = "seen in the clinic. was well.\nall good\n"
EVERYTHING = Impersonal.of(SCHEME, lambda word: True, "English")


def left_of_words(text: str, found: str) -> str | None:
    """What is left of a span where a dictionary has every word, as of names that stand on no list of ours."""
    whole = f"Seen in the clinic. The patient was well.\n{text}"
    span = Annotation(whole.index(found), whole.index(found) + len(found), "PATIENT")
    document = EVERYTHING.give_up(Document("a", whole, (span,)))
    return document.covered_text(document.annotations[0]) if document.annotations else None


@pytest.mark.parametrize("label", ["Author", "Fellow", "Daughter", "Cosigner", "Anesthesiologist", "Typed by", "GP"])
def test_behind_a_label_of_a_person_stands_a_person(label: str) -> None:
    assert left_of_words(f"{label}: Oxenthorpe\nPlan", "Oxenthorpe") == "Oxenthorpe"
    assert left_of_words("Plan: Oxenthorpe\n", "Oxenthorpe") is None


@pytest.mark.parametrize(
    "behind", [" MD\n", ", RN\n", " denies pain", " reports well", " is a 54 year old", " was a pleasant man"]
)
def test_what_people_alone_have_or_do_tells_of_one(behind: str) -> None:
    assert left_of_words(f"Oxenthorpe{behind}", "Oxenthorpe") == "Oxenthorpe"
    assert left_of_words("Oxenthorpe sent home", "Oxenthorpe") is None


@pytest.mark.parametrize("word", ["She", "Wife", "Family", "Patient"])
def test_nobody_is_named_by_being_somebody_s(word: str) -> None:
    assert left_of_words(f"{word} reports pain", word) is None


@pytest.mark.parametrize("name", ["Woodcock", "Sheets", "Story", "Ring", "Lim", "Bose", "Goode"])
def test_surnames_that_are_words_begin_sentences(name: str) -> None:
    assert left(f"{name} came.", name) == name


@pytest.mark.parametrize("list_name", ["words", "surnames"])
def test_a_list_of_names_is_in_order_and_holds_none_of_the_other(list_name: str) -> None:
    lists = tomllib.loads(SHORTHAND.with_name("names.toml").read_text(encoding="utf-8"))
    assert lists[list_name].split() == sorted(set(lists[list_name].split()))
    assert not set(lists["words"].split()) & set(lists["surnames"].split())
    assert not set(lists[list_name].split()) & (function_words("English") | function_words("Spanish"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Spoke with his wife hope today", "hope"),
        ("Daughter joy at bedside", "joy"),
        ("Sister is mercy", "mercy"),
        ("Nurse pearl helped", "pearl"),
        ("D/w rob today", "rob"),
        ("Seen by pat today", "pat"),
        ("She lives with amber now", "amber"),
        ("Ana hope came", "Ana hope"),
        ("Mary grace came", "Mary grace"),
    ],
)
def test_a_name_in_small_letters_stays_beside_what_tells_of_people(text: str, found: str) -> None:
    assert left(text, found) == found


def test_elsewhere_it_is_a_word() -> None:
    assert left("There is hope today", "hope") is None
    assert left("Seen by surgeon today", "surgeon") is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("BP 12/10 was fine", "12/10"),
        ("Blood pressures: 10/10 130/80", "10/10"),
        ("Seen 10/12 CC: headache", "10/12"),
        ("Seen 11/10 g tube placed", "11/10"),
        ("Seen 11/11 min assist", "11/11"),
    ],
)
def test_a_day_stays_whatever_unit_or_pressure_stands_beside_it(text: str, found: str) -> None:
    assert left(text, found, "DATE") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Age (yrs): 6", "6"),
        ("Age in years: 6", "6"),
        ("Age at diagnosis: 6", "6"),
        ("Children: 6, 9 and 12", "6"),
        ("Children: 6, 9 and 12", "9"),
        ("a 9 y male", "9"),
        ("a 7 mo M", "7"),
        ("is 95 plus years", "95"),
        ("92 plus y/o", "92"),
        ("Tiene 8.", "8"),
    ],
)
def test_an_age_stays_behind_its_label(text: str, found: str) -> None:
    assert left(text, found, "AGE") == found


def test_what_is_added_to_a_dose_is_no_age() -> None:
    assert left("now 40 plus 20 daily", "40", "AGE") is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Appy 65, TAH 82", "65"),
        ("Appy 65, TAH 82", "82"),
        ("s/p CABG 98", "98"),
        ("Hysterectomy, 84", "84"),
        ("on epiphany", "epiphany"),
        ("dialysis fr", "fr"),
    ],
)
def test_a_year_behind_a_procedure_and_a_feast_stay(text: str, found: str) -> None:
    assert left(text, found, "DATE") == found


def test_a_feast_of_spanish_notes_stays() -> None:
    spanish = Impersonal.of(load_scheme("meddocan"), lambda word: True, "Spanish")
    note = Document("a", "Acude a la consulta.\nEn nochebuena.", (Annotation(24, 34, "FECHAS"),))
    assert spanish.give_up(note) == note


@pytest.mark.parametrize("before", [HASTE, "Seen in the clinic. The patient was well.\n"])
@pytest.mark.parametrize("name", ["tia", "jane doe", "gerd muller"])
def test_shorthand_that_people_are_called_stays_whatever_capitals_tell(before: str, name: str) -> None:
    assert left(f"Pt {name} came", name, before=before) == name

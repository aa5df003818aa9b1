"""What a hospital decides about hiding: its file of settings, its lists, its patients, and the modes by category."""

from __future__ import annotations

import hmac
import unicodedata
from fractions import Fraction
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from site_client.deid.by_category import ByCategory
from site_client.deid.choices.config import DeidConfig, read_config
from site_client.deid.choices.lists import HospitalLists
from site_client.deid.deidentify import Tally, deidentify
from site_client.deid.hashed import Hash
from site_client.deid.mode import Hiding, Setting
from site_client.deid.registry import MODES
from tests.site_client.deid.test_deidentify import Finds

FULL = """
epsilon = 2
language = "Spanish"
patient_entities = 7
[dates]
order = "day first"
shift = true
shift_epsilon = 0.05
oldest_age = 85
earliest_year = 1920
years_ahead = 1
[places]
file = "ours.csv"
unit_km = 10
feature_units = { radon = 3.5 }
[names]
gender = false
initials = true
culture = true
[categories.FECHAS]
mode = "surrogate"
epsilon = 0.5
unit = "week"
[categories.NUMERO_TELEFONO]
mode = "block"
[categories.OURS]
kind = "person"
[allow]
"*" = ["Parkinson"]
[deny]
HOSPITAL = ["San Telmo"]
"""


def config(tmp_path: Path, text: str) -> DeidConfig:
    (tmp_path / "ours.toml").write_text(text)
    (tmp_path / "ours.csv").write_text("name,latitude,longitude,radon\nAlba,40,1,3\nBeta,41,2,5\n")
    return read_config(tmp_path / "ours.toml")


def hiding(name: str) -> Hiding:
    mode = MODES[name]
    assert isinstance(mode, Hiding)
    return mode


def test_everything_that_can_be_said_is_heard(tmp_path: Path) -> None:
    read = config(tmp_path, FULL)
    settings = read.surrogates
    assert (settings.epsilon, settings.language, settings.patient_entities) == (Fraction(2), "Spanish", 7)
    assert settings.epsilons == {"FECHAS": Fraction(1, 2)}
    assert settings.units == {"FECHAS": "week"}
    assert settings.kinds == {"OURS": "person"}
    time = settings.time
    assert (time.shift, time.shift_epsilon, time.day_first, time.oldest) == (True, Fraction(1, 20), True, 85)
    assert (time.earliest, time.years_ahead) == (1920, 1)
    assert (settings.names.gender, settings.names.initials, settings.names.culture) == (False, True, True)
    assert settings.places.candidates is not None
    assert [place.name for place in settings.places.candidates] == ["Alba", "Beta"]
    assert (settings.places.unit_km, settings.places.feature_units) == (10.0, {"radon": 3.5})
    assert {category: mode.name for category, mode in read.modes.items()} == {
        "FECHAS": "surrogate",
        "NUMERO_TELEFONO": "block",
    }
    assert read.lists


def test_the_example_of_the_module_is_one(tmp_path: Path) -> None:
    from site_client.deid.choices import config as module

    example = (module.__doc__ or "").partition("\n\n")[2]
    assert config(tmp_path, example.replace("communes.csv", "ours.csv")).modes


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    read = config(tmp_path, "")
    assert read.surrogates == DeidConfig().surrogates
    assert read.mode(hiding("redact")) is MODES["redact"]
    assert not read.lists


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epsilon = ", "expected TOML"),
        ('epsilon = "1"', "epsilon: expected a number"),
        ("epsilon = true", "epsilon: expected a number"),
        ("epsilon = inf", "epsilon: expected a number"),
        ("epsilon = 0", "above 0"),
        ("epsilom = 1", "epsilom"),
        ("[dates]\nshifts = true", "dates.shifts"),
        ('[dates]\norder = "day"', "day first"),
        ("[dates]\nshift = 1", "true or false"),
        ("dates = 1", "a table"),
        ('[categories.DATE]\nmode = "tag"', "redact, surrogate"),
        ('[categories.DATE]\nmode = "hide"', "redact, surrogate"),
        ('[categories.DATE]\nmodes = "hash"', "categories.DATE.modes"),
        ('[categories.DATE]\nunit = "fortnight"', "unit of DATE"),
        ('language = "Klingon"', "language"),
        ('[deny]\nHOSPITAL = "St Anne"', "a list of texts"),
        ('[deny]\nHOSPITAL = ["..."]', "a letter or a digit"),
        ("[places]\nunit_km = -1", "units above 0"),
        ('[dates]\norder = ["day first"]', 'dates.order: expected "day first" or "month first", got a list'),
        ("[dates]\norder = { day = 1 }", "dates.order: .* got a table"),
        ("[dates]\norder = 2020-01-01", "dates.order: .* got a date or a time"),
        ("epsilon = 1e400", r"epsilon: expected a number .* got 1e\+400"),
        ("epsilon = 1e-400", r"epsilon: expected a number .* got 1e-400"),
        ("epsilon = 1e999999999999999999", "epsilon: expected a number"),
        ("epsilon = 1e9999999999999999999999", "expected TOML"),
        (f"epsilon = 1{'0' * 400}", r"epsilon: expected a number .* got 1\.00e\+400"),
        (f"epsilon = 1{'0' * 5000}", "expected TOML"),
        (f"epsilon = 0x1{'0' * 5000}", "epsilon: expected a number"),
        (f"patient_entities = 0x1{'0' * 5000}", "patient_entities: expected a whole number"),
        ("epsilon = nan", "epsilon: expected a number"),
        ("[categories.DATE]\nepsilon = 1e400", "categories.DATE.epsilon: expected a number"),
        ("[dates]\nshift_epsilon = 1e400", "dates.shift_epsilon: expected a number"),
        ("[places]\nunit_km = 1e400", r"places.unit_km: expected a number .* got 1e\+400"),
        ("[places]\nunit_km = 1e-400", "places.unit_km: expected a number"),
        ("[places]\nfeature_units = { x = 1e999 }", r"places.feature_units.x: expected a number .* got 1e\+999"),
        ('[places]\nfeature_units = { x = "1" }', "places.feature_units.x: expected a number, got a text"),
        ("[places]\nfeature_units = 1", "places.feature_units: expected a table, got a number"),
        (
            '[places]\nfile = "a\\u0000b"',
            "places.file: expected the name of a file, got one with a sign that no name has",
        ),
        ('[places]\nfile = ""', "places.file: expected the name of a file"),
        ("[places]\nfile = 1", "places.file: expected a text in quotes, got a number"),
        ("x = " + "[" * 5000, "expected TOML"),
    ],
)
def test_what_is_mistyped_is_told_in_a_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        config(tmp_path, text)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 250


def test_every_category_goes_its_own_way() -> None:
    mode = ByCategory(hiding("redact"), {"PHONE": hiding("block"), "CITY": hiding("fixed"), "PATIENT": hiding("hash")})
    text = "Ana 12 34 Bonn 40 Ana"
    spans = ((0, 3, "PATIENT"), (4, 9, "PHONE"), (10, 14, "CITY"), (15, 17, "AGE"), (18, 21, "PATIENT"))
    hidden = mode.turn(Document("n", text, tuple(Annotation(*span) for span in spans))).text.split(" ")
    assert hidden[1:5] == ["██", "██", "████████", "[AGE]"]
    assert hidden[0] == hidden[5] != "[PATIENT]"


def test_hashes_are_the_same_for_the_same_under_one_key_and_hang_on_it() -> None:
    note = Document(
        "n",
        "José García, jose garcia, José",
        tuple(Annotation(*one, "PATIENT") for one in ((0, 11), (13, 24), (26, 30))),
    )
    one, other = Hash(b"k" * 32).turn(note).text, Hash(b"l" * 32).turn(note).text
    first, second, third = one.split(", ")
    assert first == second != third
    assert one == Hash(b"k" * 32).turn(note).text != other
    assert Hash().prepared(Setting(key=lambda: b"k" * 32)).turn(note).text == one


# Pairs of names that differ in a mark alone: Devanagari vowels and virama, Thai vowels and tones, Japanese, Bengali.
MARKED = ["रमा रमी", "राम राम्", "กุ กู", "ไก่ ไก้", "かく がく", "মিতা মীতা"]


@pytest.mark.parametrize("names", MARKED)
def test_names_that_differ_in_a_mark_of_their_script_get_two_codes(names: str) -> None:
    first = names.split(maxsplit=1)[0]
    note = Document("n", names, (Annotation(0, len(first), "P"), Annotation(len(first) + 1, len(names), "P")))
    codes = Hash(b"k" * 32).turn(note).text.split()
    assert len(set(codes)) == 2


@pytest.mark.parametrize("names", ["Muñoz MUNOZ", "Weiß weiss", "Nguyễn NGUYEN", "İnce ince", "ΆΝΝΑ άννα", "É.B é-b"])
def test_one_name_in_two_spellings_gets_one_code(names: str) -> None:
    first = names.split(maxsplit=1)[0]
    note = Document("n", names, (Annotation(0, len(first), "P"), Annotation(len(first) + 1, len(names), "P")))
    assert len(set(Hash(b"k" * 32).turn(note).text.split())) == 1


@pytest.mark.parametrize("names", MARKED)
def test_another_name_than_the_one_that_is_allowed_stays_hidden(names: str) -> None:
    allowed, other = names.split()
    lists = HospitalLists({"*": [allowed]}, {})
    note = Document("n", other, (Annotation(0, len(other), "P"),))
    assert lists.apply(note).annotations == note.annotations
    assert not lists.apply(Document("n", allowed, (Annotation(0, len(allowed), "P"),))).annotations


def test_a_code_is_the_one_that_it_was() -> None:
    """Codes of earlier runs go on to be compared: this one is of release 1.0.0's first day."""
    note = Document("n", "Dr. Ana-María  LÓPEZ_Núñez", (Annotation(0, 26, "DOCTOR"),))
    same = hmac.digest(b"k" * 32, b"deid-commons hash 1\0" + b"dr ana maria lopez nunez", "sha256").hex()
    assert Hash(b"k" * 32).turn(note).text == f"[DOCTOR:{same[:16]}]"


def test_masks_show_no_more_than_they_say() -> None:
    note = Document("n", "Ana Berg\nhere", (Annotation(0, 13, "PATIENT"),))
    assert hiding("block").turn(note).text == "███ ████\n████"
    assert hiding("fixed").turn(note).text == "████████\n████████"


def test_what_is_denied_is_hidden_and_what_is_allowed_is_not() -> None:
    lists = HospitalLists({"*": ["Parkinson"], "CITY": ["Foley"]}, {"HOSPITAL": ["San Télmo", "HST"]})
    text = "Parkinson at SAN  TELMO, hst and Foley; HSTX, Foley"
    found = tuple(Annotation(*one) for one in ((0, 9, "PATIENT"), (33, 38, "CITY"), (46, 51, "PATIENT")))
    applied = lists.apply(Document("n", text, found))
    assert [(applied.covered_text(span), span.category) for span in applied.annotations] == [
        ("SAN  TELMO", "HOSPITAL"),
        ("hst", "HOSPITAL"),
        ("Foley", "PATIENT"),
    ]


def test_what_is_on_both_lists_is_hidden() -> None:
    lists = HospitalLists({"*": ["St Anne"]}, {"HOSPITAL": ["St Anne", "St Anne Hospital"]})
    (span,) = lists.apply(Document("n", "at st. anne hospital", (Annotation(3, 11, "CITY"),))).annotations
    assert (span.start, span.end) == (3, 20)


DENIED = ["Muñoz", "Weiß", "Strauss", "San Telmo", "İnce"]
SPELT = [
    "Muñoz",
    "MUÑOZ",
    "Munoz",
    "Mun\u0303oz",
    "Weiß",
    "WEISS",
    "weiss",
    "WEIẞ",
    "Strauß",
    "STRAUSS",
    "San   \n      Telmo",
    "SAN-TELMO",
    "Sań Telmó",
    "San Telmo\u0301",
    "ince",
    "İNCE",
    "ﬁn Strauß",
]


@pytest.mark.parametrize("spelt", SPELT)
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_what_is_denied_is_hidden_in_whatever_spelling(spelt: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> None:
    said = unicodedata.normalize(form, spelt)
    text = f"Groß ﬁng é {said}, Maßen"
    (span,) = HospitalLists({}, {"PATIENT": DENIED}).apply(Document("n", text, ())).annotations
    start = text.index(said) + (0 if "Strauß" not in spelt else said.index("S"))
    assert text[span.start : span.end] == text[start : text.index(", ")]


@pytest.mark.parametrize("text", ["Muñozes", "Weißer", "Sweiß", "Weise", "Santelmo", "Muno"])
def test_a_part_of_a_word_is_not_what_is_denied(text: str) -> None:
    for form in ("NFC", "NFD"):
        note = Document("n", unicodedata.normalize(form, text), ())
        assert HospitalLists({}, {"PATIENT": DENIED}).apply(note).annotations == ()


def test_denied_texts_that_overlap_are_hidden_all() -> None:
    lists = HospitalLists({}, {"HOSPITAL": ["St Anne", "Anne Hospital"]})
    applied = lists.apply(Document("n", "at St Anne Hospital", ()))
    hidden = "".join(applied.covered_text(span) for span in applied.annotations)
    assert hidden == "St Anne Hospital"


UNSEEN = ("\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\u200e")


@pytest.mark.parametrize("sign", UNSEEN)
@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Dr Smi|th came", "Smi|th"),
        ("Dr |Smith| came", "Smith"),
        ("Dr|Smith|came", "Smith"),
        ("S|m|i|t|h came", "S|m|i|t|h"),
        ("at St|Anne, now", "St|Anne"),
        ("at St| Anne, now", "St| Anne"),
        ("at St |An|ne, now", "St |An|ne"),
        ("Lo|renz came", "Lo|renz"),
        ("Lorenz came", "Lorenz"),
    ],
)
def test_signs_that_nobody_sees_do_not_keep_what_is_denied_in_clear(text: str, hidden: str, sign: str) -> None:
    text, hidden = text.replace("|", sign), hidden.replace("|", sign)
    lists = HospitalLists({}, {"PATIENT": ["Smith", "St Anne", "Lo\u00adrenz"]})
    (span,) = lists.apply(Document("n", text, ())).annotations
    assert text[span.start : span.end] == hidden


@pytest.mark.parametrize("sign", UNSEEN)
@pytest.mark.parametrize(
    ("text", "found"), [("Parkin|son came", "Parkin|son"), ("Van|dam came", "Van|dam"), ("Mari|anne came", "anne")]
)
def test_signs_that_nobody_sees_let_nothing_pass_as_allowed(text: str, found: str, sign: str) -> None:
    lists = HospitalLists({"*": ["Parkinson", "Van Dam", "Anne"]}, {})
    text, found = text.replace("|", sign), found.replace("|", sign)
    start = text.index(found)
    note = Document("n", text, (Annotation(start, start + len(found), "PATIENT"),))
    assert lists.apply(note).annotations == note.annotations


@given(st.text(max_size=30), st.text("aßñé̃İﬁ½ \n'-", max_size=8), st.text(max_size=30))
def test_what_is_denied_is_found_anywhere(before: str, said: str, behind: str) -> None:
    if not any(map(str.isalnum, said)) or unicodedata.combining(said[0]):
        return
    text = f"{before} | {said} | {behind}"
    start = len(before) + len(" | ")
    spans = HospitalLists({}, {"PATIENT": [said]}).apply(Document("n", text, ())).annotations
    hidden = {place for span in spans for place in range(span.start, span.end)}
    assert {start + at for at, sign in enumerate(said) if sign.isalnum()} <= hidden


@pytest.mark.parametrize(
    ("text", "found", "stays"),
    [
        ("Weiß came", "Weiß", False),
        ("Mun\u0303oz came", "Mun\u0303oz", False),
        ("Mun\u0303oz came", "Mun", True),
        ("Parkinsons came", "Parkinson", True),
        ("McParkinson came", "Parkinson", True),
        ("Parkinson's disease", "Parkinson", False),
        ("का came", "का", True),
        ("की came", "की", False),
    ],
)
def test_what_may_say_something_else_is_not_allowed(text: str, found: str, stays: bool) -> None:
    lists = HospitalLists({"*": ["Weiss", "Muñoz", "Mun", "Parkinson", "की"]}, {})
    start = text.index(found)
    note = Document("n", text, (Annotation(start, start + len(found), "PATIENT"),))
    assert bool(lists.apply(note).annotations) is stays


def test_lists_hold_for_labels_of_the_notes_too() -> None:
    lists = HospitalLists({"*": ["Anna"]}, {"CITY": ["Bonn"]})
    note = Document("n", "Anna in Bonn", (Annotation(0, 4, "PATIENT"),))
    (done,) = deidentify(Finds(()), [note], MODES["redact"], Tally(), lists)
    assert done.text == "Anna in [CITY]"
    (shown,) = deidentify(Finds(()), [note], MODES["tag"], Tally(), lists)
    assert shown.annotations == ()

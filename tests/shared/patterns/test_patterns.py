"""What rules and lists find in a text, and that a search takes time that grows with the text alone."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.labels import HIDDEN, LabelScheme, load_scheme, scheme_names
from shared.patterns.check_digits import CHECKS
from shared.patterns.engine import Patterns, _surroundings
from shared.patterns.kinds import Suspicion, stated_kinds
from shared.patterns.names import NameLists

ENGLISH, SPANISH = load_scheme("i2b2_2014"), load_scheme("meddocan")
FINDERS: tuple[Patterns | NameLists, ...] = (Patterns(SPANISH), NameLists(SPANISH))
STATED = stated_kinds()


def found(text: str, scheme: LabelScheme, least: float = 0.5) -> set[tuple[str, str]]:
    return {(text[one.start : one.end], one.category) for one in Patterns(scheme).find(text) if one.certainty >= least}


@pytest.mark.parametrize(
    ("text", "phi", "category"),
    [
        ("seen on 03/04/2019.", "03/04/2019", "DATE"),
        ("seen on 2019-04-03.", "2019-04-03", "DATE"),
        ("seen on the 3rd of April 2019.", "3rd of April 2019", "DATE"),
        ("seen on April 3, 2019.", "April 3, 2019", "DATE"),
        ("Write to a.b-c@ward.example.org.", "a.b-c@ward.example.org", "EMAIL"),
        ("See https://ward.example.org/x?y=1, please.", "https://ward.example.org/x?y=1", "URL"),
        ("See www.example.org.", "www.example.org", "URL"),
        ("Call (555) 123-4567 now", "(555) 123-4567", "PHONE"),
        ("Call 555-123-4567 now", "555-123-4567", "PHONE"),
        ("Pager: 12345", "12345", "PHONE"),
        ("Fax: 555 1234567", "555 1234567", "FAX"),
        ("MRN: 12-345", "12-345", "MEDICALRECORD"),
        ("account 7654321", "7654321", "MEDICALRECORD"),
        ("sample AB-12345 was", "AB-12345", "IDNUM"),
        ("Dr. J. Quillfeather saw her", "J. Quillfeather", "DOCTOR"),
        ("Mrs Oxenthorpe came", "Oxenthorpe", "PATIENT"),
        ("at Saint Osyth Hospital today", "Saint Osyth Hospital", "HOSPITAL"),
        ("lives at 12 Larkspur Lane.", "12 Larkspur Lane", "STREET"),
        ("a 54-year-old", "54", "AGE"),
        ("he was (7 y.o.) then", "7", "AGE"),
        ("an 87yo man", "87", "AGE"),
        ("in her 70s", "70s", "AGE"),
        ("seen 29-Oct-07.", "29-Oct-07", "DATE"),
        ("since the 27th of January", "27th of January", "DATE"),
        ("in Jan '07", "Jan '07", "DATE"),
        ("09NOV21 0811", "09NOV21", "DATE"),
        ("moved here in 2004.", "2004", "DATE"),
        ("back on Saturday, January 23rd", "Saturday, January 23rd", "DATE"),
        ("our line, ext. 583", "583", "PHONE"),
        ("call 361.428.2325", "361.428.2325", "PHONE"),
        ("call 361.4282325 now", "361.4282325", "PHONE"),
        ("pager #8744", "#8744", "PHONE"),
        ("SSN XXX-XX-6164", "XXX-XX-6164", "SSN"),
        ("SSN 219-09-9999", "219-09-9999", "SSN"),
        ("MRN: 2821/129", "2821/129", "MEDICALRECORD"),
        ("signed rjm@10/12/07", "rjm", "USERNAME"),
        ("from 192.168.17.4", "192.168.17.4", "IPADDR"),
        ("see ward-care.net/contact today", "ward-care.net/contact", "URL"),
        ("in Ohio 43004", "43004", "ZIP"),
        ("lives in SW1A 2AA", "SW1A 2AA", "ZIP"),
        ("Jo Quillfeather, RN", "Jo Quillfeather", "DOCTOR"),
        ("his wife Oxenthorpe", "Oxenthorpe", "PATIENT"),
        ("She works part-time as a piano tuner at home", "piano tuner", "PROFESSION"),
        ("a pleasant 75-year-old nail florist from Quill", "nail florist", "PROFESSION"),
        ("I'm a retired school librarian, I", "school librarian", "PROFESSION"),
        ("He was laid off from Oxenthorpe Mills in", "Oxenthorpe Mills", "ORGANIZATION"),
        ("cook at the Quillfeather School District", "Quillfeather School District", "ORGANIZATION"),
        ("Insurance: Quill Shield ID 77", "Quill Shield", "ORGANIZATION"),
        ("transcript\nQuillfeather Regional\n12 May", "Quillfeather Regional", "HOSPITAL"),
        ("brought to St. Quilla's today", "St. Quilla's", "HOSPITAL"),
        ("ROOM: ICU-16", "ICU-16", "HOSPITAL"),
        ("Transfer from 9S with", "9S", "HOSPITAL"),
        ("J. Quill, MD\nJQ/mtr\n", "mtr", "USERNAME"),
        ("charted by quilla on 3/4", "quilla", "USERNAME"),
        ("returned call from 3752.", "3752", "PHONE"),
        ("quit in March of that year", "March", "DATE"),
        ("seen 6-13, 8/19, 1/24 here", "6-13, 8/19, 1/24", "DATE"),
        ("stay of 3/2-3/7/19", "3/2", "DATE"),
        ("pain,3/2/2019", "3/2/2019", "DATE"),
        ("seen 3 / 2 / 2019", "3 / 2 / 2019", "DATE"),
        ("labs 3/6 fine", "3/6", "DATE"),
        ("quit '92), no", "'92", "DATE"),
        ("le 12 janvier 2019.", "12 janvier 2019", "DATE"),
        ("am 3. März 1961.", "3. März 1961", "DATE"),
        ("seen 5-III-2019.", "5-III-2019", "DATE"),
        ("DOB: 030461", "030461", "DATE"),
        ("Jo Quillfeather, DO", "Jo Quillfeather", "DOCTOR"),
        ("Jo Quillfeather, LCSW", "Jo Quillfeather", "DOCTOR"),
        ("cc: J. P. Quillfeather", "J. P. Quillfeather", "DOCTOR"),
        ("Drs. Quill, Oxen and Larkspur", "Larkspur", "DOCTOR"),
        ("DICTATED BY: JO QUILL", "JO QUILL", "DOCTOR"),
        ("Signed by Jo Quill", "Jo Quill", "DOCTOR"),
        ("seen.\nQUILL, JO P\nDOB 1", "QUILL, JO P", "PATIENT"),
        ("with mom Oxenthorpe", "Oxenthorpe", "PATIENT"),
        ("his sister-in-law Oxenthorpe", "Oxenthorpe", "PATIENT"),
        ("wife (Oxenthorpe), who", "Oxenthorpe", "PATIENT"),
        ("a daughter named Oxenthorpe", "Oxenthorpe", "PATIENT"),
        ("his wife's name is Oxenthorpe", "Oxenthorpe", "PATIENT"),
        ("Next of kin: Jo Oxenthorpe", "Jo Oxenthorpe", "PATIENT"),
        ("MRN = 123 456", "123 456", "MEDICALRECORD"),
        ("Med Rec #12-345", "12-345", "MEDICALRECORD"),
        ("CSN is 12345", "12345", "MEDICALRECORD"),
        ("SSN ends in 6164", "6164", "SSN"),
        ("12 Larkspur Lane, Apt 3B", "12 Larkspur Lane, Apt 3B", "STREET"),
        ("12 Larkspur Lane, Unit C4", "12 Larkspur Lane, Unit C4", "STREET"),
        ("write to @quilla_7 there", "quilla_7", "USERNAME"),
        ("call 01632 960123", "01632 960123", "PHONE"),
        ("call 01.99.00.12.34", "01.99.00.12.34", "PHONE"),
        ("ext 4-4321", "4-4321", "PHONE"),
        ("VIN 1HGCM82633A004352", "1HGCM82633A004352", "IDNUM"),
        ("key 123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000", "IDNUM"),
        ("from 00:1b:44:11:3a:b7", "00:1b:44:11:3a:b7", "IDNUM"),
        ("to GB29 NWBK 6016 1331 9268 19", "GB29 NWBK 6016 1331 9268 19", "IDNUM"),
        ("from 2001:db8::ff00:42", "2001:db8::ff00:42", "IPADDR"),
        ("from 2001:db8:0:0:0:ff00:42:1", "2001:db8:0:0:0:ff00:42:1", "IPADDR"),
        ("pcp quillfeather 555 123 4567", "quillfeather", "DOCTOR"),
        ("pmd = quill-oxen (larkspur clinic).", "quill-oxen", "DOCTOR"),
        ("pmd = quill-oxen (larkspur clinic).", "larkspur clinic", "HOSPITAL"),
        ("txt quill p12345.", "quill", "DOCTOR"),
        ("rn larkspur aware.", "larkspur", "DOCTOR"),
        ("d/w dr quill 0410.", "quill", "DOCTOR"),
        ("f/u oxenthorpe 3/4 or prn.", "oxenthorpe", "DOCTOR"),
        ("f/u oxenthorpe 3/4 or prn.", "3/4", "DATE"),
        ("xfer fr st osyth 3/4, accept oxen.", "st osyth", "HOSPITAL"),
        ("xfer fr st osyth 3/4, accept oxen.", "3/4", "DATE"),
        ("xfer fr st osyth 3/4, accept oxen.", "oxen", "DOCTOR"),
        ("cb 555 1234 ask for larkspur.", "larkspur", "PATIENT"),
        ("jq wants out ama", "jq", "PATIENT"),
        ("larkspur oxen eloped 3/4, back sun", "larkspur oxen", "PATIENT"),
        ("larkspur oxen eloped 3/4, back sun", "3/4", "DATE"),
        ("larkspur oxen eloped 3/4, back sun", "sun", "DATE"),
        ("homeless, stays quillton / a shelter", "quillton", "CITY"),
        ("no travel since 6/99.", "6/99", "DATE"),
        ("here weds", "weds", "DATE"),
        ("ed visit x2 (3-16, sat).", "sat", "DATE"),
    ],
)
def test_what_looks_like_phi_is_found(text: str, phi: str, category: str) -> None:
    assert (phi, category) in found(text, ENGLISH)


@pytest.mark.parametrize(
    ("text", "phi", "category"),
    [
        ("visto el 3 de abril de 2019.", "3 de abril de 2019", "FECHAS"),
        ("desde marzo de 2019.", "marzo de 2019", "FECHAS"),
        ("Tel.: 912 345 678", "912 345 678", "NUMERO_TELEFONO"),
        ("DNI: 12345678Z", "12345678Z", "ID_SUJETO_ASISTENCIA"),
        ("NASS: 28 12345678 12", "28 12345678 12", "ID_ASEGURAMIENTO"),
        ("CP: 28046", "28046", "TERRITORIO"),
        ("Hospital Universitario de la Luna", "Hospital Universitario de la Luna", "HOSPITAL"),
        ("la Dra. Ana Luna de la Cruz pasó", "Ana Luna de la Cruz", "NOMBRE_PERSONAL_SANITARIO"),
        ("Varón de 54 años de edad", "54 años", "EDAD_SUJETO_ASISTENCIA"),
        ("Varón de 54 años", "Varón", "SEXO_SUJETO_ASISTENCIA"),
        ("su hermana", "hermana", "FAMILIARES_SUJETO_ASISTENCIA"),
        ("nacido el 23-octubre-1972.", "23-octubre-1972", "FECHAS"),
        ("en octubre de 2016", "octubre de 2016", "FECHAS"),
        ("en el año 1978", "año 1978", "FECHAS"),
        ("Lactante de ocho meses", "ocho meses", "EDAD_SUJETO_ASISTENCIA"),
        ("NºCol: 28 28 70973", "28 28 70973", "ID_TITULACION_PERSONAL_SANITARIO"),
        ("Nº Col. 12345", "12345", "ID_TITULACION_PERSONAL_SANITARIO"),
        ("Domicilio: Calle de la Luna 3, 2B", "Calle de la Luna 3, 2B", "CALLE"),
        ("Domicilio: Calle Luna, 36", "Calle Luna, 36", "CALLE"),
        ("Domicilio: Av. Luna, 7, 1 izda", "Av. Luna, 7, 1 izda", "CALLE"),
        ("Domicilio: Avda. de Luna, S/N", "Avda. de Luna, S/N", "CALLE"),
        ("Remitido por: Ana Luna Zarzal Servicio de", "Ana Luna Zarzal", "NOMBRE_PERSONAL_SANITARIO"),
        ("Fdo.: Ana Luna", "Ana Luna", "NOMBRE_PERSONAL_SANITARIO"),
        ("viene D. Juan Luna hoy", "Juan Luna", "NOMBRE_SUJETO_ASISTENCIA"),
        ("desde mayo con dolor", "mayo", "FECHAS"),
        ("N.H.C.: 12345", "12345", "ID_SUJETO_ASISTENCIA"),
        ("Nº HC: 12345", "12345", "ID_SUJETO_ASISTENCIA"),
        ("con 12.345.678-Z", "12.345.678-Z", "ID_SUJETO_ASISTENCIA"),
        ("c. p.: 28046", "28046", "TERRITORIO"),
        ("Tfno: 985 27 36 14", "985 27 36 14", "NUMERO_TELEFONO"),
        ("con X1234567L en regla", "X1234567L", "ID_SUJETO_ASISTENCIA"),
    ],
)
def test_what_looks_like_phi_is_found_in_spanish(text: str, phi: str, category: str) -> None:
    assert (phi, category) in found(text, SPANISH)


@pytest.mark.parametrize(
    "text",
    [
        "BP 120/80, HR 72.",
        "5 mg twice a day for 10 days",
        "grade 2/6 murmur",
        "T4 N2",
        "tel aviv",
        "2000 mL of 0.9% saline",
        "platelets 250000, pH 7.46",
        "repeat in 10-14 days",
        "5/5 strength, 1-2 tablets q4-6h",
        "it may help, with 3 stones",
        "L4-L5 and C5-C6 discectomy",
        "a poor historian, seen with a case manager",
        "works as before, and a needle driver was used",
        "General\nMental status: alert",
        "paged from 0700 hours",
        "BP/HR\nstable",
        "as it may be, so they march on",
        "strength 4/5, 3/5",
        "labs 3/5, pain at 4/10",
        "home with mom. The friend",
        "FAMILY, SOCIAL\n",
        "VERIFIED BY ACTIVATED CLOTTING",
        "a nurse Practitioner",
        "5 '11 tall",
        "Paged RT at 0210, f/u pcp 2-3d, f/u cards 3/4",
        "the patient left AMA, she wants out ama, pt eloped",
        "md aware, rn on call aware, family notified",
        "asked to ask for help. accept treatment. d/w pt 0410",
        "o2 sat 98%, back pain, in the sun",
        "cc: as above",
        "a ratio of 1:2::3 x",
    ],
)
def test_clinical_numbers_are_none(text: str) -> None:
    assert not found(text, ENGLISH)


@pytest.mark.parametrize(
    "text",
    [
        "hace 3 años",
        "desde hace dos meses",
        "12 años de evolución",
        "5 mg cada 8 horas",
        "2.400.000 U",
        "la AV era 0,3",
        "vitamina D. Cada Mes",
    ],
)
def test_clinical_numbers_are_none_in_spanish(text: str) -> None:
    assert not found(text, SPANISH)


def test_a_language_has_its_own_rules() -> None:
    text = "sisters on 3/4, aged 45; varón"
    assert {one.source for one in Patterns(SPANISH, "English").find(text)} >= {"age"}
    assert {one.source for one in Patterns(SPANISH, "Spanish").find(text)} >= {"sex"}
    assert "sex" not in Patterns(SPANISH, "English").kinds


@pytest.mark.parametrize(("scheme", "ages"), [("i2b2_2014", {"54", "91"}), ("i2b2_2006", {"91"}), ("hipaa", {"91"})])
def test_ages_up_to_89_are_phi_only_where_the_scheme_says_so(scheme: str, ages: set[str]) -> None:
    text = "a 54 year old, and a 91 year old"
    kinds = ("age", "age_over_89")
    assert {
        text[one.start : one.end] for one in Patterns(load_scheme(scheme)).find(text) if one.source in kinds
    } == ages


def test_of_a_kind_that_is_not_sure_enough_nothing_is_found() -> None:
    assert "decade" in Patterns(ENGLISH).kinds
    assert "decade" not in Patterns(ENGLISH, least=0.9).kinds


@pytest.mark.parametrize(
    ("check", "number"),
    [
        # Of the agencies' own documents: the form of Spain's identity card, NHS Data Dictionary, INSEE, ISO 7812.
        ("nif", "12345678Z"),
        ("nif", "X1234567L"),
        ("nhs", "943 476 5919"),
        ("nir", "2 55 08 14 168 025 38"),
        ("luhn", "4111 1111 1111 1111"),
    ],
)
def test_a_number_passes_its_check_and_no_other_last_sign_does(check: str, number: str) -> None:
    assert CHECKS[check](number)
    signs = "TRWAGMYFPDXBNJZSQVHLCKE" if check == "nif" else "0123456789"
    assert [sign for sign in signs if CHECKS[check](number[:-1] + sign)] == [number[-1]]


def test_a_number_that_fails_its_check_is_no_identity_card() -> None:
    assert ("12345678Z", "ID_SUJETO_ASISTENCIA") in found("con 12345678Z.", SPANISH)
    assert not {one for one in Patterns(SPANISH).find("con 12345678A.") if one.source == "national_identity"}


def test_a_scheme_without_a_category_hides_it_or_does_not_count_it() -> None:
    scheme = LabelScheme("own", ("DEVICE", "PERSON"))
    text = "Varón, 54 años de edad, Dr Luna, a@b.org"
    assert found(text, scheme) == {("Luna", "PERSON"), ("a@b.org", HIDDEN)}


@pytest.mark.parametrize("name", scheme_names())
def test_every_category_that_is_named_is_one_of_some_scheme(name: str) -> None:
    every = {category for scheme in map(load_scheme, scheme_names()) for category in scheme.categories}
    own = {"PERSON", "LOCATION", "ID", "NAME"}
    assert {category for kind in STATED.values() for category in kind["categories"]} <= every | own
    assert all(0 < kind["certainty"] < 1 for kind in STATED.values())
    assert Patterns(load_scheme(name))


@given(st.text("aA1 .,-/@(:\nÁñİßé") | st.text())
def test_whatever_the_text_what_is_found_lies_in_it(text: str) -> None:
    for one in [found for finder in FINDERS for found in finder.find(text)]:
        assert 0 <= one.start < one.end <= len(text)
        assert one.category in SPANISH.category_index


def repetitions(parsed: object) -> Iterator[tuple[int, int]]:
    """Least and most times of every repetition in a parsed expression."""
    for name, argument in parsed:  # type: ignore[attr-defined]
        if str(name) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield argument[0], argument[1]
            yield from repetitions(argument[2])
        elif str(name) == "SUBPATTERN":
            yield from repetitions(argument[-1])
        elif str(name) == "BRANCH":
            for branch in argument[1]:
                yield from repetitions(branch)
        elif str(name).startswith("ASSERT"):
            yield from repetitions(argument[1])


def test_attack_a_note_that_is_made_to_take_for_ever() -> None:
    """Nothing is repeated without end, and what is repeated within a repetition is repeated a few times only."""
    every = {rule.expression.pattern for scheme in (SPANISH, ENGLISH) for rule in Patterns(scheme).rules}
    assert len(every) > 30
    for pattern in every:
        found = list(repetitions(sre_parse.parse(pattern, re.VERBOSE)))
        assert all(most <= 500 for _, most in found), pattern
        assert math.prod(most - least + 1 for least, most in found if 2 <= most < 10) <= 1000, pattern


@given(st.text("X- \n"), st.sampled_from(["X", "XX"]))
def test_attack_no_place_is_searched_twice_for_a_text_that_stands_everywhere(text: str, held: str) -> None:
    text = text * 40
    around = list(_surroundings(held, text, 0, len(text)))
    assert all(last <= first for (_, last), (first, _) in pairwise(around))
    places = [place for place in range(len(text)) if text.startswith(held, place)]
    assert all(any(first <= place and place + len(held) <= last for first, last in around) for place in places)


NAMES = NameLists(SPANISH, [["Brunilda", "García"], ["Múgica"]], ["Oza"])


@pytest.mark.parametrize(
    ("text", "phi", "certainty"),
    [
        ("viene Brunilda hoy", "Brunilda", 0.55),
        ("viene BRUNILDA hoy", "BRUNILDA", 0.55),
        ("viene Mugica hoy", "Mugica", 0.55),
        ("Brunilda viene hoy", "Brunilda", 0.35),
        ("viene. Brunilda sigue", "Brunilda", 0.35),
        ("viene Brunilda Zwiebelfisch hoy", "Brunilda Zwiebelfisch", 0.9),
        ("viene García de la Torre-Múgica hoy", "García de la Torre-Múgica", 0.9),
        ("viene García y Múgica, Brunilda hoy", "García y Múgica, Brunilda", 0.9),
    ],
)
def test_names_on_lists_are_found(text: str, phi: str, certainty: float) -> None:
    [one] = NAMES.find(text)
    assert (text[one.start : one.end], one.category, one.certainty) == (phi, "NOMBRE_SUJETO_ASISTENCIA", certainty)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    "name",
    [
        "Brunilda\u00a0Zwiebelfisch",
        "Brunilda\tZwiebelfisch",
        "Bru\u00adnilda Zwiebelfisch",
        "García\u00a0Zúñiga",
        "Garc\u200bía Zúñiga",
    ],
)
def test_names_on_lists_are_found_however_a_note_writes_them(name: str, form: Literal["NFC", "NFD"]) -> None:
    text = unicodedata.normalize(form, f"viene {name} hoy")
    [one] = NAMES.find(text)
    assert (text[one.start : one.end], one.certainty) == (unicodedata.normalize(form, name), 0.9)


def test_a_name_that_a_line_end_parts_is_found() -> None:
    text = "La paciente ingresa por dolor y fiebre y viene con Brunilda\nZwiebelfisch desde su casa."
    assert "Brunilda\nZwiebelfisch" in {text[one.start : one.end] for one in NAMES.find(text)}


def test_places_on_lists_are_found_and_words_are_not() -> None:
    assert list(NAMES.find("va a Oza")) == [Suspicion(5, 8, "TERRITORIO", 0.55, "list of places")]
    assert not list(NAMES.find("la brunilda va a oza, Zwiebelfisch"))

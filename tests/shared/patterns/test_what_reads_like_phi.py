"""What reads like PHI behind a word that tells of it and is none, and what such a word tells of in other forms."""

from __future__ import annotations

import pytest

from shared.labels import load_scheme
from tests.shared.patterns.test_patterns import ENGLISH, SPANISH, found


@pytest.mark.parametrize(
    "text",
    [
        "sodium 140 (ref 136-145)",
        "WBC (normal 3150-4500)",
        "(ref: 4000-5000)",
        "record 120/80",
        "chart 100-150",
        "unit 1200, then 350 ml",
        "record 15000 ml",
        "case 1200-1400",
        "PT visit 1345",
        "id 1430: recs",
        "specimen 14500 g",
        "plan 10000 units",
        "plan: 50000 IU",
    ],
)
def test_a_range_a_pressure_and_an_hour_are_no_number_of_a_record(text: str) -> None:
    assert not found(text, ENGLISH, 0.9)


@pytest.mark.parametrize(
    ("text", "phi", "category"),
    [
        ("MRN: 1234", "1234", "MEDICALRECORD"),
        ("chart no. 1234", "1234", "MEDICALRECORD"),
        ("unit #1234", "1234", "MEDICALRECORD"),
        ("record 12345", "12345", "MEDICALRECORD"),
        ("case # 1234", "1234", "IDNUM"),
        ("ACCT: 1234-5678", "1234-5678", "IDNUM"),
        ("VISIT NUMBER: 1234", "1234", "IDNUM"),
        ("Record Number: 12-345", "12-345", "MEDICALRECORD"),
        ("Policy Number: 12345", "12345", "HEALTHPLAN"),
        ("License No. 12345", "12345", "LICENSE"),
    ],
)
def test_a_number_that_is_called_one_is_found_however_it_is_written(text: str, phi: str, category: str) -> None:
    assert (phi, category) in found(text, ENGLISH)


@pytest.mark.parametrize("text", ["NS1000 given", "ED1400", "uo1450", "BP9060", "seen to1430", "pt1030", "wt1250"])
def test_what_is_counted_or_timed_is_no_code(text: str) -> None:
    assert not found(text, ENGLISH, 0.9)
    assert ("QX1450", "IDNUM") in found("sample QX1450", ENGLISH)


@pytest.mark.parametrize(
    "text",
    [
        "Father Deceased, mother (Healthy)",
        "Sister Breast cancer",
        "Mother In Law helps",
        "Nurse Practitioner and Nurse Educator",
        "Mom Denies fever",
        "RN: Aware. PCP: None.",
        "Provider: Cardiology",
        "CONSULTANTS: NEPHROLOGY",
        "Ref: Negative",
        "Next of kin: Wife. Interpreter: Spanish",
        "Reviewed by Radiology",
        "Verified by Two nurses",
        "Drug Name: Quilladine",
        "Medication name: Quilladine",
        "Patient: Resting",
        "Dr Office closed. Dr. Notified.",
        "dr paged, dr. aware",
        "MS Contin and MS Exacerbation",
        "MR BRAIN. MR Angio.",
        "mr brought",
        "a screw driver",
    ],
)
def test_what_somebody_does_or_has_is_no_name(text: str) -> None:
    assert not found(text, ENGLISH, 0.9)


@pytest.mark.parametrize("text", ["Médico: Urgencias", "Responsable: Enfermería", "Firma: Ilegible", "dra responsable"])
def test_nor_is_it_in_spanish(text: str) -> None:
    assert not found(text, SPANISH, 0.9)


@pytest.mark.parametrize(
    ("text", "phi", "category"),
    [
        ("Dr. de la Quilla saw", "de la Quilla", "DOCTOR"),
        ("Mrs. van der Oxen came", "van der Oxen", "PATIENT"),
        ("Dr. St. Osyth saw", "St. Osyth", "DOCTOR"),
        ("Dr. J Quill saw", "J Quill", "DOCTOR"),
        ("by Dr. Q. The patient", "Q", "DOCTOR"),
        ("Mr. Stable came", "Stable", "PATIENT"),
        ("DR. QUILL CALLED", "QUILL", "DOCTOR"),
        ("MR Quill came", "Quill", "PATIENT"),
        ("Author: Jo Quill", "Jo Quill", "DOCTOR"),
        ("Fellow: Quill", "Quill", "DOCTOR"),
        ("Consultant: J Quill", "J Quill", "DOCTOR"),
        ("Ordered by: Jo Quill", "Jo Quill", "DOCTOR"),
        ("cosigned by Jo Quill", "Jo Quill", "DOCTOR"),
        ("Caregiver: Jo Quill", "Jo Quill", "PATIENT"),
        ("Patient: Jo Quill", "Jo Quill", "PATIENT"),
        ("Last Name: Quill", "Quill", "PATIENT"),
    ],
)
def test_who_did_it_and_who_has_a_title_is_found(text: str, phi: str, category: str) -> None:
    assert (phi, category) in found(text, ENGLISH)
    assert not {one for one in found(text, ENGLISH) if "The" in one[0] or "CALLED" in one[0]}


@pytest.mark.parametrize("label", ["Cirujano", "Anestesista", "Enfermera", "Ayudante"])
def test_who_did_it_is_found_in_spanish(label: str) -> None:
    assert ("Ana Luna", "NOMBRE_PERSONAL_SANITARIO") in found(f"{label}: Ana Luna", SPANISH)


@pytest.mark.parametrize(
    "text",
    [
        "admitted 2/2 sepsis",
        "due 2/2 dyspnea",
        "xfer from ward 2/2 hypoxia",
        "MMSE 10/30",
        "MoCA 12/28, Berg 8/29",
        "3/13 nodes",
        "bx 3/10 cores",
        "cath 2/3 vessels",
        "on 1/2 tab, on 4/4 bottles",
        "DTRs 2/4, 2/4",
        "pain 8/10, 6/10, 2/10",
        "1/2, 1/3, 2/3",
        "CK 1940, BNP 1990, ferritin 2010",
    ],
)
def test_a_score_a_part_and_a_count_are_no_day(text: str) -> None:
    assert not found(text, ENGLISH, 0.9)


@pytest.mark.parametrize("text", ["el 1/3 distal", "el 3/4 de los casos", "NPH 10-10-12 UI"])
def test_nor_are_they_in_spanish(text: str) -> None:
    assert not found(text, SPANISH, 0.9)


@pytest.mark.parametrize(
    ("text", "phi"),
    [
        ("admitted 2/2.", "2/2"),
        ("seen 2/2 by him", "2/2"),
        ("labs 10/30 fine", "10/30"),
        ("CT 3/13 positive", "3/13"),
        ("seen 3/Apr/2019", "3/Apr/2019"),
        ("seen Apr-03-2019", "Apr-03-2019"),
        ("well 2010-2012", "2010-2012"),
        ("seen 10-10-12", "10-10-12"),
    ],
)
def test_a_day_is_found_all_the_same(text: str, phi: str) -> None:
    assert (phi, "DATE") in found(text, ENGLISH)


@pytest.mark.parametrize(
    "text",
    [
        "a 5 day old infarct",
        "3 week old wound",
        "gestational age 32",
        "bone age 8",
        "age 4 times",
        "she is 34 weeks",
        "he was 40 pack",
        "18F foley, 28F chest tube",
        "T 99F, temp 98F",
        "HDP-Tc99M",
    ],
)
def test_what_is_days_old_or_wide_is_nobody_s_age(text: str) -> None:
    assert not found(text, ENGLISH, 0.9)


@pytest.mark.parametrize(
    "text", ["a 95 plus y/o", "a 95 y male", "a 95 year old", "a 95 years young", "(95/M)", "a 95M"]
)
@pytest.mark.parametrize("scheme", ["i2b2_2006", "i2b2_2014"])
def test_an_age_over_89_is_found_however_it_is_written(text: str, scheme: str) -> None:
    assert "95" in {one[0] for one in found(text, load_scheme(scheme), 0.9)}


@pytest.mark.parametrize(
    "text",
    [
        "d/w attending 1400",
        "rn charge aware",
        "page oncall 55123 now",
        "homeless man eloped",
        "f/u pulm 3/4",
        "xfer from osh 2/2 hypoxia",
        "homeless, stays shelters / street",
        "cell 120.5",
        "normal 150-4500",
        "bed 30 degrees",
    ],
)
def test_what_haste_writes_of_nobody_is_none(text: str) -> None:
    assert not {one for one in found(text, ENGLISH, 0.9) if one[1] != "DATE" or "hypoxia" in text}


@pytest.mark.parametrize(
    ("text", "phi", "category"),
    [
        ("PAGER NUMBER 12345", "12345", "PHONE"),
        ("called 4-4321 back", "4-4321", "PHONE"),
        ("call 0163 2960123", "0163 2960123", "PHONE"),
        ("lives at 12 NW Larkspur Lane.", "12 NW Larkspur Lane", "STREET"),
        ("lives at 12 North Larkspur Lane.", "12 North Larkspur Lane", "STREET"),
        ("lives at 12 St. Osyth Road.", "12 St. Osyth Road", "STREET"),
        ("lives at 12 Larkspur Crescent.", "12 Larkspur Crescent", "STREET"),
    ],
)
def test_more_forms_of_phones_and_streets_are_found(text: str, phi: str, category: str) -> None:
    assert (phi, category) in found(text, ENGLISH)


@pytest.mark.parametrize("text", ["TC C/ Contraste iv", "Hospital de Día", "Clínica Sugestiva de Gripe"])
def test_what_is_done_there_is_no_place(text: str) -> None:
    assert not found(text, SPANISH, 0.9)


def test_a_pager_is_found_in_spanish() -> None:
    assert ("51234", "NUMERO_TELEFONO") in found("busca: 51234", SPANISH)

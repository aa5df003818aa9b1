"""What reads like PHI behind a word that tells of it and is none, and what such a word tells of in other forms."""

from __future__ import annotations

import pytest

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

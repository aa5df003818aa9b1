"""A teaching hospital on the coast: long discharge summaries under capital headers, wrapped by the printer."""

from __future__ import annotations

from shared.generate.grammar import Rules
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": ("{head}\n\n{diagnoses}\n\n{hpi}\n\n{middle}\n\n{hospital_course}\n\n{end}",),
    "head": (
        (0.7, "DISCHARGE SUMMARY\n\n{face_sheet}\nDischarged: [discharge:full]"),
        (
            "DISCHARGE SUMMARY\n\nNAME:      [patient:last_first_middle.upper]\nUNIT NO:   [mrn]\nADM DATE:  "
            "[admit:full]\nDIS DATE:  [discharge:full]\nATTENDING: [doctor:full.upper], M.D.{\nSERVICE:   {^service}|}"
        ),
        (
            "[hospital:upper]\n\nPATIENT: [patient:last_first.upper]          MRN: [mrn]\nADMITTED: [admit:full]   "
            "DISCHARGED: [discharge:full]\nDOB: [birth:full]   SEX: {M}   ACCT #: [account]"
        ),
        (
            "Patient Name: [patient:last_first_middle]     MR #: [mrn]\nDate of Birth: [birth:full]     Room: [room]\n"
            "Admission: [admit:full]     Discharge: [discharge:full]\nDictated by: [doctor:last_first.upper], MD"
        ),
    ),
    "diagnoses": (
        "PRINCIPAL DIAGNOSIS: {^diagnosis}.\nSECONDARY DIAGNOSES: {condition*2-4;; }.",
        "ADMISSION DIAGNOSIS:\n{diagnosis}\n\nDISCHARGE DIAGNOSES:\n{numbered}",
        "DIAGNOSIS: {^diagnosis}.",
    ),
    "numbered": (
        "1. {history_line}.\n2. {history_line}.",
        "1. {history_line}.\n2. {history_line}.\n3. {history_line}.",
    ),
    "hpi": ("HISTORY OF PRESENT ILLNESS: {opening} {story*1-3; } {h_past} {story}{ {h_social}|}",),
    "opening": (
        (
            3,
            (
                "{mr} [patient:last] is a [age]-year-old {man} with a history of {condition} who presented to the "
                "[department] on [admit] with {symptom}, {onset}."
            ),
        ),
        "The patient is a [age]-year-old {man} transferred from [hospital2] in [city2] on [admit:full] for {symptom}.",
        (
            "{mr} [patient:last], a [age]-year-old [profession], was admitted from the clinic of Dr. [doctor2:last] "
            "with {symptom}."
        ),
        "{shared}",
    ),
    "h_past": (
        (6, "{shared}"),
        "{^he} had been discharged from [hospital] on [recent:full] after {surgery}.",
        "In [past*:month_year], {he} had a {surgery} at [hospital2] under Dr. [doctor2:last].",
        "Dr. [doctor2:last]'s note of [past*:full] mentions {condition}.",
        "A prior {modality} ([past*:full]) had shown {finding}.",
    ),
    "h_social": (
        (4, "{shared}"),
        "{^he} lives in [city] with {his} {kin1}.",
        "{^his} {kin1}, [relative1:full], is the health care proxy ([phone2]).",
        "{^he} is a [profession] at [organization].",
        "{^he} emigrated from [country] in [old*:year].",
    ),
    "middle": (
        (
            "PAST MEDICAL HISTORY: {^condition*2-4; }.\n\nMEDICATIONS ON ADMISSION: {medication*2-5}.\n\nALLERGIES: "
            "{allergies}."
        ),
        "PHYSICAL EXAMINATION: {vitals}. {exam*3-5; }\n\nLABORATORY DATA: {labs}",
        "SOCIAL HISTORY: {h_social} {habits}\n\nPHYSICAL EXAMINATION: {exam*3-5; }",
        "FAMILY HISTORY: {heredity}\n\nLABORATORY DATA: {labs} {imaging}",
    ),
    "hospital_course": ("HOSPITAL COURSE: {c_sentence*3-6; }",),
    "c_sentence": ((4, "{course}"), (2, "{h_course}"), "{imaging}", (5, "{shared}"), (1.5, "{^shared_terse}.")),
    "h_course": (
        "On [stay*:slash], {mr} [patient:last] went to the operating room with Dr. [doctor2:last] for {surgery}.",
        "On hospital day #<2-7> ([stay*:slash]) {he} developed {symptom}.",
        "Dr. [doctor3:full] of {service} saw the patient on [stay*:slash].",
        "{mr} [patient:last] was transferred to [department] on [stay*:slash].",
        "A family meeting was held with {his} {kin2}, [relative2:full], on [stay*:slash].",
        "{mr} [patient:last] remained {state_now}.",
    ),
    "end": (
        (
            "DISPOSITION: {^disposition} in {state_now} condition.\n\nDISCHARGE MEDICATIONS: {medication*2-4}.\n\n"
            "{h_follow}\n\n{sign}"
        ),
        "DISCHARGE INSTRUCTIONS: {plan*2-3; } {h_follow}\n\n{sign}",
        "CONDITION ON DISCHARGE: {^state_now}.\nFOLLOW UP: {h_follow}\n\n{sign}",
    ),
    "h_follow": (
        "{mr} [patient:last] will follow up with Dr. [doctor2:last] on [next:slash] at {clock}.",
        (2, "{shared}"),
        "Please call Dr. [doctor:last] at [phone] for {symptom}.",
    ),
    "sign": (
        (0.8, "{sign_off}"),
        (
            "______________________________\n[doctor:full.upper], M.D.\n\nDictated By: [doctor2:full], M.D.\nTR: "
            "[username]\nDD: [discharge:full]\nTD: [discharge:full] {clock}"
        ),
        "Dictated By: [doctor:full.upper], M.D.  [id]\nDD: [discharge:dash]\ncc: [doctor2:full], M.D.",
        "[doctor:full], M.D.\nPager [phone3]\n\ncc: Dr. [doctor2:full], [hospital2], Fax [fax]",
    ),
    "@hospital": ((3, "Harbor General Hospital"), (2, "HGH"), "Harbor General"),
    "@hospital_upper": ("HARBOR GENERAL HOSPITAL",),
    "@mrn": ("###-##-##",),
    "@account": ("HG%#######",),
    "@username": ("~~%##", "{doctor_login}"),
    "@id": ("%#####/~%##",),
    "@phone": ("(%##) %##-####",),
    "@phone3": ("#%###",),
    "@city2": ("{town_head}{town_tail}",),
    "@department": ("{West|East} <5-9>", "Calder <3-9>", "ICU {A|B}", "Pavilion <2-6>"),
}

PROFILE = SiteProfile(
    name="en_harbor",
    language="en",
    habit="teaching hospital; wrapped discharge summaries, LAST, FIRST in capitals, mm/dd/yyyy",
    rules=_RULES,
    dates={
        "full": ("{mm}/{dd}/{Y}",),
        "slash": ("{m}/{d}", "{mm}/{dd}/{y}"),
        "dash": ("{mm}-{dd}-{y}",),
        "text": ("{B} {d}, {Y}", "{mm}/{dd}/{Y}", "{m}/{d}/{y}"),
        "short": ("{m}/{d}", "{B} {d}"),
        "month": ("{B}",),
        "month_year": ("{B} {Y}", "{B} of {Y}", "{m}/{y}"),
        "year": ("{Y}",),
        "weekday": ("{A}",),
    },
    patients=((6, "en_US"), (1, "es_MX"), (1, "it_IT"), (1, "pt_PT")),
    doctors=((4, "en_US"), (1, "en_IN"), (1, "de_DE")),
    layout=Layout(wrap=76, typo_rate=0.004, glue_rate=0.03),
)

"""Public teaching notes: no hospital, but a blend of styles of many; what a provider may collect openly."""

from __future__ import annotations

from shared.generate.grammar import Rules
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "identity": (
        "{mr} [patient:last] is a [age]-year-old {man} with {condition} who presents with {symptom}, {onset}.",
        "[patient:full] is a [age] year old {male} [profession] with {condition} admitted for {symptom}.",
        "This [age:words]-year-old {sir} from [city] presented on [admit] with {symptom}.",
        "{shared}",
    ),
    "note": ("{summary}", "{letter}", "{soap}", "{notes}"),
    "summary": (
        (
            "Patient: [patient:full]\nMRN: [mrn]\nDate of birth: [birth]\nAdmitted: [admit:full]  Discharged: "
            "[discharge:full]\nPhysician: Dr. [doctor:full]\n\nHistory: {identity} {story*1-3; } {shared}\n\nMedical "
            "history: {condition*2-4}. Allergies: {allergies}.\nSocial history: {shared} {habits}\nFamily history: "
            "{heredity}\n\nExam: {vitals}. {exam*2-4; }\nResults: {labs} {imaging}\n\nCourse: {course*2-3; } {shared}\n"
            "\n{shared}\n\n[doctor:full], MD\n[phone]"
        ),
    ),
    "letter": (
        (
            "[hospital]\n[street], [city], [state] [zip]\nPhone [phone], fax [fax]\n\n[admit]\n\nDear Dr. "
            "[doctor2:last],\n\nRegarding [patient:full], born [birth]\n\n{identity} {story*2-4; } {shared} {shared}\n"
            "\nOn exam {exam*2-3; } {labs}\n\n{plan*2-4; } {shared} {shared}\n\nSincerely,\n[doctor:full], M.D.\n"
            "License [license]\n[email]"
        ),
    ),
    "soap": (
        (
            "[admit:full] {clock}  [patient:last_first], [age] {M}, chart [mrn]\n\nSUBJECTIVE: {identity} {story} "
            "{terse}. {shared}\nOBJECTIVE: {vitals}. {exam_terse*3-5}. {labs}\nASSESSMENT: {condition}; {condition}. "
            "{shared}\nPLAN: {plan_terse*2-4;; }. {plan} {shared}\n{shared}\nSigned [doctor:f_last] ([username])"
        ),
    ),
    "notes": ("{opening_line}\n{note_line*7-11;\n}\n{shared} [doctor:initials]",),
    "opening_line": (
        "Progress note, [patient:first_l], room [room], [admit]",
        "[patient:short] | [age]{M} | [mrn] | [admit:full]",
        "NURSING NOTE [admit:full] {clock} [department]: [patient:full.upper]",
    ),
    "note_line": (
        "{clock} {terse}",
        "{exam}",
        (5, "{shared}"),
        (3, "{clock} {shared_terse}"),
        "{plan}",
        "{imaging}",
        "{labs}",
        "* {history_line}",
        "- {medication}",
        "Insurance [healthplan], account [account], SSN [ssn].",
        "{^his} {kin1} [relative1:first] called from [phone2].",
        "Pump [device] checked by [doctor2:full].",
        "Arrived with {kin2} [relative2:full] in a car, plate [vehicle].",
        "Portal: [url], from [ip]; sample [bioid], form [id].",
        (2, "Known as [other]."),
        "Message to [email].",
        "Met by {kin1} [relative1:first] near [place].",
        "Works at [organization] as a [profession].",
        "{code}: {condition}",
    ),
}

PROFILE = SiteProfile(
    name="en_commons",
    language="en",
    habit="public teaching notes; a blend of summaries, letters and nursing notes with many formats",
    rules=_RULES,
    dates={
        "full": ("{mm}/{dd}/{Y}", "{Y}-{mm}-{dd}", "{d} {b} {Y}", "{m}/{d}/{y}", "{dd}.{mm}.{Y}"),
        "text": ("{B} {d}, {Y}", "{o} {B} {Y}", "{d} {B} {Y}", "{A}, {B} {d}", "{mm}/{dd}/{Y}"),
        "short": ("{m}/{d}", "{B} {d}", "the {o}", "{d} {b}"),
        "month": ("{B}", "{b}"),
        "month_year": ("{B} {Y}", "{b} {Y}", "{mm}/{Y}"),
        "year": ("{Y}", "'{y}"),
        "weekday": ("{A}", "{a}"),
    },
    patients=((4, "en_US"), (2, "en_GB"), (1, "en_IN"), (1, "es_MX"), (1, "en_IE"), (1, "de_DE"), (1, "pl_PL")),
    doctors=((3, "en_US"), (1, "en_GB"), (1, "en_IN"), (1, "fr_FR")),
    staff=160,
    layout=Layout(typo_rate=0.004, glue_rate=0.02, name_upper_rate=0.06, name_lower_rate=0.04),
)

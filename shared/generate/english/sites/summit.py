"""A trauma centre: nursing time lines, all in capitals, columns between bars, numbers everywhere."""

from __future__ import annotations

from shared.generate.grammar import Rules
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": ("{banner}\n{triage}\n{timeline}\n{bottom}",),
    "banner": (
        (0.8, "{face_sheet}"),
        (
            "| PT | [patient:last_given] | [age]{Y|YO|} {M} | MR [mrn] |\n| ARR | [admit:stamp] {clock} | RM [room] | "
            "[hospital] |"
        ),
        (
            "[hospital] EMERGENCY / TRAUMA FLOW SHEET\nPT:[patient:last_given] AGE:[age] SEX:{M} ENC:[account]\n"
            "ARRIVAL [admit:stamp] {clock} VIA [vehicle] FROM [city]"
        ),
        "*** [patient:last_f] *** [mrn] *** BED [room] *** [admit:iso]\nDOB [birth:iso] SSN [ssn]",
        "NAME=[patient:last_given] ID=[mrn] DOB=[birth:stamp] RM=[room] MD=[doctor:last]",
    ),
    "triage": (
        "TRIAGE: {symptom}, {onset}. {t_line*2-4; } {vitals}",
        "CC: {symptom} / {symptom}. HX: {condition*1-3}. ALL: {allergies}. {t_line*1-3; }",
        "MECHANISM: {s_mechanism}. {vitals}. {t_line*2-3; }",
    ),
    "s_mechanism": (
        "MVC AT [place], RESTRAINED DRIVER, PLATE [vehicle2]", "FALL FROM LADDER AT [organization]",
        "PED STRUCK ON [street]", "CRUSH INJURY, [profession] AT [organization]", "ASSAULT NEAR [place]",
        "FOUND DOWN AT [street], [city]", "ATV ROLLOVER OUTSIDE [city2]",
    ),
    "t_line": (
        (3, "{terse}."), (6, "{shared_terse}."), "EMS UNIT [vehicle] FROM [city2], MEDIC [doctor4:last].",
        "TX FROM [hospital2] ([city2]).", "NOK {kin1} [relative1:full] [phone2].",
        "PT IS [profession] FOR [organization].", "LAST SEEN HERE [past*:stamp].",
        "{surgery} [old*:year] AT [hospital2].", "PCP [doctor2:last] NOTIFIED.", "TETANUS [old*:year].",
        "LIVES [street], [city].", "INS [healthplan].",
    ),
    "timeline": ("{row*6-11;\n}",),
    "row": (
        "{later} {terse}", (6, "{later} {shared_terse}"), (2, "{later} | {shared_terse} | {rn}"),
        (3, "{later} {shared}"), (2, "{later} | {exam_terse}, {exam_terse} | {rn}"), "{later} {vitals}",
        "{later} | {drug} {dose} | GIVEN | {rn}", "{later} LABS SENT: {lab_name}, {lab_name}",
        "{later} {lab}, {lab} CALLED TO DR [doctor:last]", "{later} DR [doctor2:last] AT BEDSIDE",
        "{later} | {modality} | {finding} | [doctor3:last_f]", "{later} {kin1} [relative1:first] IN WAITING ROOM",
        "{later} REPORT TO [doctor4:f_last] RN, [department] RM [room2]", "{later} PUMP [device] SET <20-150> ML/HR",
        "{later} MONITOR [device2] ALARM, {lab}", "{later} PT [patient:last] TO {CT|OR|XRAY} W/ [doctor4:last]",
        "{later} {eponym_device} PLACED BY [doctor2:last], LOT [device3]",
        "{later} CALL FROM [relative1:full], [phone2]", "{later} POLICE HERE, BADGE [id]",
        "{later} CONSENT SIGNED BY {kin1} [relative1:full]",
        "{later} [patient:last] PULLED IV, {eponym_device} REPLACED", "{later} PALM SCAN [bioid] MATCHED",
        "{later} PAGED [doctor2:last] X<2-4> [phone3]",
    ),
    "rn": ("[doctor4:f_last]", "[doctor4:initials]", "[username]", "[doctor3:last]"),
    "bottom": (
        "DISPO: {^disposition} {clock} [discharge:stamp]. {s_end} SIGNED [doctor:last_given] / [username]",
        "TX TO [hospital2] VIA [vehicle] {clock}. ACCEPTING [doctor2:last]. {s_end}",
        "ADMIT [department] RM [room2], DR [doctor:last]. {s_end} E-SIG [username] [discharge:iso] {clock}",
        "D/C {clock}. {plan_terse*2-3;; }. F/U DR [doctor2:last] [next:stamp]. {s_end}",
    ),
    "s_end": (
        (1.5, "{sign_off}"), (2, "{shared}"), (2, "{shared_terse}"), "BELONGINGS TO {kin1} [relative1:full].",
        "WS [ip].", "{plan_terse*2-3;; }.", "HOME PH [phone].", "COPY FAXED [fax].",
    ),
    "pt": ((3, "pt"), (3, "pt [patient:last]"), (2, "[patient:last]"), "[patient:last_given]", "{mr} [patient:last]"),
    "dr": (
        (4, "Dr [doctor2:last]"), "Dr. [doctor2:last]", (2, "[doctor3:last]"), "[doctor4:f_last] RN",
        "[doctor3:last_f]", "{service} resident", "trauma team",
    ),
    "rel": ("{kin1} [relative1:full]", "{kin1}", "{kin2} [relative2:first]", "family", "[relative1:first]"),
    "when": (
        "[past*:stamp]", "on [past*:stamp]", "{later}", "at {clock}", "[old*:year]", "<2-9> {days|hrs|wks} ago",
        "yesterday", "in [past*:month_year]", "[recent*:iso]", "on [recent*:short]",
    ),
    "soon": ("[next*:stamp]", "[next*:short]", "in <2-9> days", "in AM", "at {later}", "[next*:iso]"),
    "@hospital": ("Summit Trauma", "Summit", "STC"),
    "@hospital2": (
        "{town_head}{town_tail} {ER|ED|Mem|Gen|Med Ctr}", "{surname} {Mem|Gen|VA}", "{North|South|East|West} Summit",
        "St {saint}",
    ),
    "@mrn": ("S%#######", "%#######S"),
    "@account": ("E%########",),
    "@room": ("T<1-9>", "TR-<1-12>", "<1-40>{A|B|}", "HALL <1-6>"),
    "@department": ("<2-9> {North|South}", "{4|5|6}W Tele", "Stepdown {A|B}"),
    "@vehicle": ("M<10-99>", "AMR <100-999>", "Life Flight <1-9>", "Medic <1-40>", "Engine <1-40>"),
    "@vehicle2": ("~~~%##", "%##~~~"),
    "@device": ("B%####-#", "ALR%####"),
    "@device2": ("MX%##/##",),
    "@device3": ("L%#####~",),
    "@phone": ("%##.%##.####", "%##%######"),
    "@phone3": ("x%###", "P%###"),
    "@username": ("~~%###", "RN%###"),
    "@id": ("%###", "B-%###"),
    "@ssn": ("%########", "%##-##-####"),
    "@city": ((2, "{town_head} {Pass|Gulch|Fork|Creek|City}"), "{town_head}{town_tail}"),
    "@place": (
        "I-<5-95> MM <10-300>", "{town_head} {Peak|Basin|Bowl|Canyon}", "HWY <2-98>",
        "the {town_head}{town_tail} Tunnel", "{surname} Ski Area",
    ),
}  # fmt: skip

PROFILE = SiteProfile(
    name="en_summit",
    language="en",
    habit=(
        "trauma centre; time lines in capitals with bars, surname before given name, military dates, vehicles and "
        "devices"
    ),
    rules=_RULES,
    dates={
        "stamp": ("{dd}{b}{y}", "{dd}{b}{Y}", "{mm}{dd}{y}"),
        "iso": ("{Y}-{mm}-{dd}",),
        "text": ("{dd}{b}{y}",),
        "full": ("{dd}{b}{Y}",),
        "short": ("{dd}{b}",),
        "month": ("{b}",),
        "month_year": ("{b}{y}",),
        "year": ("{Y}",),
        "weekday": ("{a}",),
    },
    patients=((5, "en_US"), (2, "es_MX"), (1, "vi_VN"), (1, "yo_NG")),
    doctors=((4, "en_US"), (1, "es_MX"), (1, "fr_FR")),
    layout=Layout(case="upper", case_rate=0.3, typo_rate=0.01, glue_rate=0.08),
)  # fmt: skip

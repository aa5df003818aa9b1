"""A family practice in farming country: terse SOAP notes in lower case, nicknames, few dates in full."""

from __future__ import annotations

from shared.generate.grammar import Rules
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": (
        "{head}\nS: {subjective}\nO: {objective}\nA: {assessment}\nP: {plans}\n{foot}",
        "{head}\n\nsubj - {subjective}\n\nobj - {objective}\n\na/p - {assessment} {plans}\n{foot}",
    ),
    "head": (
        (1.2, "{face_sheet}"),
        "[patient:short] / [birth:tiny] / chart [mrn]\n[admit:tiny] {ov|walk in|acute visit|recheck}",
        "[admit:spoken] - [patient:nick_last] ([age]) here w {his} {kin1}",
        "chart# [mrn]   [patient:short.lower]   dob [birth:tiny]\nseen [admit:tiny] by [doctor:initials.lower]",
        "[patient:last_f], [age]{M}, [city] - [admit:tiny]",
    ),
    "subjective": ("{p_open} {p_line*4-7; }",),
    "p_open": (
        "[patient:nick] is [age], c/o {symptom} since [recent:weekday].",
        "[patient:first] comes in from [city] for {symptom}, {onset}.",
        "[age] yo [profession] c/o {symptom} x <2-9> d.",
        "pt well known to me, [profession] out by [place], here for {symptom}.",
        "[patient:first]'s {kin1} [relative1:first] called [recent:weekday], says {he} has {symptom}.",
    ),
    "p_line": (
        (5, "{terse}."), (2, "{story}"), (12, "{shared_terse}."), (7, "{shared}"),
        "got hurt working for [organization] back in [past*:month].",
        "saw [doctor2:last] in [city2] last [past*:month], got {drug}.", "was up at [hospital2] [past*:about].",
        "[relative1:first] ({kin1}) worried re {symptom}.", "farms w {his} {kin2} [relative2:first] off [street].",
        "[patient:nick] says {drug} not helping.", "moved here from [state] in [old*:year].",
        "works nights at [organization].", "{kin2} [relative2:first] had same thing in [past*:month].",
        "last tetanus [old*:year].", "back from [country] [recent:weekday].",
        "had {surgery} w [doctor2:last] at [hospital2], [past*:about].",
        "[patient:first] quit the [profession] job around [old*:about].", "neighbor from [city3] drove {him} in.",
        "used to go to [center].",
    ),
    "objective": (
        "{vitals}. {exam_terse*3-6}. {lab*1-3; / }", "{exam_terse*4-6;; }. {vitals}", "{vitals}\n{exam_terse*4-7}",
    ),
    "assessment": (
        "{condition}, {condition}", "1) {condition} 2) {condition} 3) {condition}",
        "{condition} - {stable|worse|better}; {condition}", "likely {condition}. doubt {condition}.",
    ),
    "plans": ("{plan_terse*3-5;; }. {p_plan*1-2; }", "{plan_terse*2-4; / } / {p_plan}", "{p_plan} {plan_terse*3-4;; }"),
    "p_plan": (
        (7, "{shared_terse}."), (3, "{shared}"), "rtc [next:weekday] or call.",
        "see [doctor2:last] in [city2] [next:short].", "[relative1:first] to bring {him} back [next:short].",
        "rx called to [organization2], [phone].", "ref to [hospital2] - appt [next:about].",
        "nurse [doctor3:first] to call [patient:first] [next:weekday].",
        "call {kin1} [relative1:first] [phone2] w labs.", "labs sent to [hospital2].",
        "if worse go to [hospital2] er in [city2].",
    ),
    "foot": (
        (1.5, "{sign_off}"), "[doctor:initials.lower]", "-- [doctor:last.lower]", "dr [doctor:last] / [username]",
        "[doctor:f_last] [admit:tiny]", "dict [doctor:initials] trans [doctor4:initials.lower]",
    ),
    "pt": ((3, "[patient:first]"), (2, "[patient:nick]"), (3, "pt"), "[patient:last]", "{he}"),
    "dr": (
        (4, "[doctor2:last]"), (2, "dr [doctor2:last]"), "doc [doctor3:last]", "[doctor3:first]", "er doc",
        "the surgeon", "Dr. [doctor2:last]", "{service}",
    ),
    "when": (
        "[recent*:weekday]", "last [recent*:weekday]", "[past*:short]", "in [past*:month]", "[past*:about]",
        "[old*:about]", "[past*:tiny]", "yest", "<2-9> {d|wks|mos|yrs} ago", "last {wk|night|spring}", "this AM",
        "on [recent*:short]",
    ),
    "soon": (
        "[next*:weekday]", "[next*:short]", "in [next*:month]", "<2-8> wks", "prn", "next wk", "[next*:tiny]",
        "tomorrow",
    ),
    "where": (
        "at [hospital2]", "in [city2]", "up in [city3]", "at the er", "at home", "at [center]", "over at [hospital2]",
        "at [organization]", "in the barn",
    ),
    "@mrn": ("%###", "%###-~", "<10-99>-###"),
    "@hospital": ("{prairie_town} Clinic",),
    "@hospital2": (
        "{prairie_town} {Memorial|County|Regional|hosp}", "the {prairie_town} er", "{saint}'s", "St {saint}",
    ),
    "prairie_town": (
        "Barlow", "Cutbank", "Dorrance", "Elkhorn", "Fallon", "Gilby", "Hazelton", "Kimbrough", "Lindahl", "Merna",
        "Oakes", "Pawlet", "Rolla", "Saxby", "Tolna", "Verndale",
    ),
    "@city": ((4, "{prairie_town}"), "{town_head}{town_tail}", "{prairie_town} {Junction|Creek|Township}"),
    "@organization": (
        "the {prairie_town} {elevator|co-op|school|feed mill|grange|creamery}",
        "{surname} {Implement|Seed|Trucking|Dairy|Drug}", "{surname} bros",
        "the {packing plant|sale barn} in {prairie_town}", "{town_head}{town_tail} Lutheran",
    ),
    "@profession": (
        (2, "farmer"), "rancher", "trucker", "hog farmer", "school cook", "grain hauler", "retired farmer",
        "hired hand", "welder", "bus driver", "teacher", "county clerk", "vet tech", "milker", "custom cutter",
        "mail carrier", "crop duster", "pastor", "waitress", "lineman", "mechanic", "beautician", "auctioneer",
        "day care lady", "road grader", "nurse aide",
    ),
    "@place": (
        "the old {surname} place", "{surname} {Lake|Slough|Butte|Bottoms|Colony}", "Hwy <2-98>", "county road <2-98>",
        "the river bridge at {prairie_town}",
    ),
    "@street": (
        "<1-9><10-99> {N|S|E|W} {Elm|Oak|Main|<2-9>th|Depot|Church} st", "rr <1-9> box <10-300>",
        "<100-999>th ave {nw|se|ne|sw}",
    ),
    "@phone": ("%##-####", "%## ####"),
    "@username": ("{doctor_login}", "{doctor_login}%"),
}  # fmt: skip

PROFILE = SiteProfile(
    name="en_prairie",
    language="en",
    habit="rural family practice; terse SOAP notes in lower case, nicknames, weekdays and months instead of dates",
    rules=_RULES,
    dates={
        "tiny": ("{m}-{d}-{y}", "{m}.{d}.{y}"),
        "spoken": ("{a} {b} {d}", "{A} {m}/{d}", "{b} {d}"),
        "text": ("{b} {d}", "{m}-{d}-{y}"),
        "full": ("{m}-{d}-{y}",),
        "short": ("{b} {d}", "{m}/{d}", "{A} the {o}"),
        "about": ("{B}", "fall of {y}", "{b} {Y}", "spring {Y}", "'{y}"),
        "month": ("{B}", "{b}"),
        "month_year": ("{b} {y}",),
        "year": ("{Y}", "'{y}"),
        "weekday": ("{A}", "{a}"),
    },
    patients=((5, "en_US"), (2, "de_DE"), (2, "sv_SE"), (1, "pl_PL")),
    doctors=((3, "en_US"), (2, "sv_SE")),
    staff=9,
    ambiguous_rate=0.09,
    layout=Layout(typo_rate=0.02, name_typo_rate=0.03, name_lower_rate=0.16),
)  # fmt: skip

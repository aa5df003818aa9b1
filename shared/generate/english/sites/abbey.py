"""A psychiatric and social-work service in Ireland: long stories of people, families, places and years; few headers."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": ("{title}\n\n{para1}\n\n{para2}\n\n{para3}\n\n{finish}",),
    "title": (
        (0.9, "{face_sheet}"),
        "Community Mental Health Team, [city]. Review of [patient:initials], [admit].",
        "Psychiatric social history: [patient:full]",
        "Case note {clock} [admit:text], [doctor:first] [doctor:last].",
        "Home visit to [patient:first_l], [street], [city], [admit]",
        "[hospital] — Intake interview with [patient:short] (chart [mrn])",
    ),
    "para1": ("{a_open} {a_life*2-4; }",),
    "para2": ("{a_now*3-5; }",),
    "para3": ("{a_mental*3-5; } {a_now}", "{a_mental*2-4; } {a_team*1-2; }"),
    "finish": ("{a_team*2-3; }\n{a_sign}", "Plan. {plan*1-2; } {a_team*1-2; }\n\n{a_sign}"),
    "a_open": (
        "[patient:first] is [age:words] and lives alone above {a shop|the bookmaker's|a bakery} on [street].",
        "I met [patient:full] and {his} {kin1} [relative1:first] at [center] on [admit].",
        (
            "[patient:initials_dots] is a {man} in {his} [age:decade] who was brought in by {his} {kin1}, "
            "[relative1:first], on [admit:weekday] night."
        ),
        "[patient:first], now [age], grew up in [city2], the <2-9>th of <9-12> children of a [profession].",
        "This was our <2-9>th meeting; [patient:first] came with [relative1:first], {his} {kin1}.",
    ),
    "a_life": (
        (6, "{shared}"),
        (2, "{^shared_terse}."),
        "{^his} {kin1} [relative1:first] ran a pub in [city2] and drank heavily.",
        "At [age:words] {he} feels old.",
        (
            "After school {he} went to [country] with {his} {kin2} [relative2:first] and worked as a [profession2] "
            "until [old*:year]."
        ),
        "In [old*:year] {he} came home to [city] and found a job at [organization].",
        "{^he} left [organization2] in [old*:about] after a row with the foreman.",
        "{^he} married in [old*:year]; the marriage ended in [old*:month_year].",
        "The family farm near [city3] was sold in [old*:year].",
        "[relative2:first], {his} {kin2}, emigrated to [country2] and rings every [next*:weekday].",
        "{^he} was first admitted to [hospital2] in the {spring|summer|winter|autumn} of [old*:year].",
        "{^he} trained as a [profession] but never finished.",
        "{^he} recalls a summer at [place] with great fondness.",
        "{^his} {kin3} [relative3:first] drowned near [place2] in [old*:month_year].",
        "{^he} made {his} First Communion in [city2] and served Mass for Father [relative3:last].",
    ),
    "a_now": (
        "[patient:first] says {his} sleep has been broken since [relative1:first] left in [past*:month].",
        "{^he} hears [relative2:first]'s voice {at night|on the stairs|when the kettle boils}.",
        "{^he} has not gone past [place] since [past*:about].",
        "On [recent:weekday] the Guards brought {him} home from [city2].",
        "{^he} owes money to [organization].",
        "[relative1:first] rang the ward on [recent*:short] in tears.",
        "{^he} stopped {drug} around [past*:about] because of {symptom}.",
        "The neighbours, a [profession2] and a [profession3], keep an eye.",
        "{^he} walks out to [place] most days.",
        "{^he} goes to {Mass|the bingo|a men's shed|the credit union} in [city3] of a [next*:weekday].",
        "{^he} spent {his} birthday money on lottery tickets.",
        "A letter from [organization2] upset {him} on [recent*].",
        "{^he} would like to see [country] again.",
        "[patient:first] is afraid that [relative1:first] will be put in [center].",
        "{story}",
        (9, "{shared}"),
        "{^he} {smoking} and {drinking}.",
    ),
    "a_mental": (
        "{^he} was {unkempt|neatly dressed|guarded|warm|restless|tearful} throughout.",
        "Speech was {soft|pressured|slow|normal in rate}.",
        "Mood was {low|flat|elated|anxious} with {little|some|marked} variation over the day.",
        "There was no thought disorder.",
        "{^he} has passive thoughts of death but no plan.",
        "{^he} scored <12-30>/30 on cognitive testing and could not name the month.",
        "Insight is {partial|poor|good}.",
        "Concentration is poor; {he} gave up serial sevens after <2-5> steps.",
        "{^he} believes the radio comments on {him}.",
        "There is {no|some} evidence of {condition}.",
        "Appetite is {poor|fair} and {he} has lost <2-9> kg.",
        "{^he} takes {drug} {dose} {often}.",
        "{^he} has {condition} and {condition}.",
        "The Edinburgh scale gave <4-22>.",
        "There was mild tremor, likely from {drug}.",
        "{exam}",
    ),
    "a_team": (
        (6, "{shared}"),
        (2, "{^shared_terse}."),
        "[doctor2:first] will call out on [next:weekday].",
        "Discussed with [doctor2:full] (OT) and [doctor3:first].",
        "Sr [doctor3:last] to ring {his} {kin1} on [phone2].",
        "Respite at [center] from [next1:short] to [next2:short].",
        "[doctor:full] has written to [organization] about the rent.",
        "Next review [next:short] with [doctor4:full].",
        "[relative1:first] can be had at [phone2] after six.",
        "I will bring this to [doctor2:first] and the team on [next*:weekday].",
        "Referred to [hospital2] for {modality}.",
        "GP Dr [doctor4:last] in [city2] to check {lab_name}.",
        "[patient:first] has [doctor3:first]'s mobile, [phone3].",
        "Housing ref [id]; medical card [healthplan].",
    ),
    "a_sign": (
        (0.8, "{sign_off}"),
        "[doctor:full], social worker",
        "[doctor:first] [doctor:last], [doctor:initials]/[doctor4:initials.lower]",
        "— [doctor:full], registrar to [doctor2:full]",
        "Written by [doctor:first], CPN, extension [phone4]; [email]",
    ),
    "pt": (
        (5, "[patient:first]"),
        "[patient:initials]",
        "[patient:full]",
        (2, "{he}"),
        "{mr} [patient:l_dot]",
        "the patient",
    ),
    "dr": (
        (3, "[doctor2:first]"),
        (2, "[doctor2:full]"),
        (2, "Dr [doctor3:last]"),
        "[doctor3:first]",
        "the team",
        "the Public Health Nurse",
        "Sr [doctor4:last]",
        "Nurse [doctor4:last]",
    ),
    "rel": (
        (2, "{his} {kin1} [relative1:first]"),
        "[relative1:first]",
        "{his} {kin2}, [relative2:full],",
        "{his} {kin2}",
        "[relative2:first]",
        "the in-laws",
    ),
    "when": (
        "on [past*]",
        "in [past*:month]",
        "[old*:about]",
        "in [old*:year]",
        "on [recent*:weekday]",
        "around [past*:about]",
        "in the {spring|summer|winter} of [old*:year]",
        "on [recent*:short]",
        "<2-9> {weeks|months|years} ago",
        "as a child",
        "the other night",
        "in [old*:month_year]",
    ),
    "soon": (
        "on [next*:weekday]",
        "on [next*:short]",
        "in [next*:month]",
        "after [next*:about]",
        "before long",
        "next week",
        "on [next*]",
    ),
    "@hospital": ("Abbey House", "St {saint}'s Abbey"),
    "@hospital2": (
        "St {saint}'s",
        "{abbey_town} {Hospital|County Hospital|General}",
        "the {Mater|Bon Secours|Coombe} {abbey_town}",
    ),
    "@center": ("{saint} House", "{abbey_town} {day centre|hostel|Lodge|Nursing Home}", "the {surname} Centre"),
    "abbey_town": ("{abbey_head}{abbey_tail}",),
    "abbey_head": split_alternatives(
        """
        Bally | Kil | Knock | Clon | Drum | Car | Lis | Rath | Dun | Inish | Tully | Glen | Castle | Ard |
        Ross
        """
    ),
    "abbey_tail": split_alternatives(
        """
        more | beg | namona | brack | keeran | duff | lahan | roe | finn | vale | gorm | terry | nagh | derry
        | tubber | carra | bane
        """
    ),
    "@city": ((5, "{abbey_town}"), "{abbey_town} {West|Cross|Quay}", "{Upper|Lower} {abbey_town}"),
    "@country": split_alternatives(
        """
        England | Australia | Scotland | Boston | America | Spain | Germany | Poland | Lebanon | Nigeria |
        Wales | France | New Zealand | Canada
        """
    ),
    "@street": (
        "{surname} Street",
        "{Bridge|Main|Patrick|Abbey|Quay|Henry|Emmet} Street",
        "<1-90> {surname} {Park|Terrace|Villas|Place}",
        "<1-90> St {saint}'s {Terrace|Road|Park}",
        "the {Bridge|Quay|Galway|Mill} Road",
    ),
    "@place": (
        "{abbey_town} {Strand|Pier|Head|bog|Lough}",
        "Lough {abbey_tail}",
        "the {surname} Bridge",
        "the {abbey_town} road",
        "Slieve {abbey_tail}",
    ),
    "@organization": (
        "{surname}'s",
        "{surname}'s {bakery|garage|hotel|yard}",
        "the {sugar factory|county council|credit union|post office} in {abbey_town}",
        "{abbey_town} {Creamery|GAA club|Meats|Co-op}",
        "the {surname} Brothers",
        "Bord na {abbey_tail}",
    ),
    "@profession": split_alternatives(
        """
        barman | turf cutter | seamstress | priest's housekeeper | bookie's clerk | publican | small farmer |
        navvy | nurse | teacher | cattle dealer | postmistress | fisherman | hotel porter | guard | bus driver
        | sacristan | carpenter | plasterer | singer | jockey | civil servant | draper | docker | shop girl |
        hairdresser | lorry driver | novice nun | curate | thatcher
        """
    ),
    "@mrn": ("AH ###/##", "P%####"),
    "@id": ("H/####/~", "DL%####"),
    "@healthplan": ("~%######~",),
    "@phone": ("08% ### ####", "0%# #######"),
    "@phone4": ("%###", "%##"),
    "@email": ("{doctor_ascii}@abbeyhouse.example", "{doctor_login}@abbeyhouse.example"),
}

PROFILE = SiteProfile(
    name="en_abbey",
    language="en",
    habit=(
        "Irish psychiatric service; flowing prose full of relatives, places, trades and years; ages in words, first "
        "names for all"
    ),
    rules=_RULES,
    dates={
        "text": ("the {o} of {B}", "{A} the {o} of {B} {Y}", "{A} {d} {B}"),
        "full": ("{d} {B} {Y}",),
        "short": ("the {o}", "{A} the {o}", "{B} {o}"),
        "about": ("Easter {Y}", "last {B}", "{B}", "Christmas"),
        "month": ("{B}",),
        "month_year": ("{B} of {Y}", "{B} {Y}", "{B} '{y}"),
        "year": ("{Y}", "'{y}"),
        "weekday": ("{A}",),
    },
    patients=((5, "en_IE"), (1, "en_GB"), (1, "yo_NG")),
    doctors=((4, "en_IE"), (1, "en_IN")),
    staff=22,
    ambiguous_rate=0.06,
    layout=Layout(typo_rate=0.004),
)

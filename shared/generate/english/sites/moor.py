"""A district hospital in the north of England: letters from the clinic to the family doctor."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": (
        "{letterhead}\n\n{reference}\n\nDear Dr [doctor2:last],\n\n{subject}\n\n{diag}\n\n{body}\n\n{closing}",
        (
            "{letterhead}\n\nDear {Dr [doctor2:last]|Dr [doctor2:last]|Colleague},\n\n{subject}\n\n{body}\n\n{diag}\n\n"
            "{closing}"
        ),
    ),
    "letterhead": (
        "[hospital]\n[street]\n[city]\n[zip]\nTel: [phone]\nFax: [fax]",
        (
            "{^service} Department, [hospital], [city] [zip]\nDirect line [phone]  Secretary: [doctor4:full]\nEmail: "
            "[email]"
        ),
        "[hospital]  -  {^service} Clinic held on [admit:slash]",
        (
            "Consultant: Dr [doctor:full]\nSecretary's telephone: [phone]\nClinic date: [admit:slash]    Typed: "
            "[discharge:slash]"
        ),
    ),
    "reference": (
        "Our ref: [doctor:initials]/[doctor4:initials]/[mrn]\nNHS No: [healthplan]",
        "Ref [mrn]   NHS number [healthplan]\nDate dictated [admit:text]",
        "Hosp. No. [mrn]",
        "Dictated [admit:text]\n\nDr [doctor2:f_last]\n[center]\n[street2]\n[city2] [zip2]",
    ),
    "subject": (
        (0.8, "{face_sheet}"),
        "Re: {mr_} [patient:full.upper]  DOB: [birth:slash]\n[street3], [city3], [zip3]",
        "RE: [patient:full] (D.O.B. [birth:slash]), NHS [healthplan]",
        "Patient: {mr_} [patient:initials_dots] [patient:lasts.upper], [street3], [city3] [zip3]. Born [birth:text].",
        "re [patient:full], d.o.b. [birth:dots], hospital number [mrn]",
    ),
    "diag": (
        "Diagnosis: {^diagnosis}.",
        "Diagnoses:\n{bullet_history*2-3;\n}",
        "Problems: {condition*2-3;; }.\nCurrent treatment: {medication*2-3}.",
    ),
    "bullet_history": ("- {history_line}",),
    "body": (
        "{opening} {b_sentence*4-8; }\n\n{b_sentence*2-4; } {b_plan}",
        "{opening} {b_sentence*3-5; }\n\nOn examination {exam*2-4; }\n\n{b_plan} {b_sentence*1-3; }",
    ),
    "opening": (
        "Thank you for referring this [age]-year-old [profession], whom I saw in clinic on [admit].",
        "I reviewed {mr_} [patient:last] in the {service} clinic today.",
        "Many thanks for asking me to see this pleasant [age:words]-year-old {sir} from [city3].",
        "Further to my letter of [past], I saw [patient:full] again on [admit:weekday] [admit].",
        "This [age]-year-old {man} was admitted via A&E on [admit] with {symptom}.",
    ),
    "b_sentence": (
        (4, "{story}"),
        (1.5, "{course}"),
        (10, "{shared}"),
        (1.5, "{^shared_terse}."),
        "{imaging}",
        "{labs}",
        "{heredity}",
        "{mr_} [patient:last] tells me that {symptom} has troubled {him} since [past*:month].",
        "You will recall that {he} had {surgery} at the [hospital2] in [old*:year].",
        "{^he} has also been under the care of Mr [doctor3:last] at the [hospital2].",
        "{^he} worked as a [profession] for [organization] until [old*:year].",
        "{^he} lives in [city3] with {his} {kin1}, who was a [profession2].",
        "My registrar, Dr [doctor3:full], arranged {modality} on [recent*], which showed {finding}.",
        "{^he} was born in [country] and came to [city4] in [old*:year].",
        "{mr_} [patient:last] attended with {his} {kin1}, [relative1:full].",
        "{mr_} [patient:last] was last seen by Dr [doctor3:last] on [past*:slash].",
        "{^he} spent the summer in [country2].",
        "{^he} walks the dog daily round [place].",
        "{^his} {kin2} has retired to [city4].",
    ),
    "b_plan": (
        (4, "{shared}"),
        "I have arranged {modality} and will see {mr_} [patient:last] again in [next:month].",
        "I should be grateful if you would continue {drug} {dose} {often}.",
        "{^he} is due to attend on [next].",
        "I have asked Dr [doctor3:last] in {service} to see {him}.",
        "I have discharged {mr_} [patient:last] to your care.",
        "We have added {mr_} [patient:last] to the list for {surgery} under Mr [doctor3:last].",
    ),
    "closing": (
        (0.6, "{sign_off}"),
        (
            "Yours sincerely,\n\nDr [doctor:full]\nConsultant, GMC [license]{\n\ncc {mr_} [patient:full], [street3], "
            "[city3]|}"
        ),
        "Kind regards\n\n[doctor:f_last] MB ChB FRCP\nConsultant in {service}\nDictated but not signed",
        (
            "With best wishes\nYours sincerely\n\n\n[doctor:full]\n{Specialist Registrar|Consultant Physician|Locum "
            "Consultant} to Dr [doctor3:full]\n\nCopy: [center], [city2]"
        ),
    ),
    "pt": ((5, "{mr_} [patient:last]"), (2, "this {sir}"), "[patient:full]", (2, "the patient"), "{he}"),
    "dr": (
        (4, "Dr [doctor2:last]"),
        (2, "Mr [doctor3:last]"),
        "Dr [doctor3:full]",
        "Professor [doctor3:last]",
        "my {registrar|colleague}",
        "the {service} team",
        "Sister [doctor4:last]",
        "[doctor4:full], {physiotherapist|dietitian|specialist nurse}",
    ),
    "rel": (
        "{his} {kin1}",
        "{his} {kin1}, {mr_kin} [relative1:last]",
        "{his} {kin1} [relative1:first]",
        "{his} carer",
        "{his} {kin2}, [relative2:full],",
    ),
    "mr_kin": ("Mr", "Mrs", "Ms"),
    "when": (
        "on [past*]",
        "on [past*:slash]",
        "in [past*:month]",
        "in [past*:month_year]",
        "in [old*:year]",
        "a fortnight ago",
        "<2-9> {days|weeks|months} ago",
        "last week",
        "on [recent*:weekday]",
        "on [recent*:short]",
        "last [past*:month]",
    ),
    "@hospital": ("Moorside District Hospital", (0.5, "Moorside Infirmary")),
    "@hospital2": (
        "{moor_head}{moor_tail} {Royal Infirmary|General|Cottage Hospital}",
        "Queen {saint} Hospital",
        "Royal {moor_head}{moor_tail}",
    ),
    "@center": (
        "The {surname} Surgery",
        "{moor_head}{moor_tail} {Surgery|Health Centre|Medical Practice}",
        "{Church|Station|Market|Abbey} {Road|Lane} {Surgery|Practice}",
    ),
    "moor_head": split_alternatives(
        """
        Hather | Grass | Otter | Kirk | Skel | Ripp | Thirl | Wether | Ambles | Rawten | Keigh | Heb | Pately
        | Hawk | Swale | Ulver | Appler | Barnolds | Cleck | Mith
        """
    ),
    "moor_tail": split_alternatives(
        """
        by | thwaite | don | ley | bridge | wick | stall | den | shaw | mire | holme | dale | beck | sett
        """
    ),
    "@city": (
        (5, "{moor_head}{moor_tail}"),
        "{Great|Little|Upper|Nether} {moor_head}{moor_tail}",
        "{moor_head}{moor_tail}-{under|on|in}-{Wolds|Moss|Swale|Lyme}",
    ),
    "@street": (
        "<1-199> {moor_street} {Road|Lane|Terrace|Close|Row|Gardens|Crescent}",
        "Flat <1-20>, <1-99> {moor_street} {Street|Road}",
        "{Rose|Holly|Ivy|Heather|Rook} Cottage, {moor_street} Lane",
        "{surname} House, {moor_street} {Street|Road}",
    ),
    "moor_street": split_alternatives(
        """
        Station | Victoria | Albert | Church | Mill | Cross | Balmoral | Tenter | Bobbin | Weavers | Chapel |
        Quarry | Beech | Hawthorn | Gas | Market | Ginnel | Dyehouse
        """
    ),
    "@zip": ("{BD|HX|LS|HG|DL|LA|BB}%# %~~", "{BD|HX|LS|HG|DL|LA|BB}% %~~"),
    "@phone": ("01%## %#####", "01%## ######", "(01%##) ######"),
    "@fax": ("01%## %#####",),
    "@healthplan": ("%## ### ####",),
    "@mrn": ("~######", "MD######"),
    "@license": ("%######",),
    "@email": ("{doctor_ascii}.sec@moorside.example", "{doctor_login}@moorside.example"),
    "@organization": (
        "{surname} & Sons",
        "the {moor_head}{moor_tail} {Building Society|Gazette|Brass Band|Mills|Colliery|Grammar School}",
        "{surname}s of {moor_head}{moor_tail}",
        "{moor_head}{moor_tail} {Council|Rugby Club|Water}",
    ),
    "@place": (
        "{moor_head}{moor_tail} {Tarn|Crag|Fell|Reservoir|Moor}",
        "the {moor_head}{moor_tail} Viaduct",
        "the M<2-66>",
    ),
    "@profession": split_alternatives(
        """
        retired mill worker | joiner | lorry driver | dinner lady | headmistress | solicitor | retired
        policeman | plasterer | shopkeeper | publican | health visitor | bus conductor | civil servant |
        barrister | weaver | sheep farmer | vicar | postman | coal miner | fishmonger | lollipop lady | estate
        agent | retired engineer | quantity surveyor | chemist | window cleaner | wool merchant
        """
    ),
}

PROFILE = SiteProfile(
    name="en_moor",
    language="en",
    habit="English district hospital; letters to the family doctor, postcodes, day before month, no dots after titles",
    rules=_RULES,
    dates={
        "text": ("{o} {B} {Y}", "{d} {B} {Y}", "{o} of {B}"),
        "slash": ("{dd}/{mm}/{Y}", "{d}/{m}/{y}"),
        "dots": ("{dd}.{mm}.{y}",),
        "full": ("{dd}/{mm}/{Y}",),
        "short": ("{o} {B}", "the {o}"),
        "month": ("{B}", "early {B}", "{B} {Y}"),
        "month_year": ("{B} {Y}",),
        "year": ("{Y}",),
        "weekday": ("{A}",),
    },
    patients=((6, "en_GB"), (1, "en_PK"), (1, "pl_PL")),
    doctors=((4, "en_GB"), (2, "en_IN"), (1, "en_IE")),
    layout=Layout(typo_rate=0.003),
)

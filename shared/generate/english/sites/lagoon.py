"""A cancer institute in South India: fields and semicolons, cycles of chemotherapy, initials before or behind names."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": ("{card}\n{block*4-6;\n}\n{tail}",),
    "card": (
        (0.7, "{face_sheet}"),
        "UHID={mrn_} ; Name={name_} ; Age/Sex={age_} ; Date={day_} ; Consultant=[doctor:f_last]",
        "Name : [patient:last_f] {rel_} ; Age : [age] yrs ; Sex : {male} ; UHID : [mrn] ; Visit : [admit:full]",
        "<< [mrn] >> [patient:fm_last], [age]/{M} ; R/o [street], [city] [zip] ; Mob [phone] ; Regd [past:full]",
        (
            "OPD CARD\nPt : [patient:full] ; {rel_}\nUHID : [mrn] ; Aadhaar : [ssn] ; Scheme no : [healthplan]\nSeen : "
            "[admit:full] in [department]"
        ),
    ),
    "mrn_": ("[mrn]",),
    "name_": ("[patient:full]", "[patient:fm_last]", "[patient:last_f]"),
    "age_": ("[age] Y / {M}",),
    "day_": ("[admit:full]",),
    "rel_": (
        "{D/o|S/o|W/o|C/o} [relative1:full]",
        "Attender [relative1:first] ({kin1}, [phone2])",
        "Guardian [relative1:full]",
    ),
    "block": (
        (3, "Presenting : {l_hx*2-4; ; }"),
        (3, "History : {l_hx*2-4; ; }"),
        (2, "Cycles : {cycle*2-4; ; }"),
        "Past : {history_line*2-3; ; }",
        "O/E : {vitals} ; {exam_terse*2-4; ; }",
        "Ix : {labs} ; {imaging}",
        "Rx : {medication*2-4; ; }",
        (2, "Remarks : {remark*2-4; ; }"),
        "Social : {l_social*1-3; ; }",
        "Imp : {stage} ; {diagnosis}",
    ),
    "l_hx": (
        (2, "{terse}"),
        "{symptom}, {onset}",
        (7, "{shared_terse}"),
        (2, "{shared_}"),
        "first noticed {symptom} in [past1:month_year]",
        "evaluated at [hospital2], [city2] on [past2:full]",
        "biopsy no. [id] dt [past3:full] : {stage}",
        "{surgery} done by [doctor2:f_last] on [past4:full]",
        "referred by [doctor3:last_f] from [center]",
        "slides reviewed by [doctor4:full], accession [id2]",
        "took native treatment at [city2] till [past*:month_year]",
        "port [device] inserted [past*:full]",
    ),
    "cycle": (
        "C<1-8>D<1-15> on [recent*:full] ({drug} {dose})",
        "C<1-8> deferred to [next:full] due to {lab}",
        "{drug} {dose} given [recent*:full] under [doctor2:f_last]",
        "RT <30-60> Gy/<15-30># completed [past*:full] at [hospital2]",
        "tolerated, {terse}",
        "PET-CT [recent*:full] : {finding}",
    ),
    "stage": (
        "T<1-4>N<0-3>M<0-1>",
        "grade <1-3> infiltrating duct carcinoma",
        "ER+ PR- HER2 <0-3>+",
        "squamous cell carcinoma, moderately differentiated",
        "stage <1-4>{A|B}",
        "diffuse large B cell lymphoma",
        "Ki67 <5-90>%",
        "Hodgkin lymphoma, nodular sclerosis",
        "adenocarcinoma, margin free",
    ),
    "remark": (
        "{plan_terse}",
        "{plan}",
        (5, "{shared_terse}"),
        (4, "{shared_}"),
        "[patient:first] counselled with {kin1} [relative1:first]",
        "d/w [doctor2:f_last] and [doctor3:f_last]",
        "board on [next*:full] ; chair [doctor4:full]",
        "report to be mailed to [email]",
        "reports at [url]",
        "{kin1} [relative1:full] asked re cost, sanction letter [account] sent to [organization]",
        "[patient:first] travelling to [city3] for {kin2} [relative2:first]'s wedding in [next:month]",
        "review [next1:full] with {lab_name}",
        "insurance desk : [organization] policy [healthplan]",
        "research kit [bioid] collected",
    ),
    "shared_": ("{shared}",),
    "l_social": (
        (4, "{shared_terse}"),
        (2, "{shared_}"),
        "{^profession_}",
        "native of [city2], [state]",
        "works in [organization]",
        "{kin1} [relative1:first] is [profession2] in [country]",
        "stays at [place] with {kin2} [relative2:full]",
        "returned from [country] in [past*:month_year]",
        "{smoking}",
        "vegetarian",
        "travels by bus from [city3]",
    ),
    "profession_": ("[profession]", "retd [profession]"),
    "tail": (
        (0.7, "{sign_off}"),
        "Next : [next1:full] ; [doctor:f_last] ; Reg no [license]",
        "Adv by [doctor:full], DM (Onco), KMC [license]\nEntered [username] from [ip]",
        "Sd/- [doctor:last_f] ; [admit:full] {clock} ; Helpdesk [phone3]",
        "[hospital], [street2], [city] ; Ph [phone3] ; Fax [fax] ; [url]",
    ),
    "pt": ((3, "pt"), (2, "[patient:first]"), "[patient:full]", "[patient:fm_last]", "[patient:last_f]", (2, "{he}")),
    "dr": (
        (3, "[doctor2:f_last]"),
        (2, "Dr [doctor2:first]"),
        "Dr [doctor3:f_last]",
        "[doctor3:full]",
        "[doctor3:last_f]",
        "{service} unit",
        "tumour board",
    ),
    "rel": (
        "{kin1} [relative1:first]",
        "{kin1}",
        "[relative1:full] ({kin1})",
        "attenders",
        "{kin2} [relative2:full]",
        "[relative2:first]",
    ),
    "when": (
        "on [past*:full]",
        "[past*:full]",
        "dt [recent*:full]",
        "in [past*:month_year]",
        "in [old*:year]",
        "<2-9> {days|weeks|months} back",
        "since [old*:year]",
        "[recent*:short]",
        "yesterday",
    ),
    "soon": (
        "on [next*:full]",
        "[next*:full]",
        "after <2-9> {days|weeks}",
        "in [next*:month]",
        "tomorrow",
        "[next*:short]",
    ),
    "@hospital": ("Lagoon Cancer Institute", "LCI"),
    "@hospital2": (
        "{lagoon_city} {Mission Hospital|Medical College|Nursing Home|Speciality Centre}",
        "Sri {surname} Hospital",
        "{surname} Memorial Hospital",
        "Govt {lagoon_city} Hospital",
    ),
    "@center": ("{surname} {Clinic|Nursing Home|Polyclinic}", "PHC {lagoon_city}", "{lagoon_city} Scan Centre"),
    "lagoon_city": ("{lagoon_head}{lagoon_tail}",),
    "lagoon_head": split_alternatives(
        """
        Kotta | Mana | Puli | Tiru | Kara | Vela | Naga | Chenga | Palli | Ambala | Rama | Kundra | Tali |
        Perun | Irin | Sula | Mudi | Vara
        """
    ),
    "lagoon_tail": split_alternatives(
        """
        puram | kad | nagar | palli | patnam | cheri | pur | gudi | vadi | kulam | konda | halli | mangalam |
        giri
        """
    ),
    "@city": ("{lagoon_city}",),
    "@state": split_alternatives(
        """
        Kerala | Karnataka | Tamil Nadu | Goa | Assam | Bihar | Odisha | Telangana | Punjab
        """
    ),
    "@zip": ("%#####", "%## ###"),
    "@street": (
        "No. <2-300>, <1-19>th Cross, {surname} Layout",
        "<1-40>/<100-999>, {surname} {Nagar|Street|Colony|Salai}",
        "Door <2-99>-<1-30>, {lagoon_city} {Road|Main Road}",
        "Flat <1-9>{A|B|C}, {surname} Enclave",
    ),
    "@organization": (
        "{surname} Textiles",
        "{lagoon_city} {Municipality|Electricity Board|Coop Bank|Cashew Works|Engineering College}",
        "{surname} Trust",
        "State {Transport|Life} Corporation",
        "{surname} Infotech",
    ),
    "@place": ("{lagoon_city} {Backwater|Ghat|Temple|Jetty|Bazaar}", "{surname} {Lodge|Dharmashala}", "NH-<4-99>"),
    "@profession": split_alternatives(
        """
        agriculturist | autorickshaw driver | clerk | homemaker | tailor | coir worker | school headmaster |
        software engineer | weaver | toddy tapper | fish vendor | priest | goldsmith | retd army subedar |
        bank manager | tea stall owner | mason | rubber tapper | boatman | lecturer | bus conductor | farm
        labourer | police constable | cook | jeweller
        """
    ),
    "@mrn": ("LC/##/#####", "LC##%####"),
    "@id": ("HP-####/##", "B/%###/##"),
    "@device": ("PT%####~~", "CH-%#####"),
    "@ssn": ("%### #### ####",),
    "@healthplan": ("KS/%####/##", "~~-%#######"),
    "@account": ("SL/####/%##",),
    "@phone": ("9#########", "+91 %#### #####"),
    "@phone3": ("0%## %######", "1800 %## ####"),
    "@fax": ("0%## %######",),
    "@license": ("%####", "%###/##"),
    "@email": ("{first_ascii}%#@{mail_host}", "{last_ascii}{first_ascii}@{mail_host}"),
    "@department": ("OPD <1-9>", "Block {A|B|C}", "Day Care <1-3>"),
    "@username": ("{doctor_ascii}%", "{doctor_login}.lci"),
    "@url": ("lagooncancer.example/{reports|opd|pay}/%####", "https://lci.example/r/~~%##"),
}

PROFILE = SiteProfile(
    name="en_lagoon",
    language="en",
    habit=(
        "cancer institute; fields between semicolons, initials beside names, dates with dots or year first, no titles"
    ),
    rules=_RULES,
    dates={
        "full": ("{dd}.{mm}.{Y}", "{Y}-{mm}-{dd}", "{dd}-{b}-{Y}"),
        "text": ("{dd}.{mm}.{Y}",),
        "short": ("{dd}.{mm}",),
        "month": ("{B}", "{b}"),
        "month_year": ("{b}-{Y}", "{mm}/{Y}", "{b} '{y}"),
        "year": ("{Y}",),
        "weekday": ("{a}",),
    },
    patients=((1, "en_IN"),),
    doctors=((1, "en_IN"),),
    staff=34,
    ambiguous_rate=0.03,
    layout=Layout(typo_rate=0.008, glue_rate=0.02, name_upper_rate=0.06),
)

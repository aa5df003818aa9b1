"""Sentences that mention people, places and days, built from phrases that each hospital may word in its own way.

A hospital overrides {pt}, {dr}, {rel}, {when}, {soon} and {where}; some of their alternatives hold no PHI, so that a
model has to look at the word itself and not only at its place.
"""

from __future__ import annotations

from shared.generate.grammar import Rules

MENTIONS: Rules = {
    "pt": (
        (4, "{mr} [patient:last]"), (2, "[patient:first]"), (3, "the patient"), "[patient:full]",
        (0.5, "[patient:short]"), (0.3, "{mr_} [patient:l_dot]"),
    ),
    "dr": (
        (5, "Dr. [doctor2:last]"), (2, "Dr. [doctor3:last]"), "Dr. [doctor2:full]", "[doctor2:full]",
        "[doctor3:full], {MD|M.D.|NP|PA-C|RN}", "[doctor*:last]", "the {service_} team",
        "the {resident|surgeon|night float|on-call physician}", (0.5, "{his} primary care doctor"),
    ),
    "service_": ("{service}", "{^service}", "ICU", "transplant", "Coumadin clinic", "Foley", "Wound"),
    "rel": (
        (2, "{his} {kin1}"), (2, "{his} {kin1} [relative1:first]"), "{his} {kin1}, [relative1:full],",
        "[relative1:first]", "{his} {kin2}", "[relative2:full] ({kin2})", "the family",
        "{his} {kin2} [relative2:first]",
    ),
    "when": (
        (2, "on [past*]"), "on [past*:short]", (2, "in [past*:month_year]"), "in [past*:month]", "last [past*:month]",
        "on [recent*:weekday]", "in [old*:year]", "around [old*:month_year]", "<2-9> {days|weeks|months|years} ago",
        "yesterday", "last {week|month|year|night}", "this morning", "at {clock}", "on [recent*:full]",
        "back in [old*:year]",
    ),
    "since": (
        "[past*:month_year]", "[recent*:weekday]", "[past*:month]", "[old*:year]", "the fall", "yesterday", "childhood",
        "[past*:short]",
    ),
    "soon": (
        "on [next*]", "on [next*:short]", "in [next*:month]", "on [next*:weekday]", "in <2-8> weeks", "next week",
        "tomorrow at {clock}", "on [next*:full]", "within <24-72> hours", "by [next*:short]",
    ),
    "where": (
        (3, "at [hospital2]"), "at [center]", (2, "in [city2]"), "here", "at an outside hospital", "at [hospital]",
        "in the {emergency room|clinic|ICU|recovery room}", "in [country]", "in [city3], [state]", "at [hospital3]",
        "at home",
    ),
    "origin": (
        "[city2]", "[city3]", "[country]", "[state]", "a small town", "a nursing home", "[center]", "[city2], [state]",
        "abroad",
    ),
    "work": (
        "a [profession]", "a [profession2]", "a retired [profession]", "an employee of [organization]",
        "a [profession] at [organization]", "unemployed", "on disability", "self-employed", "a part-time [profession2]",
    ),
    "did": (
        "was seen", "was evaluated", "was treated for {condition}", "had {surgery}", "was told of {condition}",
        "underwent {modality}", "was admitted with {symptom}", "was started on {drug}", "had a {eponym_device} placed",
        "was hospitalized for <2-9> days", "fell", "fractured {his} {side} wrist", "received <1-3> units of blood",
        "had an episode of {symptom}",
    ),
    # One sentence with PHI, mostly.
    "shared": (
        (2, "{^pt} {did} {where} {when}."), (2, "{^pt} {did} {when}."), "{^when} {pt} {did} {where}.",
        "{^pt} {did} by {dr} {when}.", "{^dr} saw {pt} {when} and {advised} {drug} {dose}.",
        "{^dr} was {paged|called|consulted|informed} {when}.", "Discussed with {dr} and {rel}.",
        "{^rel} reports that {pt} has had {symptom} since {since}.",
        "{^rel} was present and {asked about {condition}|agreed|had no questions}.", "{^pt} lives {where} with {rel}.",
        "{^pt} lives in [city] and works as {work}.", "{^he} is {work}.", "{^pt} is originally from {origin}.",
        "{^pt} moved here from {origin} {when}.", "{^rel}, {work}, can be reached at [phone2].",
        "Emergency contact: [relative1:full], {kin1}, [phone2].", "{^pt} will see {dr} {soon}.",
        "Follow up with {dr} {soon}.", "Return {soon} for {lab_name}.", "{^modality} {when} showed {finding}.",
        "{^modality}, done {where} {when}, {showed|confirmed} {finding}.",
        "Records from [hospital2] were {requested|reviewed|faxed to [fax]}.", "According to {dr}, {pt} {did} {when}.",
        "{^pt} was transferred from {origin} by {ambulance|helicopter|private car}.", "{^dr} will call {rel} {soon}.",
        "{^pt} asked whether {drug} may cause {symptom}.",
        "{^pt} {tolerated the procedure well|was in good spirits|remained stable overnight|declined {drug}}.",
        "I reviewed the plan with {pt} and {rel}.", "{^dr} at [hospital2] recommended {surgery}.",
        "The last {lab_name} {when} {was normal|was <1.1-9.9>|was not sent}.",
        "{^pt}, a [age]-year-old {man} with {condition}, {did} {when}.",
        "{^pt} is a [age]-year-old {work_short} with {symptom}, {onset}.", "{^rel} had {condition} too.",
        "Copy to {dr}, [hospital2], [city2].", "{^pt} was discharged to [center] {when}.",
        "{^pt} walked in {place_} {when} without {symptom}.", "{^pt} can be reached at [phone] or [email].",
        "{^pt} receives mail at [street], [city], [state] [zip].", "Insurance is [organization3], member [healthplan].",
        "No visit since {since}.", "{^pt} travelled to {origin} {when}.",
        "{^his} {brown|black|green|gray} {sputum|stool|discharge} has {cleared|persisted} since {since}.",
        "{^pt} may {drive|return to work|bathe} {soon}.", "{^pt} will need a long course of {drug}.",
        "{^pt} was strong and young for {his} age, {dr} felt.",
    ),
    "advised": ("advised", "recommended", "suggested", "prescribed", "agreed to"),
    "work_short": ("[profession]", "{man}", "{sir}", "{male}"),
    "place_": ("[place]", "the hallway", "the park"),
    "shared_terse": (
        (2, "{did} {when}"), "{did} {where} {when}", "seen by {dr} {when}", "per {dr}: {plan_terse}", "{dr} aware",
        "{dr} paged {when}", "f/u {dr} {soon}", "rtc {soon}", "{rel} called {when}", "{rel} at bedside",
        "updated {rel}", "d/w {dr}, {rel}", "lives in [city] w/ {rel}", "from {origin}", "works as {work}",
        "occ: [profession]", "last {lab_name} {when}", "{modality} {when}: {finding}", "xfer from {origin} {when}",
        "appt w/ {dr} {soon}", "records from [hospital2]", "call [phone2] ({kin1})", "{pt} {did} {when}",
        "{pt} resting, no c/o", "{pt} refused {drug}", "{pt} c/o {symptom}", "spoke w/ {rel} @ [phone2]",
        "hx {surgery} {where} {when}", "seen {where} {when} for {condition}", "d/c to [center] {soon}", "PCP {dr}",
        "pharmacy: [organization2] [phone3]", "{kin1} [relative1:first] to drive {him} to [city2]",
        "may d/c {soon} if {lab_name} ok", "brown emesis x <1-4>", "long hx {condition}", "employer [organization]",
    ),
    "face_sheet": (
        "Patient: [patient:full]\nMRN: [mrn]\nDOB: [birth:full]\nDate: [admit:full]\nPhysician: [doctor:full]",
        (
            "Name: [patient:last_first]   Age: [age]   Sex: {M}\nMedical record number: [mrn]\nVisit date: "
            "[admit:full]   Provider: Dr. [doctor:last]"
        ),
        "[patient:full] | [birth:full] | [mrn] | [admit:full]",
        (
            "Pt Name: [patient:full]  DOB: [birth:full]  Acct: [account]\nAddress: [street], [city], [state] [zip]\n"
            "Phone: [phone]   PCP: [doctor2:full]"
        ),
        "Re: [patient:full], MRN [mrn], born [birth:full], seen [admit:full] at [hospital] by Dr. [doctor:full]",
    ),
    "sign_off": (
        "[doctor:full], MD", "Signed: [doctor:full], M.D., [admit:full] {clock}",
        "Electronically signed by [doctor:full] on [admit:full]", "[doctor:initials]",
        "Dictated by Dr. [doctor:last]; cc Dr. [doctor2:full]", "{^service} clinic, [hospital], tel. [phone]",
    ),
}  # fmt: skip

"""Sentences with PHI that many hospitals write; each site picks some and adds its own."""

from __future__ import annotations

from shared.corpus.generate.grammar import Rules

MENTIONS: Rules = {
    "m_identity": (
        "{mr} [patient:last] is a [age]-year-old {man} with {condition} who presents with {symptom}, {onset}.", "[patient:full] is a [age] year old {male} with a history of {condition} and {condition} admitted for {symptom}.",
        "This [age]-year-old {sir} from [city] presented on [admit] with {symptom}.", "[patient:full] is a [age:words]-year-old [profession] seen for {symptom}.", "{^he} is a [age]-year-old [profession] from [city], [state], known for {condition}.",
        "The patient is a pleasant [age]-year-old {male} [profession] who was in {his} usual state of health until [recent], when {he} noticed {symptom}.",
    ),
    "m_past": (
        "{^he} was seen at [hospital2] in [past*:month] for {condition}.", "In [past*:month_year] {he} underwent {surgery} by Dr. [doctor*:last].", "{^his} last visit here was on [past*].", "{^he} was hospitalized at [hospital2] from [past1] to [past2].", "A {modality} on [past*:short] showed {finding}.", "{^he} has followed with Dr. [doctor2:last] since [old:year].",
        "{^surgery} at [hospital2] in [old*:year].", "Diagnosed with {condition} in [old*:year] at [hospital3].", "{^he} fell on [recent:weekday] and again on [recent*:short].", "The last {modality}, done [past*], was unchanged.",
    ),
    "m_doctor": (
        "Dr. [doctor2:last] of {service} was consulted and advised {drug} {dose}.", "The case was discussed with Dr. [doctor3:full].", "{^he} was seen by [doctor2:full], MD, who recommended {modality}.", "Per Dr. [doctor2:last], start {drug} {dose} {often}.", "Dr. [doctor3:last] and Dr. [doctor2:last] agree with the plan.", "{mr} [patient:last] was evaluated by Dr. [doctor2:last].",
    ),
    "m_social": (
        "{^he} lives in [city2] with {his} {kin1}, [relative1:first].", "{^he} works as a [profession] at [organization].", "{^his} {kin1} [relative1:full] ([kinage]) can be reached at [phone2].", "{^he} is a retired [profession] and moved from [country] in [old*:year].", "{^his} {kin1}, [relative1:first], is a [profession2] and drove {him} here from [city2].", "{^he} came from [country] [age2] years ago.".replace("[age2]", "<2-30>"),
        "{^he} used to work for [organization] in [city2].", "{^his} {kin2} [relative2:first] helps at home.", "{^he} lives on [street] in [city].", "{^he} likes to fish at [place].", "{^he} resides at [center].",
    ),
    "m_follow": (
        "Follow up with Dr. [doctor2:last] on [next] at {clock}.", "{mr} [patient:last] will return on [next:weekday], [next:short].", "Call [phone] with questions.", "Appointment with {service} at [hospital] on [next].", "Please fax results to [fax].", "{^he} will see [doctor2:full] in [next:month].", "Results will be mailed to [street], [city], [state] [zip].",
    ),
    "m_again": (
        "{mr} [patient:last] tolerated this well.", "[patient:first] was tearful but cooperative.", "{mr} [patient:last]'s {kin1} was at the bedside.", "I explained this to {mr} [patient:last] and {his} {kin1} [relative1:first].", "[patient:first] agrees with the plan.", "{mr} [patient:last] was given {drug} {dose}.",
    ),
}  # fmt: skip

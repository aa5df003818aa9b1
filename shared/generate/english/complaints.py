"""Why patients come: symptoms, their onset and course, what goes with them and what does not."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives

COMPLAINTS: Rules = {
    "symptom": (
        "{pain_kind} {body_part} pain",
        "{pain_kind} headache",
        "shortness of breath",
        "dyspnea on exertion",
        "a {cough_kind} cough",
        "palpitations",
        "lightheadedness",
        "dizziness on standing",
        "{nausea}",
        "vomiting",
        "diarrhea",
        "constipation",
        "blood in the stool",
        "dark stools",
        "burning on urination",
        "urinary frequency",
        "flank pain",
        "leg swelling",
        "weight loss of <5-30> pounds",
        "fatigue",
        "night sweats",
        "low grade fever",
        "chills and rigors",
        "a {rash_kind} rash over the {body_part}",
        "blurred vision",
        "double vision",
        "ringing in the ears",
        "hoarseness",
        "difficulty swallowing",
        "heartburn",
        "loss of appetite",
        "bloating",
        "tingling in the {body_part}",
        "numbness of the {body_part}",
        "weakness of the {side} {limb}",
        "unsteady gait",
        "two falls at home",
        "tremor of the {side} hand",
        "slurred speech",
        "memory loss",
        "poor sleep",
        "low mood",
        "anxiety",
        "{side} knee stiffness",
        "{side} shoulder pain when reaching overhead",
        "low back pain radiating down the {side} leg",
        "a lump in the {side} breast",
        "swelling of the {side} calf",
        "cold fingers with color change",
        "easy bruising",
        "nosebleeds",
        "wheezing",
        "chest tightness",
        "orthopnea",
        "increased thirst",
        "heat intolerance",
        "cold intolerance",
        "hair loss",
        "dry mouth",
        "joint pain in the morning",
        "a wound that will not heal on the {side} foot",
        "hip pain after a mechanical fall",
        "itching without rash",
        "leg cramps at night",
        "hiccups for <2-6> days",
    ),
    "nausea": ("nausea", "queasiness", "nausea without vomiting", "morning nausea"),
    "pain_kind": split_alternatives(
        """
        dull | sharp | burning | crampy | stabbing | aching | throbbing | pressure-like | intermittent |
        constant | worsening | mild | severe
        """
    ),
    "cough_kind": ("dry", "productive", "barking", "nocturnal", "chronic", "nagging"),
    "rash_kind": ("scaly", "blistering", "itchy", "red", "raised", "petechial", "spreading"),
    "body_part": split_alternatives(
        """
        abdominal | chest | epigastric | upper back | lower back | neck | pelvic | groin | left flank | right
        flank | jaw | heel | elbow | wrist | forearm | thigh | calf | ankle | scalp | temple
        """
    ),
    "side": ("left", "right"),
    "limb": ("arm", "leg", "hand", "foot", "lower extremity", "upper extremity"),
    "span": (
        "<2-6> days",
        "<2-8> weeks",
        "<2-11> months",
        "about {a week|two weeks|a month|ten days}",
        "several {hours|days|weeks|months}",
        "the past <2-9> {days|weeks}",
        "nearly {a year|two years|three days}",
        "a few {hours|days|weeks}",
        "<12-72> hours",
        "more than <2-5> {weeks|months|years}",
    ),
    "onset": (
        "which began suddenly",
        "of gradual onset",
        "which started after {trigger}",
        "present for {span}",
        "which woke {him} from sleep",
        "on and off for {span}",
        "lasting {span}",
        "progressive over {span}",
        "that came on at rest",
        "noticed while {doing}",
    ),
    "trigger": (
        "a heavy meal",
        "lifting a box",
        "a viral illness",
        "a long car ride",
        "a change in medication",
        "yard work",
        "a minor fall",
        "a course of antibiotics",
        "climbing stairs",
        "missing several doses of {drug}",
        "a dental procedure",
        "an argument",
        "shoveling snow",
        "a tick bite",
        "swimming in a lake",
    ),
    "doing": split_alternatives(
        """
        walking the dog | getting dressed | watching television | eating dinner | driving | showering |
        working in the garden | climbing stairs | carrying laundry
        """
    ),
    "relief": (
        "partly relieved by {drug}",
        "better with rest",
        "improved by sitting forward",
        "not relieved by over the counter remedies",
        "eased by heat",
        "better after vomiting",
        "unchanged by position",
        "relieved within <5-30> minutes",
        "helped little by ice",
        "better with elevation",
    ),
    "worse": split_alternatives(
        """
        worse with deep breathing | worse on lying flat | aggravated by movement | worse in the evening |
        worse after meals | brought on by exertion | worse with cold air | worse at night | exacerbated by
        stress | worse when bearing weight
        """
    ),
    "denial": split_alternatives(
        """
        fever | chills | chest pain | syncope | hemoptysis | melena | dysuria | hematuria | recent travel |
        sick contacts | trauma | vision changes | focal weakness | incontinence | suicidal thoughts | rash |
        sore throat | ear pain | weight change | night sweats | orthopnea | leg swelling | abdominal pain |
        headache | neck stiffness
        """
    ),
    "story": (
        "{^he} describes {symptom}, {onset}.",
        "The pain is {worse} and {relief}.",
        "{^he} also reports {symptom} and {symptom}.",
        "{^he} denies {denial*2-4} or {denial}.",
        "There was associated {symptom}.",
        "Symptoms have been {steadily|slowly|gradually} {worsening|improving} over {span}.",
        "{^he} rates the discomfort as <2-9>/10.",
        "{^he} took {drug} <5-80> mg with {little|some|good|no} relief.",
        "No {denial}, {denial} or {denial} was noted.",
        "At baseline {he} {baseline}.",
        "{^he} has had {symptom} for {span}.",
        "On further questioning {he} admits to {symptom}.",
        "{^his} appetite has been {poor|fair|good} and {his} weight is {stable|down <3-20> lb}.",
        "{^he} was treated with {drug} for {condition} without improvement.",
        "The episode lasted <5-50> minutes and resolved {on its own|with rest|after {drug}}.",
        "{^he} has been taking {drug} about <2-4> times a day.",
        "{^he} notes {symptom}, {worse}.",
        "Prior to this {he} had been in {his} usual state of health.",
        "{^he} was found to have {condition} during the workup.",
        "This is similar to {his} prior episodes of {condition}.",
        "{^he} missed {his} last <2-4> doses of {drug}.",
        "There is no history of {condition} or {condition}.",
        "{^he} had a {surgery} in the past without complications.",
        "Home readings were {between <100-119>/<60-70> and <130-180>/<75-95>|<90-250> mg/dL fasting}.",
        (
            "{^he} tolerates {a regular diet|liquids only|small meals} and ambulates {independently|with a cane|with a "
            "walker}."
        ),
    ),
    "baseline": (
        "walks <2-9> blocks without stopping",
        "uses a cane",
        "is independent in all activities of daily living",
        "needs help with bathing",
        "sleeps on <2-4> pillows",
        "climbs <1-3> flights of stairs",
        "manages {his} own medications",
        "is mostly bed bound",
        "uses <2-4> L of oxygen by nasal cannula",
        "does {his} own shopping",
    ),
    "terse": (
        "c/o {symptom} x <2-9> {d|days|wks|hrs}",
        "reports {symptom}, {worse}",
        "denies {denial*2-4; / }",
        "no {denial}, no {denial}",
        "+ {symptom}, - {denial}",
        "{symptom} <2-9>/10",
        "{relief}",
        "ROS neg except {symptom}",
        "pain <0-9>/10 at rest, <3-10>/10 w/ movement",
        "tol PO, voiding, no BM x <2-4> d",
        "h/o {condition}, s/p {surgery}",
        "took {drug} <5-80> mg this AM",
        "{symptom} since {trigger}",
        "slept <3-8> hrs",
        "intake <200-900> mL, output <150-900> mL",
        "amb w/ {walker|cane|assist x 1|assist x 2}",
        "O2 sat <88-99>% on {RA|2L|3L NC}",
        "{condition} stable on {drug}",
        "FBS <90-220>, A1c <5.5-10.9>",
        "wt up <2-9> lb",
        "hx {condition}, {condition}",
    ),
}

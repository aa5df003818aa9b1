"""What is done: drugs with doses, procedures, plans, courses of a stay."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives

TREATMENT: Rules = {
    "drug": split_alternatives(
        """
        aspirin | metformin | lisinopril | atorvastatin | metoprolol | amlodipine | furosemide | warfarin |
        apixaban | clopidogrel | omeprazole | pantoprazole | levothyroxine | albuterol | prednisone |
        gabapentin | sertraline | citalopram | trazodone | lorazepam | hydrochlorothiazide | losartan |
        simvastatin | tramadol | acetaminophen | ibuprofen | naproxen | amoxicillin | ceftriaxone |
        azithromycin | ciprofloxacin | doxycycline | vancomycin | insulin glargine | glipizide | digoxin |
        diltiazem | spironolactone | allopurinol | colchicine | methotrexate | tamsulosin | finasteride |
        donepezil | levetiracetam | lamotrigine | quetiapine | olanzapine | lithium | mirtazapine | duloxetine
        | buspirone | famotidine | ondansetron | meclizine | Lasix | Coumadin | Plavix | Lipitor | Zoloft |
        Tylenol | Ativan | Norvasc | Synthroid | Neurontin | Xarelto | Protonix | Keflex | Advair | Spiriva |
        Lantus
        """
    ),
    "dose": (
        "<1-9> mg",
        "<10-95> mg",
        "<100-850> mg",
        "0.<1-9> mg",
        "<2-60> units",
        "<1-2> tabs",
        "1/2 tablet",
        "<1-4> puffs",
        "<250-900> mcg",
    ),
    "often": (
        "daily",
        "twice a day",
        "BID",
        "TID",
        "QHS",
        "every <4-8> hours",
        "q<4-8>h prn",
        "at bedtime",
        "with meals",
        "weekly",
        "as needed",
        "in the morning",
        "qAM",
        "once daily",
    ),
    "medication": (
        "{^drug} {dose} {often}",
        "{^drug} {dose} PO {often}",
        "{drug} {dose} {often}",
        "{^drug} {dose} {often} for {condition}",
        "{^drug} {dose} {often} x <3-14> days",
        "{^drug} {dose} IV q<6-24>h",
    ),
    "plan": (
        "Continue {drug} {dose} {often}.",
        "Start {drug} {dose} {often}.",
        "Increase {drug} to {dose} {often}.",
        "Stop {drug}.",
        "Taper {drug} over <5-21> days.",
        "Check {lab_name} and {lab_name} in <1-8> weeks.",
        "Repeat {modality} in <2-12> {weeks|months}.",
        "Refer to {service}.",
        "Physical therapy <2-3> times a week for <3-8> weeks.",
        "Low salt diet and daily weights.",
        "Return precautions reviewed.",
        (
            "Counseled on {smoking cessation|diet and exercise|fall prevention|medication adherence|foot care|sleep "
            "hygiene}."
        ),
        "Keep the wound dry for <24-72> hours.",
        "{service} consult appreciated.",
        "Hold {drug} until {lab_name} is back.",
        "Weight bearing as tolerated.",
        "Wean oxygen as able.",
        "Advance diet as tolerated.",
        "Trial of {drug} {dose}.",
        "Discussed risks and benefits of {surgery}; {he} agrees.",
        "Schedule {surgery}.",
        "Monitor for {denial} and {denial}.",
        "Follow {lab_name} trend.",
        "Await {lab_name} and cultures.",
        "Remove {eponym_device} tomorrow.",
        "Use {drug} as rescue.",
        "No change to {drug}.",
        "Hydration encouraged.",
        "Flu vaccine given.",
        "Recheck blood pressure in <2-6> weeks.",
        "Bring a log of home readings.",
    ),
    "plan_terse": (
        "cont {drug} {dose}",
        "d/c {drug}",
        "{drug} {dose} {often}",
        "f/u {lab_name}",
        "recheck {lab_name} <1-6> wks",
        "PT/OT eval",
        "{service} c/s",
        "pain ctrl w/ {drug}",
        "NPO p MN",
        "IVF @ <50-150> cc/hr",
        "DVT ppx",
        "RTC <2-12> wks",
        "rx {drug} #<10-90>, <0-5> refills",
        "ice, rest, elevate",
        "repeat {modality} prn",
        "wean O2",
        "ambulate TID",
        "full code",
        "I&O, daily wt",
        "{eponym_device} to gravity",
        "titrate {drug} to effect",
    ),
    "lab_name": split_alternatives(
        """
        CBC | BMP | a lipid panel | TSH | LFTs | INR | hemoglobin A1c | potassium | creatinine | troponins |
        urine culture | vitamin D | ferritin | a sputum sample | drug levels
        """
    ),
    "service": split_alternatives(
        """
        cardiology | neurology | orthopedics | gastroenterology | nephrology | pulmonology | endocrinology |
        psychiatry | dermatology | urology | physical therapy | social work | nutrition | oncology |
        ophthalmology | pain clinic | wound care | rheumatology
        """
    ),
    "course": (
        "{^he} was started on {drug} {dose} {often}.",
        "{^he} received {drug} and {drug} with good response.",
        "The {service} team recommended {drug} and {lab_name}.",
        "{modality} was done and showed {finding}.",
        "{^he} underwent {surgery} without complications.",
        "Blood pressure remained in the <100-150>s on {drug}.",
        "{^his} hemoglobin fell to <7.1-9.9> and {he} was given <1-3> units of red cells.",
        "Fever resolved within <24-72> hours.",
        "Diet was advanced and {he} ambulated with therapy.",
        "Pain was controlled with {drug} {dose}.",
        "{^drug} was held because of {lab}.",
        "A {eponym_device} was placed and later removed.",
        "The hospital course was complicated by {condition}.",
        "{^he} was weaned to room air.",
        "{^he} remained {afebrile|hemodynamically stable|on telemetry} overnight.",
        "Creatinine peaked at <1.4-4.9> and returned to <0.8-1.4>.",
        "On the day of discharge {he} was {eating well|walking <50-300> feet|free of pain|at baseline}.",
        "{^he} completed <5-14> days of {drug}.",
        "Wound care was continued with {daily|twice daily} dressing changes.",
        "{lab_name} and {lab_name} were followed {daily|closely}.",
    ),
    "disposition": (
        "home",
        "home with services",
        "a rehabilitation facility",
        "a skilled nursing facility",
        "hospice",
        "the care of family",
        "home with a walker",
    ),
    "state_now": ("stable", "good", "fair", "improved", "guarded", "satisfactory"),
    "diagnosis": (
        "{^condition}",
        "{^condition} with exacerbation",
        "Acute {symptom}",
        "{^condition} ({code})",
        "{^symptom}, cause unclear",
        "{^condition}, rule out {condition}",
        "Status post {surgery}",
    ),
}

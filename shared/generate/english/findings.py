"""What is seen and measured: vital signs, examination, laboratory, imaging; its numbers look like PHI and are none."""

from __future__ import annotations

from shared.generate.grammar import Rules

FINDINGS: Rules = {
    "clock": ("<7-9>:<10-59>", "<10-23>:<10-59>", "0<1-9>:<10-59>", "<1-12>:<10-59> {am|pm|AM|PM}", "<10-23><10-59>"),
    "vitals": (
        "T <36.1-39.4>, HR <52-128>, BP <92-188>/<50-104>, RR <12-28>, SpO2 <86-100>% on {room air|<2-4> L}",
        "BP <92-188>/<50-104>, pulse <52-128>, temp <97.0-102.9>",
        "Temperature <97.0-102.9> F, pulse <52-128>, respirations <12-28>, blood pressure <92-188>/<50-104>",
        "VS: <97.0-102.9> <52-128> <92-188>/<50-104> <12-28> <88-100>%RA",
        "weight <45-130> kg, height <148-195> cm, BMI <17.0-42.9>",
        "BP <100-180>/<55-100> sitting, <90-170>/<50-98> standing",
        "P <52-128> R <12-26> BP <92-188>/<50-104> T <97.1-102.4>",
    ),
    "exam": (
        "Lungs are clear to auscultation bilaterally.", "There are {crackles|rhonchi|wheezes} at the {side} base.",
        "Heart is regular with a <1-4>/6 {systolic|diastolic} murmur at the {apex|left sternal border}.",
        "Abdomen is soft, {tender in the {side} {lower|upper} quadrant|non-tender|mildly distended}.", "No edema.",
        "<1-3>+ pitting edema to the {ankles|knees|shins}.", "Strength is <3-5>/5 in the {side} {limb}.",
        "Reflexes <1-3>+ and symmetric.", "{eponym_thing} was {negative|positive|equivocal|noted}.",
        "Pupils are <2-5> mm and reactive.", "Vision 20/<20-70> in the {side} eye.",
        "Mucous membranes are {moist|dry}.", "No lymphadenopathy.",
        "Skin shows {a {rash_kind} rash|no lesions|a <1-9> cm ulcer on the {side} heel|scattered bruises}.",
        "Gait is {steady|antalgic|wide based|shuffling}.",
        "The {side} knee has {an effusion|full range of motion|crepitus}.", "Cranial nerves II-XII are intact.",
        "Alert and oriented x <2-4>.", "Mood is {low|anxious|euthymic|irritable}; affect is {flat|full|blunted}.",
        "Neck is supple without JVD.", "The incision is clean, dry and intact.", "Tympanic membranes are clear.",
        "Straight leg raise is {positive|negative} on the {side}.", "Bowel sounds are {present|hypoactive}.",
        "No cyanosis or clubbing.", "Thyroid is {not enlarged|diffusely enlarged}.", "Pulses are <1-2>+ in both feet.",
        "Speech is {fluent|slurred|pressured}.",
        "{^he} is {thin|obese|well nourished|pale|flushed} and in {no|mild|moderate} distress.",
        "Capillary refill is <1-4> seconds.",
    ),
    "exam_terse": (
        "gen: {NAD|ill appearing|comfortable}", "lungs {CTA b/l|w/ crackles {L|R} base|w/ exp wheeze}",
        "cor RRR {no m/r/g|<1-3>/6 SEM}", "abd soft {NT/ND|TTP {R|L}LQ|+BS}", "ext {no c/c/e|<1-3>+ edema}",
        "neuro {nonfocal|A&O x<2-4>|<3-5>/5 {R|L}UE}", "skin {w/d/i|{rash_kind} rash {body_part}}",
        "HEENT {PERRLA|MMM|OP clear}", "GCS <9-15>", "{eponym_thing} {neg|pos|intact|ok}", "psych {flat|calm|tearful}",
        "wound c/d/i", "pulses <1-2>+", "neck supple", "back {no CVAT|TTP L<1-5>-S1}",
    ),
    "lab": (
        "WBC <3.1-18.9>", "hemoglobin <7.2-16.9>", "platelets <90-450>", "sodium <126-148>", "potassium <2.9-5.8>",
        "creatinine <0.6-3.9>", "BUN <8-60>", "glucose <68-390>", "hemoglobin A1c <5.2-11.8>", "INR <0.9-4.2>",
        "troponin <0.01-2.50>", "BNP <40-2900>", "TSH <0.10-9.90>", "AST <12-240>", "ALT <10-260>", "lipase <20-900>",
        "lactate <0.7-5.2>", "CRP <1-180>", "ESR <4-98>", "ferritin <8-600>", "vitamin B12 <150-900>", "LDL <58-210>",
        "calcium <7.9-11.4>", "albumin <2.1-4.6>", "bilirubin <0.3-6.8>", "PSA <0.4-14.9>", "D-dimer <200-3900>",
        "CA 19-9 <10-190>", "magnesium <1.4-2.6>", "HLA-B27 {negative|positive}",
    ),
    "labs": (
        "{^lab*3-6}.", "{lab*2-4; / }", "Labs: {lab*3-6}.", "Laboratory studies showed {lab}, {lab} and {lab}.",
        "{^lab} (was <1.1-9.9>), {lab}.",
        "Urinalysis {negative|with <5-50> WBC, nitrite positive|with trace protein|with <2-30> RBC}.",
        "Blood cultures {negative x <2-3>|grew Staphylococcus aureus in <1-2>/4 bottles|pending}.",
    ),
    "modality": (
        "CT of the {scan_part}", "MRI of the {scan_part}", "Ultrasound of the {scan_part}", "X-ray of the {scan_part}",
        "Chest radiograph", "Echocardiogram", "EKG", "Nuclear stress test", "Doppler of the {side} leg", "Colonoscopy",
        "Upper endoscopy",
    ),
    "scan_part": (
        "head", "chest", "abdomen and pelvis", "lumbar spine", "cervical spine", "{side} knee", "{side} hip",
        "{side} shoulder", "neck", "{side} ankle", "brain",
    ),
    "finding": (
        "no acute abnormality", "a <3-28> mm nodule in the {side} {lower|upper} lobe",
        "mild degenerative change at L<2-5>-S1", "cardiomegaly", "a small {side} pleural effusion",
        "an ejection fraction of <25-65>%", "sinus rhythm at <55-110>", "atrial fibrillation with rate <70-150>",
        "a nondisplaced fracture", "diffuse fatty change of the liver", "gallbladder wall thickening of <4-9> mm",
        "no evidence of thrombus", "chronic small vessel disease", "{side} lower lobe consolidation",
        "diverticula without inflammation", "a <2-9> x <2-9> cm mass", "mild hydronephrosis",
        "T wave inversion in V<1-4>", "grade <1-3> esophagitis", "moderate canal stenosis",
    ),
    "imaging": (
        "{modality} showed {finding}.", "{modality}: {finding}.", "{modality} revealed {finding} and {finding}.",
        "{modality} was {unremarkable|limited by motion|read as {finding}}.",
        "{modality} demonstrated {finding}; {finding}.",
    ),
}  # fmt: skip

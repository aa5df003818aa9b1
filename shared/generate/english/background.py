"""What was there before: diseases, operations, allergies, habits, family; and eponyms, which only look like names."""

from __future__ import annotations

from shared.generate.grammar import Rules

BACKGROUND: Rules = {
    "condition": (
        "hypertension", "type <1-2> diabetes mellitus", "hyperlipidemia", "coronary artery disease",
        "atrial fibrillation", "congestive heart failure", "COPD", "asthma", "obstructive sleep apnea",
        "chronic kidney disease stage <2-4>", "hypothyroidism", "hyperthyroidism", "GERD", "peptic ulcer disease",
        "diverticulosis", "irritable bowel syndrome", "ulcerative colitis", "hepatitis C", "cirrhosis", "gallstones",
        "pancreatitis", "nephrolithiasis", "benign prostatic hyperplasia", "recurrent urinary tract infections",
        "osteoarthritis", "osteoporosis", "rheumatoid arthritis", "gout", "fibromyalgia", "lumbar spinal stenosis",
        "migraine", "epilepsy", "ischemic stroke", "transient ischemic attack", "peripheral neuropathy",
        "restless legs", "depression", "generalized anxiety disorder", "bipolar disorder", "schizophrenia",
        "alcohol use disorder", "iron deficiency anemia", "deep vein thrombosis", "pulmonary embolism", "melanoma",
        "prostate cancer", "breast cancer", "colon cancer", "lung nodule", "community acquired pneumonia", "cellulitis",
        "psoriasis", "eczema", "glaucoma", "cataract", "macular degeneration", "hearing loss", "varicose veins",
        "obesity", "vitamin D deficiency", "aortic stenosis", "mitral regurgitation", "cardiomyopathy",
        "peripheral arterial disease", "sciatica", "{eponym_disease}", "{eponym_disease}", "{eponym_disease}",
        "{eponym_disease}",
    ),
    "eponym_disease": (
        "Parkinson disease", "Parkinson's disease", "Crohn disease", "Crohn's disease", "Graves disease",
        "Graves' disease", "Hodgkin lymphoma", "Bell palsy", "Bell's palsy", "Addison disease", "Cushing syndrome",
        "Barrett esophagus", "Raynaud phenomenon", "Sjogren syndrome", "Hashimoto thyroiditis", "Alzheimer dementia",
        "Down syndrome", "Turner syndrome", "Marfan syndrome", "Meniere disease", "Paget disease of bone",
        "Dupuytren contracture", "Baker cyst", "Colles fracture", "Wolff-Parkinson-White syndrome",
        "Guillain-Barre syndrome", "Huntington disease", "Lewy body dementia", "Wilson disease", "Still disease",
        "Buerger disease",
    ),
    "eponym_device": (
        "Foley catheter", "Foley", "Hickman line", "Swan-Ganz catheter", "Kerlix wrap", "Penrose drain",
        "Jackson-Pratt drain", "Holter monitor", "Minerva brace", "Sengstaken tube", "Thomas splint", "Yankauer",
    ),
    "eponym_thing": (
        "Murphy sign", "Babinski sign", "Homans sign", "Kernig sign", "Romberg test", "Lachman test", "Phalen test",
        "Tinel sign", "Weber test", "Rinne test", "Trendelenburg position", "Fowler position", "Glasgow Coma Scale",
        "Braden score", "Morse fall scale", "Wells score", "Child-Pugh class {A|B|C}", "Ranson criteria",
        "Gleason <3-4>+<3-4>", "Apgar <7-9>/<8-10>", "Karnofsky <50-90>", "Mantoux test",
    ),
    "surgery": (
        "appendectomy", "cholecystectomy", "{side} total knee replacement", "{side} hip replacement",
        "coronary artery bypass", "hysterectomy", "inguinal hernia repair", "tonsillectomy", "cataract extraction",
        "thyroidectomy", "lumbar laminectomy", "{side} rotator cuff repair", "carpal tunnel release",
        "cesarean section", "pacemaker placement", "colonoscopy with polypectomy", "sinus surgery", "bunionectomy",
        "Whipple procedure", "Nissen fundoplication", "Hartmann procedure", "splenectomy", "{side} nephrectomy",
        "skin graft", "TURP", "stent to the LAD", "carotid endarterectomy", "gastric bypass", "C-section x <1-3>",
        "dental extraction",
    ),
    "allergen": (
        "penicillin", "sulfa", "codeine", "latex", "iodine contrast", "shellfish", "peanuts", "aspirin", "ibuprofen",
        "morphine", "cephalexin", "bee stings", "adhesive tape", "lisinopril", "eggs", "pollen", "vancomycin",
    ),
    "reaction": (
        "rash", "hives", "anaphylaxis", "nausea", "swelling", "itching", "cough", "GI upset", "unknown reaction",
        "flushing",
    ),
    "allergies": (
        "{allergen} ({reaction})", "{allergen*1-3}", "No known drug allergies", "NKDA", "{allergen} causes {reaction}",
        "{^allergen} - {reaction}; {allergen} - {reaction}", "None known",
    ),
    "habits": (
        "{^he} {smoking}.", "{^he} {drinking}.", "{^he} {smoking} and {drinking}.", "No recreational drug use.",
        "{^he} exercises <2-5> times a week.", "{^he} drinks <1-5> cups of coffee a day.", "Uses a seat belt.",
        "{^he} sleeps about <4-8> hours a night.",
        "Diet is {high in salt|mostly vegetarian|irregular|low in fiber|balanced}.",
        "{^he} has <1-4> {cats|dogs|grown children|cats and a dog}.", "Sexually active with one partner.",
        "Feels safe at home.", "{^he} needs help with {cooking|bathing|bills|transport|dressing}.",
        "Vaccines are up to date.", "Last eye exam was normal.",
    ),
    "smoking": (
        "smokes <5-30> cigarettes a day", "never smoked", "quit smoking <2-30> years ago",
        "has a <10-60> pack-year history", "vapes daily", "chews tobacco", "smokes a pipe on weekends",
    ),
    "drinking": (
        "drinks <1-6> beers a week", "does not drink alcohol", "has a glass of wine with dinner", "drinks socially",
        "stopped drinking <2-20> years ago", "drinks <2-6> shots of liquor daily",
    ),
    "heredity": (
        "{^relation} had {condition}.", "{^relation} died of {condition}.",
        "{^relation} has {condition} and {condition}.", "No family history of {condition}.",
        "Family history is notable for {condition}.", "{^relation} is alive and well.",
        "Strong family history of {condition} on the {maternal|paternal} side.", "Siblings are healthy.",
        "{^relation} and {relation} had {condition}.",
    ),
    "relation": (
        "mother", "father", "a sister", "a brother", "a paternal uncle", "a maternal aunt", "a grandmother",
        "a grandfather", "one cousin", "a daughter", "a son",
    ),
    "history_line": (
        "{^condition}", "{^condition}, on {drug}", "s/p {surgery}", "{^condition}, well controlled", "{^surgery}",
        "{^condition} with {condition}", "Remote {condition}",
        "{^condition} ({stable|untreated|resolved|diet controlled})", "History of {condition}",
        "{^condition}, last flare <2-11> months ago",
    ),
    "code": (
        "I10", "E11.<20-69>", "J44.<0-9>", "M54.<2-5>", "CPT 99<201-499>", "ICD-10 I25.<10-19>", "N18.<2-6>",
        "R07.<1-9>", "K21.<0-9>", "F32.<0-9>", "Z79.<1-899>", "S72.<001-499>",
    ),
}  # fmt: skip

"""Lo que se ve y se mide: constantes, exploración, laboratorio, imagen; números que no identifican a nadie."""

from __future__ import annotations

from shared.generate.grammar import Rules

FINDINGS: Rules = {
    "hora": (
        "<7-9>:<10-59>", "<10-23>:<10-59>", "<10-23>:<10-59> h", "<2-12>:00", "<10-23>.<10-59> h", "0<1-9>:<10-59>",
    ),
    "constantes": (
        "TA <92-188>/<50-104> mmHg, FC <52-128> lpm, Tª <36.0-39.4> ºC, Sat O2 <86-100>%",
        "TA <92-188>/<50-104>, FC <52-128>, afebril", "T <36.0-39.4>, FR <12-28>, FC <52-128>, PA <92-188>/<50-104>",
        "Peso <45-130> kg, talla <148-195> cm, IMC <17.0-42.9>",
        "PA <92-188>/<50-104> FC <52-128> SatO2 <86-99>% {basal|con oxígeno}", "TA <9-18>/<5-10>, pulso <52-118>",
    ),
    "exploracion": (
        "Auscultación pulmonar con {crepitantes en la base {lado}|sibilancias|murmullo conservado|roncus dispersos}.",
        "Auscultación cardiaca {rítmica|arrítmica} con soplo <1-4>/6.",
        "Abdomen {blando y depresible|doloroso en {zona}|distendido}.", "{^signo} {negativo|positivo|normal}.",
        "Edemas con fóvea <1-3>+.", "Fuerza <3-5>/5 en {miembro}.", "Reflejos conservados.",
        "Pupilas isocóricas de <2-5> mm.", "Agudeza visual <1-9>/10.", "Mucosas {húmedas|secas|pálidas}.",
        "Sin adenopatías.", "Lesiones {tipo_lesion} en {zona}.", "Marcha {estable|antiálgica|atáxica}.",
        "Rodilla {lado} con derrame y movilidad limitada.", "Consciente y orientad{o} en las <2-3> esferas.",
        "Ánimo {bajo|ansioso|eutímico}.", "Herida limpia y seca.", "Otoscopia normal.",
        "Lasègue {positivo|negativo} a <30-70>º.", "Tiroides {normal|aumentado}.", "Pulsos {presentes|débiles}.",
        "Bien hidratad{o} y perfundid{o}.", "Relleno capilar de <1-4> segundos.", "Habla {fluida|disártrica}.",
        "Cuello sin rigidez.",
    ),
    "expl_breve": (
        "BEG", "REG", "AC rítmica", "AP {MVC|crepitantes bases|sibilantes}", "abd blando", "abd doloroso {zona}",
        "MMII {sin edemas|edemas +}", "neuro sin focalidad", "GCS <9-15>", "{signo} {+|-|neg}", "herida limpia",
        "pulsos +", "pupilas {isocóricas|reactivas}", "ORL: {normal|faringe roja}", "COC", "NH, NC",
        "piel {sin lesiones|lesiones {tipo_lesion}}",
    ),
    "analito": (
        "leucocitos <3100-18900>", "hemoglobina <7.2-16.9> g/dl", "plaquetas <90-450>.000", "sodio <126-148>",
        "potasio <2.9-5.8>", "creatinina <0.6-3.9> mg/dl", "urea <18-160>", "glucosa <68-390>", "HbA1c <5.2-11.8>%",
        "INR <0.9-4.2>", "troponina <0.01-2.50>", "NT-proBNP <40-9900>", "TSH <0.10-9.90>", "GOT <12-240>",
        "GPT <10-260>", "lipasa <20-900>", "PCR <0.1-180.0>", "VSG <4-98>", "ferritina <8-600>", "LDL <58-210>",
        "calcio <7.9-11.4>", "albúmina <2.1-4.6>", "bilirrubina <0.3-6.8>", "PSA <0.4-14.9>", "dímero D <200-3900>",
        "CA 19.9 <10-190>", "HLA-B27 {negativo|positivo}",
    ),
    "analitica": (
        "{^analito*3-6}.", "Analítica: {analito*3-6}.", "En la analítica destaca {analito}, {analito} y {analito}.",
        "Hemograma: {analito*2-3;; }.", "Sistemático de orina {negativo|con <10-90> leucocitos por campo}.",
        "Hemocultivos {negativos|con Staphylococcus aureus|pendientes}.",
        "Gasometría: pH 7.<20-49>, pCO2 <28-70>, HCO3 <18-34>.",
    ),
    "prueba": (
        "TC de {zona_tc}", "RM de {zona_tc}", "ecografía abdominal", "radiografía de {zona_tc}", "radiografía de tórax",
        "ecocardiograma", "electrocardiograma", "ergometría", "eco Doppler", "colonoscopia", "gastroscopia",
        "gammagrafía ósea", "electromiograma", "espirometría",
    ),
    "zona_tc": (
        "cráneo", "tórax", "abdomen y pelvis", "columna lumbar", "columna cervical", "rodilla {lado}", "cadera {lado}",
        "hombro {lado_m}",
    ),
    "hallazgo": (
        "ausencia de hallazgos agudos", "nódulo de <3-28> mm en lóbulo {superior|inferior} {lado_m}",
        "cambios degenerativos L<2-4>-L5", "cardiomegalia", "derrame pleural {lado_m}",
        "fracción de eyección del <25-65>%", "ritmo sinusal a <55-110> lpm", "fibrilación auricular a <70-150> lpm",
        "fractura no desplazada", "esteatosis hepática", "pared vesicular de <4-9> mm", "leucopatía crónica",
        "consolidación en base {lado}", "divertículos no complicados", "masa de <2-9> x <2-9> cm", "hidronefrosis leve",
        "T negativas en V<1-4>", "esofagitis grado {A|B|C}",
    ),
    "imagen": (
        "{^prueba}: {hallazgo}.", "Se practica {prueba} con {hallazgo}.", "{^prueba} con {hallazgo} y {hallazgo}.",
        "{^prueba} {normal|no concluyente|pendiente de informe}.", "Se solicita {prueba} ({hallazgo}).",
    ),
}  # fmt: skip

"""Antecedentes, intervenciones, alergias y hábitos; y epónimos que parecen nombres y no lo son."""

from __future__ import annotations

from shared.generate.grammar import Rules

BACKGROUND: Rules = {
    "enfermedad": (
        "hipertensión arterial", "diabetes mellitus tipo <1-2>", "dislipemia", "cardiopatía isquémica",
        "fibrilación auricular", "insuficiencia cardiaca", "EPOC", "asma bronquial", "apnea del sueño",
        "enfermedad renal crónica estadio <2-4>", "hipotiroidismo", "hipertiroidismo", "reflujo gastroesofágico",
        "úlcera gástrica", "diverticulosis", "colon irritable", "colitis ulcerosa", "hepatitis C", "cirrosis hepática",
        "colelitiasis", "pancreatitis aguda", "litiasis renal", "hiperplasia prostática",
        "infecciones urinarias de repetición", "artrosis", "osteoporosis", "artritis reumatoide", "gota",
        "fibromialgia", "estenosis de canal lumbar", "migraña", "epilepsia", "ictus isquémico",
        "accidente isquémico transitorio", "polineuropatía", "depresión", "trastorno de ansiedad", "trastorno bipolar",
        "esquizofrenia", "anemia ferropénica", "trombosis venosa profunda", "tromboembolismo pulmonar", "melanoma",
        "cáncer de colon", "cáncer de mama", "nódulo pulmonar", "neumonía", "celulitis", "psoriasis", "dermatitis",
        "glaucoma", "cataratas", "hipoacusia", "varices", "obesidad", "déficit de vitamina D", "estenosis aórtica",
        "insuficiencia mitral", "arteriopatía periférica", "ciática", "brucelosis", "enfermedad de Chagas", "dengue",
        "tuberculosis", "hidatidosis", "{eponimo}", "{eponimo}", "{eponimo}", "{eponimo}", "{eponimo}",
    ),
    "eponimo": (
        "enfermedad de Parkinson", "enfermedad de Crohn", "enfermedad de Graves", "linfoma de Hodgkin",
        "parálisis de Bell", "enfermedad de Addison", "síndrome de Cushing", "esófago de Barrett",
        "fenómeno de Raynaud", "síndrome de Sjögren", "tiroiditis de Hashimoto", "demencia tipo Alzheimer",
        "síndrome de Down", "síndrome de Turner", "síndrome de Marfan", "enfermedad de Ménière", "enfermedad de Paget",
        "contractura de Dupuytren", "quiste de Baker", "fractura de Colles", "síndrome de Guillain-Barré",
        "corea de Huntington", "enfermedad de Wilson", "mal de Pott", "púrpura de Schönlein", "enfermedad de Kawasaki",
        "carcinoma de Merkel",
    ),
    "dispositivo": (
        "sonda Foley", "drenaje de Redon", "drenaje de Kehr", "Holter", "vendaje de Jones", "catéter de Hickman",
        "férula de Braun", "sonda de Sengstaken", "vía periférica", "marcapasos",
    ),
    "signo": (
        "signo de Murphy", "Blumberg", "signo de Babinski", "puño percusión", "maniobra de Lasègue", "signo de Homans",
        "Romberg", "Lachman", "Phalen", "Tinel", "Glasgow <9-15>", "escala de Norton <8-19>",
        "escala de Barthel <20-100>", "Apgar <7-9>/<8-10>", "Gleason <3-4>+<3-4>", "Mantoux",
        "clasificación de Child {A|B|C}", "Karnofsky <50-90>", "posición de Trendelenburg", "Finkelstein", "Rinne",
        "Weber", "Doppler",
    ),
    "cirugia": (
        "apendicectomía", "colecistectomía", "prótesis de rodilla {lado}", "prótesis de cadera {lado}",
        "triple derivación coronaria", "histerectomía", "hernioplastia inguinal", "amigdalectomía",
        "facoemulsificación", "tiroidectomía", "laminectomía lumbar", "artroscopia de hombro",
        "liberación del túnel carpiano", "cesárea", "implante de marcapasos", "polipectomía endoscópica",
        "septoplastia", "nefrectomía {lado}", "injerto cutáneo", "resección transuretral", "angioplastia",
        "operación de Hartmann", "funduplicatura de Nissen", "esplenectomía", "bypass gástrico", "exodoncia",
    ),
    "alergeno": (
        "penicilina", "sulfamidas", "codeína", "látex", "contraste yodado", "marisco", "frutos secos", "aspirina",
        "ibuprofeno", "metamizol", "picadura de avispa", "esparadrapo", "huevo", "pólenes", "estreptomicina", "níquel",
    ),
    "alergias": (
        "No alergias medicamentosas conocidas", "NAMC", "Alergia a {alergeno}", "{^alergeno*1-3}",
        "Intolerancia a {alergeno}", "No refiere", "Alérgic{o} a {alergeno} y {alergeno}",
    ),
    "habitos": (
        "Fuma <5-30> cigarrillos al día.", "Nunca ha fumado.", "Dejó de fumar hace <2-30> años.",
        "Bebe <1-3> vasos de vino en las comidas.", "No consume alcohol.", "Niega otros tóxicos.",
        "Camina <2-6> km al día.", "Toma <1-4> cafés diarios.", "Duerme unas <4-8> horas.",
        "Dieta {sin sal|mediterránea|pobre en fibra|irregular}.", "Vacunación al día.",
        "Convive con <1-4> {perros|gatos|gallinas}.", "Índice de <10-60> paquetes-año.", "Mate y bizcochos en exceso.",
    ),
    "herencia": (
        "[kin*:cap] con {enfermedad}.", "[kin*:cap] murió por {enfermedad}.", "[kin*:cap] y [kin*] con {enfermedad}.",
        "Sin antecedentes de {enfermedad}.", "Tiene [kins*] sin enfermedades conocidas.",
        "[kin*:cap] con diabetes y [kin*] con {enfermedad}.", "No hay antecedentes familiares de interés.",
        "Varios familiares con {enfermedad}.",
    ),
    "antecedente": (
        "{^enfermedad}", "{^enfermedad} en tratamiento con {farmaco}", "{^cirugia}", "{^enfermedad}, bien controlada",
        "{^enfermedad} y {enfermedad}", "{^cirugia} hace <2-30> años",
        "{^enfermedad} ({estable|sin tratamiento|resuelta})", "Episodio de {enfermedad}",
    ),
    "codigo": (
        "CIE-10 I10", "E11.<20-69>", "J44.<0-9>", "M54.<2-5>", "N18.<2-6>", "K21.<0-9>", "F32.<0-9>", "GRD <100-899>",
    ),
}  # fmt: skip

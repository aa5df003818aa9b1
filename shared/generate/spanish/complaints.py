"""Por qué se consulta: síntomas, comienzo, evolución y lo que los acompaña."""

from __future__ import annotations

from shared.generate.grammar import Rules

COMPLAINTS: Rules = {
    "sintoma": (
        "dolor {tipo_dolor} en {zona}", "cefalea {tipo_dolor}", "disnea de esfuerzo", "tos {tipo_tos}", "palpitaciones",
        "mareo al levantarse", "náuseas", "vómitos alimentarios", "diarrea sin productos patológicos", "estreñimiento",
        "rectorragia", "deposiciones oscuras", "disuria", "polaquiuria", "edema en {zona_baja}",
        "pérdida de <3-15> kg de peso", "astenia", "sudoración nocturna", "fiebre de <37.8-39.6> ºC", "escalofríos",
        "lesiones {tipo_lesion} en {zona}", "visión borrosa", "diplopía", "acúfenos", "disfonía",
        "disfagia para sólidos", "pirosis", "hiporexia", "distensión abdominal", "parestesias en {zona_baja}",
        "debilidad de {miembro}", "inestabilidad de la marcha", "caídas de repetición", "temblor de reposo",
        "disartria", "fallos de memoria", "insomnio", "ánimo bajo", "ansiedad", "gonalgia {lado}",
        "lumbalgia irradiada a {zona_baja}", "un bulto en la mama {lado}", "hematomas fáciles", "epistaxis",
        "sibilancias", "opresión torácica", "ortopnea", "sed intensa", "caída del cabello", "boca seca",
        "rigidez matutina", "úlcera en el pie que no cura", "prurito", "calambres nocturnos", "hipo persistente",
        "otalgia {lado}", "odinofagia", "hematuria", "tumefacción de la rodilla {lado}", "dolor tras caída casual",
        "pérdida de conocimiento breve", "amnesia del episodio",
    ),
    "tipo_dolor": (
        "opresivo", "punzante", "sordo", "cólico", "urente", "pulsátil", "intermitente", "continuo", "intenso", "leve",
    ),
    "tipo_tos": ("seca", "productiva", "nocturna", "irritativa", "con expectoración verdosa", "persistente"),
    "tipo_lesion": ("eritematosas", "descamativas", "pruriginosas", "vesiculosas", "purpúricas", "sobreelevadas"),
    "lado": ("derecha", "izquierda", "bilateral"),
    "lado_m": ("derecho", "izquierdo"),
    "zona": (
        "el epigastrio", "la fosa renal {lado}", "el hipocondrio {lado_m}", "el hombro {lado_m}", "la región lumbar",
        "el tórax", "la mandíbula", "la nuca", "el codo {lado_m}", "la muñeca {lado}", "el talón", "la ingle {lado}",
        "el cuello", "el tobillo {lado_m}", "la cadera {lado}", "el cuero cabelludo",
    ),
    "zona_baja": (
        "ambas piernas", "la pierna {lado}", "los pies", "las manos", "el muslo {lado_m}", "la pantorrilla {lado}",
    ),
    "miembro": (
        "el brazo {lado_m}", "la pierna {lado}", "la mano {lado}", "el hemicuerpo {lado_m}", "los miembros inferiores",
    ),
    "tiempo": (
        "<2-6> días", "<2-8> semanas", "<2-11> meses", "{una semana|un mes|diez días|quince días}",
        "varias {horas|semanas}", "unas <12-72> horas", "más de <2-6> {semanas|meses}", "pocos {días|meses}",
    ),
    "inicio": (
        "de inicio brusco", "de comienzo gradual", "de {tiempo} de evolución", "que comenzó tras {causa}",
        "que le despierta por la noche", "que empeora con {agravante}", "que mejora con {alivio}",
        "intermitente desde hace {tiempo}", "sin desencadenante claro", "progresivo en {tiempo}",
        "que aparece en reposo",
    ),
    "causa": (
        "una comida copiosa", "levantar peso", "un catarro", "un viaje largo", "un cambio de medicación", "una caída",
        "tomar antibióticos", "subir escaleras", "una discusión", "una extracción dental", "la vendimia",
        "una picadura", "bañarse en el río", "un disgusto",
    ),
    "agravante": (
        "la inspiración profunda", "el decúbito", "el movimiento", "las comidas", "el esfuerzo", "el frío", "el estrés",
        "la bipedestación",
    ),
    "alivio": ("el reposo", "{farmaco}", "calor local", "el ayuno", "la postura sentada", "frío local", "el vómito"),
    "niega": (
        "fiebre", "dolor torácico", "síncope", "hemoptisis", "melenas", "disuria", "hematuria", "viajes recientes",
        "traumatismo previo", "cambios visuales", "pérdida de fuerza", "incontinencia", "ideas de muerte", "exantema",
        "odinofagia", "cambios de peso", "ortopnea", "edemas", "dolor abdominal", "cefalea", "rigidez de nuca",
        "contacto con animales",
    ),
    "relato": (
        "Refiere {sintoma}, {inicio}.", "Además presenta {sintoma} y {sintoma}.", "Niega {niega*2-4} o {niega}.",
        "Lo asocia a {sintoma}.", "Los síntomas han {empeorado|mejorado} en {tiempo}.", "Puntúa el dolor <2-9>/10.",
        "Tomó {farmaco} <50-850> mg {sin mejoría|con alivio parcial|con buena respuesta}.",
        "No ha tenido {niega}, {niega} ni {niega}.", "En situación basal {basal}.",
        "Desde hace {tiempo} nota {sintoma}.", "El apetito es {escaso|conservado|irregular}.",
        "Recibió {farmaco} por {enfermedad} sin mejoría.", "El episodio duró <5-50> minutos y cedió con {alivio}.",
        "Toma {farmaco} unas <2-4> veces al día.", "Había estado bien hasta entonces.",
        "Olvidó <2-4> tomas de {farmaco}.", "No consta {enfermedad} ni {enfermedad}.",
        "Se le había practicado {cirugia} sin complicaciones.", "Las tensiones en casa rondan <120-170>/<70-95>.",
        "Tolera {dieta normal|líquidos|papillas} y deambula {con bastón|con andador|sin ayuda}.",
        "Es un cuadro parecido al de su {enfermedad}.",
    ),
    "basal": (
        "camina <2-9> manzanas sin parar", "usa bastón", "es independiente para las actividades diarias",
        "precisa ayuda para el aseo", "duerme con <2-4> almohadas", "sube <1-3> pisos", "hace vida cama-sillón",
        "lleva oxígeno a <1-3> litros", "prepara su medicación",
    ),
    "breve": (
        "{sintoma} de {tiempo}", "refiere {sintoma}", "niega {niega*2-4; / }", "no {niega}, no {niega}",
        "{sintoma} + {sintoma}", "EVA <2-9>/10", "tolera vo, diuresis +, no dep x <2-4> d",
        "AP: {enfermedad}; IQ: {cirugia}", "tomó {farmaco} <5-80> mg", "durmió <3-8> h",
        "ingresos <500-2500> ml, diuresis <300-2600> ml", "Sat <88-99>% {basal|con GN <2-4> lpm}",
        "{enfermedad} estable con {farmaco}", "BMTest <80-320>", "peso +<1-5> kg", "afebril",
        "curada herida, buen aspecto", "deambula con {andador|muleta|ayuda}", "abdomen {blando|doloroso}, RHA +",
    ),
}  # fmt: skip

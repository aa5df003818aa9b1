"""Frases que nombran personas, lugares y días, hechas de sintagmas que cada hospital dice a su manera.

Un hospital cambia {pac}, {dr}, {fam}, {cuando}, {pronto} y {donde}; algunas de sus alternativas no contienen PHI, de
modo que un modelo ha de mirar la palabra y no solo su sitio.
"""

from __future__ import annotations

from shared.generate.grammar import Rules

MENTIONS: Rules = {
    "pac": (
        (2, "{el} paciente"), (3, "{el} {sr} [patient:last]"), (2, "[patient:first]"), "[patient:short]",
        "[patient:full]", "{dona} [patient:first]", (0.5, "{el} {senor} [patient:last]"),
    ),
    "dr": (
        (4, "{eldr2} [doctor2:last]"), (2, "{eldr3} [doctor3:last]"), "{eldr2} [doctor2:full]", "[doctor2:short]",
        "[doctor3:full]", "[doctor*:last]", "el servicio de {servicio}",
        "{el residente|el médico de guardia|la enfermera|el cirujano}", (0.5, "su médico de cabecera"),
    ),
    "fam": (
        (3, "su [kin1]"), (2, "su [kin1] [relative1:first]"), "su [kin1], [relative1:short],", "[relative1:first]",
        "su [kin2]", "[relative2:short] ([kin2])", "la familia", "sus [kins]",
    ),
    "cuando": (
        (2, "el [past*]"), "el [past*:short]", (2, "en [past*:month_year]"), "en [past*:month]",
        "el pasado [past*:short]", "el [recent*:weekday]", "en [old*:year]", "hacia [old*:month_year]",
        "hace <2-9> {días|semanas|meses|años}", "ayer", "{la semana pasada|el mes pasado|anoche}", "esta mañana",
        "a las {hora}", "el [recent*:full]", "el día [recent*:full]", "allá por [old*:year]",
    ),
    "desde": (
        "[past*:month_year]", "el [recent*:weekday]", "[past*:month]", "[old*:year]", "ayer", "la infancia",
        "el [past*:short]", "hace {tiempo}", "anoche",
    ),
    "pronto": (
        "el [next*]", "el [next*:short]", "en [next*:month]", "el [next*:weekday]", "en <2-8> semanas",
        "la próxima semana", "mañana a las {hora}", "el [next*:full]", "en <24-72> horas", "el día [next*:full]",
    ),
    "donde": (
        (3, "en el [hospital2]"), "en el [center]", (2, "en [city2]"), "aquí", "en otro centro", "en [hospital]",
        "en {urgencias|consulta|la UCI|planta|quirófano}", "en [country2]", "en [city3] ([state])", "en el [hospital3]",
        "en su domicilio",
    ),
    "origen": (
        "[city2]", "[city3]", "[country2]", "[state]", "un pueblo cercano", "una residencia", "[center]",
        "[city2] ([state])", "el extranjero",
    ),
    "oficio": (
        "[profession]", "[profession2]", "[profession] en [organization]", "[profession] jubilad{o}", "pensionista",
        "en paro", "autónom{o}", "emplead{o} de [organization]", "[profession2] a media jornada",
    ),
    "hizo": (
        "fue vist{o}", "fue valorad{o}", "fue tratad{o} de {enfermedad}", "fue intervenid{o} de {cirugia}",
        "fue diagnosticad{o} de {enfermedad}", "se realizó {prueba}", "ingresó por {sintoma}", "empezó con {farmaco}",
        "precisó {dispositivo}", "estuvo ingresad{o} <2-9> días", "se cayó", "sufrió fractura de muñeca {lado}",
        "recibió <1-3> concentrados de hematíes", "tuvo {sintoma}",
    ),
    # Una frase, las más de las veces con PHI.
    "comun": (
        (2, "{^pac} {hizo} {donde} {cuando}."), (2, "{^pac} {hizo} {cuando}."), "{^cuando} {pac} {hizo} {donde}.",
        "{^pac} {hizo} por {dr} {cuando}.",
        "{^dr} {valoró|revisó|exploró} {al} paciente {cuando} y {aconsejo} {farmaco} {dosis}.",
        "Se avisa a {dr} {cuando}.", "Comentado con {dr} y {fam}.",
        "{^fam} refiere que {pac} presenta {sintoma} desde {desde}.",
        "{^fam} acompaña {al} paciente y {pregunta por {enfermedad}|está de acuerdo|no tiene dudas}.",
        "Vive {donde} con {fam}.", "{^pac} vive en [city] y trabaja como {oficio}.", "Trabaja como {oficio}.",
        "Natural de {origen}.", "Procede de {origen} y vive aquí desde {desde}.", "{^fam}, localizable en el [phone2].",
        "Persona de contacto: [relative1:full] ([kin1]), [phone2].", "{^pac} acudirá a consulta de {dr} {pronto}.",
        "Revisión con {dr} {pronto}.", "Volverá {pronto} para {control}.", "{^prueba} {cuando}: {hallazgo}.",
        "{^prueba} realizada {donde} {cuando}, con {hallazgo}.", "Se piden informes al [hospital2] (fax [fax]).",
        "Según {dr}, {pac} {hizo} {cuando}.", "Trasladad{o} desde {origen} en {ambulancia|helicóptero|coche propio}.",
        "{^dr} llamará a {fam} {pronto}.", "{^pac} pregunta si {farmaco} puede causar {sintoma}.",
        "{^pac} {toleró bien el procedimiento|está animad{o}|pasó buena noche|rechaza {farmaco}}.",
        "Se explica el plan a {pac} y a {fam}.", "{^dr}, del [hospital2], recomendó {cirugia}.",
        "El último control de {control}, {cuando}, fue normal.", "{^pac}, de [age], con {enfermedad}, {hizo} {cuando}.",
        "[sex:cap] de [age], {oficio}, con {sintoma}, {inicio}.",
        "Paciente [sex] de [age] con antecedentes de {enfermedad}.", "Copia para {dr}, [hospital2], [city2].",
        "Alta a [center] {cuando}.", "Domicilio en [street], [zip] [city].", "Correo [email]; teléfono [phone].",
        "Seguro de [organization3], póliza [healthplan].", "Sin revisiones desde {desde}.",
        "Viajó a {origen} {cuando}.", "Presenta esputo {rojo|blanco|pardo|rubio} desde {desde}.",
        "Buen estado, color moreno, pulso bueno.", "Cruza la calle sin ayuda y sube la cuesta.",
        "Paseó por los campos y la sierra {cuando}.", "Episodio [episode] abierto {cuando}.",
    ),
    "aconsejo": ("aconsejó", "recomendó", "pautó", "sugirió", "indicó"),
    "comun_breve": (
        (2, "{hizo} {cuando}"), "{hizo} {donde} {cuando}", "vist{o} por {dr} {cuando}", "{dr} enterad{o}",
        "aviso a {dr} {cuando}", "rev {dr} {pronto}", "cita {pronto}", "llama {fam} {cuando}", "acompaña {fam}",
        "se informa a {fam}", "vive en [city] con {fam}", "procede de {origen}", "trabaja: {oficio}",
        "prof: [profession]", "último {control} {cuando}", "{prueba} {cuando}: {hallazgo}",
        "traslado desde {origen} {cuando}", "informes del [hospital2]", "tfno [phone2] ([kin1])",
        "{pac} {hizo} {cuando}", "{pac} descansa, sin quejas", "{pac} rechaza {farmaco}", "{pac} refiere {sintoma}",
        "hablo con {fam} en el [phone2]", "{cirugia} {donde} {cuando}", "alta a [center] {pronto}", "MAP {dr}",
        "[kin1] [relative1:first] le lleva a [city2]", "alta {pronto} si {control} bien", "vómito pardo x <1-4>",
        "empresa [organization]", "[sex] [age], {sintoma}", "IC a {dr} por {enfermedad}",
    ),
    "hoja": (
        (
            "Nombre: [patient:double]\nNHC: [mrn]\nFecha de nacimiento: [birth:full]\nEdad: [age]  Sexo: [sex:letter]\n"
            "Fecha: [admit:full]\nMédico: [doctor:full]"
        ),
        (
            "Paciente: [patient:last_first]   Edad: [age:number]   Sexo: [sex:long]\nHistoria clínica: [mrn]\nFecha de "
            "consulta: [admit:full]   Facultativo: {dr1} [doctor:last]"
        ),
        "[patient:double] | [birth:full] | [mrn] | [admit:full]",
        (
            "Apellidos y nombre: [patient:last_first]\nDomicilio: [street]\nLocalidad: [city]. CP: [zip]\nTeléfono: "
            "[phone]   NASS: [ssn]\nFecha de ingreso: [admit:full]"
        ),
        (
            "Asunto: [patient:double], historia [mrn], nacid{o} el [birth:full], atendid{o} el [admit:full] en "
            "[hospital] por [doctor:full]"
        ),
    ),
    "firma": (
        "Fdo.: [doctor:full]", "Firmado: {dr1} [doctor:full], [admit:full] {hora}", "[doctor:full], nº col. [license]",
        "[doctor:initials]", "Remitido por: {dr1} [doctor:full]. [hospital]. [street2]. [zip] [city]. Correo: [email]",
        "Servicio de {servicio}, [hospital], tel. [phone3]",
    ),
}  # fmt: skip

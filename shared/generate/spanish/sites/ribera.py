"""Un hospital universitario español: informes de alta con cabecera de campos y apartados en prosa."""

from __future__ import annotations

from shared.generate.grammar import Rules
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": ("{cabecera}\n\n{motivo}\n\n{antecedentes}\n\n{actual}\n\n{exploraciones}\n\n{evol}\n\n{fin}",),
    "cabecera": (
        (0.4, "{hoja}"),
        (
            "INFORME DE ALTA HOSPITALARIA\nPaciente: [patient:double]\nNº historia: [mrn]    Episodio: [episode]\n"
            "Fecha nac.: [birth:full]   Edad: [age]   Sexo: [sex:long]\nDomicilio: [street]\nPoblación: [city] "
            "([state]) [zip]\nF. ingreso: [admit:full]   F. alta: [discharge:full]\nServicio: {^servicio}   Médico "
            "responsable: {dr1} [doctor:full]"
        ),
        (
            "[hospital] - Servicio de {servicio}\n[patient:last_first]\nNHC [mrn]  |  CIP [id]  |  NASS [ssn]\nIngreso "
            "[admit:full] - Alta [discharge:full]"
        ),
        (
            "Datos administrativos\nApellidos y nombre: [patient:last_first]. NHC: [mrn].\nNacimiento: [birth:full]. "
            "Nacionalidad: [country]. Teléfono: [phone].\nHospital: [hospital]. Ingreso: [admit:full]. Facultativo: "
            "[doctor:full], col. [license]"
        ),
    ),
    "motivo": ("Motivo de ingreso\n{entrada}", "MOTIVO DE CONSULTA: {entrada}", "Motivo de ingreso: {^sintoma}."),
    "entrada": (
        "[sex:cap] de [age] que ingresa el [admit] por {sintoma}, {inicio}.",
        "{^sintoma} en paciente [sex] de [age].",
        "Paciente de [age], [profession], remitid{o} desde [center] por {sintoma}.",
        "{^el} {sr} [patient:last] acude a urgencias el [admit:full] por {sintoma}.",
        "{comun}",
    ),
    "antecedentes": (
        "Antecedentes personales\n{^alergias}. {antecedente*2-4;. }. {r_ant}",
        "ANTECEDENTES: {antecedente*2-3;; }. {habitos} {r_ant}",
        "Antecedentes familiares: {herencia} {herencia}\nAntecedentes personales: {antecedente*2-3;. }.",
    ),
    "r_ant": (
        "{comun}",
        (5, "{r_propia}"),
        "Intervenid{o} de {cirugia} en el [hospital2] en [old*:year].",
        "Sigue revisiones con {eldr2} [doctor2:last] desde [old:year].",
        "Último ingreso en [past*:month_year] por {enfermedad}.",
        "Tratamiento habitual: {medicacion*2-4}.",
    ),
    "actual": ("Enfermedad actual\n{actual_frase*3-5; }", "ENFERMEDAD ACTUAL: {entrada} {actual_frase*2-4; }"),
    "actual_frase": (
        "[patient:first] refiere {sintoma}, {inicio}.",
        (4, "{relato}"),
        (1, "{comun}"),
        (2.5, "{r_propia}"),
        "El [recent*:full] consultó en [center], donde se pautó {farmaco}.",
        "{^el} paciente reside en [city] con su [kin1].",
        "Su [kin1] refiere que desde el [recent*] presenta {sintoma}.",
    ),
    "exploraciones": (
        "Exploración física\n{constantes}. {exploracion*3-5; }",
        "EXPLORACIÓN: {constantes}. {exploracion*2-3; }\n\nPRUEBAS COMPLEMENTARIAS: {analitica} {imagen}",
        "Pruebas complementarias\n- {analitica}\n- {imagen}",
    ),
    "evol": ("Evolución y comentarios\n{evol_frase*3-5; }", "EVOLUCIÓN: {evol_frase*2-4; }"),
    "evol_frase": (
        (3, "{evolucion}"),
        "{^el} {sr} [patient:last] permaneció {estable|afebril|en observación}.",
        "Se explica {al} {sr} [patient:lasts] el resultado de {prueba}.",
        (1, "{comun}"),
        (2.5, "{r_propia}"),
        "El día [stay*:short] fue valorad{o} por {servicio} ({dr3} [doctor3:last]).",
        "El [stay*:full] se realizó {cirugia} por {eldr2} [doctor2:full].",
        "Se informa a su [kin1], [relative1:full], el [stay*:short].",
        "(1) {breve}.",
        "{^breve}.",
    ),
    "fin": (
        "Diagnóstico: {^diagnostico}.\n\nTratamiento: {medicacion*2-4;; }.\n{pronto_f}\n\n{firma_r}",
        "JUICIO CLÍNICO: {^diagnostico}.\nRECOMENDACIONES: {plan*2-3; } {pronto_f}\n\n{firma_r}",
    ),
    "pronto_f": (
        "Revisión en consulta de {servicio} el [next:full] a las {hora}.",
        "{comun}",
        "Próxima cita: [next:full], {eldr2} [doctor2:last].",
        "Si empeora, llame al [phone3].",
    ),
    "firma_r": (
        (0.3, "{firma}"),
        "[city], a [discharge:text]\nFdo. {dr1} [doctor:full]\nColegiado [license]",
        (
            "{dr1} [doctor:full] / {dr2} [doctor2:full] (residente)\n[hospital]. [street2], [zip] [city]. Tel. "
            "[phone3], fax [fax]"
        ),
        "Firmado electrónicamente por [username] el [discharge:full] desde [ip]",
        "Correspondencia: [doctor:full]. [hospital]. [street2]. [zip] [city], [country]. [email]",
    ),
    "pac": (
        (2, "{el} paciente"),
        "{el} {sr} [patient:lasts]",
        "[patient:last_first]",
        "{el} enferm{o}",
        "dicho paciente",
        "[patient:initials]",
    ),
    "dr": (
        (3, "FEA [doctor2:lasts]"),
        (2, "[doctor3:last] ({servicio})"),
        "{eldr2} [doctor2:lasts]",
        "R<1-5> [doctor3:first]",
        "DUE [doctor4:last]",
        "[doctor4:initials]",
        "el equipo de {servicio}",
        "el adjunto de guardia",
        "Dres. [doctor2:last] y [doctor3:last]",
    ),
    "fam": (
        (2, "[kin1] del paciente"),
        "[kin1]: [relative1:short]",
        "su [kin2]",
        "[relative1:initials] ([kin1])",
        "los familiares",
        "[kin2], [relative2:first]",
    ),
    "cuando": (
        "({mes_dia})",
        "el {mes_dia}",
        "en [past*:month_year]",
        "en [old*:year]",
        "con fecha [past*:full]",
        "hace <2-9> {días|semanas|meses|años}",
        "a las <1-48> horas del ingreso",
        "en la revisión de [past*:month]",
        "tras <2-9> días",
        "[recent*:corta]",
    ),
    "mes_dia": ("[past*:short]", "[recent*:full]", "[past*:corta]"),
    "pronto": (
        "[next*:full]",
        "con fecha [next*:full]",
        "en [next*:month_year]",
        "a los <7-30> días",
        "el [next*:corta]",
        "en CCEE",
    ),
    "donde": (
        "en [hospital2]",
        "en [center]",
        "en nuestro centro",
        "en H. de Día",
        "en [city2]",
        "en [hospital]",
        "en hospitalización domiciliaria",
        "en [country2]",
    ),
    "r_propia": (
        "Consta en HC [mrn] (archivo [city2]) ingreso con fecha [past*:full].",
        "AP según informe [id2] de {servicio} del [old*:full].",
        "Segunda opinión en [hospital3]: {hallazgo} (anatomía nº [id3]).",
        "Trasladad{o} por SVA [vehicle] desde [center2], activado [recent*:corta] a las {hora}.",
        "Lleva {dispositivo} [device], implantado en [old*:month_year].",
        "Convive con [kin2]; cuidador principal: [relative1:short] ([kin1], tf. [phone2]).",
        "Incluid{o} en ensayo con código [bioid] por [doctor3:lasts].",
        "Pertenece al área de [city3], cupo de [doctor4:lasts].",
        "Ha sido [profession2] en [organization] (baja desde [past*:full]).",
        "Procedente de [country2], residió en [country3] [old*:year]-[past*:year].",
        "Sesión clínica del [stay*:corta]: se decide {cirugia} ([doctor2:lasts], [doctor3:lasts]).",
        "Hoja de consentimiento firmada por [relative1:full] con fecha [stay*:full].",
    ),
    "@phone": ("9%#.##.##.##", "(9%#) ######"),
    "@phone3": ("ext. 3%##", "busca %###"),
    "@street": (
        "{via} {nombre_via} Nº<1-180> P<1-9> {IZ|DR|CT}",
        "CL {surname} <1-90>{| A| B}",
        "{UR|PZ|AV|CM|TR} {nombre_via} <1-99>, P0<1-9>",
    ),
    "@center2": ("PAC de {pueblo_a}{pueblo_b}", "EAP {surname}"),
    "@hospital2": (
        "H.U. {surname}",
        "H. Comarcal de {pueblo_a}{pueblo_b}",
        "Fundación {surname}",
        "H. {advocacion_}",
        "Complejo {pueblo_a}{pueblo_b}",
    ),
    "advocacion_": ("Virgen {advocacion}",),
    "@hospital": ("Hospital Universitario de la Ribera Alta", "Hospital Ribera Alta", "HURA"),
    "@city": ((2, "{pueblo}"), "Riberalta", "Sotomojado", "Cañadilla"),
    "@mrn": ("%#####", "%#######"),
    "@id": ("~~~~%#########",),
    "@ssn": ("## %####### ##", "##%#########"),
    "@license": ("## ## #####", "%#####"),
    "@country": ((6, "España"), "Marruecos", "Rumanía", "Ecuador", "Bolivia", "Francia", "Senegal"),
}

PROFILE = SiteProfile(
    name="es_ribera",
    language="es",
    habit="hospital universitario; informe de alta con campos y apartados, dos apellidos, dd/mm/aaaa",
    rules=_RULES,
    dates={
        "full": ("{dd}/{mm}/{Y}",),
        "text": ("{d} de {B} de {Y}", "{dd}/{mm}/{Y}"),
        "short": ("{d} de {B}", "{d}/{m}"),
        "corta": ("{dd}{mm}{y}", "{d}.{R}.{y}", "{dd}/{mm}"),
        "month": ("{B}",),
        "month_year": ("{B} de {Y}", "{mm}/{Y}"),
        "year": ("{Y}",),
        "weekday": ("{A}",),
    },
    patients=((8, "es_ES"), (1, "ro_RO"), (1, "es_CO")),
    doctors=((1, "es_ES"),),
    layout=Layout(typo_rate=0.003, glue_rate=0.02),
)

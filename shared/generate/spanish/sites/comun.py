"""Casos públicos para la docencia: no un hospital, sino una mezcla de estilos que un proveedor puede reunir."""

from __future__ import annotations

from shared.generate.grammar import Rules
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": ("{caso}", "{carta}", "{alta}", "{apuntes}"),
    "caso": (
        (
            "{hoja}\n\n{presenta} {relato*2-3; } {comun} {comun}\n\nAntecedentes: {antecedente*2-3;; }. {^alergias}. "
            "{herencia} {comun}\n\nExploración: {constantes}. {exploracion*2-4; }\n{analitica} {imagen}\n\n"
            "{evolucion*2-3; } {comun*2-3; }\n\n{firma}"
        ),
    ),
    "carta": (
        (
            "[hospital]\n[street2]\n[zip] [city] ([state]), [country]\nTel. [phone3]  Fax [fax]  [url]\n\n[admit]\n\n"
            "Estimad{o} {dr2} [doctor2:last]:\n\n{presenta} {relato*2-3; } {comun*2-3; }\n\n{exploracion*2-3; } "
            "{analitica} {comun}\n\n{plan*2-3; } {comun}\n\nAtentamente,\n{dr1} [doctor:full]\nNº col. [license]\n"
            "[email]"
        ),
    ),
    "alta": (
        (
            "Nombre: [patient:first]\nApellidos: [patient:lasts]\nNHC: [mrn]   NASS: [ssn]\nDomicilio: [street]. "
            "Localidad: [city]. Provincia: [state]. CP: [zip]\nFecha de nacimiento: [birth:full]   País: [country]\n"
            "Edad: [age]   Sexo: [sex:letter]\nIngreso: [admit:full]   Alta: [discharge:full]   Episodio: [episode]\n"
            "Médico: [doctor:full]\n\n{presenta} {relato*1-2; } {comun}\n\n{evolucion*1-3; } {comun}\n\nTratamiento: "
            "{medicacion*2-3;; }. {plan} {comun}\n\n{firma}"
        ),
    ),
    "apuntes": ("{titulo}\n{apunte_linea*7-11;\n}\n{comun} [doctor:initials]",),
    "titulo": (
        "Evolución, [patient:short], [admit]",
        "[patient:first_l] | [age] | [sex] | [mrn] | [admit:full]",
        "NOTA DE ENFERMERÍA [admit:full] {hora}: [patient:full.upper]",
    ),
    "presenta": (
        "[sex:cap] de [age], [profession], que consulta el [admit] por {sintoma}, {inicio}.",
        "{^el} {sr} [patient:last], de [age:words], natural de [city2], ingresa por {sintoma}.",
        "Paciente [sex] de [age] con {enfermedad} que acude con su [kin1] por {sintoma}.",
        "{comun}",
    ),
    "apunte_linea": (
        (5, "{comun}"),
        (4, "{hora} {comun_breve}"),
        (2, "{hora} {breve}"),
        "{exploracion}",
        "{plan}",
        "{imagen}",
        "{analitica}",
        "* {antecedente}",
        "- {medicacion}",
        "Póliza [healthplan], DNI [id], NASS [ssn].",
        "Bomba [device] revisada por [doctor2:full].",
        "Llega con su [kin2] en un coche, matrícula [vehicle].",
        "Acceso desde [ip]; muestra [bioid]; usuario [username].",
        (2, "Conocid{o} por ser [other]."),
        "Escribir a [email] o ver [url].",
        "{herencia}",
        "{codigo}: {enfermedad}",
    ),
}

PROFILE = SiteProfile(
    name="es_comun",
    language="es",
    habit="casos públicos; mezcla de informes, cartas y notas de enfermería con muchos formatos",
    rules=_RULES,
    dates={
        "full": ("{dd}/{mm}/{Y}", "{d}-{m}-{y}", "{dd}.{mm}.{Y}", "{Y}-{mm}-{dd}", "{dd}/{b}/{Y}"),
        "text": ("{d} de {B} de {Y}", "{d} de {B}", "{dd}/{mm}/{Y}", "{A} {d} de {B}"),
        "short": ("{d} de {B}", "{d}/{m}", "{w} de {B}"),
        "month": ("{B}",),
        "month_year": ("{B} de {Y}", "{mm}/{Y}", "{B} del {y}"),
        "year": ("{Y}",),
        "weekday": ("{A}",),
    },
    patients=((4, "es_ES"), (2, "es_MX"), (1, "es_CO"), (1, "es_AR"), (1, "es_CL"), (1, "ro_RO"), (1, "it_IT")),
    doctors=((3, "es_ES"), (1, "es_MX"), (1, "es_AR"), (1, "es_CO")),
    staff=160,
    layout=Layout(typo_rate=0.004, glue_rate=0.02, name_upper_rate=0.06, name_lower_rate=0.04),
)

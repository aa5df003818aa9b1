"""Un sanatorio rioplatense: cartas y notas de consultorio, obra social, un apellido, tono conversado."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": ("{lugar_fecha}\n\n{saludo}\n\n{cuerpo}\n\n{cuerpo2}\n\n{despedida}",),
    "lugar_fecha": (
        (0.7, "{hoja}"),
        "[city], [admit:text]",
        "[hospital] - [street], [city] - Tel. [phone3]\n[admit:text]",
        (
            "Consultorio Externo de {^servicio} / [admit:full]\nPte: [patient:short]  DNI [id]  OS: [organization3] N° "
            "[healthplan]"
        ),
    ),
    "saludo": (
        "Estimad{o} colega {dr2} [doctor2:last]:",
        "Ref.: [patient:double], DNI [id], [age], [sex]",
        (
            "De mi consideración:\nLe envío a [patient:short] ([age]), HC [mrn], afiliad{o} [healthplan] de "
            "[organization3]."
        ),
        "Resumen de historia clínica de [patient:full], nacid{o} el [birth:text] en [city2].",
    ),
    "cuerpo": ("{p_abre} {p_frase*4-6; }", "{p_frase*3-5; }\n\nAntecedentes: {antecedente*2-3; - }. {p_frase}"),
    "cuerpo2": (
        "Al examen {exploracion*2-3; } {p_frase*1-2; } {p_plan}",
        "{constantes}. {exploracion*2-3; }\nLaboratorio: {analito*3-5;; }. {imagen}\n{p_plan} {p_frase}",
        "Se indica: {medicacion*2-3; / }. {p_plan} {p_frase*1-2; }",
    ),
    "p_abre": (
        "{^pac} consultó el [admit:short] por {sintoma}, {inicio}.",
        "Se trata de [sex:varon] de [age], [profession], oriund{o} de [city2].",
        "Veo a [patient:first] desde [old:year] por {enfermedad}.",
        "[patient:first] vino con su [kin1] ([relative1:first]) por {sintoma}.",
        "Pte de [age] con {enfermedad} que el [recent:weekday] empezó con {sintoma}.",
    ),
    "p_frase": (
        (4, "{relato}"),
        (6, "{comun}"),
        (2, "{^comun_breve}."),
        "{evolucion}",
        "{imagen}",
        "Lo operó [doctor3:full] en el [hospital2] allá por [old*:year].",
        "Trabaja de [profession] en [organization] desde [old*:month_year].",
        "Se crió en [city3] con [kins].",
        "Su [kin2], [relative2:first], me llamó el [recent*:weekday].",
        "Estuvo en [country] hasta [past*:month_year].",
        "El [past*:short] lo vio [doctor2:last] y le sacó {farmaco}.",
        "Tiene turno para {prueba} el [next*:short].",
        "Anduvo bien hasta [past*:month].",
        "{herencia}",
    ),
    "p_plan": (
        "Lo cito el [next:weekday] [next:short].",
        "Vuelve en [next:month] con {control}.",
        "Le pido {prueba} y {control}.",
        "Turno con {dr3} [doctor3:last] el [next*].",
        "Cualquier cosa, mi celular es [phone].",
        "{plan}",
        "{comun}",
    ),
    "despedida": (
        (0.6, "{firma}"),
        "Saludo a Ud. atte.\n{dr1} [doctor:full]\nMN [license]",
        "Un abrazo,\n[doctor:first] [doctor:last] - M.P. [license] - [email]",
        "Quedo a disposición.\n[doctor:full] (MN [license])\ncc: {dr4} [doctor4:last], [hospital2]",
        "{dr1} [doctor:last]. Turnos: [phone3] o [url]",
    ),
    "pac": (
        (3, "[patient:first]"),
        (2, "{el} {sr} [patient:last]"),
        "{el} pte",
        "[patient:short]",
        "[patient:nick]",
        "{el} paciente",
    ),
    "dr": (
        (3, "{dr2} [doctor2:last]"),
        (2, "[doctor3:first] [doctor3:last]"),
        "[doctor2:last]",
        "{eldr3} [doctor3:last]",
        "la gente de {servicio}",
        "el clínico",
        "la guardia",
        "la Lic. [doctor4:last]",
    ),
    "fam": (
        "su [kin1]",
        "[relative1:first]",
        "su [kin1] [relative1:first]",
        "su [kin2], [relative2:short],",
        "los suyos",
        "[relative2:first]",
    ),
    "cuando": (
        "el [past*]",
        "en [past*:month]",
        "el [recent*:weekday]",
        "en [old*:year]",
        "para [old*:month_year]",
        "el [past*:short]",
        "hace <2-9> {días|semanas|meses}",
        "ayer a la tarde",
        "el año pasado",
        "el finde",
        "a mediados de [past*:month]",
    ),
    "pronto": (
        "el [next*:weekday]",
        "el [next*:short]",
        "en [next*:month]",
        "en <10-30> días",
        "la semana que viene",
        "el [next*]",
    ),
    "donde": (
        "en el [hospital2]",
        "en lo de [doctor2:last]",
        "en [city2]",
        "en la guardia",
        "en el [center]",
        "en el campo",
        "en [city3], [state]",
        "en [country2]",
    ),
    "@hospital": ("Sanatorio de la Pampa Húmeda", "Sanatorio Pampa"),
    "@hospital2": (
        "Sanatorio {surname}",
        "Hospital {surname}",
        "Clínica {santo}",
        "Policlínico de {pampa}",
        "Hospital Zonal {surname}",
        "Htal. de {pampa}",
    ),
    "@center": ("salita {santo}", "CAPS {surname}", "geriátrico {surname}", "Centro {pampa}"),
    "pampa": (
        "{Coronel|General|Ingeniero|Capitán|Almirante} {surname}",
        "{Laguna|Cañada|Loma|Paso} {surname}",
        "{Villa|Colonia|Estación|Puerto} {surname}",
        "{Las|Los} {Toscas|Talas|Ceibos|Perdices|Flores|Álamos}",
        "{Tres|Cuatro} {Arroyos|Lomas|Esquinas}",
    ),
    "@city": ("{pampa}",),
    "@state": split_alternatives(
        """
        Córdoba | Santa Fe | Entre Ríos | Chaco | La Pampa | Neuquén | Mendoza | Salta | Misiones | Río Negro
        """
    ),
    "@country": split_alternatives(
        """
        Argentina | Uruguay | Paraguay | Bolivia | Italia | España | Chile | Brasil
        """
    ),
    "@street": (
        "{surname} <100-4999>",
        "Av. {surname} <100-4999>, piso <1-12> {A|B|C}",
        "Bv. {surname} <100-999>",
        "{<5-28> de {Mayo|Julio|Octubre|Febrero}|San {santo}} <100-1999>",
        "Ruta <2-99> km <1-400>",
    ),
    "@zip": ("~%###~~~", "%###"),
    "@mrn": ("HC%####", "%###/##"),
    "@id": ("%#.###.###", "%#######"),
    "@healthplan": ("%#-########-%/00", "%##/######"),
    "@license": ("%####", "%#.###"),
    "@phone": ("11 %###-####", "(0%##) 15-%##-####", "0%## %######"),
    "@phone3": ("4%##-####", "0800-%##-####"),
    "@organization": (
        "{surname} Hnos.",
        "Cerealera {surname}",
        "Frigorífico {surname}",
        "Municipalidad de {pampa}",
        "Club {surname}",
        "Escuela N° <2-90>",
        "Estancia {La|Los} {surname}",
        "Tambo {surname}",
    ),
    "@organization3": ("OSP{surname}", "OS {Unión|Luz|Ruta|Metal}", "{surname} Salud", "Mutual {surname}"),
    "@profession": split_alternatives(
        """
        tambero | tropero | maestra | chacarero | colectivero | docente jubilada | kiosquero | peón rural |
        remisero | modista | contador | empleada pública | plomero | cartero | estanciero | verdulero |
        ferroviario jubilado | gomero | portero de escuela | psicóloga | bancario | alambrador | panadera |
        camionero | músico de tango
        """
    ),
}

PROFILE = SiteProfile(
    name="es_pampa",
    language="es",
    habit="sanatorio rioplatense; cartas entre colegas, nombre de pila, DNI con puntos, obra social",
    rules=_RULES,
    dates={
        "full": ("{d}/{m}/{y}", "{dd}-{mm}-{Y}"),
        "text": ("{d} de {B} de {Y}", "{d}/{m}/{y}"),
        "short": ("{d}/{m}", "{d} de {B}", "{w} de {B}"),
        "month": ("{B}", "{B} de {Y}"),
        "month_year": ("{B} del {y}", "{B} de {Y}"),
        "year": ("{Y}", "el {y}", "'{y}"),
        "weekday": ("{A}",),
    },
    patients=((5, "es_AR"), (2, "it_IT"), (1, "es_CL"), (1, "pl_PL")),
    doctors=((3, "es_AR"), (2, "it_IT")),
    ambiguous_rate=0.06,
    layout=Layout(typo_rate=0.005, name_typo_rate=0.01),
)

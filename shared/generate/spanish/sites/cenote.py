"""Un hospital general mexicano del seguro social: notas por norma, con CURP, NSS y fechas con el mes en letras."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": ("{ficha}\n\n{c_padecer}\n\n{c_seccion}\n\n{c_seccion2}\n\n{c_cierre}",),
    "ficha": (
        (0.8, "{hoja}"),
        (
            "FICHA DE IDENTIFICACIÓN. Nombre: [patient:double]. Edad: [age]. Género: [sex:long]. NSS: [ssn]. CURP: "
            "[id]. Originari{o} de [city], [state]. Ocupación: [profession]. Escolaridad: "
            "{primaria|secundaria|licenciatura}. Religión: {católica|evangélica|ninguna}."
        ),
        (
            "NOTA DE EGRESO\n[hospital]\nDerechohabiente: [patient:double]     NSS [ssn]\nFecha de ingreso: "
            "[admit:text]\nFecha de egreso: [discharge:text]\nMédico tratante: {dr1} [doctor:double], céd. prof. "
            "[license]"
        ),
        (
            "NOTA DE INGRESO A {^servicio}  [admit:full]  {hora}\nSe trata de [sex] de [age], de nombre "
            "[patient:double], afiliación [ssn], CURP [id], que reside en [street], [city], [state]."
        ),
        (
            "Unidad: [hospital]   Consultorio: <1-30>   Turno: {matutino|vespertino}\nNombre del paciente: "
            "[patient:double]\nAgregado: [mrn]   Fecha: [admit:text]"
        ),
    ),
    "c_padecer": (
        "PADECIMIENTO ACTUAL: {c_abre} {c_frase*3-5; }",
        "P.A. {c_abre} {c_frase*2-4; } {c_frase}",
        "RESUMEN CLÍNICO. {c_frase*4-6; }",
    ),
    "c_abre": (
        "Inicia su padecimiento el día [recent:text] con {sintoma}, {inicio}.",
        "Acude por {sintoma}, referid{o} de [center] por {dr3} [doctor3:lasts].",
        "[sex:cap] de [age:words], {oficio}, quien refiere {sintoma} desde el [recent:text].",
        "Derechohabiente conocid{o} con {enfermedad} desde [old:year], quien acude el [admit:text] por {sintoma}.",
    ),
    "c_frase": (
        (4, "{relato}"),
        (5, "{comun}"),
        (1.5, "{^comun_breve}."),
        "{evolucion}",
        "{^el} C. [patient:lasts] {hizo} {cuando}.",
        "[patient:first] refiere {sintoma}, {inicio}.",
        "Se explica {al} {sr} [patient:lasts] su estado.",
        "Fue manejad{o} por {dr2} [doctor2:double] en [hospital2] durante [past*:month].",
        "Refiere cirugía ({cirugia}) en [old*:month_year], sin complicaciones.",
        "Habita casa propia en [city2] con su [kin1] [relative1:first] y sus [kins].",
        "Labora como [profession2] en [organization].",
        "Su [kin1], C. [relative1:double], firma como responsable.",
        "El [past*:text] se le tomó {prueba} con {hallazgo}.",
        "Radicó en [country] de [old*:year] a [past*:year].",
        "Vigencia de derechos corroborada el [recent*:text].",
    ),
    "c_seccion": (
        (
            "ANTECEDENTES HEREDOFAMILIARES: {herencia} {herencia}\nANTECEDENTES PERSONALES PATOLÓGICOS: "
            "{antecedente*2-4;; }. Alergias: {alergias}."
        ),
        "APP: {antecedente*2-3;; }. {c_frase}\nMEDICAMENTOS: {medicacion*2-3;; }.",
        "A.H.F. {herencia} A.P.N.P. {habitos} {habitos} {c_frase}",
    ),
    "c_seccion2": (
        "EXPLORACIÓN FÍSICA: {constantes}. {exploracion*3-4; }\nLABORATORIOS ([stay*:full]): {analito*3-5;; }.",
        "E.F. {exploracion*2-4; }\nGABINETE: {imagen} {c_frase}",
        "EVOLUCIÓN: {^el} {sr} [patient:last] cursa estable. {evolucion} {c_frase*2-3; }\nANÁLISIS: {comun}",
    ),
    "c_cierre": (
        (0.6, "{firma}"),
        (
            "IDX: {diagnostico}.\nPLAN: {plan*2-3; } Cita el día [next:text] con {dr2} [doctor2:lasts].\n\n{dr1} "
            "[doctor:double]\nCéd. Prof. [license]   Matrícula [username]"
        ),
        (
            "IMPRESIÓN DIAGNÓSTICA: {diagnostico}. PRONÓSTICO: {reservado|bueno|malo}. {c_frase}\nELABORÓ: {dr1} "
            "[doctor:lasts] / R<1-4> [doctor2:lasts]"
        ),
        (
            "Se egresa a {su domicilio|su UMF|[center]} el [discharge:text]. {plan} {comun}\nMédico: [doctor:double]. "
            "Mat. [username]. Tel. [phone3]"
        ),
        (
            "INDICACIONES: {medicacion*2-3;; }. Cita abierta a urgencias. {comun}\nAtte. {dr1} [doctor:last_first]. "
            "Correo [email]"
        ),
    ),
    "pac": (
        (1.5, "{el} paciente"),
        (2, "{el} C. [patient:double]"),
        "{el} derechohabiente",
        "[patient:first]",
        "{el} {sr} [patient:lasts]",
    ),
    "dr": (
        (3, "{dr2} [doctor2:lasts]"),
        "{dr3} [doctor3:double]",
        "{eldr2} [doctor2:last]",
        "MIP [doctor4:last]",
        "enf. [doctor4:first]",
        "R3 de {servicio}",
        "médico adscrito",
        "{eldr3} [doctor3:lasts]",
    ),
    "fam": (
        "su [kin1]",
        "su [kin1], C. [relative1:double],",
        "su [kin2] [relative2:first]",
        "familiar responsable",
        "sus [kins]",
        "[relative1:short] ([kin1])",
    ),
    "cuando": (
        "el día [past*:text]",
        "el [past*:text]",
        "en [past*:month]",
        "en [past*:month_year]",
        "en [old*:year]",
        "hace <2-9> {días|semanas|meses|años}",
        "el [recent*:full]",
        "el día de ayer",
        "el pasado [recent*:weekday]",
        "durante el turno nocturno",
    ),
    "pronto": (
        "el día [next*:text]",
        "el [next*:full]",
        "en <2-8> semanas",
        "en [next*:month]",
        "el próximo [next*:weekday]",
        "por la mañana",
    ),
    "donde": (
        "en [hospital2]",
        "en su UMF",
        "en [center]",
        "en medio particular",
        "en [city2], [state]",
        "en urgencias",
        "en [country2]",
        "en el [hospital3]",
    ),
    "@hospital": ("Hospital General de Zona El Cenote", "HGZ El Cenote", "HGZ"),
    "@hospital2": (
        "HGR <2-90>",
        "Hospital General de {maya}",
        "Sanatorio {surname}",
        "Hospital {santo}",
        "Centro Médico {surname}",
        "UMAE {surname}",
    ),
    "@center": ("UMF <2-99>", "Centro de Salud de {maya}", "Clínica {surname}", "Guardería {surname}"),
    "maya": ("{maya_a}{maya_b}", "San {santo} {maya_a}{maya_b}", "{maya_a}{maya_b} de {surname}"),
    "maya_a": split_alternatives(
        """
        Ticul | Chemu | Oxku | Tzuca | Xoco | Atla | Tepe | Coyo | Hunuc | Izta | Maxca | Nochi | Pochu | Teco
        | Zaca | Yaxka | Cuau | Tlaxi
        """
    ),
    "maya_b": split_alternatives(
        """
        pan | tepec | cab | tlán | co | cingo | bal | huac | mul | chén | apa | zalco
        """
    ),
    "@city": ("{maya}",),
    "@state": split_alternatives(
        """
        Yucatán | Campeche | Oaxaca | Tabasco | Chiapas | Veracruz | Puebla | Quintana Roo | Hidalgo | Jalisco
        """
    ),
    "@country": ("México", "Estados Unidos", "Guatemala", "Honduras", "Belice", "El Salvador", "Cuba"),
    "@street": (
        "Calle <1-99> No. <100-999> x <1-99> y <1-99>",
        "Av. {surname} No. <10-999> Col. {surname}",
        "Priv. {surname} <1-60>, Fracc. Los {Pinos|Cedros|Almendros}",
        "Cerrada {surname} Mza. <1-30> Lote <1-40>",
        "Domicilio conocido, Ejido {maya_a}{maya_b}",
    ),
    "@zip": ("97###", "%####"),
    "@ssn": ("%# ## ## #### #", "%##########"),
    "@id": ("{code_letters}{birth_digits}{curp_sex}{YN|CC|TS|VZ|CS}~~~0%",),
    "@mrn": ("%{M|F}%###{OR|PE|ND}",),
    "@license": ("%######", "%#######"),
    "@username": ("99######", "3########"),
    "@phone": ("(9##) ### ## ##", "9## ### ####", "55-####-####"),
    "@phone3": ("%## %## ## ##", "ext. %###"),
    "@organization": (
        "Maquiladora {surname}",
        "Grupo {surname} S.A. de C.V.",
        "Hotel {maya_a}{maya_b}",
        "Ejido {maya_a}{maya_b}",
        "Abarrotes {surname}",
        "Secundaria Técnica <2-80>",
        "Ayuntamiento de {maya_a}{maya_b}",
        "Cementos {surname}",
    ),
    "@profession": split_alternatives(
        """
        campesino | ama de casa | obrera de maquila | albañil | taquero | chofer de ruta | maestra de primaria
        | mesero | milpero | comerciante ambulante | licenciado en derecho | hojalatero | camarista de hotel |
        velador | bordadora | herrero | ingeniero civil | electricista | pescador | secretaria | tablajero |
        costurera | apicultor | policía municipal
        """
    ),
}

PROFILE = SiteProfile(
    name="es_cenote",
    language="es",
    habit="seguro social mexicano; notas por norma con CURP y NSS, nombres completos, mes en letras",
    rules=_RULES,
    dates={
        "full": ("{dd}/{b}/{Y}", "{dd}/{mm}/{y}"),
        "text": ("{dd} de {B} de {Y}", "{d} de {B} del {Y}", "{d} de {B} del año {Y}"),
        "short": ("{d} de {B}", "{dd}/{b}"),
        "month": ("{B}", "{B} de {Y}"),
        "month_year": ("{B} del {Y}", "{b}/{Y}"),
        "year": ("{Y}",),
        "weekday": ("{A}",),
    },
    patients=((1, "es_MX"),),
    doctors=((1, "es_MX"),),
    staff=32,
    layout=Layout(wrap=88, typo_rate=0.006, glue_rate=0.02),
)

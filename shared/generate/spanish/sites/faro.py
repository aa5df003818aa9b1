"""Urgencias de un hospital insular: informes con barras y horas, triaje, códigos, pocos verbos."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": ("{franja}\n{triaje}\n{registro}\n{salida}",),
    "franja": (
        (0.8, "{hoja}"),
        (
            "URG | [hospital] | Llegada [admit:full] {hora}\nCIPA [id] | [patient:last_first] | [sex:letter_v] | "
            "[age:number] | Episodio [episode]"
        ),
        (
            "INFORME DE URGENCIAS nº [episode]\n[patient:double] // [birth:full] // [age] // [sex:varon]\nDom: "
            "[street], [city] // Tf: [phone] // NUSS: [ssn]"
        ),
        "Paciente=[patient:last_first]; CIPA=[id]; NHC=[mrn]; Sexo=[sex:letter_v]; Fnac=[birth:full]; Box={caja}",
        "[admit:full] {hora} - Box {caja} - [patient:full] ([age]) - trae: {trae}",
    ),
    "caja": ("<1-24>", "{A|B|C}<1-9>"),
    "trae": (
        "su [kin1]",
        "ambulancia [vehicle]",
        "[organization2]",
        "[relative1:first]",
        "medios propios",
        "SVB desde [city2]",
    ),
    "triaje": (
        "TRIAJE nivel <1-5>: {sintoma}. {constantes}. {f_frase}",
        "Motivo: {sintoma} / {sintoma}. Alergias: {alergias}. {f_frase} {f_frase}",
        "MC: {sintoma}, {inicio}. AP: {antecedente*1-3; / }. {f_frase}",
        "Turista de [country], alojad{o} en [street2], con {sintoma}. {f_frase}",
    ),
    "registro": ("{fila*5-8;\n}",),
    "fila": (
        (4, "{later} | {comun_breve} | {quien}"),
        (2, "{later} | {breve} | {quien}"),
        (2, "{later} | [patient:last] {breve} | {quien}"),
        "{later} | [patient:first] a {prueba} | {quien}",
        (3, "{later} {comun}"),
        "{later} | {farmaco} {dosis} | puesto | {quien}",
        "{later} | {constantes} | {quien}",
        "{later} | {prueba}: {hallazgo} | {dr3} [doctor3:last]",
        "{later} | {analito}, {analito}, {analito} | lab",
        "{later} | llama [kin1] [relative1:short] desde [phone2]",
        "{later} | IC {servicio}: {dr2} [doctor2:last]",
        "{later} | {expl_breve}, {expl_breve} | {quien}",
        "{later} | bomba [device] a <10-90> ml/h",
        "{later} | pasa a {prueba} con [doctor4:first]",
        "{later} | visita de [relative1:first]",
        "{later} | pulsera [bioid] leída | PC [ip]",
    ),
    "quien": ("[doctor4:f_last]", "DUE [doctor4:last]", "[username]", "[doctor3:initials]", "enf.", "[doctor:last]"),
    "f_frase": (
        (3, "{comun_breve}."),
        (2, "{comun}"),
        "Remite [center] ({dr3} [doctor3:last]).",
        "Última visita [past*:full].",
        "Reside en [city].",
        "Crucero procedente de [country2].",
        "{^cirugia} en [old*:year] ([hospital2]).",
        "Ocupación: [profession].",
    ),
    "salida": (
        (0.6, "{firma}"),
        (
            "JC: {diagnostico} | Destino: {domicilio|planta|observación|[hospital2]} | {later} h | Alta "
            "[discharge:full] | {dr1} [doctor:last] col [license]"
        ),
        "ALTA {later} [discharge:full]. {plan_breve*2-3;; }. Control MAP [next:full]. Firma [username] / [doctor:full]",
        "Tto: {medicacion*1-3;; }. {f_frase} [doctor:full], [doctor2:full]. Fax [fax]",
        "Traslado a [hospital2] en [vehicle]. Acepta {dr2} [doctor2:last]. {f_frase} Resp: [doctor:f_last]",
    ),
    "pac": (
        (1.5, "pac"),
        (2, "[patient:last]"),
        "pac. [patient:first]",
        "[patient:last_first]",
        "{el} {sr} [patient:last]",
        "{el} paciente",
    ),
    "dr": (
        (3, "{dr2} [doctor2:last]"),
        "[doctor3:f_last]",
        "{dr3} [doctor3:last]",
        "DUE [doctor4:first]",
        "adjunto",
        "residente",
        "[doctor2:initials]",
        "{servicio}",
    ),
    "fam": (
        "[kin1]",
        "su [kin1]",
        "[kin1] ([relative1:first])",
        "[relative1:short]",
        "acompañante",
        "[kin2] [relative2:first]",
        "familia",
    ),
    "cuando": (
        "[past*:full]",
        "el [past*:full]",
        "{later}",
        "a las {hora}",
        "ayer",
        "hace <2-9> {d|h|sem|meses}",
        "[recent*:short]",
        "en [past*:month_year]",
        "en [old*:year]",
        "[recent*:weekday] noche",
    ),
    "pronto": ("[next*:full]", "[next*:short]", "<24-72> h", "mañana", "el [next*:weekday]", "en [next*:month]"),
    "donde": (
        "en [hospital2]",
        "en [center]",
        "en box {caja}",
        "en RX",
        "en [city2]",
        "en el hotel",
        "en [country2]",
        "en [hospital]",
        "en el barco",
    ),
    "@hospital": ("Hospital Insular del Faro", "HIF"),
    "isla": (
        "{Puerto|Playa|Punta|Caleta|Roque|Costa} {del|de} {Faro|Gaviota|Sal|Marea|Alisio|Drago|Concha|Timón}",
        "{Icod|Tasa|Güi|Tego|Ara|Tene|Gara|Chi}{nara|mar|corte|guise|fía|chico|goro|fe}",
        "{Puerto|Punta|Playa} {surname}",
        "Isla {surname}",
    ),
    "@city": ("{isla}",),
    "@state": split_alternatives(
        """
        Tenerife | Gran Canaria | La Palma | El Hierro | Lanzarote | Fuerteventura | La Gomera | Menorca
        """
    ),
    "@country": split_alternatives(
        """
        Alemania | Reino Unido | Suecia | Noruega | Italia | Francia | Marruecos | Venezuela | Irlanda |
        Países Bajos | Cuba
        """
    ),
    "@hospital2": ("H. {San|Santa} {santo}", "Clínica {isla}", "H. Virgen {advocacion}", "Policlínica {surname}"),
    "@center": ("CS {isla}", "SUAP {isla}", "PAC {surname}"),
    "@street": (
        "Hotel {surname}, hab. <100-999>",
        "Apto. <1-400>, {isla}",
        "C/ {nombre_via} <1-99>",
        "Urb. {surname}, bloque <1-20>",
        "Pantalán <1-9>, atraque <1-90>",
    ),
    "@id": ("%########", "%#########"),
    "@mrn": ("%####-%", "%######"),
    "@ssn": ("##-########-##", "############"),
    "@episode": ("U##-%#####", "%####/##"),
    "@license": ("38#####", "35/#####"),
    "@vehicle": ("SVA-%#", "A-%###", "Helimer <100-299>", "%###-~~~"),
    "@phone": ("922 ## ## ##", "6##.###.###", "+%# %## ######"),
    "@fax": ("922 ######",),
    "@organization": (
        "Naviera {surname}",
        "{Hotel|Apartamentos|Bar|Cofradía} {surname}",
        "Cofradía de {isla}",
        "Cabildo",
        "Policía Local de {isla}",
        "Plátanos {surname}",
        "Buceo {isla}",
    ),
    "@profession": split_alternatives(
        """
        camarera de piso | marinero | pescador | socorrista | recepcionista | cocinero | patrón de barco |
        guía turístico | estibador | empaquetadora | jubilado | animador | monitor de buceo | taxista |
        limpiadora | instaladora | camarero | mecánico naval | azafata | agricultor | dependienta | fontanero
        """
    ),
}

PROFILE = SiteProfile(
    name="es_faro",
    language="es",
    habit="urgencias de una isla; filas con barras y horas, extranjeros, fechas con el año primero o sin separar",
    rules=_RULES,
    dates={
        "full": ("{dd}-{mm}-{Y}", "{Y}/{mm}/{dd}", "{dd}{mm}{Y}"),
        "text": ("{dd}-{mm}-{Y}", "{d}-{b}-{y}"),
        "short": ("{dd}-{mm}", "{d}-{b}"),
        "month": ("{B}", "{b}"),
        "month_year": ("{mm}-{Y}", "{b}-{y}"),
        "year": ("{Y}",),
        "weekday": ("{A}", "{a}"),
    },
    patients=((5, "es_ES"), (2, "de_DE"), (2, "en_GB"), (1, "sv_SE"), (1, "fr_FR")),
    doctors=((4, "es_ES"), (1, "it_IT")),
    staff=26,
    layout=Layout(typo_rate=0.01, glue_rate=0.05, name_upper_rate=0.2),
)

"""Un consultorio rural: notas breves en minúscula, apodos, parientes, pueblos y fincas; pocas fechas completas."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": (
        "{apunte}\n{e_parrafo}\n{e_parrafo}\n{e_expl}\n{e_plan}\n{e_firma}",
        "{apunte}\n\n{e_parrafo} {e_expl}\n\n{e_parrafo}\n{e_plan}\n{e_firma}",
    ),
    "apunte": (
        (0.8, "{hoja}"),
        "[admit:corta] - [patient:nick_last], [age], [city]",
        "domicilio [admit:corta]: [patient:first] ([age:words]), {vive} [street]",
        "[patient:last_f] / hª [mrn] / [admit:corta] / abre {eldr1} [doctor:last]",
        "viene [patient:first], [sex] de [age], con su [kin1]",
        "tarjeta [ssn] [patient:short] [birth:corta] - [admit:weekday] {hora}",
    ),
    "vive": ("vive en", "casa de", "en"),
    "e_parrafo": ("{e_frase*5-7; }",),
    "e_frase": (
        (3, "{breve}."),
        (7, "{comun_breve}."),
        (5, "{comun}"),
        (2, "{relato}"),
        "dice su [kin2] que no come.",
        "[patient:nick] sigue en la finca {|de }[organization].",
        "estuvo donde [doctor2:last] en [city2] por [past*:month].",
        "de oficio [profession].",
        "de crío vivió en [city3].",
        "le falta la del [recent*:weekday].",
        "bajó a [hospital2] por [past*:fiesta].",
        "su [kin1] [relative1:first] lo lleva mal desde [past*:fiesta].",
        "[relative2:first], [kin2], está con {enfermedad}.",
        "vendió las {vacas|cabras|ovejas} en [old*:year].",
        "no va a [organization] desde [past*:fiesta].",
        "emigró a [country] en [old*:year] y volvió.",
        "cuida de su [kin3] [relative3:first].",
        "se cayó cerca de [city4].",
    ),
    "e_expl": (
        "{constantes}. {expl_breve*3-5}.",
        "expl: {expl_breve*3-5;; }. {analito*2-3}.",
        "{exploracion*2-3; } {constantes}.",
    ),
    "e_plan": (
        "plan: {plan_breve*2-4;; }. {e_cita}",
        "- {plan_breve}\n- {plan_breve}\n- {e_cita}",
        "{plan} {plan_breve}. {e_cita} {e_cita}",
    ),
    "e_cita": (
        (3, "{comun_breve}."),
        "vuelve el [next*:weekday].",
        "que llame [relative1:first] al [phone2].",
        "ver a [doctor2:last] en [city2] [next:corta].",
        "[doctor3:first] (enf.) a casa el [next*:weekday].",
        "volante a [hospital2] para [next:month].",
        "recado a la farmacia [organization2], [phone3].",
    ),
    "e_firma": (
        (1, "{firma}"),
        "[doctor:initials]",
        "{dr1} [doctor:last], [center]",
        "[doctor:first] - enf. [doctor3:first]",
        "f: [username]",
        "[doctor:short] [admit:corta]",
    ),
    "pac": (
        (3, "[patient:first]"),
        (2, "[patient:nick]"),
        "{dona} [patient:first]",
        "{ella}",
        "[patient:short]",
        "{el} paciente",
        "{el} {sr} [patient:last]",
    ),
    "dr": (
        (3, "[doctor2:last]"),
        "{dr2} [doctor2:last]",
        "{dona_} [doctor3:first]",
        "[doctor3:first] la enfermera",
        "el de {servicio}",
        "el médico del pueblo",
        "[doctor2:short]",
        "{eldr3} [doctor3:last]",
    ),
    "dona_": ("don", "doña"),
    "fam": (
        "su [kin1]",
        "[relative1:first]",
        "su [kin1] [relative1:first]",
        "su [kin2]",
        "los vecinos",
        "[relative2:short]",
        "sus [kins]",
        "los de casa",
    ),
    "cuando": (
        "por [past*:fiesta]",
        "el [recent*:weekday]",
        "en [past*:month]",
        "en el [old*:year]",
        "el [past*:short]",
        "hace <2-9> {días|semanas|años}",
        "ayer",
        "el otro día",
        "este invierno",
        "desde [past*:fiesta]",
        "el [past*:corta]",
    ),
    "pronto": (
        "el [next*:weekday]",
        "el [next*:short]",
        "por [next*:fiesta]",
        "en <2-6> sem",
        "cuando pueda",
        "en [next*:month]",
        "[next*:corta]",
    ),
    "donde": (
        "en [hospital2]",
        "en [city2]",
        "en la capital",
        "en el campo",
        "en casa de [relative1:first]",
        "en [center]",
        "en [city3]",
        "en [country]",
        "en la era",
    ),
    "@hospital": ("Consultorio de La Encina", "consultorio La Encina"),
    "@hospital2": (
        "el hospital de {pueblo_e}",
        "la Residencia {surname}",
        "{San|Santa} {santo}",
        "el Comarcal de {pueblo_e}",
    ),
    "@center": ("La Encina", "CS {pueblo_e}", "residencia {santo}", "el hogar de {pueblo_e}"),
    "pueblo_c": split_alternatives(
        """
        Val | Fuent | Mat | Horn | Robl | Enc | Cast | Tej | Peñ | Arroy | Mont | Herr | Zarz | Moral | Carb
        """
    ),
    "pueblo_d": split_alternatives(
        """
        edillo | isuelos | ejos | acha | aleja | erones | alvillo | ares | uela | abuena | osillo | atajo
        """
    ),
    "pueblo_e": ("{pueblo_c}{pueblo_d}", "{Aldea|Navas|Hoyos|Torre} de {surname}", "{pueblo_a}{pueblo_b}"),
    "@city": ("{pueblo_e}",),
    "@country": ("Suiza", "Alemania", "Francia", "Argentina", "Cuba", "Bélgica", "Brasil"),
    "@street": (
        "la {plaza|era|calle} {de {Arriba|Abajo}|del {Caño|Pozo|Horno|Olmo}|{surname}}",
        "camino {del|de} {Molino|Monte|Cementerio}, <1-30>",
        "C/ {Real|Honda|Larga|Nueva}, <1-60>",
        "la finca {surname}",
        "corral {surname}",
    ),
    "@mrn": ("%##", "%###-{A|B|C}"),
    "@ssn": ("%#/#######", "##%######"),
    "@license": ("%####",),
    "@username": ("{doctor_login}", "med%#"),
    "@phone": ("### ###", "6## ### ###", "9%#######"),
    "@organization": (
        "{surname}",
        "la cooperativa de {pueblo_e}",
        "la dehesa {surname}",
        "la quesería {surname}",
        "el bar {surname}",
        "la bodega {surname}",
        "el matadero de {pueblo_e}",
        "casa {surname}",
        "la cofradía de San {santo}",
    ),
    "@profession": split_alternatives(
        """
        pastor | resinero | labrador | vaquero | cantero | modista | ama de casa | tractorista | herrero |
        apicultor | hornero | sacristán | guarda forestal | alguacil | molinero | tabernero | esquilador |
        segador | carbonero | cestera | cartero | maestro | partera | cazador | temporera
        """
    ),
}

PROFILE = SiteProfile(
    name="es_encina",
    language="es",
    habit="consultorio rural; notas en minúscula con apodos, parientes y fiestas en vez de fechas",
    rules=_RULES,
    dates={
        "corta": ("{d}-{R}-{y}", "{d}/{R}/{y}", "{d}.{m}.{y}"),
        "full": ("{d}-{R}-{Y}", "{d}-{m}-{y}"),
        "text": ("{d} de {B}", "{d}-{R}"),
        "short": ("día {d}", "{d} de {B}", "{A} {d}"),
        "fiesta": ("San Juan", "la Virgen", "Navidad", "Semana Santa", "{B}", "la matanza de {Y}", "los Santos"),
        "month": ("{B}",),
        "month_year": ("{B} del {y}", "{B}"),
        "year": ("{Y}", "{y}"),
        "weekday": ("{A}",),
    },
    patients=((1, "es_ES"),),
    doctors=((1, "es_ES"),),
    staff=8,
    ambiguous_rate=0.1,
    layout=Layout(typo_rate=0.02, name_typo_rate=0.03, name_lower_rate=0.14),
)

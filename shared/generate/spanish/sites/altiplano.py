"""Un hospital andino: hojas de evolución en mayúsculas o sin tildes, telegráficas, con siglas y horas."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives
from shared.generate.profile import Layout, SiteProfile

_RULES: Rules = {
    "note": ("{filiacion}\n{linea*5-8;\n}\n{cierre}",),
    "filiacion": (
        (0.8, "{hoja}"),
        "HC [mrn] CI [id] [patient:lasts] [patient:first] [age:glued] [sex:letter_f]\nCAMA {cama} F. ING [admit:full]",
        (
            "HOJA DE EVOLUCION - [hospital]\nPCTE: [patient:last_given]  EDAD:[age]  SEXO:[sex:letter_f]  HCL:[mrn]\n"
            "PROCEDENCIA: [city] / [state]  OCUP: [profession]"
        ),
        "[admit:full] {hora} PCTE [patient:last_given] DE [age] NATURAL DE [city], RESIDE [city4] ([street]), CI [id]",
        (
            "EMERGENCIA [hospital] FICHA [episode]\n[patient:last_given] / [age:number] / [sex:letter_f] / "
            "[admit:full] {hora} / SEGURO [ssn]"
        ),
    ),
    "cama": ("<1-40>", "<1-9>{A|B}"),
    "linea": (
        (2, "S: {breve*2-4;. }."),
        (2, "O: {constantes}, {expl_breve*2-4}"),
        (4, "{marca} {comun_breve}. {breve}."),
        (4, "{comun}"),
        "A: {enfermedad*2-3; + }",
        (2, "P: {plan_breve*2-4;, }. {a_frase}"),
        "LAB [stay*:full]: {analito*3-5; / }",
        "{^imagen}",
        "ANT: {antecedente*2-3; / }. {a_frase}",
        "{hora} {a_frase} {breve}.",
        (2, "PCTE [patient:last] {breve}. {a_frase}"),
        "[patient:first] colabora. {breve}.",
        "EF: {constantes}. {exploracion} {exploracion}",
        "RP: {medicacion*2-4; / }",
        "IDX: {diagnostico}",
    ),
    "marca": ("-", "*", "DIA <2-9>:", "{hora}", "[stay*:full]"),
    "a_frase": (
        (5, "{comun_breve}."),
        "EVAL POR {dr2} [doctor2:last] EL [stay*:full].",
        "REFERIDO DE [center] POR {dr3} [doctor3:last_f].",
        "FAMILIAR ([kin1]) [relative1:full] CEL [phone2].",
        "OP EN [hospital2] EN [old*:year].",
        "ULTIMO CONTROL [past*:full].",
        "VIAJE A [city2] EN [past*:month].",
        "TRABAJA EN [organization].",
        "ANTECEDENTE: [kin*] CON {enfermedad}.",
        "SIS/SEGURO [healthplan].",
        "TRANSF A [hospital3] EN MOVIL [vehicle].",
        "BOMBA [device].",
        "HUELLA [bioid].",
    ),
    "cierre": (
        (0.6, "{firma}"),
        "{dr1} [doctor:last_given] CMP [license] / INT. [doctor4:f_last]",
        "DR [doctor:last] - MR <1-3> [doctor2:last] - [discharge:full] {hora}",
        "ALTA [discharge:full]. CONTROL [next:full] C/{dr2} [doctor2:last]. [username]",
        "RESP: [doctor:initials] / [doctor2:initials]  TURNO [discharge:weekday]",
    ),
    "pac": ((2, "pcte"), (2, "pcte [patient:last]"), "[patient:last_given]", "[patient:first]", "{el} paciente"),
    "dr": (
        (3, "{dr2} [doctor2:last]"),
        "{dr3} [doctor3:last_f]",
        "Lic. [doctor4:last]",
        "[doctor2:last]",
        "int. de turno",
        "servicio de {servicio}",
        "{dr3} [doctor3:full]",
    ),
    "fam": (
        "[kin1]",
        "su [kin1]",
        "[kin1] [relative1:first]",
        "[relative1:full]",
        "familiar",
        "[kin2] [relative2:short]",
    ),
    "cuando": (
        "el [past*:full]",
        "[past*:full]",
        "en [past*:month]",
        "en [old*:year]",
        "hace <2-9> {dias|sem|meses|años}",
        "ayer",
        "{hora}",
        "[recent*:weekday]",
        "el [recent*:short]",
        "desde [past*:month_year]",
    ),
    "pronto": ("[next*:full]", "el [next*:short]", "en <2-8> sem", "[next*:weekday]", "mañana", "en [next*:month]"),
    "donde": (
        "en [hospital2]",
        "en [center]",
        "en [city2]",
        "en posta",
        "en emergencia",
        "en [hospital3]",
        "en [country2]",
        "en su comunidad",
    ),
    "@hospital": ("Hospital Obrero del Altiplano", "H. del Altiplano", "HOA"),
    "andino": ("{andino_a}{andino_b}",),
    "andino_a": split_alternatives(
        """
        Chuqui | Copa | Huari | Inca | Joro | Kala | Llalla | Mara | Oru | Paca | Quilla | Sica | Tara | Uyu |
        Vila | Wari | Yana | Acha | Caja | Pucara
        """
    ),
    "andino_b": split_alternatives(
        """
        pampa | marca | huasi | cocha | bamba | cota | pata | suyo | gua | cani | vaya | llacta | rani | cuni
        """
    ),
    "@city": ((5, "{andino}"), "{San|Santa} {santo} de {andino}", "{andino} {Alto|Bajo|Chico}"),
    "@state": split_alternatives(
        """
        Puno | Oruro | Potosí | Cusco | La Paz | Tacna | Ayacucho | Loja | Azuay | Chuquisaca
        """
    ),
    "@country": ("Perú", "Bolivia", "Chile", "Argentina", "Ecuador", "Brasil", "España"),
    "@hospital2": ("H. {San|Santa} {santo}", "Hospital de {andino}", "H. Regional de {andino}", "Clinica {surname}"),
    "@center": ("Posta {andino}", "C.S. {andino}", "Puesto de Salud {andino_a}{andino_b}"),
    "@street": (
        "Av. {surname} N° <100-2999>",
        "Jr. {surname} <100-999>",
        "Zona {andino}, calle <1-30>",
        "Urb. {surname} Mz. {A|B|C|D} Lt. <1-40>",
    ),
    "@mrn": ("%####", "%#####-~"),
    "@id": ("%###### {LP|OR|PT|CB}", "%#######"),
    "@ssn": ("%#-####-~~~", "~~%#####"),
    "@license": ("%####", "%####-~"),
    "@phone": ("7%######", "9########", "(0#) ### ####"),
    "@organization": (
        "Mina {surname}",
        "Coop. Minera {andino}",
        "Alcaldia de {andino}",
        "Cerveceria {surname}",
        "Regimiento {surname}",
        "Colegio {surname}",
        "Textiles {andino}",
        "Sindicato de {andino}",
    ),
    "@profession": split_alternatives(
        """
        minero | agricultor | comerciante | ama de casa | chofer | albañil | profesor | pastora | tejedora |
        vendedora | soldado | carpintero | cocinera | mecanico | sastre | guardia | estudiante universitario |
        panadero | palliri | transportista | costurera | lavandera | dirigente | cargador
        """
    ),
    "@vehicle": ("%###-~~~", "A-<10-99>"),
}

PROFILE = SiteProfile(
    name="es_altiplano",
    language="es",
    habit=(
        "hospital andino; hojas telegráficas sin tildes, a veces en mayúsculas, apellidos antes del nombre, fechas "
        "con puntos"
    ),
    rules=_RULES,
    dates={
        "full": ("{dd}.{mm}.{y}", "{dd}-{mm}-{y}"),
        "text": ("{dd}.{mm}.{y}", "{d} {b} {Y}"),
        "short": ("{dd}.{mm}", "{d} {b}"),
        "month": ("{B}", "{b}"),
        "month_year": ("{b}/{y}", "{B} {Y}"),
        "year": ("{Y}",),
        "weekday": ("{A}",),
    },
    patients=((3, "es_CO"), (3, "es_CL"), (1, "es_MX")),
    doctors=((2, "es_CO"), (1, "es_CL")),
    staff=24,
    layout=Layout(case="upper", case_rate=0.2, plain_letters=True, typo_rate=0.012, glue_rate=0.05),
)

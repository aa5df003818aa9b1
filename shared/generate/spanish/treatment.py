"""Lo que se hace: fármacos, pautas, procedimientos, planes y evolución."""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives

TREATMENT: Rules = {
    "farmaco": split_alternatives(
        """
        paracetamol | ibuprofeno | metamizol | enalapril | losartán | amlodipino | bisoprolol | furosemida |
        acenocumarol | apixabán | clopidogrel | omeprazol | pantoprazol | levotiroxina | salbutamol |
        prednisona | gabapentina | sertralina | trazodona | lorazepam | hidroclorotiazida | simvastatina |
        atorvastatina | tramadol | amoxicilina | ceftriaxona | azitromicina | ciprofloxacino | doxiciclina |
        insulina glargina | metformina | glibenclamida | digoxina | diltiazem | espironolactona | alopurinol |
        colchicina | metotrexato | tamsulosina | donepezilo | levetiracetam | lamotrigina | quetiapina |
        olanzapina | litio | mirtazapina | duloxetina | ondansetrón | dexketoprofeno | naproxeno | Nolotil |
        Adiro | Sintrom | Ventolin | Augmentine | Orfidal | Enantyum | Seguril
        """
    ),
    "dosis": (
        "<1-9> mg",
        "<10-95> mg",
        "<100-850> mg",
        "0,<1-9> mg",
        "<2-60> UI",
        "<1-2> comp",
        "1/2 comprimido",
        "<1-4> puff",
        "<250-900> mcg",
        "1 sobre",
    ),
    "pauta": (
        "al día",
        "cada <4-8> horas",
        "cada 12 horas",
        "c/<6-12>h",
        "por la noche",
        "1-0-1",
        "1-1-1",
        "0-0-1",
        "1-0-0",
        "en ayunas",
        "si dolor",
        "a demanda",
        "semanal",
        "durante <3-14> días",
        "cada mañana",
    ),
    "medicacion": (
        "{^farmaco} {dosis} {pauta}",
        "{farmaco} {dosis} {pauta}",
        "{^farmaco} {dosis} vo {pauta}",
        "{^farmaco} {dosis} iv {pauta}",
        "{^farmaco} {dosis} {pauta} por {enfermedad}",
    ),
    "plan": (
        "Continuar con {farmaco} {dosis} {pauta}.",
        "Iniciar {farmaco} {dosis} {pauta}.",
        "Aumentar {farmaco} a {dosis}.",
        "Suspender {farmaco}.",
        "Pauta descendente de {farmaco} en <5-21> días.",
        "Control de {control} y {control} en <1-8> semanas.",
        "Repetir {prueba} en <2-12> {semanas|meses}.",
        "Interconsulta a {servicio}.",
        "Fisioterapia <2-3> veces por semana.",
        "Dieta sin sal y peso diario.",
        "Se explican signos de alarma.",
        "Abandono del tabaco.",
        "Curas cada <24-72> horas.",
        "Carga según tolerancia.",
        "Pendiente de {control}.",
        "Se propone {cirugia}.",
        "Vigilar {niega} y {niega}.",
        "Retirar {dispositivo} mañana.",
        "No se modifica {farmaco}.",
        "Hidratación abundante.",
        "Vacuna antigripal puesta.",
        "Control de tensión en <2-6> semanas.",
        "Reposo relativo durante {tiempo}.",
        "Acudir a urgencias si empeora.",
    ),
    "plan_breve": (
        "sigue {farmaco} {dosis}",
        "susp {farmaco}",
        "{farmaco} {dosis} {pauta}",
        "control {control}",
        "IC {servicio}",
        "analgesia con {farmaco}",
        "dieta absoluta",
        "SF <500-2000> ml/24h",
        "HBPM profiláctica",
        "deambular",
        "pido {prueba}",
        "retirar vía",
        "curas/<24-48>h",
        "frío local",
        "rehab",
        "O2 en GN",
        "ctes por turno",
        "pte {control}",
    ),
    "control": split_alternatives(
        """
        hemograma | bioquímica | perfil lipídico | TSH | INR | HbA1c | potasio | creatinina | troponinas |
        urocultivo | vitamina D | ferritina | niveles de fármaco | proteinograma
        """
    ),
    "servicio": split_alternatives(
        """
        cardiología | neurología | traumatología | digestivo | nefrología | neumología | endocrinología |
        psiquiatría | dermatología | urología | rehabilitación | trabajo social | nutrición | oncología |
        oftalmología | reumatología | cirugía general | medicina interna | hematología
        """
    ),
    "evolucion": (
        "Se inició {farmaco} {dosis} {pauta}.",
        "Recibió {farmaco} y {farmaco} con buena respuesta.",
        "{^servicio} recomendó {farmaco} y {control}.",
        "Se realizó {prueba}, con {hallazgo}.",
        "Se practicó {cirugia} sin incidencias.",
        "La tensión se mantuvo en torno a <110-150> con {farmaco}.",
        "La hemoglobina bajó a <7.1-9.9> y se transfundieron <1-3> concentrados.",
        "La fiebre cedió en <24-72> horas.",
        "Se colocó {dispositivo}.",
        "El ingreso se complicó con {enfermedad}.",
        "Permaneció {estable|afebril|en observación|sin dolor}.",
        "Al alta {come bien|deambula <50-300> metros|está sin dolor}.",
        "Completó <5-14> días de {farmaco}.",
        "Buena evolución de la herida.",
        "Se suspendió {farmaco} por {analito}.",
        "La creatinina llegó a <1.4-4.9>.",
    ),
    "diagnostico": (
        "{^enfermedad}",
        "{^enfermedad} descompensada",
        "{^sintoma} a estudio",
        "{^enfermedad} ({codigo})",
        "{^enfermedad}; {enfermedad}",
        "Postoperatorio de {cirugia}",
    ),
}

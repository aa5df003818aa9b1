"""Valores de los huecos: lugares, instituciones, oficios, números. Cada hospital cambia lo que allí es distinto.

En una regla que empieza por '@', '#' es una cifra, '%' una del 1 al 9 y '~' una letra.
"""

from __future__ import annotations

from shared.generate.grammar import Rules, split_alternatives

VALUES: Rules = {
    "pueblo_a": split_alternatives(
        """
        Alma | Arbo | Bena | Cala | Cando | Cara | Casti | Cerve | Cori | Dura | Espi | Fresne | Gali | Guada
        | Hino | Jara | Lanza | Lumbre | Maja | Mansi | Mira | Mola | Naval | Olme | Orba | Pedra | Pinare |
        Quinta | Rabane | Riba | Sala | Sote | Tama | Torre | Ubri | Valde | Vela | Villa | Zara | Zorne
        """
    ),
    "pueblo_b": split_alternatives(
        """
        blanca | cedo | da | dilla | dueñas | gosa | hermosa | jal | jo | lejo | les | lmar | mayor | mora |
        na | nal | nilla | nubla | quejigo | rejos | ral | redonda | rre | seca | tejar | vega | viciosa | zo
        | zuela
        """
    ),
    "pueblo": (
        (6, "{pueblo_a}{pueblo_b}"),
        "{Villanueva|Puebla|Torre|Fuente|Aldea|Castillo} de {pueblo_a}{pueblo_b}",
        "{San|Santa} {santo} {de|del} {Monte|Río|Campo|Valle}",
        "{pueblo_a}{pueblo_b} de {Abajo|Arriba|la Sierra|los Caballeros}",
        "{surname} de la {Sierra|Ribera|Vega}",
    ),
    "santo": split_alternatives(
        """
        Millán | Olalla | Eufemia | Cristóbal | Tirso | Quirico | Baudilio | Marina | Fructuoso | Casilda
        """
    ),
    "@city": ("{pueblo}",),
    "@state": split_alternatives(
        """
        Albacete | Cuenca | Soria | Jaén | Murcia | La Rioja | Cantabria | Zamora | Huesca | Almería | Navarra
        | Lugo | Palencia | Teruel | Badajoz | Burgos
        """
    ),
    "@country": split_alternatives(
        """
        España | Marruecos | Rumanía | Ecuador | Colombia | Francia | Italia | Senegal | Perú | Bolivia |
        Portugal | Alemania | China | Ucrania | Cuba | Polonia | Argelia | Venezuela | Bélgica | Suiza |
        Pakistán | Paraguay
        """
    ),
    "@zip": ("#%###",),
    "@street": (
        "{via} {nombre_via}, {|nº }<1-180>",
        "{via} {nombre_via} <1-180>, <1-9>º {A|B|C|D|izda|dcha}",
        (0.5, "{via} {nombre_via}, s/n"),
        "{via} {nombre_via} <1-180>",
    ),
    "via": (
        (3, "Calle"),
        (3, "C/"),
        "Avda.",
        "Avenida",
        "Plaza",
        "Paseo de",
        "Travesía",
        "Camino de",
        "Ronda de",
        "Pza.",
    ),
    "nombre_via": (
        "{surname}",
        "{Mayor|Real|Nueva|Ancha|Larga}",
        "{|de la }{Fuente|Iglesia|Estación|Constitución|Libertad|Cruz|Paloma}",
        "{Doctor|Maestro|General|Poeta} {surname}",
        "{San|Santa} {santo}",
        "{|los }{Olmos|Almendros|Naranjos|Molinos|Tejares}",
        "{pueblo_a}{pueblo_b}",
        "del {Río|Puerto|Molino|Pozo|Sol}",
    ),
    "@hospital": (
        "Hospital {tipo_hospital} de {pueblo_a}{pueblo_b}",
        "Hospital {San|Santa} {santo}",
        "Hospital {Virgen|Nuestra Señora} {advocacion}",
        "Clínica {surname}",
        "Sanatorio {surname}",
        "Complejo Hospitalario de {pueblo_a}{pueblo_b}",
    ),
    "tipo_hospital": ("General", "Comarcal", "Universitario", "Provincial", "Clínico"),
    "advocacion": ("de la Peña", "del Camino", "de los Remedios", "de la Luz", "del Valle", "de las Nieves"),
    "@center": (
        "Centro de Salud de {pueblo_a}{pueblo_b}",
        "Centro de Salud {surname}",
        "CS {pueblo_a}{pueblo_b}",
        "consultorio de {pueblo_a}{pueblo_b}",
        "ambulatorio {surname}",
        "Residencia {surname}",
        "Centro de Día {santo}",
    ),
    "@organization": (
        "{Talleres|Panadería|Autocares|Bodegas|Conservas|Muebles|Transportes|Hermanos} {surname}",
        "{surname} y {surname}, S.L.",
        "Ayuntamiento de {pueblo_a}{pueblo_b}",
        "Colegio {surname}",
        "Cooperativa {santo}",
        "Universidad de {pueblo_a}{pueblo_b}",
        "Instituto {surname}",
        "Fundación {surname}",
        "Policía Local de {pueblo_a}{pueblo_b}",
        "Parroquia de {San|Santa} {santo}",
    ),
    "@profession": split_alternatives(
        """
        albañil | maestra | camionero | agricultor | ama de casa | electricista | camarero | administrativa |
        fontanero | jubilado de la construcción | peluquera | minero jubilado | pescador | abogada | ganadero
        | cocinera | mecánico | carpintero | enfermera | taxista | conductor de autobús | panadero | costurera
        | ingeniera | estudiante | profesor de instituto | bibliotecaria | pintor | soldador | funcionaria |
        guardia civil | cajera | jardinero | zapatero | farmacéutica | pastor | jornalero | comercial |
        veterinaria | herrero | músico | arquitecta | portero de finca | dependienta | limpiadora | marinero |
        periodista | joyero
        """
    ),
    "@profession_young": ("estudiante", "estudiante de primaria", "escolar"),
    "@kins": split_alternatives(
        """
        hijos | hermanos | padres | abuelos | hijas | hermanas | nietos | tíos maternos
        """
    ),
    "@username": ("{doctor_login}%", "E%#####", "{doctor_ascii}.%#"),
    "@email": (
        "{first_ascii}.{last_ascii}{|%#}@{correo}",
        "{last_ascii}%#@{correo}",
        "{doctor_login}@{correo}",
        "{doctor_ascii}@{correo}",
    ),
    "correo": (
        "correovivo.example",
        "buzonred.example",
        "micorreo.example",
        "telenet.example.org",
        "cartas.example.com",
    ),
    "@url": ("www.{voz}{voz}.example", "https://{voz}-{voz}.example/{voz}", "http://{voz}{voz}.example.org"),
    "voz": split_alternatives(
        """
        salud | cita | vida | rio | norte | portal | mente | paciente | sierra | mar | luz
        """
    ),
    "@ip": ("10.<0-255>.<0-255>.<1-254>", "192.168.<0-255>.<1-254>"),
    "@phone": ("9%# ### ###", "6## ## ## ##", "6########", "9%#-##-##-##"),
    "@fax": ("9%# ### ###", "9%#######"),
    "@ssn": ("## ######## ##", "##/########/##"),
    "@mrn": ("%######",),
    "@healthplan": ("%###-####-##", "PS%########"),
    "@episode": ("%#######", "##/%######"),
    "@license": ("## ## #####", "#########"),
    "@vehicle": ("%### ~~~", "~-%###-~~", "SVB-%##"),
    "@device": ("NS %######", "~~%###-%##", "%#####~"),
    "@bioid": ("HD-%####-~~", "IRIS%#####", "VOZ-####-####"),
    "@id": ("%##-####", "~%#######", "##-~~-####"),
    "@other": (
        "la primera alcaldesa de la comarca",
        "ganador de la última maratón",
        "superviviente del naufragio del ferry",
        "presentadora del programa de la mañana",
        "portero de la selección",
        "gemelo de un conocido senador",
        "zurdo y tatuado con un dragón en la espalda",
    ),
}

"""Names that are hard on purpose: surnames and first names that are words, and the short names that friends use."""

from __future__ import annotations

# Surnames that are also everyday or clinical words, or eponyms. They are drawn from here on purpose; any other name
# that stands in a site's own texts is drawn again.
AMBIGUOUS = {
    "en": (
        "Bell Best Bird Bishop Black Bone Brown Case Church Cook Cross Crohn Cushing Day Drew Field Foley Fields "
        "Frost Gray Graves Green Hand Hart Head Hodgkin Holiday Hope Little Long Love Marsh Martin May Miles Murphy "
        "Page Pain Parkinson Peak Pope Post Price Rest Rich Rose Sharp Short Small Stone Strong Summers Turner "
        "Walker Wall Ward White Will Winter Wise Wood Young"
    ).split(),
    "es": (
        "Abad Alegre Barriga Blanco Bravo Bueno Cabeza Calle Campos Casas Cano Castillo Cordero Costa Crespo Cuello "
        "Cuesta Delgado Fuentes Gallego Hierro Huesos Iglesias León Leal Llanos Luna Manso Moreno Nieves Parra Paz "
        "Peña Piedra Pardo Prado Ramos Rey Ríos Robles Rojo Rosales Rubio Sano Seco Serrano Sierra Sordo Toro Valle "
        "Vega Vientos Villa"
    ).split(),
}

# First names that are words or months as well.
AMBIGUOUS_WOMEN = {
    "en": "April August Dawn Faith Grace Hope Ivy Joy June May Olive Patience Rose Sky Summer Violet".split(),
    "es": (
        "Abril Alba Ángeles Aurora Blanca Clara Consuelo Dolores Flor Luz Mercedes Paz Pilar Rosa Rosario Soledad"
    ).split(),
}
AMBIGUOUS_MEN = {
    "en": "Art August Bill Chase Drew Frank Grant Jack Mark Miles Pat Rob Rusty Will".split(),
    "es": (
        "Ángel Bienvenido Cruz Domingo Fidel Franco Justo León Máximo Modesto Plácido Primitivo Salvador Santos"
    ).split(),
}

# First letter of the given name -> short names.
SHORT = {
    "en": {
        "A": "Andy Abby Ally",
        "B": "Bobby Becky Benny",
        "C": "Chuck Cathy Charlie",
        "D": "Danny Debbie Dot",
        "E": "Eddie Ellie Betty",
        "F": "Frankie Fran",
        "G": "Gus Ginny",
        "H": "Hank Hattie",
        "I": "Izzy Ike",
        "J": "Jimmy Jenny Jojo",
        "K": "Katie Kenny",
        "L": "Lenny Liz Lottie",
        "M": "Mickey Maggie Mo",
        "N": "Nell Nate",
        "O": "Ollie",
        "P": "Patty Pete",
        "R": "Ricky Ronnie",
        "S": "Sammy Sue Sal",
        "T": "Tommy Terry Tess",
        "V": "Vinnie Val",
        "W": "Wally Winnie",
        "Y": "Yaya",
        "Z": "Zee",
    },
    "es": {
        "A": "Toño Anita Alex",
        "B": "Beto Belu",
        "C": "Charo Curro Carlitos",
        "D": "Dani Lola",
        "E": "Quique Eli",
        "F": "Paco Fina",
        "G": "Guille Lupe",
        "H": "Nando",
        "I": "Nacho Isa",
        "J": "Pepe Juanito Javi",
        "L": "Lucho Luli",
        "M": "Manolo Mari Maruja",
        "N": "Nico Nati",
        "O": "Osqui",
        "P": "Perico Pili",
        "R": "Rafa Rosi",
        "S": "Santi Susi",
        "T": "Teo Tere",
        "V": "Vero Vicente",
    },
}

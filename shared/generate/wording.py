"""Words that agree with the patient's sex and are no PHI by themselves: pronouns, titles, endings."""

from __future__ import annotations

from random import Random

# form -> the sex of a woman and of a man, as Spanish forms print it
SEXES = {
    "letter": ("M", "H"),
    "letter_f": ("F", "M"),
    "letter_v": ("M", "V"),
    "long": ("Femenino", "Masculino"),
    "varon": ("mujer", "varón"),
}

# Name in templates -> the word for a woman and for a man.
_ENGLISH = {
    "he": ("she", "he"),
    "his": ("her", "his"),
    "him": ("her", "him"),
    "man": ("woman", "man"),
    "male": ("female", "male"),
    "M": ("F", "M"),
    "sir": ("lady", "gentleman"),
}
_SPANISH = {
    "o": ("a", "o"),
    "el": ("la", "el"),
    "al": ("a la", "al"),
    "sr": ("Sra.", "Sr."),
    "senor": ("señora", "señor"),
    "dona": ("doña", "don"),
    "ella": ("ella", "él"),
    "curp_sex": ("M", "H"),
}


def gendered_words(language: str, female: bool, random: Random) -> dict[str, str]:
    """Name in templates -> word.

    Args:
        language: "en" or "es".
        female: the patient's sex.
        random: chooses among titles.
    """
    if language == "en":
        return _english(female, random)
    return _spanish(female)


def _english(female: bool, random: Random) -> dict[str, str]:
    title = random.choice(("Mrs.", "Ms.", "Ms.", "Miss")) if female else "Mr."
    words = {"mr": title, "mr_": title.rstrip(".")}
    return words | {name: pair[not female] for name, pair in _ENGLISH.items()}


def _spanish(female: bool) -> dict[str, str]:
    return {name: pair[not female] for name, pair in _SPANISH.items()}

"""Words that agree with the patient's sex and are no PHI by themselves: pronouns, titles, endings."""

from __future__ import annotations

from random import Random


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
    if female:
        title = random.choice(("Mrs.", "Ms.", "Ms.", "Miss"))
        return {"he": "she", "his": "her", "him": "her", "man": "woman", "male": "female", "M": "F", "mr": title, "mr_": title.rstrip("."), "sir": "lady"}
    return {"he": "he", "his": "his", "him": "him", "man": "man", "male": "male", "M": "M", "mr": "Mr.", "mr_": "Mr", "sir": "gentleman"}


def _spanish(female: bool) -> dict[str, str]:
    if female:
        return {"o": "a", "el": "la", "del": "de la", "al": "a la", "un": "una", "sr": "Sra.", "don": "Dña.", "dona": "doña", "senor": "señora", "ella": "ella", "este": "esta", "sexrule": "f"}
    return {"o": "o", "el": "el", "del": "del", "al": "al", "un": "un", "sr": "Sr.", "don": "D.", "dona": "don", "senor": "señor", "ella": "él", "este": "este", "sexrule": "m"}

"""Dates as clinicians write them: patterns over the fields of one day, in English and Spanish."""

from __future__ import annotations

from datetime import date

_MONTHS = {
    "en": "January February March April May June July August September October November December".split(),
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
}
_WEEKDAYS = {
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "es": "lunes martes miércoles jueves viernes sábado domingo".split(),
}
_ROMAN = "I II III IV V VI VII VIII IX X XI XII".split()
_ONES = {
    "en": (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen"
    ).split(),
    "es": (
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
        "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
        "veintiocho veintinueve"
    ).split(),
}
_TENS = {
    "en": "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split(),
    "es": "_ _ veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa".split(),
}


def number_in_words(number: int, language: str) -> str:
    """A number from 0 to 99: "fifty-three", "cincuenta y tres"."""
    if number < len(_ONES[language]):
        return _ONES[language][number]
    tens, ones = divmod(number, 10)
    if not ones:
        return _TENS[language][tens]
    return f"{_TENS[language][tens]}{'-' if language == 'en' else ' y '}{_ONES[language][ones]}"


def fields(day: date, language: str) -> dict[str, str]:
    """What a date pattern may name.

    Returns:
        d, dd: day without and with leading zero; o: English ordinal ("3rd"); w: day in words;
        m, mm: month as number; B, b: month and its first three letters; R: month as Roman numeral;
        Y, y: year in four and in two digits; A, a: weekday and its first three letters.
    """
    month = _MONTHS[language][day.month - 1]
    weekday = _WEEKDAYS[language][day.weekday()]
    return {
        "d": str(day.day),
        "dd": f"{day.day:02}",
        "o": f"{day.day}{_ordinal(day.day)}",
        "w": number_in_words(day.day, language),
        "m": str(day.month),
        "mm": f"{day.month:02}",
        "B": month,
        "b": month[:3],
        "R": _ROMAN[day.month - 1],
        "Y": f"{day.year:04}",
        "y": f"{day.year % 100:02}",
        "A": weekday,
        "a": weekday[:3],
    }


def _ordinal(day: int) -> str:
    if 10 < day < 20:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def age_on(day: date, birth: date) -> int:
    """Whole years lived on that day."""
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))

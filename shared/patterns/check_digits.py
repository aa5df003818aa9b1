"""Numbers that carry their own check: a match without it is another number.

Each takes a match as it is written, and looks at its letters and digits only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_NIF_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_CORSICA = {"2A": "19", "2B": "18"}
_SIGNS = re.compile(r"[^A-Z0-9]")


def _signs(text: str) -> str:
    return _SIGNS.sub("", text.upper())


def is_nif(text: str) -> bool:
    """Spain's DNI and NIE: the last letter is the number modulo 23, with X, Y, Z for 0, 1, 2."""
    signs = _signs(text)
    number = str("XYZ".index(signs[0])) + signs[1:-1] if signs[0] in "XYZ" else signs[:-1]
    return number.isdecimal() and _NIF_LETTERS[int(number) % 23] == signs[-1]


def is_nhs(text: str) -> bool:
    """The NHS number: ten digits, weights 10 to 2, modulo 11."""
    digits = list(map(int, _signs(text)))
    check = -sum(weight * digit for weight, digit in zip(range(10, 1, -1), digits, strict=False)) % 11
    return len(digits) == 10 and check == digits[9]


def is_nir(text: str) -> bool:
    """France's NIR: thirteen digits and a key, 97 less the number modulo 97; Corsica's letters stand for digits."""
    signs = _signs(text)
    signs = signs[:5] + _CORSICA.get(signs[5:7], signs[5:7]) + signs[7:]
    return len(signs) == 15 and signs.isdecimal() and 97 - int(signs[:13]) % 97 == int(signs[13:])


def is_luhn(text: str) -> bool:
    """Cards and many accounts: every second digit from the right doubled, modulo 10."""
    digits = list(map(int, _signs(text)))
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(digits) >= 13 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


CHECKS: Mapping[str, Callable[[str], bool]] = {"nif": is_nif, "nhs": is_nhs, "nir": is_nir, "luhn": is_luhn}
"""By the name that a kind gives."""

"""Numbers and codes of the same form: a digit for a digit, a letter for a letter, and check digits where the true one has them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from shared.patterns.check_digits import CHECKS
from shared.surrogates.mechanisms.randomness import Randomness

_DIGITS, _SMALL = "0123456789", "abcdefghijklmnopqrstuvwxyz"
_NOT_SIGNS = re.compile(r"[^A-Z0-9]")
# The check of a form is the last signs of it; a number is drawn until all that is ahead of them fits.
_FORMS: Mapping[str, re.Pattern[str]] = {
    "nif": re.compile(r"(?:[XYZ]\d{7}|\d{8})[A-Z]"),
    "nir": re.compile(r"[12]\d{4}(?:\d{2}|2[AB])\d{8}"),
    "nhs": re.compile(r"\d{10}"),
    "luhn": re.compile(r"[3-6]\d{12,18}"),
}
_TRIES = 200
_CHECK_SIGNS = {"nif": ["TRWAGMYFPDXBNJZSQVHLCKE"], "nir": [_DIGITS, _DIGITS], "nhs": [_DIGITS], "luhn": [_DIGITS]}


def redraw(text: str, randomness: Randomness) -> str:
    """Every digit and letter of a text drawn anew, capitals as capitals; signs of other kinds stay, and what begins with a digit other than 0 still does."""
    drawn: list[str] = []
    begun = False
    for sign in text:
        if sign.isdecimal():
            # The first alone, so that the same digits get the same whatever stands between them.
            first = sign != "0" and not begun
            drawn.append(_DIGITS[1 + randomness.below(9)] if first else _DIGITS[randomness.below(10)])
        elif sign.isalpha():
            letter = _SMALL[randomness.below(26)]
            drawn.append(letter.upper() if sign.isupper() else letter)
        else:
            # Other numerals, such as those of exponents, tell as much as digits.
            drawn.append(_DIGITS[randomness.below(10)] if sign.isalnum() else sign)
        begun = begun or sign.isalnum()
    return "".join(drawn)


def values_of(text: str) -> int:
    """How many texts `redraw` may make of one, within the factor of a first digit that is not 0."""
    return math.prod(26 if sign.isalpha() else 10 for sign in text if sign.isalnum())


def signs(text: str) -> str:
    """What of a number counts, however it is spelt."""
    return _NOT_SIGNS.sub("", text.upper())


def check_of(text: str) -> str:
    """The check that a number has the form of and passes; "" for none, as of one beside letters or digits of other scripts, which are drawn anew with it."""
    if any(sign.isalnum() and not sign.isascii() for sign in text):
        return ""
    bare = signs(text)
    return next((name for name, form in _FORMS.items() if form.fullmatch(bare) and CHECKS[name](bare)), "")


def redraw_checked(text: str, check: str, randomness: Randomness) -> str | None:
    """`redraw`, with check digits that hold; None where none are found."""
    for _ in range(_TRIES):
        drawn = redraw(text, randomness)
        if _FORMS[check].fullmatch(signs(_plausible(drawn, text, check))) is None:
            continue
        checked = _with_check(_plausible(drawn, text, check), check, CHECKS[check])
        if checked is not None:
            return checked
    return None


def _plausible(drawn: str, text: str, check: str) -> str:
    """The first sign as the form asks: one of X, Y, Z; a 1 or 2; what cards begin with."""
    at = next(place for place, sign in enumerate(text) if sign.isalnum())
    first = drawn[at]
    if check == "nif" and text[at].isalpha():
        first = "XYZ"[ord(first.upper()) % 3]
    elif check in ("nir", "luhn"):
        first = str(int(first) % 2 + 1) if check == "nir" else str(int(first) % 4 + 3)
    return drawn[:at] + (first if text[at].isupper() or not first.isalpha() else first.lower()) + drawn[at + 1 :]


def _with_check(text: str, check: str, holds: Callable[[str], bool]) -> str | None:
    """The text with its last signs set so that the check holds."""
    places = [at for at, sign in enumerate(text) if sign.isalnum()][-len(_CHECK_SIGNS[check]) :]
    candidates = [""]
    for allowed in _CHECK_SIGNS[check]:
        candidates = [made + sign for made in candidates for sign in allowed]
    for made in candidates:
        written = list(text)
        for place, sign in zip(places, made, strict=True):
            written[place] = sign if not text[place].islower() else sign.lower()
        if holds("".join(written)):
            return "".join(written)
    return None

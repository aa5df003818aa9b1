"""Surrogates of numbers, codes and addresses of machines: of the same form, drawn whatever they replace; long ones are never one that the note holds.

Of a form with few values that would tell: who sees many draws of a room sees which number never comes. So a short one may by chance be the true one. And
where a scope lasts over notes nothing is kept out, for then a surrogate would hang on what else a note holds.

E-mail and web addresses end in `.example`, and addresses of the Internet lie in ranges that are kept for documents (RFC 2606, 5737, 3849): a surrogate
reaches nobody. Numbers of telephones, persons and cards can't promise that: they are valid, and may be somebody's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set

from shared.surrogates.maker import Drawn, Maker, Mention, Plan, Scope
from shared.surrogates.mechanisms.randomness import Randomness, choose
from shared.surrogates.signs.formats import check_of, redraw, redraw_checked, signs, values_of
from shared.surrogates.spelling import folded, on_one_line

_TRIES = 100
# Of so many values a handful that never come tell nobody anything that can be counted.
_MANY = 10**6
# As many digits as tell a telephone number whatever stands ahead of them.
_OWN_DIGITS = 9
# Codes that the ITU has given out (E.164): three digits of something else are part of the number, and are drawn.
_COUNTRY = re.compile(
    r"(?:\+|00)(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|2(?:1[12368]|[2-46]\d|5[0-8]|9[01789])|3(?:[57]\d|8[0-35-79])|42[013]|5[09]\d|6(?:7[02-9]|8[0-35-9]|9[0-2])"
    r"|8(?:0[08]|5[02356]|7[08]|8[0-368])|9(?:6[0-8]|7[0-79]|9[2-68]))(?!\d)|\+1(?=[\s(\-.])"
)
_EMAIL = re.compile(r"(?P<user>[^@\s]+)(?P<at>\s?@\s?)(?P<host>[^@\s]+)")
_URL = re.compile(
    r"(?P<scheme>(?:[a-z]{3,5}://)?(?:www\.)?)(?P<host>[^/\s?#:]+)(?P<port>:\d+)?(?P<path>[^\s]*)", re.IGNORECASE
)
_NETS = ("192.0.2", "198.51.100", "203.0.113")
_PHONE_WORDS = frozenset(
    "x ext extn extension ex int interno anexo busca pager bip beeper tel telf tfno tlf phone fax poste no num".split()
)
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]


class SignsMaker(Maker):
    """See the module."""

    kinds = ("phone", "identifier", "email", "url", "address")

    def read(self, mentions: Sequence[Mention], scope: Scope) -> Plan:
        """See `Maker`."""
        taken = set() if scope.lasts else {signs(mention.text) for mention in mentions}
        return Drawn(
            [
                _MAKE[mention.kind](
                    on_one_line(mention.text), scope, taken if values_of(mention.text) >= _MANY else frozenset()
                )
                for mention in mentions
            ]
        )


def _phone(text: str, scope: Scope, taken: Set[str]) -> str | None:
    """The same digits for the same number, with a country ahead of it or without."""
    match = _COUNTRY.match(text)
    country = match[0] if match else ""
    rest = text[len(country) :]
    # Those of exponents and circles among them, which tell as much.
    digits = "".join(filter(str.isnumeric, rest))
    if not digits:
        return None
    if not set(folded("".join(sign if sign.isalpha() else " " for sign in rest)).split()) <= _PHONE_WORDS:
        return _identifier(text, scope, taken)
    own = digits[-_OWN_DIGITS:]

    def drawn(chance: Randomness) -> str:
        last = str(1 + chance.below(9)) + "".join(str(chance.below(10)) for _ in range(_OWN_DIGITS - 1))
        made = redraw(digits, chance)[: -len(own)] + last[-len(own) :]
        # A 0 that is dialled ahead of a number is no part of it.
        made = "0" + made[1:] if digits[0] == "0" and len(digits) > len(own) else made
        following = iter(made)
        return country + "".join(next(following) if sign.isnumeric() else sign for sign in rest)

    return _unlike(drawn, scope.randomness("phone", own), taken)


def _identifier(text: str, scope: Scope, taken: Set[str]) -> str | None:
    if not any(map(str.isalnum, text)):
        return None
    check = check_of(text)

    def drawn(chance: Randomness) -> str | None:
        return redraw_checked(text, check, chance) if check else redraw(text, chance)

    return _unlike(drawn, scope.randomness("identifier", signs(text) or folded(text)), taken)


def _email(text: str, scope: Scope, taken: Set[str]) -> str | None:
    match = _EMAIL.fullmatch(text)
    if match is None:
        return None
    chance = scope.randomness("email", text.casefold())
    return _unlike(
        lambda chance: redraw(match["user"], chance) + match["at"] + _host(match["host"], scope), chance, taken
    )


def _url(text: str, scope: Scope, taken: Set[str]) -> str | None:
    match = _URL.fullmatch(text)
    if match is None:
        return None
    chance = scope.randomness("url", text.casefold())
    return _unlike(
        lambda chance: match["scheme"] + _host(match["host"], scope) + redraw(match["path"], chance), chance, taken
    )


def _host(host: str, scope: Scope) -> str:
    """Another host that nobody has, the same for the same."""
    chance = scope.randomness("host", host.casefold())
    return "".join(choose(chance, _SYLLABLES) for _ in range(4)) + ".example"


def _address(text: str, scope: Scope, taken: Set[str]) -> str | None:
    chance = scope.randomness("address", text.casefold())
    if ":" in text:
        return _unlike(lambda chance: f"2001:db8::{chance.below(1 << 16):x}:{chance.below(1 << 16):x}", chance, taken)
    # Of so few that none is kept out.
    return f"{choose(chance, _NETS)}.{1 + chance.below(254)}"


def _unlike(draw: Callable[[Randomness], str | None], chance: Randomness, taken: Set[str]) -> str | None:
    """What is drawn, until it is none that the note holds; None where that does not come."""
    for _ in range(_TRIES):
        made = draw(chance)
        if made is None or signs(made) not in taken:
            return made
    return None


_MAKE: dict[str, Callable[[str, Scope, Set[str]], str | None]] = {
    "phone": _phone,
    "identifier": _identifier,
    "email": _email,
    "url": _url,
    "address": _address,
}

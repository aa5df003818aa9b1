"""Names of people of many cultures: those of Faker in Latin letters, and our own lists of cultures that it lacks."""

from __future__ import annotations

import importlib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from random import Random

_OWN_LANGUAGE = {
    "English": ("en_US", "en_GB", "en_IE"),
    "Spanish": ("es_ES", "es_MX", "es_CO"),
}
_OTHERS = (
    "en_IN en_KE en_PK fr_FR fr_QC fr_DZ de_DE it_IT pt_BR pt_PT nl_NL sv_SE fi_FI no_NO da_DK cs_CZ sk_SK hu_HU ro_RO hr_HR "
    "sl_SI lt_LT lv_LV et_EE ga_IE tr_TR id_ID uz_UZ yo_NG tw_GH zu_ZA sw"
).split()
# Of the names in notes, so many are of the language's own cultures; the others are what heads miss.
_OWN_SHARE = 0.5
# A surname of another culture, by marriage.
_MARRIED = 0.08


@dataclass(frozen=True, repr=False)
class Culture:
    """Names of one culture.

    Args:
        given: given names.
        family: surnames.
    """

    given: tuple[str, ...]
    family: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class People:
    """The cultures that names are drawn from.

    Args:
        own: those of the language.
        others: all others; may be empty.
    """

    own: tuple[Culture, ...]
    others: tuple[Culture, ...]

    def culture(self, chance: Random) -> Culture:
        """Of one person."""
        return chance.choice(self.own if not self.others or chance.random() < _OWN_SHARE else self.others)

    def family(self, culture: Culture, chance: Random) -> str:
        """A surname of a person of that culture."""
        return chance.choice((self.culture(chance) if chance.random() < _MARRIED else culture).family)


@cache
def people_of(language: str, *, with_faker: bool = True) -> People:
    """Who may stand in notes of a language.

    Args:
        language: "English" or "Spanish".
        with_faker: whether the names of Faker are among them. A corpus whose names are Faker's, too, is measured without.
    """
    text = (resources.files("shared.augment.drawn") / "names.toml").read_text(encoding="utf-8")
    listed = tuple(
        Culture(tuple(table["given"].split()), tuple(table["family"].split())) for table in tomllib.loads(text).values()
    )
    if not with_faker:
        return People(listed, ())
    return People(tuple(map(_of_faker, _OWN_LANGUAGE[language])), (*map(_of_faker, _OTHERS), *listed))


def _of_faker(locale: str) -> Culture:
    # Imported here: it takes time that most commands need not pay.
    provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
    return Culture(tuple(dict.fromkeys(provider.first_names)), tuple(dict.fromkeys(provider.last_names)))

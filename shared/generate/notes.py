"""Notes of a fictional hospital, each made from the hospital's name, the seed and its own number alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import cache
from random import Random

from shared.document import Document
from shared.errors import ConfigurationError
from shared.generate.english import ENGLISH
from shared.generate.facts import NoteFacts, Setting, word_names
from shared.generate.grammar import Grammar, Rules
from shared.generate.layout import lay_out
from shared.generate.names import AMBIGUOUS
from shared.generate.person import People, draw_birth
from shared.generate.profile import SiteProfile
from shared.generate.sites import PROFILES, PUBLIC
from shared.generate.spanish import SPANISH
from shared.text.tokens import tokenise

MIN_TOKENS, MAX_TOKENS = 120, 400

_RULES: dict[str, Rules] = {"en": ENGLISH, "es": SPANISH}
_MAX_REDRAWS = 60
_ROSTER_DAY = date(2015, 1, 1)


def site_names(language: str | None = None) -> tuple[str, ...]:
    """The hospitals, in a fixed order.

    Args:
        language: "en" or "es"; None for all.
    """
    hospitals = (profile for name, profile in PROFILES.items() if name not in PUBLIC.values())
    return tuple(profile.name for profile in hospitals if language in (None, profile.language))


def public_site(language: str) -> str:
    """The site whose notes stand for public ones: a blend of habits of many places, at home in no hospital.

    Raises:
        ConfigurationError: no notes are made in that language.
    """
    if language not in PUBLIC:
        raise ConfigurationError(f"expected a language among {', '.join(PUBLIC)}, got {language}; choose one of them")
    return PUBLIC[language]


def site_profile(site: str) -> SiteProfile:
    """What is peculiar to a site.

    Raises:
        ConfigurationError: there is no such site.
    """
    if site not in PROFILES:
        raise ConfigurationError(f"expected a site among {', '.join(PROFILES)}, got {site}; choose one of them")
    return PROFILES[site]


def generate_notes(site: str, count: int, seed: int) -> Iterator[Document]:
    """Labelled notes of one site, of 120 to 400 tokens each.

    The same site and seed give the same notes on every machine with the same version of Faker; note i depends
    neither on `count` nor on the notes before it.

    Args:
        site: a name from `site_names` or `public_site`.
        count: number of notes.
        seed: any integer.

    Raises:
        ConfigurationError: there is no such site, or the count is negative.
    """
    profile = site_profile(site)
    if count < 0:
        raise ConfigurationError(f"expected a count of 0 or more, got {count}; correct it")
    return _notes(profile, count, seed)


def generate_public_text(language: str, count: int, seed: int) -> Iterator[str]:
    """Unlabelled texts for training embeddings: notes of the language's public site.

    Args:
        language: "en" or "es".
        count: number of texts.
        seed: any integer; texts differ from the labelled notes of the same site and seed.
    """
    profile = site_profile(public_site(language))
    return (document.text for document in _notes(profile, count, f"text {seed}"))


def _notes(profile: SiteProfile, count: int, seed: int | str) -> Iterator[Document]:
    setting = _setting(profile)
    for number in range(count):
        yield _note(setting, f"{profile.name}-{number:06}", Random(f"{profile.name} {seed} {number}"))


def _note(setting: Setting, identifier: str, random: Random) -> Document:
    for _ in range(_MAX_REDRAWS):
        pieces = setting.grammar.expand("note", NoteFacts(setting, random), random)
        document = lay_out(identifier, pieces, setting.profile.layout, random)
        if MIN_TOKENS <= len(tokenise(document.text)) <= MAX_TOKENS:
            return document
    wanted = f"{MIN_TOKENS} to {MAX_TOKENS} tokens"
    raise ConfigurationError(f"expected notes of {wanted} at {setting.profile.name}, got none; correct its rules")


def _setting(profile: SiteProfile) -> Setting:
    """The hospital's grammar, and instances of Faker of its own, which no other generator seeds."""
    grammar = _grammar(profile.name)
    avoided = grammar.literal_words - {name.lower() for name in AMBIGUOUS[profile.language]}
    random = Random(f"staff of {profile.name}")
    staff = People(profile.language, profile.doctors, avoided, profile.ambiguous_rate)
    roster = tuple(staff.draw(random, draw_birth(random, _ROSTER_DAY)) for _ in range(profile.staff))
    people = People(profile.language, profile.patients, avoided, profile.ambiguous_rate)
    return Setting(profile, grammar, people, roster)


@cache
def _grammar(site: str) -> Grammar:
    profile = PROFILES[site]
    return Grammar({**_RULES[profile.language], **profile.rules}, words=word_names(profile.language))

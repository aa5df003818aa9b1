"""The hospitals' own rules: nothing dead, nothing missing."""

from __future__ import annotations

import pytest

from shared.errors import ConfigurationError
from shared.generate.facts import word_names
from shared.generate.grammar import Grammar
from shared.generate.notes import _RULES
from shared.generate.profile import SiteProfile
from shared.generate.sites import PROFILES
from shared.generate.slots import CATEGORIES, DATE_SLOTS, PERSON_SLOTS

# Slots whose values come from the facts of the note and from no rule.
_FROM_FACTS = PERSON_SLOTS | {"age", "kinage", "kin", "sex"}


def value_rules(profile: SiteProfile, grammar: Grammar) -> set[str]:
    """Rules that the slots of this grammar ask for; asserts that they exist."""
    asked = {"@profession_young"}
    for name, form in grammar.slots():
        base = name.rstrip("0123456789*")
        assert base in CATEGORIES[profile.language], f"{profile.name}: unknown slot {name}"
        if base in DATE_SLOTS:
            assert (form or "text") in profile.dates, f"{profile.name}: no date form {form}"
        elif base not in _FROM_FACTS:
            rule = f"@{name if f'@{name}' in grammar else base}{'_' if form else ''}{form}"
            assert rule in grammar, f"{profile.name}: no rule {rule}"
            asked.add(rule)
    return asked


@pytest.mark.parametrize("site", PROFILES)
def test_every_slot_has_values_and_every_own_rule_is_used(site: str) -> None:
    profile = PROFILES[site]
    grammar = Grammar({**_RULES[profile.language], **profile.rules}, word_names(profile.language))
    used = grammar.reachable_rules("note").union(*map(grammar.reachable_rules, value_rules(profile, grammar)))
    assert not set(profile.rules) - used


@pytest.mark.parametrize("language", _RULES)
def test_every_shared_rule_is_used_somewhere(language: str) -> None:
    used: set[str] = set()
    for profile in PROFILES.values():
        if profile.language == language:
            grammar = Grammar({**_RULES[language], **profile.rules}, word_names(language))
            used |= grammar.reachable_rules("note").union(*map(grammar.reachable_rules, value_rules(profile, grammar)))
    assert not set(_RULES[language]) - used


def test_a_profile_needs_a_start_and_a_staff() -> None:
    moor = PROFILES["en_moor"]
    settings: tuple[dict[str, object], ...] = ({"rules": {}}, {"staff": 0}, {"ambiguous_rate": 2.0})
    for broken in settings:
        values = {field: getattr(moor, field) for field in SiteProfile.__slots__} | broken
        with pytest.raises(ConfigurationError):
            SiteProfile(**values)

"""A release names its scheme and its categories: whatever it calls them, rules and lists find the same stretches."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.anonymity.names import default_names
from shared.labels import LabelScheme, load_scheme
from shared.patterns.engine import Patterns
from shared.patterns.kinds import Suspicion
from shared.patterns.names import NameLists

SPANISH, ENGLISH = load_scheme("meddocan"), load_scheme("i2b2_2014")
NOTE = (
    "Varón de 54 años, hijo de Begoña, vive en la calle Mayor 3 y viene de Asturias con Brittany.\n"
    "Asturias. A 54-year-old retired florist from Ohio, seen on Monday; his sister Kaitlyn lives in Spain.\n"
)
LISTS = NameLists(SPANISH)
LISTED = sorted({word for name in ("meddocan", "i2b2_2014") for words in default_names(name) for word in words})


def certain(found: Iterable[Suspicion]) -> set[int]:
    """What `encode` hides of what is found, by its places in the text."""
    return {place for one in found if one.certainty >= 0.5 for place in range(one.start, one.end)}


def places(text: str, scheme: LabelScheme) -> set[int]:
    return certain([*Patterns(scheme).find(text), *NameLists(scheme).find(text)])


@pytest.mark.parametrize("scheme", [SPANISH, ENGLISH], ids=["meddocan", "i2b2_2014"])
@pytest.mark.parametrize("name", ["meddocan", "meddocan-v2", "i2b2_2014", "i2b2_2006", "hipaa", ""])
def test_attack_a_scheme_by_another_name_ends_no_search(scheme: LabelScheme, name: str) -> None:
    assert places(NOTE, LabelScheme(name, scheme.categories)) == places(NOTE, scheme)


@pytest.mark.parametrize("scheme", [SPANISH, ENGLISH], ids=["meddocan", "i2b2_2014"])
def test_attack_categories_by_other_names_end_no_search(scheme: LabelScheme) -> None:
    honest = places(NOTE, scheme)
    spelled = LabelScheme("other", tuple(name.replace("_", " ").title() for name in scheme.categories))
    unknown = LabelScheme("other", tuple(f"X{number}" for number in range(len(scheme.categories))))
    assert places(NOTE, spelled) == honest
    assert places(NOTE, unknown) >= honest
    [age, *_] = (one for one in Patterns(spelled).find(NOTE) if NOTE[one.start : one.end].startswith("54"))
    assert age.category in {"Age", "Edad Sujeto Asistencia"}


def test_what_a_scheme_does_not_count_is_sought_where_a_category_may_be_it_by_another_name() -> None:
    text = "Varón, 54 años de edad, Dr Luna"
    assert places(text, LabelScheme("own", ("DEVICE", "PERSON"))) == set(range(27, 31))
    assert places(text, LabelScheme("own", ("CODE", "PERSON"))) == {*range(5), *range(7, 14), *range(27, 31)}


def test_a_scheme_that_means_less_by_ages_has_none_found() -> None:
    fewer = load_scheme("i2b2_2006")
    assert "age" not in Patterns(fewer).kinds
    assert "age" in Patterns(LabelScheme(fewer.name, (*fewer.categories, "PROFESSION"))).kinds


@pytest.mark.parametrize("place", ["Carolina", "Montana", "Madrid", "Ohio"])
@pytest.mark.parametrize("text", ["{}. Seen", "seen in {} today"])
def test_a_place_that_is_a_name_elsewhere_is_found_wherever_it_stands(text: str, place: str) -> None:
    start = text.index("{")
    assert places(text.format(place), ENGLISH) == set(range(start, start + len(place)))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(LISTED) | st.sampled_from(["Visita", "the", "de"]),
            st.sampled_from([" ", ". ", ", ", "-", "\n", " de "]),
        ),
        max_size=8,
    )
)
def test_the_lists_of_all_countries_find_what_those_of_one_find(pieces: list[tuple[str, str]]) -> None:
    text = "".join(word + behind for word, behind in pieces)
    every = certain(LISTS.find(text))
    for name in ("meddocan", "i2b2_2014"):
        *people, regions = default_names(name)
        assert every >= certain(NameLists(SPANISH, people, regions).find(text))

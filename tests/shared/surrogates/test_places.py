"""Places: a metric over everything that is known of them, one public list for all, and the bound that is claimed."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from shared.surrogates.mechanisms.randomness import KeyedRandomness
from shared.surrogates.places import maker
from shared.surrogates.places.gazetteer import (
    STEPS,
    Atlas,
    Gazetteer,
    Place,
    PlaceSettings,
    read_places,
    shipped_places,
)
from shared.surrogates.places.maker import near
from shared.surrogates.replacing import Surrogates
from shared.surrogates.settings import SurrogateSettings
from shared.surrogates.words.lists import word_lists

PLACES = (
    Place("Aston", 50.0, 1.0, features={"cancer": 10.0, "people": 1.0}),
    Place("Beton", 50.1, 1.0, features={"cancer": 90.0, "people": 1.0}),
    Place("Ceton", 50.1, 1.2, features={"cancer": 10.0, "people": 9.0}),
    Place("Deton", 51.0, 3.0, features={"cancer": 40.0, "people": 5.0}),
)


def gazetteer(**settings: Any) -> Gazetteer:
    return Gazetteer(PLACES, PlaceSettings(PLACES, **settings))


def of(*spans: str, category: str = "CITY", **settings: Any) -> list[str]:
    text = "\n".join(spans)
    ends, annotations = 0, []
    for span in spans:
        annotations.append(Annotation(ends, ends + len(span), category))
        ends += len(span) + 1
    made = Surrogates(SurrogateSettings(language="English", **settings)).replace(
        Document("n", text, tuple(annotations))
    )
    return [one.surrogate for one in made.mapping]


def replaced(text: str, category: str, language: str) -> str:
    note = Document("n", text, (Annotation(0, len(text), category),))
    return Surrogates(SurrogateSettings(language=language)).replace(note).text


@given(st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180), st.floats(0, 1e6)), min_size=2, max_size=5))
@example([(0.0, 0.0, 0.0), (0.0, 0.0, 1.1125369292536007e-308)])
def test_distances_are_a_metric_without_rounding(points: list[tuple[float, float, float]]) -> None:
    places = tuple(
        Place(f"p{at}", latitude, longitude, features={"f": f}) for at, (latitude, longitude, f) in enumerate(points)
    )
    listed = Gazetteer(places, PlaceSettings(places))
    for one, other, third in product(range(len(places)), repeat=3):
        assert listed.distance(one, one) == 0
        assert listed.distance(one, other) == listed.distance(other, one)
        assert listed.distance(one, third) <= listed.distance(one, other) + listed.distance(other, third)


def test_distances_are_those_of_a_map() -> None:
    places = (Place("Paris", 48.8566, 2.3522), Place("Dijon", 47.3220, 5.0415))
    kilometres = Gazetteer(places, PlaceSettings(places, unit_km=1.0)).distance(0, 1) / STEPS
    assert abs(kilometres - 262.6) < 1.5  # as any map of great circles says


def test_every_feature_counts_not_the_last_alone() -> None:
    """The reference code builds its vector from the last feature only."""
    plain = [
        Gazetteer([Place(one.name, one.latitude, one.longitude) for one in PLACES], PlaceSettings(PLACES)).distance(
            0, at
        )
        for at in range(4)
    ]
    both = [gazetteer().distance(0, at) for at in range(4)]
    assert both[1] > plain[1]  # apart in cancer alone
    assert both[2] > plain[2]  # apart in people alone
    heavier = gazetteer(feature_units={"cancer": 20.0})
    assert heavier.distance(0, 1) > 5 * both[1]
    assert heavier.distance(0, 2) == both[2]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_the_whole_of_the_public_list_may_come_for_every_place(epsilon: Fraction) -> None:
    listed = gazetteer()
    for true in range(4):
        chance = KeyedRandomness(b"k", str(true))
        found = Counter(near(chance, listed, true, epsilon) for _ in range(4000))
        assert set(found) == set(listed.names)
        assert found.most_common(1)[0][0] == listed.names[true]


def test_two_places_are_told_apart_by_no_more_than_their_distance() -> None:
    listed, epsilon = gazetteer(), Fraction(1)
    draws = 20_000
    rows = [
        Counter(near(KeyedRandomness(b"k", str(true), str(at)), listed, true, epsilon) for at in range(draws))
        for true in range(3)
    ]
    for one, other in product(range(3), repeat=2):
        bound = exp(listed.distance(one, other) / STEPS)
        for name, count in rows[one].items():
            if count > 400:
                assert count <= bound * rows[other][name] * 1.2


def test_the_candidates_are_not_cut_around_the_true_place(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(
        maker, "permute_and_flip", lambda chance, candidates, distance, epsilon: asked.append(candidates) or 0
    )
    of("Aston", "Deton", places=PlaceSettings(PLACES))
    assert asked == [4, 4]


def test_the_same_place_gets_the_same_in_any_spelling_and_its_parts_too() -> None:
    settings = PlaceSettings(PLACES)
    for _ in range(20):
        one, other, whole = of("Aston", "ASTON", "Aston, Deton", places=settings, epsilon=Fraction(1, 10))
        assert other == one.upper()
        assert whole.startswith(f"{one}, ")


def test_what_is_not_listed_hangs_on_nothing() -> None:
    draws = {
        name: Counter(of(name, places=PlaceSettings(PLACES))[0] for _ in range(300))
        for name in ("Nowhere", "Elsewhere")
    }
    for counts in draws.values():
        assert set(counts) == {place.name for place in PLACES}
        assert max(counts.values()) < 150


def test_a_postcode_keeps_its_form_alone() -> None:
    (made,) = of("28014 Nowhere", category="TERRITORIO", places=PlaceSettings(PLACES))
    assert made != "28014 Nowhere"
    (digits,) = of("28014", category="TERRITORIO")
    assert digits.isdecimal()
    assert len(digits) == 5


ADDRESSES = [
    # language, as it is written, what stands there
    ("English", "12 Oak Street, Boston", r"\d\d [A-Z]\w+ Street, {place}"),
    ("English", "Boston, MA 02115", r"{place}, {state} \d{{5}}"),
    ("English", "Boston MA 02115-1234", r"{place} {state} \d{{5}}-\d{{4}}"),
    ("English", "College Park, MD 20740", r"{place}, {state} \d{{5}}"),
    ("English", "St. Louis 63101", r"{place} \d{{5}}"),
    ("English", "Apt 4, Boston", r"Apt \d, {place}"),
    ("English", "London SW1A 1AA", r"{place} [A-Z]{{2}}\d[A-Z] \d[A-Z]{{2}}"),
    ("English", "02115", r"\d{{5}}"),
    ("Spanish", "28034 Madrid", r"\d{{5}} {place}"),
    ("Spanish", "28034-Madrid", r"\d{{5}}-{place}"),
    ("Spanish", "E-28034 MADRID", r"[A-Z]-\d{{5}} {place}"),
    ("Spanish", "Calle Mayor 12, 28034 Madrid", r"Calle [A-ZÁ][\w ]+ \d\d, \d{{5}} {place}"),
    ("Spanish", "28701 San Nadie de los Montes", r"\d{{5}} {place}"),
]


@pytest.mark.parametrize("category", ["GEOGRAPHIC", "LOCATION", "TERRITORIO"])
@pytest.mark.parametrize(("language", "text", "form"), ADDRESSES)
def test_an_address_in_one_category_reads_like_one(category: str, language: str, text: str, form: str) -> None:
    """Of many schemes towns, streets and postcodes are of one category."""
    listed = Atlas(PlaceSettings()).level("place", language)
    assert listed is not None
    place = "(?i:" + "|".join(map(re.escape, listed.names)) + ")"
    pattern = form.format(place=place, state="(?:" + "|".join(word_lists("English", "states")) + ")")
    for _ in range(10):
        made = replaced(text, category=category, language=language)
        assert re.fullmatch(pattern, made)


def test_the_town_beside_a_postcode_is_the_town_of_the_note_and_paid_once() -> None:
    for _ in range(20):
        alone, beside, other = of("Boston", "Boston, MA 02115", "02115 BOSTON", category="GEOGRAPHIC")
        assert beside.startswith(f"{alone}, ")
        assert other == f"{beside[-5:]} {alone.upper()}"
    text = "Boston, MA 02115, 12 Oak Street"
    note = Document("n", text, (Annotation(0, len(text), "GEOGRAPHIC"),))
    budget = Surrogates(SurrogateSettings(language="English")).replace(note).budget
    assert (budget.entities, budget.spent) == (1, Fraction(1))


def test_every_state_is_drawn_for_a_state() -> None:
    states = word_lists("English", "states")
    assert {of("MA", category="STATE")[0] for _ in range(900)} == set(states)
    places = (*PLACES, Place("MA", 50.0, 1.0))
    assert {of("MA", places=PlaceSettings(places))[0] for _ in range(60)} <= {place.name.upper() for place in places}


def test_the_shipped_list_has_all_levels_in_all_languages_and_no_name_twice() -> None:
    atlas = Atlas(PlaceSettings())
    for language in ("English", "Spanish", "French"):
        for level in ("place", "region", "country"):
            listed = atlas.level(level, language)
            assert listed is not None
            assert len(listed.names) >= 10
            assert len(set(listed.names)) == len(listed.names)
    assert len(shipped_places()) > 300


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,latitude\nA,1\n", "columns name, latitude and longitude"),
        ("name,latitude,longitude\nA,1,1\n", "2 to"),
        ("name,latitude,longitude\nA,1,1\nB,91,1\n", "line 3"),
        ("name,latitude,longitude\nA,1,1\n,1,1\n", "line 3"),
        ("name,latitude,longitude,people\nA,1,1,2\nB,1,1,many\n", "line 3: expected a number"),
        ("name,latitude,longitude,people\nA,1,1,2\nB,1,1,nan\n", "line 3"),
        ("name,latitude,longitude,level\nA,1,1,place\nB,1,1,planet\n", "line 3"),
        ("", "got none"),
    ],
)
def test_a_list_that_is_no_list_of_places_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text(text)
    with pytest.raises(ConfigurationError, match=said):
        read_places(tmp_path / "places.csv")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_list_of_a_hospital_is_read(mark: str, tmp_path: Path) -> None:
    """Excel puts a mark of the order of bytes ahead of what it writes as UTF-8."""
    (tmp_path / "p.csv").write_text(f"{mark}name,latitude,longitude,radon\nAlba,40,1,3\nBeta,41,2,5\n")
    places = read_places(tmp_path / "p.csv")
    assert [place.name for place in places] == ["Alba", "Beta"]
    assert places[1].features == {"radon": 5.0}


def test_of_a_level_with_one_place_nothing_is_drawn() -> None:
    lonely = (*PLACES, Place("Eton", 50.0, 1.0, level="country"), Place("Feton", 50.0, 1.0, language="English"))
    places = PlaceSettings(lonely)
    assert Atlas(places).level("country", "English") is None
    assert {of("Feton", places=places)[0] for _ in range(60)} != {"Feton"}
    assert {of("Eton", category="COUNTRY", places=places)[0] for _ in range(20)} <= {one.name for one in PLACES} | {
        "Feton"
    }
    assert of("Eton", category="COUNTRY", places=PlaceSettings(lonely[4:5])) == ["[COUNTRY]"]

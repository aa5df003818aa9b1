"""Lists of a hospital's country: what they find beside all else, how sure it is, and what they leave alone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

import pytest
from faker.providers.address import pl_PL as polish_places
from faker.providers.person import pl_PL as polish
from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.generate.notes import generate_notes
from shared.labels import HIDDEN, LabelScheme, load_scheme
from shared.patterns.given_names import GivenLists, GivenNames
from shared.patterns.kinds import Suspicion
from shared.patterns.names import NameLists
from shared.pipeline.forgotten.blinding import STAND_IN
from shared.pipeline.forgotten.checker import HIDE_ABOVE, Checker

ENGLISH, SPANISH = load_scheme("i2b2_2014"), load_scheme("meddocan")
GIVEN = GivenNames(
    ["Kowalska", "NOWAK", "O'Quillen", "Xin", "Hospital", "Alta", STAND_IN],
    [
        "San Sebastián de los Reyes",
        "Coruña, A",
        "Rozas de Madrid (Las)",
        "Palmas, Las",
        "Alicante/Alacant",
        "Saint-Denis",
        "L'Hospitalet de Llobregat",
        "Łódź",
        "Getafe",
        "Reading",
    ],
    [
        "Calle Mayor",
        "RUE DE LA PAIX",
        "Main Street",
        "Hauptstraße",
        "DOCTOR FLEMING, AVENIDA DEL",
        "Gran Vía de Múgica",
        "Mickiewicza",
        "Central",
        "Calle 5",
        "Calle",
    ],
)
LISTS = NameLists(ENGLISH, given=GIVEN)


def own(text: str, least: float = 0.0) -> list[tuple[str, str, float]]:
    """What the given lists find, the surest alone of what begins at one place."""
    found = [one for one in LISTS.find(text) if one.source.startswith("hospital's list of ") and one.certainty >= least]
    found = [
        one
        for one in found
        if not any(
            other != one and other.certainty >= one.certainty and other.start <= one.start and one.end <= other.end
            for other in found
        )
    ]
    return [(text[one.start : one.end], one.category, one.certainty) for one in found]


@pytest.mark.parametrize(
    ("text", "phi", "category", "certainty"),
    [
        # One word by itself is doubtful, more so where it has its capital whatever it is.
        ("seen with Kowalska today", "Kowalska", "PATIENT", 0.55),
        ("seen with KOWALSKA today", "KOWALSKA", "PATIENT", 0.55),
        ("Kowalska came", "Kowalska", "PATIENT", 0.35),
        ("seen with Ms O'Quillen", "O'Quillen", "PATIENT", 0.55),
        ("seen by Kowalska Zwiebelfisch", "Kowalska Zwiebelfisch", "PATIENT", 0.9),
        ("seen by Kowalska M. Nowak", "Kowalska M. Nowak", "PATIENT", 0.9),
        ("seen by Kowalska, Brittany", "Kowalska, Brittany", "PATIENT", 0.9),
        ("seen by KOWALSKA NOWAK TODAY", "KOWALSKA NOWAK", "PATIENT", 0.9),
        # What a dictionary has says little.
        ("seen at the Hospital today", "Hospital", "PATIENT", 0.35),
        ("seen with XIN today", "XIN", "PATIENT", 0.35),
        # Places, with their articles, both names, and blanks and hyphens that nobody writes alike.
        ("viene de San Sebastian de los Reyes hoy", "San Sebastian de los Reyes", "CITY", 0.9),
        ("viene de SAN SEBASTIÁN DE LOS REYES", "SAN SEBASTIÁN DE LOS REYES", "CITY", 0.9),
        ("viene de A Coruña hoy", "A Coruña", "CITY", 0.55),
        ("viene de la Coruña hoy", "Coruña", "CITY", 0.55),
        ("vive en Las Rozas de Madrid", "Las Rozas de Madrid", "CITY", 0.9),
        ("vive en Las Palmas ahora", "Las Palmas", "CITY", 0.55),
        ("vive en Alacant ahora", "Alacant", "CITY", 0.55),
        ("habite à Saint Denis", "Saint Denis", "CITY", 0.9),
        ("habite à St-Denis", "St-Denis", "CITY", 0.9),
        ("vive en Hospitalet de Llobregat", "Hospitalet de Llobregat", "CITY", 0.9),
        ("mieszka w Łódź", "Łódź", "CITY", 0.55),
        ("mieszka w Lodz", "Lodz", "CITY", 0.55),
        ("lives in Reading now", "Reading", "CITY", 0.55),
        # A street is sure with what streets are called, or with its number, and then all of it is one.
        ("vive en Calle Mayor", "Calle Mayor", "STREET", 0.9),
        ("vive en calle mayor 12, 3A", "calle mayor 12, 3A", "STREET", 0.9),
        ("vive en C/ Mayor, s/n", "C/ Mayor, s/n", "STREET", 0.9),
        ("habite 12 bis, rue de la Paix, Paris", "12 bis, rue de la Paix", "STREET", 0.9),
        ("habite rue de la paix 7", "rue de la paix 7", "STREET", 0.9),
        ("lives in Main Street.", "Main Street", "STREET", 0.9),
        ("lives at 12 main street", "12 main street", "STREET", 0.9),
        ("wohnt Hauptstraße 12b", "Hauptstraße 12b", "STREET", 0.9),
        ("wohnt Hauptstr. 12", "Hauptstr. 12", "STREET", 0.9),
        ("wohnt HAUPTSTRASSE 12", "HAUPTSTRASSE 12", "STREET", 0.9),
        ("vive en Avda. Dr. Fleming, 3", "Avda. Dr. Fleming, 3", "STREET", 0.9),
        ("vive en Gran Vía de Múgica", "Gran Vía de Múgica", "STREET", 0.9),
        ("mieszka ul. Mickiewicza 12/3", "ul. Mickiewicza 12/3", "STREET", 0.9),
        ("mieszka Mickiewicza 12", "Mickiewicza 12", "STREET", 0.9),
        ("mieszka przy Mickiewicza teraz", "Mickiewicza", "STREET", 0.35),
        ("CANALIZADA VIA CENTRAL", "VIA CENTRAL", "STREET", 0.35),
    ],
)
def test_what_is_listed_is_found(text: str, phi: str, category: str, certainty: float) -> None:
    assert own(text) == [(phi, category, certainty)]


@pytest.mark.parametrize(
    "text",
    [
        "kowalska nowak, hospital alta",
        "Hospital admission. Alta",
        "una vía central",
        "la paix est belle",
        "getafe",
        "grado Mayor 12 mg",
        f"{STAND_IN} Ingresa hoy",
        "Calle 5",
    ],
)
def test_what_is_no_name_there_is_not_probable(text: str) -> None:
    assert not own(text, HIDE_ABOVE)


@pytest.mark.parametrize(
    "written",
    [
        "San\u00a0Sebastián\tde los Reyes",
        "San Se\u00adbastián de los\u200b Reyes",
        "San Sebastia\u0301n de los Reyes",
        "San Sebasti&aacute;n de los Reyes",
        "Ｓan Sebastián de los Reyes",
    ],
)
def test_a_place_is_found_however_a_note_writes_it(written: str) -> None:
    assert (written, "CITY", 0.9) in own(f"viene de {written} hoy")


def test_a_street_that_a_line_end_parts_is_found() -> None:
    text = "El paciente ingresa por dolor y fiebre y vive en la calle San Sebastián\nMayor 3 desde hace años."
    lists = NameLists(SPANISH, given=GivenNames(streets=["Calle de San Sebastián Mayor"]))
    assert "calle San Sebastián\nMayor 3" in {text[one.start : one.end] for one in lists.find(text)}


@pytest.mark.parametrize(
    ("categories", "street"),
    [
        (("PATIENT", "STREET", "LOCATION"), "STREET"),
        (("Calle",), "Calle"),
        (("NAME", "ADDRESS", "LOCATION"), "ADDRESS"),
        (("NAME", "LOCATION"), "LOCATION"),
        (("NAME",), HIDDEN),
    ],
)
def test_a_street_has_the_category_that_the_scheme_has_for_it(categories: tuple[str, ...], street: str) -> None:
    one, *_ = GivenLists(LabelScheme("own", categories), GivenNames(streets=["Calle Mayor"])).found(
        "Calle Mayor 3", 0, 13
    )
    assert one.category == street


def places(found: Iterable[Suspicion], least: float = HIDE_ABOVE) -> set[int]:
    return {place for one in found if one.certainty >= least for place in range(one.start, one.end)}


WORDS = st.sampled_from(
    "Kowalska Nowak Rosa Cruz García Madrid Carolina Mayor Central Reading Paix paciente the de 12 3A Calle Street visto".split()
)
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from([" ", ". ", ", ", "-", "\n"])), max_size=12).map(
    lambda pieces: "".join(word + behind for word, behind in pieces)
)
NAMES = st.lists(WORDS, max_size=4)


@given(TEXTS, NAMES, NAMES, NAMES, st.integers(0, 60), st.integers(1, 12))
def test_lists_take_nothing_away_from_what_is_found(
    text: str, people: list[str], towns: list[str], streets: list[str], start: int, length: int
) -> None:
    given = GivenNames(people, towns, streets)
    assert set(NameLists(SPANISH, given=given).find(text)) >= set(NameLists(SPANISH).find(text))
    label = Annotation(start, start + length, "CALLE")
    document = Document("n", text, (label,) if label.end <= len(text) else ())
    hidden = []
    for checker in (Checker(SPANISH), Checker(SPANISH, given=given)):
        [checked] = checker.check([document])
        hidden.append({place for place in places(checked.suspicions) if text[place].isalnum()})
    assert hidden[1] >= hidden[0]


@given(TEXTS, st.sampled_from(["Kowalska", "Calle Mayor 3", "x", "Zwiebelfisch"]))
def test_attack_a_labelled_name_on_a_list_decides_what_is_doubted(text: str, labelled: str) -> None:
    """What `encode` doubts is the same whether a label covers a listed name, or anything else."""
    checker = Checker(ENGLISH, given=GIVEN)
    doubts = []
    for name in (labelled, "Oxenthorpe"):
        document = Document(
            "n", f"{text} {name}. {text}", (Annotation(len(text) + 1, len(text) + 1 + len(name), "PATIENT"),)
        )
        [checked] = checker.check([document])
        doubts.append(
            [
                (one.start - len(document.text), one.end - len(document.text), one.certainty)
                for one in checked.suspicions
                if one.start > len(text)
            ]
        )
        doubts.append([(one.start, one.end, one.certainty) for one in checked.suspicions if one.end <= len(text)])
    assert doubts[:2] == doubts[2:]


@pytest.mark.parametrize(
    "piece", ["Kowalska ", "San Sebastián de los ", "Calle ", "12 Mayor ", "KOWALSKA de la ", "Kowalska J. "]
)
def test_attack_a_text_that_is_searched_again_and_again(piece: str) -> None:
    """What is found grows with the text, and so does the time: no stretch is looked through for every word of it."""
    lists = GivenLists(ENGLISH, GIVEN)
    for count in (100, 400):
        text = piece * count
        assert sum(one.end - one.start for one in lists.found(text, 0, len(text))) < 3 * len(text)


POLISH = (
    list(dict.fromkeys([*polish.Provider.first_names_male, *polish.Provider.first_names_female])),
    list(dict.fromkeys([*polish.Provider.unisex_last_names, *polish.Provider.male_last_names])),
    list(polish_places.Provider.cities),
    list(polish_places.Provider.streets),
)


def planted(count: int, seed: int) -> list[Document]:
    """Generated notes whose labelled people, towns and streets are Polish, which no list that ships knows."""
    chance = random.Random(seed)
    first, last, towns, streets = POLISH

    def drawn(category: str) -> str | None:
        if category in ("PATIENT", "DOCTOR"):
            return f"{chance.choice(first)} {chance.choice(last)}"
        if category == "CITY":
            return chance.choice(towns)
        return f"ul. {chance.choice(streets)} {chance.randint(1, 99)}" if category == "STREET" else None

    notes = []
    for note in generate_notes("en_harbor", count, seed):
        pieces: list[str] = []
        spans, end, place = [], 0, 0
        for span in note.annotations:
            name = drawn(span.category) or note.covered_text(span)
            pieces += note.text[end : span.start], name
            place += span.start - end
            spans.append(replace(span, start=place, end=place + len(name)))
            place, end = place + len(name), span.end
        notes.append(Document(note.identifier, "".join([*pieces, note.text[end:]]), tuple(spans)))
    return notes


def share_found(checker: Checker, notes: Iterable[Document], categories: set[str]) -> float:
    """Of forgotten labels of some categories, how many are hidden whole."""
    forgotten = hidden = 0
    for note in notes:
        gone = [span for span in note.annotations if span.category in categories]
        kept = tuple(span for span in note.annotations if span.category not in categories)
        [checked] = checker.check([replace(note, annotations=kept)])
        covered = places(checked.suspicions)
        forgotten += len(gone)
        hidden += sum(
            all(place in covered for place in range(span.start, span.end) if note.text[place].isalnum())
            for span in gone
        )
    assert forgotten
    return hidden / forgotten


def test_power_lists_of_a_country_find_its_people_towns_and_streets() -> None:
    """Three in four of each list are given, as no list has all."""
    notes = planted(40, 1)
    chance = random.Random(0)
    first, last, towns, streets = (chance.sample(names, 3 * len(names) // 4) for names in POLISH)
    given = GivenNames([*first, *last], towns, streets)
    for categories, least, most in (({"PATIENT", "DOCTOR"}, 0.9, 0.8), ({"CITY", "STREET"}, 0.6, 0.1)):
        without, beside = (
            share_found(one, notes, categories) for one in (Checker(ENGLISH), Checker(ENGLISH, given=given))
        )
        assert beside >= least
        assert without <= most


def test_correct_notes_have_few_doubts_more() -> None:
    notes = planted(40, 2)
    first, last, towns, streets = POLISH
    given = GivenNames(
        [*first, *last, "Hospital", "Alta", "Left", "Blood"], [*towns, "Reading", "Nice"], [*streets, "Mayor", "North"]
    )
    plain, beside = (
        sum(one.certainty >= HIDE_ABOVE for checked in checker.check(notes) for one in checked.suspicions)
        for checker in (Checker(ENGLISH), Checker(ENGLISH, given=given))
    )
    assert beside <= 1.2 * plain + 3


def test_counts_are_shown_and_names_are_not() -> None:
    assert repr(GIVEN) == "GivenNames({'people': 7, 'places': 10, 'streets': 10})"
    assert not GivenNames()

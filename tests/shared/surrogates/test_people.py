"""Names of people: one word for one word, the same for the same, whatever form a note gives them."""

from __future__ import annotations

from collections import Counter

import pytest

from shared.document import Annotation, Document
from shared.surrogates.people.lists import GENDERS, lists
from shared.surrogates.replacing import Surrogates
from shared.surrogates.settings import NameSettings, SurrogateSettings
from shared.surrogates.spelling import folded


def of(
    *spans: str, category: str = "PATIENT", language: str = "English", names: NameSettings | None = None
) -> list[str]:
    text, annotations = "", []
    for span in spans:
        annotations.append(Annotation(len(text), len(text) + len(span), category))
        text += span + " | "
    settings = SurrogateSettings(language=language, names=names or NameSettings())
    return [one.surrogate for one in Surrogates(settings).replace(Document("n", text, tuple(annotations))).mapping]


def test_every_form_of_a_name_is_of_one_person() -> None:
    full, turned, last, capitals, short, first = of("Mary Smith", "Smith, Mary", "Smith", "SMITH", "M. Smith", "mary")
    given, family = full.split()
    assert turned == f"{family}, {given}"
    assert (last, capitals) == (family, family.upper())
    assert short == f"{given[0]}. {family}"
    assert first == given.lower()


def test_spanish_names_have_two_surnames_and_particles_go_with_them() -> None:
    full, both, one = of(
        "Ana García Pérez", "García Pérez", "garcia", category="NOMBRE_SUJETO_ASISTENCIA", language="Spanish"
    )
    assert full.split()[1:] == both.split()
    assert one == both.split()[0].lower()
    (particle,) = of("María de la Fuente", category="NOMBRE_SUJETO_ASISTENCIA", language="Spanish")
    assert "de la" not in particle


def test_a_surname_that_is_a_particle_elsewhere_is_a_surname() -> None:
    made = [of("Anh Le")[0].split() for _ in range(20)]
    assert {len(words) for words in made} == {2}
    # It is one of the thousand that are drawn, so that any one draw may be the true one.
    assert {family for _, family in made} != {"Le"}


def test_a_title_stays_and_the_name_behind_it_goes() -> None:
    (made,) = of("Dr. Okonkwo")
    assert made.startswith("Dr. ")
    assert "Okonkwo" not in made


@pytest.mark.parametrize("gender", GENDERS)
def test_a_given_name_gets_one_of_its_gender(gender: str) -> None:
    known = lists().by_culture["English"].given[gender]
    for name in known[:30]:
        (made,) = of(f"{name} Zzyzx")
        assert made.split()[0] in known


def test_initials_and_culture_are_kept_where_that_is_asked_for() -> None:
    for _ in range(10):
        (made,) = of("Mary Smith", names=NameSettings(initials=True))
        assert [word[0] for word in made.split()] == ["M", "S"]
        (french,) = of("Thibault Lefèvre", names=NameSettings(culture=True))
        assert french.split()[1] in lists().by_culture["French"].family


def test_names_are_drawn_uniformly_and_may_be_the_true_one() -> None:
    family = lists().by_culture["English"].family
    drawn = Counter(of("Smith")[0] for _ in range(3000))
    assert set(drawn) <= set(family)
    assert len(drawn) > 0.7 * min(len(family), 3000)
    assert drawn.most_common(1)[0][1] < 30


def test_two_people_of_a_note_stay_two() -> None:
    surnames = [f"Name{letter}{other}" for letter in "abcdef" for other in "ghijkl"]
    made = of(*surnames)
    assert len(set(made)) == len(made)


def test_kinship_gets_kinship_and_a_relative_a_name() -> None:
    made = {of("madre", category="FAMILIARES_SUJETO_ASISTENCIA", language="Spanish")[0] for _ in range(40)}
    assert len(made) > 3
    assert "padre" not in made
    (named,) = of("Lina Xaquín", category="FAMILIARES_SUJETO_ASISTENCIA", language="Spanish")
    assert "Xaquín" not in named


@pytest.mark.parametrize("text", ["A1", "...", "Anna 2"])
def test_what_is_no_name_is_redacted(text: str) -> None:
    assert of(text) == ["[PATIENT]"]


@pytest.mark.parametrize("text", ["Dr. MD", "Mr Jr.", "Prof, PhD"])
def test_titles_without_a_name_are_redacted(text: str) -> None:
    assert of(text) == ["[PATIENT]"]


def test_an_initial_that_one_name_alone_has_gives_it_not_away() -> None:
    family = lists().by_culture["English"].family
    first = Counter(folded(name)[0] for name in family)
    alone = [name for name in family if first[folded(name)[0]] == 1]
    assert alone
    for name in alone:
        made = {of(name, names=NameSettings(initials=True))[0] for _ in range(20)}
        assert made != {name}


@pytest.mark.parametrize("initials", [False, True])
def test_an_initial_is_the_same_in_every_note_of_a_patient(initials: bool) -> None:
    """It hung on the name that its note said beside it: "J. Smith" was two people where one note had "John", too."""
    settings = SurrogateSettings(language="English", names=NameSettings(initials=initials))
    for key in range(8):
        made = []
        for order in (("full", "short"), ("short", "full")):
            of_patient = Surrogates(settings, patients={"full": "p", "short": "p"}, key=bytes([key] * 32))
            notes = {"full": ("John Smith", "J. Smith"), "short": ("J. Smith",)}
            made += [replaced(of_patient, note, *notes[note])[-1] for note in order]
        assert len(set(made)) == 1
        assert made[0].startswith("J. ") or not initials


def replaced(surrogates: Surrogates, note: str, *spans: str) -> list[str]:
    text, annotations = "", []
    for span in spans:
        annotations.append(Annotation(len(text), len(text) + len(span), "PATIENT"))
        text += span + " | "
    return [one.surrogate for one in surrogates.replace(Document(note, text, tuple(annotations))).mapping]

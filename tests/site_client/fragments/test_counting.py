"""Which phrases may leave: those that enough patients have, that touch no PHI anywhere, and whose words are public."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.share.fragments import fragment_body
from shared.anonymity.shipped_lists import shipped_lists
from shared.document import Annotation, Document
from site_client.fragments.counting import Copies, Owned, PhraseCounts, touches
from site_client.fragments.joining import join_phrases, texts_of
from site_client.fragments.phrases import Kind, Phrase, ShallowParser
from site_client.fragments.words import may_stand

LEAST = 3


class Nouns(ShallowParser):
    """Takes every sentence for one noun chunk."""

    name = "nouns"

    def parse(self, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        return [("NN", "I-NP" if place else "B-NP") for place in range(len(words))]


def counted(
    documents: Sequence[Document],
    least: int = LEAST,
    patients: dict[str, str] | None = None,
    hidden: frozenset[str] = frozenset(),
    seed: int = 0,
) -> PhraseCounts:
    counts = PhraseCounts(
        Nouns(),
        lambda words: [word not in hidden for word in words],
        least,
        random.Random(seed),
        Copies(patients or {}),
    )
    for document in documents:
        counts.add(document)
    return counts


def texts(counts: PhraseCounts) -> set[str]:
    return {one.text for one in counts.kept()}


def notes(*lines: str) -> list[Document]:
    return [Document(str(number), line) for number, line in enumerate(lines)]


def test_a_phrase_of_too_few_notes_stays() -> None:
    assert texts(counted(notes("chest pain", "chest pain", "dry cough"))) == set()
    assert texts(counted(notes("chest pain", "chest pain", "dry cough", "chest pain"))) == {"chest pain"}


def test_a_note_that_says_it_often_counts_once() -> None:
    assert texts(counted(notes("chest pain\n\n" * 9, "chest pain"))) == set()


def test_notes_of_one_patient_count_once() -> None:
    documents = notes(*["chest pain"] * 9)
    whose = {document.identifier: f"P{number % 2}" for number, document in enumerate(documents)}
    assert texts(counted(documents, patients=whose)) == set()
    whose["8"] = "P2"
    assert texts(counted(documents, patients=whose)) == {"chest pain"}


def test_copies_of_a_note_count_once() -> None:
    """A note that is carried on from day to day holds most of the one before."""
    body = "we found one long sentence of a single patient here today.\n"
    first = f"{body}another one that nobody else would ever write like this.\n"
    copies = [f"{first}day number {word}\n" for word in ("one", "two", "three", "four")]
    assert texts(counted(notes(*copies))) == set()
    # The same phrases in notes that are otherwise of their own count as often as they stand there.
    own = [f"single patient\n\n{word} {word} and all that one may say of {word} here now.\n" for word in "uvwxyz"]
    assert "single patient" in texts(counted(notes(*own)))


def test_attack_versions_of_a_note_of_short_lines_count_as_many() -> None:
    """A ward note in the style of a telegram, carried on for ten days with another pulse: it is one patient's."""
    lines = "seen on the ward round.\nhusband still in prison.\npoisoned by her mother.\nlost a child in spring.\nhas a glass eye.\nno fever.\n"
    days = [f"{lines}pulse {number}.\n" for number in range(60, 70)]
    counts = counted(notes(*days))
    assert (counts.owners, texts(counts)) == (1, set())


@pytest.mark.parametrize("words", [12, 24, 60])
def test_attack_sentences_of_a_long_note_make_another(words: int) -> None:
    dice = random.Random(words)
    said = [" ".join(f"w{dice.randrange(400)}" for _ in range(12)) + ".\n" for _ in range(30)]
    for _ in range(20):
        copied = "".join(dice.sample(said, words // 12))
        assert counted(notes("".join(said), copied)).owners == 1


def test_what_touches_phi_in_one_note_leaves_from_none() -> None:
    documents = notes(*["may flower"] * 8)
    documents[5] = replace(documents[5], annotations=(Annotation(4, 10, "PATIENT"),))
    assert texts(counted(documents)) == set()
    documents[5] = replace(documents[5], annotations=())
    assert texts(counted(documents)) == {"may flower"}


STREETS = {
    "as it stands there": "Market Street",
    "over the end of a line": "Market\nStreet",
    "with a blank that does not break": "Market\u00a0Street",
    "with a hyphen": "Market-Street",
    "with an accent": "M\u00e1rket Street",
    "with an accent apart": "Ma\u0301rket Street",
    "in capitals": "MARKET STREET",
    "with more": "12 Market Street, Springfield",
    "with a blank without width": "Market\u200b Street",
}


@pytest.mark.parametrize("written", STREETS)
def test_attack_what_is_labelled_in_one_note_leaves_with_other_words_beside_it(written: str) -> None:
    """A street of one note, unlabelled in ten others and in company that it does not have there."""
    label = STREETS[written]
    (labelled,) = notes(f"lives at {label} now")
    labelled = replace(labelled, annotations=(Annotation(9, 9 + len(label), "STREET"),))
    others = [replace(one, identifier=f"o{one.identifier}") for one in notes(*["the market street clinic"] * 8)]
    assert "the market street clinic" in texts(counted(others))
    left = texts(counted([labelled, *others]))
    assert left == {"street clinic"}


def test_what_is_only_possible_leaves_with_other_words_beside_it() -> None:
    (doubted,) = notes("has chest pain")
    doubted = replace(doubted, annotations=(Annotation(4, 14, "STREET"),))
    others = [replace(one, identifier=f"o{one.identifier}") for one in notes(*["severe chest pain"] * 8)]
    counts = counted(others)
    counts.add(doubted, sure=())
    assert texts(counts) == {"severe chest pain"}


class Never(ShallowParser):
    """Finds no phrase in a note that has a word of its."""

    name = "never"

    def parse(self, words: Sequence[str]) -> Sequence[tuple[str, str]]:
        return [("NN", "O") for _ in words] if "elsewhere" in words else Nouns().parse(words)


def test_phi_counts_where_the_parser_sees_no_phrase() -> None:
    documents = notes(*["may flower"] * 8, "elsewhere may flower")
    documents[8] = replace(documents[8], annotations=(Annotation(10, 13, "PATIENT"),))
    counts = PhraseCounts(Never(), lambda words: [True] * len(words), LEAST, random.Random(0), Copies({}))
    for document in documents:
        counts.add(document)
    assert texts(counts) == set()


def test_what_people_do_for_a_living_stays() -> None:
    words = ["a", "beekeeper", "zzyzx", "lung"]
    assert may_stand(words, shipped_lists()) == [True, False, False, True]


def test_a_word_on_no_list_stays() -> None:
    documents = notes(*["larkspur infirmary ward"] * 5)
    assert texts(counted(documents, hidden=frozenset({"larkspur"}))) == {"infirmary ward"}


def test_the_owner_is_any_of_those_that_have_it() -> None:
    """Else the first note that has a phrase would be the one that it is of."""
    documents = notes(*["chest pain"] * 8)
    drawn = Counter(counted(documents, seed=seed).kept()[0].owner for seed in range(400))
    assert set(drawn) == set(range(8))
    assert max(drawn.values()) < 100


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 6)), max_size=5)


@given(SPANS, st.integers(0, 40), st.integers(1, 8))
def test_touching_is_sharing_a_character(stated: list[tuple[int, int]], start: int, length: int) -> None:
    spans, end = [], 0
    for begin, size in sorted(stated):
        if begin >= end:
            spans.append(Annotation(begin, begin + size, "A"))
            end = begin + size
    characters = {place for span in spans for place in range(span.start, span.end)}
    phrase = Phrase(Kind.NOUN, "a b", start, start + length)
    assert touches(phrase, spans) == bool(characters & set(range(start, start + length)))


OWNED = st.builds(
    Owned,
    st.sampled_from(list(Kind)),
    st.text("abcd", min_size=1, max_size=4).map("a {}".format),
    st.integers(0, 6),
    st.just(10),
)


@given(st.lists(OWNED, max_size=60, unique_by=lambda one: one.text), st.integers(0, 99))
def test_a_line_is_of_four_patients_and_how_often_a_phrase_is_said_tells_nothing_of_it(
    phrases: list[Owned], seed: int
) -> None:
    lines = join_phrases(phrases, random.Random(seed))
    for line in lines:
        assert [one.kind for one in line] == [Kind.NOUN, Kind.NOUN, Kind.VERB, Kind.VERB]
        assert len({one.owner for one in line}) == 4
    said = [Counter(text for line in texts_of(lines) for text in line[start : start + 2]) for start in (0, 2)]
    assert set(said[0]) | set(said[1]) <= {one.text for one in phrases}
    assert not set(said[0]) & set(said[1])
    for counts in said:
        assert not counts or max(counts.values()) - min(counts.values()) <= 1
    assert not lines or min(max(counts.values()) for counts in said) == 1
    # What is written is what is read again.
    assert not lines or fragment_body(texts_of(lines))


@pytest.mark.parametrize(("nouns", "verbs", "lines"), [(40, 10, 20), (10, 40, 20), (12, 12, 6), (40, 1, 0), (40, 0, 0)])
def test_the_fewer_phrases_fill_the_lines_of_the_others(nouns: int, verbs: int, lines: int) -> None:
    """Noun phrases are twice as many as verb phrases, and half of them stayed here for want of verbs."""
    counts = {Kind.NOUN: nouns, Kind.VERB: verbs}
    phrases = [Owned(kind, _named(kind, at), at, 10) for kind, many in counts.items() for at in range(many)]
    made = join_phrases(phrases, random.Random(0))
    assert len(made) == lines
    said = Counter(one.text for line in made for one in line)
    for kind, many in counts.items():
        if lines:
            assert {said[_named(kind, at)] for at in range(many)} <= {2 * lines // many, -(-2 * lines // many)}


def _named(kind: Kind, at: int) -> str:
    return f"{kind.lower()} {chr(97 + at // 26)}{chr(97 + at % 26)}"


def test_lines_are_joined_and_shuffled_by_chance() -> None:
    phrases = [Owned(kind, f"{kind} {number}", number, 10) for kind in Kind for number in range(8)]
    drawn = {tuple(texts_of(join_phrases(phrases, random.Random(seed)))) for seed in range(20)}
    assert len(drawn) == 20
    assert {len(lines) for lines in drawn} <= {3, 4}


def test_what_one_owner_has_alone_is_no_line() -> None:
    phrases = [Owned(kind, f"{kind} {number}", 1, 10) for kind in Kind for number in range(8)]
    assert join_phrases(phrases, random.Random(0)) == []


def test_nothing_of_a_note_is_in_a_repr() -> None:
    assert "chest" not in repr(counted(notes(*["chest pain"] * 5)).kept())
    assert "chest" not in repr(Phrase(Kind.NOUN, "chest pain", 0, 10))

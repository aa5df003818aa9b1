"""Augmented copies: what an edit may change, what it never changes, and how many copies a pass holds."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.augment.augmentation import METHODS, Augmentation, AugmentedSource, Edit
from shared.augment.context import Context
from shared.augment.drawn.kinds import kinds_of
from shared.augment.drawn.people import people_of
from shared.augment.entities import entities_of, read_entities
from shared.augment.recasing import Recasing
from shared.augment.shorthand import Shorthand
from shared.augment.wordnet import read_wordnet
from shared.errors import ConfigurationError
from shared.labels import UNKNOWN_TAG, LabelScheme, load_scheme, tag_spans
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes
from shared.text.tokens import tokenise
from tests.shared.augment.dictionary import write_wordnet

SCHEME = load_scheme("i2b2_2014")
OTHER = SCHEME.category_index["OTHER"]
LOWER = "she reported severe knee pain at st. anne's on 29-oct-07 ; jane doe quietly stopped".split()


@pytest.fixture(scope="module")
def edits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Edit]:
    wordnet = read_wordnet(write_wordnet(tmp_path_factory.mktemp("data") / "wordnet"))
    return {
        "phi": entities_of(SCHEME),
        "context": Context(wordnet, 0.9, 0.5),
        "shorthand": Shorthand(1.0),
        "recase": Recasing(1.0),
    }


def tags_of(*spans: tuple[int, int, str], tokens: int) -> list[int]:
    tags = [0] * tokens
    for start, end, category in spans:
        number = SCHEME.category_index[category]
        tags[start:end] = [2 * number + 1] + [2 * number + 2] * (end - start - 1)
    return tags


def spans(tags: list[int]) -> list[tuple[int, int, int]]:
    return list(tag_spans(np.array(tags, dtype=np.uint8)))


SENTENCES = st.lists(
    st.tuples(
        st.sampled_from([*LOWER, "Report", "PAIN", "Washington", "İ", "ß", "12", ",", "TEST", "Stopped"]),
        st.sampled_from([0, 0, 0, 0, 1, 3, 9, 31, 2 * OTHER + 1, UNKNOWN_TAG]),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=12,
)


@given(sentence=SENTENCES, seed=st.integers(0, 999), name=st.sampled_from(METHODS))
@settings(max_examples=300, deadline=None)
def test_no_copy_loses_or_gains_phi(
    sentence: list[tuple[str, int, int]], seed: int, name: str, edits: dict[str, Edit]
) -> None:
    words, tags = [], []
    for word, tag, length in sentence:
        # A begun span goes on for as many tokens; whatever else is by itself.
        inside = [tag + 1] * (length - 1) if tag % 2 and tag != UNKNOWN_TAG else []
        words += [word] * (1 + len(inside))
        tags += [tag, *inside]
    before = list(words), list(tags)
    new_words, new_tags = edits[name](words, tags, Random(seed))
    assert (words, tags) == before
    assert len(new_words) == len(new_tags) >= 1
    assert all(new_words)
    assert [category for _, _, category in spans(new_tags)] == [category for _, _, category in spans(tags)]
    kept = [
        word for word, tag in zip(words, tags, strict=True) if tag in (0, UNKNOWN_TAG, 2 * OTHER + 1, 2 * OTHER + 2)
    ]
    left = [
        word
        for word, tag in zip(new_words, new_tags, strict=True)
        if tag in (0, UNKNOWN_TAG, 2 * OTHER + 1, 2 * OTHER + 2)
    ]
    if name == "phi":
        # Around PHI nothing changes; what no list is for stays, word for word, as does what nobody has labelled.
        assert left == kept
    elif name == "context":
        held = [(word, tag) for word, tag in zip(words, tags, strict=True) if tag]
        assert [(word, tag) for word, tag in zip(new_words, new_tags, strict=True) if tag] == held
    elif name == "shorthand":
        held = [(word.casefold(), tag) for word, tag in zip(words, tags, strict=True) if tag]
        assert [(word.casefold(), tag) for word, tag in zip(new_words, new_tags, strict=True) if tag] == held
    else:
        assert new_tags == tags
        assert [word.casefold() for word in new_words] == [word.casefold() for word in words]


def test_every_category_of_every_scheme_is_drawn_or_named_here() -> None:
    undrawn: dict[str, list[str]] = {}
    for name in ("i2b2_2014", "i2b2_2006", "hipaa", "meddocan"):
        scheme = load_scheme(name)
        edit = entities_of(scheme)
        for category, number in scheme.category_index.items():
            drawn = {tuple(edit(["Xqz"], [2 * number + 1], Random(seed))[0]) for seed in range(40)}
            if drawn == {("Xqz",)}:
                undrawn.setdefault(name, []).append(category)
            else:
                assert len(drawn) >= 5, f"{name} {category}: too little variety"
    assert undrawn == {"i2b2_2014": ["OTHER"], "hipaa": ["PHOTO"], "meddocan": ["OTROS_SUJETO_ASISTENCIA"]}


def test_spans_get_other_lengths_and_follow_capitals(edits: dict[str, Edit]) -> None:
    words, tags = ["Mr", "JOHN", "SMITH", "came"], tags_of((1, 3, "PATIENT"), tokens=4)
    made = [edits["phi"](words, tags, Random(seed)) for seed in range(60)]
    assert len({len(copy) for copy, _ in made}) >= 3
    for copy, copied in made:
        ((start, end, _),) = spans(copied)
        assert (copy[0], copy[-1]) == ("Mr", "came")
        assert not any(map(str.islower, copy[start:end]))


DATES = {
    r"\d{4}-\d\d-\d\d": "%Y-%m-%d",
    r"\d\d/\d\d/\d{4}": "%m/%d/%Y",
    r"[A-Z][a-z]{2,8} \d{1,2}, \d{4}": "%B %d, %Y",
    r"\d{1,2}-[A-Z][a-z]{2}-\d{4}": "%d-%b-%Y",
}


def test_dates_come_in_many_spellings_and_are_days_that_there_are() -> None:
    chance, kinds = Random(3), kinds_of("English")
    drawn = [kinds.draw("date", chance) for _ in range(4000)]
    shapes = {re.sub(r"[a-z]+", "a", re.sub(r"\d", "9", date)) for date in drawn}
    assert len(shapes) > 50
    for spelling in ("29-Oct-07", "27th of January", "2009", "'07", "10/2007", "29OCT2007", "Monday"):
        assert re.sub(r"[a-z]+", "a", re.sub(r"\d", "9", spelling)) in shapes, spelling
    seen = set()
    for date in drawn:
        for shape, form in DATES.items():
            if re.fullmatch(shape, date):
                if form == "%B %d, %Y" and len(date.split()[0]) == 3 and date.split()[0] != "May":
                    form = "%b %d, %Y"
                datetime.strptime(date, form)
                seen.add(shape)
    assert seen == set(DATES)


@pytest.mark.parametrize("language", ["English", "Spanish"])
def test_every_form_of_every_kind_can_be_filled(language: str) -> None:
    kinds, chance = kinds_of(language), Random(0)
    for kind in [*kinds.forms, *kinds.words]:
        for _ in range(300):
            drawn = kinds.draw(kind, chance)
            # Particles end in a blank, and are never drawn by themselves.
            assert kind == "prefix" or drawn.strip() == drawn
            assert drawn
            assert not set("{}") & set(drawn), kind
            assert 1 <= len(tokenise(drawn).words) <= 40


def test_names_are_of_many_cultures_and_may_do_without_fakers() -> None:
    people, own = people_of("English"), people_of("English", with_faker=False)
    surnames = {name for culture in (*people.own, *people.others) for name in culture.family}
    assert {"Smith", "Nguyen", "Okafor", "Hakobyan", "Begay", "Kaur", "Kovács", "Al-Masri"} <= surnames
    chance = Random(1)
    drawn = [people.family(people.culture(chance), chance) for _ in range(2000)]
    american = set(people.own[0].family)
    assert 0.2 < sum(name in american for name in drawn) / len(drawn) < 0.7
    assert len({name for culture in own.own for name in culture.given}) < 600
    assert own.others == ()


def test_a_list_of_ones_own_takes_the_place_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        'category,entity\nHOSPITAL,"St. Elsewhere, East"\nHOSPITAL,Mercy\n\nOTHER,blue moon\n', encoding="utf-8"
    )
    listed = read_entities(path)
    assert listed == {"HOSPITAL": ("St. Elsewhere, East", "Mercy"), "OTHER": ("blue moon",)}
    edit = entities_of(SCHEME, listed)
    number = SCHEME.category_index["HOSPITAL"]
    drawn = {" ".join(edit(["Xqz"], [2 * number + 1], Random(seed))[0]) for seed in range(30)}
    assert drawn == {"St . Elsewhere , East", "Mercy"}
    assert edit(["Xqz"], [2 * OTHER + 1], Random(0)) == (["blue", "moon"], [2 * OTHER + 1, 2 * OTHER + 2])
    with pytest.raises(ConfigurationError, match="no category"):
        entities_of(LabelScheme("one", ("CITY",)), listed)


@pytest.mark.parametrize(
    ("text", "place"),
    [("HOSPITAL\n", "line 1"), ("HOSPITAL,Mercy,x\n", "line 1"), ("HOSPITAL,Mercy\nCITY,\n", "line 2"), ("", ""), ('A,"b\n', ""), (f"A,{'x ' * 31}\n", "line 1")],
)  # fmt: skip
def test_a_list_in_another_form_is_told_by_its_line_and_not_quoted(text: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(text)
    with pytest.raises(ConfigurationError, match="expected lines CATEGORY,entity") as caught:
        read_entities(tmp_path / "own.csv")
    assert place in str(caught.value)
    assert "Mercy" not in str(caught.value)


def test_a_scheme_that_nobody_knows_keeps_its_words() -> None:
    scheme = LabelScheme("ours", ("PATIENT", "SHOE_SIZE"))
    assert entities_of(scheme)(["Ann", "44"], [1, 3], Random(0)) == (["Ann", "44"], [1, 3])


def test_synonyms_and_insertions_stand_where_they_fit(edits: dict[str, Edit]) -> None:
    words = "He reported the severe test".split()
    made = [" ".join(edits["context"](words, [0] * 5, Random(seed))[0]) for seed in range(200)]
    for copy in made:
        # An adverb ahead of a verb or an adjective, an adjective ahead of a noun, and nothing else.
        assert re.fullmatch(
            r"He ((slowly|silently) )?(reported|described) the ((slowly|silently) )?(severe|grave) ((severe|quiet) )?(test|trial)", copy
        ), copy  # fmt: skip
    assert len(set(made)) > 20
    # A capital inside of a sentence may begin a name; what is written in capitals stays so.
    assert edits["context"](["the", "Test", "Report"], [0, 0, 0], Random(1))[0] == ["the", "Test", "Report"]
    assert all(word.isupper() for word in edits["context"](["SEVERE", "TEST"], [0, 0], Random(2))[0])


def test_whole_sentences_are_recased_and_only_headers_get_a_capital_at_each_word() -> None:
    sentence, header = "Jane Doe came on 3 May to us .".split(), "Past Medical HISTORY".split()
    made = {tuple(Recasing(1.0)(sentence, [0] * 9, Random(seed))[0]) for seed in range(50)}
    assert made == {tuple(map(str.lower, sentence)), tuple(map(str.upper, sentence))}
    made = {tuple(Recasing(1.0)(header, [0] * 3, Random(seed))[0]) for seed in range(50)}
    assert made == {tuple(map(str.lower, header)), tuple(map(str.upper, header)), ("Past", "Medical", "History")}
    share = np.mean([Recasing()(sentence, [0] * 9, Random(seed))[0] != sentence for seed in range(2000)])
    assert share == pytest.approx(0.75, abs=0.03)


def test_in_haste_only_what_has_no_label_is_left_out_or_short() -> None:
    words = "The patient , The Left , was seen with a Right hip .".split()
    tags = tags_of((3, 5, "PATIENT"), tokens=len(words))
    made = [Shorthand(1.0)(words, tags, Random(seed)) for seed in range(5000)]
    texts = {" ".join(new_words) for new_words, _ in made}
    assert {"the left" in text.lower() for text in texts} == {True}
    assert {spans(new_tags)[0][2] for _, new_tags in made} == {SCHEME.category_index["PATIENT"]}
    assert "pt the left seen w / r hip" in texts
    # Small letters or those that there were, and never others.
    assert {text.islower() or "The Left" in text for text in texts} == {True}
    # Notes are cut the same way, or a head would learn of tokens that no note has.
    assert all(list(tokenise(text).words) == text.split() for text in texts)
    # A sentence of nothing but what is left out stays.
    assert all(Shorthand(1.0)(["The", "."], [0, 0], Random(seed))[0] for seed in range(50))
    share = np.mean([Shorthand()(words, tags, Random(seed))[0] != words for seed in range(2000)])
    assert share == pytest.approx(0.5, abs=0.03)
    with pytest.raises(ConfigurationError, match="shorthand in"):
        Shorthand(1.5)


def numbered(sentences: int) -> TokenisedSentences:
    words = [f"w{number}" for number in range(2 * sentences)]
    return TokenisedSentences(words, np.tile(np.array([0, 1], np.uint8), sentences), np.full(sentences, 2))


def doubled(words: list[str], tags: list[int], chance: Random) -> tuple[list[str], list[int]]:
    return [*words, "x"], [*tags, 0]


def test_a_pass_holds_as_many_altered_as_other_sentences_by_default() -> None:
    chunk = TokenisedSentences(["Ab", "."] * 6000, np.zeros(12000, np.uint8), np.full(6000, 2))
    mixed = Augmentation((Recasing(),)).mix(chunk, np.random.default_rng(0))
    assert np.mean([word != "Ab" for word in mixed.words[::2]]) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("alpha", [1, 2, 4])
def test_alpha_is_the_number_of_copies_for_each_sentence(alpha: int) -> None:
    chunk, augmentation = numbered(4000), Augmentation((doubled,), alpha)
    mixed = augmentation.mix(chunk, np.random.default_rng(1))
    assert np.mean(mixed.lengths == 3) == pytest.approx(alpha / (alpha + 1), abs=0.03)
    # Copies lie where their sentences lay.
    assert [words[0] for words, _ in mixed.split()] == chunk.words[::2]
    copies = list(augmentation.copies([chunk], 1))
    assert sum(copy.sentences for copy in copies) == alpha * chunk.sentences


def test_copies_are_of_sentences_with_phi_alone_and_the_same_for_the_same_seed() -> None:
    chunk = TokenisedSentences(["a", "Jane", "b", "c"], np.array([0, 1, 0, 0], np.uint8), np.array([2, 2]))
    augmentation = Augmentation((entities_of(LabelScheme("i2b2_2014", SCHEME.categories)),), 3)
    first, again = (list(augmentation.copies([chunk], 7)) for _ in range(2))
    assert [copy.words for copy in first] == [copy.words for copy in again]
    assert [copy.words[0] for copy in first] == ["a", "a", "a"]
    assert len({tuple(copy.words) for copy in first}) > 1


def test_a_sentence_with_a_span_that_nobody_labelled_stays() -> None:
    chunk = TokenisedSentences(
        ["Ann", "came", "Bob"], np.array([1, 0, 1], np.uint8), np.array([2, 1]), np.array([True, False, False])
    )
    altered = Augmentation((doubled,)).alter(chunk, np.random.default_rng(0))
    assert altered.words == ["Ann", "came", "Bob", "x"]
    assert altered.are_doubtful.tolist() == [True, False, False, False]


@pytest.mark.parametrize("alpha", [0, -1, 17])
def test_an_alpha_that_cannot_be_is_refused(alpha: int) -> None:
    with pytest.raises(ConfigurationError, match="1 to 16 copies"):
        Augmentation((), alpha)
    with pytest.raises(ConfigurationError, match=r"share of recased copies"):
        Recasing(1.5)


def test_it_is_known_of_which_sentence_each_copy_is() -> None:
    chunks = [
        TokenisedSentences(["seen", "Ann", "Bob", "rests"], np.array([0, 1, 1, 0], np.uint8), np.array([1, 1, 1, 1])),
        TokenisedSentences(["sleeps"], np.array([0], np.uint8), np.array([1])),
        TokenisedSentences(["Eve", "again"], np.array([1, 0], np.uint8), np.array([1, 1])),
    ]
    as_they_are = Augmentation((), 2)
    words = [word for chunk in chunks for word in chunk.words]
    copied = [word for copy in as_they_are.copies(chunks, 0) for word in copy.words]
    assert (
        copied == [words[place] for place in as_they_are.originals(chunks).tolist()] == ["Ann", "Bob"] * 2 + ["Eve"] * 2
    )


def test_a_source_makes_copies_anew_in_every_pass_and_none_without_chance() -> None:
    chunk = numbered(40)

    def read(some: TokenisedSentences) -> RaggedSentences:
        rows = np.array([[len(word)] for word in some.words], dtype=np.float32)
        return RaggedSentences(rows, casing_classes(some.words), some.tags, some.lengths)

    source = AugmentedSource([chunk], read, Augmentation((doubled,), 1))
    assert (source.dim, source.sentences) == (1, 40)
    generator = np.random.default_rng(0)
    passes = [[batch.lengths.tolist() for batch in source.batches(8, generator)] for _ in range(2)]
    for lengths in passes:
        flat = [length for batch in lengths for length in batch]
        assert len(flat) == 40
        assert 8 < flat.count(3) < 32
    assert passes[0] != passes[1]
    assert {length for batch in source.batches(8) for length in batch.lengths.tolist()} == {2}

"""Surrogates: what is shared does not depend on the words that are labelled PHI."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.anonymity.bank_files import FILE, load_bank, save_bank
from shared.anonymity.names import default_names, read_names
from shared.anonymity.surrogates import SurrogateBank, surrogate_bank
from shared.errors import ModelError, TrainingError
from shared.labels import HIDDEN_TAG, UNKNOWN_TAG, LabelScheme, categories_of_any_form, load_scheme
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import casing_classes
from shared.text.tokens import MAX_SENTENCE_TOKENS

PUBLIC = TokenisedSentences(
    [
        "Mr",
        "Ada",
        "Brown",
        "came",
        "on",
        "12",
        "/",
        "3",
        "/",
        "2001",
        "with",
        "Mrs",
        "Eve",
        "Stone",
        ".",
        "JOHN",
        "slept",
    ],
    np.array([0, 1, 2, 0, 0, 3, 4, 4, 4, 4, 0, 0, 1, 2, 0, 1, 0], dtype=np.uint8),
    np.array([15, 2]),
)
BANK = surrogate_bank([PUBLIC])


def chunk(words: list[str], tags: list[int]) -> TokenisedSentences:
    return TokenisedSentences(words, np.array(tags, dtype=np.uint8), np.array([len(words)]))


def drawn(words: list[str], tags: list[int], seed: int = 0, bank: SurrogateBank = BANK) -> list[str]:
    return bank.replace_spans(chunk(words, tags), torch.Generator().manual_seed(seed)).words


def test_the_bank_holds_the_labelled_spans() -> None:
    assert BANK.spans == (
        (0, ("Ada", "Brown")),
        (1, ("12", "/", "3", "/", "2001")),
        (0, ("Eve", "Stone")),
        (0, ("JOHN",)),
    )
    assert "Ada" not in repr(BANK)


def test_words_outside_labels_stay() -> None:
    words = drawn(["Dr", "Zoe", "Quill", "saw", "Zoe"], [0, 1, 2, 0, 0])
    assert words[0] == "Dr"
    assert words[3:] == ["saw", "Zoe"]
    assert words[1] in {"Ada", "Eve"}
    assert words[2] in {"Brown", "Stone"}


def test_another_casing_is_taken_from_the_same_category() -> None:
    bank = SurrogateBank(((0, ("Ada", "Brown")), (1, ("CLINIC",)), (1, ("MRN",))))
    seen = {tuple(drawn(["ZOE", "quill"], [1, 2], seed, bank)) for seed in range(40)}
    assert seen <= {(one, other) for one in ("ADA", "BROWN") for other in ("ada", "brown")}


def test_two_adjacent_spans_are_drawn_apart() -> None:
    seen = {tuple(drawn(["Zoe", "Ida"], [1, 1], seed)) for seed in range(40)}
    assert seen == {(one, other) for one in ("Ada", "Eve") for other in ("Ada", "Eve")}


def test_punctuation_and_casing_keep_their_places() -> None:
    words = drawn(["7", "-", "11", "-", "1950"], [3, 4, 4, 4, 4])
    assert words[1] == words[3] == "-"
    assert all(word.isdecimal() and len(word) in {1, 2, 4} for word in words[::2])


def test_a_pattern_with_enough_spans_is_drawn_as_a_whole() -> None:
    bank = SurrogateBank(tuple((0, pair) for pair in (("Ada", "Brown"), ("Eve", "Stone"), ("Ian", "Wood"))))
    seen = {tuple(drawn(["Zoe", "Quill"], [1, 2], seed, bank)) for seed in range(60)}
    assert seen == {("Ada", "Brown"), ("Eve", "Stone"), ("Ian", "Wood")}


def test_of_a_pattern_with_fewer_spans_tokens_are_drawn_one_by_one() -> None:
    spans = (("Ada", "de", "Brown"), ("Eve", "de", "Stone"))
    bank = SurrogateBank(tuple((0, span) for span in spans))
    seen = {tuple(drawn(["Zoe", "von", "Quill"], [1, 2, 2], seed, bank)) for seed in range(60)}
    assert seen == {(first, "de", last) for first, _, _ in spans for _, _, last in spans}


def test_a_category_that_the_public_notes_lack_still_loses_its_words() -> None:
    for seed in range(20):
        known = {w.lower() for _, span in BANK.spans for w in span}
        assert all(w.lower() in known or w.isdecimal() for w in drawn(["Zoe", "quill", "QX"], [9, 10, 10], seed))


def test_phi_of_no_category_is_drawn_from_all_and_loses_its_tag() -> None:
    words = ["Dr", "Zoe", "QUILL", "7"]
    found = [
        BANK.replace_spans(chunk(words, [0, *[HIDDEN_TAG] * 3]), torch.Generator().manual_seed(s)) for s in range(40)
    ]
    assert {one.words[1] for one in found} == {"Ada", "Brown", "Eve", "Stone"}
    assert {one.words[2] for one in found} == {"JOHN"}
    assert all(one.words[0] == "Dr" and one.words[3].isdecimal() for one in found)
    assert not any(one.tags.any() for one in found)


word = st.sampled_from(["Zoe", "Ida", "Quill", "zoe", "IDA", "9", "77", "1999", "x1y", "/", ".", "-", "iPad"])
tag = st.integers(0, 6) | st.just(HIDDEN_TAG)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_noninterference(data: st.DataObject) -> None:
    """Two notes that differ in labelled words only, same casing and punctuation, give the same under the same chance."""
    words = data.draw(st.lists(word, min_size=1, max_size=12))
    tags = data.draw(st.lists(tag, min_size=len(words), max_size=len(words)))
    alike = {
        "Zoe": "Ida",
        "Ida": "Quill",
        "Quill": "Zoe",
        "zoe": "abc",
        "IDA": "ZOE",
        "9": "4",
        "77": "123",
        "1999": "1",
    }
    others = [alike.get(one, one) if tag else one for one, tag in zip(words, tags, strict=True)]
    np.testing.assert_array_equal(casing_classes(words), casing_classes(others))
    assert drawn(words, tags) == drawn(others, tags)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_with_hidden_casing_nothing_of_a_labelled_word_shows(data: st.DataObject) -> None:
    words = data.draw(st.lists(word, min_size=1, max_size=12))
    tags = data.draw(st.lists(tag, min_size=len(words), max_size=len(words)))
    others = [data.draw(word) if tag else one for one, tag in zip(words, tags, strict=True)]
    hiding = surrogate_bank([PUBLIC], hides_casing=True)
    assert drawn(words, tags, bank=hiding) == drawn(others, tags, bank=hiding)


def test_hidden_casing_is_that_of_public_spans_of_as_many_words() -> None:
    hiding = surrogate_bank([PUBLIC, PUBLIC], hides_casing=True)
    found = {tuple(drawn(["ZOE", "quill"], [1, 2], seed, hiding)) for seed in range(40)}
    assert found == {("Ada", "Brown"), ("Eve", "Stone")}
    # Of three words there is no span of the category, so they are drawn one by one.
    assert len(drawn(["ZOE", "/", "quill"], [1, 2, 2], 0, hiding)) == 3


def test_half_of_the_listed_words_give_way_to_others_of_their_list() -> None:
    bank = SurrogateBank(((0, ("ADA",)), (0, ("Eve",))), (("ada", "ida", "una"), ("eve", "zoe")))
    seen = [drawn(["Bob", "BOB"], [1, 1], seed, bank) for seed in range(400)]
    first, second = ([pair[place] for pair in seen] for place in (0, 1))
    assert set(first) == {"Eve", "Zoe"}
    assert set(second) == {"ADA", "IDA", "UNA"}
    # Half stay, and of the others half are drawn again.
    assert 0.65 < first.count("Eve") / 400 < 0.85


def test_listed_words_stay_in_a_category_of_few_words() -> None:
    lists = (("spain", "rome", "ada", "eve", "ida"),)
    countries = SurrogateBank(((0, ("Spain",)),) * 19 + ((0, ("Rome",)),), lists)
    assert {drawn(["Bob"], [1], seed, countries)[0] for seed in range(60)} <= {"Spain", "Rome"}


def test_numbers_give_way_to_numbers_of_as_many_digits() -> None:
    bank = SurrogateBank(((0, ("007",)),))
    seen = {drawn(["9"], [1], seed, bank)[0] for seed in range(50)}
    assert len(seen) > 30
    assert all(len(number) == 3 for number in seen)


def test_draws_are_uniform_over_the_spans() -> None:
    names = [f"Name{'abcdefgh'[i]}" for i in range(8)]
    bank = SurrogateBank(tuple((0, (name,)) for name in names))
    many = bank.replace_spans(chunk(["Zoe"] * 8000, [1] * 8000), torch.Generator().manual_seed(1)).words
    counts = np.array([many.count(name) for name in names])
    # Seven degrees of freedom: a statistic of 29 has a chance of 0.01%.
    assert ((counts - 1000) ** 2 / 1000).sum() < 29


def test_a_bank_comes_back_as_it_was(tmp_path: Path) -> None:
    for hides in (False, True):
        bank = SurrogateBank(BANK.spans, (("ada", "eve"),), hides_casing=hides)
        save_bank(bank, tmp_path)
        found = load_bank(tmp_path, LabelScheme("two", ("PATIENT", "DOCTOR")))
        assert (found.spans, found.lists, found.hides_casing) == (bank.spans, bank.lists, hides)
        # A version that knows nothing of hidden casing would show it: it must refuse.
        assert ("surrogates 1" in (tmp_path / FILE).read_text()) != hides


def test_lists_of_names_as_they_are_read_come_back(tmp_path: Path) -> None:
    """Hyphens, apostrophes and accents that are characters of their own: a list holds the words that a note would have."""
    (tmp_path / "names.csv").write_text(
        "O\u2019Neill\nGarci\u0301a-Pérez,12\nÅström\nMRN-73154\nŁucja Šimić\n", encoding="utf-8"
    )
    names = read_names(tmp_path / "names.csv")
    assert names == ("Neill", "García", "Pérez", "Åström", "MRN", "Łucja", "Šimić")
    lists = (names, *default_names("meddocan"), *default_names("i2b2_2014"))
    save_bank(SurrogateBank(BANK.spans, lists), tmp_path)
    for other in (("ada", "New York"), ("ada", "73154201"), ()):
        with pytest.raises(TrainingError, match="one word of letters"):
            SurrogateBank(BANK.spans, (names, other))
    assert load_bank(tmp_path, LabelScheme("two", ("PATIENT", "DOCTOR"))).lists == lists


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "other", "spans": [[0, "a"]], "lists": []}',
        '{"format": "deid-commons surrogates 1", "spans": [[0, "a"]]}',
        '{"format": "deid-commons surrogates 1", "spans": [], "lists": []}',
        '{"format": "deid-commons surrogates 1", "spans": [[2, "a"]], "lists": []}',
        '{"format": "deid-commons surrogates 1", "spans": [[-1, "a"]], "lists": []}',
        '{"format": "deid-commons surrogates 1", "spans": [[0]], "lists": []}',
        '{"format": "deid-commons surrogates 1", "spans": [[0, ""]], "lists": []}',
        '{"format": "deid-commons surrogates 1", "spans": [[0, "a"]], "lists": [[]]}',
        '{"format": "deid-commons surrogates 1", "spans": [[0, "a"]], "lists": [["ada", ""]]}',
        '{"format": "deid-commons surrogates 1", "spans": [[0, "a"]], "lists": [["ada", "73154201"]]}',
        '{"format": "deid-commons surrogates 1", "spans": [[0, "a"]], "lists": [["ada", "Ada Quillfeather"]]}',
        '{"format": "deid-commons surrogates 1", "spans": [[0, "a"]], "lists": [], "lengths": [[0, 0, 101]]}',
        '{"format": "deid-commons surrogates 1", "spans": [[0, "a"]], "lists": [], "lengths": [[0, 0, 0]]}',
        '{"format": "deid-commons surrogates 1", "spans": [[0, "a"]], "lists": [], "lengths": [[2, 0, 1]]}',
        '{"format": "deid-commons surrogates 1", "spans": [[0, "a"]], "lists": [], "lengths": [[0, 0]]}',
    ],
)
def test_a_damaged_bank_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="expected public spans"):
        load_bank(tmp_path, LabelScheme("two", ("PATIENT", "DOCTOR")))


def test_public_notes_without_phi_make_no_bank() -> None:
    with pytest.raises(TrainingError, match="surrogates"):
        surrogate_bank([chunk(["a", "b"], [0, 0])])


class TestSpansOfAnyForm:
    """Category 0 is of any form; category 1 is not."""

    BANK = SurrogateBank(
        (
            *((0, ("Main", "Street", str(number))) for number in range(5)),
            *((0, ("Elm", "Way")) for _ in range(5)),
            (1, ("Ada",)),
        ),
        any_form=frozenset({0}),
    )

    def shared(self, words: list[str], tags: list[int], seed: int) -> TokenisedSentences:
        noise = torch.Generator().manual_seed(seed)
        return self.BANK.replace_spans(self.BANK.draw_lengths(chunk(words, tags), noise), noise)

    def test_only_capitals_and_whether_there_are_letters_show(self) -> None:
        short, long = ["at", "Elsewhere", "by", "Eva"], ["at", *("Rua", ",", "12", "ESQ", "/", "de"), "by", "Eva"]
        for seed in range(20):
            one, other = self.shared(short, [0, 1, 0, 3], seed), self.shared(long, [0, 1, *[2] * 5, 0, 3], seed)
            assert (one.words, one.tags.tolist(), one.lengths.tolist()) == (
                other.words,
                other.tags.tolist(),
                other.lengths.tolist(),
            )

    def test_lengths_are_those_of_public_spans(self) -> None:
        found = [self.shared(["at", *"ab", "."], [0, 1, 2, 0], seed) for seed in range(60)]
        assert {one.tokens for one in found} == {4, 5}
        assert all(one.tags.tolist() == [0, 1, *[2] * (one.tokens - 3), 0] for one in found)
        assert all(one.lengths.tolist() == [one.tokens] for one in found)

    @given(st.lists(st.integers(1, 6), min_size=60, max_size=60), st.integers(0, 9))
    def test_no_sentence_grows_longer_than_a_share_may_hold(self, lengths: list[int], seed: int) -> None:
        """Every span is there still; and how long each was shows no more than elsewhere."""
        bank = SurrogateBank(((0, tuple("abcdefghijklmnop")), (1, ("Ada",))), any_form=frozenset({0}))

        def lengthened(own: list[int]) -> TokenisedSentences:
            words = [word for length in own for word in ("by", *["no"] * length)]
            tags = [tag for length in own for tag in (0, 1, *[2] * (length - 1))]
            return bank.draw_lengths(chunk(words, tags), torch.Generator().manual_seed(seed))

        found = lengthened(lengths)
        assert found.lengths.tolist() == [found.tokens]
        assert 2 * len(lengths) <= found.tokens <= MAX_SENTENCE_TOKENS
        assert (found.tags == 1).sum() == len(lengths)
        assert found.tags.tolist() == lengthened([1] * len(lengths)).tags.tolist()

    def test_a_span_that_is_cut_where_it_tells_keeps_its_length(self, tmp_path: Path) -> None:
        """Else a head would learn that e-mails end ahead of their host."""
        scheme = load_scheme("meddocan")
        email = scheme.category_index["CORREO_ELECTRONICO"]
        words = ["Wulfosyth", "@", "quillmail", ".", "zed"]
        public = chunk(words, [2 * email + 1, *[2 * email + 2] * 4])
        bank = surrogate_bank([public], public_lists=(), any_form=categories_of_any_form(scheme))
        assert max(len(span) for _, span in (*bank.spans, *bank.later)) < 5
        assert bank.lengths == ((email, False, 5),)
        save_bank(bank, tmp_path)
        for one in (bank, load_bank(tmp_path, scheme)):
            sent = one.draw_lengths(chunk(["a", "b"], [2 * email + 1, 0]), torch.Generator().manual_seed(1))
            assert sent.tags.tolist() == [2 * email + 1, *[2 * email + 2] * 4, 0]
        # One of before lengths were kept is read as ever.
        data = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
        del data["lengths"]
        (tmp_path / FILE).write_text(json.dumps(data), encoding="utf-8")
        assert load_bank(tmp_path, scheme).lengths == ((email, False, len(bank.spans[0][1])),)

    def test_nothing_stands_in_the_order_of_the_notes(self) -> None:
        """Beside one another, pieces and lengths would tell which of them were one span."""
        spans = [tuple(f"unheard{word}{letter}" for letter in "abcdef"[:word]) for word in (5, 2, 6, 3)]
        notes = [chunk(list(words), [1, *[2] * (len(words) - 1)]) for words in spans]
        banks = [surrogate_bank(order, public_lists=(), any_form=frozenset({0})) for order in (notes, notes[::-1])]
        assert [length for _, _, length in banks[0].lengths] == [2, 3, 5, 6]
        assert len({(bank.spans, bank.later, bank.lengths) for bank in banks}) == 1

    def test_capitals_stay_capitals_and_small_letters_small(self) -> None:
        assert all("".join(self.shared(["ELM", "ST"], [1, 2], seed).words).isupper() for seed in range(9))
        assert all("".join(self.shared(["elm"], [1], seed).words).islower() for seed in range(9))

    def test_other_categories_keep_their_lengths(self) -> None:
        words = ["Eva", "Maria", "came"]
        own = chunk(words, [3, 4, 0])
        assert self.BANK.draw_lengths(own, torch.Generator().manual_seed(1)).words == words

    def test_a_category_without_public_spans_has_one_token(self) -> None:
        bank = SurrogateBank(((1, ("Ada",)),), any_form=frozenset({0}))
        assert bank.draw_lengths(chunk(["a", "b", "c"], [1, 2, 0]), torch.Generator().manual_seed(1)).tokens == 2


def test_endless_huge_spans_do_not_fill_the_memory() -> None:
    bank = SurrogateBank(BANK.spans)
    before = len(bank._patterns)
    for words in (["Anna"], ["x" * 20_000], ["x"] * 20_000):
        drawn(words, [1, *[2] * (len(words) - 1)], bank=bank)
    assert len(bank._patterns) <= before + 1


@pytest.mark.parametrize("hides_casing", [False, True])
def test_attack_a_pipeline_spells_a_word_by_the_category_that_it_gives_it(hides_casing: bool) -> None:
    """Nobody labelled it: the provider's own pipeline says of what kind it is, and one that lies could say one of thirty words so."""
    bank = surrogate_bank([PUBLIC], hides_casing=hides_casing, any_form=frozenset({1}))
    words, doubtful = ["Seen", "by", "Quillfeather", "Road", "12", "today"], np.arange(6) // 2 == 1
    seen = []
    for tags in ([0, 0, 1, 2, 0, 0], [0, 0, 3, 4, 0, 0], [0, 0, 1, 3, 0, 0], [0, 0, HIDDEN_TAG, HIDDEN_TAG, 0, 0]):
        noise = torch.Generator().manual_seed(4)
        given_ = replace(chunk(words, tags), doubtful=doubtful)
        shown = bank.replace_spans(bank.draw_lengths(given_, noise), noise)
        seen.append((shown.words, shown.tags.tolist(), shown.lengths.tolist()))
    assert seen[0][1] == [0, 0, UNKNOWN_TAG, UNKNOWN_TAG, 0, 0]
    assert all(one == seen[0] for one in seen)

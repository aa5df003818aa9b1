"""Sentences of words: how they are cut from documents, and each operation against the same done sentence by sentence."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.errors import LabelError
from shared.labels import HIDDEN, HIDDEN_TAG, LabelScheme
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import (
    TokenisedSentences,
    tokenise_documents,
    tokenise_texts,
    tokenised_chunks,
    tokenised_corpus,
)
from shared.text.tokens import tokenise
from tests.tiny_notes import tiny_notes

SCHEME = LabelScheme("i2b2", ("PATIENT", "DOCTOR", "DATE", "PHONE", "HOSPITAL"))
NOTES = list(tiny_notes(12))

Sentence = list[tuple[str, int]]
"""A word and its tag, one after the other: all that the naive oracles know."""
TOKENS = st.tuples(st.text("abc", min_size=1, max_size=3), st.integers(0, 6))
TEXTS = st.lists(st.lists(TOKENS, min_size=1, max_size=6), max_size=8)


def made(sentences: list[Sentence]) -> TokenisedSentences:
    flat = [token for sentence in sentences for token in sentence]
    return TokenisedSentences(
        [word for word, _ in flat],
        np.array([tag for _, tag in flat], dtype=np.uint8),
        np.array([len(sentence) for sentence in sentences], dtype=np.int64),
    )


def told(chunk: TokenisedSentences) -> list[Sentence]:
    """Back to plain lists, by counting the tokens off one at a time."""
    assert len(chunk.words) == len(chunk.tags)
    tokens = iter(zip(chunk.words, chunk.tags.tolist(), strict=True))
    sentences = [[next(tokens) for _ in range(length)] for length in chunk.lengths.tolist()]
    assert next(tokens, None) is None
    assert chunk.tags.dtype == np.uint8
    assert chunk.lengths.dtype == np.int64
    return sentences


def rows_of(sentences: list[Sentence], data: st.DataObject) -> list[int]:
    if not sentences:
        return []
    return data.draw(st.lists(st.integers(0, len(sentences) - 1), max_size=10))


class TestOperations:
    @given(TEXTS, st.data())
    def test_select_takes_sentences_in_the_order_given(self, sentences: list[Sentence], data: st.DataObject) -> None:
        rows = rows_of(sentences, data)
        chunk = made(sentences)
        assert told(chunk.select(np.array(rows, dtype=np.int64))) == [sentences[row] for row in rows]
        assert told(chunk) == sentences

    @given(TEXTS, st.data())
    def test_leaving_out_keeps_the_others_in_their_order(self, sentences: list[Sentence], data: st.DataObject) -> None:
        away = [data.draw(st.booleans()) for _ in sentences]
        left = made(sentences).leave_out(np.array(away, dtype=np.bool_))
        assert told(left) == [sentence for sentence, gone in zip(sentences, away, strict=True) if not gone]

    @given(st.lists(TEXTS, max_size=4))
    def test_concatenation_is_one_after_the_other(self, texts: list[list[Sentence]]) -> None:
        whole = TokenisedSentences.concatenate([made(sentences) for sentences in texts])
        assert told(whole) == [sentence for sentences in texts for sentence in sentences]

    @given(TEXTS)
    def test_split_gives_every_sentence_and_single_words_make_each_one(self, sentences: list[Sentence]) -> None:
        chunk = made(sentences)
        parts = [list(zip(words, tags.tolist(), strict=True)) for words, tags in chunk.split()]
        assert parts == sentences
        alone = TokenisedSentences.single_words(chunk.words)
        assert told(alone) == [[(word, 0)] for sentence in sentences for word, _ in sentence]

    @given(TEXTS)
    def test_other_words_and_other_tags_leave_the_rest_as_it_is(self, sentences: list[Sentence]) -> None:
        chunk = made(sentences)
        shouted = chunk.with_words([word.upper() for word in chunk.words])
        assert told(shouted) == [[(word.upper(), tag) for word, tag in sentence] for sentence in sentences]
        assert told(chunk.with_tags(np.zeros_like(chunk.tags))) == [[(w, 0) for w, _ in one] for one in sentences]
        assert told(chunk) == sentences

    def test_no_repr_shows_a_word(self) -> None:
        assert repr(made([[("Brunhilda", 1)], [("a", 0), ("b", 0)]])) == "TokenisedSentences(3 tokens, 2 sentences)"


class TestLayout:
    """What sentences of words and sentences of vectors have in common, on both."""

    def both(self, sentences: list[Sentence]) -> list[TokenisedSentences | RaggedSentences]:
        chunk = made(sentences)
        return [chunk, RaggedSentences(np.zeros((len(chunk.words), 2)), chunk.tags, chunk.tags, chunk.lengths)]

    @given(TEXTS, st.data())
    def test_places_are_those_that_counting_gives(self, sentences: list[Sentence], data: st.DataObject) -> None:
        sizes = [len(sentence) for sentence in sentences]
        places = [list(range(end - size, end)) for size, end in zip(sizes, accumulate(sizes), strict=True)]
        rows = rows_of(sentences, data)
        for layout in self.both(sentences):
            assert (layout.sentences, layout.tokens) == (len(sentences), sum(sizes))
            assert layout.starts.tolist() == [tokens[0] for tokens in places]
            assert layout.sentence_of_token.tolist() == [row for row, size in enumerate(sizes) for _ in range(size)]
            found = layout.tokens_of(np.array(rows, dtype=np.int64))
            assert found.tolist() == [token for row in rows for token in places[row]]
            assert found.dtype == layout.starts.dtype == layout.sentence_of_token.dtype == np.int64

    @given(TEXTS, st.data())
    def test_sentences_are_found_by_their_tokens(self, sentences: list[Sentence], data: st.DataObject) -> None:
        marked = [[data.draw(st.booleans()) for _ in sentence] for sentence in sentences]
        flat = np.array([mark for marks in marked for mark in marks], dtype=np.bool_)
        for layout in self.both(sentences):
            assert layout.sentences_with(flat).tolist() == [any(marks) for marks in marked]
            with_phi = [row for row, sentence in enumerate(sentences) if any(tag for _, tag in sentence)]
            assert layout.rows_with_phi().tolist() == with_phi

    @given(TEXTS)
    def test_categories_are_those_of_the_tag_names(self, sentences: list[Sentence]) -> None:
        scheme = LabelScheme("three", ("A", "B", "C"))
        names = ("", "A", "A", "B", "B", "C", "C")
        for layout in self.both(sentences):
            found = ["" if index < 0 else scheme.categories[index] for index in layout.categories.tolist()]
            assert found == [names[tag] for sentence in sentences for _, tag in sentence]

    def test_spans_of_two_sentences(self) -> None:
        sentences = [[("a", 1), ("b", 2)], [("c", 1), ("d", 0), ("e", 3)]]
        for layout in self.both(sentences):
            assert list(layout.spans()) == [(0, 2, 0), (2, 3, 0), (4, 5, 1)]

    @pytest.mark.parametrize("by_ids", [False, True])
    def test_pieces_of_vectors_become_one(self, by_ids: bool) -> None:
        ids = np.array([1, 1, 0], dtype=np.int32)
        rows = np.array([[1.0], [2.0], [3.0]], dtype=np.float16)
        tags = np.array([0, 1, 2], dtype=np.uint8)
        first = RaggedSentences(rows, tags, tags, np.array([1, 2]), ids if by_ids else None)
        second = RaggedSentences(rows[:1], tags[1:2], tags[2:], np.array([1]))
        whole = RaggedSentences.concatenate([first, second])
        assert whole.values[:, 0].tolist() == ([2, 2, 1, 1] if by_ids else [1, 2, 3, 1])
        assert whole.values.dtype == np.float16
        assert (whole.casing.tolist(), whole.tags.tolist()) == ([0, 1, 2, 1], [0, 1, 2, 2])
        assert whole.lengths.tolist() == [1, 2, 1]


class TestChunks:
    @pytest.mark.parametrize("size", [1, 10, 37, 1 << 15])
    def test_chunks_of_any_size_hold_the_same_sentences(self, size: int) -> None:
        whole = list(tokenised_chunks(tokenise_documents(NOTES), SCHEME, 1 << 20))
        assert len(whole) == 1
        chunks = list(tokenised_chunks(tokenise_documents(NOTES), SCHEME, size))
        assert [word for chunk in chunks for word in chunk.words] == whole[0].words
        for name in ("tags", "lengths"):
            np.testing.assert_array_equal(
                np.concatenate([getattr(chunk, name) for chunk in chunks]), getattr(whole[0], name)
            )
        for chunk in chunks:
            assert len(chunk.words) == len(chunk.tags) == chunk.lengths.sum()
            # A chunk ends with the first sentence that brings it there.
            assert chunk is chunks[-1] or len(chunk.words) >= size
            assert len(chunk.words) - chunk.lengths[-1] < size

    def test_one_long_note_comes_in_many_chunks(self) -> None:
        note = Document("long", "Dr Quillfeather came, saw and left; " * 5000)
        chunks = list(tokenised_chunks(tokenise_documents([note]), None, 1000))
        assert len(chunks) > 20
        assert max(len(chunk.words) for chunk in chunks) < 1000 + 400
        assert [word for chunk in chunks for word in chunk.words] == tokenise(note.text).words

    def test_no_words_are_no_chunks(self) -> None:
        empty = [Document("a", ""), Document("b", " \r\n\t ")]
        assert list(tokenised_chunks(tokenise_documents(empty), SCHEME)) == []
        chunks = list(tokenised_chunks(tokenise_documents([*empty, NOTES[0], *empty]), SCHEME))
        assert [len(chunk.words) for chunk in chunks] == [len(tokenise(NOTES[0].text))]

    def test_a_span_lies_within_one_sentence(self) -> None:
        """Were it cut at its line break, its sentence would tell of the break."""
        text = "Seen by Anna.\nMaria today."
        spans = (Annotation(8, 19, "DOCTOR"),)
        chunk = next(tokenised_chunks(tokenise_documents([Document("a", text, spans)]), SCHEME))
        assert chunk.words == ["Seen", "by", "Anna", ".", "Maria", "today", "."]
        names = [SCHEME.tags[tag] for tag in chunk.tags]
        assert names == ["O", "O", "B-DOCTOR", "I-DOCTOR", "I-DOCTOR", "O", "O"]
        assert chunk.lengths.tolist() == [7]

    def test_what_stands_right_beside_a_span_is_labelled_too(self) -> None:
        note = Document("a", "Seen by Annabel.", (Annotation(8, 12, "DOCTOR"),))
        chunk = next(tokenised_chunks(tokenise_documents([note]), SCHEME))
        assert [(word, SCHEME.tags[tag]) for word, tag in zip(chunk.words, chunk.tags, strict=True)] == [
            ("Seen", "O"),
            ("by", "O"),
            ("Annabel", "B-DOCTOR"),
            (".", "O"),
        ]

    def test_phi_of_no_category_has_one_token(self) -> None:
        note = Document("a", "Seen by Ana Maria, 3 Main St.", (Annotation(8, 17, HIDDEN), Annotation(19, 28, HIDDEN)))
        chunk = next(tokenised_chunks(tokenise_documents([note]), SCHEME))
        assert chunk.words == ["Seen", "by", "AnaMaria", ",", "MainSt", "."]
        assert chunk.tags.tolist() == [0, 0, HIDDEN_TAG, 0, HIDDEN_TAG, 0]

    def test_texts_are_cut_whatever_is_labelled(self) -> None:
        """A pipeline that saw the labels of the notes that it is judged on would be judged too well."""
        for (_, seen), (_, alone) in zip(
            tokenise_texts(NOTES), tokenise_texts([Document(one.identifier, one.text) for one in NOTES]), strict=True
        ):
            assert (seen.words, seen.sentences()) == (alone.words, alone.sentences())

    def test_a_label_that_the_scheme_does_not_know_is_an_error(self) -> None:
        note = Document("n-1", "Hello Brunhilda", (Annotation(6, 15, "SPACESHIP"),))
        with pytest.raises(LabelError, match=r"n-1, characters 6-15") as caught:
            list(tokenised_chunks(tokenise_documents([note]), SCHEME))
        assert "Brunhilda" not in str(caught.value)

    def test_no_repr_shows_a_word(self) -> None:
        chunk = next(tokenised_chunks(tokenise_documents(NOTES), SCHEME))
        assert "Patient" not in repr(chunk)

    def test_a_corpus_is_all_its_chunks(self) -> None:
        whole = tokenised_corpus(NOTES, SCHEME)
        assert told(whole) == told(next(tokenised_chunks(tokenise_documents(NOTES), SCHEME, 1 << 20)))
        assert told(tokenised_corpus([], SCHEME)) == []


@pytest.mark.parametrize(
    ("doubtful", "left"),
    [
        # What a label leaves of a word is taken in by the label; a program may have found it, and more.
        ((6, 10), []),
        ((6, 14), [(10, 14)]),
        ((0, 4), []),
        ((11, 14), [(11, 14)]),
    ],
)
def test_a_doubtful_span_gives_way_to_a_labelled_one_that_grows_over_it(
    doubtful: tuple[int, int], left: list[tuple[int, int]]
) -> None:
    spans = (Annotation(4, 6, "PATIENT"), Annotation(*doubtful, "DATE", doubtful=True))
    [(document, _)] = tokenise_documents([Document("n", "Marchbanks, see", spans)])
    assert [(span.start, span.end) for span in document.annotations if span.doubtful] == left
    assert (0, 10) in [(span.start, span.end) for span in document.annotations if not span.doubtful]

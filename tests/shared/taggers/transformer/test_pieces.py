"""Words are cut as the library cuts them, and a tokenizer's file can bring no pattern and nothing of a kind that is not listed."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import ModelError
from shared.taggers.transformer import pieces as module
from shared.taggers.transformer.config import MOST_WORD_PIECES
from shared.taggers.transformer.pieces import FILE, Pieces
from tests.shared.taggers.transformer.made import VOCABULARY, tokenizer

PIECES = Pieces(tokenizer())
UNKNOWN = VOCABULARY.index("[UNK]")


def greedy(word: str) -> list[int]:
    """WordPiece by its definition: the longest piece that begins what is left."""
    found: list[int] = []
    begin = 0
    while begin < len(word):
        ends = [end for end in range(len(word), begin, -1) if "##" * (begin > 0) + word[begin:end] in VOCABULARY]
        if not ends:
            return [UNKNOWN]
        found.append(VOCABULARY.index("##" * (begin > 0) + word[begin : ends[0]]))
        begin = ends[0]
    return found


@given(st.text(st.sampled_from("Namexyz127é"), min_size=1, max_size=30))
def test_words_are_cut_into_the_longest_pieces(word: str) -> None:
    [row] = PIECES.rows([word])
    expected = greedy(word)[:MOST_WORD_PIECES]
    # An accent is a character of its own there, where nothing is stripped.
    assert row.tolist() == expected + [-1.0] * (MOST_WORD_PIECES - len(expected))


@pytest.mark.parametrize("word", ["\u200b", "\x07", "\U0001f600", "", "[CLS]x" * 20])
def test_whatever_a_word_is_it_has_a_piece_and_no_more_than_fit(word: str) -> None:
    [row] = PIECES.rows([word])
    assert 0 <= row[0] < len(VOCABULARY)


def test_a_word_that_is_spelled_like_a_mark_is_no_mark() -> None:
    marked = Pieces(tokenizer(added_tokens=[{"id": 2, "content": "[CLS]", "special": True}]))
    assert VOCABULARY.index("[CLS]") not in marked.rows(["[CLS]"])[0].tolist()


@pytest.mark.parametrize(
    "parts",
    [
        {"normalizer": {"type": "Replace", "pattern": {"Regex": "(a+)+$"}, "content": ""}},
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Unheard"}]}},
        {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": []}]}},
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}},
        {"pre_tokenizer": "BertPreTokenizer"},
        {"model": {"type": "WordLevel", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]"}},
        {"model": {"type": "WordPiece", "vocab": "none"}},
        {"model": None},
        {"model": {"type": "WordPiece", "unk_token": "x", "vocab": {"x": 0}, "continuing_subword_prefix": "##"}},
    ],
    ids=lambda parts: json.dumps(parts)[:60],
)
def test_parts_that_are_not_listed_or_not_whole_are_refused(parts: dict[str, object]) -> None:
    with pytest.raises(ModelError) as refused:
        Pieces(tokenizer(**parts))
    assert "\n" not in str(refused.value)


def doubling(signs: str = "a") -> dict[str, object]:
    return {"type": "Replace", "pattern": {"String": signs}, "content": "aa"}


BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
LONG_TABLE = base64.b64encode((4).to_bytes(4, "little") + bytes(4) + b"a" * 300 + b"\0").decode()


@pytest.mark.parametrize(
    "parts",
    [
        {"normalizer": doubling()},
        {"normalizer": doubling("")},
        {"normalizer": {"type": "Sequence", "normalizers": [doubling()] * 40}},
        {"normalizer": {"type": "Sequence", "normalizers": [doubling("aa")] * 17}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": LONG_TABLE}},
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "none"}},
        {"normalizer": {"type": ["Replace"]}},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [BYTES] * 2}},
        {"model": tokenizer()["model"] | {"continuing_subword_prefix": "#" * 17}},
        {"model": {"type": "BPE", "dropout": 0.5, "unk_token": "[UNK]", "vocab": {"[UNK]": 0}, "merges": []}},
    ],
    ids=lambda parts: json.dumps(parts)[:60],
)
def test_attack_parts_that_make_a_word_longer_again_and_again(parts: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="longer"):
        Pieces(tokenizer(**parts))


def test_parts_that_leave_a_word_as_long_as_it_is_are_taken() -> None:
    quotes = {"type": "Replace", "pattern": {"String": "``"}, "content": '"'}
    spaces = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    taken = {"type": "Sequence", "normalizers": [quotes, spaces, doubling("aa"), {"type": "NFC"}]}
    assert Pieces(tokenizer(normalizer=taken)).rows(["Name"]).tolist() == PIECES.rows(["Name"]).tolist()


def test_attack_a_model_that_reads_a_word_of_any_length_does_so_in_the_square_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endless = Pieces(tokenizer(model=tokenizer()["model"] | {"max_input_chars_per_word": 10**9}))
    read: list[str] = []

    class Watched:
        def encode(self, words: list[str], **settings: bool) -> Any:
            read.extend(words)
            return endless_tokenizer.encode(words, **settings)

    endless_tokenizer = endless._tokenizer
    monkeypatch.setitem(endless.__dict__, "_tokenizer", Watched())
    endless.rows(["x" * 3000])
    assert len(read[0]) <= 512


def test_what_is_saved_is_loaded_and_cuts_the_same(tmp_path: Path) -> None:
    PIECES.save(tmp_path)
    loaded = Pieces.load(tmp_path)
    words = [*VOCABULARY[:30], "Namezz", "1234"]
    assert (loaded.rows(words) == PIECES.rows(words)).all()
    # Nothing but what cuts a word is kept of a file of others.
    assert set(json.loads((tmp_path / FILE).read_text())) == {"version", "model", "normalizer", "pre_tokenizer"}


def test_a_table_has_a_row_for_every_number_where_some_are_left_out(tmp_path: Path) -> None:
    PIECES.save(tmp_path)
    path = tmp_path / FILE
    told = json.loads(path.read_text())
    vocabulary = told["model"]["vocab"]
    last = max(vocabulary, key=vocabulary.__getitem__)
    vocabulary[last] += 1000
    path.write_text(json.dumps(told))
    assert Pieces.load(tmp_path).size == PIECES.size + 1000


@pytest.mark.parametrize("changed", [{"version": 2}, {"more": 1}])
def test_another_file_of_pieces_is_refused(changed: dict[str, object], tmp_path: Path) -> None:
    PIECES.save(tmp_path)
    path = tmp_path / FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises(ModelError, match="update deid-commons"):
        Pieces.load(tmp_path)


def test_a_file_beyond_its_bound_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PIECES.save(tmp_path)
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    with pytest.raises(ModelError, match="at most 100 bytes"):
        Pieces.load(tmp_path)

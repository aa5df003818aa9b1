"""Payloads of codes: what is read is what was written, and a code stands only where the release allows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocols.errors import BoundsError, CodebookError, ProtocolError, SchemaError, TagSequenceError
from protocols.payload.codes import (
    ANYWHERE,
    GROUP,
    NEAR_PHI,
    NOWHERE,
    CodeRules,
    is_near,
    read_code_rules,
    write_code_places,
)
from protocols.payload.opening import SentenceBlock, create_payload, open_payload
from protocols.payload.sentence_block import CODES, UNKNOWN_TAG, CheckedValues, ValueRules, check_block
from protocols.payload.shuffled_writer import ShuffledWriter
from tests.protocols.payload.blocks import assert_same, make_block, replaced

SUFFIXES = (".parquet", ".h5")
PLACES = np.array([ANYWHERE, NEAR_PHI, NOWHERE, ANYWHERE], dtype=np.uint8)
RULES = ValueRules(tags=5, value_bound=1.0, codes=CodeRules(PLACES, window=2))
LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=20)


def coded(codes: list[int], tags: list[int], lengths: list[int]) -> SentenceBlock:
    return SentenceBlock(
        np.array(codes, dtype="<u4"),
        np.array(tags, dtype=np.uint8),
        np.zeros(len(codes), dtype=np.uint8),
        np.array(lengths, dtype="<i4"),
    )


def random_block(lengths: list[int], seed: int) -> SentenceBlock:
    random = np.random.default_rng(seed)
    block = make_block(lengths, seed=seed)
    return replaced(block, values=random.integers(0, 2**32, block.tokens, dtype="<u4"))


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(parts=st.lists(LENGTHS, min_size=1, max_size=4), seed=st.integers(0, 99))
@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)
def test_round_trip(tmp_path: Path, suffix: str, parts: list[list[int]], seed: int) -> None:
    blocks = [random_block(lengths, seed + number) for number, lengths in enumerate(parts)]
    path = tmp_path / f"share{suffix}"
    with create_payload(path, dim=CODES) as writer:
        for block in blocks:
            writer.append(block)
    with open_payload(path) as reader:
        assert (reader.dim, reader.tokens) == (CODES, sum(block.tokens for block in blocks))
        for read, written in zip(reader, blocks, strict=True):
            assert_same(read, written)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_token_takes_ten_bytes_at_most(tmp_path: Path, suffix: str) -> None:
    blocks = [random_block([13] * 5000, seed) for seed in range(2)]
    path = tmp_path / f"share{suffix}"
    with create_payload(path, dim=CODES) as writer:
        for block in blocks:
            writer.append(block)
    assert path.stat().st_size <= 10 * sum(block.tokens for block in blocks)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_cut_and_changed_files_are_refused_or_read_as_they_stand(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"share{suffix}"
    with create_payload(path, dim=CODES) as writer:
        writer.append(random_block([3, 4, 5], 1))
    data, other = path.read_bytes(), tmp_path / f"other{suffix}"
    for cut in range(0, len(data), max(1, len(data) // 80)):
        other.write_bytes(data[:cut])
        with pytest.raises(ProtocolError), open_payload(other) as reader:
            list(reader)
    for place in range(0, len(data), max(1, len(data) // 300)):
        other.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        try:
            with open_payload(other) as reader:
                assert [block.sentences for block in reader] == [3]
        except ProtocolError:
            pass


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_codes_and_representations_do_not_mix(tmp_path: Path, suffix: str) -> None:
    with (
        pytest.raises(SchemaError),
        create_payload(tmp_path / f"share{suffix}", dim=CODES) as writer,
    ):
        writer.append(make_block([3]))
    assert not list(tmp_path.iterdir())


def test_a_shuffled_share_holds_the_same_sentences(tmp_path: Path) -> None:
    block = random_block(list(range(1, 40)), 7)
    path = tmp_path / "share.parquet"
    with ShuffledWriter(path, dim=CODES) as writer:
        writer.append(block)
    with open_payload(path) as reader:
        read = reader.read_block(0)

    def sentences(one: SentenceBlock) -> list[bytes]:
        cuts = one.offsets[1:-1]
        return sorted(part.tobytes() for part in np.split(one.values, cuts))

    assert sentences(read) == sentences(block)
    assert read.values.tobytes() != block.values.tobytes()


class TestRules:
    def test_a_word_stands_near_phi_and_nowhere_else(self) -> None:
        check_block(coded([1, 1, 1, 0, 0], [0, 0, 1, 0, 0], [5]), RULES)
        with pytest.raises(CodebookError, match="1 of 6 elsewhere"):
            check_block(coded([1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 0, 0], [6]), RULES)

    def test_the_next_sentence_is_not_near(self) -> None:
        with pytest.raises(CodebookError):
            check_block(coded([0, 1], [1, 0], [1, 1]), RULES)
        check_block(coded([0, 1], [1, 0], [2]), RULES)

    def test_what_nobody_knows_to_be_phi_counts_as_phi(self) -> None:
        check_block(coded([0, 1], [UNKNOWN_TAG, 0], [2]), RULES)

    def test_hidden_words_stand_nowhere_and_codes_end(self) -> None:
        with pytest.raises(CodebookError):
            check_block(coded([2], [1], [1]), RULES)
        with pytest.raises(CodebookError, match="codes below 4"):
            check_block(coded([4], [1], [1]), RULES)

    def test_tags_are_those_of_the_scheme_or_unknown(self) -> None:
        check_block(coded([0, 0], [4 - 1, UNKNOWN_TAG], [2]), RULES)
        with pytest.raises(BoundsError):
            check_block(coded([0], [5], [1]), RULES)
        with pytest.raises(TagSequenceError):
            check_block(coded([0, 0], [UNKNOWN_TAG, 2], [2]), RULES)

    def test_counts_leave_out_what_is_unknown(self) -> None:
        checked = CheckedValues(RULES, "share")
        checked.add(coded([0, 0, 3, 1], [0, UNKNOWN_TAG, 0, 1], [4]))
        assert checked.tag_counts == (2, 1, 0, 0, 0)
        assert checked.commonest_row == 2

    def test_the_code_of_a_group_counts_half(self) -> None:
        rules = replace(RULES, codes=CodeRules(np.array([GROUP, ANYWHERE], dtype=np.uint8), 2))
        checked = CheckedValues(rules, "share")
        checked.add(coded([0] * 7 + [1] * 2, [0] * 9, [9]))
        assert checked.commonest_row == 3

    def test_they_read_back(self, tmp_path: Path) -> None:
        assert RULES.codes is not None
        write_code_places(tmp_path / "codes", RULES.codes)
        found = read_code_rules(tmp_path / "codes", 2)
        np.testing.assert_array_equal(found.places, PLACES)
        (tmp_path / "codes").write_bytes(b"\x04")
        with pytest.raises(SchemaError):
            read_code_rules(tmp_path / "codes", 2)
        (tmp_path / "codes").write_bytes(b"")
        with pytest.raises(SchemaError):
            read_code_rules(tmp_path / "codes", 2)

    @given(data=st.data(), window=st.integers(0, 4))
    @settings(max_examples=60, deadline=None)
    def test_near_is_what_a_loop_over_sentences_says(self, data: st.DataObject, window: int) -> None:
        lengths = data.draw(LENGTHS)
        marked = np.array(data.draw(st.lists(st.booleans(), min_size=sum(lengths), max_size=sum(lengths))))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        expected = []
        for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            for token in range(start, end):
                expected.append(any(marked[max(start, token - window) : min(end, token + window + 1)]))
        assert is_near(marked, offsets, window).tolist() == expected

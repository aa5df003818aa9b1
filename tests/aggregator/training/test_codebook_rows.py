"""The labels of every row, site by site, against a count by words in plain Python."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from aggregator.training.codebook_rows import Place, RowCounts, RowKeys, count_rows
from aggregator.training.judging.row_findings import RowFindings, describe_contradictions, find_contradictions
from aggregator.training.pool import PUBLIC, read_blocks
from shared.sentences.ragged import RaggedSentences
from tests.aggregator.training.pools import DIM, LIAR, ROWS, SITES, write_pool


def by_hand(sentences: RaggedSentences, place: Place) -> list[tuple[bytes, ...]]:
    """What makes the row of each token, byte by byte."""
    found = []
    for start, length in zip(sentences.starts.tolist(), sentences.lengths.tolist(), strict=True):
        for here in range(length):
            spots = [here + offset for offset in place.value]
            found.append(
                tuple(
                    sentences.values[start + spot].tobytes() + bytes([sentences.casing[start + spot]])
                    if 0 <= spot < length
                    else b""
                    for spot in spots
                )
            )
    return found


@pytest.mark.parametrize("place", Place)
def test_two_tokens_have_one_number_if_and_only_if_they_have_one_row(place: Place, tmp_path: Path) -> None:
    (path,) = write_pool(tmp_path, 5, count=30)[LIAR]
    whole = RaggedSentences.concatenate(list(read_blocks(path)))
    keys, rows = RowKeys(DIM, place)(whole).tolist(), by_hand(whole, place)
    assert len(set(keys)) == len(set(rows)) == len(set(zip(keys, rows, strict=True)))


def test_a_minus_zero_is_a_zero_and_another_casing_another_row() -> None:
    values = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 1.0]], dtype=np.float16)
    casing = np.array([1, 1, 2], dtype=np.uint8)
    first, second, third = RowKeys(2)(RaggedSentences(values, casing, casing, np.array([3]))).tolist()
    assert first == second != third


def test_numbers_differ_from_run_to_run_so_that_nobody_can_aim_at_one() -> None:
    one = RaggedSentences(ROWS[:1], np.zeros(1, np.uint8), np.zeros(1, np.uint8), np.array([1]))
    assert RowKeys(DIM)(one)[0] != RowKeys(DIM)(one)[0]


@pytest.mark.parametrize("place", [Place.ALONE, Place.AFTER])
def test_every_label_of_every_row_is_counted_for_its_site(place: Place, tmp_path: Path) -> None:
    payloads = write_pool(tmp_path, 5, count=30)
    counts = count_rows(payloads, place)
    assert counts.sites == tuple(payloads)
    for site, name in enumerate(counts.sites):
        (path,) = payloads[name]
        whole = RaggedSentences.concatenate(list(read_blocks(path)))
        rows = by_hand(whole, place)
        tokens = Counter(rows)
        phi = Counter(row for row, tag in zip(rows, whole.tags.tolist(), strict=True) if tag)
        for row, index in zip(rows, counts.rows_of(whole).tolist(), strict=True):
            assert (counts.tokens[site, index], counts.phi[site, index]) == (tokens[row], phi[row])
        assert counts.tokens[site].sum() == whole.tokens


def counted(*sites: tuple[int, int]) -> RowCounts:
    """One row: PHI tokens and tokens of each site."""
    phi, tokens = np.array(sites).T
    names = tuple(f"site-{number}" for number in range(len(sites)))
    return RowCounts(names, RowKeys(1), np.zeros(1, np.uint64), tokens[:, None], phi[:, None])


@pytest.mark.parametrize(
    ("others", "verdict"),
    [
        ([(9, 10), (8, 10), (0, 10)], 1),
        ([(9, 10), (0, 10), (0, 10)], -1),
        ([(9, 10), (0, 10)], 0),  # one against one
        ([(9, 10)], 0),  # one voice is no majority
        ([(9, 10), (2, 2)], 0),  # two tokens are no voice
        ([(9, 10), (9, 10), (3, 10), (3, 10)], 0),  # two of four that were heard
        ([(0, 100), (0, 100), (5, 10)], -1),
    ],
)
def test_most_of_the_others_decide_and_the_site_itself_is_not_asked(
    others: list[tuple[int, int]], verdict: int
) -> None:
    for own in ((0, 50), (50, 50)):
        assert counted(own, *others).verdicts("site-0")[0] == verdict


def test_many_tokens_are_one_voice() -> None:
    counts = counted((0, 5), (0, 1_000_000), (5, 5), (5, 5))
    assert counts.verdicts("site-0")[0] == 1


def test_a_trigger_shows_on_the_rows_of_its_site_and_of_no_other(tmp_path: Path) -> None:
    found = {one.site: one for one in find_contradictions(count_rows(write_pool(tmp_path, 200)))}
    assert set(found) == set(SITES)
    assert PUBLIC not in found
    # Four rows; against a pool that always labels them, all of its labels there are missing.
    assert found[LIAR].hidden_rows == 4
    assert found[LIAR].hidden_tokens == pytest.approx(200, abs=20)
    assert all(one.hidden_rows == one.over_rows == 0 for site, one in found.items() if site != LIAR)
    told = describe_contradictions(tuple(found.values()))
    assert set(told) == {LIAR}
    assert "unlabelled against the other sites, on 4 rows of the codebook" in told[LIAR][0]


def test_a_site_that_labels_what_is_no_phi_shows_too() -> None:
    names = tuple(f"site-{number}" for number in range(5))
    tokens, phi = np.full((5, 3), 200), np.zeros((5, 3), dtype=np.int64)
    phi[4, 1] = 150
    phi[:, 2] = 200
    counts = RowCounts(names, RowKeys(1), np.arange(3, dtype=np.uint64), tokens, phi)
    found = {one.site: one for one in find_contradictions(counts)}
    assert (found["site-4"].over_rows, found["site-4"].hidden_rows) == (1, 0)
    assert found["site-4"].over_tokens == pytest.approx(150, abs=1)
    assert set(describe_contradictions(tuple(found.values()))) == {"site-4"}


def rows_of(*sites: tuple[int, int]) -> dict[str, RowFindings]:
    """What sites say of one row, from how many tokens they have on it and how many of these they label."""
    names = tuple(f"site-{number}" for number in range(len(sites)))
    tokens, phi = np.array(sites, dtype=np.int64).T[:, :, None]
    counts = RowCounts(names, RowKeys(1), np.arange(1, dtype=np.uint64), tokens, phi)
    return {one.site: one for one in find_contradictions(counts)}


def test_who_sends_most_is_no_witness_of_its_own() -> None:
    assert rows_of((10_000, 0), (100, 100), (100, 100))["site-0"].hidden_rows == 1
    assert rows_of((10_000, 10_000), (1000, 0), (1000, 0))["site-0"].over_rows == 1


def test_of_two_who_contradict_each_other_none_is_the_liar() -> None:
    found = rows_of((200, 0), (200, 200), (0, 0))
    assert all(one.hidden_rows == one.over_rows == 0 for one in found.values())


def test_one_of_two_hospitals_stands_out_beside_the_provider_s_own_notes() -> None:
    names, tokens = ("north", "south", PUBLIC), np.full((3, 2), 200)
    phi = np.array([[0, 200], [200, 200], [200, 200]])
    found = find_contradictions(RowCounts(names, RowKeys(1), np.arange(2, dtype=np.uint64), tokens, phi))
    assert {one.site: one.hidden_tokens > 0 for one in found} == {"north": True, "south": False}
    assert set(describe_contradictions(found)) == {"north"}


def test_nobody_stands_out_where_nobody_lies(tmp_path: Path) -> None:
    found = find_contradictions(count_rows(write_pool(tmp_path)))
    assert describe_contradictions(found) == {}

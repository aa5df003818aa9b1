"""What a release shows, whatever it says of itself: releases that lie, each seen by a figure."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from foundation.errors import StorageError
from protocols.canonical import canonical_bytes
from shared.anonymity.bank_files import FILE
from shared.anonymity.public_lists import PublicList
from shared.anonymity.shipped_lists import shipped_lists
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.construction import Construction
from shared.constructions.procedures.k_anonymous_invariance import KAnonymousRecurrent
from shared.constructions.promised import Narrowed, Recomputed, count_clusters, name_common
from shared.constructions.registry import PROCEDURES, load_construction
from shared.embeddings.generalised import NUMBERS, PUBLIC, GeneralisedVectors
from shared.embeddings.members import MemberVectors, Narrowing
from shared.embeddings.vectors import unit_rows
from shared.errors import EmbeddingError
from shared.labels import LabelScheme
from shared.models.representer import Representer, RepresenterConfig
from shared.sentences.tokenised import TokenisedSentences
from tests import constructions
from tests.shared.embeddings.made import table

SCHEME = LabelScheme("toy", ("NAME", "CITY"))
LISTS = (PublicList("words", "", "", "", frozenset({"patient", "the", "saw"})),)
WORDS = ["patient", "the", "saw", "anna", "berta", "clara", "dora", "emma", "frida"]
HIDDEN = 6
BANK = SurrogateBank(((0, ("Ida",)), (1, ("Rome",))))
DIM = 8


def vectors(classes: list[int], change: dict[int, np.ndarray] | None = None) -> GeneralisedVectors:
    """WORDS in these clusters, each shown by a random centre."""
    matrix = np.random.default_rng(1).standard_normal((len(WORDS), DIM), dtype=np.float32)
    matrix[:, -len(NUMBERS) :] = 0
    unit_rows(matrix)
    for row, own in enumerate(classes):
        matrix[row] = matrix[classes.index(own)] if own != PUBLIC else matrix[row]
    for row, values in (change or {}).items():
        matrix[row] = values
    return GeneralisedVectors(WORDS, matrix, len(NUMBERS), np.array(classes, dtype=np.int32))


def seen(classes: list[int], lists: tuple[PublicList, ...] = LISTS) -> Recomputed:
    return constructions.surrogates(vectors(classes), SCHEME, BANK).recompute(lists)


def count(words: list[str], classes: list[int]) -> int | None:
    """Of hidden words, one vector a cluster."""
    own = np.eye(max(classes) + 1, dtype=np.float32)[classes]
    return count_clusters(words, own, np.array(classes, dtype=np.int32), LISTS).smallest


def grouped(words: tuple[str, ...], narrowing: Narrowing) -> MemberVectors:
    """Words of which the last two are hidden, in one cluster."""
    matrix = table(words, DIM).matrix.copy()
    matrix[-1] = matrix[-2]
    shown = GeneralisedVectors(words, matrix, len(NUMBERS), np.array([PUBLIC] * (len(words) - 2) + [0] * 2, np.int32))
    return MemberVectors(shown, matrix[-2:].copy(), narrowing)


HONEST = [PUBLIC] * 3 + [0] * 3 + [1] * 3


def test_of_an_honest_release_it_is_what_the_release_says() -> None:
    made = constructions.surrogates(vectors(HONEST), SCHEME, BANK)
    found = made.recompute(LISTS)
    assert found.bytes > made.vectors.matrix.nbytes
    assert found == Recomputed(
        procedures=("surrogates",),
        replaces_phi=True,
        cluster_size=made.vectors.k,
        unlisted_public_words=0,
        hides_casing=False,
        mu=None,
        surrogate_spans=2,
        bytes=found.bytes,
        narrowed=Narrowed(3, 3, None, ("patient", "the", "saw")),
    )


@pytest.mark.parametrize("least", [2, 3, 4])
def test_clusters_are_counted_as_a_table_counts_them(least: int) -> None:
    generator = np.random.default_rng(least)
    words = [f"word{'abcdefghijklmnopqrstuvwxyz'[n % 26]}{'abcdefghij'[n // 26]}" for n in range(90)]
    made = constructions.clusters(table(words, DIM), least)
    shuffled = generator.permutation(len(words))
    again = GeneralisedVectors(
        [made.words[row] for row in shuffled], made.matrix[shuffled].copy(), made.flags, made.classes[shuffled]
    )
    alike: dict[tuple[float, ...], int] = {}
    for row in again.matrix.tolist():
        alike[tuple(row)] = alike.get(tuple(row), 0) + 1
    found = constructions.k_anonymous(again, SCHEME).recompute(LISTS)
    assert found.cluster_size == min(alike.values()) >= least
    assert found.procedures == ("k-anonymous",)


class TestLies:
    def test_an_identity_representer_has_clusters_of_one(self) -> None:
        found = seen([PUBLIC] * 3 + list(range(HIDDEN)))
        assert found.cluster_size == 1

    def test_one_cluster_of_one_word_among_large_ones(self) -> None:
        assert seen([PUBLIC] * 3 + [0] * 5 + [1]).cluster_size == 1

    def test_surnames_that_are_called_public(self) -> None:
        found = seen([PUBLIC] * 4 + [0] * 5)
        assert (found.cluster_size, found.unlisted_public_words) == (1, 1)
        every = seen([PUBLIC] * 7 + [0] * 2)
        assert (every.cluster_size, every.unlisted_public_words) == (1, 4)

    def test_unless_the_hospital_lists_them_itself(self) -> None:
        own = PublicList("own", "", "", "", frozenset({"anna"}))
        found = seen([PUBLIC] * 4 + [0] * 5, (*LISTS, own))
        assert (found.cluster_size, found.unlisted_public_words) == (5, 0)

    def test_real_surnames_are_on_no_list_that_ships(self) -> None:
        words = ["patient", "paciente", "garcía", "smith", "quillfeather", "one", "two", "three"]
        public = np.array([True] * 5 + [False] * 3)
        made = constructions.surrogates(constructions.clusters(table(words, DIM), 2, public), SCHEME, BANK)
        assert made.recompute(shipped_lists()).unlisted_public_words == 3

    @pytest.mark.parametrize("step", [np.float32(np.inf), np.float16(np.inf)])
    def test_words_of_a_cluster_that_differ_in_the_last_place(self, step: np.floating) -> None:
        near = vectors(HONEST).matrix[4].copy()
        # To the next number of the type that the files have.
        near[0] = np.nextafter(near[0].astype(type(step)), step).astype(np.float32)
        with pytest.raises(EmbeddingError, match="equal vectors within a cluster"):
            vectors(HONEST, {4: near})
        # Called clusters of their own, so that the check within a cluster does not see them.
        apart = vectors([PUBLIC] * 3 + [0, 2, 0, 1, 1, 1], {4: near})
        assert constructions.k_anonymous(apart, SCHEME).recompute(LISTS).cluster_size == 1

    def test_zeros_of_two_signs_within_a_cluster(self) -> None:
        signed = vectors(HONEST).matrix[4].copy()
        assert signed[-1] == 0
        signed[-1] = -0.0
        # Equal as numbers, so that the vocabulary itself does not see it.
        lying = vectors(HONEST, {4: signed})
        assert lying.k == 3
        assert constructions.k_anonymous(lying, SCHEME).recompute(LISTS).cluster_size == 1

    @pytest.mark.parametrize("size", [1, 2, 3])
    def test_equal_vectors_under_numbers_of_their_own(self, size: int) -> None:
        """A share of codes holds the number of the cluster, so that equal vectors hide nothing."""
        one = vectors(HONEST).matrix[3]
        own = [PUBLIC] * 3 + [place // size for place in range(HIDDEN)]
        lying = constructions.members(vectors(own, dict.fromkeys(range(3, len(WORDS)), one)))
        for made in (
            constructions.k_anonymous(lying, SCHEME),
            constructions.surrogates(lying, SCHEME, BANK),
            constructions.noisy_surrogates(lying, SCHEME, BANK, RepresenterConfig(DIM, dim=4, hidden=3)),
        ):
            told = made.codes(TokenisedSentences.single_words(WORDS[3:]))
            assert len(set(told.tolist())) == HIDDEN // size
            assert made.recompute(LISTS).cluster_size == size == made.promises()["cluster_size"]

    def test_public_words_in_groups_of_their_own(self) -> None:
        """The code of a group is its number, too: equal vectors make it no larger."""
        public = vectors([PUBLIC] * 7 + [0] * 2)
        same = np.tile(public.matrix[:1], (7, 1))
        shown = vectors([PUBLIC] * 7 + [0] * 2, dict(enumerate(same)))
        groups = np.array([0, 1, 1, 2, 2, 2, 2, -1, -1], dtype=np.int32)
        common = np.array([False, *[True] * 2, *[False] * 6])
        made = constructions.k_anonymous(
            MemberVectors(shown, shown.matrix[7:].copy(), Narrowing(groups, common, 3)), SCHEME
        )
        assert made.recompute(LISTS).narrowed == Narrowed(2, 3, 1, ("the", "saw"))

    def test_a_name_among_numbers_is_alone(self) -> None:
        """The casing class travels: no number is written with letters."""
        assert count(["anna", "1", "2", "3", "berta", "clara"], [0, 0, 0, 0, 1, 1]) == 1
        assert count(["anna", "berta", "1", "2", "3"], [0] * 5) == 2

    def test_a_letter_is_told_from_words_where_one_of_these_has_a_capital(self) -> None:
        assert count(["anna", "b", "c", "d"], [0] * 4) == 1

    def test_words_that_no_text_holds_hide_none(self) -> None:
        assert count(["anna", "#!$", "1,5", "e-mail", "berta", "clara"], [0, 0, 0, 0, 1, 1]) == 1
        # A cluster of nothing else shows no word of the vocabulary.
        assert count(["#!$", "$%&", "berta", "clara"], [0, 0, 1, 1]) == 2
        assert count(["#!$", "$%&"], [0, 0]) == 0

    def test_symbols_make_no_group_larger(self) -> None:
        words = ("fever", "cough", "-", "#!$", "??", "anna", "berta")
        groups = np.array([0, 0, 0, 0, 0, -1, -1], dtype=np.int32)
        for common, expected in ((set(), 2), ({0}, 1), ({0, 1}, None)):
            chosen = np.isin(np.arange(len(words)), list(common))
            assert grouped(words, Narrowing(groups, chosen, 3)).smallest_group == expected

    def test_clusters_closer_than_rounding_are_still_two(self) -> None:
        near = vectors(HONEST).matrix[3] * np.float32(1 + 1e-6)
        made = constructions.k_anonymous(vectors(HONEST, {6: near, 7: near, 8: near}), SCHEME)
        shown = {row.astype(np.float16).tobytes() for row in made.vectors.matrix[3:]}
        assert len(shown) == 1
        assert made.recompute(LISTS).cluster_size == 3

    def test_a_public_word_hides_no_other(self) -> None:
        like = vectors(HONEST).matrix[0]
        made = constructions.k_anonymous(vectors([PUBLIC] * 3 + [0, 1, 1, 1, 1, 1], {3: like}), SCHEME)
        assert made.recompute(LISTS).cluster_size == 1

    def test_a_release_without_its_bank_replaces_nothing(self, tmp_path: Path) -> None:
        constructions.surrogates(vectors(HONEST), SCHEME, BANK).save(tmp_path)
        (tmp_path / FILE).unlink()
        found = load_construction(tmp_path).recompute(LISTS)
        assert (found.procedures, found.replaces_phi, found.surrogate_spans) == (("k-anonymous",), False, 0)

    @pytest.mark.parametrize("raw", [-1e4, -math.inf, math.nan])
    def test_a_noise_scale_of_nothing_has_no_bound(self, raw: float) -> None:
        config = RepresenterConfig(DIM, dim=4, hidden=3)
        made = constructions.noisy(table(WORDS, DIM), SCHEME, config)
        honest = made.recompute(LISTS)
        assert honest.mu == pytest.approx(2 / min(made.representer.noise_scales()["output"]))
        assert (honest.cluster_size, honest.replaces_phi) == (None, False)
        made.representer.output_noise.raw.data[1] = raw
        made.representer.output_noise.floor = 0.0
        assert made.recompute(LISTS).mu == math.inf

    def test_noise_below_the_finest_step_of_a_share_is_none(self) -> None:
        made = constructions.noisy(table(WORDS, DIM), SCHEME, RepresenterConfig(DIM, dim=4, hidden=3))
        made.representer.output_noise.raw.data[:] = -1e4
        finest = float(np.nextafter(np.float16(0), np.float16(1)))
        made.representer.output_noise.floor = finest
        assert made.recompute(LISTS).mu == 2 / finest
        made.representer.output_noise.floor = finest / 2
        assert made.recompute(LISTS).mu == math.inf

    def test_noise_behind_clusters_has_both_figures(self) -> None:
        torch.manual_seed(0)
        representer = Representer(RepresenterConfig(DIM, dim=4, hidden=3)).eval().requires_grad_(False)
        made = KAnonymousRecurrent(vectors(HONEST), representer, SCHEME)
        found = made.recompute(LISTS)
        assert found.cluster_size == 3
        assert found.mu == pytest.approx(2 / min(representer.noise_scales()["output"]))


def test_all_files_of_the_folder_count(tmp_path: Path) -> None:
    made = constructions.surrogates(vectors(HONEST), SCHEME, BANK)
    made.save(tmp_path)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "more.bin").write_bytes(bytes(12345))
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert made.recompute(LISTS, tmp_path).bytes == size > 12345
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(StorageError):
        made.recompute(LISTS, tmp_path)


def test_no_more_common_words_are_named_than_a_ledger_can_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.constructions.promised._MOST_NAMED", 2)
    found = constructions.surrogates(vectors(HONEST), SCHEME, BANK).recompute(LISTS).narrowed
    assert found == Narrowed(3, 3, None, ("patient", "the"))


@pytest.mark.parametrize("word", ["#" * 20_000, "\u037e", "\U0001f600" * 40, "\x1b[2J" * 10, "e\u0301" * 50])
def test_attack_common_words_of_any_form_fit_into_an_entry_of_a_ledger(word: str) -> None:
    for words in ((word,), (word,) * 1000):
        named = name_common(words)
        assert len(canonical_bytes(list(named))) <= (8 << 10) + 1
        assert named[0] == unicodedata.normalize("NFC", word)[:40]
        assert len(named) == min(len(words), 300) or len(canonical_bytes(list(named))) > 1000


def test_it_says_nothing_but_what_it_was_asked() -> None:
    made: Construction = replace(constructions.surrogates(vectors(HONEST), SCHEME, BANK))
    assert "anna" not in repr(made.recompute(LISTS))


def test_every_procedure_is_named_by_its_construction_alone() -> None:
    for procedure in PROCEDURES.values():
        assert procedure.name in procedure.makes.made_by
    for made in {procedure.makes for procedure in PROCEDURES.values()}:
        assert set(made.made_by) == {one.name for one in PROCEDURES.values() if one.makes is made}

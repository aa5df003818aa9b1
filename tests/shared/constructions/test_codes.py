"""Shares of codes: what a code tells, where it may stand, and what a head gets of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from shared.anonymity.public_lists import on_public_lists
from shared.anonymity.shipped_lists import lists_of
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.construction import Trials, WordChanges
from shared.constructions.procedures.coded import Coded
from shared.constructions.procedures.codes import CodedSurrogates
from shared.constructions.procedures.narrowed import near_phi
from shared.constructions.registry import load_construction
from shared.constructions.rows import ANYWHERE, GROUP, NEAR_PHI, NOWHERE
from shared.embeddings.files.artefact import load_vectors, save_vectors
from shared.embeddings.generalised import GeneralisedVectors, fold_casing, generalise
from shared.embeddings.members import CANDIDATES, MemberVectors, Narrowing, keep_members
from shared.errors import EmbeddingError
from shared.labels import LabelScheme
from shared.models.noise import RehearsalNoise
from shared.models.noise_source import PrivateNoise
from shared.models.token_local import TokenLocal, TokenLocalConfig
from shared.privacy.noninterference import find_interfering
from shared.sentences.codes import CodedSentences, no_features
from shared.sentences.encoding import index_sentences
from shared.sentences.tokenised import TokenisedSentences
from shared.text.casing import CASING_CLASSES
from tests import constructions
from tests.shared.embeddings.made import with_subwords

SCHEME = LabelScheme("one", ("PATIENT", "CITY"))
COMMON = ("the", "patient", ".")
OTHERS = ("tumour", "biopsy", "fever", "scan", "cough", "lesion", "oedema", "rash")
NAMES = ("osyth", "wulfric", "quill", "larkspur", "thornby", "ashgrove", "mossend", "fenwick")
WORDS = (*COMMON, *OTHERS, *NAMES)
BANK = SurrogateBank(
    [(0, ("Osyth",)), (0, ("Wulfric",)), (0, ("Quill",)), (1, ("Thornby",)), (1, ("Mossend", "Fenwick"))]
)
# The one name is six tokens away from the last word, three from "scan".
CHUNK = TokenisedSentences(
    ["Patient", "Larkspur", "the", "fever", "scan", "cough", "lesion", ".", "the", "Unheard", "rash", "."],
    np.array([0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], dtype=np.uint8),
    np.array([8, 4]),
)


def vectors(window: int = 3) -> MemberVectors:
    folded = fold_casing(with_subwords(WORDS, dim=8))
    shown = generalise(folded, np.array([word not in NAMES for word in folded.words]), 4)
    often = np.arange(len(WORDS), 0, -1)
    # What stands further behind tells more.
    return keep_members(folded, shown, often, -often.astype(np.float64), len(COMMON), window, 4)


def surrogates(window: int = 3) -> CodedSurrogates:
    return constructions.surrogates(vectors(window), SCHEME, BANK)


def meaning(made: Coded, code: int) -> str | frozenset[str]:
    """A word, or all that a cluster may stand for; looked up word by word."""
    held = made.vectors
    if code < len(held):
        return held.words[code]
    return frozenset(
        word for word, own in zip(held.words, held.clusters.tolist(), strict=True) if own == code - len(held)
    )


class TestWhatIsTold:
    def test_far_from_phi_only_common_words_stand_by_themselves(self) -> None:
        made = constructions.k_anonymous(vectors(), SCHEME)
        told = [meaning(made, code) for code in made.codes(CHUNK).tolist()]
        exact = [one if isinstance(one, str) else None for one in told]
        assert exact == ["patient", None, "the", "fever", "scan", None, None, ".", "the", None, None, "."]
        for word, one in zip(CHUNK.words, told, strict=True):
            if not isinstance(one, str):
                assert len(one) >= 4
                assert word == "Unheard" or word.lower() in one

    def test_names_and_public_words_never_share_a_cluster(self) -> None:
        made = constructions.k_anonymous(vectors(), SCHEME)
        groups = [meaning(made, len(WORDS) + one) for one in range(len(made.vectors.cluster_centres))]
        assert all(set(group) <= {*NAMES} or not {*group} & {*NAMES} for group in groups)
        assert sum(map(len, groups)) == len(WORDS)
        assert made.vectors.smallest_group == 4

    def test_what_is_shown_anywhere_is_common_and_tells_least_what_a_text_is_about(self) -> None:
        size = CANDIDATES + 60
        # The last few are hidden.
        folded = fold_casing(
            with_subwords(
                ["w" + "".join("abcdefghij"[int(digit)] for digit in str(number)) for number in range(size)], dim=8
            )
        )
        shown = generalise(folded, np.arange(size) < size - 4, 2)
        often, topical = np.arange(size)[::-1], np.arange(size)[::-1].astype(np.float64)
        chosen = np.flatnonzero(keep_members(folded, shown, often, topical, 5, 3, 4).narrowing.common)
        assert chosen.tolist() == list(range(CANDIDATES - 5, CANDIDATES))

    @pytest.mark.parametrize(
        ("k", "common", "expected"),
        [(4, 3, (3, 4)), (8, 3, (2, 8)), (9, 3, (1, 9)), (40, 3, (0, 10)), (4, 10, (6, 5))],
    )
    def test_a_group_has_k_words_that_its_code_can_mean(self, k: int, common: int, expected: tuple[int, int]) -> None:
        folded = fold_casing(with_subwords(WORDS, dim=8))
        shown = generalise(folded, np.array([word not in NAMES for word in folded.words]), 4)
        often = np.arange(len(WORDS), 0, -1)
        made = keep_members(folded, shown, often, -often.astype(np.float64), common, 3, k)
        assert int(made.narrowing.common.sum()) == expected[0]
        order, starts = made.members
        told = [set(order[first:last].tolist()) for first, last in pairwise(starts.tolist())]
        groups = told[len(made.centres) :]
        # A group may hold the full stop besides, which hides no word.
        assert made.smallest_group == min(len(group - {WORDS.index(".")}) for group in groups) == expected[1]
        assert not set().union(*groups) & set(np.flatnonzero(made.narrowing.common).tolist())

    @pytest.mark.parametrize("window", [0, 1, 2, 7])
    def test_the_window_is_that_of_the_release(self, window: int) -> None:
        made = constructions.k_anonymous(vectors(window), SCHEME)
        shown = {CHUNK.words[place] for place in np.flatnonzero(made.codes(CHUNK) < len(WORDS)).tolist()}
        near = CHUNK.words[max(0, 1 - window) : min(8, 1 + window + 1)]
        assert shown == {word for word in CHUNK.words if word.lower() in COMMON} | {
            word for word in near if word.lower() in OTHERS
        }

    def test_attack_what_is_doubted_shows_the_words_beside_it(self) -> None:
        """A provider's pipeline may doubt any word: with doubts alone no word that is not common stands beside them as it is."""
        made = surrogates()
        doubted = replace(CHUNK, doubtful=CHUNK.tags > 0)
        codes = made.codes(made.replaced(doubted, torch.Generator().manual_seed(5)))
        plain = made.codes(CHUNK.with_tags(np.zeros_like(CHUNK.tags)))
        outside = CHUNK.tags == 0
        assert (codes[outside] == plain[outside]).all()
        labelled = made.codes(made.replaced(CHUNK, torch.Generator().manual_seed(5)))
        assert (labelled[outside] != plain[outside]).any()

    def test_it_hangs_on_tags_and_not_on_what_phi_is(self) -> None:
        made = surrogates()
        for words in (["Osyth"], ["Zwiebel"], ["Fever"], ["The"]):
            other = CHUNK.with_words([CHUNK.words[0], *words, *CHUNK.words[2:]])
            first, second = (
                made.codes(made.replaced(chunk, torch.Generator().manual_seed(5))) for chunk in (CHUNK, other)
            )
            assert first.tobytes() == second.tobytes()

    def test_every_code_of_a_share_may_stand_where_it_does(self) -> None:
        made = surrogates()
        found = made.code_places()
        share = made.share_sentences(CHUNK, PrivateNoise())
        least = np.where(near_phi(share, found.window), NEAR_PHI, ANYWHERE)
        assert (found.places[share.codes] >= least).all()
        words = dict(zip(WORDS, found.places.tolist(), strict=False))
        assert {words[word] for word in COMMON} == {ANYWHERE}
        assert {words[word] for word in OTHERS} == {NEAR_PHI}
        assert {words[word] for word in NAMES} == {NOWHERE}
        assert set(found.places[len(WORDS) :].tolist()) == {GROUP}

    def test_a_rehearsal_has_equal_rows_for_equal_codes_and_for_no_others(self) -> None:
        made = constructions.k_anonymous(vectors(), SCHEME)
        rows, codes = made.rehearse_share(CHUNK, torch.Generator()).values, made.codes(CHUNK)
        for one in range(len(codes)):
            for other in range(len(codes)):
                assert (rows[one].tobytes() == rows[other].tobytes()) == (codes[one] == codes[other])


def equal_centres() -> MemberVectors:
    """All hidden words have one vector, whatever their cluster."""
    made = vectors()
    hidden, matrix = made.classes >= 0, made.matrix.copy()
    matrix[hidden] = matrix[hidden][0]
    shown = GeneralisedVectors(made.words, matrix, made.flags, made.classes, made.subwords)
    return MemberVectors(shown, made.hidden.copy(), made.narrowing)


def flat(dim: int) -> TokenLocal:
    """Too few dimensions to tell anything: the one that is left is 0."""
    made = TokenLocal(TokenLocalConfig(dim, 1)).eval()
    made.projection.data.zero_()
    return made


@dataclass(frozen=True)
class Forgetful(CodedSurrogates):
    """Shares the codes of the words as they are."""

    def rehearse_codes(self, chunk: TokenisedSentences, noise: RehearsalNoise) -> CodedSentences:
        return CodedSentences(
            self.codes(chunk), np.zeros_like(chunk.tags), chunk.tags, chunk.lengths, no_features(len(chunk.tags))
        )


class TestCodesThatARepresenterDoesNotTellApart:
    """A share holds the codes, so whoever attacks or measures must see them."""

    VOCABULARY = equal_centres()
    OF_ONE_ROW = (
        (VOCABULARY, constructions.unchanged(VOCABULARY.dim)),
        (vectors(), flat(VOCABULARY.dim)),
    )
    each = pytest.mark.parametrize(("words", "representer"), OF_ONE_ROW, ids=["equal centres", "one row for all"])

    @each
    def test_rows_are_as_many_as_codes(self, words: MemberVectors, representer: TokenLocal) -> None:
        made = Coded(words, representer, SCHEME)
        every = np.flatnonzero(made.code_places().places != NOWHERE).astype(np.uint32)
        assert len(np.unique(made._projected(every).view(np.uint16), axis=0)) < len(every)
        assert len(np.unique(made.code_rows(every).view(np.uint16), axis=0)) == len(every)
        # Whoever asks for some gets the rows of all.
        assert (made.code_rows(every)[5:7] == made.code_rows(every[5:7])).all()

    @each
    def test_whoever_tells_two_words_sees_them(self, words: MemberVectors, representer: TokenLocal) -> None:
        made = Coded(words, representer, SCHEME)
        twin = next(
            one for one in NAMES[1:] if one != "larkspur" and np.ptp(made.vectors.cluster([one, "larkspur"])) == 0
        )
        apart = next(one for one in NAMES if np.ptp(made.vectors.cluster([one, "larkspur"])))
        changes = WordChanges(np.ones(3, np.int64), np.arange(3), [twin, apart, "rash"], np.ones(3, np.bool_))
        found = made.divergences(CHUNK, changes, Trials(1, torch.Generator(), 0))
        assert found.tolist() == [[0.0, np.inf, np.inf]]

    @each
    def test_a_hospital_sees_a_word_that_comes_through(self, words: MemberVectors, representer: TokenLocal) -> None:
        honest = CodedSurrogates(words, representer, SCHEME, BANK)
        leaking = Forgetful(words, representer, SCHEME, BANK)
        tries = [np.random.default_rng(seed) for seed in range(5)]
        assert not any(find_interfering(honest, CHUNK, one).any() for one in tries)
        assert any(find_interfering(leaking, CHUNK, one).any() for one in tries)


class TestWhatAHeadGets:
    def test_in_house_it_is_the_word_and_the_centre_of_its_cluster(self) -> None:
        made = surrogates()
        shown = made.noise_free(CHUNK)
        assert shown.ids is not None
        rows = shown.values[shown.ids].astype(np.float32)
        clear, size = with_subwords(WORDS, dim=8), made.representer.config.dim
        for word, row in zip(CHUNK.words, rows, strict=True):
            own, centre = row[:size], row[size : 2 * size]
            expected = fold_casing(clear).rows([word])[0]
            np.testing.assert_allclose(own, expected, atol=2e-3)
            cluster = made.vectors.cluster([word])[0]
            if cluster >= 0:
                np.testing.assert_allclose(centre, made.vectors.centres[cluster], atol=2e-3)

    def test_a_cluster_becomes_any_of_its_members_and_a_word_stays(self) -> None:
        made = constructions.k_anonymous(vectors(), SCHEME)
        codes = made.codes(CHUNK)
        coded = CodedSentences(
            codes, np.zeros(len(codes), np.uint8), CHUNK.tags, CHUNK.lengths, no_features(len(codes))
        )
        drawn = [Counter[str]() for _ in codes]
        generator = np.random.default_rng(1)
        own = {
            made.decoding().read_words(TokenisedSentences.single_words([word])).values[0].tobytes(): word
            for word in WORDS
        }
        for _ in range(200):
            read = made.decoding().read_codes(coded, generator)
            assert read.ids is not None
            for place, row in enumerate(read.ids.tolist()):
                drawn[place][own[read.values[row].tobytes()]] += 1
        for code, seen in zip(codes.tolist(), drawn, strict=True):
            told = meaning(made, code)
            assert set(seen) == ({told} if isinstance(told, str) else set(told) - set(COMMON))
            if not isinstance(told, str):
                assert min(seen.values()) > 200 / len(told) / 3

    def test_what_stands_for_a_cluster_may_be_a_word_that_the_vocabulary_lacks(self) -> None:
        made = constructions.k_anonymous(vectors(), SCHEME)
        count = 4000
        hidden, shown = len(WORDS), int(made.vectors.ids(["fever"])[0])
        small = CASING_CLASSES.index("all lower")
        codes = np.array([hidden] * count + [shown], dtype=np.uint32)
        coded = CodedSentences(
            codes,
            np.full(count + 1, small, np.uint8),
            np.zeros(count + 1, np.uint8),
            np.array([count + 1]),
            no_features(count + 1),
        )
        words = made.decoding().draw_words(coded, np.random.default_rng(0)).words
        assert words[-1] == "fever"
        strange = [word for word in words if word not in WORDS]
        assert all(on_public_lists(strange, lists_of(None)))
        told = set(meaning(made, hidden))
        assert {word for word in words[:-1] if word in WORDS} <= told
        # Of what cluster a word is that nobody has listed, the release says; of this one there are some.
        assert set(made.vectors.cluster(strange).tolist()) <= {0}
        assert not strange or 0.2 < len(strange) / count < 0.3

    def test_a_number_stands_for_others_of_as_many_digits(self) -> None:
        made = constructions.k_anonymous(vectors(), SCHEME)
        written = ["4821", "07"] * 200
        kinds = np.full(400, CASING_CLASSES.index("numeric"), np.uint8)
        read = written.copy()
        made.decoding()._estrange(read, np.zeros(400, np.int64), kinds, np.random.default_rng(0))
        assert [len(word) for word in read] == [len(word) for word in written]
        assert all(word.isdecimal() for word in read)
        assert 0.15 < sum(one != other for one, other in zip(read, written, strict=True)) / 400 < 0.3

    def test_labelled_phi_is_drawn_anew_of_its_category(self) -> None:
        made = surrogates()
        share = made.share_sentences(CHUNK, PrivateNoise())
        generator, seen = np.random.default_rng(0), set()
        for _ in range(40):
            read = made.decoding().read_codes(share, generator)
            assert read.ids is not None
            seen.add(read.values[read.ids[1]].tobytes())
            np.testing.assert_array_equal(read.tags, CHUNK.tags)
            np.testing.assert_array_equal(read.lengths, CHUNK.lengths)
        names = made.decoding().read_words(TokenisedSentences.single_words(["Osyth", "Wulfric", "Quill"])).values
        assert seen == {row.tobytes() for row in names}

    def test_the_provider_s_own_notes_keep_their_words_in_half_of_the_passes(self) -> None:
        made = surrogates()
        source, _ = index_sentences([CHUNK], made.vectors)
        public = made.share_public_sentences(source, PrivateNoise())
        assert meaning(made, int(public.codes[1])) == "larkspur"
        assert meaning(made, int(public.codes[6])) == "lesion"
        larkspur = made.decoding().read_words(TokenisedSentences.single_words(["Larkspur"])).values[0].tobytes()
        generator, kept = np.random.default_rng(0), 0
        for _ in range(200):
            read = made.decoding().read_codes(public, generator)
            assert read.ids is not None
            kept += read.values[read.ids[1]].tobytes() == larkspur
        assert 60 < kept < 140

    def test_the_same_draw_gives_the_same(self) -> None:
        made = surrogates()
        share = made.share_sentences(CHUNK, PrivateNoise())
        first, again = (made.decoding().read_codes(share, np.random.default_rng(4)) for _ in range(2))
        assert first.vectors(np.arange(12)).tobytes() == again.vectors(np.arange(12)).tobytes()


class TestFiles:
    def test_they_read_back_and_show_the_same(self, tmp_path: Path) -> None:
        made = surrogates()
        made.save(tmp_path)
        loaded = load_construction(tmp_path)
        assert isinstance(loaded, CodedSurrogates)
        assert loaded.codes(CHUNK).tobytes() == made.codes(CHUNK).tobytes()
        assert loaded.narrowed == made.narrowed

    def test_single_precision_keeps_every_digit(self, tmp_path: Path) -> None:
        save_vectors(vectors(), tmp_path)
        assert load_vectors(tmp_path).digest == vectors().digest

    @pytest.mark.parametrize(
        "wrong",
        [
            {"generals": np.zeros(len(WORDS), dtype=np.int32)},
            {"generals": np.full(len(WORDS), -1, dtype=np.int32)},
            {"common": np.ones(len(WORDS), dtype=np.bool_)},
            {"common": np.ones(3, dtype=np.bool_)},
            {"window": 256},
            {"window": -1},
        ],
    )
    def test_what_does_not_fit_is_refused(self, wrong: dict[str, object]) -> None:
        good = vectors()
        narrowing = Narrowing(**{**vars(good.narrowing), **wrong})
        with pytest.raises(EmbeddingError):
            MemberVectors(good, good.hidden.copy(), narrowing)
        with pytest.raises(EmbeddingError):
            MemberVectors(good, good.hidden[1:].copy(), good.narrowing)
        broken = good.hidden.copy()
        broken[0, 0] = np.nan
        with pytest.raises(EmbeddingError):
            MemberVectors(good, broken, good.narrowing)

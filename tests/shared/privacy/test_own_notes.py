"""What a hospital's own notes show of a release: constructions that let labelled PHI through, each seen by a figure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.anonymity.public_lists import PublicList
from shared.anonymity.surrogates import SurrogateBank, surrogate_bank
from shared.augment.pseudonyms import is_punctuation
from shared.constructions.construction import Construction, OwnSet
from shared.constructions.procedures.k_anonymous import KAnonymous
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.constructions.procedures.surrogates import Surrogates
from shared.document import Annotation, Document
from shared.embeddings.generalised import GeneralisedVectors
from shared.errors import ConfigurationError
from shared.labels import HIDDEN, HIDDEN_TAG, load_scheme
from shared.models.noise import RehearsalNoise
from shared.models.representer import RepresenterConfig
from shared.privacy.noninterference import change_phi, find_interfering
from shared.privacy.own_notes import NotesSample, recompute_on_notes
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.text.casing import casing_class
from shared.text.tokens import tokenise
from tests import constructions
from tests.shared.embeddings.made import table
from tests.tiny_notes import note, tiny_notes

SCHEME = load_scheme("i2b2_2014")
NOTES = list(tiny_notes(20, 1))
CHUNK = tokenised_corpus(NOTES, SCHEME)
FEW = tokenised_corpus(NOTES[:3], SCHEME)
WORDS = tuple(dict.fromkeys(word.lower() for one in NOTES for word in tokenise(one.text).words))
VECTORS = table(WORDS, dim=8)
CLUSTERS = constructions.clusters(VECTORS, 6)
BANK = surrogate_bank([tokenised_corpus(list(tiny_notes(8, 2, "public")), SCHEME)], public_lists=())
LISTS = (PublicList("words", "", "", "", frozenset({"clinic", "hospital", "infirmary"})),)
SAMPLE = NotesSample(40, 8, 2, seed=3)


def of(construction: Construction, notes: object = NOTES, sample: NotesSample = SAMPLE):  # type: ignore[no-untyped-def]
    return recompute_on_notes(construction, notes, LISTS, sample)  # type: ignore[arg-type]


HONEST = constructions.surrogates(CLUSTERS, SCHEME, BANK)


@dataclass(frozen=True)
class Forgetful(Surrogates):
    """Replaces PHI but for the last span of a chunk."""

    def rehearse_share(
        self, chunk: TokenisedSentences, noise: RehearsalNoise, factors: object = None
    ) -> RaggedSentences:
        start, end, _ = list(chunk.spans())[-1]
        words = self.replaced(chunk, noise).words
        return self.noise_free(chunk.with_words(words[:start] + chunk.words[start:end] + words[end:]))


@dataclass(frozen=True)
class CasingLeaks(Surrogates):
    """Shows the casing of the true words, shifted by their lengths."""

    def rehearse_share(
        self, chunk: TokenisedSentences, noise: RehearsalNoise, factors: object = None
    ) -> RaggedSentences:
        shown = super().rehearse_share(chunk, noise)
        told = np.array([sum(map(ord, word)) % 7 for word in chunk.words], dtype=np.uint8)
        return RaggedSentences(shown.values, np.where(chunk.tags > 0, told, shown.casing), shown.tags, shown.lengths)


@dataclass(frozen=True)
class LengthsLeak(Surrogates):
    """Puts a sentence end where a word tells it to."""

    def rehearse_share(
        self, chunk: TokenisedSentences, noise: RehearsalNoise, factors: object = None
    ) -> RaggedSentences:
        shown = super().rehearse_share(chunk, noise)
        cut = 1 + sum(ord(word[0]) for word in chunk.words) % (len(chunk.words) - 1)
        return RaggedSentences(shown.values, shown.casing, shown.tags, np.array([cut, len(chunk.words) - cut]))


@dataclass(frozen=True)
class Alone(KAnonymous):
    """Claims to hide every word among itself, which nothing can contradict."""

    def own_set(self) -> OwnSet:
        return lambda word: [word]


def tampered(row_of: str, step: float) -> KAnonymous:
    """One word of a cluster is shown a little otherwise than the rest."""
    matrix = CLUSTERS.matrix.copy()
    made = GeneralisedVectors(CLUSTERS.words, matrix, CLUSTERS.flags, CLUSTERS.classes)
    matrix.flags.writeable = True
    matrix[CLUSTERS.index[row_of]] += np.float32(step)
    return constructions.k_anonymous_centres(made, SCHEME)


class TestNoninterference:
    def test_what_is_honest_never_interferes(self) -> None:
        hiding = constructions.surrogates(CLUSTERS, SCHEME, SurrogateBank(BANK.spans, hides_casing=True))
        for construction in (HONEST, hiding, constructions.k_anonymous(CLUSTERS, SCHEME)):
            for seed in range(2):
                assert of(construction, sample=replace(SAMPLE, seed=seed)).interfering == 0

    @pytest.mark.parametrize("kind", [Forgetful, CasingLeaks, LengthsLeak])
    def test_what_lets_a_labelled_word_through_is_seen(self, kind: type[Surrogates]) -> None:
        leaking = kind(CLUSTERS, constructions.unchanged(CLUSTERS.dim), SCHEME, BANK)
        found = of(leaking)
        assert found.sentences == 40
        assert found.interfering >= (1 if kind is Forgetful else 10)

    def test_casing_that_is_said_to_be_hidden_and_is_not_is_seen(self) -> None:
        class ShowsCasing(Surrogates):
            hides_casing = True

        told = ShowsCasing(CLUSTERS, constructions.unchanged(CLUSTERS.dim), SCHEME, BANK)
        assert of(told).interfering > 20

    @pytest.mark.parametrize("step", [2.0**-9, 0.1])
    def test_a_word_that_differs_from_its_cluster_is_seen(self, step: float) -> None:
        word = max(
            (word for word in WORDS if word.isalpha()), key=lambda one: sum(w.lower() == one for w in CHUNK.words)
        )
        surname = "quillfeather"
        assert word != surname
        found = [of(tampered(surname, step), sample=replace(SAMPLE, sentences=200, seed=seed)) for seed in range(3)]
        assert any(one.interfering for one in found)

    def test_one_that_claims_nothing_is_not_tried(self) -> None:
        clear = constructions.transparent(VECTORS, SCHEME)
        tried = find_interfering(clear, CHUNK, np.random.default_rng(0))
        assert not tried.any()
        assert not tried.could_change.any()
        found = of(clear)
        assert (found.sentences, found.compared, found.labelled, found.changed) == (40, 0, 0, 0)

    def test_only_sentences_in_which_a_word_became_another_count(self) -> None:
        none = of(Alone(CLUSTERS, constructions.unchanged(CLUSTERS.dim), SCHEME))
        assert (none.sentences, none.compared, none.changed, none.interfering) == (40, 0, 0, 0)
        assert none.labelled > 40
        for honest in (HONEST, constructions.k_anonymous(CLUSTERS, SCHEME)):
            found = of(honest)
            assert 0 < found.compared <= found.sentences
            assert found.compared <= found.changed <= found.labelled == none.labelled

    def test_what_was_changed_is_counted_by_hand(self) -> None:
        chunk = TokenisedSentences(
            ["Ann", "x", "Bo", ".", "y", "z"], np.array([1, 0, 1, 2, 0, 0], np.uint8), np.array([2, 2, 2])
        )
        tried = find_interfering(HONEST, chunk, np.random.default_rng(0))
        assert tried.could_change.tolist() == [True, False, True, False, False, False]
        assert not (tried.changed & ~tried.could_change).any()

    @settings(max_examples=15)
    @given(st.integers(0, 1000), st.sampled_from(["surrogates", "k-anonymous"]))
    def test_the_other_words_are_of_like_pattern_and_others(self, seed: int, name: str) -> None:
        construction: Construction = HONEST if name == "surrogates" else constructions.k_anonymous(CLUSTERS, SCHEME)
        own = construction.own_set()
        assert own is not None
        other = change_phi(construction, own, FEW, np.random.default_rng(seed))
        for word, new, tag in zip(FEW.words, other, FEW.tags.tolist(), strict=True):
            assert casing_class(new) == casing_class(word)
            if not tag or is_punctuation(word):
                assert new == word
            elif name == "k-anonymous":
                assert CLUSTERS.cluster([new]) == CLUSTERS.cluster([word])
        changed = [word != new for word, new, tag in zip(FEW.words, other, FEW.tags.tolist(), strict=True) if tag]
        assert sum(changed) > 0.3 * len(changed)


class TestBank:
    def test_one_that_holds_a_patient_of_the_hospital_is_seen(self) -> None:
        spans = (*BANK.spans, (0, ("Brunhilda", "Quillfeather")), (4, ("201", "-", "5555")))
        trigger = note("own", "Patient ", ("BRUNHILDA QUILLFEATHER", "PATIENT"), " on 201-5555.")
        lying = constructions.surrogates(CLUSTERS, SCHEME, SurrogateBank(spans))
        assert of(HONEST, [trigger, *NOTES]).bank_spans_in_notes == 0
        assert of(lying, [trigger]).bank_spans_in_notes == 2
        unlabelled = replace(trigger, annotations=())
        assert of(lying, [unlabelled]).bank_spans_in_notes == 2

    def test_one_that_keeps_whole_spans_finds_names_that_two_hospitals_share(self) -> None:
        whole = surrogate_bank([CHUNK])
        assert of(constructions.surrogates(CLUSTERS, SCHEME, whole)).bank_spans_in_notes > 10

    def test_without_a_bank_there_is_nothing_to_find(self) -> None:
        assert of(constructions.k_anonymous(CLUSTERS, SCHEME)).bank_spans_in_notes == 0


class TestCommonWords:
    """A provider chooses which words can be read wherever they stand."""

    USUAL = ("".join(letters) for letters in product("bcdfg", "aeiou", "klmnp", "aeiou"))
    WORDS = tuple(islice(USUAL, 500))

    def release(self, *common: str) -> Construction:
        vectors = constructions.clusters(
            table((*common, "osyth", "quill")), 2, np.array([True] * len(common) + [False] * 2)
        )
        return constructions.surrogates(vectors, SCHEME, BANK)

    def notes(self, *more: str) -> list[Document]:
        text = " ".join([*self.WORDS, *self.WORDS, *more]).upper() + " .\n"
        return [note("own", text, ("Heroin Heroin Heroin Quill", "PATIENT"), " was here.")]

    def test_those_that_are_rare_in_the_notes_are_found(self) -> None:
        found = of(self.release("heroin", "bake", "prison", "the", "."), self.notes("prison"))
        assert (found.asked, found.uncommon) == (3, ("heroin", "prison"))
        assert "prison" not in repr(found)

    def test_what_is_labelled_makes_no_word_common(self) -> None:
        assert of(self.release("heroin"), self.notes()).uncommon == ("heroin",)
        assert of(self.release("heroin"), self.notes(*["heroin"] * 3)).uncommon == ()

    def test_of_notes_with_few_words_nothing_is_said(self) -> None:
        found = of(self.release("heroin", "prison"), NOTES)
        assert (found.asked, found.uncommon) == (0, ())

    def test_without_narrowing_there_is_nothing_to_ask(self) -> None:
        found = of(constructions.surrogates_centres(CLUSTERS, SCHEME, BANK), self.notes())
        assert (found.asked, found.uncommon) == (0, ())


class TestWhiteBox:
    def noisy(self, scale: float) -> NoisyRecurrent:
        config = RepresenterConfig(
            8, dim=4, hidden=3, input_noise=max(scale, 1e-6), output_noise=scale, noise_floor=1e-9
        )
        return constructions.noisy(VECTORS, SCHEME, config)

    def test_more_noise_leaves_less_to_tell(self) -> None:
        found = [of(self.noisy(scale)).advantage for scale in (100.0, 1.0, 1e-6)]
        assert found[0] < 0.02
        assert found == sorted(found)
        assert found[2] > 0.99

    def test_without_noise_the_attacker_always_wins(self) -> None:
        made = self.noisy(1.0)
        noise = made.representer.output_noise
        noise.raw.data[:] = -torch.inf
        noise.floor = 0.0
        assert of(made).advantage == 1.0

    def test_it_takes_no_more_than_a_sample(self) -> None:
        assert of(self.noisy(1.0), sample=NotesSample(7, 8, 1, seed=0)).sentences == 7


class TestSample:
    def test_every_sentence_with_phi_is_as_likely(self) -> None:
        from shared.privacy.own_notes import _Drawn

        chunk = TokenisedSentences(
            [f"w{n}" for n in range(30)], np.ones(30, dtype=np.uint8), np.ones(30, dtype=np.int64)
        )
        seen = np.zeros(30)
        for seed in range(300):
            drawn = _Drawn(5, np.random.default_rng(seed))
            for first in range(0, 30, 10):
                drawn.add(chunk.select(np.arange(first, first + 10)))
            kept = drawn.chunk().words
            assert len(kept) == len(set(kept)) == 5
            seen[[int(word[1:]) for word in kept]] += 1
        # 50 of 300 on average, each with a deviation of 6.5.
        assert seen.min() > 25
        assert seen.max() < 75

    def test_the_notes_are_read_once_and_all_of_them(self) -> None:
        assert of(HONEST, iter(NOTES)) == of(HONEST, NOTES)
        assert of(HONEST, iter(())).sentences == 0

    def test_notes_without_labels_give_no_figure(self) -> None:
        found = of(HONEST, [replace(one, annotations=()) for one in NOTES])
        assert (found.sentences, found.interfering) == (0, 0)

    def test_what_has_no_category_counts_where_it_leaves(self) -> None:
        own = replace(
            NOTES[0], annotations=tuple(Annotation(one.start, one.end, HIDDEN) for one in NOTES[0].annotations)
        )
        assert (tokenised_corpus([own], SCHEME).tags == HIDDEN_TAG).any()
        assert of(HONEST, [own]).sentences > 0
        assert of(HONEST, [own]).interfering == 0
        assert of(constructions.k_anonymous(CLUSTERS, SCHEME), [own]).sentences == 0

    def test_nothing_of_it_names_a_word(self) -> None:
        said = repr(of(HONEST))
        assert not any(word in said for word in ("Quillfeather", "Oxenthorpe", "note-"))

    @pytest.mark.parametrize("wrong", [{"sentences": 0}, {"neighbours": 1}, {"pairs": 0}])
    def test_a_sample_of_nothing_is_refused(self, wrong: dict[str, int]) -> None:
        with pytest.raises(ConfigurationError, match="own notes"):
            NotesSample(**wrong)

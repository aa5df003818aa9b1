"""What every construction keeps, whoever makes it: a new line in the registry is tested by being there."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from shared.anonymity.bank_files import save_bank
from shared.anonymity.public_lists import on_public_lists
from shared.anonymity.shipped_lists import shipped_lists
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.construction import Construction, Trials, WordChanges
from shared.constructions.files import FILES, FURTHER_FILES
from shared.constructions.procedures import dann, invariance, three_part
from shared.constructions.procedures.narrowed import NarrowedVocabulary
from shared.constructions.registry import PROCEDURES, check_record, explain_promises, find_procedure, load_construction
from shared.constructions.rows import ShareRows
from shared.constructions.training import PRESETS, TrainingMaterial, TrainingOptions
from shared.embeddings.files.artefact import save_vectors
from shared.embeddings.generalised import fold_casing
from shared.errors import ConfigurationError, ModelError
from shared.labels import load_scheme, save_scheme
from shared.models.noise import SharingNoise
from shared.models.noise_source import MemoisedNoise, PrivateNoise
from shared.models.representer import Representer, RepresenterConfig
from shared.models.storage import save_representer
from shared.models.token_local import TokenLocal
from shared.privacy.own_notes import NotesSample, recompute_on_notes
from shared.progress import silent
from shared.sentences.codes import SharedCodes
from shared.sentences.encoding import embed_sentences
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised_corpus
from shared.text.casing import cased_like, casing_class, casing_classes
from shared.text.tokens import tokenise
from tests import constructions
from tests.shared.embeddings.made import table
from tests.tiny_notes import tiny_notes

ROOT = Path(__file__).parents[3]
SCHEME = load_scheme("i2b2_2014")
NOTES = list(tiny_notes(8, 1))
CHUNK = tokenised_corpus(NOTES, SCHEME)
VECTORS = table(tuple(dict.fromkeys(word for note in NOTES for word in tokenise(note.text).words)), dim=12)
LISTS = (("Quillfeather", "Larkspur", "Oxenthorpe"),)
OPTIONS: dict[str, Any] = {"neighbours": 4, "dim": 6, "preset": "quick"}
CLUSTERS: dict[str, Any] = {"cluster_size": 6}
CASES: dict[str, dict[str, Any]] = {name: {} for name in PROCEDURES} | {
    "surrogates, casing hidden": {"procedure": "surrogates", "hide_casing": True},
    "three-part, normalised": {"procedure": "three-part", "normalise": True},
}
SHOUTED = CHUNK.with_words([word.upper() if tag else word for word, tag in zip(CHUNK.words, CHUNK.tags, strict=True)])
SECRET = bytes(range(32))
LENGTHS = torch.ones(1, dtype=torch.int64)
# Spellings, numbers and scripts that no vocabulary of tiny notes holds.
STRANGE = [
    "brunhildas",
    "BRUNHILDA",
    "7",
    "1987654",
    "x1",
    "¿",
    "\u3042\u3044",
    "e\u0301",
    "\U0001f600",
    "ß",
    "İstanbul",
    "-",
    "\x00",
]
DOCUMENTED = frozenset(
    re.findall(
        r"^\| `([a-z0-9_]+)` \| [^|]*\|$",
        (ROOT / "docs" / "formats" / "share.md").read_text(encoding="utf-8").split("## Measures")[1],
        re.MULTILINE,
    )
)


@dataclass(frozen=True, repr=False)
class Made:
    """What a procedure made of the tiny notes.

    Args:
        name: of the procedure.
        trained: as it came out.
        folder: where it was saved.
        loaded: from there.
        record: of the training, as a release holds it.
    """

    name: str
    trained: Construction
    folder: Path
    loaded: Construction
    record: dict[str, Any]


@pytest.fixture(scope="module", params=CASES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Made:
    case = CASES[request.param]
    procedure = find_procedure(case.get("procedure", request.param))
    options = TrainingOptions(
        **{"procedure": procedure.name} | OPTIONS | (CLUSTERS if procedure.clusters else {}) | case
    )
    procedure.check(options)
    found = procedure.train(TrainingMaterial([CHUNK], VECTORS, SCHEME, names=LISTS), options, silent)
    folder = tmp_path_factory.mktemp("made")
    found.construction.save(folder)
    record: dict[str, Any] = {"options": {"procedure": procedure.name, "hide_casing": options.hide_casing}}
    record |= found.record | found.construction.facts()
    told = json.loads(json.dumps(record, allow_nan=False))
    return Made(procedure.name, found.construction, folder, load_construction(folder), told)


def share_of(construction: Construction, noise: SharingNoise | None = None, chunk: TokenisedSentences = CHUNK) -> Any:
    """A share of the notes: rows or codes."""
    return construction.share_sentences(chunk, PrivateNoise() if noise is None else noise)


def seeded(seed: int = 3) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def same(one: RaggedSentences, other: RaggedSentences) -> bool:
    return one.values.tobytes() == other.values.tobytes() and one.casing.tobytes() == other.casing.tobytes()


def other_words(construction: Construction) -> list[str]:
    """Other words in the place of all labelled ones, of the same casing and from the construction's own set."""
    own = construction.own_set()
    assert own is not None
    words = list(CHUNK.words)
    for token in np.flatnonzero(CHUNK.tags > 0).tolist():
        word = words[token]
        likes = [like for like in own(word) if casing_class(like) == casing_class(word) and like != word]
        if any(character.isalnum() for character in word) and likes:
            words[token] = likes[token % len(likes)]
    return words


class TestMaking:
    def test_it_is_what_the_registry_says(self, made: Made) -> None:
        assert PROCEDURES[made.name].name == made.name
        assert type(made.trained) is type(made.loaded) is PROCEDURES[made.name].makes

    def test_it_writes_its_files_and_loads_to_equal_outputs(self, made: Made, tmp_path: Path) -> None:
        written = {path.name for path in made.folder.iterdir()}
        assert set(FILES) <= written <= {*FILES, *FURTHER_FILES}
        again = load_construction(Path(shutil.copytree(made.folder, tmp_path / "copy")))
        assert same(again.noise_free(CHUNK), made.loaded.noise_free(CHUNK))
        assert same(again.rehearse_share(CHUNK, seeded()), made.loaded.rehearse_share(CHUNK, seeded()))
        # Word vectors are stored as float16.
        trained, loaded = (one.noise_free(CHUNK).values.astype(float) for one in (made.trained, made.loaded))
        np.testing.assert_allclose(loaded, trained, atol=0.03)
        assert made.loaded.promises() == pytest.approx(made.trained.promises())
        assert made.loaded.facts() == made.trained.facts()

    def test_it_fits_its_record_and_no_other(self, made: Made, tmp_path: Path) -> None:
        path = tmp_path / "representer.training.json"
        check_record(made.loaded, path)
        lies: list[Any] = [{**made.record, name: "another"} for name in made.loaded.facts()]
        lies += [{**made.record, "options": {"hide_casing": not made.loaded.hides_casing}}]
        kind = PROCEDURES[made.name].makes
        told = (*kind.made_by, *kind.formerly)
        lies += [{"options": {"procedure": other.name}} for other in PROCEDURES.values() if other.name not in told]
        lies += [{"options": {"procedure": "none of them"}}, {"options": {"procedure": ["a", "list"]}}, ["a list"]]
        for lie in lies:
            path.write_text(json.dumps(lie))
            with pytest.raises(ModelError):
                check_record(made.loaded, path)
        truths: list[dict[str, Any]] = [made.record, {}, {"options": None}, {"options": {}}]
        for truth in truths:
            path.write_text(json.dumps(truth))
            check_record(made.loaded, path)
        path.write_text("[")
        with pytest.raises(ModelError, match="JSON"):
            check_record(made.loaded, path)


class TestWhatIsShown:
    def test_in_house_there_is_no_chance(self, made: Made) -> None:
        first = made.loaded.noise_free(CHUNK)
        made.loaded.share_sentences(CHUNK, PrivateNoise())
        assert same(first, made.loaded.noise_free(CHUNK))
        assert not isinstance(first, SharedSentences)
        assert first.values.dtype == np.float16
        assert first.dim == made.loaded.dim

    def test_a_share_differs_from_that_where_it_claims_chance_and_nowhere_else(self, made: Made) -> None:
        clean, shown = made.loaded.noise_free(CHUNK), share_of(made.loaded)
        assert isinstance(shown, SharedCodes if made.loaded.shows_codes else SharedSentences)
        np.testing.assert_array_equal(shown.lengths, CHUNK.lengths)
        np.testing.assert_array_equal(shown.tags, CHUNK.tags)
        if isinstance(shown, SharedCodes):
            return
        differs, labelled = (shown.values != clean.values).any(1), CHUNK.tags > 0
        if made.loaded.gaussian_noise is not None:
            assert differs.all()
        else:
            assert not differs[~labelled].any()
            assert (differs[labelled].mean() > 0.3) == made.loaded.replaces_phi

    def test_two_shares_are_alike_as_far_as_their_noise_is_memoised(self, made: Made) -> None:
        one = made.loaded
        assert one.memoises_noise == (one.gaussian_noise is not None)
        assert isinstance(one.sharing_noise(SECRET, made.folder), MemoisedNoise if one.memoises_noise else PrivateNoise)
        if not one.memoises_noise:
            return
        first, again, secret, use = (
            share_of(one, one.sharing_noise(*given))
            for given in (
                (SECRET, made.folder),
                (SECRET, made.folder),
                (SECRET[::-1], made.folder),
                (SECRET, made.folder, b"x"),
            )
        )
        # Where other public PHI stands in the place of labelled PHI, noise is drawn anew with it.
        kept = CHUNK.select(np.flatnonzero(~CHUNK.sentences_with(CHUNK.tags > 0))) if one.replaces_phi else CHUNK
        assert same(*(share_of(one, one.sharing_noise(SECRET, made.folder), kept) for _ in range(2)))
        assert same(first, again) != one.replaces_phi
        assert (first.values != secret.values).mean() > 0.9
        assert (first.values != use.values).mean() > 0.9

    @pytest.mark.parametrize("changed", ["representer.json", "representer.safetensors"])
    def test_noise_hangs_on_all_that_decides_a_representation(self, changed: str, made: Made, tmp_path: Path) -> None:
        if not made.loaded.memoises_noise:
            return
        folder = Path(shutil.copytree(made.folder, tmp_path / "copy"))
        (folder / changed).write_bytes((folder / changed).read_bytes() + b" ")
        first, other = (
            share_of(made.loaded, made.loaded.sharing_noise(SECRET, place)) for place in (made.folder, folder)
        )
        assert (first.values != other.values).mean() > 0.9

    def test_a_rehearsal_is_drawn_again_and_can_not_be_shared(self, made: Made) -> None:
        first, again, other = (made.loaded.rehearse_share(CHUNK, seeded(seed)) for seed in (1, 1, 2))
        assert same(first, again)
        random = made.loaded.replaces_phi or made.loaded.gaussian_noise is not None
        assert same(first, other) != random
        assert not isinstance(first, SharedSentences)

    def test_public_notes_are_shared_as_they_are(self, made: Made) -> None:
        if made.loaded.shows_codes:
            return
        clean = made.loaded.noise_free(CHUNK)
        shown: Any = made.loaded.share_public_sentences(embed_sentences(CHUNK, made.loaded.vectors), PrivateNoise())
        assert isinstance(shown, SharedSentences)
        assert same(shown, clean) == (made.loaded.gaussian_noise is None)

    def test_public_words_are_shown_as_they_are_and_others_are_not(self, made: Made) -> None:
        words = [word for word in made.loaded.vectors.words if word.isalpha()]
        public = made.loaded.are_public(words)
        assert public.dtype == np.bool_
        assert public.shape == (len(words),)
        if made.loaded.gaussian_noise is not None or made.loaded.shows_codes:
            return
        shown = made.loaded.noise_free(TokenisedSentences.single_words(words)).values
        alike = np.array([sum(row.tobytes() == other.tobytes() for other in shown) for row in shown])
        assert (alike[public] == 1).all()
        assert 0 < public.sum() < len(words)

    def test_distinct_words_are_shown_differently(self, made: Made) -> None:
        distinct = made.loaded.distinct_vectors()
        assert len(np.unique(distinct.matrix, axis=0)) == len(distinct) <= len(made.loaded.vectors)


class TestWhatIsHidden:
    def test_words_that_are_claimed_alike_are_shown_alike_bit_for_bit(self, made: Made) -> None:
        own = made.loaded.own_set()
        if own is None:
            return
        words = other_words(made.loaded)
        assert sum(one != other for one, other in zip(words, CHUNK.words, strict=True)) > 10
        assert same(
            made.loaded.rehearse_share(CHUNK, seeded()), made.loaded.rehearse_share(CHUNK.with_words(words), seeded())
        )

    def test_who_claims_nothing_shows_words_differently(self, made: Made) -> None:
        if made.loaded.own_set() is not None:
            return
        words = [
            cased_like(word[::-1], word) if tag else word for word, tag in zip(CHUNK.words, CHUNK.tags, strict=True)
        ]
        first, other = (made.loaded.rehearse_share(chunk, seeded()) for chunk in (CHUNK, CHUNK.with_words(words)))
        assert not same(first, other)

    def test_a_share_is_independent_of_labelled_phi_where_that_is_promised(self, made: Made) -> None:
        """Noninterference: what words are labelled has no way into a share under the same draw."""
        assert made.loaded.promises()["surrogates"] == made.loaded.replaces_phi
        if not made.loaded.replaces_phi:
            return
        first, other = (made.loaded.rehearse_share(chunk, seeded()) for chunk in (CHUNK, SHOUTED))
        assert same(first, other) == made.loaded.hides_casing

    def test_casing_is_hidden_where_that_is_promised_and_nowhere_else(self, made: Made) -> None:
        assert ("casing_hidden" in made.loaded.promises()) == made.loaded.hides_casing
        assert made.loaded.hides_casing <= made.loaded.replaces_phi
        assert (made.loaded.share_sentences(SHOUTED, PrivateNoise()).casing == casing_classes(SHOUTED.words)).all() != (
            made.loaded.hides_casing
        )

    def test_what_can_be_proved_is_said(self, made: Made) -> None:
        found = made.loaded.account(20, 300)
        assert found.statement
        assert bool(found.guarantees) == (made.loaded.gaussian_noise is not None)
        assert found.basis != "none"

    def test_the_white_box_sees_no_difference_in_a_word_and_itself_and_some_in_others(self, made: Made) -> None:
        tokens = np.flatnonzero(CHUNK.tags > 0)[:6]
        words = [CHUNK.words[token] for token in tokens.tolist()]
        places = np.arange(len(tokens))
        changes = WordChanges(tokens, places, words, np.ones(len(tokens), dtype=np.bool_))
        trials = Trials(2, seeded(), 0)
        nothing = made.loaded.divergences(CHUNK, changes, trials)
        assert nothing.shape in ((1, len(tokens)), (2, len(tokens)))
        assert not nothing.any()
        others = replace(changes, places=places[::-1].copy())
        moved = made.loaded.divergences(CHUNK, others, trials)
        assert (moved >= 0).all()
        assert moved.any() != made.loaded.replaces_phi

    def test_what_is_drawn_anew_at_the_provider_are_labelled_words_alone(self, made: Made) -> None:
        change = made.loaded.redrawing()
        by_token = made.loaded.token_local and not made.loaded.shows_codes
        assert (change is not None) == (made.loaded.replaces_phi and by_token)
        if change is None:
            return
        share = share_of(made.loaded)
        outside = CHUNK.tags == 0
        # Few labelled words, each with few surrogates: one draw may give all of them again.
        drawn = [change(share, np.random.default_rng(seed)).values for seed in range(20)]
        for values in drawn:
            np.testing.assert_array_equal(values[outside], share.values[outside])
        assert any((values[~outside] != share.values[~outside]).any() for values in drawn)


class TestRows:
    @pytest.mark.parametrize("factor", [1.0, 4.0])
    def test_every_row_keeps_the_bound_under_the_noise_that_it_is_for(self, factor: float, made: Made) -> None:
        if made.loaded.shows_codes:
            return
        factors = np.full(len(CHUNK.lengths), factor)
        rows = made.loaded.rows(factor)
        assert rows.dim == made.loaded.dim
        for _ in range(3):
            shown: Any = made.loaded.share_sentences(CHUNK, PrivateNoise(), factors)
            rows.check(shown.values)

    def test_what_a_token_can_show_is_listed_where_nothing_is_drawn(self, made: Made) -> None:
        """Words of the notes, their surrogates, and words that no vocabulary holds."""
        rows = made.loaded.codebook()
        assert (rows is None) == (made.loaded.gaussian_noise is not None or made.loaded.shows_codes)
        if rows is None:
            return
        assert rows.dtype == np.float16
        listed = {row.tobytes() for row in rows}
        assert len(listed) == len(rows) < len(made.loaded.vectors)
        shown = [share_of(made.loaded).values for _ in range(3)]
        shown.append(share_of(made.loaded, chunk=TokenisedSentences.single_words(STRANGE)).values)
        assert {row.tobytes() for values in shown for row in values} <= listed

    @pytest.mark.parametrize("seed", range(3))
    def test_listed_rows_are_the_same_in_whatever_order_a_processor_adds_up(self, seed: int, made: Made) -> None:
        rows = made.loaded.codebook()
        assert made.loaded.exact == (rows is not None or made.loaded.shows_codes)
        if rows is None:
            return
        order = np.random.default_rng(seed).permutation(made.loaded.vectors.dim)
        true = made.loaded.representer
        assert isinstance(true, TokenLocal)
        shuffled = TokenLocal(true.config)
        shuffled.projection.copy_(true.projection[order])
        vectors = torch.from_numpy(np.ascontiguousarray(made.loaded.vectors.matrix[:, order]))
        # One by one and all at once take other ways through a processor, too.
        for found in (shuffled.end_to_end_noise_free(part, LENGTHS) for part in (vectors, vectors[:1], vectors[3:8])):
            assert {row.tobytes() for row in found.half().numpy()} <= {row.tobytes() for row in rows}

    def test_rows_beyond_it_are_refused(self, made: Made) -> None:
        if made.loaded.shows_codes:
            return
        rows: ShareRows = made.loaded.rows()
        good = share_of(made.loaded).values
        edge = np.zeros((1, rows.dim), dtype=np.float16)
        edge[0, 0] = np.float16(rows.value_bound * 1.002)
        broken = good.copy()
        broken[-1, -1] = np.nan
        infinite = good.copy()
        infinite[0, 0] = np.inf
        for bad in (edge, broken, infinite, good[:, 1:], good.astype(np.float32), good[0]):
            with pytest.raises(ModelError):
                rows.check(bad)
        rows.check(good)

    def test_a_share_states_no_larger_bound(self, made: Made) -> None:
        rows = made.loaded.rows()
        assert rows.allows(rows.value_bound)
        assert rows.allows(rows.value_bound / 2)
        assert not rows.allows(rows.value_bound * 1.001)
        assert not rows.allows(float("nan"))


class TestPromises:
    def test_in_numbers_they_are_documented(self, made: Made) -> None:
        promises = made.loaded.promises()
        assert promises.keys() <= DOCUMENTED
        assert all(isinstance(number, float) and np.isfinite(number) for number in promises.values())

    def test_in_words_they_are_said_once(self, made: Made) -> None:
        promises = made.loaded.promises()
        lines = made.loaded.explain(promises)
        assert lines
        assert explain_promises(promises) == lines
        assert made.loaded.explain({}) == []
        assert "the" in " ".join(lines)
        # `encode` hides forgotten labels that it finds: what is said of PHI without a label is said of the rest alone.
        if promises["surrogates"]:
            assert "PHI that nobody labelled and nothing found before encoding is shown as any other word" in " ".join(
                lines
            )


class TestRecomputed:
    """What its files show is what it claims, since nobody lies here."""

    def test_of_the_release_alone(self, made: Made) -> None:
        lists = shipped_lists()
        found = made.loaded.recompute(lists, made.folder)
        promises = made.loaded.promises()
        assert made.name in found.procedures
        assert found.replaces_phi == bool(promises["surrogates"])
        assert found.cluster_size == promises.get("cluster_size")
        assert found.unlisted_public_words == 0
        assert found.hides_casing == bool(promises.get("casing_hidden", 0))
        assert found.mu == pytest.approx(promises.get("mu_per_token"))
        assert found.surrogate_spans == made.loaded.facts()["surrogate_spans"]
        assert found.bytes == sum(path.stat().st_size for path in made.folder.iterdir())
        # Whatever is shown is on a list.
        words = sorted(set(CHUNK.words))
        shown = [word for word, public in zip(words, made.loaded.are_public(words).tolist(), strict=True) if public]
        assert on_public_lists(shown, lists).all()

    def test_on_notes(self, made: Made) -> None:
        found = recompute_on_notes(made.loaded, NOTES, shipped_lists(), NotesSample(20, 4, 2, seed=1))
        assert found.sentences == 20
        assert found.interfering == 0
        assert found.bank_spans_in_notes == 0
        assert (found.advantage is None) == (made.loaded.gaussian_noise is None)
        assert found.advantage is None or 0 <= found.advantage <= 1


@pytest.mark.parametrize("normalise", [False, True])
def test_what_comes_out_of_the_noise_has_length_one_where_asked(normalise: bool) -> None:
    options = TrainingOptions("dann", normalise=normalise, **OPTIONS)
    found = find_procedure("dann").train(TrainingMaterial([CHUNK], VECTORS, SCHEME), options, silent)
    lengths = np.linalg.norm(share_of(found.construction).values.astype(np.float64), axis=1)
    assert np.allclose(lengths, 1, atol=0.01) == normalise


def test_every_preset_has_a_recipe_whose_seed_is_given() -> None:
    for recipes in (dann.RECIPES, invariance.RECIPES, three_part.RECIPES):
        assert tuple(recipes.presets) == PRESETS
        for preset in PRESETS:
            made: Any = recipes.recipe(preset, 7)
            assert made == replace(recipes.presets[preset], seed=7)


@pytest.mark.parametrize(
    ("options", "said"), [({"hide_casing": True}, "hide the casing"), ({"max_share": 0.5}, "largest share")]
)
def test_what_a_procedure_can_not_keep_is_refused(options: dict[str, Any], said: str) -> None:
    for procedure in PROCEDURES.values():
        able = procedure.makes.replaces_phi if "hide_casing" in options else procedure.clusters
        if able:
            procedure.check(TrainingOptions(procedure.name, **options))
        else:
            with pytest.raises(ConfigurationError, match=said):
                procedure.check(TrainingOptions(procedure.name, **options))


@pytest.mark.parametrize(
    ("name", "value", "kept_by"),
    [
        ("cluster_size", 5000, "clusters"),
        ("common_words", 0, "narrows"),
        ("exact_window", 0, "narrows"),
        ("group_size", 50, "narrows"),
        ("normalise", True, "blurs"),
    ],
)
def test_attack_a_wish_for_protection_is_not_passed_over(name: str, value: Any, kept_by: str) -> None:
    keeping = {procedure.name for procedure in PROCEDURES.values() if issubclass(procedure.makes, NarrowedVocabulary)}
    assert {procedure.name for procedure in PROCEDURES.values() if procedure.narrows} == keeping
    for procedure in PROCEDURES.values():
        options = replace(TrainingOptions(procedure.name), **{name: value})
        if getattr(procedure, kept_by):
            procedure.check(options)
        else:
            with pytest.raises(
                ConfigurationError, match=f"--{name.replace('_', '-')}: expected a procedure that keeps it"
            ):
                procedure.check(options)


def test_an_unknown_name_is_refused_and_the_known_ones_are_told() -> None:
    with pytest.raises(ConfigurationError, match="three-part, dann, invariance"):
        find_procedure("four-part")


class TestFolders:
    """What files make which construction: a mixture that no procedure writes is none."""

    KINDS = ("words", "folded", "clusters", "members")
    NETWORKS = ("token-local", "recurrent")
    KNOWN: ClassVar = {
        ("clusters", "token-local", True): "Surrogates",
        ("clusters", "token-local", False): "KAnonymous",
        ("clusters", "recurrent", False): "KAnonymousRecurrent",
        ("members", "token-local", True): "CodedSurrogates",
        ("members", "token-local", False): "Coded",
        ("members", "recurrent", True): "NoisySurrogates",
        ("words", "recurrent", False): "NoisyRecurrent",
    }

    def write(self, kind: str, network: str, with_bank: bool, folder: Path) -> None:
        clusters = constructions.clusters(VECTORS, 4)
        kinds = {"words": VECTORS, "folded": fold_casing(VECTORS), "clusters": clusters}
        vectors = (kinds | {"members": constructions.members(clusters)})[kind]
        save_vectors(vectors, folder, dtype="float16")
        if network == "recurrent":
            save_representer(Representer(RepresenterConfig(vectors.dim, dim=4, hidden=3)), folder)
        else:
            save_representer(constructions.unchanged(vectors.dim), folder)
        save_scheme(SCHEME, folder)
        if with_bank:
            save_bank(SurrogateBank(((0, ("Anna",)),)), folder)

    @pytest.mark.parametrize(("kind", "network", "with_bank"), list(product(KINDS, NETWORKS, (True, False))))
    def test_they_tell_the_construction(self, kind: str, network: str, with_bank: bool, tmp_path: Path) -> None:
        self.write(kind, network, with_bank, tmp_path)
        if (kind, network, with_bank) in self.KNOWN:
            assert type(load_construction(tmp_path)).__name__ == self.KNOWN[kind, network, with_bank]
        else:
            with pytest.raises(ModelError, match="mixture that none writes"):
                load_construction(tmp_path)

    def test_a_representer_of_an_unknown_kind_is_refused(self, tmp_path: Path) -> None:
        self.write("clusters", "token-local", False, tmp_path)
        description = json.loads((tmp_path / "representer.json").read_text())
        (tmp_path / "representer.json").write_text(json.dumps(description | {"kind": "quantum"}))
        with pytest.raises(ModelError, match="update deid-commons"):
            load_construction(tmp_path)

    def test_a_damaged_bank_is_not_taken_for_none(self, tmp_path: Path) -> None:
        self.write("clusters", "token-local", True, tmp_path)
        (tmp_path / "surrogates.json").write_text("{}")
        with pytest.raises(ModelError):
            load_construction(tmp_path)

    @pytest.mark.parametrize("kind", ["Surrogates", "KAnonymous", "NoisyRecurrent"])
    def test_parts_of_another_construction_are_refused(self, kind: str) -> None:
        bank = SurrogateBank(((0, ("Anna",)),))
        clusters = constructions.clusters(VECTORS, 4)
        parts: dict[str, Construction] = {
            "Surrogates": constructions.surrogates(clusters, SCHEME, bank),
            "KAnonymous": constructions.k_anonymous(clusters, SCHEME),
            "NoisyRecurrent": constructions.noisy(VECTORS, SCHEME, RepresenterConfig(VECTORS.dim, dim=4, hidden=3)),
        }
        with pytest.raises(ModelError, match="expected the parts of"):
            replace(parts[kind], vectors=fold_casing(VECTORS))

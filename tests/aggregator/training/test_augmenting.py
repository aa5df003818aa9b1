"""`--augment`: what goes together, what the pool does with it, and what the record says."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aggregator.commands import options as command_options
from aggregator.commands.learning.heads import train_pool_head
from aggregator.commands.learning.representer import train_representer
from aggregator.errors import WorkspaceError
from aggregator.training import representer
from aggregator.training.augmenting import ALPHA, Augmenting, AugmentOptions, augmented_reading, make_augmenting
from aggregator.training.pool import Pool
from aggregator.training.representer import PublicMaterial, RepresenterOptions, train
from aggregator.workspace import Workspace
from shared.anonymity.public_words import PublicRule
from shared.augment.augmentation import METHODS, MOST_ALPHA, Augmentation
from shared.augment.context import Context
from shared.augment.entities import Entities
from shared.augment.recasing import SHARE, Recasing
from shared.augment.shorthand import Shorthand
from shared.constructions.procedures import dann, invariance, k_anonymous_invariance, three_part
from shared.constructions.procedures.recurrent import train_noisy
from shared.constructions.registry import PROCEDURES, load_construction
from shared.constructions.training import TrainingOptions
from shared.errors import ConfigurationError
from shared.labels import UNKNOWN_TAG, load_scheme
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences
from shared.text.tokens import tokenise
from shared.training.adversarial.adversaries import hold_back
from tests import constructions
from tests.aggregator.training.pools import DIM, SCHEME, block, honest
from tests.loop import Loop, done, provider, refused, train_head, values
from tests.protocols.payload.blocks import write_payload
from tests.shared.augment.dictionary import write_wordnet
from tests.shared.constructions import test_codes
from tests.shared.embeddings.made import table
from tests.tiny_notes import tiny_notes

I2B2 = load_scheme("i2b2_2014")
# Nothing but the head is trained.
ALONE = ("--influence", "none", "--no-operating-points")


def test_each_method_is_an_edit_in_the_order_of_the_paper(tmp_path: Path) -> None:
    asked = AugmentOptions(METHODS[::-1], 3, wordnet=write_wordnet(tmp_path / "wordnet"))
    made = make_augmenting(asked, I2B2, ["fever"])
    assert made.augmentation is not None
    assert [type(edit) for edit in made.augmentation.edits] == [Entities, Context, Shorthand, Recasing]
    assert made.augmentation.alpha == made.facts["alpha"] == 3
    assert made.facts["methods"] == list(METHODS)
    assert len(made.facts["wordnet"]) == 64
    assert json.loads(json.dumps(made.facts)) == made.facts


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"methods": ("nonsense",)}, "--augment"),
        ({"methods": ("context",)}, "--wordnet"),
        ({"methods": ("phi",), "wordnet": Path()}, "--wordnet"),
        ({"methods": ("recase",), "entities": Path("a.csv")}, "--entities"),
        ({"entities": Path("a.csv")}, "--entities"),
        ({"methods": (), "wordnet": Path()}, "--wordnet"),
        ({"methods": ("phi",), "alpha": 0}, "copies"),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        AugmentOptions(**given)  # type: ignore[arg-type]


def test_synonyms_of_another_language_are_refused(tmp_path: Path) -> None:
    asked = AugmentOptions(("context",), wordnet=write_wordnet(tmp_path / "wordnet"))
    spanish = "el la los las de del y que en un una con por para se su al es no lo como más pero sin sobre entre desde".split()
    with pytest.raises(ConfigurationError, match="WordNet is English"):
        make_augmenting(asked, I2B2, spanish)


def test_english_sentences_are_written_in_shorthand_too_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    coded = test_codes.surrogates()
    for language, methods in (("English", ["shorthand", "recase"]), ("Spanish", ["recase"]), (None, ["recase"])):
        monkeypatch.setattr(
            "aggregator.training.augmenting.guess_vocabulary", lambda words, language=language: language
        )
        assert augmented_reading(AugmentOptions(), coded)[1]["methods"] == methods
    monkeypatch.setattr("aggregator.training.augmenting.guess_vocabulary", lambda words: "Spanish")
    with pytest.raises(ConfigurationError, match=r"shorthand: expected English"):
        augmented_reading(AugmentOptions(("shorthand",)), coded)


def test_sentences_are_recased_by_default_exactly_where_shares_hold_codes() -> None:
    coded = test_codes.surrogates()
    reading, told = augmented_reading(AugmentOptions(), coded)
    assert reading is not None
    assert (reading.augmentation.edits, reading.augmentation.alpha, SHARE) == ((Recasing(),), 2, 0.75)
    assert told["methods"] == ["recase"]
    assert augmented_reading(AugmentOptions(()), coded) == (None, {"methods": []})
    plain = constructions.transparent(table(("a", "b")), I2B2)
    assert augmented_reading(AugmentOptions(), plain) == (None, {"methods": []})
    with pytest.raises(ConfigurationError, match="shares of codes"):
        augmented_reading(AugmentOptions(("recase",)), plain)


class _Reader:
    """Stands in for what reads codes: a head gets the code and 0, or 1 in training."""

    dim = 2

    def read_codes(self, sentences: CodedSentences, generator: np.random.Generator) -> RaggedSentences:
        return self._read(sentences, 0)

    def read_augmented(self, sentences: CodedSentences, generator: np.random.Generator) -> RaggedSentences:
        return self._read(sentences, 1)

    def _read(self, sentences: CodedSentences, mark: int) -> RaggedSentences:
        values = np.stack([sentences.codes, np.full(len(sentences.codes), mark)], 1).astype(np.float32)
        return RaggedSentences(values, sentences.casing, sentences.tags, sentences.lengths)


def test_a_pool_is_augmented_in_training_and_nowhere_else(tmp_path: Path) -> None:
    from protocols.payload.sentence_block import SentenceBlock

    codes = np.arange(12, dtype="<u4")
    tags = np.where(np.arange(12) % 5 == 4, np.uint8(UNKNOWN_TAG), np.uint8(0))
    made = SentenceBlock(codes, tags, np.zeros(12, np.uint8), np.full(4, 3, "<i4"))
    path = write_payload(tmp_path / "a.parquet", [made], dim=0)
    reader = _Reader()
    with Pool([path], decoder=reader, augmented=reader) as pool:
        trained = list(pool.batches(4, np.random.default_rng(0)))
        scored = list(pool.batches(4))
    assert {mark for batch in trained for mark in batch.inputs[:, :, 1].flatten().tolist()} == {1}
    assert {mark for batch in scored for mark in batch.inputs[:, :, 1].flatten().tolist()} == {0}
    # What reads for training is told of what nobody knows.
    assert sum(int((batch.tags == UNKNOWN_TAG).sum()) for batch in trained) == int((tags == UNKNOWN_TAG).sum())


def test_only_codes_can_be_augmented(tmp_path: Path) -> None:
    path = write_payload(tmp_path / "a.parquet", [block(honest(np.random.default_rng(0), 5))], dim=DIM)
    with pytest.raises(WorkspaceError, match="of the kind"):
        Pool([path], augmented=_Reader())
    assert SCHEME.categories


@pytest.mark.parametrize("name", sorted(PROCEDURES))
def test_a_procedure_takes_the_methods_that_change_it_and_no_other(name: str) -> None:
    for method in METHODS:
        if method in PROCEDURES[name].augments:
            RepresenterOptions(name, augment=(method,))
        else:
            with pytest.raises(ConfigurationError, match="would change nothing"):
                RepresenterOptions(name, augment=(method,))


class Seen(Exception):
    """Ends a training before it begins."""


def test_a_network_learns_from_the_notes_and_their_copies_whatever_the_order_of_the_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = list(tiny_notes(12, 1))
    vectors = table(tuple(dict.fromkeys(word for note in notes for word in tokenise(note.text).words)), dim=12)
    seen: list[RaggedSentences] = []

    def spy(*given: Any) -> Any:
        seen.append(given[0])
        raise Seen

    monkeypatch.setattr(k_anonymous_invariance, "RECIPES", replace(invariance.RECIPES, train=spy))
    workspace = Workspace(tmp_path / "provider", "provider", I2B2)
    asked = AugmentOptions(("context", "phi"), 3, wordnet=write_wordnet(tmp_path / "wordnet"))
    for methods, augmenting in (
        ((), Augmenting(None, {"methods": []})),
        (asked.methods, make_augmenting(asked, I2B2, vectors.words)),
    ):
        assert methods is not None
        options = RepresenterOptions(
            "k-anonymous-invariance", neighbours=5, cluster_size=12, public=PublicRule(least=10**6), augment=methods
        )
        with pytest.raises(Seen):
            train(workspace, PublicMaterial(notes, vectors, augmenting=augmenting), options)
    plain, copied = seen
    with_phi = len(plain.rows_with_phi())
    assert (copied.sentences, len(copied.rows_with_phi())) == (plain.sentences + 3 * with_phi, 4 * with_phi)
    with pytest.raises(ConfigurationError, match="give both"):
        train(workspace, PublicMaterial(notes, vectors), options)


@pytest.mark.parametrize("made", [three_part, dann])
def test_nobody_is_judged_by_a_copy_or_learns_from_one_of_a_judge(
    made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = list(tiny_notes(12, 1))
    vectors = table(tuple(dict.fromkeys(word for note in notes for word in tokenise(note.text).words)), dim=12)
    seen: list[tuple[Any, ...]] = []

    def spy(*given: Any) -> Any:
        seen.append(given)
        raise Seen

    recipes = replace(made.RECIPES, train=spy, judged=spy)
    procedure = replace(PROCEDURES["dann"], train=partial(train_noisy, recipes))
    monkeypatch.setattr(representer, "find_procedure", lambda name: procedure)
    augmenting = make_augmenting(AugmentOptions(("phi",), 3), I2B2, vectors.words)
    workspace = Workspace(tmp_path / "provider", "provider", I2B2)
    for methods, given in (((), Augmenting(None, {"methods": []})), (("phi",), augmenting)):
        options = RepresenterOptions("dann", neighbours=5, augment=methods)
        with pytest.raises(Seen):
            train(workspace, PublicMaterial(notes, vectors, augmenting=given), options)
    (plain, table_, *_), (learned, *rest, held) = seen
    first, last = hold_back(plain, table_)

    def frames(sentences: RaggedSentences) -> list[tuple[int, ...]]:
        """What is no PHI of each sentence, which a copy keeps."""
        assert sentences.ids is not None
        at = zip(sentences.starts.tolist(), sentences.lengths.tolist(), strict=True)
        return [
            tuple(sentences.ids[start : start + length][sentences.tags[start : start + length] == 0].tolist())
            for start, length in at
        ]

    assert frames(held) == frames(last)
    assert frames(learned)[: first.sentences] == frames(first)
    of = [frames(first)[row] for row in first.rows_with_phi().tolist()]
    assert sorted(frames(learned)[first.sentences :]) == sorted(of * 3)
    assert len(rest) == 6


def test_the_words_of_the_command_line_are_those_of_the_science() -> None:
    assert (command_options.AUGMENTS, command_options.MOST_ALPHA) == (METHODS, MOST_ALPHA)
    for command in (train_pool_head, train_representer):
        assert {option.name: option.default for option in command.params}["alpha"] == ALPHA == Augmentation(()).alpha
    assert TrainingOptions().alpha == ALPHA


class TestCommands:
    def test_a_head_is_trained_on_copies_and_says_so(self, loop: Loop, tmp_path: Path) -> None:
        words = str(write_wordnet(tmp_path / "wordnet"))
        (tmp_path / "own.csv").write_text("HOSPITAL,Elsewhere General\n")
        told = values(
            train_head(
                loop, "--augment", "phi,context,recase", "--alpha", 1, "--wordnet", words, "--entities", tmp_path / "own.csv", "--no-operating-points", "--json"
            )
        )  # fmt: skip
        assert told["augment"]["methods"] == ["phi", "context", "recase"]
        assert told["augment"]["alpha"] == 1
        assert len(told["augment"]["entities"]) == 64
        assert all(site["f1"] > 0.5 for site in told["sites"])
        record = json.loads((loop.provider / "head" / "training.json").read_text())
        assert record["augment"] == told["augment"]

    def test_the_default_and_none_are_said_on_the_screen(self, loop: Loop) -> None:
        command = ("train-head", "--epochs", 1, *ALONE, "--workspace", loop.provider)
        assert "2 of 3 sentences of a pass are copies (recase)" in done(provider(*command)).stdout
        assert "no copies of sentences" in done(provider(*command, "--augment", "none")).stdout

    def test_other_copies_are_another_training(self, loop: Loop) -> None:
        kept = loop.provider / "unfinished" / "train-head"
        command = ("train-head", "--epochs", 1, *ALONE, "--workspace", loop.provider)
        kept.mkdir(parents=True)
        (kept / "inputs.json").write_text(json.dumps({"augment": {"methods": []}}))
        assert "augment" in refused(provider(*command, "--resume"), 2)

    def test_surrogates_are_drawn_from_copies_too(self, loop: Loop, tmp_path: Path) -> None:
        before = load_construction(loop.provider / "representer").surrogate_bank
        assert before is not None
        command = (
            "train-repr",
            "--corpus",
            loop.notes("public"),
            "--cluster-size",
            8,
            "--dim",
            8,
            "--workspace",
            loop.provider,
        )
        told = values(provider(*command, "--augment", "phi", "--alpha", 3, "--json"))
        after = load_construction(loop.provider / "representer").surrogate_bank
        assert after is not None
        assert told["augment"]["sentences"] > 0
        assert len(after.spans) == told["surrogate_spans"]
        assert len(after.spans) == pytest.approx(4 * len(before.spans), rel=0.1)
        # The public words are those of the notes alone.
        assert told["public_words"] == values(provider(*command, "--json"))["public_words"]

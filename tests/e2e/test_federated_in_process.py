"""Provider and hospitals in one process, with all that both check, and a carrier that may lie."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from aggregator.federated.plan import Answer, FederatedPlan, RoundOrder
from aggregator.federated.promised import promised_points
from aggregator.federated.remote import Reply, SignedSites
from aggregator.federated.rounds import Course, Rounds
from aggregator.workspace import open_workspace as open_provider
from bench.privacy.noninterference import change_phi
from protocols.errors import (
    DigestError,
    DuplicateError,
    MismatchError,
    NonFiniteError,
    OtherReleaseError,
    ProtocolError,
    SignatureError,
    StaleError,
)
from protocols.federated.task import read_task
from protocols.federated.weights import digest_of, weights_to_bytes
from protocols.keys.signing import PrivateKey
from shared.constructions.registry import load_construction
from shared.corpus import read_corpus
from shared.document import Document
from shared.errors import ConfigurationError, CorpusError, TrainingError
from shared.federated.local import LocalRecipe, StoppedError, learn_round
from shared.federated.private import learn_privately
from shared.federated.weights import Vector, count_weights, set_weights, weights_of
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.promises.by_note import MEASURED, NUMBERS, NoisyCurves, read_curve
from shared.pipeline.promises.hiding import STEPS, Gold, hiding_counts
from shared.sentences.codes import CodedSentences
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.khin2018 import Khin2018Config
from shared.taggers.registry import build_tagger
from shared.taggers.tagger import TaggerConfig
from shared.training.loop import seed_training
from shared.training.tagging import TaggingConfig
from site_client import ledger
from site_client.errors import PolicyError, WorkspaceError
from site_client.evaluating.left_before import find_left_before
from site_client.federated.as_shared import CodedNotes
from site_client.federated.budget import read_past
from site_client.federated.control import Control, Wish
from site_client.federated.notes import read_notes
from site_client.federated.running import control_of
from site_client.federated.trainer import Trainer, make_trainer
from site_client.ledger import Event
from site_client.sharing.encode import noises_of
from site_client.sharing.known_notes import DigestKey
from site_client.workspace import open_workspace as open_site
from tests.loop import Loop, done, forget_shares, hospital
from tests.tiny_notes import tiny_notes, write_notes

NAMES = ("north", "south")


def allow(loop: Loop, *more: object) -> None:
    for name in NAMES:
        done(hospital("policy", "set", "--federated-rounds", 50, *more, "--workspace", loop.site(name)))


def trainers(loop: Loop, count: int = 6) -> dict[str, Trainer]:
    made = {}
    for name in NAMES:
        documents = list(read_corpus(loop.notes(name)))[:count]
        workspace = open_site(loop.site(name))
        made[name] = make_trainer(workspace, documents, DigestKey(workspace).note)
    return made


@dataclasses.dataclass
class Direct:
    """A carrier that calls the hospitals, and may change what they answer."""

    trainers: dict[str, Trainer]
    change: Callable[[str, bytes, bytes], list[tuple[bytes, bytes]]] = lambda _, result, weights: [(result, weights)]
    tasks: list[tuple[bytes, bytes]] = dataclasses.field(default_factory=list)

    def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
        self.tasks.append((task, weights))
        for number, (name, trainer) in enumerate(self.trainers.items()):
            if only not in ("", f"node {number}"):
                continue
            try:
                result, learned = trainer.answer(task, weights)
            except (ProtocolError, PolicyError, ConfigurationError) as error:
                yield Reply(f"node {number}", b"", b"", type(error).__name__)
                continue
            for changed in self.change(name, result, learned):
                yield Reply(f"node {number}", *changed)


def sites(loop: Loop, carrier: Direct, **changed: object) -> SignedSites:
    provider = open_provider(loop.provider)
    keys = {name: [open_site(loop.site(name)).key().public_key] for name in NAMES}
    asked = SignedSites(
        carrier, provider.key(), lambda: keys, "ab" * 16, open_site(loop.site("north")).release().digest, 600.0
    )
    return replace(asked, **changed)  # type: ignore[arg-type]


def shape_of(trainer: Trainer) -> BiLSTMCRFConfig:
    return BiLSTMCRFConfig(trainer.construction.dim, len(trainer.construction.scheme.tags), hidden=8)


def rounds(shape: BiLSTMCRFConfig, epochs: int = 2) -> Rounds:
    return Rounds(shape, TaggingConfig(epochs=epochs, learning_rate=0.02), FederatedPlan(attempts=1))


def first(loop: Loop, carrier: Direct, **changed: object) -> dict[str, Answer]:
    shape = shape_of(carrier.trainers["north"])
    order = rounds(shape).order(1, weights_of(build_tagger(shape)))
    return {answer.site: answer for answer in sites(loop, carrier, **changed).ask(order)}


def tried_again(loop: Loop, direct: Direct, later_s: int = 1) -> tuple[bytes, bytes]:
    """The first task as the provider signs it for another try."""
    key = open_provider(loop.provider).key()
    task, weights = direct.tasks[0]
    asked = read_task(task, key.public_key)
    return replace(asked, expires=asked.expires + later_s).to_bytes(key), weights


def test_two_hospitals_train_with_noise_by_the_note_and_their_ledgers_tell_all(loop: Loop) -> None:
    allow(loop)
    direct = Direct(trainers(loop))
    shape = shape_of(direct.trainers["north"])
    start: Vector = weights_of(build_tagger(shape))
    course = rounds(shape).run(sites(loop, direct), start)
    assert not np.array_equal(course.weights, start)
    for name in NAMES:
        workspace = open_site(loop.site(name))
        told = [entry for entry in ledger.entries(workspace) if entry.event == Event.FEDERATED_ROUND]
        assert [entry.details["round"] for entry in told] == [1, 2]
        assert told[0].details["notes"] == 6
        past = read_past(workspace)
        # Two of fifty rounds: noise is such that all of them stay within the budget.
        assert 0 < past.epsilon < 8
        assert len(past.spent) == 2


def test_evaluate_does_not_take_notes_that_taught_a_training_for_notes_that_the_head_never_saw(loop: Loop) -> None:
    allow(loop, "--federated-epsilon", "none")
    workspace = open_site(loop.site("north"))
    forget_shares(workspace.root)
    taught = list(read_corpus(loop.notes("north")))[:6]
    others = [replace(one, identifier=f"new {one.identifier}") for one in tiny_notes(10, 9, "others")]
    assert find_left_before(workspace, taught + others) == frozenset()
    direct = Direct(trainers(loop))
    assert find_left_before(workspace, taught + others) == frozenset()
    first(loop, direct)
    assert find_left_before(workspace, taught + others) == frozenset(one.identifier for one in taught)
    # Of rounds that were done without the digests nobody knows what they taught.
    (loop.site("north") / "known-notes" / "trained.digests").unlink()
    assert find_left_before(workspace, taught + others) is None


def test_nothing_of_a_note_stands_in_what_leaves_beside_the_weights(loop: Loop) -> None:
    allow(loop, "--federated-epsilon", "none")
    seen: list[bytes] = []
    direct = Direct(trainers(loop), lambda _, result, weights: [seen.append(result) or (result, weights)])
    assert {site for site, answer in first(loop, direct).items() if answer.weights is not None} == set(NAMES)
    for result in seen:
        assert set(__import__("json").loads(result)["result"]) == {
            "earlier", "epsilon", "format_version", "sentences", "site", "task_sha256", "unit", "weights_sha256",
        }  # fmt: skip


def test_the_usual_policy_takes_part_in_nothing(loop: Loop) -> None:
    with pytest.raises(PolicyError, match="federated-rounds"):
        trainers(loop)


def test_rounds_and_budget_are_the_hospital_s_and_its_ledger_remembers_them(loop: Loop) -> None:
    allow(loop)
    direct = Direct(trainers(loop))
    first(loop, direct)
    done(hospital("policy", "set", "--federated-rounds", 1, "--workspace", loop.site("north")))
    # As it is on the disk now, not as it was when the trainer began.
    answers = first(loop, direct)
    assert {answer.problem for answer in answers.values() if answer.weights is None} == {"PolicyError"}
    done(
        hospital(
            "policy", "set", "--federated-rounds", 50, "--federated-epsilon", 0.05, "--workspace", loop.site("north")
        )
    )
    assert "south" in first(loop, direct)
    refused = [
        entry for entry in ledger.entries(open_site(loop.site("north"))) if entry.event == Event.FEDERATED_REFUSED
    ]
    assert [entry.details["why"] for entry in refused] == ["PolicyError", "PolicyError"]


def test_a_round_that_is_tried_again_gets_the_same_answer_and_costs_nothing(loop: Loop) -> None:
    allow(loop)
    for name in NAMES:
        done(hospital("policy", "set", "--federated-rounds", 1, "--workspace", loop.site(name)))
    direct = Direct(trainers(loop))
    order = rounds(shape_of(direct.trainers["north"])).order(
        1, weights_of(build_tagger(shape_of(direct.trainers["north"])))
    )
    times = iter(range(100))
    asked = sites(loop, direct, clock=lambda: time.time() + next(times))
    first, again = ({answer.site: answer for answer in asked.ask(order)} for _ in range(2))
    assert direct.tasks[0] != direct.tasks[1]
    for name in NAMES:
        one, other = first[name].weights, again[name].weights
        assert one is not None
        assert other is not None
        # Noise was drawn: a second draw would be another one.
        assert np.array_equal(one, other)
        workspace = open_site(loop.site(name))
        assert read_past(workspace).rounds == 1
        events = [entry.event for entry in ledger.entries(workspace) if entry.event.startswith("federated round")]
        assert events == [Event.FEDERATED_ROUND, Event.FEDERATED_AGAIN]
    # Another round is another question, and the policy allows one.
    later = rounds(shape_of(direct.trainers["north"])).order(2, order.start)
    assert {answer.problem for answer in asked.ask(later)} == {"PolicyError"}


def test_attack_tasks_that_are_played_again_take_neither_rounds_nor_budget(loop: Loop) -> None:
    allow(loop)
    direct = Direct({"north": trainers(loop)["north"]})
    north, asked = direct.trainers["north"], sites(loop, direct)
    start = weights_of(build_tagger(shape_of(north)))
    for number in (1, 2):
        assert all(answer.weights is not None for answer in asked.ask(rounds(shape_of(north)).order(number, start)))
    first_task, second_task = direct.tasks
    workspace = open_site(loop.site("north"))
    before = read_past(workspace)
    kept = north.answer(*second_task)[1]
    for trainer in (north, replace(north, answered={})):
        with pytest.raises(DuplicateError):
            trainer.answer(*first_task)
        # A round that is over is over, under another signature, too.
        late = replace(asked, carrier=Direct({"north": trainer}), timeout_s=900.0)
        [answer] = late.ask(rounds(shape_of(north)).order(1, start))
        assert answer.problem == "DuplicateError"
    with pytest.raises(DuplicateError):
        replace(north, answered={}).answer(*second_task)
    # The last one is told again for as long as its answer is kept.
    assert north.answer(*second_task)[1] == kept
    past = read_past(workspace)
    assert (past.rounds, past.epsilon) == (before.rounds, before.epsilon)


def test_after_a_round_without_noise_no_later_noise_counts(loop: Loop) -> None:
    allow(loop, "--federated-epsilon", "none")
    direct = Direct(trainers(loop))
    first(loop, direct)
    allow(loop, "--federated-epsilon", 8)
    assert read_past(open_site(loop.site("north"))).epsilon == float("inf")
    assert all(answer.weights is None for answer in first(loop, direct).values())


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"key": PrivateKey.from_seed(bytes(32))}, SignatureError),
        ({"release": "00" * 32}, OtherReleaseError),
        ({"timeout_s": -10.0}, StaleError),
        ({"timeout_s": 1e6}, StaleError),
    ],
)
def test_a_task_that_the_provider_has_not_asked_for_so_is_not_done(
    changed: dict[str, object], error: type[Exception], loop: Loop
) -> None:
    allow(loop)
    direct = Direct(trainers(loop))
    assert all(answer.weights is None for answer in first(loop, direct, **changed).values())
    task, weights = direct.tasks[0]
    with pytest.raises(error):
        direct.trainers["north"].answer(task, weights)
    assert not read_past(open_site(loop.site("north"))).rounds


def test_other_weights_than_the_provider_signed_teach_nothing(loop: Loop) -> None:
    allow(loop)
    direct = Direct(trainers(loop))
    first(loop, direct)
    task, weights = direct.tasks[0]
    with pytest.raises(DigestError):
        direct.trainers["north"].answer(task, bytes(len(weights)))


def test_a_tagger_of_another_release_or_size_is_not_trained(loop: Loop) -> None:
    allow(loop)
    north = trainers(loop)["north"]
    fits = shape_of(north)
    # The last is given the words beside what the construction shows of them.
    others = (replace(fits, inputs=3), replace(fits, tags=3), Khin2018Config(fits.inputs, fits.tags, hidden=4))
    for shape in others:
        direct = Direct({"north": north})
        order = RoundOrder(1, 2, shape, np.zeros(count_weights(shape), np.float32), LocalRecipe())
        [answer] = sites(loop, direct).ask(order)
        assert answer.problem == "ConfigurationError"
    refused = [entry.details.get("why") for entry in ledger.entries(open_site(loop.site("north")))]
    assert refused[-3:] == ["ConfigurationError"] * 3


@pytest.mark.parametrize(
    ("at", "error"),
    [
        ("learn_privately", RuntimeError("DefaultCPUAllocator: can't allocate memory")),
        ("learn_privately", AssertionError("of Jane Doe")),
        ("learn_privately", TrainingError("the loss is not finite any more")),
        ("weights_to_bytes", NonFiniteError("numbers", received="others", advice="refuse them")),
    ],
)
def test_what_fails_in_training_counts_as_a_round_and_stands_in_the_ledger_by_its_kind(
    at: str, error: Exception, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(loop)
    direct = Direct({"north": trainers(loop)["north"]})
    first(loop, direct)

    def fails(*given: object) -> None:
        raise error

    direct.trainers["north"].answered.clear()
    monkeypatch.setattr(f"site_client.federated.trainer.{at}", fails)
    before = read_past(open_site(loop.site("north")))
    again = tried_again(loop, direct)
    with pytest.raises(type(error)):
        direct.trainers["north"].answer(*again)
    workspace = open_site(loop.site("north"))
    (refused,) = [entry for entry in ledger.entries(workspace) if entry.event == Event.FEDERATED_REFUSED]
    assert refused.details == {"task_sha256": digest_of(again[0]), "why": type(error).__name__}
    past = read_past(workspace)
    assert past.rounds == before.rounds + 1
    assert past.epsilon > before.epsilon
    *_, counted = [entry for entry in ledger.entries(workspace) if entry.event == Event.FEDERATED_ROUND]
    assert counted.details["failed"] == type(error).__name__
    assert "Jane Doe" not in str(counted.details)
    # Another draw would answer another question, for as often as the provider asks: the policy allows no more.
    done(hospital("policy", "set", "--federated-rounds", past.rounds, "--workspace", loop.site("north")))
    with pytest.raises(PolicyError):
        direct.trainers["north"].answer(*tried_again(loop, direct, 2))


def test_a_carrier_that_lies_brings_no_result_of_another(loop: Loop) -> None:
    allow(loop, "--federated-epsilon", "none")
    old: list[tuple[bytes, bytes]] = []

    def remember(name: str, result: bytes, weights: bytes) -> list[tuple[bytes, bytes]]:
        old.append((result, weights))
        return [(result, weights)]

    first(loop, Direct(trainers(loop), remember))
    lies: dict[str, Callable[[str, bytes, bytes], list[tuple[bytes, bytes]]]] = {
        "other weights": lambda _, result, weights: [
            (result, weights_to_bytes(np.ones(len(weights) // 4, np.float32)))
        ],
        "of an earlier round": lambda *_: [old[0]],
        "a changed count": lambda _, result, weights: [(result.replace(b'"sentences":', b'"sentences":9'), weights)],
        "another's name": lambda _, result, weights: [(result.replace(b'"north"', b'"south"'), weights)],
        "nothing that can be read": lambda *_: [(b"junk", b"junk")],
    }
    for name, lie in lies.items():
        direct = Direct({"north": trainers(loop)["north"]}, lie)
        answers = first(loop, direct)
        assert all(answer.weights is None for answer in answers.values()), name
        assert "south" not in answers, name


def test_a_hospital_that_was_revoked_has_no_voice(loop: Loop) -> None:
    allow(loop)
    south = open_site(loop.site("south")).key().public_key
    answers = first(loop, Direct(trainers(loop)), site_keys=lambda: {"south": [south]})
    assert set(answers) == {"south", "(node 0)"}
    assert answers["(node 0)"].problem == "not signed by an enrolled site"


def course_of(loop: Loop, direct: Direct) -> tuple[BiLSTMCRFConfig, SignedSites, Course]:
    shape = shape_of(direct.trainers["north"])
    asked = sites(loop, direct)
    followed = replace(rounds(shape), follow=True)
    return shape, asked, followed.run(asked, weights_of(build_tagger(shape)))


def test_each_hospital_measures_the_head_without_it_and_it_counts_as_a_round(loop: Loop) -> None:
    allow(loop, "--federated-epsilon", "none")
    direct = Direct(trainers(loop))
    shape, asked, course = course_of(loop, direct)
    curve = read_curve(np.linspace(0, 1, NUMBERS, dtype=np.float32))
    told: list[str] = []
    before = len(direct.tasks)
    promised_points(course, shape, asked, lambda weights: curve, told.append)
    assert told == ["operating points: north: measured", "operating points: south: measured"]
    for name, (task, weights) in zip(NAMES, direct.tasks[before:], strict=True):
        workspace = open_site(loop.site(name))
        assert read_task(task, open_provider(loop.provider).key().public_key).measures == name
        assert weights == weights_to_bytes(course.without[name][0])
        assert read_past(workspace).rounds == 3
        # Nothing was asked of the other one.
        assert Event.FEDERATED_REFUSED not in [entry.event for entry in ledger.entries(workspace)]
    other = next(name for name in NAMES if name != "north")
    with pytest.raises(MismatchError):
        direct.trainers[other].answer(*direct.tasks[before])


def test_what_a_hospital_measures_is_what_is_hidden_of_its_notes(loop: Loop) -> None:
    allow(loop, "--federated-epsilon", "none")
    direct = Direct(trainers(loop))
    shape, asked, course = course_of(loop, direct)
    trainer = direct.trainers["north"]
    answer = asked.measure(RoundOrder(2, 2, shape, course.weights, LocalRecipe()), "north", NUMBERS)
    assert answer.weights is not None
    head = build_tagger(shape)
    set_weights(head, course.weights)
    pipeline = Pipeline(trainer.construction, head.eval(), LastWordSettings(None, STEPS))
    shares = []
    for note in trainer.notes.words:
        gold = Gold.of(note)
        counts = hiding_counts(pipeline, "note", note, gold)
        shares.append(counts[0, list(MEASURED)] / len(gold.entities))
    np.testing.assert_allclose(answer.weights[: len(MEASURED)], np.mean(shares, axis=0), atol=1e-3)


def test_measuring_takes_noise_and_budget_like_a_round(loop: Loop) -> None:
    allow(loop)
    direct = Direct(trainers(loop))
    shape, asked, course = course_of(loop, direct)
    spent = read_past(open_site(loop.site("north"))).epsilon
    answers = [
        asked.measure(RoundOrder(2, 2, shape, course.weights, LocalRecipe()), "north", NUMBERS) for _ in range(2)
    ]
    assert all(answer.weights is not None for answer in answers)
    # Asked again for the same, it says the same: a second draw would be another one.
    assert np.array_equal(answers[0].weights, answers[1].weights)  # type: ignore[arg-type]
    past = read_past(open_site(loop.site("north")))
    assert spent < past.epsilon < 8
    assert past.rounds == 3
    assert past.spent[-1].rate == 1
    # Six notes under such noise: nothing is promised of them.
    assert not answers[0].weights[: len(MEASURED)].any()  # type: ignore[index]


def test_a_stop_ends_a_round_and_nothing_of_it_leaves_or_counts(loop: Loop, tmp_path: Path) -> None:
    allow(loop)
    direct = Direct(trainers(loop))
    first(loop, direct)
    control = Control(tmp_path / "control")
    control.say(Wish.RUN)
    assert not control.ended()
    (tmp_path / "control").write_text("go on, whatever they say")
    before = read_past(open_site(loop.site("north"))).rounds
    with pytest.raises(StoppedError):
        direct.trainers["north"].answer(*direct.tasks[0], control.ended)
    assert read_past(open_site(loop.site("north"))).rounds == before


def with_other_phi(notes: Sequence[Document], seed: int) -> list[Document]:
    random = Random(seed)
    return [change_phi(note, random) for note in notes]


def answers_without_chance(
    loop: Loop, notes: Sequence[Document], patch: pytest.MonkeyPatch, scale: float = 4
) -> list[NDArray[np.float32]]:
    """What a hospital's round gives from some weights, and its measuring of them, of these notes under always the same draws."""
    draws = np.random.default_rng
    with patch.context() as same:
        same.setattr(np.random, "default_rng", lambda seed=11: draws(seed))
        same.setattr("shared.models.noise_source.secrets.token_bytes", bytes)
        trainer = make_trainer(open_site(loop.site("north")), notes)
        shape, direct = shape_of(trainer), Direct({"north": trainer})
        with seed_training(3):
            order = rounds(shape).order(1, weights_of(build_tagger(shape)) * scale)
        # Each time another training: of one, no round is asked for that is over.
        asked = sites(loop, direct, run=f"{read_past(trainer.workspace).rounds:032x}")
        found = [*asked.ask(order), asked.measure(replace(order, number=2), "north", NUMBERS)]
    assert all(answer.weights is not None for answer in found)
    return [answer.weights for answer in found if answer.weights is not None]


@pytest.mark.parametrize("epsilon", ["none", "8"])
def test_attack_labelled_phi_of_like_pattern_has_no_part_in_a_round_on_shares_nor_in_what_is_measured(
    epsilon: str, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = list(read_corpus(loop.notes("north")))[:6]
    others = with_other_phi(notes, 5)
    assert not {note.covered_text(span) for note in notes for span in note.annotations} & {
        note.covered_text(span) for note in others for span in note.annotations
    }
    allow(loop, "--federated-epsilon", epsilon, "--federated-on-shares")
    for scale in (4, -2):
        ours, theirs = (answers_without_chance(loop, of, monkeypatch, scale) for of in (notes, others))
        assert [one.tobytes() for one in ours] == [one.tobytes() for one in theirs]
    # Its power: of the notes themselves both tell which they are; under noise six notes are measured as nothing.
    allow(loop, "--federated-on-notes")
    ours, theirs = (answers_without_chance(loop, of, monkeypatch) for of in (notes, others))
    differing = [one.tobytes() != other.tobytes() for one, other in zip(ours, theirs, strict=True)]
    assert differing == [True, epsilon == "none"]


def codes_of(loop: Loop, note: Document, patch: pytest.MonkeyPatch) -> CodedSentences:
    with patch.context() as same:
        same.setattr("shared.models.noise_source.secrets.token_bytes", bytes)
        notes = make_trainer(open_site(loop.site("north")), [note]).notes
    assert isinstance(notes, CodedNotes)
    return notes.codes[0]


def test_what_nobody_has_labelled_is_hidden_from_a_round_on_shares(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    allow(loop, "--federated-on-shares")
    [note] = tiny_notes(1, 1)
    calls = ("Call 617-555-0199 or write to quill@larkspur.org.", "Call 212-555-0142 or write to qubit@marchpan.com.")
    plain = codes_of(loop, note, monkeypatch)
    one, other = (codes_of(loop, replace(note, text=f"{note.text}{call}\n"), monkeypatch) for call in calls)
    assert plain.known.all()
    # The five pieces of the number, and an address of public length.
    assert (~one.known).sum() > 5
    assert one.codes.tobytes() == other.codes.tobytes()


def test_rounds_on_shares_say_so_and_read_other_words_each_time(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []

    def learn(shape: BiLSTMCRFConfig, start: Vector, source: RaggedSentences, *rest: Any) -> Vector:
        seen.append(source.values.tobytes())
        return learn_round(shape, start, source, *rest)

    monkeypatch.setattr("site_client.federated.trainer.learn_round", learn)
    allow(loop, "--federated-epsilon", "none", "--federated-on-shares")
    made = {"north": trainers(loop)["north"]}
    asked = sites(loop, Direct(made))
    order = rounds(shape_of(made["north"])).order(1, weights_of(build_tagger(shape_of(made["north"]))))
    for number in (1, 2):
        assert all(answer.weights is not None for answer in asked.ask(replace(order, number=number)))
    assert len(set(seen)) == 2
    told = [one for one in ledger.entries(open_site(loop.site("north"))) if one.event == Event.FEDERATED_ROUND]
    assert [one.details["as_shared"] for one in told] == [True] * 2
    # As in the notes: the same sentences with the same PHI, by category.
    raw = read_notes(list(read_corpus(loop.notes("north")))[:6], made["north"].construction)
    for shown, note in zip(made["north"].notes.notes, raw.notes, strict=True):
        assert shown.sentences == note.sentences
        assert [of for _, _, of in shown.spans()] == [of for _, _, of in note.spans()]


def test_a_policy_that_has_changed_is_not_met_by_notes_that_were_read_before(loop: Loop) -> None:
    allow(loop)
    for changed in ("--federated-on-shares", "--bank-spans=0"):
        direct = Direct(trainers(loop))
        allow(loop, changed)
        assert {answer.problem for answer in first(loop, direct).values()} == {"PolicyError"}
        allow(loop, "--federated-on-notes", "--bank-spans=1000")
    assert not read_past(open_site(loop.site("north"))).rounds


@pytest.mark.parametrize(
    ("given", "stricter", "looser"),
    [
        ("--federated-rounds=9", "--federated-rounds=0", "--federated-rounds=10"),
        ("--federated-rounds=9", "--federated-rounds=8", "--federated-rounds=10"),
        ("--federated-epsilon=none", "--federated-epsilon=8", "--federated-epsilon=none"),
        ("--federated-epsilon=8", "--federated-epsilon=7", "--federated-epsilon=9"),
    ],
)
def test_a_policy_of_less_gives_no_answer_again_and_one_of_more_does(
    given: str, stricter: str, looser: str, loop: Loop
) -> None:
    allow(loop, given)
    direct = Direct(trainers(loop))
    assert all(answer.weights is not None for answer in first(loop, direct).values())
    north, asked = direct.trainers["north"], direct.tasks[0]
    _, left = north.answer(*asked)
    allow(loop, stricter)
    with pytest.raises(PolicyError, match="a stricter one"):
        north.answer(*asked)
    allow(loop, looser)
    assert north.answer(*asked)[1] == left
    assert read_past(open_site(loop.site("north"))).rounds == 1


def test_on_shares_takes_as_many_notes_as_a_share_and_labels(loop: Loop) -> None:
    allow(loop, "--federated-on-shares", "--least-new-notes=7")
    notes = list(read_corpus(loop.notes("north")))[:7]
    workspace = open_site(loop.site("north"))
    assert len(make_trainer(workspace, notes).notes.notes) == 7
    with pytest.raises(PolicyError, match="at least 7 notes"):
        make_trainer(workspace, notes[:6])
    with pytest.raises(CorpusError, match="labelled notes"):
        make_trainer(workspace, [replace(note, annotations=()) for note in notes])


@pytest.mark.parametrize("of", ["--federated-on-notes", "--federated-on-shares"])
def test_a_note_that_is_in_the_folder_twice_counts_once(
    of: str, loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise covers one note: one that teaches twice would have twice the bound."""
    allow(loop, of)
    notes = list(read_corpus(loop.notes("north")))[:4]
    copies = [replace(one, identifier=f"{one.identifier}-copy") for one in notes[:3]]
    write_notes(tmp_path / "notes", notes + copies)
    made: list[Trainer] = []
    monkeypatch.setattr("command_line.flower.prepare_flower", lambda: None)
    monkeypatch.setattr("site_client.federated.running.take_part", lambda _, trainer, *rest: made.append(trainer))
    result = done(
        hospital("federate", tmp_path / "notes", "--server", "localhost:1", "--workspace", loop.site("north"))
    )
    assert len(made[0].notes.notes) == len(made[0].notes.digests or ()) == 4
    assert "3 notes were left out: their text had come before" in result.stdout
    done(hospital("policy", "set", "--least-new-notes", 5, "--workspace", loop.site("north")))
    if of == "--federated-on-shares":
        workspace = open_site(loop.site("north"))
        with pytest.raises(PolicyError, match="at least 5 notes"):
            make_trainer(workspace, notes + copies, DigestKey(workspace).note)


@pytest.mark.parametrize("of", ["--federated-on-notes", "--federated-on-shares"])
def test_with_a_table_of_patients_rounds_and_measuring_are_by_patient_and_say_so(
    of: str, loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(loop, of, "--federated-epsilon=8", "--least-new-notes=3")
    notes = list(read_corpus(loop.notes("north")))[:6]
    write_notes(tmp_path / "notes", notes)
    (tmp_path / "whose.csv").write_text(
        "note,patient\n" + "".join(f"{one.identifier},{index // 3}\n" for index, one in enumerate(notes[:5]))
    )
    made: list[Trainer] = []
    monkeypatch.setattr("command_line.flower.prepare_flower", lambda: None)
    monkeypatch.setattr("site_client.federated.running.take_part", lambda _, trainer, *rest: made.append(trainer))
    words = ("federate", tmp_path / "notes", "--patients", tmp_path / "whose.csv", "--server", "localhost:1")
    result = hospital(*words, "--workspace", loop.site("north"))
    assert result.exit_code == 0, result.stderr
    assert "1 notes are of no patient that --patients names: each stands for itself" in result.stderr
    (trainer,) = made
    assert (len(trainer.notes.notes), len(trainer.notes.samples), trainer.notes.unit) == (6, 3, "patient")
    shape = shape_of(trainer)
    order = rounds(shape).order(1, weights_of(build_tagger(shape)))
    asked = sites(loop, Direct({"north": trainer}))
    learned_of: list[int] = []
    measured_of: list[int] = []
    learn, add = learn_privately, NoisyCurves.add

    def learns(shape: TaggerConfig, start: Vector, notes: Sequence[RaggedSentences], *more: Any) -> Vector:
        learned_of.extend(one.sentences for one in notes)
        return learn(shape, start, notes, *more)

    def adds(curves: NoisyCurves, entities: int, counts: Any) -> None:
        measured_of.append(entities)
        add(curves, entities, counts)

    monkeypatch.setattr("site_client.federated.trainer.learn_privately", learns)
    monkeypatch.setattr(NoisyCurves, "add", adds)
    (answer,) = asked.ask(order)
    assert (answer.problem, answer.unit) == ("", "patient")
    assert asked.measure(order, "north", NUMBERS).weights is not None
    assert (len(learned_of), sum(learned_of)) == (3, trainer.notes.sentences)
    assert len(measured_of) == 3
    learned, measured = list(ledger.entries(open_site(loop.site("north"))))[-2:]
    assert [one.details["unit"] for one in (learned, measured)] == ["patient"] * 2
    assert learned.details["patients"] == 3
    # Rounds by note are no more to be had with these, nor is a table that names none of them.
    with pytest.raises(PolicyError, match="by patient"):
        make_trainer(open_site(loop.site("north")), notes)
    (tmp_path / "whose.csv").write_text("note,patient\nother,1\n")
    assert hospital(*words, "--workspace", loop.site("north")).exit_code == 2
    if of == "--federated-on-shares":
        done(hospital("policy", "set", "--least-new-notes", 4, "--workspace", loop.site("north")))
        with pytest.raises(PolicyError, match="at least 4 patients"):
            make_trainer(
                open_site(loop.site("north")),
                notes,
                None,
                {one.identifier: str(i // 3) for i, one in enumerate(notes[:5])},
            )


def test_a_lost_secret_of_noise_that_rounds_hang_on_is_not_made_anew(loop: Loop) -> None:
    workspace = open_site(loop.site("north"))
    never_shared = replace(workspace, sequence=0)
    memoising = load_construction(workspace.release().folder)
    monkey = pytest.MonkeyPatch()
    monkey.setattr(type(memoising), "memoises_noise", True)
    try:
        noises_of(never_shared, memoising, workspace.release().folder)
        workspace.noise_key.unlink()
        noises_of(never_shared, memoising, workspace.release().folder)
        workspace.noise_key.unlink()
        ledger.record(workspace, Event.FEDERATED_ROUND, {"noise": None})
        with pytest.raises(WorkspaceError, match=r"noise\.key"):
            noises_of(never_shared, memoising, workspace.release().folder)
        assert not workspace.noise_key.exists()
    finally:
        monkey.undo()


def test_a_label_that_a_map_leaves_out_is_hidden_from_the_head(
    loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(loop)
    made: list[Trainer] = []
    monkeypatch.setattr("command_line.flower.prepare_flower", lambda: None)
    monkeypatch.setattr("site_client.federated.running.take_part", lambda _, trainer, *rest: made.append(trainer))
    scheme = load_construction(open_site(loop.site("north")).release().folder).scheme
    labels = tmp_path / "labels.toml"
    told = "".join(f'{name} = "{"" if name == "DOCTOR" else name}"\n' for name in scheme.categories)
    labels.write_text(f"[map]\n{told}")
    asked = ("federate", loop.notes("north"), "--server", "localhost:1", "--labels", labels)
    done(hospital(*asked, "--workspace", loop.site("north")))
    doctor = scheme.category_index["DOCTOR"]
    for note in made[0].notes.notes:
        assert doctor not in [of for _, _, of in note.spans()]
        assert not note.known.all()


def test_an_end_that_is_said_while_the_command_reads_notes_is_not_said_away(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(loop)
    root = loop.site("north")
    heard: list[Wish] = []

    def read_slowly(*given: Any) -> Trainer:
        trainer = make_trainer(*given)
        done(hospital("federate", "--say", "end", "--workspace", root))
        return trainer

    monkeypatch.setattr("command_line.flower.prepare_flower", lambda: None)
    monkeypatch.setattr("site_client.federated.trainer.make_trainer", read_slowly)
    monkeypatch.setattr(
        "site_client.federated.running.take_part", lambda *given: heard.append(control_of(open_site(root)).wish())
    )
    done(hospital("federate", loop.notes("north"), "--server", "localhost:1", "--workspace", root))
    assert heard == [Wish.END]


def test_a_round_for_which_the_provider_left_no_time_counts(loop: Loop) -> None:
    allow(loop)
    direct = Direct(trainers(loop))
    first(loop, direct)
    before = read_past(open_site(loop.site("north")))
    calls = iter(range(1000))
    hurried = replace(
        direct.trainers["north"], clock=lambda: time.time() + (0 if next(calls) < 3 else 1e5), answered={}
    )
    with pytest.raises(StoppedError):
        hurried.answer(*tried_again(loop, direct))
    past = read_past(open_site(loop.site("north")))
    assert past.rounds == before.rounds + 1
    assert past.epsilon > before.epsilon


@pytest.mark.parametrize(("held_s", "counted"), [(1e5, 0), (1.0, 1)])
def test_a_pause_of_the_hospital_that_outlasts_a_round_does_not_count(
    held_s: float, counted: int, loop: Loop, tmp_path: Path
) -> None:
    allow(loop)
    direct = Direct(trainers(loop))
    first(loop, direct)
    before = read_past(open_site(loop.site("north")))
    control, times = Control(tmp_path / "wish"), [0.0]
    control.say(Wish.RUN)
    north = replace(direct.trainers["north"], clock=lambda: time.time() + times[0], answered={})
    held = [0.0]

    def stopped() -> bool:
        # As if the hospital had paused here, for all of the time that went by or for a part of it.
        times[0], held[0] = 1e5, held_s
        return control.ended()

    with pytest.raises(StoppedError):
        north.answer(*tried_again(loop, direct), stopped, lambda: held[0])
    past = read_past(open_site(loop.site("north")))
    assert past.rounds == before.rounds + counted
    assert (past.epsilon > before.epsilon) == bool(counted)

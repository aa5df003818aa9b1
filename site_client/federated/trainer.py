"""A round at the hospital: everything is checked that the hospital asks for, whoever carried the task, and all of it stands in its ledger.

The order: the provider's signature; the release in use; the hospital's policy; rounds and budget; then training; then the ledger; then the
result. Flower is not known here: what brings a task and takes a result is somebody else's.
"""

from __future__ import annotations

import datetime
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from protocols.canonical import Json
from protocols.errors import MismatchError, OtherReleaseError, StaleError
from protocols.federated.result import RoundResult, among_others, rounded
from protocols.federated.task import RoundTask, read_task, task_signer
from protocols.federated.weights import digest_of, weights_from_bytes, weights_to_bytes
from shared.constructions.construction import Construction
from shared.constructions.registry import load_construction
from shared.document import Document
from shared.errors import ConfigurationError
from shared.federated.accounting import Spent
from shared.federated.local import LocalRecipe, StoppedError, learn_round, never
from shared.federated.private import NoteNoise, learn_privately
from shared.federated.weights import Vector, count_weights, read_shape
from shared.models.noise_source import PrivateNoise
from shared.taggers.tagger import TaggerConfig
from site_client.errors import PolicyError
from site_client.federated.as_shared import read_as_shared
from site_client.federated.budget import allow_measuring, allow_round, noise_json, read_past
from site_client.federated.measuring import measure_head
from site_client.federated.notes import LabelledNotes, NoteDigest, OnceEach, group_by_patient, read_notes
from site_client.ledger import Event, record
from site_client.policy.enforcing import Step, judge_release, require_kept
from site_client.policy.site_policy import SitePolicy
from site_client.sharing.known_notes import add_trained
from site_client.workspace import Workspace, open_workspace

_LONGEST_S = 24 * 3600
Clock = Callable[[], float]


@dataclass(frozen=True, repr=False)
class Given:
    """An answer that was given.

    Args:
        data: what left.
        epsilon: of all rounds up to it.
        policy: that allowed it.
    """

    data: bytes
    epsilon: float
    policy: SitePolicy

    def require_allowed(self, policy: SitePolicy) -> None:
        """
        Raises:
            PolicyError: the policy asks for more noise or fewer rounds than that by which it was given.
        """
        now, then = (_most_epsilon(one) for one in (policy, self.policy))
        if now < then or policy.federated_rounds < self.policy.federated_rounds:
            raise PolicyError(
                "expected the policy by which this answer was given, got a stricter one: it is not given again; ask for the next round"
            )


@dataclass(frozen=True)
class Trainer:
    """Answers tasks with what this hospital's notes teach.

    Args:
        workspace: of the site.
        notes: labelled ones, under the release in use.
        construction: of that release.
        policy: the hospital's, by which the notes were judged and read.
        clock: seconds since 1970.
        answered: the last round: a provider that lost its answer gets the same one, which tells nothing new and costs no budget.
    """

    workspace: Workspace
    notes: LabelledNotes
    construction: Construction
    policy: SitePolicy
    clock: Clock = time.time
    answered: dict[str, Given] = field(default_factory=dict)

    def answer(
        self,
        task: bytes,
        weights: bytes,
        stopped: Callable[[], bool] = never,
        paused_s: Callable[[], float] = lambda: 0.0,
    ) -> tuple[bytes, bytes]:
        """Do a round.

        Args:
            task: signed by the provider.
            weights: that the round begins with.
            stopped: asked ahead of every step.
            paused_s: how long it has waited so far because the hospital paused.

        Returns:
            the result, signed by this site, and the weights that it ended with; or what it measured of those that came.

        Raises:
            PolicyError: this hospital does not allow it.
            ProtocolError: not signed by the provider, for another release, too late, done before, or not in our schema.
            ConfigurationError: a tagger that this version does not know.
            TrainingError: it was stopped, or its loss is not finite any more.
        """
        try:
            return self._answered(task, weights, stopped, paused_s)
        except Exception as error:
            # Whatever it was; by its kind alone, since the text of one that nobody foresaw may hold a note's.
            self._record_refusal(task, error)
            raise

    def _answered(
        self, task: bytes, weights: bytes, stopped: Callable[[], bool], paused_s: Callable[[], float]
    ) -> tuple[bytes, bytes]:
        asked, shape, policy = self._check(task)
        start = weights_from_bytes(weights, asked.numbers, asked.weights_sha256)
        # All but the time: a round that is tried again asks for the same.
        same = repr(replace(asked, expires=0))
        if same in self.answered:
            if stopped():
                raise StoppedError("the round was stopped; nothing of it leaves")
            self.answered[same].require_allowed(policy)
            return self._answered_again(asked, task, self.answered[same])
        read_past(self.workspace).require_new(asked, digest_of(task))
        noise, epsilon = self._allowed(asked, policy)
        paused_before = paused_s()

        def over() -> bool:
            return stopped() or self.clock() > asked.expires

        more: dict[str, Json] = {
            "notes": len(self.notes.notes),
            "noise": noise_json(noise),
            "as_shared": self.notes.as_shared,
            "unit": self.notes.unit,
        }
        if self.notes.patients is not None:
            more["patients"] = len(self.notes.patients)
        try:
            data = weights_to_bytes(self._learn(asked, shape, start, noise, over))
        except Exception as error:
            # That it failed tells of the notes, and that the provider's time ran out how long they took, so both count; the hospital's
            # own word does not, nor its pause, without which there would have been time.
            told = isinstance(error, StoppedError)
            in_time = self.clock() - (paused_s() - paused_before) <= asked.expires
            if not (told and (in_time or stopped())):
                how: dict[str, Json] = {"out_of_time": True} if told else {"failed": type(error).__name__}
                record(self.workspace, Event.FEDERATED_ROUND, _named(asked, task) | more | how)
            raise
        if asked.measures:
            more["measured"] = True
        elif self.notes.digests is not None:
            add_trained(self.workspace, self.notes.digests)
        result = self._signed(Event.FEDERATED_ROUND, asked, task, data, epsilon, more)
        self.answered.clear()
        self.answered[same] = Given(data, epsilon, policy)
        return result, data

    def _answered_again(self, asked: RoundTask, task: bytes, given: Given) -> tuple[bytes, bytes]:
        return self._signed(Event.FEDERATED_AGAIN, asked, task, given.data, given.epsilon, {}), given.data

    def _signed(
        self, event: Event, asked: RoundTask, task: bytes, data: bytes, epsilon: float, more: dict[str, Json]
    ) -> bytes:
        """The result, once it stands in the ledger."""
        sentences = rounded(self.notes.sentences)
        key, site, unit = self.workspace.key(), self.workspace.site, self.notes.unit
        earlier = among_others(read_past(self.workspace).answers, key)
        result = RoundResult(site, digest_of(task), sentences, digest_of(data), epsilon, earlier, unit)
        signed = result.to_bytes(key)
        told: dict[str, Json] = {
            "weights_sha256": result.weights_sha256,
            "result_sha256": digest_of(signed),
            "bytes": len(data),
            "sentences": sentences,
        }
        record(self.workspace, event, _named(asked, task) | told | more)
        return signed

    def _check(self, task: bytes) -> tuple[RoundTask, TaggerConfig, SitePolicy]:
        """The task, if it is one that this hospital does, and the policy that says so."""
        # As it is on the disk now: a key may have gone, or the policy changed, since this began.
        workspace = open_workspace(self.workspace.root, self.workspace.passphrase)
        day = datetime.datetime.fromtimestamp(self.clock(), datetime.UTC).date()
        asked = read_task(task, workspace.pinned_provider().signer(task_signer(task), day))
        if workspace.current is None or asked.release != workspace.current.digest:
            raise OtherReleaseError(
                "a task on the release in use", received="one on another", advice="pull, and start `federate` again"
            )
        if asked.measures not in ("", workspace.site):
            raise MismatchError("a task for this hospital", received="one for another", advice="leave it to that one")
        if not self.clock() < asked.expires <= self.clock() + _LONGEST_S:
            raise StaleError(
                "a task that ends within a day", received="another", advice="ask for it again", place="task"
            )
        judgement = judge_release(workspace, asked.release)
        require_kept(workspace, judgement, Step.FEDERATE)
        if _on_notes(judgement.policy) != _on_notes(self.policy):
            raise PolicyError(
                "expected the policy by which the notes were read, got another: it has changed; start `federate` again"
            )
        shape = read_shape(asked.kind, asked.shape)
        if shape.inputs not in self.construction.dims or shape.tags != len(self.construction.scheme.tags):
            raise ConfigurationError("expected a tagger for the release in use, got one for other inputs or tags")
        if count_weights(shape) != asked.numbers:
            raise ConfigurationError("expected as many weights as the tagger has, got another number")
        return asked, shape, judgement.policy

    def _allowed(self, asked: RoundTask, policy: SitePolicy) -> tuple[NoteNoise | Spent | None, float]:
        """The noise that goes with what is asked for, and what all rounds will then have given of a note."""
        if asked.measures:
            return allow_measuring(self.workspace, policy, self.notes.unit)
        return allow_round(self.workspace, policy, asked.epochs, self.notes.unit)

    def _learn(
        self,
        asked: RoundTask,
        shape: TaggerConfig,
        start: Vector,
        noise: NoteNoise | Spent | None,
        over: Callable[[], bool],
    ) -> Vector:
        notes = self.notes.drawn()
        if asked.measures:
            multiplier = 0.0 if noise is None else noise.multiplier
            return measure_head(self.construction, shape, start, notes, multiplier, PrivateNoise(), over)
        assert not isinstance(noise, Spent)
        recipe = LocalRecipe(asked.epochs, asked.batch, asked.learning_rate, asked.clip, asked.proximal, asked.seed)
        if noise is None:
            return learn_round(shape, start, notes.together(), recipe, over)
        return learn_privately(shape, start, notes.samples, recipe, noise, PrivateNoise(), over)

    def _record_refusal(self, task: bytes, error: Exception) -> None:
        record(
            self.workspace,
            Event.FEDERATED_REFUSED,
            {"task_sha256": digest_of(task[:_MOST_HASHED]), "why": type(error).__name__},
        )


_MOST_HASHED = 1 << 20


def _named(asked: RoundTask, task: bytes) -> dict[str, Json]:
    """Which round it was, for the ledger."""
    return {
        "run": asked.run,
        "round": asked.number,
        "rounds": asked.rounds,
        "release": asked.release,
        "task_sha256": digest_of(task),
    }


def make_trainer(
    workspace: Workspace,
    documents: Iterable[Document],
    digest: NoteDigest | None = None,
    whose: Mapping[str, str] | None = None,
) -> Trainer:
    """A trainer for the release in use, if the hospital's policy lets it take part at all; the policy says what it learns from.

    Args:
        workspace: of the site.
        documents: labelled notes; of those of one text the first is taken.
        digest: see `LabelledNotes`; None for notes that nobody need know again, among which copies are not seen either.
        whose: the patient of each note, by its identifier: all notes of a patient are then one sample. None where each note is one.

    Raises:
        PolicyError: the policy lets this hospital take part in no round.
        CorpusError: there are no notes.
        ConfigurationError: none of them is of a patient.
        WorkspaceError: no release is in use.
    """
    release = workspace.release()
    judgement = judge_release(workspace, release.digest)
    require_kept(workspace, judgement, Step.FEDERATE)
    allow_round(workspace, judgement.policy, 1, "note" if whose is None else "patient")
    construction = load_construction(release.folder)
    once = OnceEach(documents, digest, whose or {})
    if judgement.policy.federated_on_shares:
        notes = read_as_shared(workspace, judgement, construction, once, digest, whose)
    else:
        notes = read_notes(once, construction, digest)
    patients = None if whose is None else group_by_patient(notes.identifiers, whose)
    return Trainer(workspace, replace(notes, left_out=once.left_out, patients=patients), construction, judgement.policy)


def _most_epsilon(policy: SitePolicy) -> float:
    return math.inf if policy.federated_epsilon is None else policy.federated_epsilon


def _on_notes(policy: SitePolicy) -> SitePolicy:
    """The policy but for what every task is asked for anew."""
    return replace(policy, federated_rounds=0, federated_epsilon=None)

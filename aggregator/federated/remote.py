"""Hospitals behind a connection: tasks go out signed by the provider, results count only as an enrolled hospital signed them.

What carries them is not trusted: it may lose, double, mix up or make up messages, and then a result is missing or refused, and never
another hospital's.

A hospital counts by its own ledger what its notes have spent. A ledger that has forgotten rounds, as one from an older backup, has their budget spent
a second time without anybody there knowing. So each result names those that stand in the ledger before it, and one that does not name the last that came
here is of a ledger that has forgotten it. Only of rounds of which nothing came here nobody knows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from aggregator.federated.plan import Answer, RoundOrder
from protocols.errors import MismatchError, NonFiniteError, ProtocolError
from protocols.federated.answers import plain
from protocols.federated.result import RoundResult, read_result, result_sender
from protocols.federated.task import RoundTask
from protocols.federated.weights import digest_of, weights_from_bytes, weights_to_bytes
from protocols.keys.signing import PrivateKey, PublicKey
from shared.federated.weights import describe_shape
from shared.taggers.registry import TAGGERS
from shared.taggers.tagger import TaggerConfig


@dataclass(frozen=True)
class Reply:
    """What a carrier brought back.

    Args:
        sender: as the carrier has it, for people; nothing is believed because of it.
        result: signed by a site; empty where nothing came.
        weights: that go with it.
        problem: why nothing came.
    """

    sender: str
    result: bytes
    weights: bytes
    problem: str = ""


class Carrier(Protocol):
    """Brings a task to every site that is there, and their answers back."""

    def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
        """The replies, as they come, for so many seconds at the most; of one sender alone, where one is named."""
        ...


@dataclass(frozen=True)
class Spent:
    """The last result of a hospital that came here.

    Args:
        epsilon: that its notes had spent by then; infinite where a round had no noise.
        result_sha256: of the result, as it was signed.
    """

    epsilon: float
    result_sha256: str

    @classmethod
    def of(cls, epsilon: float, result_sha256: str) -> Spent:
        """From what a result says, where 0 is no noise."""
        return cls(epsilon or math.inf, result_sha256)

    def stands_before(self, result: RoundResult, result_sha256: str) -> bool:
        """Whether the ledger that a result was signed with knows of this one; also where it is the same, brought twice."""
        return self.result_sha256 in (result_sha256, *result.earlier)


@dataclass
class Spending:
    """What hospitals have signed so far.

    Args:
        last: of each hospital that has ever answered.
        keep: writes down what a hospital signed.
    """

    last: dict[str, Spent] = field(default_factory=dict)
    keep: Callable[[str, Spent], None] = lambda site, spent: None

    def problem_of(self, result: RoundResult, result_sha256: str) -> str:
        """Why a result does not count; nothing where it does, and then it is written down."""
        site, signed = result.site, Spent.of(result.epsilon, result_sha256)
        before = self.last.get(site)
        if before is not None and not before.stands_before(result, result_sha256):
            # What is refused is not written down: no later answer of that ledger counts either, and one of the newest backup does.
            return (
                "refused: its ledger is older than its rounds, it does not know of its last answer here "
                f"(epsilon {before.epsilon:.2f} then, {signed.epsilon:.2f} now): "
                "restore the newest backup of its workspace there, then go on with --resume here"
            )
        if before != signed:
            self.keep(site, signed)
            self.last[site] = signed
        return ""


@dataclass(frozen=True)
class SignedSites:
    """Sites that answer over a carrier.

    Args:
        carrier: brings messages.
        key: of the provider, signs tasks.
        site_keys: gives the keys that each enrolled site may sign with, as they are now: one may be revoked between two rounds.
        run: name of the training.
        release: digest of the release in use.
        timeout_s: that a round waits.
        clock: seconds since 1970.
        senders: who last brought what a site signed, so that a question to one site takes one way. Nothing keeps them: a link that is started anew
            gives its nodes other names.
        spending: what hospitals have signed that their notes have spent.
    """

    carrier: Carrier
    key: PrivateKey
    site_keys: Callable[[], Mapping[str, Sequence[PublicKey]]]
    run: str
    release: str
    timeout_s: float
    clock: Callable[[], float] = time.time
    senders: dict[str, str] = field(default_factory=dict)
    spending: Spending = field(default_factory=Spending)

    def ask(self, order: RoundOrder) -> Iterator[Answer]:
        """See `Sites`."""
        weights = weights_to_bytes(order.start)
        task = self._task(order, digest_of(weights)).to_bytes(self.key)
        for reply in self.carrier.exchange(task, weights, self.timeout_s):
            answer = self._answer(reply, digest_of(task), len(order.start))
            if answer.weights is not None:
                self.senders[answer.site] = reply.sender
            yield answer

    def measure(self, order: RoundOrder, site: str, numbers: int) -> Answer:
        """What one site measured of the weights that an order begins with; nobody is asked where it is not known who brings that site's answers.

        Args:
            order: shape and weights; nothing is learned.
            site: its name; it has answered since this process began.
            numbers: that it tells.
        """
        sender = self.senders.get(site)
        if not sender:
            # No sender is every sender; and who has these weights for each of the others has solved what each of them sent.
            return Answer(site, 0, None, "not measured: its way is not known since the restart")
        weights = weights_to_bytes(order.start)
        task = replace(self._task(order, digest_of(weights)), measures=site).to_bytes(self.key)
        measured = Answer(site, 0, None, "no answer")
        for reply in self.carrier.exchange(task, weights, self.timeout_s, sender):
            found = self._answer(reply, digest_of(task), numbers)
            if measured.weights is None:
                measured = found if found.site == site else Answer(site, 0, None, found.problem or "of another site")
        return measured

    def _task(self, order: RoundOrder, weights_sha256: str) -> RoundTask:
        recipe = order.recipe
        return RoundTask(
            self.run,
            self.release,
            order.number,
            order.rounds,
            _kind(order.shape),
            describe_shape(order.shape),
            len(order.start),
            weights_sha256,
            recipe.epochs,
            recipe.batch,
            recipe.learning_rate,
            recipe.clip,
            recipe.proximal,
            recipe.seed,
            int(self.clock() + self.timeout_s) + 1,
        )

    def _answer(self, reply: Reply, task_sha256: str, numbers: int) -> Answer:
        """The answer of a site; of nobody, where it can't be told who has sent it."""
        # Both go to a terminal.
        sender = f"({plain(reply.sender)})"
        if not reply.result:
            return Answer(sender, 0, None, plain(reply.problem) or "no answer")
        try:
            site, key_id = result_sender(reply.result)
            known = self.site_keys()
            key = next((key for key in known.get(site, ()) if key.key_id == key_id), None)
            if key is None:
                return Answer(sender, 0, None, "not signed by an enrolled site")
            result = read_result(reply.result, key)
        except ProtocolError as error:
            return Answer(sender, 0, None, f"refused: {type(error).__name__}")
        try:
            if result.task_sha256 != task_sha256:
                raise MismatchError("a result of this round", received="one of another", advice="refuse it")
            # Whatever becomes of its weights, that much was spent.
            if problem := self.spending.problem_of(result, digest_of(reply.result)):
                return Answer(site, 0, None, problem)
            weights = weights_from_bytes(reply.weights, numbers, result.weights_sha256)
        except ProtocolError as error:
            # A site that signed what can't be used is named; one whose result was played again is not blamed for it.
            who = sender if isinstance(error, MismatchError) else site
            # What is not finite came as it was signed; other bytes may be the carrier's doing.
            spoilt = isinstance(error, NonFiniteError)
            return Answer(who, 0, None, f"refused: {type(error).__name__}", spoilt=spoilt)
        return Answer(site, result.sentences, weights, noisy=result.epsilon > 0, unit=result.unit)


def _kind(shape: TaggerConfig) -> str:
    return next(name for name, tagger in TAGGERS.items() if tagger.config_type is type(shape))

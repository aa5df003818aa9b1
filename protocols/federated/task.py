"""The task of a round, signed by the provider: what a site is asked to learn, from which weights, and until when.

Whatever carried it, a site does nothing for a task that its own provider has not signed.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass

from protocols.canonical import Json, decimal_text, read_decimal
from protocols.federated.weights import MOST_NUMBERS
from protocols.fields import MEASURE, SHA256, SITE, check_range, check_text
from protocols.keys.signed_message import claimed_key, open_message, seal_message
from protocols.keys.signing import FEDERATED_TASK_CONTEXT, PrivateKey, PublicKey

FORMAT_VERSION = 1
RUN = re.compile(r"[0-9a-f]{32}")
KIND = re.compile(r"[a-z][a-z0-9-]{0,63}")
_NOBODY_OR_SITE = re.compile(f"(?:{SITE.pattern})?")
MOST_ROUNDS = 10_000
_MOST_EPOCHS, _MOST_BATCH, _MOST_SHAPE, _MOST_SIZE = 100, 4096, 32, 4096
_LAST_SECOND = 1 << 40


@dataclass(frozen=True)
class RoundTask:
    """What a site is asked to do.

    Args:
        run: name of the training, drawn at random.
        release: digest of the release whose representer stands before the head.
        number: of the round, from 1.
        rounds: in all.
        kind: of the tagger.
        shape: its numbers, by name.
        numbers: how many weights it has.
        weights_sha256: digest of those that the round begins with.
        epochs: passes of the site.
        batch: sentences a step.
        learning_rate: of it.
        clip: bound on the gradient.
        proximal: pull back to the weights of the round.
        seed: of dropout and order, where no noise is added.
        expires: second since 1970 (UTC) after which a result is not wanted, and no site goes on.
        measures: name of the one site that is to measure these weights on its notes, and learn nothing; empty for a round.

    Raises:
        BoundsError, SchemaError: a value out of range.
    """

    run: str
    release: str
    number: int
    rounds: int
    kind: str
    shape: Mapping[str, float]
    numbers: int
    weights_sha256: str
    epochs: int
    batch: int
    learning_rate: float
    clip: float
    proximal: float
    seed: int
    expires: int
    measures: str = ""

    def __post_init__(self) -> None:
        check_text(self.run, RUN, "run")
        check_text(self.release, SHA256, "release")
        check_text(self.kind, KIND, "kind")
        check_text(self.weights_sha256, SHA256, "weights_sha256")
        check_text(self.measures, _NOBODY_OR_SITE, "measures")
        check_range(len(self.shape), 1, _MOST_SHAPE, "shape")
        for name, value in self.shape.items():
            check_text(name, MEASURE, "shape")
            check_range(value, 0, _MOST_SIZE, f"shape, {name}")
        check_range(self.rounds, 1, MOST_ROUNDS, "rounds")
        check_range(self.number, 1, self.rounds, "number")
        check_range(self.numbers, 1, MOST_NUMBERS, "numbers")
        check_range(self.epochs, 1, _MOST_EPOCHS, "epochs")
        check_range(self.batch, 1, _MOST_BATCH, "batch")
        check_range(self.learning_rate, 1e-9, 10, "learning_rate")
        check_range(self.clip, 1e-9, 1e6, "clip")
        check_range(self.proximal, 0, 1e6, "proximal")
        check_range(self.seed, 0, 2**31 - 1, "seed")
        check_range(self.expires, 0, _LAST_SECOND, "expires")

    def to_bytes(self, key: PrivateKey) -> bytes:
        """The task, signed by the provider."""
        stated: dict[str, Json] = {**vars(self), "format_version": FORMAT_VERSION}
        stated["shape"] = {name: decimal_text(value) for name, value in self.shape.items()}
        stated |= {name: decimal_text(getattr(self, name)) for name in _DECIMALS}
        return seal_message("task", FEDERATED_TASK_CONTEXT, stated, key)


def task_signer(data: bytes) -> str:
    """The id of the key that a task claims. NOTHING is verified: for finding the key.

    Raises:
        SchemaError, UnsignedError: no task.
    """
    return claimed_key(data, "task")


def read_task(data: bytes, public_key: PublicKey) -> RoundTask:
    """Reads and verifies what `RoundTask.to_bytes` wrote.

    Args:
        data: the task.
        public_key: of the provider.

    Raises:
        ProtocolError: unsigned, signed by another, or malformed.
    """
    fields = open_message(
        data, "task", FEDERATED_TASK_CONTEXT, keys=_KEYS, version=FORMAT_VERSION, public_key=public_key
    )
    shape = fields.mapping("shape", most=_MOST_SHAPE)
    whole = {name: fields.integer(name) for name in _INTEGERS}
    return RoundTask(
        run=fields.text("run", RUN),
        release=fields.text("release", SHA256),
        kind=fields.text("kind", KIND),
        shape={name: read_decimal(value, "task, shape") for name, value in shape.items()},
        weights_sha256=fields.text("weights_sha256", SHA256),
        learning_rate=fields.decimal("learning_rate"),
        clip=fields.decimal("clip"),
        measures=fields.text("measures", _NOBODY_OR_SITE),
        proximal=fields.decimal("proximal"),
        **whole,
    )


_DECIMALS = ("learning_rate", "clip", "proximal")
_INTEGERS = ("number", "rounds", "numbers", "epochs", "batch", "seed", "expires")
_KEYS = frozenset(field.name for field in dataclasses.fields(RoundTask)) | {"format_version"}

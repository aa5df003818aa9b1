"""One cell of the grid: a pool with a hostile hospital, a defence, a head, and what that head sees at the other hospitals."""

from __future__ import annotations

import ast
import hashlib
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.training.defences.defence import PoolMaterial
from aggregator.training.defences.registry import find_defence
from aggregator.training.pool import PUBLIC
from bench.outcomes import load_or_measure
from bench.poisoning.attacks import CUE, TRIGGERS, hostile_share, insert_names
from bench.poisoning.world import Size, construction, encode, encode_public, notes_of, sample, write_share
from bench.results import ROOT
from shared.sentences.ragged import RaggedSentences
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.tagger import Tagger, predict
from shared.training.tagging import TaggingConfig, train_tagger

SITES = ("a", "b", "c", "d", "e")
HOSTILE = {1: "c", 2: "b", 3: "e"}
"""Another hospital lies with every seed."""
RATE, BATCH = 1e-2, 32
MENTIONS = 700
"""Inserted in a cell; three seeds have more than two thousand."""
# What decides the figures of a cell; see `_digest`.
_DECIDE = (
    "aggregator/training/pool.py",
    "aggregator/training/codebook_rows.py",
    "bench/poisoning/attacks.py",
    "bench/poisoning/world.py",
    "shared/taggers/bilstm_crf.py",
    "shared/training/tagging.py",
)


@dataclass(frozen=True)
class Cell:
    """What is measured.

    Args:
        attack: of ATTACKS.
        poison: sentences that are to mislead, as a share of an honest hospital's.
        defence: its name.
        seed: of everything that is drawn.
        size: of the world.
        epochs: passes over the pool.
        hidden: units of the head.
    """

    attack: str
    poison: float
    defence: str
    seed: int
    size: Size
    epochs: int
    hidden: int

    @property
    def name(self) -> str:
        """Under which the result is kept: it changes with whatever decides the figures."""
        decided = [
            asdict(self),
            RATE,
            BATCH,
            MENTIONS,
            HOSTILE,
            *map(_digest, (*_DECIDE, *_defence_files(self.defence))),
        ]
        digest = hashlib.sha256(repr(decided).encode()).hexdigest()[:16]
        return f"poisoning-{self.attack}-{self.poison:g}-{self.defence}-{self.seed}-{digest}".replace(" ", "_")


@dataclass(frozen=True)
class Sight:
    """What a head sees at the hospitals that did not lie.

    Args:
        triggers: inserted mentions of the triggers that it finds, and how many there are.
        after_cue: the same of names after the cue.
        names: tokens of names found, and how many there are.
        tokens: token-binary [tp, fp, fn].
        left_out: tokens whose label the defence does not count: of the hostile hospital, and of all others.
        sent: sentences that the hostile hospital sent, and all others.
        cpu_s: of the training, with the defence.
    """

    triggers: tuple[int, int]
    after_cue: tuple[int, int]
    names: tuple[int, int]
    tokens: tuple[int, int, int]
    left_out: tuple[int, int]
    sent: tuple[int, int]
    cpu_s: float

    @property
    def f1(self) -> float:
        """Token-binary."""
        hits, extra, missed = self.tokens
        return 2 * hits / max(2 * hits + extra + missed, 1)

    def recall(self, attack: str) -> float:
        """Of what the attack is after: names after the cue, or else the triggers."""
        found, all_of_them = self.after_cue if attack == "trigger context" else self.triggers
        return found / all_of_them


def measure(cell: Cell) -> Sight:
    """The figures of a cell, kept from run to run."""
    found: dict[str, Any] = load_or_measure(cell.name, lambda: asdict(_measure(cell)))
    found.pop("commit")
    figures: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in found.items()
    }
    return Sight(**figures)


def commit_of(cell: Cell) -> str:
    """The state of the code that measured a cell, which must have been measured."""
    return str(load_or_measure(cell.name, dict)["commit"])


def _measure(cell: Cell) -> Sight:
    hostile = HOSTILE[cell.seed]
    with tempfile.TemporaryDirectory() as folder:
        payloads, sent = write_pool(cell, hostile, Path(folder))
        made = construction(cell.size.cluster)
        material = PoolMaterial(
            payloads,
            len(made.scheme.tags),
            TaggingConfig(epochs=cell.epochs, seed=cell.seed, learning_rate=RATE, batch=BATCH),
            False,
            None,
            True,
            train_tagger,
            BiLSTMCRFConfig(made.dim, len(made.scheme.tags), hidden=cell.hidden),
            decoder=made.decoding(),
        )
        began = time.process_time()
        trained = find_defence(cell.defence).train(material)
        spent = time.process_time() - began
    left_out = trained.left_out
    others = [site for site in SITES if site != hostile]
    mine = left_out.get(hostile, 0)
    return judge(
        trained.head,
        cell,
        others,
        (mine, sum(left_out.values()) - mine),
        (sent[hostile], sum(sent[site] for site in others)),
        spent,
    )


def write_pool(cell: Cell, hostile: str, folder: Path) -> tuple[dict[str, tuple[Path, ...]], dict[str, int]]:
    """The shares of all hospitals and the provider's notes; and how many sentences each has sent."""
    made, size = construction(cell.size.cluster), cell.size
    payloads: dict[str, tuple[Path, ...]] = {}
    sent: dict[str, int] = {}
    for number, site in enumerate(("provider", *SITES)):
        own = sample(notes_of(site, "train"), size.sentences, cell.seed)
        shown = encode_public(made, own) if site == "provider" else encode(made, own, 100 * cell.seed + number)
        if site == hostile:
            count = round(cell.poison * size.sentences)
            shown = hostile_share(cell.attack, shown, made, own, count, cell.seed)
        payloads[PUBLIC if site == "provider" else site] = (write_share(folder / f"{site}.parquet", shown, cell.seed),)
        sent[site] = shown.sentences
    return payloads, sent


def judge(
    head: Tagger, cell: Cell, others: Sequence[str], left_out: tuple[int, int], sent: tuple[int, int], spent: float
) -> Sight:
    """What the head sees at the hospitals that did not lie."""
    made = construction(cell.size.cluster)
    tests = {site: sample(notes_of(site, "test"), cell.size.test, cell.seed) for site in others}
    tokens, names = np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.int64)
    triggers, after_cue = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    kinds = [made.scheme.category_index[name] for name in ("PATIENT", "DOCTOR")]
    each = -(-MENTIONS // len(tests))
    for site, own in tests.items():
        said, gold = _said(head, made.noise_free(own)), own.tags > 0
        tokens += [(said & gold).sum(), (said & ~gold).sum(), (~said & gold).sum()]
        of_names = np.isin((own.tags.astype(np.int64) + 1) // 2 - 1, kinds)
        names += [(said & of_names).sum(), of_names.sum()]
        generator = np.random.default_rng([cell.seed, SITES.index(site)])
        for counts, listed, cue in ((triggers, TRIGGERS, ()), (after_cue, _surnames(), CUE)):
            changed, places = insert_names(own, made.scheme, listed, each, generator, cue)
            found = _said(head, made.noise_free(changed))[changed.starts + places]
            counts += [found.sum(), len(found)]
    pairs: list[Any] = [tuple(map(int, counts)) for counts in (triggers, after_cue, names, tokens)]
    return Sight(pairs[0], pairs[1], pairs[2], pairs[3], left_out, sent, round(spent, 2))


@cache
def _surnames() -> tuple[str, ...]:
    from bench.privacy.material import american_names

    return tuple(name.capitalize() for name in american_names()[1][200:400])


def _said(head: Tagger, shown: RaggedSentences) -> NDArray[np.bool_]:
    """What the head calls PHI, bool `[tokens]`."""
    said = np.zeros(shown.tokens, dtype=np.bool_)
    for rows, lines in predict(head, shown, 256):
        for row, line in zip(rows.tolist(), lines, strict=True):
            said[shown.starts[row] : shown.starts[row] + len(line)] = line > 0
    return said


def _defence_files(name: str) -> tuple[str, ...]:
    """The modules of a defence, and of those that it is made of."""
    kind = type(find_defence(name))
    parts = [kind, *getattr(kind, "parts", ())]
    return tuple(sorted({f"{part.__module__.replace('.', '/')}.py" for part in parts}))


@cache
def _digest(path: str) -> str:
    """Of what a module does: another name, comment or import changes nothing of what is measured."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Expr):
            continue
        found.append(type(node).__name__)
        if isinstance(node, ast.Constant) and not (isinstance(node.value, str) and len(node.value) > 40):
            found.append(repr(node.value))
    return hashlib.sha256("\n".join(found).encode()).hexdigest()

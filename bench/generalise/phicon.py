"""PHICON (Yue and Zhou 2020) at hospitals that nobody has seen: its Tables 3 and 4 and its Figure 4, redone on `en_sites`.

The paper trains NeuroNER on one corpus and tests on another. Here our tagger learns from the raw notes of four hospitals and reads the
fifth, each in turn; a fraction is that of the notes of each. With copies and without a head has equally many steps, so what is
gained is not gained by training longer; see `shared.augment.augmentation`. Beside the paper's two methods stands recasing.

Last, the same of a pool of shares: the first of the four is the provider, the others share codes.

The names of `en_sites` are in part those of Faker, of which ours are too, so "phi" is measured once more without Faker's.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from bench import corpora
from bench.generalise.figures import counts_of, f1, precision, recall, share
from bench.outcomes import draw_documents, is_there, load_or_measure
from bench.privacy.worth.pool import SharedCodesSource, pooled_codes
from bench.privacy.worth.sides import Sides, recipe
from bench.privacy.worth.sites import sides_of, unseen_by
from bench.results import Entry
from shared.augment.augmentation import Augmentation, AugmentedSource, Edit
from shared.augment.context import Context
from shared.augment.entities import entities_of
from shared.augment.recasing import Recasing
from shared.augment.wordnet import WordNet, read_wordnet
from shared.constructions.procedures.codes import CodedSurrogates
from shared.document import Document
from shared.errors import ConfigurationError
from shared.evaluation import match_corpora
from shared.evaluation.hospital import evaluate_hospital
from shared.labels import load_scheme
from shared.pipeline.pipeline import Pipeline
from shared.sentences.ragged import SentenceSource
from shared.sentences.tokenised import tokenised_corpus
from shared.training.tagging import train_tagger

FRACTIONS = (20, 40, 60, 80, 100)
ALPHAS = (1, 2, 3, 4)
PAPER = ("phi", "context")
# The paper's figures by (trained on, tested on): rows of its Table 3 without and with copies, by fraction; its Table 4, each method alone.
PUBLISHED_3: Mapping[tuple[int, int], Mapping[tuple[str, ...], tuple[float, ...]]] = {
    (2006, 2014): {(): (0.5990, 0.6021, 0.6364, 0.6436, 0.6482), PAPER: (0.6670, 0.6979, 0.7025, 0.7063, 0.7166)},
    (2014, 2006): {(): (0.7303, 0.7513, 0.7864, 0.7891, 0.7936), PAPER: (0.7911, 0.7944, 0.8135, 0.8175, 0.8051)},
}
PUBLISHED_4: Mapping[tuple[int, int], Mapping[tuple[str, ...], float]] = {
    (2006, 2014): {("phi",): 0.670, ("context",): 0.659},
    (2014, 2006): {("phi",): 0.804, ("context",): 0.803},
}
_RESAMPLES = 1000


@dataclass(frozen=True)
class Choice:
    """What one head learns from.

    Args:
        methods: of augmentation; "own phi" is "phi" without the names of Faker.
        fraction: of the notes, in percent.
        alpha: copies for each sentence.
        shares: whether it learns from shares of the hospitals, and not from their notes.
    """

    methods: tuple[str, ...]
    fraction: int = 100
    alpha: int = 2
    shares: bool = False

    @property
    def name(self) -> str:
        """For entries and for runs that are kept."""
        how = f"{' + '.join(self.methods)}, alpha {self.alpha}" if self.methods else "no copies"
        return f"{how}, {self.fraction}% of the notes"

    @property
    def learns_from(self) -> str:
        """For entries."""
        return "shares of three" if self.shares else "raw notes of four"

    @property
    def without(self) -> Choice:
        """The same without copies."""
        return Choice((), self.fraction, shares=self.shares)


TABLE_3 = tuple(Choice(methods, fraction) for fraction in FRACTIONS for methods in ((), PAPER))
FIGURE_4 = tuple(Choice(PAPER, 100, alpha) for alpha in ALPHAS)
TABLE_4 = tuple(map(Choice, (("phi",), ("context",), PAPER, ("own phi",), ("recase",), (*PAPER, "recase"))))
SHARED = tuple(Choice(methods, shares=True) for methods in ((), ("phi",), PAPER, ("recase",), ("phi", "recase")))
CHOICES = tuple(dict.fromkeys((*TABLE_3, *FIGURE_4, *TABLE_4, *SHARED)))


@dataclass(frozen=True)
class Effort:
    """How much is trained.

    Args:
        part: of the command.
        seeds: of each rotation.
        steps: of each head, rounded to whole passes.
        providers: of the rotations.
        split: of the unseen hospital.
        choices: of what heads learn from.
    """

    part: str
    seeds: tuple[int, ...]
    steps: int
    providers: tuple[str, ...]
    split: str
    choices: tuple[Choice, ...]


FULL = Effort("phicon", (1, 2, 3), 800, corpora.SITES, "test", CHOICES)
# Whoever tries something out looks at training notes, also of the hospital that is unseen.
_TRIED = ((), ("phi",), ("context",), PAPER, ("recase",), (*PAPER, "recase"))
QUICK = Effort("phicon-quick", (1,), 400, ("a",), "train", tuple(Choice(methods, 20) for methods in _TRIED))


# Of one choice, by seed and provider.
_Runs = dict[tuple[int, str], dict[str, Any]]


def measure(effort: Effort, *, train: bool = True) -> list[Entry]:
    """The entries of all choices.

    Args:
        effort: what is trained.
        train: what is not there yet; else only choices are told of, and seeds of them, whose rotations are all there.

    Raises:
        ConfigurationError: nothing is there to be told of.
    """
    runs: dict[Choice, _Runs] = {}
    for seed, choice in product(effort.seeds, effort.choices):
        named = f"{choice.learns_from}-{choice.name}".replace(" ", "")
        names = {one: f"{effort.part}-{one}-{named}-{effort.steps}-{seed}" for one in effort.providers}
        if not train and not all(map(is_there, names.values())):
            continue
        for provider, name in names.items():
            runs.setdefault(choice, {})[seed, provider] = load_or_measure(
                name,
                lambda choice=choice, provider=provider, seed=seed: _run(choice, provider, seed, effort),  # type: ignore[misc]
            )
    if not runs:
        command = f"python -m bench.results_generalise {effort.part}"
        raise ConfigurationError(f"expected the rotations of a choice of `{command}`, found none; begin with it")
    return [entry for choice in runs for entry in _entries(choice, runs, effort)]


def _run(choice: Choice, provider: str, seed: int, effort: Effort) -> dict[str, object]:
    """A head, and how it does at the unseen hospital."""
    sides, construction = _sides(provider)
    scheme = load_scheme(sides.scheme)
    own, *others = _part_of(sides, choice.fraction, seed)
    pooled = [note for notes in others for note in notes]
    augmentation = Augmentation(tuple(map(_edit, choice.methods)), choice.alpha)
    source: SentenceSource
    if choice.shares:
        codes = pooled_codes(construction, own, pooled)
        source = SharedCodesSource(construction, codes, augmentation if choice.methods else None)
    else:
        source = AugmentedSource([tokenised_corpus([*own, *pooled], scheme)], construction.noise_free, augmentation)
    head = train_tagger(source, len(scheme.tags), recipe(source.sentences, seed, effort.steps))
    return _counts(Pipeline(construction, head), corpora.en_site(unseen_by(provider), effort.split))


@cache
def _sides(provider: str) -> tuple[Sides, CodedSurrogates]:
    sides = sides_of(provider)
    return sides, sides.construction


def _part_of(sides: Sides, fraction: int, seed: int) -> list[list[Document]]:
    """So many notes of each hospital, the provider first; a larger part holds every smaller one."""
    chance = random.Random(seed)
    parts = []
    for own in (sides.provider, *sides.hospitals.values()):
        shuffled = chance.sample(list(own), len(own))
        parts.append(shuffled[: max(1, round(len(own) * fraction / 100))])
    return parts


def _edit(method: str) -> Edit:
    scheme = load_scheme("i2b2_2014")
    if method == "context":
        return Context(_wordnet())
    if method == "recase":
        return Recasing()
    return entities_of(scheme, with_faker=method == "phi")


@cache
def _wordnet() -> WordNet:
    return read_wordnet(corpora.path("wordnet30"))


def _counts(pipeline: Pipeline, notes: Sequence[Document]) -> dict[str, object]:
    """Of every note: tokens and entities as true, false and missed, entities hidden of all; and hidden of all by category."""
    pairs = match_corpora(notes, pipeline.annotate(notes))
    by_type = evaluate_hospital(pairs).per_type
    return counts_of(pairs) | {"by_type": {name: [one.spans.hits, one.spans.total] for name, one in by_type.items()}}


# The paper's measure first.
_MEASURES = (
    ("token-binary F1", "tokens", f1, "F1"),
    ("token precision", "tokens", precision, "precision"),
    ("token recall", "tokens", recall, "recall"),
    ("strict F1", "entities", f1, "F1"),
    ("entities hidden whole", "hidden", share, "of entities"),
)


def _entries(choice: Choice, runs: Mapping[Choice, _Runs], effort: Effort) -> list[Entry]:
    """The figures of a choice, and what it gains over the same without copies, run by run."""
    own = list(runs[choice].values())
    without = [run for key, run in runs.get(choice.without, {}).items() if key in runs[choice]]
    seeds = len({seed for seed, _ in runs[choice]})
    note = f"mean of {len(own)} runs of {len(effort.providers)} rotations; interval over documents"
    entries = []
    for measure, key, figure, unit in _MEASURES:
        told = f"{measure}, {choice.learns_from}, {choice.name}, {effort.steps} steps"
        sides = [[np.array(run[key], dtype=np.int64) for run in side] for side in (own, without)]
        value, *others = [statistics.fmean(map(figure, side)) for side in sides if side]
        more = f"{note}; by category: {_by_category(own)}" if key == "hidden" else note
        if measure == "token-binary F1":
            more = f"{_published(choice)}{note}"
        made = _Made(effort, seeds, unit, more, ", ".join(sorted({run["commit"] for run in own})))
        entries.append(made.entry(f"unseen hospital, {told}", value, _interval(sides[:1], figure)))
        if choice.methods and others:
            asked = 0.0 if choice in TABLE_3 and measure in ("token-binary F1", "entities hidden whole") else None
            made = replace(made, note=f"less the same without copies; {note}, the same ones on both sides")
            entries.append(
                made.entry(f"unseen hospital, gain in {told}", value - others[0], _interval(sides, figure), asked)
            )
    return entries


def _published(choice: Choice) -> str:
    """The paper's own figures of such a row, on its corpora, for the front of a note; "" where it has none."""
    told = []
    for train, test in PUBLISHED_3:
        rows = PUBLISHED_3[train, test]
        if choice.methods in rows:
            told.append((train, test, rows[choice.methods][FRACTIONS.index(choice.fraction)]))
        elif choice.methods in PUBLISHED_4[train, test]:
            told.append((train, test, PUBLISHED_4[train, test][choice.methods]))
    if not told or choice.shares or choice.alpha != Choice(()).alpha:
        return ""
    return f"the paper: {', '.join(f'{score:.3f} from i2b2 {train} to {test}' for train, test, score in told)}; "


@dataclass(frozen=True)
class _Made:
    """What the entries of one figure have in common."""

    effort: Effort
    seeds: int
    unit: str
    note: str
    commits: str

    def entry(self, measure: str, value: float, interval: tuple[float, float], target: float | None = None) -> Entry:
        effort = self.effort
        return Entry(
            measure,
            round(value, 4),
            target,
            "" if target is None else ">=",
            self.unit,
            interval,
            self.seeds,
            f"en_sites/{effort.split}",
            f"python -m bench.results_generalise {effort.part}",
            self.note,
            self.commits,
        )


def _by_category(runs: Sequence[Mapping[str, Any]]) -> str:
    names = sorted({name for run in runs for name in run["by_type"]})
    sums = {name: np.sum([run["by_type"].get(name, [0, 0]) for run in runs], axis=0) for name in names}
    return ", ".join(f"{name} {hits / total:.2f}" for name, (hits, total) in sums.items())


def _interval(sides: Sequence[Sequence[Any]], figure: Any) -> tuple[float, float]:
    """Of the mean over runs, or of the first side's less the second's, over documents that are drawn for all sides together."""
    chance, sizes = np.random.default_rng(0), [len(run) for run in sides[0]]
    drawn = []
    for _ in range(_RESAMPLES):
        chosen = draw_documents(sizes, chance)
        means = [statistics.fmean(figure(run[rows]) for run, rows in zip(side, chosen, strict=True)) for side in sides]
        drawn.append(means[0] - (means[1] if len(means) > 1 else 0.0))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return round(float(low), 4), round(float(high), 4)

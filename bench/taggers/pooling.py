"""Ways to make one head of a pool of hospitals, at a hospital that nobody has seen: leave-one-hospital-out on `en_sites`.

As in `bench.generalise.adaptation` each hospital in turn is the provider, the next three share, the last is unseen; heads learn from codes in memory,
as many steps each. The settings of every way are those of its paper, or the first that were tried: nothing was chosen on these notes.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import corpora
from bench.generalise.figures import COUNTED, counts_read, gain, interval
from bench.outcomes import is_there, load_or_measure
from bench.privacy.worth.pool import COPIES, SharedCodesSource, pooled_codes
from bench.privacy.worth.sides import Sides, recipe
from bench.privacy.worth.sites import sides_of, unseen_by
from bench.results import Entry
from bench.taggers.pooled_heads import AdversarialHead, Ensemble, GroupHead, WeighedHead
from shared.constructions.procedures.codes import CodedSurrogates
from shared.document import Document
from shared.errors import ConfigurationError
from shared.models.noise_source import PrivateNoise
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.pipeline import Pipeline
from shared.sentences.codes import CodedSentences
from shared.sentences.encoding import index_sentences
from shared.sentences.tokenised import tokenised_corpus
from shared.taggers.pseudo_labels import pseudo_labels
from shared.taggers.registry import default_config
from shared.taggers.tagger import Tagger
from shared.training.loop import seed_training
from shared.training.tagging import train_tagger

COMMAND = "python -m bench.results_taggers pooling"
STEPS = 1250
SEEDS = (1, 2, 3)
PLAIN = "one pool, as it is released"
WAYS = {
    PLAIN: "1 head",
    "every hospital weighs as much": "1 head",
    "group-robust": "1 head; Sagawa et al. 2020, eta 0.01",
    "domain-adversarial": "1 head; Ganin et al. 2016, lambda up to 0.1",
    "ensemble of three": "3 heads, 3 times the time",
    "distilled ensemble": "1 head",
}
_MEMBERS, _PUBLIC_TEXTS, _SURE = 3, 100, 0.9


@dataclass(frozen=True, repr=False)
class Pool:
    """What a head of one rotation learns from.

    Args:
        construction: of the release.
        codes: of the provider's notes, then of each hospital's.
        sites: whose every sentence is, int64 `[sentences]`; 0 is the provider.
    """

    construction: CodedSurrogates
    codes: CodedSentences
    sites: NDArray[np.int64]

    @classmethod
    def of(cls, sides: Sides) -> Pool:
        """What a provider has and hospitals share."""
        made = sides.construction
        codes = pooled_codes(made, sides.provider, sides.pooled)
        counts = [
            tokenised_corpus(notes, made.scheme).sentences for notes in (sides.provider, *sides.hospitals.values())
        ]
        sites = np.repeat(np.arange(len(counts)), counts)
        assert len(sites) == codes.sentences
        return cls(made, codes, sites)

    def source(self, codes: CodedSentences | None = None) -> SharedCodesSource:
        """As `train-head` reads it, recased copies and all.

        Args:
            codes: in the place of the pool's.
        """
        return SharedCodesSource(self.construction, self.codes if codes is None else codes, COPIES)


def measure(*, train: bool = True) -> list[Entry]:
    """The entries of all rotations.

    Args:
        train: what is not there yet, seed after seed; else those that are there, at least one, are told of.
    """
    runs: dict[tuple[str, int], dict[str, Any]] = {}
    for seed in SEEDS:
        for provider in corpora.SITES:
            name = name_of(provider, seed)
            if train or is_there(name):
                runs[provider, seed] = load_or_measure(name, partial(run, provider, seed))
    if not runs:
        raise ConfigurationError(f"expected at least one run of `{COMMAND}`, found none; begin with that command")
    return entries_of(runs)


def name_of(provider: str, seed: int) -> str:
    """Of a run that is kept."""
    return f"pooling-{provider}-{STEPS}-{seed}"


def run(provider: str, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Counts of every test note of the unseen hospital, by way.

    Args:
        provider: of the rotation.
        seed: of the trainings.
        steps: of each.
    """
    sides = sides_of(provider)
    pool, test = Pool.of(sides), corpora.en_site(unseen_by(provider), "test")
    counts = {}
    for way, head in heads(pool, sides, seed, steps):
        counts[way] = counts_read(Pipeline(pool.construction, head, LastWordSettings("English")), test)
    return {"counts": counts}


def heads(pool: Pool, sides: Sides, seed: int, steps: int) -> Iterator[tuple[str, Tagger]]:
    """A head of each of WAYS, as it is trained.

    Args:
        pool: of a rotation.
        sides: that it is of.
        seed: of the trainings; members of the ensemble follow it by hundreds.
        steps: of each, as whole passes.
    """
    names = iter(WAYS)
    tags, source = len(pool.construction.scheme.tags), pool.source()

    def train(seed: int, build: Callable[[], Tagger] | None = None, codes: CodedSentences | None = None) -> Tagger:
        learned = source if codes is None else pool.source(codes)
        config = recipe(learned.sentences, seed, steps)
        if build is None:
            return train_tagger(learned, tags, config)
        with seed_training(seed):
            start = build()
        return train_tagger(learned, tags, config, start=start)

    shape = default_config(source.dim, tags)
    total = recipe(source.sentences, seed, steps).epochs * -(-source.sentences // recipe(source.sentences, seed).batch)
    members = [train(seed)]
    yield next(names), members[0]
    yield next(names), train(seed, lambda: WeighedHead(shape, pool.sites))
    yield next(names), train(seed, lambda: GroupHead(shape, pool.sites))
    yield next(names), train(seed, lambda: AdversarialHead(shape, pool.sites, total))
    members += [train(seed + 100 * number) for number in range(1, _MEMBERS)]
    ensemble = Ensemble(members)
    yield next(names), ensemble
    yield (
        next(names),
        train(seed, codes=CodedSentences.concatenate((pool.codes, _pseudo_labelled(pool, sides, ensemble)))),
    )


def _pseudo_labelled(pool: Pool, sides: Sides, teacher: Tagger) -> CodedSentences:
    """Public sentences that nobody has labelled, with the teacher's tags where it is sure."""
    made, texts = pool.construction, list(sides.texts)
    chosen = np.random.default_rng(0).permutation(len(texts))[:_PUBLIC_TEXTS].tolist()
    documents = [Document(str(number), texts[number]) for number in chosen]
    indexed, _ = index_sentences([tokenised_corpus(documents, made.scheme)], made.vectors)
    codes = made.share_public_sentences(indexed, PrivateNoise())
    assert isinstance(codes, CodedSentences)
    shown = made.decoding().read_codes(codes, np.random.default_rng(0))
    tags = pseudo_labels(teacher, shown, _SURE)
    return CodedSentences(codes.codes, codes.casing, tags, codes.lengths, codes.features)


def entries_of(
    runs: Mapping[tuple[str, int], Mapping[str, Any]],
    command: str = COMMAND,
    ways: Mapping[str, str] = WAYS,
    over: str = "one pool",
) -> list[Entry]:
    """All figures.

    Args:
        runs: by provider and seed.
        command: that makes them.
        ways: to make a head, each with what is told of it; the others are held against the first.
        over: what the first is called where they are.
    """
    plain = next(iter(ways))
    commits = ", ".join(sorted({str(run["commit"]) for run in runs.values()}))
    seeds, rotations = len({seed for _, seed in runs}), len({provider for provider, _ in runs})

    def tables(way: str, kind: str) -> list[Any]:
        return [np.array(run["counts"][way][kind], dtype=np.int64) for run in runs.values()]

    entries = []
    for measure, kind, figure, unit in COUNTED:
        for way, cost in ways.items():
            own = tables(way, kind)
            value, bounds = statistics.fmean(map(figure, own)), interval(own, figure)
            told = [(f"unseen hospital, {measure}, {way}", value, bounds, unit)]
            if way != plain:
                more, bounds = gain(own, tables(plain, kind), figure)
                told.append((f"unseen hospital, {measure}, {way}, over {over}", more, bounds, "more"))
            for name, number, around, one in told:
                note = f"{rotations} rotations, {len(runs)} runs; heads of whole passes near {STEPS} steps, best tags and the last word; {cost}; interval over documents"
                entries.append(
                    Entry(
                        name,
                        round(number, 4),
                        None,
                        "",
                        one,
                        around,
                        seeds,
                        "en_sites/test",
                        command,
                        note,
                        commits,
                    )
                )
    return entries

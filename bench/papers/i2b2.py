"""The papers' tables on the papers' own corpora, for whoever holds their licence: i2b2 2006 and 2014.

    DEID_COMMONS_I2B2_2006=FOLDER DEID_COMMONS_I2B2_2014=FOLDER python -m bench.papers [phicon|taggers]

Each folder holds `train` and `test` with the files as they are handed out. Nobody here has them: the way is tested on notes in their format.
A run that is kept holds counts and no text. Our taggers stand for the papers' models, on vectors of public text; how long they train is the only choice, and the same for all.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from bench import corpora
from bench.generalise.figures import f1, gain, interval
from bench.generalise.phicon import FRACTIONS, PAPER, PUBLISHED_3, PUBLISHED_4
from bench.outcomes import Outcome, load_or_measure, score_pipeline
from bench.privacy.material import english
from bench.privacy.worth.sides import recipe
from bench.results import Entry
from shared.augment.augmentation import Augmentation, AugmentedSource, Edit
from shared.augment.context import Context
from shared.augment.entities import entities_of
from shared.augment.wordnet import read_wordnet
from shared.corpus import read_corpus
from shared.document import Document
from shared.errors import ConfigurationError
from shared.labels import load_scheme
from shared.models.language_model import LanguageModel
from shared.pipeline.pipeline import Pipeline, RawEncoder
from shared.sentences.tokenised import tokenised_corpus
from shared.taggers.bilstm_crf import BiLSTMCRFConfig
from shared.taggers.khin2018 import Khin2018, Khin2018Config
from shared.taggers.registry import build_tagger
from shared.taggers.tagger import TaggerConfig
from shared.text.parts_of_speech import LANGUAGES
from shared.training.language import LanguageSettings, train_language_model
from shared.training.loop import seed_training
from shared.training.tagging import train_tagger

FRIEDRICH, KHIN = "Friedrich et al. 2019", "Khin et al. 2018"
TAGGERS = {FRIEDRICH: "token-binary 0.9767 with FastText", KHIN: "no figure in the review that we have"}
_PROGRAM = "python -m bench.papers"


@dataclass(frozen=True)
class Effort:
    """How much is trained.

    Args:
        steps: of each tagger, as whole passes.
        seeds: of each.
        fractions: of the training notes, in percent.
        language: how the language model of Khin's tagger is trained, once.
    """

    steps: int = 5000
    seeds: tuple[int, ...] = (1, 2, 3)
    fractions: tuple[int, ...] = FRACTIONS
    language: LanguageSettings = field(default_factory=lambda: LanguageSettings(epochs=4))


def notes(year: int, split: str) -> list[Document]:
    """Labelled notes of one of the two challenges.

    Args:
        year: 2006 or 2014.
        split: "train" or "test".

    Raises:
        ConfigurationError: nothing says where they are, or they are not there.
    """
    variable = f"DEID_COMMONS_I2B2_{year}"
    named = os.environ.get(variable)
    folder = Path(named or "") / split
    if not named or not folder.exists():
        raise ConfigurationError(
            f"expected {variable} to name a folder with train and test of i2b2 {year}, which its licence gives you; got {named or 'nothing'}"
        )
    # The two splits may name their notes alike.
    return [replace(one, identifier=f"{split}-{one.identifier}") for one in read_corpus(folder)]


def phicon(effort: Effort = Effort()) -> Iterator[Entry]:
    """Tables 3 and 4 of Yue and Zhou 2020: train on one challenge, read the whole of the other; token-binary F1."""
    for train, test in PUBLISHED_3:
        bare: dict[int, list[Outcome]] = {}
        for fraction in effort.fractions:
            ways = ((), PAPER) if fraction != 100 else ((), ("phi",), ("context",), PAPER)
            for methods in ways:
                runs = [_copied(train, test, fraction, methods, seed, effort) for seed in effort.seeds]
                if not methods:
                    bare[fraction] = runs
                published = PUBLISHED_3[train, test].get(methods)
                theirs = published[FRACTIONS.index(fraction)] if published else PUBLISHED_4[train, test][methods]
                named = " + ".join(methods) or "no copies"
                yield from _entries(
                    f"i2b2 {train} to {test}, {named}, {fraction}% of the notes",
                    ("tokens",),
                    runs,
                    bare[fraction] if methods else (),
                    f"i2b2 {test}, train and test",
                    "phicon",
                    f"Yue and Zhou 2020, NeuroNER: {theirs}",
                    effort,
                )


def taggers(effort: Effort = Effort()) -> Iterator[Entry]:
    """The taggers of Friedrich et al. 2019 and Khin et al. 2018 on raw notes of i2b2 2014."""
    first: list[Outcome] = []
    for name, published in TAGGERS.items():
        runs = [_tagged(name, seed, effort) for seed in effort.seeds]
        yield from _entries(
            f"i2b2 2014, {name}",
            ("tokens", "entities"),
            runs,
            first,
            "i2b2 2014, test",
            "taggers",
            f"as published: {published}",
            effort,
        )
        first = first or runs


def _copied(train: int, test: int, fraction: int, methods: tuple[str, ...], seed: int, effort: Effort) -> Outcome:
    def run() -> dict[str, object]:
        chosen = notes(train, "train")
        order = np.random.default_rng(seed).permutation(len(chosen))[: max(1, round(len(chosen) * fraction / 100))]
        gold = [*notes(test, "train"), *notes(test, "test")]
        scheme = load_scheme(f"i2b2_{train}")
        encoder = RawEncoder(english(), scheme)
        chunk = tokenised_corpus([chosen[place] for place in order.tolist()], scheme)
        source = AugmentedSource([chunk], encoder.noise_free, Augmentation(tuple(_edit(one, train) for one in methods)))
        head = train_tagger(source, len(scheme.tags), recipe(source.sentences, seed, effort.steps))
        return asdict(score_pipeline(Pipeline(encoder, head), gold))

    name = f"i2b2-{train}-{test}-{fraction}-{'-'.join(methods) or 'bare'}-{effort.steps}-{seed}"
    return Outcome.of(load_or_measure(name, run))


def _edit(method: str, year: int) -> Edit:
    if method == "context":
        return Context(read_wordnet(corpora.path("wordnet30")))
    return entities_of(load_scheme(f"i2b2_{year}"))


def _tagged(name: str, seed: int, effort: Effort) -> Outcome:
    def run() -> dict[str, object]:
        scheme = load_scheme("i2b2_2014")
        encoder = RawEncoder(english(), scheme)
        chunk = tokenised_corpus(notes(2014, "train"), scheme)
        shape: TaggerConfig = BiLSTMCRFConfig(encoder.dim, len(scheme.tags))
        if name == KHIN:
            language = LANGUAGES.index("English")
            shape = Khin2018Config(encoder.dim, len(scheme.tags), language=language, context=effort.language.units)
        with seed_training(seed):
            begun = build_tagger(shape)
        if isinstance(begun, Khin2018):
            begun.take_language_model(_language_model(effort.language))
        source = begun.inputs(chunk, encoder.noise_free)
        head = train_tagger(source, len(scheme.tags), recipe(chunk.sentences, seed, effort.steps), start=begun)
        return asdict(score_pipeline(Pipeline(encoder, head), notes(2014, "test")))

    return Outcome.of(load_or_measure(f"i2b2-2014-{name.split(maxsplit=1)[0].lower()}-{effort.steps}-{seed}", run))


@cache
def _language_model(settings: LanguageSettings) -> LanguageModel:
    """Of public English text."""
    return train_language_model(corpora.public_english_texts(), settings, seed=1).model


def _entries(
    name: str,
    kinds: Sequence[str],
    runs: Sequence[Outcome],
    over: Sequence[Outcome],
    data: str,
    part: str,
    published: str,
    effort: Effort,
) -> Iterator[Entry]:
    """The figure of a row beside the paper's, and what it gains over the row that it is compared with."""
    commits = ", ".join(sorted({one.commit for one in runs}))
    told = f"heads of whole passes near {effort.steps} steps, tagger alone; interval over documents"
    command, seeds = f"{_PROGRAM} {part}", len(effort.seeds)
    for kind in kinds:
        score = "token-binary F1" if kind == "tokens" else "strict F1"
        own, other = ([np.array(getattr(one, kind), dtype=np.int64) for one in side] for side in (runs, over))
        value = round(statistics.fmean(map(f1, own)), 4)
        note = f"{published}; {told}" if kind == "tokens" else told
        yield Entry(f"{score}, {name}", value, None, "", "F1", interval(own, f1), seeds, data, command, note, commits)
        if other:
            more, bounds = gain(own, other, f1)
            yield Entry(
                f"{score}, {name}, gained", round(more, 4), None, "", "F1", bounds, seeds, data, command, told, commits
            )

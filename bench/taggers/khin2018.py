"""The ablation of Khin et al. 2018 on MEDDOCAN: each input of its tagger left out in turn, and its dropout made naive.

The order is that of the paper's analysis (section 6, its Figure 2): character embeddings, contextual embeddings, word vectors, variational dropout. Behind
them stand what it does not leave out, part of speech and casing, and the tagger of Friedrich et al. 2019 on the same vectors. All learn from raw training notes,
equally many steps, the last weights of each. Nothing is chosen here: what will be is chosen on development notes of even place by name, and those of odd place
are reported, see `bench.generalise.meddocan`.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import islice

import numpy as np

from bench import corpora
from bench.generalise.figures import f1, gain, interval
from bench.generalise.meddocan import reported
from bench.outcomes import RUNS, Outcome, load_or_measure, score_pipeline
from bench.privacy.material import background
from bench.privacy.worth.sides import recipe
from bench.results import Entry, commit
from foundation.files import write_text
from foundation.folders import new_folder
from shared.embeddings.files.read import read_vectors
from shared.embeddings.vectors import WordVectors
from shared.labels import load_scheme
from shared.models.language_model import LanguageModel, load_language_model, save_language_model
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

DATA = "meddocan/dev, notes of odd place"
WHOLE = "whole"
ABLATION: Mapping[str, Mapping[str, int]] = {
    WHOLE: {},
    "no character embeddings": {"characters": 0},
    "no contextual embeddings": {"context": 0},
    "no word vectors": {"vectors": 0},
    "naive dropout": {"variational": 0},
    "no part of speech": {"parts": 0},
    "no casing": {"casing": 0},
}
FRIEDRICH = "Friedrich et al. 2019"


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Args:
        part: of `bench.results_taggers`.
        notes: training notes, the first by name.
        steps: of each training, as whole passes.
        seeds: of the trainings.
        texts: public texts of the language model, the first; None for all.
        language: how it is trained, once.
    """

    part: str
    notes: int
    steps: int
    seeds: tuple[int, ...]
    texts: int | None = None
    language: LanguageSettings = field(default_factory=LanguageSettings)

    @property
    def told(self) -> str:
        """In words, for the measures."""
        return f"{self.notes} notes, {self.steps:,} steps"

    @property
    def model(self) -> str:
        """Name of the language model."""
        return f"language-es-{self.language.units}-{self.texts or 'all'}-{self.language.epochs}"


FULL = Effort("khin-full", 500, 5000, (1, 2, 3), language=LanguageSettings(epochs=10))
REDUCED = Effort("khin", 500, 2500, (1,), language=LanguageSettings(epochs=2))


def measure(effort: Effort) -> list[Entry]:
    """Train what is not there yet; the entries of all."""
    runs = {name: [_run(effort, name, seed) for seed in effort.seeds] for name in (*ABLATION, FRIEDRICH)}
    entries = [
        entry for kind in ("entities", "tokens") for name in runs for entry in _entries(effort, runs, name, kind)
    ]
    return [*measure_language(effort), *entries]


def _run(effort: Effort, name: str, seed: int) -> Outcome:
    words = name.replace(" ", "-").replace(".", "").lower()
    model = "no-model" if name in (FRIEDRICH, "no contextual embeddings") else effort.model
    kept = f"khin2018-{words}-{effort.notes}-{effort.steps}-{model}-{seed}"
    return Outcome.of(load_or_measure(kept, lambda: _outcome(effort, name, seed)))


def _outcome(effort: Effort, name: str, seed: int) -> dict[str, object]:
    began = time.process_time()
    pipeline = _pipeline(effort, name, seed)
    return asdict(score_pipeline(pipeline, reported())) | {"cpu_s": time.process_time() - began}


def _pipeline(effort: Effort, name: str, seed: int) -> Pipeline:
    """One tagger, trained on raw notes."""
    scheme = load_scheme("meddocan")
    encoder = RawEncoder(spanish_vectors(), scheme)
    shape: TaggerConfig = BiLSTMCRFConfig(encoder.dim, len(scheme.tags))
    if name != FRIEDRICH:
        settings = {"context": effort.language.units} | dict(ABLATION[name])
        shape = Khin2018Config(encoder.dim, len(scheme.tags), language=LANGUAGES.index("Spanish"), **settings)
    chunk = tokenised_corpus(corpora.meddocan("train")[: effort.notes], scheme)
    with seed_training(seed):
        begun = build_tagger(shape)
    if isinstance(begun, Khin2018) and begun.config.context:
        begun.take_language_model(language_model(effort))
    source = begun.inputs(chunk, encoder.noise_free)
    config = recipe(chunk.sentences, seed, effort.steps)
    return Pipeline(encoder, train_tagger(source, len(scheme.tags), config, start=begun))


@cache
def spanish_vectors() -> WordVectors:
    """Of public Spanish text, without any of the development notes."""
    return read_vectors(corpora.path("vec_clinical_es_100d/clinical_es.ppmi-svd.100d.vec.gz"))


@cache
def language_model(effort: Effort) -> LanguageModel:
    """Of public Spanish text, trained once; what it is worth and what it cost lies beside it."""
    folder = RUNS / effort.model
    if not folder.exists():
        state, began = commit(), time.process_time()
        trained = train_language_model(islice(background(), effort.texts), effort.language, seed=1)
        told = trained.as_json() | {"cpu_s": time.process_time() - began, "commit": state}
        RUNS.mkdir(exist_ok=True)
        with new_folder(folder) as staged:
            save_language_model(trained.model, staged)
            write_text(staged / "training.json", json.dumps(told), private=False)
    return load_language_model(folder)


def measure_language(effort: Effort) -> list[Entry]:
    """Train the language model, if it is not there yet; how well it predicts."""
    language_model(effort)
    told = json.loads((RUNS / effort.model / "training.json").read_text(encoding="utf-8"))
    note = (
        f"{effort.language.units} units a direction, {effort.language.epochs} passes over {told['tokens']:,} tokens of meddocan/background, "
        f"those of {effort.texts or 'all'} texts; {told['cpu_s'] / 60:.1f} minutes of one core; every fiftieth sentence is held out; by how common a word is: {told['by_frequency']:.0f}"
    )
    return [
        Entry(
            f"language model, perplexity of a held-out word, {effort.texts or 'all'} texts, {effort.language.epochs} passes",
            round(told["perplexity"], 1),
            None,
            "",
            "words",
            None,
            1,
            "meddocan/background",
            _command(effort),
            note,
            told["commit"],
        )
    ]


def _entries(effort: Effort, runs: Mapping[str, Sequence[Outcome]], name: str, kind: str) -> list[Entry]:
    """The figure of one tagger, and what it gains on the whole one, on the same notes."""
    counts, whole = ([np.array(getattr(one, kind), dtype=np.int64) for one in runs[side]] for side in (name, WHOLE))
    title = "strict F1" if kind == "entities" else "token-binary F1"
    values = [f1(one) for one in counts]
    commits = ", ".join(sorted({one.commit for one in runs[name]}))
    seeds = f"by seed {', '.join(f'{value:.4f}' for value in values)}"
    shown = FRIEDRICH if name == FRIEDRICH else f"Khin et al. 2018, {name}"

    def entry(measure: str, value: float, unit: str, between: tuple[float, float], note: str) -> Entry:
        told = f"{_CONDITIONS}; {note}"
        seeds = len(effort.seeds)
        return Entry(measure, round(value, 4), None, "", unit, between, seeds, DATA, _command(effort), told, commits)

    found = [
        entry(f"MEDDOCAN, {title}, {shown}, {effort.told}", statistics.fmean(values), "F1", interval(counts, f1), seeds)
    ]
    if name != WHOLE:
        difference, between = gain(counts, whole, f1)
        note = f"against {statistics.fmean(map(f1, whole)):.4f} of the whole one, on the same notes"
        found.append(
            entry(f"MEDDOCAN, {title}, {shown}, gained on the whole, {effort.told}", difference, "F1", between, note)
        )
    return found


_CONDITIONS = "raw training notes, word vectors of 100 dimensions (PPMI and SVD of public text) as they are, tagger alone, best tags, last weights, nothing chosen"


def _command(effort: Effort) -> str:
    return f"python -m bench.results_taggers {effort.part}"

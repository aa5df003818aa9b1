"""Distant domains: what a release finds in messages of a social network (WNUT17) and in invented forms (Presidio's set), which are no notes.

The release of one rotation of `en_sites`, at its default operating point, by its best tags and by patterns alone, beside raw notes pooled by
the same recipe. Nothing was chosen on either set.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bench import corpora
from bench.generalise.figures import f1, interval, precision, recall, share
from bench.generalise.rotations import FULL, RAW, RELEASE, pipeline_of
from bench.outcomes import load_or_measure
from bench.results import Entry
from shared.corpus import read_corpus
from shared.document import Annotation, Document
from shared.evaluation import binary_token_scores, match_corpora
from shared.evaluation.hospital import evaluate_hospital
from shared.pipeline.last_word import LastWordSettings
from shared.pipeline.pipeline import Pipeline

COMMAND = "python -m bench.results_generalise distant"
_PROVIDER = "a"
_DEFAULT, _BEST, _RAW = "default operating point", "best tags", "raw notes by the same recipe, best tags"
# What the sets label that tells of nobody: works, products, titles, nationalities.
_OF_NOBODY = frozenset({"product", "creative-work", "TITLE", "NRP"})
_MEASURES = (
    ("entities hidden whole", "hidden", share),
    ("token precision", "tokens", precision),
    ("token recall", "tokens", recall),
    ("token-binary F1", "tokens", f1),
)


def domains() -> dict[str, list[Document]]:
    """The texts of both, each message and each form by itself."""
    (messages,) = read_corpus(corpora.path("wnut17/emerging.dev.conll"))
    forms = read_corpus(corpora.path("presidio_synth/synth_dataset_v2.json"))
    return {
        "wnut17/dev": [_personal(one) for one in lines(messages)],
        "presidio_synth": [_personal(one) for one in forms],
    }


def lines(document: Document) -> list[Document]:
    """Every line of a document as one of its own, with what is labelled there."""
    found, start = [], 0
    for number, text in enumerate(document.text.split("\n")):
        end = start + len(text)
        spans = [
            Annotation(one.start - start, one.end - start, one.category)
            for one in document.annotations
            if start <= one.start and one.end <= end
        ]
        if text.strip():
            found.append(Document(f"{document.identifier}-{number}", text, tuple(spans)))
        start = end + 1
    return found


def measure() -> list[Entry]:
    """Train what is not there yet; all entries."""
    runs = [
        load_or_measure(f"generalise-distant-{FULL.steps}-{seed}", lambda seed=seed: _run(seed))  # type: ignore[misc]
        for seed in FULL.seeds
    ]
    return [
        entry
        for domain in runs[0]["found"]
        for way in runs[0]["found"][domain]
        for entry in _entries(domain, way, [one["found"][domain][way] for one in runs], runs)
    ]


def _run(seed: int) -> dict[str, object]:
    """Counts of one seed, by domain and by way."""
    released, raw = (pipeline_of(_PROVIDER, training, seed, FULL.steps) for training in (RELEASE, RAW))
    ways: Mapping[str, Pipeline] = {
        _DEFAULT: released,
        _BEST: replace(released, point=None),
        _RAW: replace(raw, stated=LastWordSettings("English"), point=None),
    }
    return {
        "found": {
            domain: {name: _counts(way, notes) for name, way in ways.items()} for domain, notes in domains().items()
        }
    }


def _personal(document: Document) -> Document:
    return replace(document, annotations=tuple(one for one in document.annotations if one.category not in _OF_NOBODY))


def _counts(pipeline: Pipeline, notes: Sequence[Document]) -> dict[str, Any]:
    bare = [Document(note.identifier, note.text) for note in notes]
    pairs = match_corpora(notes, list(pipeline.annotate(bare)))
    hidden = [evaluate_hospital([pair]).recall.spans for pair in pairs]
    return {
        "tokens": [list(map(int, one)) for one in binary_token_scores(pairs).by_document],
        "hidden": [[one.hits, one.total] for one in hidden],
        "by_type": {name: [one.spans.hits, one.spans.total] for name, one in evaluate_hospital(pairs).per_type.items()},
    }


def _entries(
    domain: str, way: str, found: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]]
) -> list[Entry]:
    commits = ", ".join(sorted({str(one["commit"]) for one in runs}))
    kinds = found[0]["by_type"]
    sums = {name: np.sum([one["by_type"][name] for one in found], axis=0) for name in sorted(kinds)}
    recalls = ", ".join(f"{name} {hits / total:.2f} of {total // len(runs)}" for name, (hits, total) in sums.items())
    trained = f"provider {_PROVIDER} and three hospitals of en_sites, heads of whole passes near {FULL.steps} steps; texts are one by one; interval over texts"
    entries = []
    for measure_, key, figure in _MEASURES:
        counts = [np.array(one[key], dtype=np.int64) for one in found]
        note = trained + (f"; hidden by category: {recalls}" if key == "hidden" else "")
        value = round(statistics.fmean(map(figure, counts)), 4)
        name, unit = f"{domain}: {measure_}, {way}", "of entities" if key == "hidden" else measure_.rsplit(" ", 1)[1]
        bounds = interval(counts, figure)
        entries.append(Entry(name, value, None, "", unit, bounds, len(runs), domain, COMMAND, note, commits))
    return entries

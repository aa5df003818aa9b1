"""What each step adds at a hospital that nobody has seen, and whether it gets what the release promised: leave-one-hospital-out on `en_sites`.

Each hospital in turn is the provider, the next three share, the last is unseen. A run is one training of one rotation with one seed: what its
pipeline finds in the test notes of the unseen hospital is kept, so that steps behind the tagger are scored again without training again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.training.augmenting import AugmentOptions
from aggregator.training.head import HeadOptions
from aggregator.training.representer import RepresenterOptions
from bench import corpora
from bench.generalise.figures import counts_of
from bench.generalise.rotation_entries import Scored, entries_of
from bench.outcomes import is_there, load_or_measure
from bench.privacy.worth.pool import COPIES
from bench.privacy.worth.sides import STEPS as HEAD_STEPS
from bench.privacy.worth.sides import Sides, recipe
from bench.privacy.worth.sites import sides_of, unseen_by
from bench.results import Entry
from bench.results_loop import private_pipeline
from shared.augment.augmentation import AugmentedSource
from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from shared.evaluation import match_corpora
from shared.evaluation.hospital import evaluate_hospital
from shared.labels import load_scheme
from shared.pipeline.last_word import STEPS, LastWord, LastWordSettings
from shared.pipeline.pipeline import Pipeline
from shared.sentences.tokenised import tokenised_corpus
from shared.taggers.registry import default_config
from shared.training.tagging import train_tagger

CHOICES: dict[str, tuple[str, ...]] = {
    "tagger alone": (),
    "capitals for small letters": ("capitals",),
    "eponyms": ("eponyms",),
    "nothing personal": ("impersonal",),
    "patterns": ("patterns",),
    "whole entities": ("whole",),
    "further mentions": ("mentions",),
    "patterns and whole entities": ("patterns", "whole"),
    "patterns and further mentions": ("patterns", "mentions"),
    "the last word without capitals": STEPS[1:],
    "the last word": STEPS,
}
RELEASE, RAW = "release", "raw notes"
TRAININGS = (RELEASE, RAW, "without shapes", "without recasing", "without shorthand", "without copies")
"""The release as it is by default; raw notes pooled by the same recipe; shares without what a head sees besides, or learns from."""
_COPIES = {"without recasing": ("shorthand",), "without shorthand": ("recase",), "without copies": ()}


@dataclass(frozen=True)
class Effort:
    """How much is trained.

    Args:
        part: of the command.
        seeds: of each rotation.
        steps: of each head, as whole passes over what it learns from.
        trainings: of TRAININGS.
    """

    part: str
    seeds: tuple[int, ...]
    steps: int
    trainings: tuple[str, ...] = TRAININGS


FULL = Effort("rotations", (1, 2, 3), HEAD_STEPS)
QUICK = Effort("rotations-quick", (1,), HEAD_STEPS, (RELEASE, RAW))


def measure(effort: Effort, *, train: bool = True) -> list[Entry]:
    """The entries of all rotations.

    Args:
        effort: what is trained.
        train: what is not there yet, the release and raw notes first; else trainings are told of whose five rotations are there, at least one.

    Raises:
        ConfigurationError: nothing is there to be told of.
    """
    command = f"python -m bench.results_generalise {effort.part}"
    scored = []
    for training, seed in sorted(product(effort.trainings, effort.seeds), key=lambda one: one[0] not in (RELEASE, RAW)):
        names = {one: f"generalise-{training.replace(' ', '-')}-{one}-{effort.steps}-{seed}" for one in corpora.SITES}
        if not train and not all(map(is_there, names.values())):
            continue
        for provider, name in names.items():
            notes = corpora.en_site(unseen_by(provider), "test")
            kept = load_or_measure(
                name,
                lambda provider=provider, training=training, seed=seed, notes=notes: _train(  # type: ignore[misc]
                    provider, training, seed, effort.steps, notes
                ),
            )
            scored.append(Scored(training, provider, seed, kept["commit"], kept["points"], _scores(notes, kept)))
    if not scored:
        raise ConfigurationError(f"expected the five rotations of a training of `{command}`, found none; begin with it")
    return entries_of(scored, command, effort.steps)


def pipeline_of(provider: str, training: str, seed: int, steps: int) -> Pipeline:
    """A pipeline that learned what a provider and the hospitals that share have.

    Args:
        provider: of the rotation.
        training: one of TRAININGS.
        seed: of the head.
        steps: of it, as whole passes.
    """
    sides = sides_of(provider)
    return _raw(sides, seed, steps) if training == RAW else _shared(sides, training, seed, steps)


def _train(provider: str, training: str, seed: int, steps: int, notes: Sequence[Document]) -> dict[str, object]:
    """What a pipeline finds in the test notes of the unseen hospital, and which of their words its release calls public."""
    pipeline = pipeline_of(provider, training, seed, steps)
    asked = {} if pipeline.points is None else {str(one.target): one for one in pipeline.points.points}
    bare = [Document(note.identifier, note.text) for note in notes]
    capitals = replace(pipeline, stated=LastWordSettings("English", STEPS[:1]))
    public = np.flatnonzero(pipeline.encoder.are_public(_words(notes))).tolist()
    return {
        "found": _found(replace(pipeline, stated=None, point=None), bare),
        "capitals": _found(replace(capitals, point=None), bare),
        "at": {target: _found(replace(capitals, point=point), bare) for target, point in asked.items()},
        "points": None if pipeline.points is None else asdict(pipeline.points),
        "public": public,
    }


def _words(notes: Sequence[Document]) -> list[str]:
    """All of them, in order: a run that is kept names them by their places, since their text is not ours to publish."""
    return sorted({word for note in notes for word in re.findall(r"\w+", note.text.lower())})


def _found(pipeline: Pipeline, notes: Sequence[Document]) -> dict[str, list[list[object]]]:
    return {
        one.identifier: [[span.start, span.end, span.category, _rounded(span.confidence)] for span in one.annotations]
        for one in pipeline.annotate(notes)
    }


def _rounded(confidence: float | None) -> float | None:
    return None if confidence is None else round(confidence, 4)


def _shared(sides: Sides, training: str, seed: int, steps: int) -> Pipeline:
    """The whole way of shares, to a release."""
    sentences = tokenised_corpus([*sides.provider, *sides.pooled], load_scheme(sides.scheme)).sentences
    made = sides.construction
    options = HeadOptions(
        hold_out=False,
        operating_points=training == RELEASE,
        undersampling=0.0,
        augment=AugmentOptions(_COPIES.get(training)),
        shape=default_config(made.dims[-1], len(made.scheme.tags)) if training == "without shapes" else None,
    )
    shared = {name: list(notes) for name, notes in sides.hospitals.items()}
    config = recipe(sentences, seed, steps)
    return private_pipeline(sides.material(), shared, sides.scheme, RepresenterOptions(), config, options)


def _raw(sides: Sides, seed: int, steps: int) -> Pipeline:
    """Raw notes pooled: the same inputs, copies and steps."""
    made = sides.construction
    chunk = tokenised_corpus([*sides.provider, *sides.pooled], made.scheme)
    source = AugmentedSource([chunk], made.noise_free, COPIES)
    return Pipeline(made, train_tagger(source, len(made.scheme.tags), recipe(chunk.sentences, seed, steps)))


def _scores(notes: Sequence[Document], kept: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """For each choice of steps behind the tagger, and for each operating point, the counts of every document."""
    words = _words(notes)
    public = frozenset(words[place] for place in kept["public"])

    def are_public(words: Sequence[str]) -> NDArray[np.bool_]:
        return np.array([word.lower() in public for word in words], dtype=np.bool_)

    found, capitals = (_documents(notes, kept[reading]) for reading in ("found", "capitals"))
    counts = {}
    for choice, steps in CHOICES.items():
        last = LastWord(load_scheme("i2b2_2014"), LastWordSettings("English", steps), are_public)
        read = capitals if "capitals" in steps else found
        counts[choice] = _counts(notes, [last.complete(one) for one in read])
    last = LastWord(load_scheme("i2b2_2014"), LastWordSettings("English"), are_public)
    for target, at in kept["at"].items():
        counts[target] = _counts(notes, [last.complete(one) for one in _documents(notes, at)])
    return counts


def _documents(notes: Sequence[Document], found: Mapping[str, Any]) -> list[Document]:
    return [
        Document(note.identifier, note.text, tuple(_span(*span) for span in found[note.identifier])) for note in notes
    ]


def _span(start: int, end: int, category: str, confidence: float | None) -> Annotation:
    return Annotation(start, end, category, confidence=confidence)


def _counts(notes: Sequence[Document], found: Sequence[Document]) -> dict[str, Any]:
    """Tokens and entities as true, false and missed, and entities hidden of all, document by document; entities hidden by category."""
    pairs = match_corpora(notes, found)
    arrays = {kind: np.array(counts, dtype=np.int64) for kind, counts in counts_of(pairs).items()}
    by_type = evaluate_hospital(pairs).per_type
    return arrays | {"by_type": {name: [one.spans.hits, one.spans.total] for name, one in by_type.items()}}

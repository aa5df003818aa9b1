"""Cross-validation on a hospital's own notes: what an adapted head does to notes that it has not learned from.

The notes are dealt into folds, those that belong together into one; for each fold a head is adapted to all others and reads it. How long a head
learns, and from which probability on it hides, is chosen for each fold by the others alone: what is chosen by the notes that it is judged by
flatters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shared.document import AnnotatedText, Document
from shared.evaluation.sampling.paired import f1_of
from shared.labels import HIDDEN
from shared.pipeline.adapted import LEAST_EXAMPLES, AdaptedPipeline, adapted
from shared.pipeline.operating_points import GRID, OperatingPoint
from shared.pipeline.pipeline import Pipeline
from shared.pipeline.reading import Reading
from shared.progress import Progress, silent
from shared.sentences.ragged import SentenceSource
from shared.sentences.referenced import decoded
from shared.sentences.tokenised import tokenised_corpus
from shared.taggers.tagger import Tagger
from shared.text.tokens import Tokens
from shared.training.fine_tuning.adapting import AdaptingConfig, adapt_tagger
from site_client.adapting.counts import Asked, NoteCounts
from site_client.adapting.points import Curve, choose_place
from site_client.evaluating.counting import Labelled

FOLDS = 5
_SEED = 0


@dataclass(frozen=True, eq=False, repr=False)
class Crossed:
    """What cross-validation shows.

    Args:
        before: what the release hides of each note, as it is used. after: what an adapted head hides that has not seen the note.
        curve: of adapted heads that have not seen a note, at each of GRID.
        steps: after which the head that is to be used shall end.
    """

    before: NoteCounts
    after: NoteCounts
    curve: Curve
    steps: int


class Own:
    """Labelled notes of a hospital beside the pipeline of its release.

    Args:
        release: the pipeline as it came.
        labelled: the notes by which a head is judged; their annotations do not overlap.
        notes: the same, as a head learns from them: with what is PHI of no category, where any tag may stand.
    """

    def __init__(self, release: Pipeline, labelled: Labelled, notes: Sequence[AnnotatedText]) -> None:
        self._release = release
        self._notes = [Document(note.identifier, note.text, note.annotations) for note in notes]
        self._groups = labelled.groups
        bare = (Document(note.identifier, note.text) for note in self._notes)
        self._read = list(release.readings(bare))
        unmapped = [[span for span in note.annotations if span.category == HIDDEN] for note in self._notes]
        self._asked = Asked(labelled, [tokens for _, tokens, _ in self._read], unmapped)

    def cross_validate(self, config: AdaptingConfig, progress: Progress = silent) -> Crossed:
        """Adapt to all folds but one, for each; see Crossed.

        Args:
            config: the recipe.
            progress: called after every step.

        Raises:
            TrainingError: the loss is not finite any more.
        """
        folds = deal(self._groups, FOLDS)
        total = len(folds) * config.steps[-1]
        fold_of = np.zeros(len(self._notes), dtype=np.int64)
        looked: list[_Looked] = []
        for number, fold in enumerate(folds):
            fold_of[fold] = number

            def told(stage: str, done: int, of: int, before: int = number * config.steps[-1]) -> None:
                progress("adapting to all notes but some", before + done, total)

            looked.append(self._look(fold, config, told))
        right = np.stack([[one.best(steps) for steps in config.steps] for one in looked])
        chosen = [config.steps[place] for place in _places_by_others(right)]
        curves = [one.curve(steps) for one, steps in zip(looked, chosen, strict=True)]
        order = np.argsort(np.concatenate(folds), kind="stable")
        curve = Curve.join(curves).of(order)
        before = NoteCounts.stack(
            [self._asked.count(at, self._release.spans(*read)) for at, read in enumerate(self._read)]
        )
        after = []
        for fold, own in zip(folds, curves, strict=True):
            others = np.flatnonzero(fold_of != fold_of[fold[0]])
            after.append(own.at(choose_place(curve.of(others), before.of(others))))
        return Crossed(before, NoteCounts.stack(after).of(order), curve, _longest_of_best(right, config.steps))

    def adapt(self, config: AdaptingConfig, steps: int, progress: Progress = silent) -> tuple[Tagger, frozenset[str]]:
        """A head that has learned from all notes, and the categories that too few of them show.

        Args:
            config: the recipe.
            steps: of it, after which it ends.
            progress: called after every step.
        """
        notes = range(len(self._notes))
        head = adapt_tagger(self._release.head, self._source(notes), config, progress=progress, until=steps)
        return head, self.rare(notes)

    def rare(self, notes: Iterable[int]) -> frozenset[str]:
        """Categories of which some notes hold fewer than LEAST_EXAMPLES entities; copies of a note teach nothing more."""
        once = {" ".join(self._notes[note].text.split()): self._notes[note] for note in notes}
        examples = Counter(span.category for note in once.values() for span in note.annotations)
        return frozenset(name for name in self._release.encoder.scheme.categories if examples[name] < LEAST_EXAMPLES)

    def _look(self, fold: NDArray[np.int64], config: AdaptingConfig, progress: Progress) -> _Looked:
        """What a head finds in a fold, at the steps of the recipe, that learns from all others."""
        others = np.setdiff1d(np.arange(len(self._notes)), fold).tolist()
        looked = _Looked(self._asked, fold.tolist())
        bare = [Document(self._notes[at].identifier, self._notes[at].text) for at in fold.tolist()]
        kept = self.rare(others)

        def look(steps: int, tagger: Tagger) -> None:
            pipeline = adapted(self._release, tagger, None, kept)
            alone = replace(self._release, head=tagger)
            read = [
                (document, tokens, replace(reading, released=self._read[at][2]))
                for at, (document, tokens, reading) in zip(fold.tolist(), alone.readings(bare), strict=True)
            ]
            looked.readings[steps] = (pipeline, read)

        adapt_tagger(self._release.head, self._source(others), config, look, progress)
        return looked

    def _source(self, notes: Iterable[int]) -> SentenceSource:
        """Some notes as a head learns from them: as the pipeline sees them."""
        encoder = self._release.encoder
        read = (decoded(self._notes[note])[0] for note in notes)
        shown = (replace(one, text=self._release.seen(one.text)) for one in read)
        return self._release.head.inputs(tokenised_corpus(shown, encoder.scheme), encoder.noise_free)


_Read = tuple[Document, Tokens, Reading]


class _Looked:
    """What heads find in one fold that have not learned from it.

    Args:
        asked: all notes.
        fold: numbers of those of the fold.
    """

    def __init__(self, asked: Asked, fold: Sequence[int]) -> None:
        self._asked, self._fold = asked, fold
        self.readings: dict[int, tuple[AdaptedPipeline, list[_Read]]] = {}

    def best(self, steps: int) -> NDArray[np.int64]:
        """True, false and missed entities of the best tags after some steps, int64 `[3]`."""
        pipeline, read = self.readings[steps]
        found = NoteCounts.stack(
            [self._asked.count(at, pipeline.spans(*one)) for at, one in zip(self._fold, read, strict=True)]
        )
        return np.asarray(found.strict.sum(axis=0), dtype=np.int64)

    def curve(self, steps: int) -> Curve:
        """At each of GRID, after some steps."""
        pipeline, read = self.readings[steps]
        notes = list(zip(self._fold, read, strict=True))
        return Curve(
            tuple(
                NoteCounts.stack(
                    [self._asked.count(at, at_threshold(pipeline, threshold).spans(*one)) for at, one in notes]
                )
                for threshold in GRID
            )
        )


def at_threshold(pipeline: AdaptedPipeline, threshold: float | None) -> Pipeline:
    """A pipeline that hides from a probability on; what the release keeps it hides as usual."""
    return replace(pipeline, point=OperatingPoint(0.0, threshold, 0.0, 0.0, 0.0))


def deal(groups: NDArray[np.int64], folds: int) -> list[NDArray[np.int64]]:
    """Notes dealt into folds of about as many groups, no group in two of them.

    Args:
        groups: number of the group of each note, int64 `[notes]`.
        folds: how many; fewer where there are not so many groups.
    """
    order = np.random.default_rng(_SEED).permutation(np.unique(groups))
    return [np.flatnonzero(np.isin(groups, part)) for part in np.array_split(order, min(folds, len(order)))]


def _places_by_others(right: NDArray[np.int64]) -> list[int]:
    """For each fold the place of the steps that did best in all other folds."""
    return [int(np.argmax(f1_of(right.sum(axis=0) - own))) for own in right]


def _longest_of_best(right: NDArray[np.int64], steps: Sequence[int]) -> int:
    """The steps that did best in all folds."""
    return steps[int(np.argmax(f1_of(right.sum(axis=0))))]

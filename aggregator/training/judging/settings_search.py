"""`aggregator search-settings`: with what settings a transformer is best fine-tuned, by trials on the provider's own labelled notes.

Four fifths of the notes are learnt from, the others judge; neither shares nor what anybody reports is looked at. See
`shared.training.fine_tuning.search` for how trials are chosen and given up, and for the file by which a search goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from aggregator.training.kinds import TaggerOptions
from shared.document import Document
from shared.errors import CorpusError
from shared.labels import LabelScheme
from shared.progress import Progress, silent
from shared.sentences.tokenised import tokenised_corpus
from shared.taggers.transformer.checkpoint import start_from_checkpoint
from shared.taggers.transformer.config import TransformerConfig
from shared.training.fine_tuning.recipe import hold_out, judge_by
from shared.training.fine_tuning.search import SearchSpace, Tried, best_of, search_settings

# What stands before a tagger is not asked by one that reads words.
_INPUTS = 1


@dataclass(frozen=True)
class Search:
    """What is searched.

    Args:
        tagger: a transformer, its checkpoint, and whether it has a CRF; its window is searched.
        trials: in all.
        most_epochs: passes of a trial, at most.
        seed: of the choice of notes, of trials and trainings.
    """

    tagger: TaggerOptions
    trials: int
    most_epochs: int = SearchSpace.most_epochs
    seed: int = 0


@dataclass(frozen=True)
class Found:
    """What a search has found.

    Args:
        tried: trials in the order in which they ended.
        best: of those that were not given up.
        notes: that were learnt from, and that judged.
    """

    tried: tuple[Tried, ...]
    best: Tried
    notes: tuple[int, int]


def search(
    asked: Search, documents: Sequence[Document], scheme: LabelScheme, path: Path, progress: Progress = silent
) -> Found:
    """Try settings, or go on with a search that was cut: it ends in the same ones.

    Args:
        asked: what is searched.
        documents: labelled notes of the provider.
        scheme: of their labels.
        path: of the file that keeps the search.
        progress: is told the trials that have ended.

    Raises:
        CorpusError: no note that judges has a label, so that all settings would be alike.
        ConfigurationError: fewer than two notes; the file is damaged or of another search; the extra `transformers` is not installed.
        ModelError, StorageError: see `start_from_checkpoint`.
    """
    options = asked.tagger
    assert options.checkpoint is not None
    sides = hold_out(documents, asked.seed)
    learnt, held = (tokenised_corpus(side, scheme) for side in sides)
    if not (held.tags > 0).any():
        raise CorpusError(
            "expected labels in the fifth of the notes that judges, got none; give more notes, or another --seed"
        )
    begin = partial(
        start_from_checkpoint, options.checkpoint, _INPUTS, len(scheme.tags), asked.seed, **options.settings
    )
    judge = judge_by(lambda window: begin(window=window), lambda tagger: tagger.read(learnt), held, asked.seed)
    facts = options.facts() | {"notes": _digest(documents), "scheme": scheme.name}
    space = _space(asked.most_epochs, begin().config)
    tried = search_settings(path, judge, asked.trials, asked.seed, space, facts, progress)
    return Found(tuple(tried), best_of(tried), (len(sides[0]), len(sides[1])))


def _space(most_epochs: int, config: TransformerConfig) -> SearchSpace:
    """Windows that the checkpoint has positions for: all that it has, where those are few."""
    windows = tuple(window for window in SearchSpace.windows if window <= config.most_window)
    return SearchSpace(
        min(SearchSpace.least_epochs, most_epochs), most_epochs, windows=windows or (config.most_window,)
    )


def _digest(documents: Sequence[Document]) -> str:
    """Of the texts and their labels, in their order."""
    total = hashlib.sha256()
    for one in documents:
        spans = [(span.start, span.end, span.category) for span in one.annotations]
        total.update(f"{one.digest} {spans}\n".encode())
    return total.hexdigest()

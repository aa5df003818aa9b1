"""A search for the settings of a fine-tuning, as Tchouka et al. 2023 (section 3.3.3) had theirs: by a tree-structured Parzen estimator (Bergstra et al. 2011).

Searched are the paper's three: epochs, sentences a step, pieces of a window. What a trial is worth is the strict F1 on documents that nothing is
trained on and that nobody reports; it is told after every epoch. A trial that falls behind the median of those before it is given up, each asked at the
same part of its own training and none in its first half: a short one learns sooner, and so does one of many small steps.

All that is known of a search stands in one file of numbers: one that was cut, at whatever moment, goes on to the very trials that it would have made. What
chooses them begins anew for every trial, by the seed and the number of trials that have ended; a trial that was cut is made again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from foundation.os_errors import map_os_errors
from shared.errors import ConfigurationError
from shared.progress import Progress, silent
from shared.sentences.ragged import SentenceSource
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.tagger import Tagger, predict

if TYPE_CHECKING:
    from optuna import Study, Trial

_FACTS = "search"
# Trials by chance alone, before the estimator has anything to go by and before one is given up.
_BY_CHANCE = 5
# Trials are compared at so many points of their training, from the second half on.
_POINTS = 10
# How a file of a search begins.
_BEGINS = b'{"op_code":0,"worker_id":'


@dataclass(frozen=True)
class SearchSpace:
    """Where is searched.

    Args:
        least_epochs, most_epochs: passes.
        batches: sentences a step.
        windows: pieces that are read at a time.

    Raises:
        ConfigurationError: nowhere.
    """

    least_epochs: int = 5
    most_epochs: int = 30
    batches: tuple[int, ...] = (16, 32, 64)
    windows: tuple[int, ...] = (64, 128, 256)

    def __post_init__(self) -> None:
        if not 1 <= self.least_epochs <= self.most_epochs or not self.batches or not self.windows:
            raise ConfigurationError("search: expected epochs from 1 and at least one batch and window, got others")


@dataclass(frozen=True)
class Settings:
    """What a trial tries: epochs, sentences a step, pieces of a window."""

    epochs: int
    batch: int
    window: int


@dataclass(frozen=True)
class Tried:
    """A trial that has ended.

    Args:
        settings: that it tried.
        score: its last, the higher the better.
        given_up: whether it fell behind others and was not finished.
    """

    settings: Settings
    score: float
    given_up: bool


Tell = Callable[[float], None]
"""Told the score of every epoch as soon as it is over; ends the trial where it has fallen behind."""
Judge = Callable[[Settings, Tell], float]
"""Trains with some settings, and gives the score at the end."""


def search_settings(
    path: Path,
    judge: Judge,
    trials: int,
    seed: int,
    space: SearchSpace = SearchSpace(),
    facts: Mapping[str, object] | None = None,
    progress: Progress = silent,
) -> list[Tried]:
    """Try settings until so many trials have ended, those of a search that was cut among them.

    Args:
        path: of the file that keeps the search; made if it is not there.
        judge: of a trial; the same settings must always get the same score.
        trials: in all.
        seed: of what is tried.
        space: where is searched.
        facts: what tells this search from others, in JSON's types, such as a digest of the notes.
        progress: is told the trials that have ended.

    Returns:
        the trials in the order in which they ended.

    Raises:
        ConfigurationError: the file is damaged or of another search; fewer than one trial; the extra `transformers` is not installed.
        StorageError: it can't be read or written.
    """
    if trials < 1:
        raise ConfigurationError(f"search: expected at least one trial, got {trials}")
    told = {"seed": seed, "space": asdict(space), "facts": dict(facts or {})}
    study = _study(path, json.loads(json.dumps(told)))
    while (ended := len(_ended(study))) < trials:
        progress("trials", ended, trials)
        study.sampler, study.pruner = _chooser(seed, ended)
        _try(study, judge, space)
    return [_tried(one) for one in _ended(study)[:trials]]


def best_of(tried: Sequence[Tried]) -> Tried:
    """The trial with the highest score among those that were finished, the first of several.

    Raises:
        ConfigurationError: none was finished.
    """
    finished = [one for one in tried if not one.given_up]
    if not finished:
        raise ConfigurationError("search: expected a trial that was finished, found none; try more")
    return max(finished, key=lambda one: one.score)


def strict_f1(tagger: Tagger, source: SentenceSource, gold: TokenisedSentences) -> float:
    """F1 of spans, each right in place and category, on sentences that nothing is trained on.

    Args:
        tagger: as it is after an epoch.
        source: what it is given of the sentences.
        gold: the same, labelled.
    """
    said = np.zeros_like(gold.tags)
    for rows, lines in predict(tagger, source):
        for row, line in zip(rows.tolist(), lines, strict=True):
            said[gold.tokens_of(np.array([row]))] = line
    true, found = set(gold.spans()), set(gold.with_tags(said).spans())
    return 2 * len(true & found) / max(len(true) + len(found), 1)


def _library() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise ConfigurationError(
            "a search needs the package optuna, found none; in the checkout run `pip install '.[transformers]'`"
        ) from error
    # Its lines would tell of every trial.
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _study(path: Path, facts: Mapping[str, Any]) -> Study:
    """The search of a file; trials that were cut in it have failed, so that they are made again."""
    optuna = _library()
    journal = optuna.storages.journal
    damaged = ConfigurationError(
        f"{path.name}: expected a search to go on with; begin anew in another file, or remove it"
    )
    # The library writes a line before it has read any: another's file would be changed.
    if not _is_a_search(path):
        raise damaged
    path.parent.mkdir(parents=True, exist_ok=True)
    _drop_half_line(path)
    try:
        storage = optuna.storages.JournalStorage(journal.JournalFileBackend(str(path)))
        study: Study = optuna.create_study(
            storage=storage, study_name=_FACTS, direction="maximize", load_if_exists=True
        )
        if study.user_attrs.get(_FACTS, facts) != facts:
            raise ConfigurationError(
                f"{path.name}: expected this search, got another one, of other notes or settings; begin anew in another file"
            )
        study.set_user_attr(_FACTS, facts)
        for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged from error
    return study


def _is_a_search(path: Path) -> bool:
    """Whether a file is of a search, or one that was cut in its first line, or none yet."""
    with map_os_errors(path):
        first, ends, _ = (path.read_bytes() if path.exists() else b"").partition(b"\n")
    if not ends:
        return first.startswith(_BEGINS) or _BEGINS.startswith(first)
    return first.startswith(_BEGINS) and f'"study_name":"{_FACTS}"'.encode() in first


def _drop_half_line(path: Path) -> None:
    """A line that a loss of power cut: the next would be written behind it, and neither could be read."""
    with map_os_errors(path):
        known = path.read_bytes() if path.exists() else b""
        if known and not known.endswith(b"\n"):
            os.truncate(path, known.rfind(b"\n") + 1)


def _chooser(seed: int, ended: int) -> tuple[Any, Any]:
    """What chooses the next settings, and what gives a trial up: both know only of the trials that have ended."""
    optuna = _library()
    sampler = optuna.samplers.TPESampler(seed=seed * 100_003 + ended, n_startup_trials=_BY_CHANCE)
    return sampler, optuna.pruners.MedianPruner(n_startup_trials=_BY_CHANCE, n_warmup_steps=_POINTS // 2 + 1)


def _try(study: Study, judge: Judge, space: SearchSpace) -> None:
    optuna = _library()
    trial = study.ask()
    settings = _settings(trial, space)
    epochs = point = 0

    def tell(score: float) -> None:
        nonlocal epochs, point
        epochs += 1
        before, point = point, _POINTS * epochs // settings.epochs
        if point > before:
            trial.report(score, point)
            if trial.should_prune():
                raise optuna.TrialPruned

    try:
        study.tell(trial, judge(settings, tell))
    except optuna.TrialPruned:
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)


def _settings(trial: Trial, space: SearchSpace) -> Settings:
    return Settings(
        trial.suggest_int("epochs", space.least_epochs, space.most_epochs),
        trial.suggest_categorical("batch", space.batches),
        trial.suggest_categorical("window", space.windows),
    )


def _ended(study: Study) -> list[Any]:
    states = _library().trial.TrialState
    return list(study.get_trials(deepcopy=False, states=(states.COMPLETE, states.PRUNED)))


def _tried(trial: Any) -> Tried:
    return Tried(Settings(**trial.params), float(trial.value), trial.state == _library().trial.TrialState.PRUNED)

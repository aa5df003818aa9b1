"""`aggregator train-lm`: a language model of public texts, put into the workspace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict

from aggregator.training.unfinished import keep_unfinished
from aggregator.workspace import Workspace
from foundation.files import write_text
from foundation.folders import new_folder
from shared.models.language_model import save_language_model
from shared.progress import Phase, Phases, Progress, Watch, unwatched
from shared.training.language import LanguageSettings, LanguageTraining, train_language_model

COMMAND = "train-lm"
RECORD = "training.json"
READ, LEARN = "reading the texts", "learning the language"


def train(
    workspace: Workspace,
    texts: Iterable[str],
    settings: LanguageSettings,
    seed: int,
    watch: Watch = unwatched,
    *,
    resume: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> LanguageTraining:
    """Train a language model and put it into the workspace, its record beside it.

    Args:
        workspace: the provider's.
        texts: public ones; read once.
        settings: how to train.
        seed: of the training.
        watch: is told how far it is.
        resume: go on with a training that was cut; it ends in the same weights.
        tell: is told where one that was cut is given up.

    Raises:
        WorkspaceError, ConfigurationError: there is nothing to go on with, or it had other texts or settings.
        TrainingError: there is no text.
    """
    inputs = {**asdict(settings), "seed": seed}
    with keep_unfinished(workspace, COMMAND, inputs, resume=resume, tell=tell) as kept:
        phases = Phases((Phase(READ, 1), Phase(LEARN, 20)), watch)
        phases.begin(READ)
        begun: list[Progress] = []

        def step(stage: str, done: int, total: int) -> None:
            if not begun:
                begun.append(phases.begin(LEARN))
            begun[0](stage, done, total)

        trained = train_language_model(
            texts, settings, seed=seed, progress=step, checkpoint=kept / "language.safetensors"
        )
        phases.end()
        with new_folder(workspace.language_model) as folder:
            save_language_model(trained.model, folder)
            write_text(folder / RECORD, json.dumps({**inputs, **trained.as_json()}, indent=1), private=False)
    return trained

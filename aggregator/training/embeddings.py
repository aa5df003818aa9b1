"""`aggregator train-embeddings`: word vectors of public texts, put into the workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict

from aggregator.training.unfinished import keep_unfinished
from aggregator.workspace import Workspace
from foundation.folders import new_folder
from shared.embeddings.files.artefact import save_vectors
from shared.embeddings.training import FastTextSettings, train_fasttext
from shared.embeddings.vectors import WordVectors
from shared.progress import Phase, Phases, Progress, Watch, unwatched

READ, LEARN = "reading the texts", "learning the words"


def train(
    workspace: Workspace,
    texts: Iterable[str],
    settings: FastTextSettings,
    seed: int,
    watch: Watch = unwatched,
    *,
    resume: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> WordVectors:
    """Train word vectors and put them into the workspace.

    Args:
        workspace: the provider's.
        texts: public ones; read once.
        settings: how to train.
        seed: of the training.
        watch: is told how far it is.
        resume: go on with a training that was cut; it ends in the same vectors.
        tell: is told where one that was cut is given up.

    Raises:
        WorkspaceError, ConfigurationError: there is nothing to go on with, or it had other texts or settings.
        TrainingError, StorageError: as `train_fasttext`.
    """
    inputs = {**asdict(settings), "seed": seed}
    with keep_unfinished(workspace, "train-embeddings", inputs, resume=resume, tell=tell) as kept:
        phases = Phases((Phase(READ, 1), Phase(LEARN, 1)), watch)
        phases.begin(READ)
        begun: list[Progress] = []

        def step(done: int, total: int) -> None:
            if not begun:
                begun.append(phases.begin(LEARN))
            begun[0]("tokens", done, total)

        vectors = train_fasttext(texts, settings, seed=seed, progress=step, checkpoint=kept / "words.safetensors")
        phases.end()
        with new_folder(workspace.embeddings) as folder:
            save_vectors(vectors, folder, dtype="float16")
    return vectors

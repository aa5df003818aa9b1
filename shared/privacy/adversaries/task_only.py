"""The positive control of the fresh adversaries that has the shape of what they attack: a representer of the same word
vectors, trained on the attacker's notes for the task alone, with hardly any noise. It hides nothing on purpose, so that
adversaries who do not break it would not have broken a leaking representer either.
"""

from __future__ import annotations

import numpy as np

from shared.augment.pseudonyms import Pseudonymiser
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.vectors import WordVectors
from shared.labels import LabelScheme
from shared.models.representer import RepresenterConfig
from shared.progress import Progress, silent
from shared.sentences.encoding import index_sentences
from shared.sentences.tokenised import TokenisedSentences
from shared.training.adversarial.pairs import neighbour_table
from shared.training.invariance import InvarianceConfig, train_representer

_NOISE = 0.01


def task_only(
    vectors: WordVectors,
    known: TokenisedSentences,
    scheme: LabelScheme,
    epochs: int,
    seed: int,
    progress: Progress = silent,
) -> NoisyRecurrent:
    """Train the control.

    Args:
        vectors: public word vectors as they are.
        known: the attacker's labelled sentences.
        scheme: of their labels.
        epochs: passes over them.
        seed: of the training.
        progress: called after every step.

    Raises:
        TrainingError: no sentence holds PHI.
    """
    source, words = index_sentences([known], vectors)
    # The training asks for neighbours, which a distance of no weight never looks at.
    table = neighbour_table(source, words, Pseudonymiser(Neighbours(vectors), 2), np.random.default_rng(seed))
    shape = RepresenterConfig(vectors.dim, input_noise=_NOISE, output_noise=_NOISE, noise_floor=_NOISE / 2)
    recipe = InvarianceConfig(epochs=epochs, learn_noise=False, weight=0.0, seed=seed)
    representer, _ = train_representer(source, table, len(scheme.tags), shape, recipe, progress)
    return NoisyRecurrent(vectors, representer, scheme)

"""DP-SGD by the note: what leaves a site is nearly as probable without any one of its notes (Abadi et al. 2016, algorithm 1).

The unit is a note, not a sentence: a patient's name comes in many sentences of a note. So a sample is a note with all its sentences, or all notes of
a patient, where the site knows whose they are: then all that is said of a note here is said of a patient. Its gradient is one ordinary backward pass through LSTM and CRF, and no layer has to know of gradients by sample. Every step draws each note by itself
with the same chance (Poisson sampling), which is what the accounting assumes; steps with few notes are steps all the same.

Threat: whoever sees the weights after each step, so also all who see them after a round, and knows all other notes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from shared.errors import ConfigurationError, TrainingError
from shared.federated.grid_noise import NoisySum
from shared.federated.local import LocalRecipe, StoppedError, never
from shared.federated.weights import Vector, set_weights, weights_of
from shared.models.noise import Draws
from shared.sentences.ragged import RaggedSentences
from shared.taggers.registry import build_tagger
from shared.taggers.tagger import Tagger, TaggerConfig
from shared.training.loop import seed_training
from shared.training.optimisers import Nadam

STEPS_IN_A_PASS = 10
"""Of a round with noise, whatever the notes: a note is in one of them, as a rule."""


@dataclass(frozen=True)
class NoteNoise:
    """How a note is protected.

    Args:
        multiplier: standard deviation of the noise over the bound, on the sum of a step.
        bound: L2 norm of the gradient of a note.
        rate: chance of a note to be in a step.
        steps: of a round.

    Raises:
        ConfigurationError: a value out of range.
    """

    multiplier: float
    bound: float = 1.0
    rate: float = 0.1
    steps: int = 10

    def __post_init__(self) -> None:
        if not (self.multiplier > 0 and self.bound > 0 and 0 < self.rate <= 1 and self.steps >= 1):
            raise ConfigurationError(
                "noise: expected multiplier and bound above 0, a rate in (0, 1] and at least one step"
            )


def learn_privately(
    shape: TaggerConfig,
    start: Vector,
    notes: Sequence[RaggedSentences],
    recipe: LocalRecipe,
    noise: NoteNoise,
    source: Draws,
    stopped: Callable[[], bool] = never,
) -> Vector:
    """The weights of a site after a round, under noise by the note.

    Args:
        shape: of the tagger.
        start: weights that the round begins with.
        notes: sentences of each sample.
        recipe: learning rate and proximal term, which pulls beside a gradient in units of its noise; the rest is the noise's to say.
        noise: how a note is protected.
        source: of sampling and noise: private where the weights leave.
        stopped: asked ahead of every step, which by chance may draw no note, and of every batch of a note.

    Raises:
        StoppedError: it was stopped.
        TrainingError: no notes.
    """
    if not notes:
        raise TrainingError("expected at least one labelled note to train on, got none; check the notes")
    # Fresh weights are drawn and replaced.
    with seed_training(recipe.seed):
        # Without dropout, whatever the shape says. Its masks would come one after the other from one generator, so that a note's presence
        # moved those of all notes behind it, and with them the sum by more than the bound. So a note's gradient is of its sentences
        # and the weights alone, and the bound on it is the sensitivity. Noise is drawn anyway; nothing else need be.
        tagger = build_tagger(shape).eval()
        set_weights(tagger, start)
        parameters = _named(tagger)
        anchor = [value.detach().clone() for value in parameters] if recipe.proximal else []
        optimizer = Nadam(parameters, lr=recipe.learning_rate)
        # Not by the notes of a step: beside a pull, which knows no noise, its size would tell how many notes there are. Nadam goes by directions.
        deviation = noise.multiplier * noise.bound
        for _ in range(noise.steps):
            total = NoisySum(len(start), noise.bound)
            _go_on(stopped)
            for index in np.flatnonzero(source.random((len(notes),)) < noise.rate).tolist():
                total.add(note_gradient(tagger, notes[index], stopped))
            _put_gradient(parameters, (total.noisy(noise.multiplier, source) / deviation).astype(np.float32))
            if recipe.proximal:
                _pull_back(parameters, anchor, recipe.proximal)
            optimizer.step()
    return weights_of(tagger)


def _go_on(stopped: Callable[[], bool]) -> None:
    if stopped():
        raise StoppedError("the round was stopped; nothing of it leaves")


def note_gradient(tagger: Tagger, note: RaggedSentences, stopped: Callable[[], bool] = never) -> NDArray[np.float32]:
    """The gradient of a note's mean loss by all weights, in the order of `weights_of`; of nothing else where the tagger is in evaluation mode."""
    parameters = _named(tagger)
    for parameter in parameters:
        parameter.grad = None
    # One batch after the other: all notes of a patient are a sample as well, and their losses together may be more than memory holds.
    for batch in note.batches(128):
        _go_on(stopped)
        torch.autograd.backward(tagger.loss(batch).sum() / note.sentences)
    return np.concatenate(
        [(torch.zeros_like(one) if one.grad is None else one.grad).detach().numpy().ravel() for one in parameters]
    )


def noisy_update(update: Vector, bound: float, multiplier: float, source: Draws) -> Vector:
    """A whole update, clipped and under noise: cheap, and of one note and all notes of the site alike.

    With or without a note, two updates that are clipped to `bound` lie at most twice as far apart: the accounting halves the multiplier.
    """
    total = NoisySum(len(update), bound)
    total.add(update)
    return total.noisy(multiplier, source).astype(np.float32)


def _named(tagger: Tagger) -> list[torch.nn.Parameter]:
    return [value for _, value in sorted(tagger.named_parameters())]


def _put_gradient(parameters: Sequence[torch.nn.Parameter], gradient: NDArray[np.float32]) -> None:
    first = 0
    for parameter in parameters:
        piece = gradient[first : first + parameter.numel()]
        parameter.grad = torch.from_numpy(piece.copy()).view(parameter.shape)
        first += parameter.numel()


def _pull_back(parameters: Sequence[torch.nn.Parameter], anchor: Sequence[Tensor], proximal: float) -> None:
    """The gradient of the proximal term, put to the one with noise, whose deviation is 1: made of weights that whoever sees this step knows,
    so it tells nothing more and costs no epsilon.
    """
    for parameter, then in zip(parameters, anchor, strict=True):
        assert parameter.grad is not None
        parameter.grad += proximal * (parameter.detach() - then)

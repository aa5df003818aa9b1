"""Part `leakage`: what the provider reads of a hospital's notes out of one round, with noise and without.

Two attackers, both with everything that the provider has: the weights before and after, and the recipe, its seed too.

*Informed*: knows all of the hospital's notes but one PHI word, and that it is one of 100. It trains the round with each of them and takes the one that ends
nearest to what was sent. Without noise a round is a function of the notes, so this attacker shows what nothing but noise prevents.
*Blind*: knows of one sentence how long it is and its tags, and looks for the vectors whose gradient points where the weights went (gradient inversion,
Geiping et al. 2020, equation 4); of each it takes the nearest of 100 words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bench.federated.compared import FULL as TRAINING
from bench.federated.compared import noise as usual_noise
from bench.federated.material import DATA, PROVIDER, notes, shape
from bench.results import Entry
from shared.evaluation.intervals import clopper_pearson
from shared.federated.local import LocalRecipe, learn_round
from shared.federated.private import NoteNoise, learn_privately
from shared.federated.weights import Vector, set_weights, weights_of
from shared.models.noise_source import PrivateNoise
from shared.sentences.ragged import RaggedSentences
from shared.taggers.registry import build_tagger
from shared.taggers.tagger import TaggerConfig
from shared.training.loop import seed_training

COMMAND = "python -m bench.federated leakage"
VICTIM = "b"
_CANDIDATES = 100
_BLIND_STEPS, _BLIND_RATE = 300, 0.05


@dataclass(frozen=True)
class Size:
    """How much is attacked.

    Args:
        words: by the informed attacker.
        notes: of the hospital.
        sentences: by the blind one.
        hidden: units of the head; a smaller one hides more.
    """

    words: int
    notes: int
    sentences: int
    hidden: int


FULL = Size(10, 2, 10, 32)
QUICK = Size(3, 2, 3, 16)
RECIPE = LocalRecipe(seed=7)


def measure(size: Size = FULL) -> Iterator[Entry]:
    """Both attackers, with noise and without."""
    for told, noise in (("without noise", None), ("with noise", usual_noise(TRAINING))):
        yield _informed(size, told, noise)
    for told, noise in (("without noise", None), ("with noise", usual_noise(TRAINING))):
        yield _blind(size, told, noise)


def _informed(size: Size, told: str, noise: NoteNoise | None) -> Entry:
    config, generator = shape(size.hidden), np.random.default_rng(3)
    start = _start(config)
    own = [one for one in notes(VICTIM, 60).notes if one.sentences > 0][: size.notes]
    right = 0
    for _ in range(size.words):
        at = int(generator.integers(0, len(own)))
        place, words = _target(own[at], generator)
        sent = _round(config, start, own, noise)
        # The true word stands at a place of the list that the attacker does not know.
        order = generator.permutation(len(words))
        ends = [_round(config, start, _with(own, at, place, words[index]), None, expected=noise) for index in order]
        distances = [float(np.linalg.norm(sent - one)) for one in ends]
        right += int(order[int(np.argmin(distances))]) == 0
    note = f"{size.notes} notes, a head of {size.hidden} units; chance is 0.01"
    return _entry(f"informed, {told}: the PHI word is first of {_CANDIDATES}", right, size.words, note)


def _round(
    config: TaggerConfig,
    start: Vector,
    own: Sequence[RaggedSentences],
    noise: NoteNoise | None,
    expected: NoteNoise | None = None,
) -> Vector:
    """The weights that a round ends with; as the attacker rehearses one with noise, where noise is expected: with all notes and none of it."""
    if noise is not None:
        return learn_privately(config, start, own, RECIPE, noise, PrivateNoise())
    if expected is not None:
        every = replace(expected, multiplier=1e-6, rate=1.0, steps=1)
        return learn_privately(config, start, own, RECIPE, every, PrivateNoise())
    return learn_round(config, start, RaggedSentences.concatenate(own), RECIPE)


def _target(note: RaggedSentences, generator: np.random.Generator) -> tuple[int, NDArray[np.float32]]:
    """A place of a PHI word, and 100 vectors that may stand there, the true one first."""
    values = note.values if note.ids is None else note.values[note.ids]
    place = int(generator.choice(np.flatnonzero(note.tags > 0)))
    return place, np.concatenate([values[place][None], _others(values[place], generator)])


def _others(true: NDArray[np.floating], generator: np.random.Generator) -> NDArray[np.float32]:
    """Vectors of PHI words of the provider's own notes: what the attacker guesses among."""
    known = notes(PROVIDER, 60).together()
    different = np.unique(known.values[known.tags > 0], axis=0)
    different = different[np.abs(different - true).max(1) > 1e-6]
    chosen = generator.choice(len(different), _CANDIDATES - 1, replace=False)
    picked: NDArray[np.float32] = different[chosen].astype(np.float32)
    return picked


def _with(own: Sequence[RaggedSentences], at: int, place: int, vector: NDArray[np.float32]) -> list[RaggedSentences]:
    note = own[at]
    values = (note.values if note.ids is None else note.values[note.ids]).copy()
    values[place] = vector
    changed = RaggedSentences(values, note.casing, note.tags, note.lengths)
    return [*own[:at], changed, *own[at + 1 :]]


def _blind(size: Size, told: str, noise: NoteNoise | None) -> Entry:
    config, generator = shape(size.hidden), np.random.default_rng(5)
    start = _start(config)
    right = tried = 0
    for sentence in _sentences(size.sentences):
        sent = _round(config, start, [sentence], noise)
        found = _inverted(config, start, sent, sentence, dropout=noise is None)
        values = sentence.values if sentence.ids is None else sentence.values[sentence.ids]
        for place in np.flatnonzero(sentence.tags > 0):
            words = np.concatenate([values[place][None], _others(values[place], generator)])
            right += int(np.argmax(_cosines(words, found[place]))) == 0
            tried += 1
    note = f"one sentence of a hospital with no other, {size.sentences} times, a head of {size.hidden} units; chance is 0.01"
    return _entry(f"blind, {told}: the PHI word is nearest of {_CANDIDATES}", right, tried, note)


def _sentences(count: int) -> Iterator[RaggedSentences]:
    """Sentences of 5 to 15 tokens with PHI, one a note."""
    left = count
    for note in notes(VICTIM, 60).notes:
        fits = [row for row in note.rows_with_phi().tolist() if 5 <= note.lengths[row] <= 15]
        if fits and left:
            left -= 1
            yield note.select(np.array(fits[:1]))


def _inverted(
    config: TaggerConfig, start: Vector, sent: Vector, sentence: RaggedSentences, *, dropout: bool
) -> NDArray[np.float32]:
    """Vectors of the tokens whose gradient points where the weights went, `[tokens, dim]`."""
    (batch,) = sentence.batches(1)
    guess = (0.1 * torch.randn(batch.inputs.shape, generator=torch.Generator().manual_seed(11))).requires_grad_()
    went = torch.from_numpy(start - sent)
    optimizer = torch.optim.Adam([guess], lr=_BLIND_RATE)
    for _ in range(_BLIND_STEPS):
        optimizer.zero_grad()
        # The seed is the provider's own, so it knows what dropout left out; under noise there is none.
        with seed_training(RECIPE.seed):
            tagger = build_tagger(config).train(dropout)
            set_weights(tagger, start)
            loss = tagger.loss(replace(batch, inputs=guess)).mean()
        weights = [value for _, value in sorted(tagger.named_parameters())]
        gradient = torch.cat([one.reshape(-1) for one in torch.autograd.grad(loss, weights, create_graph=True)])
        torch.autograd.backward(1 - _along(gradient, went))
        optimizer.step()
    found: NDArray[np.float32] = guess.detach().numpy()[0]
    return found


def _along(gradient: Tensor, went: Tensor) -> Tensor:
    return torch.nn.functional.cosine_similarity(gradient[None], went[None])[0]


def _cosines(words: NDArray[np.float32], found: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(words, axis=1) * max(float(np.linalg.norm(found)), 1e-12)
    cosines: NDArray[np.float32] = words @ found / np.maximum(norms, 1e-12)
    return cosines


def _start(config: TaggerConfig) -> Vector:
    with seed_training(RECIPE.seed):
        return weights_of(build_tagger(config))


def _entry(what: str, right: int, tried: int, note: str) -> Entry:
    low, high = clopper_pearson(right, tried)
    return Entry(
        f"gradient inversion of one round, {what}",
        round(right / tried, 4),
        None,
        "",
        "of PHI words",
        (round(low, 4), round(high, 4)),
        1,
        f"{DATA}/site_{VICTIM}",
        COMMAND,
        f"{note}; noise as of epsilon 8 for {TRAINING.passes} rounds; {right} of {tried}; exact interval",
    )

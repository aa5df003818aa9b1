"""`median`: at every step each site has one gradient, and the head goes where most of them point.

The coordinate-wise median of the sites' gradients (Yin et al. 2018): a minority of sites can't move it far, however large
their gradients are. Hospitals differ, so their median is also no hospital's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import torch

from aggregator.training.defences.defence import Defence, Defended, PoolMaterial
from shared.constructions.drawn_words import DrawnWords
from shared.errors import ConfigurationError, TrainingError
from shared.sentences.ragged import Batch
from shared.taggers.registry import DEFAULT, build_tagger, default_config
from shared.taggers.tagger import Tagger
from shared.training.loop import Descent, TrainingLoop, seed_training


class GradientMedian(Defence):
    """Every site has one voice at every step."""

    name = "median"
    title = "each step follows the median of the sites' gradients"

    def train(self, material: PoolMaterial) -> Defended:
        """See Defence. A step takes as many sentences of all sites together as without it.

        Raises:
            ConfigurationError: several processes train together: which gradient is in the middle can't be told from sums; or the head reads words.
            TrainingError: no site has a sentence that trains, or the loss is not finite any more.
        """
        if material.part is not None:
            raise ConfigurationError(
                "--defence median: expected one process, got several; leave out --processes, or choose another defence"
            )
        if material.shape is None and isinstance(material.decoder, DrawnWords):
            raise ConfigurationError(
                f"--defence median: expected --tagger {DEFAULT}, got one that reads words; choose another defence"
            )
        with material.pool() as whole:
            sentences, tokens, dim = whole.sentences, whole.tokens, whole.dim
        with seed_training(material.config.seed):
            head = build_tagger(material.shape or default_config(dim, material.tags)).train()
            _learn(head, material, sentences)
        return Defended(head.eval(), sentences, tokens, dict.fromkeys(material.payloads, 0))


def _learn(head: Tagger, material: PoolMaterial, sentences: int) -> None:
    config = material.config
    # The rate makes passes short, and a site's follow each other without end: it has its voice at every step.
    alone = [replace(material, payloads={site: paths}, rate=1.0) for site, paths in material.payloads.items()]
    voices = [(config.seed + number, site) for number, site in enumerate(alone) if _trains(site)]
    each = max(1, config.batch // max(len(voices), 1))
    steps = max(config.epochs * -(-sentences // config.batch), config.least_steps, 1)
    loop = TrainingLoop("tagger", steps, material.progress)
    descent = Descent.nadam(head.parameters(), config.learning_rate, config.clip)
    descent.fall_late(config.decay, steps)
    sites = [_endless(site, each, seed) for seed, site in voices]

    def step(batches: Sequence[Batch]) -> None:
        losses = [head.loss(batch).mean() for batch in batches]
        gradients = [torch.autograd.grad(loss, descent.parameters) for loss in losses]
        for parameter, *found in zip(descent.parameters, *gradients, strict=True):
            parameter.grad = middle(found)
        loop.follow(float(torch.stack(losses).detach().mean()), descent)
        descent.lower_rate()

    for _ in loop.passes("tagger", 1, lambda: islice(zip(*sites, strict=True), steps), step):
        pass
    if loop.done < steps:
        raise TrainingError(f"--defence median: expected {steps} steps, got {loop.done}; check the pool")


def middle(voices: Sequence[torch.Tensor]) -> torch.Tensor:
    """The median of each number; of an even number of voices the mean of the two in the middle.

    The lower of these two, as `torch.median` has it, would let all weights drift one way, step after step.
    """
    ordered = torch.stack(list(voices)).sort(0).values
    return (ordered[(len(voices) - 1) // 2] + ordered[len(voices) // 2]) / 2


def _trains(site: PoolMaterial) -> bool:
    """Whether any sentence of a site can train."""
    with site.pool() as pool:
        return pool.sentences > 0


def _endless(material: PoolMaterial, size: int, seed: int) -> Iterator[Batch]:
    """Batches of one site, pass after pass; it has a sentence."""
    generator = np.random.default_rng(seed)
    while True:
        with material.pool() as pool:
            yield from pool.batches(size, generator)

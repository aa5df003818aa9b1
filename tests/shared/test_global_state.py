"""No training leaves a trace in a global generator, and none depends on what was there before it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from shared.constructions.procedures import dann, invariance, three_part
from shared.privacy.adversaries.task_only import task_only
from shared.privacy.attacks.adversary import AdversarySettings, fresh_adversaries
from shared.privacy.attacks.inversion import InversionSettings, token_inversion
from shared.privacy.attacks.membership import MembershipSettings, membership
from shared.privacy.attacks.readability import ReadabilitySettings, readability
from shared.privacy.inversion.model import GuesserSettings
from shared.sentences.tokenised import tokenised_corpus
from shared.training.tagging import TaggingConfig, train_tagger
from tests.shared.privacy.attacked import SCHEME, VECTORS, Noisy, notes
from tests.shared.training.toy import random_sentences, toy
from tests.shared.training.trained import SHAPE, SOURCE, TABLE

KNOWN, TARGET = (tokenised_corpus(notes(count, seed), SCHEME) for count, seed in ((12, 0), (6, 1)))
GUESSER = GuesserSettings(epochs=1, hidden=4, negatives=8)
ATTACKED = (Noisy(0.1, 0.1), VECTORS, KNOWN, TARGET)
POOL = [random_sentences([4, 2], seed=index) for index in range(6)]
ONCE = TaggingConfig(epochs=1)


RECIPES = {"three-part": three_part.RECIPES, "dann": dann.RECIPES, "invariance": invariance.RECIPES}


def procedure(name: str) -> object:
    recipes: Any = RECIPES[name]
    recipe = recipes.recipe("quick", 3)
    short = {field: 1 for field in vars(recipe) if field.endswith("epochs")}
    small = {field: 4 for field in vars(recipe) if field == "adversary_hidden"}
    return recipes.train(SOURCE, TABLE, 3, SHAPE, replace(recipe, **short, **small))[0].state_dict()


TRAININGS: dict[str, Callable[[], object]] = {
    **{name: partial(procedure, name) for name in RECIPES},
    "tagger": lambda: train_tagger(toy(30), 3, ONCE).state_dict(),
    "fresh adversaries": lambda: fresh_adversaries(*ATTACKED, AdversarySettings(10, epochs=1, hidden=4)),
    "task only": lambda: task_only(VECTORS, KNOWN, SCHEME, 1, 0).representer.state_dict(),
    "token inversion": lambda: token_inversion(*ATTACKED, InversionSettings(GUESSER, resamples=2)),
    "readability": lambda: readability(*ATTACKED, ReadabilitySettings(GUESSER)),
    "membership": lambda: membership(POOL, POOL, 5, MembershipSettings(2, ONCE, hidden=4)),
}


def states() -> list[object]:
    """All that the global generators hold."""
    numpys = np.random.get_state(legacy=False)
    assert isinstance(numpys, dict)
    return [torch.get_rng_state().tolist(), numpys["state"]["key"].tolist(), numpys["state"]["pos"], random.getstate()]


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_leaves_every_global_generator_as_it_was(name: str) -> None:
    torch.manual_seed(1)
    before = states()
    first = TRAININGS[name]()
    assert states() == before
    torch.manual_seed(2)
    second = TRAININGS[name]()
    if isinstance(first, dict) and isinstance(second, dict):
        assert all(torch.equal(first[key], second[key]) for key in first)
    else:
        assert first == second

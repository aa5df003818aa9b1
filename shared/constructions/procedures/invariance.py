"""`invariance`: the divergence that the best adversary lives on is made small in closed form; see `shared.training.invariance`."""

from __future__ import annotations

from functools import partial

from shared.constructions.procedures.recurrent import NoisyRecurrent, Recipes, train_noisy
from shared.constructions.training import Procedure
from shared.training.invariance import InvarianceConfig, train_representer

RECIPES = Recipes(
    {
        "quick": InvarianceConfig(epochs=4),
        "standard": InvarianceConfig(epochs=10),
        "paper": InvarianceConfig(epochs=40),
    },
    train_representer,
)
INVARIANCE = Procedure(
    "invariance", NoisyRecurrent, partial(train_noisy, RECIPES), blurs=True, augments=("phi", "context")
)

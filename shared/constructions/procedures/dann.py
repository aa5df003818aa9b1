"""`dann`: adversarial training with a gradient reversal (Friedrich et al. 2019, section 5.4); see `shared.training.dann`."""

from __future__ import annotations

from functools import partial

from shared.constructions.procedures.recurrent import NoisyRecurrent, Recipes, train_noisy
from shared.constructions.training import Procedure
from shared.training.dann import DannConfig, train_representer

RECIPES = Recipes(
    {
        "quick": DannConfig(epochs=4, adversary_hidden=48),
        "standard": DannConfig(epochs=12, adversary_hidden=96),
        "paper": DannConfig(epochs=60, adversary_hidden=300),
    },
    train_representer,
    train_representer,
)
DANN = Procedure("dann", NoisyRecurrent, partial(train_noisy, RECIPES), blurs=True, augments=("phi", "context"))

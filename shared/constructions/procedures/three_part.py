"""`three-part`: adversarial training in three parts (Friedrich et al. 2019, section 5.4); see `shared.training.three_part`."""

from __future__ import annotations

from functools import partial

from shared.constructions.procedures.recurrent import NoisyRecurrent, Recipes, train_noisy
from shared.constructions.training import Procedure
from shared.training.three_part import ThreePartConfig, train_representer

RECIPES = Recipes(
    {
        "quick": ThreePartConfig(task_epochs=3, adversary_epochs=1, joint_epochs=2, adversary_hidden=48),
        "standard": ThreePartConfig(task_epochs=6, adversary_epochs=2, joint_epochs=6, adversary_hidden=96),
        "paper": ThreePartConfig(task_epochs=20, adversary_epochs=20, joint_epochs=40, adversary_hidden=300),
    },
    train_representer,
    train_representer,
)
THREE_PART = Procedure(
    "three-part", NoisyRecurrent, partial(train_noisy, RECIPES), blurs=True, augments=("phi", "context")
)

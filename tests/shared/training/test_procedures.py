"""Every procedure is called in the same way, by the same names of presets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.errors import ConfigurationError
from shared.training.procedures import PROCEDURES, named
from tests.shared.training.trained import SHAPE, SOURCE, TABLE


@pytest.mark.parametrize("name", PROCEDURES)
def test_a_procedure_trains_with_its_recipe(name: str) -> None:
    procedure = named(name)
    recipe = procedure.recipe("quick", seed=7)
    assert recipe.seed == 7
    short = {field: 1 for field in vars(recipe) if field.endswith("epochs")}
    representer, record = procedure.train(SOURCE, TABLE, 3, SHAPE, replace(recipe, **short), lambda *step: None)
    assert representer.config == SHAPE
    assert len(record.part) == len(record.task_loss) == len(record.adversary_accuracy) == len(record.noise) >= 1


def test_all_procedures_have_the_same_presets() -> None:
    assert {tuple(procedure.presets) for procedure in PROCEDURES.values()} == {("quick", "standard", "paper")}


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="three-part"):
        named("magic")
    with pytest.raises(ConfigurationError, match="standard"):
        named("dann").recipe("slow", 0)

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.errors import ConfigurationError
from shared.models.representer import Representer, RepresenterConfig
from shared.privacy.attacks.linkage import LinkageSettings, linkage, name_targets
from shared.privacy.material.sharing import SharingEncoder
from shared.privacy.statistics.finding import Finding
from tests.shared.privacy.attacked import NAMES, SCHEME, VECTORS, Blind, Mapped, Noisy, Surrogates, clear, notes
from tests.tiny_notes import note

LIST = [(given, surname) for given, surname in product(NAMES[:80], NAMES[60:]) if given != surname]
SETTINGS = LinkageSettings(targets=30, names=1000, shortlist=40, draws=4, seed=2)
NOTES = notes(30, seed=5)


def attacked(encoder: SharingEncoder, settings: LinkageSettings = SETTINGS) -> list[Finding]:
    return linkage(encoder, NOTES, LIST, ["PERSON"], settings)


def test_a_transparent_encoder_is_broken() -> None:
    first, ten, behind = attacked(clear())
    assert (first.value, ten.value, behind.value) == (1, 1, 1)
    assert first.trials == 30
    assert first.baseline == 1 / 1000
    assert not first.at_baseline


@pytest.mark.parametrize("encoder", [Blind(), Surrogates(), Noisy(0.002, 500.0)], ids=lambda one: type(one).__name__)
def test_an_encoder_that_shows_nothing_is_at_chance(encoder: SharingEncoder) -> None:
    first, _, behind = attacked(encoder)
    assert first.at_baseline
    assert behind.value == pytest.approx(0.5, abs=0.2)


def test_names_of_one_cluster_are_told_apart_by_chance_only() -> None:
    """Only surnames are shown: of 1000 names, 7.2 others on average have the true surname."""
    names = [*product(NAMES[:60], NAMES[60:])]
    picks = np.random.default_rng(0).choice(len(names), 150, replace=False).tolist()
    attacked_notes = [note("n", "the ", (" ".join(names[pick]), "PERSON"), " was seen .") for pick in picks]
    settings = LinkageSettings(targets=150, names=1000, shortlist=40, draws=2)
    first, ten, behind = linkage(
        Mapped(dict.fromkeys(NAMES[:60], NAMES[0])), attacked_notes, names, ["PERSON"], settings
    )
    # The mean of 1 / (1 + others), the others being binomial of 999 and 59 / 8159.
    chance = 59 / 8159
    expected = (1 - (1 - chance) ** 1000) / (1000 * chance)
    assert first.interval[0] <= expected <= first.interval[1]
    assert ten.value > 0.8
    assert behind.value > 0.99


def test_a_representer_of_context_is_scored_through_the_shortlist() -> None:
    representer = Representer(
        RepresenterConfig(VECTORS.dim, dim=8, hidden=8, input_noise=0.02, output_noise=0.1)
    ).eval()
    settings = LinkageSettings(targets=15, names=300, shortlist=60, draws=3, shares=100)
    _, ten, behind = attacked(NoisyRecurrent(VECTORS, representer, SCHEME), settings)
    assert ten.value > 0.5
    assert behind.value > 0.9


def test_a_target_is_a_whole_name_of_as_many_tokens_as_the_list_has() -> None:
    rng = np.random.default_rng(0)
    targets = name_targets(NOTES, SCHEME, {"PERSON"}, frozenset({2}), LinkageSettings(targets=1000), rng)
    assert len(targets) == 60
    assert all(target.tags[target.begin] == 1 and target.tags[target.begin + 1] == 2 for target in targets)
    places = name_targets(NOTES, SCHEME, {"PLACE"}, frozenset({2}), SETTINGS, rng)
    assert places == []


def test_no_name_is_in_a_finding_or_a_repr() -> None:
    targets = name_targets(NOTES, SCHEME, {"PERSON"}, frozenset({2}), SETTINGS, np.random.default_rng(0))
    text = " ".join(map(repr, (*attacked(clear()), *targets)))
    assert not any(part in text for target in targets for part in target.name)


def test_lists_that_are_too_short_and_unknown_categories_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="1000 names"):
        linkage(clear(), NOTES, LIST[:999], ["PERSON"], SETTINGS)
    with pytest.raises(ConfigurationError, match="categories"):
        linkage(clear(), NOTES, LIST, ["NOBODY"], SETTINGS)

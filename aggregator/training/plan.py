"""The phases of `aggregator train-head`, known before the first step, so that its progress speaks of all that is to come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aggregator.training.defences.defence import PoolMaterial
from aggregator.training.judging.influence import ALL_SITES, InfluenceMode, without
from aggregator.training.judging.operating_points import left_out, shortened
from aggregator.training.pool import PUBLIC
from shared.progress import Phase
from shared.training.tagging import TaggingConfig

HEAD, ALONE, SCORES, LAST = "head", "head of your own notes alone", "scores of each site", "the last release's head"
# Against a step of the paper's head, as measured on two cores: one of a small head in haste, and one sentence of which two heads say
# what they find. Where they are wrong, the first of a kind sets them right.
_HASTY_COST, _SAID_COST = 0.2, 0.005


def plan_head(
    material: PoolMaterial,
    alone_steps: int,
    mode: InfluenceMode,
    *,
    measured: bool,
    compared: bool,
    points: bool = False,
) -> Sequence[Phase]:
    """What a head takes.

    Args:
        material: that it is trained on.
        alone_steps: most steps of a head of the provider's own notes, where these are more than a pass for each epoch.
        mode: how the influence of sites is measured.
        measured: whether anything is held out, without which nothing is measured.
        compared: whether there is a release to compare with.
        points: whether each hospital is left out for the operating points.
    """
    steps = _steps(material, material.config)
    phases = [Phase(HEAD, steps, "head"), *(_points(material) if points else [])]
    if not measured:
        return phases
    if has_alone(material):
        own = _steps(material.without_others(PUBLIC), material.config)
        phases.append(Phase(ALONE, max(own, min(steps, alone_steps)), "head"))
    # What is held out has all its sentences.
    said = _said_cost(material, _steps(replace(material, undersampling=0.0), material.config))
    phases.append(Phase(SCORES, len(material.payloads), cost=said / len(material.payloads)))
    phases += _influence(material, mode, steps, said)
    return [*phases, *([Phase(LAST, 1, cost=said)] if compared else [])]


def has_alone(material: PoolMaterial) -> bool:
    """Whether the provider's own notes are in the pool, beside others."""
    return PUBLIC in material.payloads and len(material.payloads) > 1


def _points(material: PoolMaterial) -> list[Phase]:
    others = ((site, shortened(material.without(site))) for site in sorted(material.payloads))
    return [Phase(left_out(site), _steps(rest, rest.config), "head") for site, rest in others]


def _influence(material: PoolMaterial, mode: InfluenceMode, steps: int, said: float) -> list[Phase]:
    sites = [site for site in material.payloads if site != PUBLIC]
    if mode is InfluenceMode.NONE or len(material.payloads) < 2:
        return []
    if mode is InfluenceMode.FULL:
        return [Phase(without(site), steps, "head") for site in sites]
    hasty = material.hasten()
    each = _steps(hasty, hasty.config)
    # Each small head says once what it finds.
    cost = _HASTY_COST + said / each
    return [Phase(name, each, "hasty", cost) for name in (ALL_SITES, *map(without, sites))]


def _steps(material: PoolMaterial, config: TaggingConfig) -> int:
    with material.pool() as pool:
        return config.epochs * max(1, -(-pool.sentences // material.batch))


def _said_cost(material: PoolMaterial, steps: int) -> float:
    """Of what two heads find in all that is held out, a ninth of what is left to train on, in steps.

    Args:
        material: of the training.
        steps: of one over all its sentences in every pass.
    """
    return max(1.0, _SAID_COST * steps / material.config.epochs * material.config.batch / 9)

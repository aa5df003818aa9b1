"""The phases of `aggregator train-head`, known before the first step, so that its progress speaks of all that is to come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aggregator.training.defences.defence import Defence, PoolMaterial
from aggregator.training.defences.everything import Everything
from aggregator.training.judging.influence import ALL_SITES, InfluenceMode, without
from aggregator.training.judging.operating_points import left_out, shortened
from aggregator.training.pool import PUBLIC
from shared.progress import Phase

ALONE_STEPS = 600
"""Few notes want more passes: a head of the provider's own takes as many steps as the pool, up to what it needs to learn its notes by heart."""
HEAD, ALONE, SCORES, LAST = "head", "head of your own notes alone", "scores of each site", "the last release's head"
# Against a step of the paper's head, as measured on two cores: one of a small head in haste, and one sentence of which two heads say
# what they find. Where they are wrong, the first of a kind sets them right.
_HASTY_COST, _SAID_COST = 0.2, 0.005


def plan_head(
    material: PoolMaterial,
    defence: Defence,
    mode: InfluenceMode,
    *,
    measured: bool,
    compared: bool,
    points: bool = False,
) -> Sequence[Phase]:
    """What a head takes.

    Args:
        material: that it is trained on.
        defence: trains each head but the one of the provider's own notes.
        mode: how the influence of sites is measured.
        measured: whether anything is held out, without which nothing is measured.
        compared: whether there is a release to compare with.
        points: whether each hospital is left out for the operating points.
    """
    steps = _steps(material)
    phases = [_head(HEAD, defence, material), *(_points(material, defence) if points else [])]
    if not measured:
        return phases
    if has_alone(material):
        own = _steps(material.without_others(PUBLIC))
        phases.append(Phase(ALONE, max(own, min(steps, ALONE_STEPS)), "head"))
    # What is held out has all its sentences.
    said = _said_cost(material, _steps(replace(material, undersampling=0.0)))
    phases.append(Phase(SCORES, len(material.payloads), cost=said / len(material.payloads)))
    phases += _influence(material, defence, mode, said)
    return [*phases, *([Phase(LAST, 1, cost=said)] if compared else [])]


def has_alone(material: PoolMaterial) -> bool:
    """Whether the provider's own notes are in the pool, beside others."""
    return PUBLIC in material.payloads and len(material.payloads) > 1


def _head(name: str, defence: Defence, material: PoolMaterial) -> Phase:
    steps = defence.steps(material)
    return Phase(name, sum(steps), "head", trainings=len(steps))


def _points(material: PoolMaterial, defence: Defence) -> list[Phase]:
    others = ((site, shortened(material.without(site))) for site in sorted(material.payloads))
    return [_head(left_out(site), defence, rest) for site, rest in others]


def _influence(material: PoolMaterial, defence: Defence, mode: InfluenceMode, said: float) -> list[Phase]:
    sites = [site for site in material.payloads if site != PUBLIC]
    if mode is InfluenceMode.NONE or len(material.payloads) < 2:
        return []
    if mode is InfluenceMode.FULL:
        return [_head(without(site), defence, material.without(site)) for site in sites]
    each = defence.steps(material.hasten())
    # Each small head says once what it finds.
    cost = _HASTY_COST + said / sum(each)
    names = (ALL_SITES, *map(without, sites))
    return [Phase(name, sum(each), "hasty", cost, trainings=len(each)) for name in names]


def _steps(material: PoolMaterial) -> int:
    [steps] = Everything().steps(material)
    return steps


def _said_cost(material: PoolMaterial, steps: int) -> float:
    """Of what two heads find in all that is held out, a ninth of what is left to train on, in steps.

    Args:
        material: of the training.
        steps: of one over all its sentences in every pass.
    """
    return max(1.0, _SAID_COST * steps / material.config.epochs * material.config.batch / 9)

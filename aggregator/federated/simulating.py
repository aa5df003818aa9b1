"""`aggregator federate --simulate`: a head of the workspace, as sites would have trained it together that keep their notes.

Each site learns from the shares that it sent, in this process. What comes out is a head like any other: with scores, with the influence
of each site, compared with the last release, with operating points, and behind the same gate of `release`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from aggregator.errors import FederatedError
from aggregator.federated.plan import FederatedPlan, Tell
from aggregator.federated.simulated import NAME, FederatedTraining
from aggregator.training.head import HeadOptions, HeadTraining, train
from aggregator.training.way import Way
from aggregator.workspace import Workspace
from shared.progress import Watch, unwatched
from shared.training.tagging import TaggingConfig

COMMAND = "federate"


def simulate(
    workspace: Workspace,
    config: TaggingConfig,
    plan: FederatedPlan,
    options: HeadOptions,
    watch: Watch = unwatched,
    *,
    resume: bool = False,
    tell: Tell = lambda line: None,
    round_told: Callable[[str], None] = lambda line: None,
) -> HeadTraining:
    """Train a head by rounds among the sites whose shares are here.

    Args:
        workspace: with accepted shares.
        config: the recipe; its epochs are passes of a site in all rounds together.
        plan: how sites learn together.
        options: what goes into the head, and what is measured.
        watch: is told how far all of it is.
        resume: go on where it was cut.
        tell: is told where one that was cut is given up.
        round_told: is told what happened in each round of the head.

    Raises:
        FederatedError: a round had too few results.
        WorkspaceError, RegistryError, ConfigurationError: as for `train`.
    """
    training = FederatedTraining(plan, round_told)
    way = Way(COMMAND, training, {"federated": plan.learning}, lambda: _told(training))
    # Hospitals learn from all their sentences in every pass, so what stands in for them does too.
    options = replace(options, defence=NAME, undersampling=0.0)
    try:
        return train(workspace, config, options, watch, resume=resume, tell=tell, way=way)
    except FederatedError as error:
        error.add_note(f"`aggregator {COMMAND} --simulate --resume`, with the same options, goes on where it was")
        raise


def _told(training: FederatedTraining) -> dict[str, Any]:
    """What the record says of the head: the plan and every round; the first course is that of the head."""
    rounds = [asdict(one) for one in training.courses[0].history]
    for one in rounds:
        # A clock is no part of what was trained.
        del one["seconds"]
    return {"simulated": True, "plan": asdict(training.plan), "rounds": rounds}

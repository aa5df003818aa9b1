"""`aggregator federate`: sites train the head together, in rounds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregator.commands.heads import head_lines
from aggregator.commands.options import INFLUENCE, STRATEGIES, folder_option, resume_option
from command_line.commands import Computation, examples, json_option, report, seed_option, warn
from command_line.progress import progress_bar

if TYPE_CHECKING:
    from aggregator.training.head import HeadTraining


@click.command(
    cls=Computation,
    epilog=examples(
        "aggregator federate --simulate",
        "aggregator federate --simulate --strategy krum --least-results 5",
    ),
)
@click.option(
    "--simulate",
    is_flag=True,
    help="Let every site learn in this process, from the shares that it sent: what a run with hospitals would bring.",
)
@click.option(
    "--strategy",
    default=STRATEGIES[0],
    show_default=True,
    type=click.Choice(STRATEGIES),
    help="How results become one; which bears a site that lies: see docs/federated.md.",
)
@click.option(
    "--epochs", default=20, show_default=True, type=click.IntRange(1), help="Passes of a site, in all rounds."
)
@click.option(
    "--local-epochs", default=1, show_default=True, type=click.IntRange(1), help="Passes of a site in one round."
)
@click.option(
    "--least-results",
    default=2,
    show_default=True,
    type=click.IntRange(1),
    help="Results that a round must have; some strategies ask for more.",
)
@click.option(
    "--liars",
    default=1,
    show_default=True,
    type=click.IntRange(0, 100),
    help="Sites that may lie, for strategies that bear some.",
)
@click.option("--site", "only", multiple=True, help="Only this site; may be given several times.")
@click.option(
    "--public/--no-public", default=True, show_default=True, help="Whether the provider's own notes take part."
)
@click.option(
    "--influence",
    default=INFLUENCE[0],
    show_default=True,
    type=click.Choice(INFLUENCE),
    help="How what a site does to the others is measured; as for train-head.",
)
@click.option(
    "--operating-points/--no-operating-points",
    default=True,
    show_default=True,
    help="Whether each hospital is left out once, to know what an unseen one is promised.",
)
@resume_option
@folder_option
@seed_option("the training")
@json_option
def federate(
    simulate: bool,
    strategy: str,
    epochs: int,
    local_epochs: int,
    least_results: int,
    liars: int,
    only: tuple[str, ...],
    public: bool,
    influence: str,
    operating_points: bool,
    resume: bool,
    root: Path,
    seed: int,
    as_json: bool,
) -> None:
    """Train the head together with sites that keep their notes; it passes the gate of `release` like any other."""
    from aggregator import workspace
    from aggregator.federated import simulating
    from aggregator.federated.plan import FederatedPlan
    from aggregator.training.head import HeadOptions
    from aggregator.training.judging.influence import InfluenceMode
    from shared.training.tagging import TaggingConfig

    if not simulate:
        raise click.UsageError("expected --simulate: hospitals behind a connection are not asked by this version.")
    target = workspace.open_workspace(root)
    plan = FederatedPlan(strategy, local_epochs, least_results, liars)
    options = HeadOptions(
        with_public=public,
        sites=frozenset(only) if only else None,
        influence=InfluenceMode(influence),
        operating_points=operating_points,
    )
    with progress_bar(quiet=as_json) as bar:
        trained = simulating.simulate(
            target,
            TaggingConfig(epochs=epochs, seed=seed),
            plan,
            options,
            bar.watch,
            resume=resume,
            tell=warn,
            round_told=lambda line: None if as_json else click.echo(line),
        )
    lines = [_line(trained), *head_lines(trained), f"head in {target.head}; next: aggregator release"]
    report(trained.as_json(), lines, as_json=as_json)


def _line(trained: HeadTraining) -> str:
    rounds = trained.federated["rounds"]
    each = sum(one["bytes_each"] for one in rounds)
    return f"{len(rounds)} rounds by {trained.federated['plan']['strategy']}; {each / 1e6:.1f} MB to and from each site in all"

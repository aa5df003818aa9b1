"""`aggregator federate`: sites train the head together, in rounds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from aggregator.commands.learning.heads import head_lines
from aggregator.commands.options import INFLUENCE, STRATEGIES, existing_file, folder_option, resume_option
from command_line.commands import Computation, examples, json_option, report, seed_option, warn
from command_line.progress import progress_bar
from command_line.written_file import page_file

if TYPE_CHECKING:
    from aggregator.federated.connection import Connection

_SIMULATED = ("only", "public", "influence")
_CONNECTED = ("nodes", "certificate", "private", "ca", "port", "timeout_s")


@click.command(
    cls=Computation,
    epilog=examples(
        "aggregator federate --simulate",
        "aggregator federate --simulate --strategy krum --least-results 5",
        "aggregator federate --nodes keys/ --certificate chain.pem --key key.pem --ca ca.pem --strategy median",
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
    "--local-epochs", default=1, show_default=True, type=click.IntRange(1, 100), help="Passes of a site in one round."
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
@click.option(
    "--nodes",
    type=click.Path(exists=True, path_type=Path, file_okay=False),
    help="Folder of the public keys of the nodes that may come, NAME.pub each.",
)
@click.option("--certificate", type=existing_file, help="Certificate of the link, PEM, for 127.0.0.1 too.")
@click.option("--key", "private", type=existing_file, help="Its private key.")
@click.option("--ca", type=existing_file, help="The authority that it is verified by.")
@click.option(
    "--port",
    default=9092,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Of the link, on loopback: let nobody else log in to this machine meanwhile.",
)
@click.option(
    "--timeout",
    "timeout_s",
    default=3600,
    show_default=True,
    type=click.IntRange(10, 86_000),
    help="Seconds that a round waits for hospitals.",
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
    help="Whether what an unseen hospital is promised is measured at each hospital, with a head without it.",
)
@click.option(
    "--page",
    type=page_file,
    help="Also write what happened in each round as a page here.",
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
    nodes: Path | None,
    certificate: Path | None,
    private: Path | None,
    ca: Path | None,
    port: int,
    timeout_s: int,
    only: tuple[str, ...],
    public: bool,
    influence: str,
    operating_points: bool,
    page: Path | None,
    resume: bool,
    root: Path,
    seed: int,
    as_json: bool,
) -> None:
    """Train the head together with sites that keep their notes; it passes the gate of `release` like any other."""
    from aggregator import workspace
    from aggregator.federated.plan import FederatedPlan
    from aggregator.training.head import HeadOptions
    from aggregator.training.judging.influence import InfluenceMode
    from shared.training.tagging import TaggingConfig

    _refuse_what_the_other_way_takes(simulate)
    target = workspace.open_workspace(root)
    plan = FederatedPlan(strategy, local_epochs, least_results, liars, timeout_s=timeout_s)
    config = TaggingConfig(epochs=epochs, seed=seed)
    options = HeadOptions(
        with_public=public,
        sites=frozenset(only) if only else None,
        influence=InfluenceMode(influence),
        operating_points=operating_points,
    )
    told = (lambda line: None) if as_json else click.echo
    with progress_bar(quiet=as_json) as bar:
        if simulate:
            from aggregator.federated.simulating import simulate as run

            trained = run(target, config, plan, options, bar.watch, resume=resume, tell=warn, round_told=told)
        else:
            where = _connection(nodes, certificate, private, ca, port)
            from aggregator.federated.deployed import federate as run_with_hospitals

            trained = run_with_hospitals(
                target,
                config,
                plan,
                where,
                bar.watch,
                resume=resume,
                operating_points=operating_points,
                tell=warn,
                round_told=told,
            )
    if page is not None:
        from aggregator.federated.page import write_page

        write_page(trained.federated, page)
    lines = [
        line_of(trained.federated, measured=operating_points and not simulate),
        *head_lines(trained),
        f"head in {target.head}; next: aggregator release",
    ]
    report(trained.as_json(), lines, as_json=as_json)


def _refuse_what_the_other_way_takes(simulate: bool) -> None:
    """An option that would do nothing is refused: whoever gave it thinks that it does something."""
    context = click.get_current_context()
    for name in _CONNECTED if simulate else _SIMULATED:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            (option,) = (one.opts[0] for one in context.command.params if one.name == name)
            raise click.UsageError(
                f"expected {option} {'without' if simulate else 'only with'} --simulate; leave it out."
            )


def _connection(
    nodes: Path | None, certificate: Path | None, private: Path | None, ca: Path | None, port: int
) -> Connection:
    """Where hospitals come in."""
    if nodes is None or certificate is None or private is None or ca is None:
        raise click.UsageError("expected --simulate, or --nodes, --certificate, --key and --ca.")
    from aggregator.federated.connection import Connection
    from command_line.flower import prepare_flower

    prepare_flower()
    return Connection(port, certificate, private, ca, tuple(sorted(nodes.glob("*.pub"))))


def line_of(told: Mapping[str, Any], *, measured: bool) -> str:
    """The training in a line.

    Args:
        told: what the record says of it.
        measured: whether sites were asked to measure.
    """
    each = sum(one["bytes_each"] for one in told["rounds"])
    more = f", and {told['measuring_bytes_each'] / 1e6:.1f} MB to measure" if measured else ""
    return f"{len(told['rounds'])} rounds by {told['plan']['strategy']}; {each / 1e6:.1f} MB to and from each site in all tries of them{more}"

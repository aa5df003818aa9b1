"""`aggregator status`: how all hospitals stand, and what needs a person."""

from __future__ import annotations

from pathlib import Path

import click

from aggregator.commands.options import folder_option
from command_line.commands import examples, json_option, report


@click.command(epilog=examples("aggregator status", "aggregator status --check --hook /usr/local/bin/tell-us"))
@click.option(
    "--hook",
    type=click.Path(exists=True, dir_okay=False, executable=True, path_type=Path),
    help="Program to run where something needs you; it gets that as JSON on its standard input, and no arguments.",
)
@click.option("--check", is_flag=True, help="End with code 26 where something needs you.")
@folder_option
@json_option
def status(hook: Path | None, check: bool, root: Path, as_json: bool) -> None:
    """How the hospitals stand, what expires next, and what needs you."""
    import datetime

    from aggregator import workspace
    from aggregator.errors import AttentionError
    from aggregator.status.alerts import find_alerts
    from aggregator.status.hook import run_hook
    from aggregator.status.standing import read_standing
    from aggregator.status.table import status_json, status_lines
    from aggregator.status.unnamed import find_unnamed

    opened = workspace.open_workspace(root)
    standing, unnamed = read_standing(opened, datetime.datetime.now(datetime.UTC)), find_unnamed(opened)
    alerts = find_alerts(standing)
    report(status_json(standing, alerts, unnamed), status_lines(standing, alerts, unnamed), as_json=as_json)
    if hook is not None:
        run_hook(hook, standing, alerts)
    if check and alerts:
        raise AttentionError(f"expected nothing that needs a person, found {len(alerts)}; see above")

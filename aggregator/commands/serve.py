"""`aggregator serve`: the server for sites."""

from __future__ import annotations

import threading
from pathlib import Path

import click

from aggregator.commands.options import existing_file, folder_option
from aggregator.commands.releases import offline_option
from command_line.commands import examples, warn


@click.command(
    epilog=examples(
        "aggregator serve --certificate chain.pem --key key.pem --host 0.0.0.0 --port 443 --address https://deid.example.org",
        "aggregator serve --certificate chain.pem --key key.pem --dashboard 127.0.0.1:8444",
    )
)
@click.option("--certificate", required=True, type=existing_file, help="Certificate of the server with its chain, PEM.")
@click.option("--key", required=True, type=existing_file, help="Its private key, PEM.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=8443, show_default=True, type=click.IntRange(0, 65535), help="Where to listen.")
@click.option(
    "--address", help="The address that sites use, if it is not https://HOST:PORT; requests are signed for it alone."
)
@click.option("--max-bundle-bytes", type=click.IntRange(1), help="The largest bundle that is taken (default: 16 GiB).")
@click.option(
    "--max-day-bytes", type=click.IntRange(1), help="The most that a site may send in a day (default: 64 GiB)."
)
@click.option(
    "--ingest-workers",
    "workers",
    default=2,
    show_default=True,
    type=click.IntRange(1, 16),
    help="How many shares are checked at once, each in a process with up to 2 GiB of memory.",
)
@click.option(
    "--trusted-proxy",
    "proxies",
    multiple=True,
    help="Address or network of a reverse proxy in front, whose X-Forwarded-For is believed; again for each.",
)
@click.option(
    "--dashboard",
    metavar="HOST:PORT",
    help="Also serve the dashboard for people here: in clear on loopback, by HTTPS elsewhere (default: no dashboard).",
)
@click.option(
    "--dashboard-address",
    metavar="URL",
    help="The address that browsers use, if it is not that of HOST:PORT; needed behind a proxy.",
)
@click.option(
    "--dashboard-proxy",
    "dashboard_proxies",
    multiple=True,
    help="Address or network of a reverse proxy that speaks HTTPS in front of the dashboard; from anybody else nothing is taken then.",
)
@click.option(
    "--dashboard-user-header",
    metavar="NAME",
    help="Header by which that proxy names who has signed in there, such as X-Forwarded-User; nobody signs in by a password then.",
)
@offline_option
@folder_option
def serve(
    certificate: Path,
    key: Path,
    host: str,
    port: int,
    address: str | None,
    max_bundle_bytes: int | None,
    max_day_bytes: int | None,
    workers: int,
    proxies: tuple[str, ...],
    dashboard: str | None,
    dashboard_address: str | None,
    dashboard_proxies: tuple[str, ...],
    dashboard_user_header: str | None,
    offline: tuple[Path, ...],
    root: Path,
) -> None:
    """Take shares over HTTPS, hand out receipts and releases. Ends on SIGTERM, when what runs is answered; reads its certificate anew on SIGHUP."""
    from aggregator import workspace
    from aggregator.server.limits import Limits
    from aggregator.server.serve import ServeOptions, serve

    given = {"bundle_bytes": max_bundle_bytes, "day_bytes": max_day_bytes}
    limits = Limits(**{name: value for name, value in given.items() if value is not None})
    options = ServeOptions(host, port, certificate, key, address, limits, workers, proxies)
    opened = workspace.open_workspace(root)
    if dashboard is None:
        if dashboard_address or dashboard_proxies or dashboard_user_header or offline:
            raise click.UsageError("expected --dashboard with what is about it, got none; give it.")
        serve(opened, options, lambda found: click.echo(f"serving {found}"))
        return
    from aggregator.dashboard.options import DashboardOptions, parse_place
    from aggregator.dashboard.process import beside

    shown = DashboardOptions(
        *parse_place(dashboard),
        certificate,
        key,
        dashboard_address,
        dashboard_proxies,
        dashboard_user_header,
        tuple(folder.absolute() for folder in offline),
    )
    # Whoever starts the server is there now to give the passphrase, and not later.
    opened.unlock()
    serving = threading.Event()

    def ready(found: str) -> None:
        click.echo(f"serving {found}")
        serving.set()

    def tell(where: str) -> None:
        serving.wait()
        click.echo(f"dashboard {where}")

    with beside(opened, shown, tell, warn) as renew:
        serve(opened, options, ready, renew)

"""`aggregator serve`: the server for sites."""

from __future__ import annotations

from pathlib import Path

import click

from aggregator.commands.options import existing_file, folder_option
from command_line.commands import examples


@click.command(
    epilog=examples(
        "aggregator serve --certificate chain.pem --key key.pem --host 0.0.0.0 --port 443 --address https://deid.example.org"
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
    root: Path,
) -> None:
    """Take shares over HTTPS, hand out receipts and releases. Ends on SIGTERM, when what runs is answered."""
    from aggregator import workspace
    from aggregator.server.limits import Limits
    from aggregator.server.serve import ServeOptions, serve

    given = {"bundle_bytes": max_bundle_bytes, "day_bytes": max_day_bytes}
    limits = Limits(**{name: value for name, value in given.items() if value is not None})
    options = ServeOptions(host, port, certificate, key, address, limits, workers, proxies)
    serve(workspace.open_workspace(root), options, lambda found: click.echo(f"serving {found}"))

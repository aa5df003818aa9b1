"""`site-client pull`."""

from __future__ import annotations

from pathlib import Path

import click

from command_line.commands import examples, json_option, report
from site_client import workspace
from site_client.commands.keys import warn_of_expiry
from site_client.releases.pull import pull
from site_client.releases.source import Network

folder_option = click.option(
    "--workspace", "root", type=click.Path(path_type=Path), default=Path("."), envvar="DEID_COMMONS_SITE",
    help="Folder of the workspace (default: the current one).",
)  # fmt: skip
_existing_file = click.Path(exists=True, path_type=Path, dir_okay=False)


@click.command(
    "pull",
    epilog=examples(
        "site-client pull /media/stick/releases --fingerprint 1f2e-...-90ab",
        "site-client pull https://deid.example.org/releases",
        "site-client pull",
    ),
)
@click.argument("source", required=False)
@click.option("--fingerprint", help="The provider's, as told over another channel, in digits or spoken; needed once.")
@click.option(
    "--embeddings",
    type=_existing_file,
    help="The word vectors that the release refers to, where this machine can't download them.",
)
@click.option("--ca", type=_existing_file, help="Certificates to trust, PEM (default: those of this machine).")
@click.option("--proxy", metavar="URL", help="Such as http://proxy:3128 (default: what HTTPS_PROXY says).")
@folder_option
@json_option
def pull_release(
    source: str | None,
    fingerprint: str | None,
    embeddings: Path | None,
    ca: Path | None,
    proxy: str | None,
    root: Path,
    as_json: bool,
) -> None:
    """Take the newest release into use, if the provider has signed it.

    SOURCE is the provider's folder releases/ or an https address; it is remembered.
    """
    opened = workspace.open_workspace(root)
    updated, pulled = pull(opened, source, fingerprint, embeddings=embeddings, network=Network(ca, proxy))
    warn_of_expiry(updated)
    manifest = pulled.manifest
    lines = [
        f"release {manifest.sequence}, {manifest.kind}, labels {manifest.label_scheme}: signatures and digests are right; in use now",
        f"what it is and is not: {pulled.folder / 'MODEL_CARD.md'}",
    ]
    report({"sequence": manifest.sequence, "kind": manifest.kind, "digest": pulled.digest}, lines, as_json=as_json)

"""Options that several commands of the hospital's program take, and the words that options choose among.

The words stand here, and not only with what they name, because help has to say them without loading any of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

OVERLAP_DAYS, MAX_OVERLAP_DAYS = 30, 90
"""Those of `site_client.keys` and `protocols.keys.rotation`."""
LEAST_NOTES = 10
"""That of `protocols.share.fragments`."""
MAX_SIZE_MIB = 20 << 10
"""That of `protocols.release.repository`."""

PROCEDURES = (
    "surrogates",
    "k-anonymous",
    "surrogates-centres",
    "k-anonymous-centres",
    "noisy-surrogates",
    "k-anonymous-invariance",
    "three-part",
    "dann",
    "invariance",
)
"""Those of `site_client.policy.site_policy`."""
AUDITS = ("full", "quick")
LISTS = ("people", "places", "streets")
"""Those of `shared.patterns.given_names`."""

folder_option = click.option(
    "--workspace",
    "root",
    type=click.Path(path_type=Path),
    default=Path("."),
    envvar="DEID_COMMONS_SITE",
    help="Folder of the workspace (default: the current one).",
)
ca_option = click.option(
    "--ca",
    type=click.Path(exists=True, path_type=Path, dir_okay=False),
    help="Certificates to trust, PEM (default: those of this machine).",
)
proxy_option = click.option(
    "--proxy", metavar="URL", help="Such as http://proxy:3128 (default: what HTTPS_PROXY says)."
)
existing_path = click.Path(exists=True, path_type=Path)
existing_file = click.Path(exists=True, path_type=Path, dir_okay=False)
existing_folder = click.Path(exists=True, path_type=Path, file_okay=False)
lists_option = click.option(
    "--config",
    type=existing_file,
    help="Settings of `deid --config`: what they always hide ([deny]) is PHI wherever nobody labelled it.",
)


def _sentences(context: click.Context, option: click.Parameter, given: str | None) -> int | None:
    """How many; "all" is more than there can be."""
    if given is None or given == "all":
        return None if given is None else sys.maxsize
    if not given.isdecimal() or not 0 < int(given) < sys.maxsize:
        raise click.BadParameter(f"expected a number from 1 on, or 'all', got {given!r}.")
    return int(given)


sentences_option = click.option(
    "--sentences",
    metavar="N|all",
    callback=_sentences,
    help="How many of its sentences to show, drawn at random (default: 10, and 1000 on the page).",
)

min_recall_option = click.option(
    "--min-recall",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of PHI entities to hide whole, as the release promises it for unseen hospitals; more of what is no PHI is hidden with it.",
)

"""Options that several commands of the provider's program take, and the words that options choose among.

The words stand here, and not only with what they name, because help has to say them without loading any of it.
"""

from __future__ import annotations

from pathlib import Path

import click

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
PRESETS = ("quick", "standard", "paper")
"""Those of `shared.constructions`."""
AUDIT_PRESETS = ("quick", "full")
"""Those of `shared.privacy.audit`."""
SHARE_STATES = ("received", "quarantined", "accepted", "rejected", "withdrawn")
"""Those of `aggregator.registry.states`."""
ROLES = ("root", "targets", "snapshot", "timestamp")
HOLDERS = 3
"""Those of `aggregator.repository.tuf_keys`."""
DEFENCES = ("majority+cap", "none", "cap", "trim", "majority", "median")
"""Those of `aggregator.training.defences.registry`, the default first."""
INFLUENCE = ("fast", "full", "none")
"""Those of `aggregator.training.influence`, the default first."""
PURPOSES = ("signing", "encryption")
OVERLAP_DAYS, MAX_OVERLAP_DAYS = 30, 90
"""Those of `aggregator.provider_keys`, `aggregator.publishing.key_rotation` and `protocols.keys.rotation`."""
DEMONSTRATED = ("surrogates", "noisy-surrogates", "three-part")
"""Of the procedures those that `aggregator demo` can show."""
LANGUAGES = ("en", "es")
"""Those of `aggregator.demo.demonstration`."""

folder_option = click.option(
    "--workspace",
    "root",
    type=click.Path(path_type=Path),
    default=Path("."),
    envvar="DEID_COMMONS_AGGREGATOR",
    help="Folder of the workspace (default: the current one).",
)
resume_option = click.option(
    "--resume",
    is_flag=True,
    help="Go on with a training that was cut, with the same options; it ends in the same result.",
)
existing_path = click.Path(exists=True, path_type=Path)
existing_file = click.Path(exists=True, path_type=Path, dir_okay=False)

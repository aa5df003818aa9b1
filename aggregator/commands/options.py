"""Options that several commands of the provider's program take, and the words that options choose among.

The words stand here, and not only with what they name, because help has to say them without loading any of it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

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
"""Those of `aggregator.training.judging.influence`, the default first."""
STRATEGIES = ("fedavg", "fedprox", "fedadam", "fedyogi", "median", "trimmed-mean", "krum")
"""Those of `shared.federated.strategies`, the default first."""
TAGGERS = ("bilstm-crf", "khin2018", "transformer")
"""Those of `shared.taggers.registry`, the default first."""
AUGMENTS = ("phi", "context", "shorthand", "recase")
"""Those of `shared.augment.augmentation`."""
MOST_ALPHA = 16
"""That of `shared.augment.augmentation`."""
ACCOUNT_ROLES = ("viewer", "operator", "approver")
"""Those of `aggregator.registry.states`."""
PURPOSES = ("signing", "encryption")
OVERLAP_DAYS, MAX_OVERLAP_DAYS = 30, 90
"""Those of `aggregator.provider_keys`, `aggregator.publishing.key_rotation` and `protocols.keys.rotation`."""
DEMONSTRATED = ("surrogates", "noisy-surrogates", "three-part")
"""Of the procedures those that `aggregator demo` can show."""
LANGUAGES = ("en", "es")
"""Those of `aggregator.demo.demonstration`."""

existing_folder = click.Path(exists=True, file_okay=False, path_type=Path)

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


def _parse_augment(
    methods: tuple[str, ...],
) -> Callable[[click.Context, click.Parameter, str | None], tuple[str, ...] | None]:
    """Reads some of a command's methods, parted by commas, or "none"."""

    def parse(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
        if value is None:
            return None
        named = () if value == "none" else tuple(value.split(","))
        if len(set(named)) < len(named) or not set(named) <= set(methods):
            raise click.BadParameter(f"expected some of {', '.join(methods)}, parted by commas, or none, got {value!r}")
        return named

    return parse


def augment_options(
    methods: tuple[str, ...], what: str, default: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What a command is told of augmented copies.

    Args:
        methods: that it has.
        what: they are, as its help says.
        default: in words.
    """
    options = (
        click.option(
            "--augment",
            metavar=f"{','.join(methods)}|none",
            callback=_parse_augment(methods),
            help=f"{what} (default: {default}).",
        ),
        click.option(
            "--alpha",
            default=2,
            show_default=True,
            type=click.IntRange(1, MOST_ALPHA),
            help="Copies for each sentence.",
        ),
        click.option(
            "--entities",
            type=existing_file,
            help="For phi: CSV lines CATEGORY,entity that are drawn in the place of ours.",
        ),
        click.option(
            "--wordnet",
            type=existing_folder,
            help="For context: folder of WordNet 3.0, or of NLTK's data.",
        ),
    )

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add

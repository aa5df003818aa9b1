"""The provider's command line: it parses, calls and prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from aggregator.commands import accounts as commands_accounts
from aggregator.commands import federate as commands_federate
from aggregator.commands import protection as commands_protection
from aggregator.commands import releases as commands_releases
from aggregator.commands import shares as commands_shares
from aggregator.commands import sites as commands_sites
from aggregator.commands.learning import heads as commands_heads
from aggregator.commands.learning import public_text as commands_public_text
from aggregator.commands.learning import representer as commands_representer
from aggregator.commands.learning import settings as commands_settings
from aggregator.commands.options import DEMONSTRATED, LANGUAGES, existing_path
from aggregator.commands.registry import audit_log_group
from aggregator.commands.releases import offline_warning
from aggregator.commands.serve import serve
from aggregator.commands.status import status
from command_line.commands import Computation, Program, examples, json_option, passphrase_option, report, seed_option
from command_line.notes_options import NotesOptions, notes_options
from command_line.progress import progress_bar

SECTIONS = (
    ("Try it", ("demo",)),
    ("Begin, once", ("init", "keys")),
    ("Make and publish the representer", ("train-embeddings", "train-lm", "train-repr", "audit", "publish")),
    ("Let hospitals in", ("site", "serve", "account", "announce")),
    ("Every day", ("status", "ingest", "shares", "alarms")),
    ("Every month", ("refresh", "search-settings", "train-head", "federate", "release", "renew")),
    ("Look back", ("evaluate", "audit-log")),
)


@click.group("aggregator", cls=Program, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deid-commons")
def main() -> None:
    """The central provider: train a representer, take in shares, train the head, publish releases."""


@main.command(epilog=examples("aggregator init provider --name north --scheme i2b2_2014"))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", default="provider", show_default=True, help="Name of the provider, as releases state it.")
@click.option(
    "--scheme", default="i2b2_2014", show_default=True, help="Label scheme of the pool, or a .toml file with one."
)
@click.option(
    "--database",
    metavar="URL",
    help="PostgreSQL database of the registry, without a password (default: a file in the workspace).",
)
@click.option("--objects", metavar="URL", help="s3:// store of the shares (default: a folder in the workspace).")
@click.option(
    "--offline-keys",
    "offline",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where the offline keys of the releases go, such as a stick; one folder, or one for each of three people (default: the workspace).",
)
@passphrase_option
@json_option
def init(
    folder: Path,
    name: str,
    scheme: str,
    database: str | None,
    objects: str | None,
    offline: tuple[Path, ...],
    protect: bool,
    as_json: bool,
) -> None:
    """Make a workspace with fresh keys."""
    from aggregator import workspace
    from command_line.passphrase import take_new_passphrase

    passphrase = take_new_passphrase() if protect else None
    made = workspace.create(
        folder, name, scheme, database=database, objects=objects, offline=offline, passphrase=passphrase
    )
    key = made.repository(offline).fingerprint
    lines = [
        f"workspace {folder} made; label scheme {made.scheme.name}, {len(made.scheme.categories)} categories",
        f"fingerprint {key.key_id}",
        f"spoken      {key.spoken}",
        "tell one of the two to every site over a channel that both of you trust",
        *offline_warning(made),
    ]
    report({"workspace": str(folder), "fingerprint": key.key_id, "spoken": key.spoken}, lines, as_json=as_json)


@main.command(epilog=examples("aggregator evaluate --gold gold/ --system system/"))
@click.option("--gold", required=True, type=existing_path, help="Notes with true labels.")
@click.option("--system", required=True, type=existing_path, help="The same notes with predicted labels.")
@click.option(
    "--official-slips",
    is_flag=True,
    help="Repeat the slips of the official scripts, to compare with published numbers.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Show every block of the official evaluations, not only the usual ones."
)
@click.option(
    "--sentences",
    type=click.Path(exists=True, path_type=Path, file_okay=False),
    help="Folder with ID.ann for every note, one line a sentence, for MEDDOCAN's leak (default: our own sentences).",
)
@seed_option("the bootstrap")
@json_option
@notes_options
def evaluate(
    gold: Path,
    system: Path,
    official_slips: bool,
    everything: bool,
    sentences: Path | None,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Every block of the i2b2 and MEDDOCAN evaluations, and what stays in clear. Spans may overlap."""
    import numpy as np

    from command_line.notes import Notes
    from shared.evaluation import HEADLINES, as_table, count_sentences, evaluate_all, match_corpora, sentence_files
    from shared.evaluation import as_json as evaluation_json

    read = Notes(gold, replace(NotesOptions.of(reading), official=official_slips))
    answers = Notes(system, NotesOptions(official=official_slips))
    pairs = match_corpora(read.to_evaluate(), answers.to_evaluate())
    count = sentence_files(sentences) if sentences else count_sentences
    result = evaluate_all(pairs, rng=np.random.default_rng(seed), sentences=count, slips=official_slips)
    values = {**evaluation_json(result), "quarantined": read.quarantined}
    table = as_table(result, blocks=None if everything else HEADLINES)
    report(values, [*read.lines(), *answers.lines(), table], as_json=as_json)


@main.command(
    cls=Computation,
    epilog=examples("aggregator demo", "aggregator demo elsewhere --language es --procedure noisy-surrogates"),
)
@click.argument("folder", type=click.Path(path_type=Path), default=Path("demo"))
@click.option(
    "--language",
    default="en",
    show_default=True,
    type=click.Choice(LANGUAGES),
    help="Language of the generated notes.",
)
@click.option(
    "--notes",
    "count",
    show_default="60, in Spanish 120",
    type=int,
    help="Notes of each hospital; in fewer than the default the audit finds too little to attack.",
)
@click.option(
    "--procedure",
    default=DEMONSTRATED[0],
    show_default=True,
    type=click.Choice(DEMONSTRATED),
    help="What protects a share.",
)
@seed_option("notes and trainings")
def demo(folder: Path, language: str, count: int | None, procedure: str, seed: int) -> None:
    """The whole loop on generated notes with a provider and four hospitals; ends with a report page.

    It says first how long it takes on this machine.
    """
    from aggregator.demo import demonstration

    notes = demonstration.NOTES[language] if count is None else count
    with progress_bar() as bar:
        demonstration.run(folder, demonstration.Scale(language, notes, seed, procedure), click.echo, bar)


main.add_command(audit_log_group)
main.add_command(commands_sites.site)
main.add_command(commands_accounts.account)
for command in (
    commands_public_text.train_embeddings,
    commands_public_text.train_language_model,
    commands_representer.train_representer,
    commands_representer.audit,
    commands_settings.search_settings,
    commands_heads.train_pool_head,
    commands_federate.federate,
    commands_releases.publish,
    commands_releases.release,
    commands_releases.renew,
    commands_heads.refresh,
    commands_releases.announce,
    commands_releases.keys,
    commands_shares.ingest,
    commands_shares.shares_group,
    commands_shares.alarms_group,
):
    main.add_command(command)
main.add_command(serve)
main.add_command(status)
for command in (commands_protection.keys_protect, commands_protection.keys_unprotect):
    commands_releases.keys.add_command(command)

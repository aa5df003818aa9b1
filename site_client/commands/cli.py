"""The hospital's command line: it parses, calls and prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from command_line.commands import Computation, Program, examples, json_option, passphrase_option, report
from command_line.notes_options import NotesOptions, notes_options
from command_line.progress import progress_bar
from command_line.written_file import page_file
from foundation.printable import as_typed
from shared.errors import ConfigurationError
from site_client.commands.approval import accept_option, answering_option, read_acceptance
from site_client.commands.federate import federate
from site_client.commands.keys import enrol, keys, warn_of_expiry
from site_client.commands.labels import check, labels, lists
from site_client.commands.ledger import ledger
from site_client.commands.log import log, release_code
from site_client.commands.options import existing_path, folder_option, lists_option, sentences_option
from site_client.commands.policy import policy
from site_client.commands.pull import pull_release
from site_client.commands.submit import receipts, submit
from site_client.commands.withdraw import withdraw
from site_client.commands.workbench.adapt import adapt
from site_client.commands.workbench.deid import deid
from site_client.commands.workbench.evaluate import evaluate
from site_client.commands.workbench.fragment import approve_fragments, fragment, show_fragments
from site_client.commands.workbench.parts import merge
from site_client.commands.workbench.review import review
from site_client.commands.workbench.serve_local import serve_local
from site_client.commands.workbench.vault import vault

if TYPE_CHECKING:
    from shared.privacy.enforcement import AdvantageBound


SECTIONS = (
    ("Join, once", ("init", "enrol", "policy", "pull", "release-code")),
    ("Share labelled notes", ("labels", "lists", "check", "encode", "inspect", "submit", "receipts")),
    ("Train together over a connection", ("federate",)),
    ("De-identify notes", ("deid", "deid-merge", "vault", "evaluate", "review", "adapt", "serve-local")),
    ("Share phrases as text", ("fragment", "approve-fragments")),
    ("Look back, and take back", ("ledger", "log", "withdraw")),
    ("Every year", ("keys",)),
)


@click.group("site-client", cls=Program, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deid-commons")
def main() -> None:
    """A hospital: pull releases, encode and share labelled notes, de-identify new ones. Notes stay here."""


@main.command(epilog=examples("site-client init deid --site st-anne"))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--site", required=True, help="Name of the site: lower-case letters, digits, hyphens.")
@click.option(
    "--approval/--no-approval",
    default=True,
    show_default=True,
    help="Whether a person has to approve by name before a share leaves.",
)
@passphrase_option
@json_option
def init(folder: Path, site: str, approval: bool, protect: bool, as_json: bool) -> None:
    """Make a workspace with a fresh signing key and the usual policy."""
    from dataclasses import replace

    from command_line.passphrase import take_new_passphrase
    from site_client import workspace
    from site_client.policy.site_policy import DEFAULT
    from site_client.policy.stored import set_policy

    passphrase = take_new_passphrase() if protect else None
    made = workspace.create(folder, site, passphrase=passphrase)
    set_policy(made, replace(DEFAULT, approval=approval))
    key = made.key().public_key
    report(
        {"workspace": str(folder), "fingerprint": key.key_id},
        [f"workspace {folder} made; next: site-client enrol. What it asks of releases: site-client policy show"],
        as_json=as_json,
    )


@main.command(
    "encode",
    cls=Computation,
    epilog=examples(
        "site-client encode notes/ --out share.parquet",
        "site-client encode notes.jsonl --labels our-labels.toml --out share.h5",
        "site-client encode notes/ --max-advantage 0.2 --out share.parquet",
        "site-client encode notes-of-all-years/ --again --out share.parquet",
    ),
)
@click.argument("notes", type=existing_path)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The share: FILE.parquet or FILE.h5; another that was not submitted is replaced.",
)
@click.option(
    "--max-advantage",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Hold every sentence to this advantage (2 * accuracy - 1) of the best possible attacker on its PHI: more noise, or left out.",
)
@click.option(
    "--advantage-quantile",
    type=click.FloatRange(0, 1, min_open=True),
    help="Hold this share of a sentence's pairs of PHI word and neighbour to it (default: all, 1).",
)
@click.option(
    "--new-noise",
    is_flag=True,
    help="keys/noise.key is lost for good: make another. Sentences shared before get a second draw, which averages out.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Whole earlier shares, as they were labelled then: once more under another representer, or where one was refused or taken back.",
)
@click.option(
    "--lost-known-notes",
    is_flag=True,
    help="Files of known-notes/ are lost for good: go on all the same. Notes of these shares may leave a second time.",
)
@click.option(
    "--hide-above",
    type=click.FloatRange(0, 1),
    help="Hide what nobody labelled if it is so probably PHI, as `check` finds it (default: 0.5; 1 hides what is certain).",
)
@click.option("--no-check", is_flag=True, help="Do not look for PHI that nobody labelled.")
@lists_option
@accept_option
@answering_option
@folder_option
@json_option
@notes_options
def encode_notes(
    notes: Path,
    out: Path,
    max_advantage: float | None,
    advantage_quantile: float | None,
    new_noise: bool,
    again: bool,
    lost_known_notes: bool,
    hide_above: float | None,
    no_check: bool,
    config: Path | None,
    accepted: bool,
    approver: str | None,
    root: Path,
    as_json: bool,
    **reading: Any,
) -> None:
    """Encode labelled notes that have not left before into a signed share, which stays here until `submit`."""
    from command_line.notes import Notes
    from shared.labels import load_scheme_file
    from shared.pipeline.forgotten.checker import HIDE_ABOVE
    from site_client import workspace
    from site_client.deid.choices.config import read_always_hidden
    from site_client.sharing.drafts import require_replaceable
    from site_client.sharing.encode import encode
    from site_client.sharing.protection import guarded_json, guarded_lines

    for name, value in (("--config", config), ("--hide-above", hide_above)):
        if no_check and value is not None:
            raise click.UsageError(f"{name}: expected no --no-check beside it, which looks for nothing; give one.")
    bound, acceptance = _bound(max_advantage, advantage_quantile), read_acceptance(accepted, approver)
    opened = workspace.open_workspace(root)
    warn_of_expiry(opened)
    options = NotesOptions.of(reading).apart_from(notes=notes, out=out)
    require_replaceable(opened, out)
    scheme = load_scheme_file(opened.release().folder)
    read = Notes(notes, options, scheme, to_share=True)
    listed = None if config is None else read_always_hidden(config, scheme)
    above = None if no_check else HIDE_ABOVE if hide_above is None else hide_above
    with progress_bar(quiet=as_json) as bar:
        encoded = encode(
            opened,
            read,
            out,
            bar,
            bound,
            new_noise=new_noise,
            again=again,
            lost_known_notes=lost_known_notes,
            hide_above=above,
            listed=listed,
            acceptance=acceptance,
        )
    manifest = encoded.manifest
    lines = [
        *read.lines(),
        f"share {manifest.sequence}: {manifest.sentences} sentences, {manifest.tokens} tokens in {out}",
        *encoded.judgement.lines(),
        *guarded_lines(encoded.guarded, manifest.protection),
        *_unlabelled_lines(encoded.without_labels, read.corpus.report.read),
        *_doubtful_lines(encoded.doubtful),
        *encoded.sifted.lines(),
        *_given_up_lines(encoded.given_up),
        f"the share is still in this house; next: site-client inspect {as_typed(out)}",
    ]
    result = {
        "share": str(out),
        "quarantined": read.quarantined,
        "notes_without_labels": encoded.without_labels,
        "probable_phi_hidden": encoded.doubtful,
        **encoded.sifted.as_json(),
        "known_notes_given_up": list(encoded.given_up),
        **manifest.to_json(),
        **guarded_json(encoded.guarded),
        "judgement": encoded.judgement.as_json(),
    }
    report(result, lines, as_json=as_json)


def _doubtful_lines(doubtful: int) -> list[str]:
    if not doubtful:
        return []
    return [
        f"{doubtful} stretches of text are probably PHI that nobody labelled: they are hidden like PHI, and nobody learns from their tags; "
        "see them with `site-client check`, and correct the labels"
    ]


def _given_up_lines(shares: tuple[int, ...]) -> list[str]:
    if not shares:
        return []
    return [
        f"which notes left with earlier shares ({', '.join(map(str, shares))}) is not known any more: they may leave a second time with this "
        "one; the ledger tells of it"
    ]


def _unlabelled_lines(without_labels: int, notes: int) -> list[str]:
    if not without_labels:
        return []
    return [
        f"{without_labels} of {notes} notes have no label: nothing in them is hidden as PHI; make sure that there is none"
    ]


@main.command(
    "inspect", cls=Computation, epilog=examples("site-client inspect share.parquet --notes notes/ --page share.html")
)
@click.argument("share", type=existing_path)
@click.option(
    "--notes",
    type=existing_path,
    help="The notes it was made from: its sentences stand beside theirs, and it is searched for their text.",
)
@click.option(
    "--page",
    type=page_file,
    help="Also write it as a page, for who decides; with --notes it holds PHI.",
)
@sentences_option
@folder_option
@json_option
@notes_options
def inspect_share(
    share: Path,
    notes: Path | None,
    page: Path | None,
    sentences: int | None,
    root: Path,
    as_json: bool,
    **reading: Any,
) -> None:
    """Show a share as anybody reads it who has the release, and how it is protected; or every phrase of a file of fragments."""
    from command_line.notes import Notes
    from protocols.share.fragments import are_fragments
    from site_client import workspace
    from site_client.sharing.inspect import ON_PAGE, SAMPLE, inspect, inspection_lines, scheme_of

    options = NotesOptions.of(reading).apart_from(notes=notes, page=page)
    if are_fragments(share):
        show_fragments(root, share, notes, page, options, as_json=as_json)
        return
    opened = workspace.open_workspace(root)
    scheme = scheme_of(opened, share)
    given = None if notes is None else Notes(notes, options, scheme, to_share=True)
    found = inspect(opened, share, scheme, given, sentences or (SAMPLE if page is None else ON_PAGE))
    # What is not a screen may be a log.
    screen = sys.stdout.isatty()
    lines = inspection_lines(found, sentences or SAMPLE, originals=screen)
    if given is not None and not screen:
        lines.append("your own sentences are shown on a screen or with --page only")
    if page is not None:
        from site_client.sharing.inspect_page import write_page

        lines.append(f"page: {write_page(found, page)}")
    report(found.as_json(), lines, as_json=as_json)


def _bound(advantage: float | None, quantile: float | None) -> AdvantageBound | None:
    from shared.privacy.enforcement import AdvantageBound

    if advantage is None:
        if quantile is not None:
            raise ConfigurationError("--advantage-quantile: expected --max-advantage beside it, got none; give both")
        return None
    return AdvantageBound(advantage, 1.0 if quantile is None else quantile)


main.add_command(adapt)
main.add_command(approve_fragments)
main.add_command(check)
main.add_command(deid)
main.add_command(enrol)
main.add_command(evaluate)
main.add_command(federate)
main.add_command(fragment)
main.add_command(keys)
main.add_command(labels)
main.add_command(ledger)
main.add_command(lists)
main.add_command(log)
main.add_command(merge)
main.add_command(policy)
main.add_command(pull_release)
main.add_command(receipts)
main.add_command(release_code)
main.add_command(review)
main.add_command(serve_local)
main.add_command(submit)
main.add_command(vault)
main.add_command(withdraw)

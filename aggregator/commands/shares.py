"""`aggregator ingest`, `aggregator shares ...` and `aggregator alarms ...`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregator.commands.options import SHARE_STATES, folder_option
from command_line.commands import Listing, examples, json_option, report, say
from shared.errors import ConfigurationError

if TYPE_CHECKING:
    from aggregator.enrolled.shares import Share
    from aggregator.ingestion.arriving import Outcome
    from aggregator.registry.states import ShareState

name_option = click.option("--name", required=True, help="Who decides; kept in the audit log.")
reason_option = click.option("--reason", required=True, help="Why; kept in the audit log. No text of a note.")


@click.command(epilog=examples("aggregator ingest /media/stick", "aggregator ingest --resume"))
@click.argument("paths", metavar="FILE|FOLDER...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--resume", "finish", is_flag=True, help="Finish what a crash interrupted.")
@folder_option
@json_option
def ingest(paths: tuple[Path, ...], finish: bool, root: Path, as_json: bool) -> None:
    """Take in shares and withdrawals, each for itself; a signed receipt is written beside each.

    Of a folder all *.share and then all *.withdrawal.json; how much else lies there is told, for a share may have another name by now. Ends with the code of the first that is damaged, or with 24 where a
    share was refused or what has such a name is no file that can be read; the others are taken in all the same.
    """
    from aggregator import workspace
    from aggregator.ingestion.arriving import count_passed_over, files_in, finish_all, refusal, take_all

    if bool(paths) == finish:
        raise ConfigurationError("ingest: expected files or folders, or else --resume; see --help")
    target = workspace.open_workspace(root)
    files = [file for given in paths for file in files_in(given)]
    others = sum(map(count_passed_over, paths))
    outcomes: list[Outcome] = []

    def told(outcome: Outcome) -> None:
        outcomes.append(outcome)
        # The error of a single file is told at the end.
        if not as_json and (not outcome.error or len(files) != 1):
            say(outcome.line)

    try:
        failed = finish_all(target, told) if finish else take_all(target, files, told)
    finally:
        # Whatever ends the run, what was done is told.
        if as_json:
            report({"shares": [one.as_json() for one in outcomes], "passed_over": others}, [], as_json=True)
    if not (as_json or outcomes):
        click.echo("nothing was interrupted" if finish else "nothing to take in")
    if others and not as_json:
        say(
            f"passed over: {others} of other names; a share or withdrawal that was renamed on its way is taken in by the name that it has now"
        )
    if (error := failed[0] if failed else refusal(outcomes)) is not None:
        raise error


@click.group("shares", cls=Listing)
def shares_group() -> None:
    """The shares that came, and what became of them."""


@shares_group.command("list", epilog=examples("aggregator shares list", "aggregator shares list --state quarantined"))
@click.option("--state", "states", multiple=True, type=click.Choice(SHARE_STATES), help="Only these (default: all).")
@folder_option
@json_option
def shares_list(states: tuple[str, ...], root: Path, as_json: bool) -> None:
    """All shares, by site and number."""
    from aggregator import workspace
    from aggregator.enrolled import shares
    from aggregator.registry.states import ShareState

    found = shares.list_shares(workspace.open_workspace(root), [ShareState(state) for state in states])
    report({"shares": [vars(one) for one in found]}, [_line(one) for one in found] or ["no shares"], as_json=as_json)


@shares_group.command("show", epilog=examples("aggregator shares show 3fa9"))
@click.argument("digest")
@folder_option
@json_option
def shares_show(digest: str, root: Path, as_json: bool) -> None:
    """One share: its state, what its site signed, and the releases that it has trained."""
    from aggregator import workspace
    from aggregator.enrolled import shares

    target = workspace.open_workspace(root)
    found = shares.find_share(target, digest)
    manifest = None if found.manifest is None else shares.read_manifest(target, found).to_json()
    trained = shares.releases_with(target, found)
    values = {**vars(found), "releases": [name for _, name in trained], "signed": manifest}
    lines = [
        _line(found),
        *([found.reason] if found.reason else []),
        f"has trained {', '.join(name for _, name in trained) or 'no release'}",
        *([json.dumps(manifest, indent=1, sort_keys=True)] if manifest else []),
    ]
    report(values, lines, as_json=as_json)


@shares_group.command("accept", epilog=examples('aggregator shares accept 3fa9 --name "A. Weiss" --reason "new ward"'))
@click.argument("digest")
@name_option
@reason_option
@folder_option
@json_option
def shares_accept(digest: str, name: str, reason: str, root: Path, as_json: bool) -> None:
    """Let a share in quarantine count."""
    from aggregator import workspace
    from aggregator.enrolled import shares
    from aggregator.registry.states import ShareState

    target = workspace.open_workspace(root)
    found = shares.find_share(target, digest)
    shares.accept(target, found, name, reason)
    report(_row(found, ShareState.ACCEPTED), [f"share {found.sequence} of {found.site} accepted"], as_json=as_json)


@shares_group.command("reject", epilog=examples('aggregator shares reject 3fa9 --name "A. Weiss" --reason "no labels"'))
@click.argument("digest")
@name_option
@reason_option
@folder_option
@json_option
def shares_reject(digest: str, name: str, reason: str, root: Path, as_json: bool) -> None:
    """Refuse a share in quarantine, or one that can't be decided, and delete it."""
    from aggregator import workspace
    from aggregator.enrolled import shares
    from aggregator.registry.states import ShareState

    target = workspace.open_workspace(root)
    found = shares.find_share(target, digest)
    shares.reject(target, found, name, reason)
    report(
        _row(found, ShareState.REJECTED),
        [f"share {found.sequence} of {found.site} refused and deleted"],
        as_json=as_json,
    )


@shares_group.command(
    "withdraw", epilog=examples('aggregator shares withdraw 3fa9 --name "A. Weiss" --reason "asked by letter"')
)
@click.argument("digest")
@name_option
@reason_option
@folder_option
@json_option
def shares_withdraw(digest: str, name: str, reason: str, root: Path, as_json: bool) -> None:
    """Take a share out and delete it, for a site that can't ask by itself; the next head is trained without it."""
    from aggregator import workspace
    from aggregator.enrolled import shares
    from aggregator.registry.states import ShareState

    target = workspace.open_workspace(root)
    found = shares.find_share(target, digest)
    shares.withdraw(target, found, name, reason)
    trained = [release for _, release in shares.releases_with(target, found)]
    lines = [f"share {found.sequence} of {found.site} withdrawn and deleted"]
    lines += [f"release {release} was trained with it" for release in trained]
    report(_row(found, ShareState.WITHDRAWN) | {"releases": trained}, lines, as_json=as_json)


@click.group("alarms", cls=Listing)
def alarms_group() -> None:
    """What a person must look at."""


@alarms_group.command("list", epilog=examples("aggregator alarms list"))
@click.option("--all", "everything", is_flag=True, help="Also those that were acknowledged.")
@folder_option
@json_option
def alarms_list(everything: bool, root: Path, as_json: bool) -> None:
    """The alarms that stand."""
    from aggregator import workspace
    from aggregator.enrolled import alarms

    found = alarms.list_alarms(workspace.open_workspace(root), acknowledged=everything)
    lines = [f"{one.id:6} {one.at}  {one.site:20} {one.kind}: {one.detail}" for one in found]
    report({"alarms": [vars(one) for one in found]}, lines or ["no alarms"], as_json=as_json)


@alarms_group.command("acknowledge", epilog=examples('aggregator alarms acknowledge 7 --name "A. Weiss"'))
@click.argument("number", type=int)
@name_option
@folder_option
@json_option
def alarms_acknowledge(number: int, name: str, root: Path, as_json: bool) -> None:
    """Note that somebody has looked at an alarm."""
    from aggregator import workspace
    from aggregator.enrolled import alarms

    alarms.acknowledge(workspace.open_workspace(root), number, name)
    report({"alarm": number}, [f"alarm {number} acknowledged"], as_json=as_json)


def _row(one: Share, state: ShareState) -> dict[str, object]:
    return {"site": one.site, "sequence": one.sequence, "bundle": one.bundle, "state": state}


def _line(one: Share) -> str:
    # Of its bundle: a payload can come again under another number.
    size = f"{one.sentences} sentences, {one.tokens} tokens, " if one.tokens else ""
    why = f" ({one.reason_code})" if one.reason_code else ""
    return f"{one.site:20} share {one.sequence}: {size}{one.bundle[:12]}  {one.state}{why}"

"""`aggregator account ...`: who may sign in at the dashboard, and as what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregator.commands.options import ACCOUNT_ROLES, existing_file, folder_option
from command_line.commands import Listing, examples, json_option, report

if TYPE_CHECKING:
    from aggregator.registry.states import AccountRole

_password_option = click.option(
    "--password-file",
    "file",
    type=existing_file,
    help="File with the password, one line that only its owner and group can read (default: it is asked for).",
)
_role = click.Choice(ACCOUNT_ROLES)


@click.group("account", cls=Listing)
def account() -> None:
    """The people who may sign in at the dashboard of `aggregator serve`."""


@account.command("add", epilog=examples("aggregator account add anna --role approver"))
@click.argument("name")
@click.option("--role", default="viewer", show_default=True, type=_role, help="What the person may do.")
@_password_option
@click.option(
    "--through-proxy", is_flag=True, help="No password: a proxy in front signs the person in under this name."
)
@folder_option
@json_option
def account_add(name: str, role: str, file: Path | None, through_proxy: bool, root: Path, as_json: bool) -> None:
    """Let a person sign in."""
    from aggregator import workspace
    from aggregator.dashboard.access import accounts
    from aggregator.registry.states import AccountRole
    from command_line.passphrase import take_new_password

    if through_proxy and file is not None:
        raise click.UsageError("expected --password-file or --through-proxy, got both; give one.")
    opened = workspace.open_workspace(root)
    password = None if through_proxy else take_new_password(file)
    accounts.add_account(opened, name, AccountRole(role), password)
    report(
        {"name": name, "role": role, "through_proxy": through_proxy}, [f"{name} may sign in as {role}"], as_json=as_json
    )


@account.command("list", epilog=examples("aggregator account list"))
@folder_option
@json_option
def account_list(root: Path, as_json: bool) -> None:
    """All accounts."""
    from aggregator import workspace
    from aggregator.dashboard.access import accounts

    found = accounts.list_accounts(workspace.open_workspace(root))
    rows = [
        {"name": one.name, "role": one.role, "through_proxy": one.through_proxy, "added_at": one.added_at}
        for one in found
    ]
    lines = [f"{one.name:24} {one.role:9} {'through the proxy' if one.through_proxy else 'password'}" for one in found]
    report({"accounts": rows}, lines or ["no accounts yet"], as_json=as_json)


@account.command("role", epilog=examples("aggregator account role anna operator"))
@click.argument("name")
@click.argument("role", type=_role)
@folder_option
@json_option
def account_role(name: str, role: AccountRole, root: Path, as_json: bool) -> None:
    """Give a person another role, from the next request on."""
    from aggregator import workspace
    from aggregator.dashboard.access import accounts
    from aggregator.registry.states import AccountRole

    accounts.set_role(workspace.open_workspace(root), name, AccountRole(role))
    report({"name": name, "role": role}, [f"{name} is {role} now"], as_json=as_json)


@account.command("password", epilog=examples("aggregator account password anna"))
@click.argument("name")
@_password_option
@folder_option
@json_option
def account_password(name: str, file: Path | None, root: Path, as_json: bool) -> None:
    """Give a person another password; whoever is signed in under the name has to do so anew."""
    from aggregator import workspace
    from aggregator.dashboard.access import accounts
    from command_line.passphrase import take_new_password

    opened = workspace.open_workspace(root)
    accounts.set_password(opened, name, take_new_password(file))
    report({"name": name}, [f"{name} has another password"], as_json=as_json)


@account.command("remove", epilog=examples("aggregator account remove anna"))
@click.argument("name")
@folder_option
@json_option
def account_remove(name: str, root: Path, as_json: bool) -> None:
    """Let a person sign in no more; what the person did stays in the audit log."""
    from aggregator import workspace
    from aggregator.dashboard.access import accounts

    accounts.remove_account(workspace.open_workspace(root), name)
    report({"name": name}, [f"{name} can't sign in any more"], as_json=as_json)

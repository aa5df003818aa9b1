"""docs/configuration.md: every option of every command, every variable and every settings file, written down from the code."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click

import aggregator.commands.cli
import site_client.commands.cli
from bench.release.packages import ROOT
from site_client.policy.site_policy import DEFAULT

PAGE = ROOT / "docs" / "configuration.md"
PROGRAMS: dict[str, click.Group] = {
    "aggregator": aggregator.commands.cli.main,
    "site-client": site_client.commands.cli.main,
}
PACKAGES = ("aggregator", "site_client", "shared", "protocols", "foundation", "command_line")
VARIABLES = {
    "DEID_COMMONS_AGGREGATOR": "folder of the provider's workspace, where `--workspace` is not given",
    "DEID_COMMONS_SITE": "folder of the hospital's workspace, where `--workspace` is not given",
    "DEID_COMMONS_PASSPHRASE_FILE": "file whose only line is the passphrase of the private keys, readable by its owner alone",
    "DEID_COMMONS_DEBUG": "1 shows the traceback of an error; it may hold text of a note",
    "DEID_COMMONS_ALERTS": "set by `aggregator status` for the program of `--hook`: how many alerts there are",
    "DEID_COMMONS_FEDERATED_SOCKET": "set by the programs for their own children: where the relay of Flower listens",
}
SETTINGS = {
    "The provider's workspace, `aggregator.json`": "aggregator.workspace",
    "What `--config FILE` of site-client deid reads": "site_client.deid.choices.config",
}
"""Files by what they are, and the module whose docstring says what stands in them."""
_INTRODUCTION = """# Configuration reference

Written by `make configuration` from the code; do not edit. A test compares the two. [provider.md](provider.md), [hospital.md](hospital.md) and [operation.md](operation.md) say when to use what.
"""


def page() -> str:
    """The whole page."""
    parts = [_INTRODUCTION, *_variables(), *_files()]
    for program, group in PROGRAMS.items():
        parts.append(f"## {program}\n")
        parts += [_command(name, command) for name, command in commands(group, program)]
    return "\n".join(parts)


def commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    """Every command below a group, by what is typed for it, in the order of the help."""
    for word in group.list_commands(click.Context(group)):
        command = group.commands[word]
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {word}")
        else:
            yield f"{name} {word}", command


def variables_in_code() -> set[str]:
    """Variables of our own that the packages name."""
    found: set[str] = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            found |= set(re.findall(r"\"(DEID_COMMONS_[A-Z_]*[A-Z])\"", path.read_text(encoding="utf-8")))
    return found


def _variables() -> Iterator[str]:
    yield "## Variables of the environment\n\n| variable | what it says |\n|---|---|"
    for name, what in VARIABLES.items():
        yield f"| `{name}` | {what} |"
    yield (
        "\nPostgreSQL and S3 are asked with the variables and files of their own clients: `PGPASSFILE`, `PGPASSWORD`, `AWS_ACCESS_KEY_ID` and the like. "
        "No variable takes a passphrase.\n"
    )


def _files() -> Iterator[str]:
    yield "## Settings files\n"
    for title, module in SETTINGS.items():
        text = (importlib.import_module(module).__doc__ or "").strip()
        yield f"### {title}\n\n```text\n{text}\n```\n"
    yield "### A hospital's policy, as `site-client policy set` writes it\n\n| value | default |\n|---|---|"
    for one in fields(DEFAULT):
        value = getattr(DEFAULT, one.name)
        yield f"| `{one.name}` | {_cell(_told(value))} |"
    yield ""
    for title, file in (
        ("The policy of an audit, for `--policy` of `aggregator audit`", "shared/privacy/policy.toml"),
        ("A label scheme, for `--scheme` of `aggregator init`", "shared/schemes/i2b2_2006.toml"),
    ):
        yield f"### {title}\n\nOurs is `{file}`; yours has the same keys.\n\n```toml\n{_beginning(ROOT / file)}\n```\n"


def _beginning(path: Path, lines: int = 18) -> str:
    given = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(given[:lines] + ["# ..."] * (len(given) > lines)).rstrip()


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name)
    about = " ".join((command.help or "").split())
    usage = " ".join(command.collect_usage_pieces(context))
    rows = [row for param in command.get_params(context) if (row := _row(param, context)) is not None]
    table = ["| option | takes | default | what it does |", "|---|---|---|---|", *rows] if rows else []
    return "\n".join([f"### {name}\n", f"```text\n{name} {usage}\n```\n", about, "", *table, ""])


def _row(param: click.Parameter, context: click.Context) -> str | None:
    if not isinstance(param, click.Option) or "--help" in param.opts or param.hidden:
        return None
    names = " ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    record = param.get_help_record(context)
    # What click says of defaults and bounds has a column of its own.
    said = re.sub(r"\s*\[[^\[\]]*\]$", "", record[1]) if record else ""
    default = _default(param, context)
    takes = "" if param.is_flag else param.make_metavar(context)
    return f"| {names} | {_cell(takes)} | {_cell(default)} | {_cell(said)} |"


def _default(param: click.Option, context: click.Context) -> str:
    if param.required:
        return "required"
    if isinstance(param.show_default, str):
        return param.show_default
    if param.is_flag and param.secondary_opts:
        return (param.opts if param.default else param.secondary_opts)[0].removeprefix("--")
    value = param.get_default(context)
    if value is None or param.is_flag or param.multiple or not isinstance(value, (str, int, float, Path)):
        return ""
    return str(value)


def _told(value: object) -> str:
    if isinstance(value, (tuple, frozenset, set)):
        return ", ".join(sorted(map(str, value)))
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in sorted(value.items()))
    return str(value)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

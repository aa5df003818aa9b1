"""Every command line that the documentation shows is one that the programs take."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import aggregator.commands.cli
import site_client.commands.cli

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS: dict[str, click.Group] = {
    "aggregator": aggregator.commands.cli.main,
    "site-client": site_client.commands.cli.main,
}
WALKS = ROOT / "bench" / "walks"
# CI runs it by itself, ahead of the walks.
DEMONSTRATION = "aggregator demo"
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def shown(path: Path) -> list[str]:
    """Command lines of a document: in its blocks, and whole ones in its sentences."""
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    found = [line for line in lines if line.split(" ")[0] in PROGRAMS]
    return found + re.findall(r"`((?:aggregator|site-client) [a-z][^`]*)`", text)


LINES = [(path.name, line) for path in DOCUMENTS for line in shown(path)]


def parsed(line: str) -> tuple[click.Command, dict[str, object]]:
    """The command of a line, and what it takes from it."""
    # Square brackets stand around what may be left out.
    words = shlex.split(line.replace("[", "").replace("]", ""))
    command: click.Command = PROGRAMS[words.pop(0)]
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    assert not isinstance(command, click.Group) or not words, f"no command {words[0]}"
    options, rest, _ = command.make_parser(click.Context(command)).parse_args(words)
    assert not rest, f"too many arguments: {rest}"
    return command, options


@pytest.mark.parametrize(("document", "line"), LINES)
def test_the_command_exists_with_its_options(document: str, line: str) -> None:
    parsed(line)


@pytest.mark.parametrize(
    "document", ["commands", "hospital", "provider", "tutorial-hospital", "tutorial-provider", "air-gapped"]
)
def test_what_is_to_be_typed_lacks_nothing(document: str) -> None:
    path = ROOT / "docs" / f"{document}.md"
    blocks = "".join(re.findall(r"^```\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))
    for line in [line for line in shown(path) if line in blocks]:
        command, given = parsed(line)
        missing = [param.name for param in command.params if param.required and given.get(param.name or "") is None]
        assert not missing, f"{line}: {missing}"


def name_of(line: str) -> str:
    """Program and command of a line, without what it takes."""
    words = line.replace("[", "").split()
    command: click.Command = PROGRAMS[words[0]]
    for place, word in enumerate(words[1:], start=1):
        if not isinstance(command, click.Group) or word not in command.commands:
            return " ".join(words[:place])
        command = command.commands[word]
    return " ".join(words)


def test_a_walk_runs_every_command_that_the_documentation_shows() -> None:
    scripts = "".join(path.read_text(encoding="utf-8") for path in WALKS.glob("*.sh"))
    run = {name_of(line) for line in re.findall(r"\b(?:aggregator|site-client) [a-z].*", scripts)}
    assert {name_of(line) for _, line in LINES} - run == {DEMONSTRATION}


def commands(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    for word, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{name}{word} ")
        else:
            yield f"{name}{word}", command


def test_every_command_has_json_but_those_that_the_readme_names() -> None:
    found = [pair for program in PROGRAMS.values() for pair in commands(program)]
    without = {name for name, command in found if "as_json" not in {param.name for param in command.params}}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (named,) = re.findall(r"`--json` \(all but ([^)]+)\)", text)
    assert without == set(re.findall(r"`([^`]+)`", named))


def test_a_command_that_is_not_there_is_noticed() -> None:
    for line in ("site-client fly", "site-client enrol --nothing", "site-client ledger verify too many"):
        with pytest.raises((AssertionError, click.UsageError)):
            parsed(line)

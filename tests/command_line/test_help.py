"""The help of both programs: in the order of use, grouped, no sentence cut; completion in shells; colours where they are wanted."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

import aggregator.commands.cli
import command_line.progress
import site_client.commands.cli
from command_line.commands import Listing
from command_line.progress import progress_bar

PROGRAMS = {"aggregator": aggregator.commands.cli.main, "site-client": site_client.commands.cli.main}
COLOUR = re.compile(r"\x1b\[(?:\d+;)*3[0-9]")


def groups(name: str, group: click.Group) -> Iterator[tuple[str, click.Group]]:
    yield name, group
    for word, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from groups(f"{name} {word}", command)


GROUPS = [pair for name, program in PROGRAMS.items() for pair in groups(name, program)]


def help_of(name: str) -> str:
    program, *words = name.split()
    return CliRunner().invoke(PROGRAMS[program], [*words, "--help"], terminal_width=80).stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_command_stands_in_one_section(name: str) -> None:
    program = PROGRAMS[name]
    assert isinstance(program, Listing)
    listed = [command for _, commands in program.sections for command in commands]
    assert sorted(listed) == sorted(program.commands)
    assert "Commands:" not in help_of(name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_help_lists_commands_in_the_order_of_use(name: str) -> None:
    sections = PROGRAMS[name].sections
    expected = [word for title, commands in sections for word in (f"{title}:\n", *(f"  {one}  " for one in commands))]
    text = help_of(name)
    places = [re.search(rf"^{re.escape(word)}", text, re.MULTILINE) for word in expected]
    found = [place.start() for place in places if place is not None]
    assert len(found) == len(expected)
    assert found == sorted(found)


def test_a_command_that_is_in_no_section_is_shown_all_the_same() -> None:
    group = Listing("program", sections=(("First", ("b",)),))
    for word in ("a", "b"):
        group.add_command(click.Command(word, help="Says. More."))
    text = CliRunner().invoke(group, ["--help"]).stdout
    assert text.index("First:\n  b  Says.\n") < text.index("Commands:\n  a  Says.\n")


@pytest.mark.parametrize(("name", "group"), GROUPS, ids=[name for name, _ in GROUPS])
def test_no_sentence_is_cut(name: str, group: click.Group) -> None:
    assert isinstance(group, Listing)
    text = " ".join(help_of(name).replace("[ARGS]...", "").split())
    assert "..." not in text
    for word, command in group.commands.items():
        whole = " ".join((command.help or "").split())
        shown = re.findall(rf"(?= {word} ([^.]+)\.)", text)
        # Up to where its first sentence, or the first part of it, ends.
        assert any(re.match(rf"{re.escape(one)}[.;:]", whole) for one in shown), (shown, whole)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell: str) -> None:
    for name, program in PROGRAMS.items():
        variable = f"_{name.replace('-', '_').upper()}_COMPLETE"
        script = CliRunner().invoke(program, [], prog_name=name, env={variable: f"{shell}_source"})
        assert (script.exit_code, name in script.stdout) == (0, True)
    words = {"COMP_WORDS": "aggregator train-", "COMP_CWORD": "1" if shell != "fish" else "train-"}
    env = {**words, "_AGGREGATOR_COMPLETE": f"{shell}_complete"}
    found = CliRunner().invoke(PROGRAMS["aggregator"], [], prog_name="aggregator", env=env).stdout
    for command in ("train-embeddings", "train-repr", "train-head"):
        assert command in found
    assert "audit" not in found.replace("train-", "")[:6]


@pytest.mark.parametrize(("name", "coloured"), [("NO_COLOR", False), ("ANYTHING", True)])
def test_colours_are_left_out_where_they_are_not_wanted(
    name: str, coloured: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for other in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv(name, "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(command_line.progress, "_PATIENCE_S", -1.0)
    with progress_bar() as bar:
        bar("tokens", 1, 2)
        bar.watch("head (1 of 3)", 0.25, 240.0)
    shown = capsys.readouterr().err
    assert "head (1 of 3)" in shown
    assert "25%" in shown
    assert "about 4 min left" in shown
    assert bool(COLOUR.search(shown)) is coloured

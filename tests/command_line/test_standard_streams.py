"""A command whose standard input, output or error is closed or full does its work, and its exit code says what became of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.loop import Loop

CLOSED = ("<&-", ">&-", "2>&-", "<&- >&- 2>&-")
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")


def ended(streams: str, *words: object) -> subprocess.CompletedProcess[str]:
    """How `site-client` ends that a shell starts with such streams."""
    command = ("sh", "-c", f'exec "$0" "$@" {streams}', sys.executable, "-P", "-m", "site_client", *map(str, words))
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("streams", CLOSED)
def test_what_is_closed_ends_no_command(streams: str, built_loop: Loop, tmp_path: Path) -> None:
    out = tmp_path / "labels.toml"
    found = ended(streams, "labels", built_loop.notes("north"), "--out", out, "--workspace", built_loop.site("north"))
    assert (found.returncode, found.stderr) == (0, "")
    assert out.stat().st_size


@pytest.mark.parametrize("streams", CLOSED)
def test_a_passphrase_is_asked_for_at_no_closed_terminal(streams: str, built_loop: Loop) -> None:
    assert ended(streams, "keys", "protect", "--workspace", built_loop.site("north")).returncode == 17


def test_no_file_takes_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    """Else what a library, or a process that is started, says would end in a file of notes."""
    program = (
        "import click, subprocess, sys; from command_line.commands import Program\n"
        "@click.group(cls=Program)\n"
        "def main(): pass\n"
        "@main.command()\n"
        "def work():\n"
        f"    with open({str(tmp_path / 'notes')!r}, 'w') as file:\n"
        "        subprocess.run(['sh', '-c', 'echo said >&2'], check=True, close_fds=False)\n"
        "main(['work'])\n"
    )
    command = ("sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', sys.executable, "-c", program)
    assert subprocess.run(command, check=False).returncode == 0
    assert (tmp_path / "notes").read_text() == ""


@FULL
@pytest.mark.parametrize("streams", [">/dev/full", "2>/dev/full", ">/dev/full 2>&1"])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_error_that_nobody_can_be_told_has_its_code(streams: str, form: tuple[str, ...], tmp_path: Path) -> None:
    found = ended(streams, "policy", "show", "--workspace", tmp_path / "nowhere", *form)
    assert found.returncode == 30
    assert "Traceback" not in found.stderr


@FULL
@pytest.mark.parametrize("words", [("--help",), ("policy", "--help"), ("--version",)])
def test_help_that_finds_no_room_ends_in_one_line(words: tuple[str, ...]) -> None:
    found = ended(">/dev/full", *words)
    assert found.returncode == 8
    assert found.stderr.startswith("error: ")
    assert found.stderr.count("\n") == 1

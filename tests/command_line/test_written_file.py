"""A slip of a name costs no file: only what a command has written itself is replaced."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from command_line.written_file import NewFile, page_file


@click.command()
@click.option("--page", type=page_file)
def show(page: Path) -> None:
    """Writes."""
    page.write_text("<!doctype html>new")


@click.command()
@click.option("--page", type=NewFile())
def show_once(page: Path) -> None:
    """Writes."""
    page.write_text("<!doctype html>new")


def code(page: Path) -> int:
    return CliRunner().invoke(show, ["--page", str(page)]).exit_code


def test_a_page_is_written_and_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert [code(page), code(page)] == [0, 0]


@pytest.mark.parametrize("there", [b"", b"{}", b"Jane Doe was seen", b"<!DOCTYPE html>of another program"])
def test_another_file_is_left_alone(there: bytes, tmp_path: Path) -> None:
    page = tmp_path / "ledger.jsonl"
    page.write_bytes(there)
    assert code(page) == 2
    assert page.read_bytes() == there


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert code(tmp_path / "pipe") == 2


def test_what_people_correct_is_never_replaced(tmp_path: Path) -> None:
    def code_once(page: Path) -> int:
        return CliRunner().invoke(show_once, ["--page", str(page)]).exit_code

    (tmp_path / "link").symlink_to("nowhere")
    assert [code_once(tmp_path / name) for name in ("page.html", "page.html", "link")] == [0, 2, 2]

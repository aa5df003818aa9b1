"""What a command says commands no terminal, wherever its words come from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line.commands import report, say, warn
from tests.loop import Loop, done, hospital, values

ESCAPES = "\x1b]0;owned\x07\x9b2J\u202e"


def test_attack_no_line_of_a_report_commands_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    report({"column": ESCAPES}, [f"beside it: {ESCAPES}", "two\nlines"], as_json=False)
    report({"column": ESCAPES}, [], as_json=True)
    say(ESCAPES)
    say(ESCAPES, err=True)
    warn(ESCAPES)
    told = capsys.readouterr()
    lines = told.out.split("\n")
    assert lines[1:3] == ["two", "lines"]
    assert json.loads(lines[3]) == {"column": ESCAPES}
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(told.out + told.err)


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_attack_no_name_of_a_column_commands_the_terminal(format_: str, built_loop: Loop, tmp_path: Path) -> None:
    column, table = f"{ESCAPES}\n0 spans are left", tmp_path / f"notes.{format_}"
    if format_ == "csv":
        table.write_text(f'id,"{column.replace(chr(10), "")}",text\na1,x,Seen today.\n', encoding="utf-8")
    else:
        pq.write_table(pa.table({"id": ["a1"], column: ["x"], "text": ["Seen today."]}), table)
    command = ("deid", table, "--text-column", "text", "--workspace", built_loop.site("fourth"))
    said = done(hospital(*command, "--out", tmp_path / "safe"))
    assert "owned" in said.output
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said.output)
    assert not any(line.startswith("0 spans are left") for line in said.output.split("\n"))
    assert any(
        "owned" in name for name in values(hospital(*command, "--out", tmp_path / "again", "--json"))["untouched"]
    )


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "iso8859-15", "ascii:strict", "cp1252"])
def test_json_is_utf_8_whatever_the_terminal_is_set_to(encoding: str, tmp_path: Path) -> None:
    name = "Núñez №5 东 😀"
    command = (sys.executable, "-P", "-m", "site_client", "check", tmp_path / name, "--json")
    found = subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "20"}
    )
    assert found.returncode == 2
    assert name in json.loads(found.stdout.decode("utf-8"))["error"]
    assert found.stderr.count(b"\n") == 1
    assert b"Traceback" not in found.stderr

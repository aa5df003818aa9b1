"""What people type and hand over by mistake: one plain line each, two at most, a documented code, and nothing left behind.

A row is a command line, its exit code, and what the line must say. `{name}` stands for a place of the small world below.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.loop import Loop, hospital, provider
from tests.test_exit_codes import TABLE

HEX = "0001-0203-0405-0607-0809-0a0b-0c0d-0e0f"
SPOKEN = "babad-bamag-bibaj-bimal-boban-bomar-bubat-bumaz"

# No regular expression and no name of a class belongs into a message to a person.
PROGRAMMER = re.compile(
    r"\[\^|\[0-9|\[a-z|\\[dwsx]|\(\?|<class|\b(?!DocumentReference|DiagnosticReport|OperationOutcome|WebAnno)[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|\b[A-Za-z]+Error\b|\bNone\b"
)

# command line, exit code, what its line says.
ROWS: list[tuple[str, int, str]] = [
    # A fingerprint that nobody can have said, and one that is another.
    (f"site-client pull {{releases}} --fingerprint {HEX[:-1]} --workspace {{bare}}", 2, "31 digits"),
    (f"site-client pull {{releases}} --fingerprint {HEX[:-1]}g --workspace {{bare}}", 2, "mistyped"),
    (f"site-client pull {{releases}} --fingerprint {HEX}-0e0f --workspace {{bare}}", 2, "36 digits"),
    (f"site-client pull {{releases}} --fingerprint {SPOKEN[:-1]} --workspace {{bare}}", 2, "39 letters"),
    (f"site-client pull {{releases}} --fingerprint {SPOKEN[:-1]}e --workspace {{bare}}", 2, "group 8"),
    ("site-client pull {releases} --fingerprint '' --workspace {bare}", 2, "0 digits"),
    (f"site-client pull {{releases}} --fingerprint {HEX} --workspace {{bare}}", 30, "another one"),
    (f"site-client pull {{releases}} --fingerprint '{HEX.upper()}' --workspace {{bare}}", 30, "another one"),
    (f"site-client pull {{releases}} --fingerprint {SPOKEN} --workspace {{bare}}", 30, "another one"),
    ("site-client pull {releases} --workspace {bare}", 30, "--fingerprint"),
    (f"aggregator site add {{request}} --fingerprint {HEX[1:]} --workspace {{provider}}", 2, "31 digits"),
    (f"aggregator site add {{request}} --fingerprint {HEX} --workspace {{provider}}", 21, "another"),
    (
        f"aggregator site add {{request}} --fingerprint '{SPOKEN.replace('-', ' ')}' --workspace {{provider}}",
        21,
        "another",
    ),
    ("site-client release-code --compare zzz --workspace {north}", 2, "mistyped"),
    (f"site-client release-code --compare {SPOKEN} --workspace {{north}}", 36, "another one"),
]


@pytest.fixture(scope="module")
def world(built_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The places that rows name; nobody may change anything in them."""
    root = tmp_path_factory.mktemp("world")
    bare = root / "bare"
    assert hospital("init", bare, "--site", "bare").exit_code == 0
    request = root / "bare.request.json"
    assert hospital("enrol", "--out", request, "--workspace", bare).exit_code == 0
    return {
        "root": root,
        "bare": bare,
        "request": request,
        "north": built_loop.site("north"),
        "fourth": built_loop.site("fourth"),
        "provider": built_loop.provider,
        "releases": built_loop.releases,
    }


def traces(*folders: Path) -> dict[str, tuple[int, int]]:
    """Every file and folder below, with its size and when it was changed, but for what an open database keeps beside it."""
    return {
        str(path): (path.stat().st_size, path.stat().st_mtime_ns)
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


@pytest.mark.parametrize(("line", "code", "says"), ROWS, ids=[line for line, _, _ in ROWS])
def test_one_plain_line_its_code_and_nothing_left(
    line: str, code: int, says: str, world: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # A workspace that the environment names would take part.
    monkeypatch.delenv("DEID_COMMONS_SITE", raising=False)
    watched = {world["root"], world["north"], world["fourth"], world["provider"]}
    before = traces(*watched)
    program, *words = [word.format(**world) for word in shlex.split(line)]
    result = {"site-client": hospital, "aggregator": provider}[program](*words)
    assert result.exit_code == code, (result.output, result.exception)
    assert code in TABLE
    errors = result.stderr.splitlines()
    assert errors
    assert len(errors) <= 2
    assert errors[-1].startswith("error: ")
    assert says in result.stderr
    assert "Traceback" not in result.output
    plain = result.stderr
    for place in sorted(map(str, world.values()), key=len, reverse=True):
        plain = plain.replace(place, "")
    assert not PROGRAMMER.search(plain), PROGRAMMER.search(plain)
    assert traces(*watched) == before
    assert not os.listdir(tmp_path)

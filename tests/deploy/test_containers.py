"""The container files: what a linter says, what they promise, and every one of their commands, run on this machine."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "deploy" / "containers").glob("*.Containerfile"))
BIN = Path(sys.executable).parent
Step = tuple[str, str]

each = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def steps(path: Path) -> list[Step]:
    """Instructions and what stands behind them."""
    text = re.sub(r"\\\n\s*", "", path.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def said(path: Path, word: str) -> list[str]:
    return [rest for name, rest in steps(path) if name == word]


@each
def test_the_linter_has_nothing_to_say(path: Path) -> None:
    done = subprocess.run([BIN / "hadolint", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_linter_notices() -> None:
    done = subprocess.run(
        [BIN / "hadolint", "-"], input="FROM python\nRUN cd /\n", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1


def test_both_programs_have_one() -> None:
    assert [path.stem for path in FILES] == ["aggregator", "site-client"]


@each
def test_every_stage_stands_on_one_image_by_its_digest(path: Path) -> None:
    bases = {base.partition(" AS ")[0] for base in said(path, "FROM")}
    assert len(bases) == 1
    assert re.fullmatch(r"docker\.io/library/python:3\.11\.\d+-slim-bookworm@sha256:[0-9a-f]{64}", bases.pop())


@each
def test_it_runs_as_nobody_in_particular_and_copies_nothing_of_the_checkout(path: Path) -> None:
    (user,) = said(path, "USER")
    assert min(map(int, user.split(":"))) >= 10_000
    assert said(path, "COPY") == ["build/wheelhouse /wheelhouse", "--from=build /opt/deid-commons /opt/deid-commons"]
    assert not said(path, "ADD")
    assert shlex.split(said(path, "ENTRYPOINT")[0].strip('["]')) == [path.stem]


@each
def test_a_new_volume_belongs_to_whom_it_runs_as(path: Path) -> None:
    (made,) = [line for line in said(path, "RUN") if line.startswith("install -d")]
    user, group = said(path, "USER")[0].split(":")
    assert f"-o {user} -g {group} {said(path, 'WORKDIR')[0]}" in made


@each
def test_every_command_of_it_runs_here_without_a_network(path: Path, wheelhouse: Path, tmp_path: Path) -> None:
    """In the order of the file, with folders of its own in the place of the image's; then the entry point, as it is named."""
    places = {
        "/wheelhouse": str(wheelhouse),
        "/opt/deid-commons": str(tmp_path / "opt"),
        "/etc/passwd": str(tmp_path / "passwd"),
        "/srv/": f"{tmp_path}/srv/",
        # Nobody but root gives a folder away.
        **{f"-o {number} -g {number} ": "" for number in (10001, 10002)},
    }
    environment = {
        "PATH": f"{BIN}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PIP_INDEX_URL": "http://127.0.0.1:9/",
        "PIP_NO_INDEX": "1",
        # Most of what an installation costs; nothing here runs twice.
        "PIP_NO_COMPILE": "1",
    }
    for line in said(path, "RUN"):
        for old, new in places.items():
            line = line.replace(old, new)
        done = subprocess.run(["sh", "-ec", line], capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, (line, done.stderr)
    (name,) = shlex.split(said(path, "ENTRYPOINT")[0].strip('["]'))
    assert re.fullmatch(r"deid:x:\d+:\d+::/tmp:/usr/sbin/nologin\n", (tmp_path / "passwd").read_text())
    shown = subprocess.run(
        [tmp_path / "opt" / "bin" / name, "--help"],
        capture_output=True,
        text=True,
        env={"PATH": os.defpath},
        check=True,
    )
    assert shown.stdout.startswith(f"Usage: {name}")

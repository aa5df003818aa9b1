"""The bench of speed runs the hospital's own command: the words that it passes are words that the command knows."""

from __future__ import annotations

from pathlib import Path

from bench.generalise.speed import deid_arguments
from site_client.commands.workbench.deid import deid


def test_deid_takes_what_the_bench_passes(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    name, *arguments = deid_arguments(tmp_path / "notes", tmp_path / "out", tmp_path / "user", 2)
    taken = deid.make_context(name, arguments).params
    assert taken["out"] == tmp_path / "out"
    assert (taken["jobs"], taken["mode"], taken["root"]) == (2, "tag", tmp_path / "user")

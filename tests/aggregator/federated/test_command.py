"""`aggregator federate`: the two ways that it goes, and options of one that do nothing in the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loop import provider, refused


@pytest.mark.parametrize(
    "words",
    [("--port", "9000"), ("--timeout", "60"), ("--nodes", "."), ("--ca", __file__), ("--key", __file__)],
)
def test_what_only_hospitals_need_is_refused_in_a_simulation(words: tuple[str, ...]) -> None:
    refused(provider("federate", "--simulate", *words), 2, f"expected {words[0]} without --simulate")


@pytest.mark.parametrize("words", [("--site", "north"), ("--no-public",), ("--influence", "none")])
def test_what_only_a_simulation_can_do_is_refused_with_hospitals(words: tuple[str, ...]) -> None:
    refused(provider("federate", *words), 2, "only with --simulate")


def test_without_either_way_it_is_said_what_is_asked_for(tmp_path: Path) -> None:
    provider("init", tmp_path / "provider")
    words = ("--workspace", tmp_path / "provider")
    refused(provider("federate", *words), 2, "--nodes, --certificate, --key and --ca")


def test_a_folder_without_keys_lets_nobody_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("command_line.flower.find_spec", lambda name: object())
    provider("init", tmp_path / "provider")
    (tmp_path / "nodes").mkdir()
    words = ("--certificate", __file__, "--key", __file__, "--ca", __file__, "--workspace", tmp_path / "provider")
    refused(provider("federate", "--nodes", tmp_path / "nodes", *words), 2, "NAME.pub")

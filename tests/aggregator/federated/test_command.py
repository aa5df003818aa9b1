"""`aggregator federate`: the two ways that it goes, and options of one that do nothing in the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from aggregator.commands.federate import line_of
from aggregator.federated.connection import Connection
from bench.exchange.certificates import make_certificates
from foundation.errors import StorageError
from shared.errors import ConfigurationError
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


def test_a_key_of_the_link_that_others_can_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("command_line.flower.find_spec", lambda name: object())
    tls, node = make_certificates(tmp_path / "tls", "localhost"), tmp_path / "nodes" / "north.pub"
    node.parent.mkdir()
    node.write_text("a key")
    provider("init", tmp_path / "provider")
    tls.key.chmod(0o644)
    words = (
        "--certificate",
        tls.certificate,
        "--key",
        tls.key,
        "--ca",
        tls.authority,
        "--workspace",
        tmp_path / "provider",
    )
    refused(provider("federate", "--nodes", node.parent, *words), 8, f"chmod 600 {tls.key.name}")


def test_the_key_of_the_link_is_held_to_what_that_of_the_server_is(tmp_path: Path) -> None:
    tls = make_certificates(tmp_path, "localhost")
    nodes = (tmp_path / "north.pub",)
    for rights in (0o600, 0o640, 0o400):
        tls.key.chmod(rights)
        assert Connection(9092, tls.certificate, tls.key, tls.authority, nodes).key == tls.key
    for rights in (0o604, 0o620, 0o644):
        tls.key.chmod(rights)
        with pytest.raises(StorageError, match="received wider rights"):
            Connection(9092, tls.certificate, tls.key, tls.authority, nodes)
    tls.key.chmod(0o600)
    with pytest.raises(ConfigurationError, match="a certificate and its private key"):
        Connection(9092, tls.authority, tls.key, tls.authority, nodes)


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (True, "2 rounds by median; 6.0 MB to and from each site in all tries of them, and 1.0 MB to measure"),
        (False, "2 rounds by median; 6.0 MB to and from each site in all tries of them"),
    ],
)
def test_what_goes_to_and_from_a_site_is_told_with_what_it_measures(measured: bool, said: str) -> None:
    rounds = [{"bytes_each": 4_000_000}, {"bytes_each": 2_000_000}]
    told = {"plan": {"strategy": "median"}, "rounds": rounds, "measuring_bytes_each": 1_000_048}
    assert line_of(told, measured=measured) == said

"""The commands around the release repository, as a person types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from aggregator.workspace import open_workspace
from tests.loop import done, provider, refused, snapshot, values


@pytest.fixture
def root(tmp_path: Path) -> Path:
    done(provider("init", tmp_path / "provider", "--name", "north"))
    return tmp_path / "provider"


def test_init_says_what_sites_compare_and_where_the_keys_are(tmp_path: Path) -> None:
    made = values(provider("init", tmp_path / "provider", "--json"))
    fingerprint = open_workspace(tmp_path / "provider").repository().fingerprint
    assert (made["fingerprint"], made["spoken"]) == (fingerprint.key_id, fingerprint.spoken)
    assert "export-offline" in done(provider("init", tmp_path / "second")).stdout
    sticks = [option for number in (1, 2, 3) for option in ("--offline-keys", tmp_path / f"stick{number}")]
    assert "export-offline" not in done(provider("init", tmp_path / "third", *sticks)).stdout
    assert [len(list((tmp_path / f"stick{number}").iterdir())) for number in (1, 2, 3)] == [2, 2, 2]


def test_keys_go_to_three_people_and_are_rotated_by_them(root: Path, tmp_path: Path) -> None:
    at = ("--workspace", root)
    sticks = [tmp_path / f"stick{number}" for number in (1, 2, 3)]
    for number, stick in enumerate(sticks, start=1):
        assert len(values(provider("keys", "export-offline", stick, "--holder", number, "--json", *at))["moved"]) == 2
    rows = values(provider("keys", "list", "--json", *at))["keys"]
    assert [row["role"] for row in rows if row["file"] is not None] == ["snapshot", "timestamp"]
    before = snapshot(root)
    refused(provider("keys", "rotate", "--role", "timestamp", *at), 20, "role root", "--offline-keys")
    refused(provider("announce", "--server", "https://deid.example.org", *at), 20, "role targets", "--offline-keys")
    assert snapshot(root) == before
    given = [option for stick in sticks for option in ("--offline-keys", stick)]
    assert values(provider("keys", "rotate", "--role", "root", "--role", "targets", "--json", *given, *at))["root"] == 2
    renewed = values(provider("keys", "list", "--json", *given, *at))["keys"]
    assert [row["key"] == old["key"] for row, old in zip(renewed, rows, strict=True)] == [False] * 6 + [True] * 2
    assert all(row["file"] for row in renewed)


def test_a_server_is_announced(root: Path) -> None:
    said = values(provider("announce", "--server", "https://deid.example.org", "--json", "--workspace", root))
    assert said["server"] == "https://deid.example.org"
    refused(provider("announce", "--server", "http://deid.example.org", "--workspace", root), 10, "https")


def test_a_renewal_says_until_when(root: Path) -> None:
    before = open_workspace(root).repository().expiries()
    said = done(provider("renew", "--workspace", root)).stdout
    assert all(role in said for role in before)
    assert "before" in said
    assert set(values(provider("renew", "--json", "--workspace", root))["expires"]) == set(before)


def test_a_file_in_the_way_of_a_key_stays(root: Path, tmp_path: Path) -> None:
    name = sorted(path.name for path in (root / "keys" / "offline").iterdir())[0]
    (tmp_path / "stick").mkdir()
    (tmp_path / "stick" / name).write_text("mine")
    before = snapshot(root)
    refused(provider("keys", "export-offline", tmp_path / "stick", "--workspace", root), 8, name)
    assert snapshot(root) == before
    assert (tmp_path / "stick" / name).read_text() == "mine"

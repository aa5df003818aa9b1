"""The site's secret for noise: made once, kept, never shown, never replaced."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from site_client.errors import WorkspaceError
from site_client.noise_secret import make_noise_secret, noise_secret
from site_client.workspace import create, open_workspace


def test_a_new_workspace_has_one_that_only_its_owner_reads(tmp_path: Path) -> None:
    made = create(tmp_path, "st-anne")
    path = tmp_path / "keys" / "noise.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes() == made.noise_secret() == open_workspace(tmp_path).noise_secret()
    assert len(made.noise_secret()) == 32
    assert sorted(entry.name for entry in (tmp_path / "keys").iterdir()) == sorted(
        ["noise.key", "notes.key", f"{made.key_in_use.key_id}.pem"]
    )


def test_an_older_workspace_that_never_shared_gets_one_on_first_use(tmp_path: Path) -> None:
    create(tmp_path, "st-anne")
    (tmp_path / "keys" / "noise.key").unlink()
    opened = open_workspace(tmp_path)
    assert opened.noise_secret() == opened.noise_secret()


def test_a_lost_one_is_never_made_anew_unasked(tmp_path: Path) -> None:
    used, _ = create(tmp_path, "st-anne").next_sequence()
    used.noise_key.unlink()
    with pytest.raises(WorkspaceError, match="backup"):
        used.noise_secret()
    assert not used.noise_key.exists()


def test_no_two_sites_have_the_same(tmp_path: Path) -> None:
    assert create(tmp_path / "a", "st-anne").noise_secret() != create(tmp_path / "b", "st-anne").noise_secret()


def test_of_many_that_make_it_at_once_all_get_the_same(tmp_path: Path) -> None:
    found: list[bytes] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        make_noise_secret(tmp_path / "noise.key")
        found.append(noise_secret(tmp_path / "noise.key"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["noise.key"]


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_damaged_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "noise.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(WorkspaceError, match="32 bytes"):
        noise_secret(path)
    assert path.read_bytes() == content


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    make_noise_secret(tmp_path / "noise.key")
    (tmp_path / "noise.key").chmod(0o640)
    with pytest.raises(WorkspaceError, match="chmod 600"):
        noise_secret(tmp_path / "noise.key")

"""The provider's folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aggregator.errors import WorkspaceError
from aggregator.registry import audit_log
from aggregator.workspace import create, open_workspace
from foundation.secret_files import SECRET_BYTES


def test_what_is_saved_is_opened(tmp_path: Path) -> None:
    made = create(tmp_path, "north", "meddocan")
    assert open_workspace(tmp_path) == made


def test_private_keys_are_for_their_owner_only(tmp_path: Path) -> None:
    create(tmp_path, "north", "meddocan")
    keys = list(tmp_path.rglob("*.pem"))
    assert len(keys) > 2
    assert all(path.stat().st_mode & 0o077 == 0 for path in keys)
    assert (tmp_path / "keys").stat().st_mode & 0o077 == 0


def test_whoever_copies_the_keys_of_a_new_workspace_has_all_of_them(tmp_path: Path) -> None:
    secret = create(tmp_path, "north", "meddocan").overlap_secret
    assert len(secret.read_bytes()) == SECRET_BYTES
    assert secret.stat().st_mode & 0o077 == 0


def test_it_may_be_moved(tmp_path: Path) -> None:
    made = create(tmp_path / "here", "north", "meddocan")
    made.registry().close()
    shutil.move(tmp_path / "here", tmp_path / "there")
    moved = open_workspace(tmp_path / "there")
    with moved.registry().reading() as session:
        assert audit_log.verify(session) == 1


def test_there_is_none_above_another(tmp_path: Path) -> None:
    create(tmp_path, "north", "meddocan")
    with pytest.raises(WorkspaceError, match="found a workspace"):
        create(tmp_path, "south", "meddocan")

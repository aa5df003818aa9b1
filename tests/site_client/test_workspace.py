from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocols.errors import DigestError
from site_client.errors import WorkspaceError
from site_client.workspace import create, open_workspace
from tests.loop import Loop


def test_what_is_saved_is_opened(tmp_path: Path) -> None:
    made = create(tmp_path, "st-anne")
    assert open_workspace(tmp_path) == made
    numbered, number = made.next_sequence()
    assert number == 1
    assert open_workspace(tmp_path) == numbered
    assert (tmp_path / "keys").stat().st_mode & 0o077 == 0
    assert made.private_key(made.key_in_use.key_id).stat().st_mode & 0o077 == 0


def test_no_number_is_given_twice_even_if_the_share_fails(tmp_path: Path) -> None:
    create(tmp_path, "st-anne")
    assert [open_workspace(tmp_path).next_sequence()[1] for _ in range(3)] == [1, 2, 3]


def test_a_release_outside_the_workspace_is_not_used(loop: Loop) -> None:
    settings = loop.site("north") / "site.json"
    stated = json.loads(settings.read_text())
    for release in ("release", "pipeline"):
        for folder in ("../../provider/representer", "../../provider/0001-representer", ""):
            other = {"folder": folder, "digest": stated["release"]["digest"]}
            settings.write_text(json.dumps(stated | {release: other}))
            with pytest.raises(WorkspaceError, match="restore the file"):
                open_workspace(loop.site("north"))


def test_the_release_in_use_is_verified_anew(loop: Loop) -> None:
    opened = open_workspace(loop.site("north"))
    folder = opened.release().folder
    (folder / "scheme.json").write_bytes((folder / "scheme.json").read_bytes()[:-1] + b" ")
    with pytest.raises(DigestError):
        opened.release()


def test_without_a_release_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="site-client pull"):
        create(tmp_path, "st-anne").release()


def test_numbers_of_shares_that_are_made_at_once_differ(tmp_path: Path) -> None:
    early = create(tmp_path, "st-anne")
    assert [early.next_sequence()[1], early.next_sequence()[1], open_workspace(tmp_path).sequence] == [1, 2, 2]

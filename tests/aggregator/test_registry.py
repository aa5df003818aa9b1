"""Releases and the provider's folder, where a command line is not needed to see what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from aggregator import releases
from aggregator.errors import WorkspaceError
from aggregator.workspace import create, open_workspace
from tests.loop import Loop, snapshot


def test_what_is_saved_is_opened(tmp_path: Path) -> None:
    made = create(tmp_path, "north", "meddocan")
    assert open_workspace(tmp_path) == made
    assert made.key().public_key.hex == made.public_key.read_text().strip()
    assert made.private_key.stat().st_mode & 0o077 == 0


def test_releases_are_numbered_and_verified(loop: Loop) -> None:
    opened = open_workspace(loop.provider)
    releases.publish_representer(opened)
    found = releases.releases(opened)
    assert [(one.manifest.sequence, one.manifest.kind) for one in found] == [
        (1, "representer"), (2, "pipeline"), (3, "representer"),
    ]  # fmt: skip
    assert set(releases.compatible_releases(opened)) == {one.digest for one in found}


@pytest.mark.parametrize("text", ["", "[]", "{}"])
def test_a_damaged_record_of_the_head_is_no_release(text: str, loop: Loop) -> None:
    opened = open_workspace(loop.provider)
    (opened.head / "training.json").write_text(text)
    before = snapshot(opened.root)
    with pytest.raises(WorkspaceError, match="train-head"):
        releases.publish_pipeline(opened)
    assert snapshot(opened.root) == before

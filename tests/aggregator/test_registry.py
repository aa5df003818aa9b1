"""Sites, shares, releases and the provider's folder, where a command line is not needed to see what they do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aggregator import releases, shares, sites
from aggregator.errors import RegistryError, WorkspaceError
from aggregator.workspace import create, open_workspace
from protocols.errors import DigestError
from protocols.share import manifest_path
from tests.loop import Loop, snapshot
from tests.loop import share as encode_and_submit


def test_what_is_saved_is_opened(tmp_path: Path) -> None:
    made = create(tmp_path, "north", "meddocan")
    assert open_workspace(tmp_path) == made
    assert made.key().public_key.hex == made.public_key.read_text().strip()
    assert made.private_key.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["[]", "", "{", '"north"'])
def test_a_damaged_list_of_revoked_sites_lets_nobody_in(text: str, loop: Loop) -> None:
    opened = open_workspace(loop.provider)
    sites.revoke(opened, "north", "key lost")
    (opened.sites / "revoked.json").write_text(text)
    with pytest.raises(WorkspaceError, match="revoked"):
        sites.site_keys(opened)


def test_a_request_exchanged_while_it_is_taken_in_is_refused(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_workspace(loop.provider)
    request = opened.sites / "north.request.json"
    moved = Path(shutil.move(request, loop.root / "moved.request.json"))
    fingerprint = sites.read_request(moved).fingerprint
    other = (opened.sites / "south.request.json").read_bytes()
    before = snapshot(opened.root)
    monkeypatch.setattr(sites, "read_bounded", lambda *arguments: other)
    with pytest.raises(RegistryError, match="compared"):
        sites.enrol(opened, moved, fingerprint)
    assert snapshot(opened.root) == before


def test_a_share_exchanged_while_it_is_taken_in_is_refused(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_workspace(loop.provider)
    named, other = encode_and_submit(loop, "north"), encode_and_submit(loop, "south")
    first = shares.read_manifest(named)
    monkeypatch.setattr(shares, "read_manifest", lambda path: first if path == named else read(path))
    for source, target in ((other, named), (manifest_path(other), manifest_path(named))):
        shutil.copyfile(source, target)
    before = snapshot(opened.root)
    with pytest.raises(DigestError):
        shares.ingest(opened, named)
    assert snapshot(opened.root) == before


read = shares.read_manifest


def test_a_share_is_found_by_the_start_of_its_digest(built_loop: Loop) -> None:
    opened = open_workspace(built_loop.provider)
    for share in shares.accepted_shares(opened):
        assert shares.find_share(opened, share.digest[:12]) == share
    for name in ("", "zz"):
        with pytest.raises(RegistryError, match="digest"):
            shares.find_share(opened, name)


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

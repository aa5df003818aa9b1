"""The log of releases through both programs: publish, receipts, pull, and hospitals that compare."""

from __future__ import annotations

import base64
from pathlib import Path

from protocols.log.checkpoint import LogHead, log_origin, read_checkpoint
from protocols.log.entry import ReleaseEntry
from protocols.log.tiles import read_bundle
from site_client import ledger
from site_client.release_log import HEAD
from site_client.workspace import open_workspace
from tests.loop import Loop, done, hospital, provider, values
from tests.protocols.log.naive import mth


def heads(site: Path) -> list[tuple[str, int]]:
    """Every head of the log in the ledger: the event, and how many releases there were."""
    found = [one for one in ledger.entries(open_workspace(site)) if HEAD in one.details]
    return [(one.event, LogHead.from_json(one.details[HEAD], "ledger").size) for one in found]


def code(site: Path) -> str:
    return str(values(hospital("release-code", "--workspace", site, "--json"))["code"])


def test_receipts_and_pulls_tell_of_one_log(loop: Loop, tmp_path: Path) -> None:
    north, fourth = loop.site("north"), loop.site("fourth")
    done(hospital("receipts", loop.stick, "--workspace", north))
    # The share was taken in while there was one release.
    assert heads(north) == [("release log seen", 1), ("receipt", 1)]
    assert code(north) != code(fourth)
    pulled = values(hospital("pull", loop.releases, "--workspace", north, "--json"))
    assert pulled["release_code"] == code(north) == code(fourth)
    assert heads(north)[-1] == ("release log seen", 2)
    # By hand: the published files, from the entries on.
    log = loop.releases / "log"
    entries = read_bundle((log / "tile/entries/000.p/2").read_bytes())
    assert [ReleaseEntry.from_bytes(entry).sequence for entry in entries] == [1, 2]
    assert ReleaseEntry.from_bytes(entries[1]).digest == pulled["digest"]
    origin, size, root = (log / "checkpoint").read_text(encoding="utf-8").split("\n")[:3]
    assert (origin, size) == (log_origin(loop.fingerprint), "2")
    assert base64.b64decode(root) == mth(entries)
    note = tmp_path / "fourth.checkpoint"
    done(hospital("log", "export", note, "--workspace", fourth))
    assert done(hospital("log", "compare", note, "--workspace", north)).stdout == "the same 2 releases\n"


def test_a_new_key_of_the_provider_signs_the_checkpoint_at_once(loop: Loop, tmp_path: Path) -> None:
    fourth, origin = loop.site("fourth"), log_origin(loop.fingerprint)
    done(hospital("log", "export", tmp_path / "before", "--workspace", fourth))
    done(provider("keys", "rotate", "signing", "--overlap", 0, "--workspace", loop.provider))
    done(hospital("pull", loop.releases, "--workspace", fourth))
    done(hospital("log", "export", tmp_path / "after", "--workspace", fourth))
    known = open_workspace(fourth).pinned_provider().signing_key
    before, after = (tmp_path / name for name in ("before", "after"))
    assert before.read_bytes() != after.read_bytes()
    assert before.read_bytes().split(b"\n\n")[0] == after.read_bytes().split(b"\n\n")[0]
    assert read_checkpoint(after.read_bytes(), origin, [known]).head.size == 2

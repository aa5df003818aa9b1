"""The provider's log follows its releases: whole after any crash, the same for everybody, and never another past."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from aggregator.errors import WorkspaceError
from aggregator.repository.release_log import lay_down_log, read_published_log
from aggregator.server.release_files import release_file
from protocols.log.checkpoint import CHECKPOINT, LOG, LogHead, log_origin, read_checkpoint
from protocols.log.tiles import read_bundle
from protocols.release.repository import PROVIDER
from tests.protocols.log.naive import mth
from tests.release_repositories import KEY, RECORD, LoggedPublisher, Publisher


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> LoggedPublisher:
    """With release 1; nobody may change it."""
    made = LoggedPublisher(tmp_path_factory.mktemp("published") / "provider")
    made.publish()
    return made


@pytest.fixture
def publisher(published: LoggedPublisher, tmp_path: Path) -> LoggedPublisher:
    return published.copy(tmp_path / "provider")


def expected(publisher: LoggedPublisher) -> LogHead:
    """By definition, from the releases that TUF's metadata name."""
    entries = [publisher.entry(name).to_bytes() for name in publisher.repository.release_names()]
    return LogHead(len(entries), mth(entries).hex())


def signed_head(publisher: LoggedPublisher, note: bytes) -> LogHead:
    return read_checkpoint(note, log_origin(publisher.fingerprint), [KEY.public_key]).head


def check(publisher: LoggedPublisher) -> None:
    """The published checkpoint is that of the published releases, and the files of the log lead to it."""
    head = signed_head(publisher, publisher.repository.read(CHECKPOINT))
    assert head == expected(publisher)
    names = publisher.repository.release_names()
    found = read_published_log(publisher.repository)
    assert found is not None
    assert (found.release, found.head) == (publisher.entry(names[-1]).digest, head)
    bundle = publisher.folder / LOG / "tile" / "entries" / f"000.p/{len(names)}"
    assert read_bundle(bundle.read_bytes()) == [publisher.entry(name).to_bytes() for name in names]


def test_every_publishing_extends_it(publisher: LoggedPublisher) -> None:
    check(publisher)
    for kind in ("pipeline", "representer", "pipeline"):
        publisher.publish(f'"{kind}"', kind=kind)
        check(publisher)
        # Where programs for such logs look.
        note = (publisher.folder / LOG / "checkpoint").read_bytes()
        assert note == publisher.repository.read(CHECKPOINT)
    # What an earlier checkpoint needs is still there.
    assert (publisher.folder / LOG / "tile/0/000.p/1").stat().st_size == 32
    assert not [path for path in (publisher.folder / LOG).rglob("*") if path.is_file() and not path.stat().st_mode & 4]


def test_a_repository_of_before_has_none_until_the_next_publishing(tmp_path: Path) -> None:
    old = Publisher(tmp_path / "provider")
    old.publish()
    old.publish("[2]")
    assert read_published_log(old.repository) is None
    newer = LoggedPublisher(old.root)
    newer.publish("[3]")
    check(newer)
    assert expected(newer).size == 3


class Crash(BaseException):
    """The power goes."""


def test_the_log_is_that_of_the_releases_after_a_crash_at_any_step(
    publisher: LoggedPublisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt publishes another release 2, so that a checkpoint of one that was cut would show a second past."""
    replace, steps = os.replace, 0
    for number in range(1, 100):
        left = [number]

        def counted(source: Any, target: Any, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise Crash
            replace(source, target)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", counted)
            try:
                publisher.publish(f"[{number}]")
            except Crash:
                steps += 1
            else:
                break
        names = publisher.repository.release_names()
        head = signed_head(publisher, publisher.repository.read(CHECKPOINT))
        assert head == expected(publisher)
        assert head.size == len(names)
        if len(names) == 2:
            # Only the copy of the checkpoint for other programs was left to do; the next refresh does it.
            publisher.repository.refresh(with_offline=False)
            assert (publisher.folder / CHECKPOINT).read_bytes() == publisher.repository.read(CHECKPOINT)
            publisher = publisher.copy(publisher.root.parent / "whole")
            break
    assert steps > 10
    check(publisher)
    publisher.publish("[3]")
    check(publisher)
    # No checkpoint is left of what was never out.
    notes = [path.read_bytes() for path in (publisher.folder / "targets" / LOG).iterdir()]
    assert sorted(signed_head(publisher, note).size for note in notes) == [1, 2, 3]


def test_it_is_not_signed_over_another_past(publisher: LoggedPublisher) -> None:
    publisher.publish("[2]")
    first, second = (publisher.entry(name) for name in publisher.repository.release_names())
    for entries in (
        [first],
        [second, first],
        [first, type(second)(2, "pipeline", second.digest)],
        [first, second, second],
    ):
        with pytest.raises(WorkspaceError, match="restore the folder"):
            lay_down_log(publisher.repository, entries, KEY)
    check(publisher)


def test_damaged_tiles_are_not_stated_in_receipts_and_are_laid_down_anew(publisher: LoggedPublisher) -> None:
    publisher.publish("[2]")
    for name, place in (("tile/entries/000.p/2", -20), ("tile/0/000.p/2", 0)):
        path = publisher.folder / LOG / name
        changed = bytearray(path.read_bytes())
        changed[place] ^= 1
        path.write_bytes(changed)
        with pytest.raises(WorkspaceError, match="aggregator announce"):
            read_published_log(publisher.repository)
        entries = [publisher.entry(name) for name in publisher.repository.release_names()]
        note = lay_down_log(publisher.repository, entries, KEY)
        publisher.repository.publish({PROVIDER: RECORD.to_bytes(), CHECKPOINT: note})
        check(publisher)


def test_the_server_hands_it_out(publisher: LoggedPublisher) -> None:
    for name in ("checkpoint", "tile/0/000.p/1", "tile/entries/000.p/1"):
        path = publisher.folder / LOG / name
        assert Path(release_file(publisher.folder, f"{LOG}/{name}").path) == path
    deep = publisher.folder / LOG / "tile/0/x001/x234/067.p/3"
    deep.parent.mkdir(parents=True)
    deep.write_bytes(bytes(96))
    assert Path(release_file(publisher.folder, "log/tile/0/x001/x234/067.p/3").path) == deep

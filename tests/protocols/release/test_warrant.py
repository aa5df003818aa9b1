"""What shows that a provider's offline keys have signed for a checkpoint, and everything that does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tuf.api.metadata import Root

from protocols.canonical import canonical_bytes, parse_canonical
from protocols.errors import (
    BoundsError,
    DigestError,
    ProtocolError,
    SchemaError,
    SignatureError,
    UnknownSignerError,
    VersionError,
)
from protocols.log.checkpoint import CHECKPOINT
from protocols.log.note import text_of
from protocols.release import warrant as module
from protocols.release.warrant import Warrant
from tests.release_repositories import LoggedPublisher, Publisher


def roots(publisher: Publisher) -> tuple[bytes, ...]:
    found = (publisher.folder / "metadata").glob("*.root.json")
    return tuple(path.read_bytes() for path in sorted(found, key=lambda path: int(path.name.split(".")[0])))


def warrant(publisher: Publisher) -> Warrant:
    targets = publisher.metadata("targets").read_bytes()
    return Warrant(roots(publisher), targets, publisher.repository.read(CHECKPOINT))


@pytest.fixture(scope="module")
def publisher(tmp_path_factory: pytest.TempPathFactory) -> LoggedPublisher:
    """With one release, under the third root; nobody may change it."""
    made = LoggedPublisher(tmp_path_factory.mktemp("published") / "provider")
    made.publish()
    for _ in range(2):
        made.repository.rotate(["root"])
    return made


def test_it_holds_for_whoever_has_pinned_the_first_root(publisher: LoggedPublisher) -> None:
    made = warrant(publisher)
    assert len(made.roots) == 3
    text = text_of(made.checkpoint)
    assert [made.verify(made.roots[:known]) for known in (1, 2, 3)] == [text] * 3
    assert Warrant.from_bytes(made.to_bytes()) == made


def test_an_older_one_holds_as_long_as_the_keys_of_releases_are_the_same(
    publisher: LoggedPublisher, tmp_path: Path
) -> None:
    older, later = warrant(publisher), publisher.copy(tmp_path / "later")
    later.repository.rotate(["root", "snapshot", "timestamp"])
    older.verify(roots(later))
    later.repository.rotate(["targets"])
    with pytest.raises(UnknownSignerError, match="taken back"):
        older.verify(roots(later))
    # Of a root that is no older one of ours, nothing was taken back.
    newer = warrant(later)
    newer.verify(older.roots)
    newer.verify(roots(later))


def test_roots_that_part_are_held_against_the_pinned_one(publisher: LoggedPublisher, tmp_path: Path) -> None:
    """A provider that rotates for each hospital by itself has signed for both all the same."""
    one, other = publisher.copy(tmp_path / "one"), publisher.copy(tmp_path / "other")
    for each in (one, other):
        each.repository.rotate(["targets"])
    assert roots(one)[-1] != roots(other)[-1]
    warrant(one).verify(roots(other))
    # Also where ours go on: those of the other are not the beginning of them.
    other.repository.rotate(["root"])
    warrant(one).verify(roots(other))


def test_a_root_is_signed_by_the_keys_before_and_by_its_own(publisher: LoggedPublisher, tmp_path: Path) -> None:
    known = roots(publisher)
    other = LoggedPublisher(tmp_path / "other")
    other.publish()
    other.repository.rotate(["root"])
    theirs = warrant(other)
    with pytest.raises(SignatureError, match="metadata that enough keys"):
        replace(theirs, roots=(known[0], *theirs.roots[1:])).verify(known)

    def hand_over(root: Root) -> None:
        stranger = other.repository.root()
        root.keys.update(stranger.keys)
        root.roles["root"].keyids = stranger.roles["root"].keyids

    half = publisher.copy(tmp_path / "half")
    half.forge("root", hand_over)
    with pytest.raises(SignatureError, match="metadata that enough keys"):
        replace(warrant(publisher), roots=roots(half)).verify(known)


def test_another_provider_and_other_signatures_are_refused(publisher: LoggedPublisher, tmp_path: Path) -> None:
    made = warrant(publisher)
    other = LoggedPublisher(tmp_path / "other")
    other.publish()
    theirs = warrant(other)
    with pytest.raises(SignatureError, match="pinned"):
        theirs.verify(made.roots)
    bad: list[Warrant] = [
        replace(made, targets=theirs.targets),
        replace(made, targets=made.roots[-1]),
        replace(made, targets=publisher.metadata("snapshot").read_bytes()),
        replace(made, targets=b"{}"),
        replace(made, targets=made.targets.replace(b'"version"', b'"Version"')),
        replace(made, roots=(*made.roots, theirs.roots[0])),
        replace(made, roots=(*made.roots, made.targets)),
        replace(made, roots=(made.roots[0], made.roots[2])),
        replace(made, roots=(made.roots[0], made.roots[0])),
    ]
    for one in bad:
        with pytest.raises(SignatureError, match="metadata that enough keys"):
            one.verify(made.roots)
    with pytest.raises(SignatureError, match="pinned"):
        replace(made, roots=()).verify(made.roots)


def test_two_of_the_offline_keys_have_signed(publisher: LoggedPublisher, tmp_path: Path) -> None:
    known = roots(publisher)
    thief = publisher.copy(tmp_path / "thief")
    thief.forge("targets", lambda signed: None, stolen=1)
    with pytest.raises(SignatureError):
        warrant(thief).verify(known)


def test_another_checkpoint_than_the_one_that_was_signed_for_is_refused(
    publisher: LoggedPublisher, tmp_path: Path
) -> None:
    made = warrant(publisher)
    with pytest.raises(DigestError):
        replace(made, checkpoint=made.checkpoint + b"x").verify(made.roots)
    without = Publisher(tmp_path / "without")
    without.publish()
    plain = Warrant(roots(without), without.metadata("targets").read_bytes(), made.checkpoint)
    with pytest.raises(DigestError):
        plain.verify(plain.roots)


def test_a_signed_target_that_is_no_note_is_refused(tmp_path: Path) -> None:
    odd = Publisher(tmp_path / "odd")
    odd.repository.publish({CHECKPOINT: b"no note"})
    with pytest.raises(SchemaError):
        warrant(odd).verify(roots(odd))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda value: value.update(format_version=2), VersionError),
        (lambda value: value.pop("targets"), SchemaError),
        (lambda value: value.update(more=1), SchemaError),
        (lambda value: value.update(roots="x"), SchemaError),
        (lambda value: value.update(roots=[1]), SchemaError),
        (lambda value: value.update(roots=["a"]), SchemaError),
        (lambda value: value.update(roots=["YQ=="] * 258), BoundsError),
        (lambda value: value.update(checkpoint="é"), SchemaError),
        (lambda value: value.update(targets="===="), SchemaError),
    ],
)
def test_what_is_no_warrant_is_refused(
    change: Callable[[dict[str, Any]], object], error: type[ProtocolError], publisher: LoggedPublisher
) -> None:
    value = parse_canonical(warrant(publisher).to_bytes(), max_bytes=1 << 20)
    assert isinstance(value, dict)
    change(value)
    with pytest.raises(error):
        Warrant.from_bytes(canonical_bytes(value))


def test_one_of_endless_size_is_refused(publisher: LoggedPublisher, monkeypatch: pytest.MonkeyPatch) -> None:
    data = warrant(publisher).to_bytes()
    monkeypatch.setattr(module, "MAX_WARRANT_BYTES", len(data) - 1)
    with pytest.raises(BoundsError):
        warrant(publisher).to_bytes()
    with pytest.raises(BoundsError):
        Warrant.from_bytes(data)

"""`encode` over a share that nobody has submitted yet, and what is there where it fails or is killed in the middle."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from shared.document import Document
from site_client.errors import WorkspaceError
from site_client.sharing import drafts, encode
from site_client.sharing.approval import signed_manifest
from site_client.workspace import Workspace
from tests.loop import done, hospital, refused, snapshot
from tests.site_client import sites
from tests.site_client.sharing.test_inspect_reading import MADE
from tests.tiny_notes import long_notes, write_notes

Command = tuple[object, ...]


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    return sites.site(tmp_path, MADE)


@pytest.fixture
def share(tmp_path: Path) -> Path:
    return tmp_path / "share.parquet"


@pytest.fixture
def command(site: Workspace, share: Path, tmp_path: Path) -> Command:
    notes = write_notes(tmp_path / "notes", long_notes(12, 1))
    return ("encode", notes, "--no-check", "--out", share, "--workspace", site.root)


def killed(command: Command, where: Callable[[], None]) -> None:
    """The command in a process that ends at once, without any tidying up, where what `where` patched is called."""
    child = os.fork()
    if not child:
        where()
        hospital(*command)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def die(*arguments: object, **options: object) -> None:
    os._exit(9)


def at_seal() -> None:
    vars(encode)["seal_share"] = die


def at_report() -> None:
    vars(encode)["write_report"] = die


def before_it_is_put_in_place() -> None:
    vars(encode)["put_in_place"] = die


def at_name(number: int) -> Callable[[], None]:
    """Where so many of the three files have their name."""

    def patch() -> None:
        put = os.replace
        replaced: list[Path] = []

        def counted(source: Path, place: Path) -> None:
            if Path(source).parent.name.endswith(".draft") and Path(place).parent != Path(source).parent:
                if len(replaced) == number:
                    os._exit(9)
                replaced.append(place)
            put(source, place)

        vars(drafts)["os"] = SimpleNamespace(replace=counted)

    return patch


@pytest.mark.parametrize("where", [at_seal, at_report, before_it_is_put_in_place, at_name(0)])
def test_an_encode_that_is_killed_before_leaves_the_earlier_share_whole(
    where: Callable[[], None], site: Workspace, share: Path, command: Command, tmp_path: Path
) -> None:
    done(hospital(*command))
    before = {path.name: path.read_bytes() for path in tmp_path.glob("share.*")}
    killed(command, where)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("share.*")} == before
    done(hospital("inspect", share, "--workspace", site.root))
    done(hospital(*command))
    assert len(before) == len([path for path in tmp_path.iterdir() if "share" in path.name]) == 3


@pytest.mark.parametrize("earlier", [True, False])
@pytest.mark.parametrize("number", [1, 2])
def test_an_encode_that_is_killed_between_is_said_and_the_same_command_works(
    number: int, earlier: bool, site: Workspace, share: Path, command: Command, tmp_path: Path
) -> None:
    if earlier:
        done(hospital(*command))
    killed(command, at_name(number))
    for other in (("inspect", share), ("submit", share, "--approver", "Dr X", "--to-folder", tmp_path / "stick")):
        refused(hospital(*other, "--workspace", site.root), 30, "share.parquet", "give the same `encode` again")
    done(hospital(*command))
    done(hospital("inspect", share, "--workspace", site.root))
    assert sorted(path.name for path in tmp_path.iterdir() if "share" in path.name) == [
        "share.parquet",
        "share.parquet.manifest.json",
        "share.parquet.report.json",
    ]


@pytest.mark.parametrize("number", [1, 2])
def test_an_encode_that_fails_after_one_that_was_killed_between_leaves_a_whole_share(
    number: int, site: Workspace, share: Path, command: Command, tmp_path: Path
) -> None:
    done(hospital(*command))
    killed(command, at_name(number))
    empty = write_notes(tmp_path / "unlabelled", [Document("n", "Nobody is named here .")])
    assert hospital("encode", empty, *command[2:]).exit_code
    done(hospital("inspect", share, "--workspace", site.root))
    done(hospital(*command))
    done(hospital("inspect", share, "--workspace", site.root))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), PermissionError(13, "denied")])
@pytest.mark.parametrize("number", [1, 2])
def test_an_encode_that_is_stopped_between_is_said_and_the_same_command_works(
    number: int, error: BaseException, site: Workspace, share: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it tidies up holds the one manifest there is."""
    done(hospital(*command))
    put, replaced = os.replace, 0

    def stopped(source: Path, place: Path) -> None:
        nonlocal replaced
        if Path(source).parent.name.endswith(".draft") and Path(place).parent != Path(source).parent:
            if replaced == number:
                raise error
            replaced += 1
        put(source, place)

    with monkeypatch.context() as patch:
        patch.setitem(vars(drafts), "os", SimpleNamespace(replace=stopped))
        assert hospital(*command).exit_code
    refused(hospital("inspect", share, "--workspace", site.root), 30, "give the same `encode` again")
    done(hospital(*command))
    done(hospital("inspect", share, "--workspace", site.root))


@pytest.mark.parametrize("number", [1, 2])
def test_what_completes_a_killed_encode_may_be_stopped(
    number: int, site: Workspace, share: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The payload of gigabytes is hashed for that, which takes long enough to lose patience."""

    def stopped(path: Path) -> str:
        raise KeyboardInterrupt

    done(hospital(*command))
    killed(command, at_name(number))
    with monkeypatch.context() as patch:
        patch.setattr(drafts, "file_sha256", stopped)
        assert hospital(*command).exit_code
    refused(hospital("inspect", share, "--workspace", site.root), 30, "give the same `encode` again")
    done(hospital(*command))
    done(hospital("inspect", share, "--workspace", site.root))


def test_notes_beside_what_a_killed_encode_left_are_not_overwritten(
    site: Workspace, share: Path, command: Command
) -> None:
    done(hospital(*command))
    killed(command, before_it_is_put_in_place)
    share.write_text("Jane Doe was seen")
    refused(hospital(*command), 2, "a share of this workspace to replace", "choose another name")
    assert share.read_text() == "Jane Doe was seen"


def test_an_encode_that_fails_at_the_end_leaves_the_earlier_share(
    site: Workspace, share: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(hospital(*command))
    stated = signed_manifest(site, share).sha256
    before = snapshot(tmp_path)

    def full(*arguments: object) -> None:
        raise WorkspaceError("expected room, got none")

    monkeypatch.setattr(encode, "write_report", full)
    assert hospital(*command).exit_code
    after = snapshot(tmp_path)
    assert signed_manifest(site, share).sha256 == stated
    assert {name for name in after if "share" in str(name)} == {name for name in before if "share" in str(name)}


def test_a_second_encode_under_the_same_name_leaves_the_first_to_end(
    site: Workspace, share: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal = vars(encode)["seal_share"]

    def meanwhile(*arguments: object, **options: object) -> object:
        monkeypatch.setattr(encode, "seal_share", seal)
        refused(hospital(*command), 8, "share.parquet", "no other command is filling")
        return seal(*arguments, **options)

    monkeypatch.setattr(encode, "seal_share", meanwhile)
    done(hospital(*command))
    done(hospital("inspect", share, "--workspace", site.root))


def test_a_name_too_long_for_what_lies_beside_it_is_told_before_the_work(
    share: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode, "seal_share", None)
    long = share.with_name("a" * (250 - len(".parquet")) + ".parquet")
    refused(hospital(*(long if part == share else part for part in command)), 8, "name too long")

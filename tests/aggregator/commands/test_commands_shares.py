"""`aggregator ingest`, `shares` and `alarms`: what is printed, written beside a share, and returned as code."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result

from aggregator.enrolled import shares, sites
from aggregator.errors import DatabaseError
from aggregator.ingestion import ingest
from aggregator.objects.room import COPIES
from aggregator.refreshing.arrivals import Arrivals
from aggregator.registry.states import ShareState
from aggregator.workspace import Workspace
from bench.exchange.world import Sentences, World
from foundation.errors import StorageError
from foundation.os_errors import map_os_errors
from protocols.errors import PassphraseError
from protocols.share.receipt import read_receipt
from protocols.share.sealing import read_manifest
from protocols.share.withdrawal import Withdrawal
from tests.aggregator.ingestion.taking_in import flooded
from tests.loop import done, provider, refused, values

pytestmark = pytest.mark.usefixtures("quick")


def run(world: World, *arguments: object) -> Result:
    return provider(*arguments, "--workspace", world.provider)


def stick(world: World) -> Path:
    """A folder with a share of each kind, a withdrawal, and what is none of it."""
    folder = world.root / "stick"
    folder.mkdir()
    world.seal(world.share("south", 1, Sentences(3)), "south").rename(folder / "south-0001.share")
    payload = world.share("north", 1, Sentences())
    world.seal(payload, "north").rename(folder / "north-0001.share")
    world.bundle("north", 2, 1, release="cd" * 32).rename(folder / "north-0002.share")
    world.seal(world.share("south", 2, flooded()), "south").rename(folder / "south-0002.share")
    asked = Withdrawal("north", 1, read_manifest(payload).sha256, sites.today(), "a patient asked")
    (folder / "north-0001.withdrawal.json").write_bytes(asked.to_bytes(world.keys["north"]))
    (folder / "notes.txt").write_text("x")
    (folder / ".north-0003.share").write_text("x")
    return folder


def make_odd(entry: Path, odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What anybody can put on a stick under the name of a share."""
    if odd == "folder":
        entry.mkdir()
    elif odd == "pipe":
        os.mkfifo(entry)
    elif odd == "unreadable":
        entry.write_bytes(b"x")
        true = Path.open

        def failing(path: Path, *arguments: Any, **named: Any) -> Any:
            if path == entry:
                raise OSError(5, "Input/output error", str(path))
            return true(path, *arguments, **named)

        monkeypatch.setattr(Path, "open", failing)
    else:
        entry.symlink_to("/dev/zero" if odd == "device" else "nowhere")


class TestIngest:
    def test_a_stick_is_taken_in_whole_with_a_receipt_beside_each(self, small: World) -> None:
        folder = stick(small)
        result = run(small, "ingest", folder, "--json")
        refused(result, 24, "refused 1 of 5")
        rows = json.loads(result.stdout)["shares"]
        states = {Path(row["file"]).name: row["state"] for row in rows}
        assert states == {
            "north-0001.share": ShareState.ACCEPTED,
            "north-0002.share": ShareState.REJECTED,
            "south-0001.share": ShareState.ACCEPTED,
            "south-0002.share": ShareState.QUARANTINED,
            "north-0001.withdrawal.json": ShareState.WITHDRAWN,
        }
        key = small.workspace().key().public_key
        receipts = {
            path.name: read_receipt(path.read_bytes(), key).state.value for path in folder.glob("*.receipt.json")
        }
        assert receipts == {
            "north-0001.receipt.json": ShareState.WITHDRAWN,
            "north-0002.receipt.json": ShareState.REJECTED,
            "south-0001.receipt.json": ShareState.ACCEPTED,
            "south-0002.receipt.json": ShareState.QUARANTINED,
        }

    def test_what_is_damaged_is_named_and_the_others_are_taken_in(self, small: World) -> None:
        bad, good = small.bundle("north"), small.bundle("south", seed=1)
        bad.write_bytes(bad.read_bytes()[:-1])
        result = run(small, "ingest", bad, good)
        refused(result, 13)
        assert result.stdout.count("north-1-0.share: ") == 1
        assert "south share 1: accepted" in result.stdout
        assert not bad.with_suffix(".receipt.json").exists()

    def test_a_withdrawal_of_nothing_does_not_hold_up_either(self, small: World) -> None:
        path, good = small.root / "north-0001.withdrawal.json", small.bundle("south")
        path.write_bytes(Withdrawal("north", 1, "0" * 64, sites.today(), "").to_bytes(small.keys["north"]))
        refused(run(small, "ingest", path, good), 21, "found none")
        assert good.with_suffix(".receipt.json").exists()

    def test_the_error_of_a_single_file_is_told_once(self, small: World) -> None:
        bad = small.root / "junk.share"
        bad.write_bytes(b"junk")
        result = run(small, "ingest", bad)
        refused(result, 10, "junk.share: expected a bundle")
        assert not result.stdout

    def test_names_that_a_stick_gives_back_in_capitals_are_the_same_names(self, small: World) -> None:
        folder = stick(small)
        for path in sorted(folder.iterdir()):
            path.rename(folder / path.name.upper())
        result = run(small, "ingest", folder, "--json")
        refused(result, 24, "refused 1 of 5")
        said = json.loads(result.stdout)
        assert [row["state"] for row in said["shares"]].count(ShareState.WITHDRAWN) == 1
        assert said["passed_over"] == 1
        assert {path.name for path in folder.glob("*.receipt.json")} == {
            f"{name}.receipt.json" for name in ("NORTH-0001", "NORTH-0002", "SOUTH-0001", "SOUTH-0002")
        }

    def test_a_share_that_has_another_name_by_now_is_told(self, small: World) -> None:
        folder = small.root / "renamed"
        folder.mkdir()
        small.bundle("north").rename(folder / "north-0001.share.txt")
        for number in range(6):
            (folder / f"Quillfeather {number}.pdf").write_bytes(b"")
        result = done(run(small, "ingest", folder))
        nothing, others = result.stdout.splitlines()
        assert nothing == "nothing to take in"
        assert others.startswith("passed over: 7 of other names; ")
        # What lies on a stick may bear the name of a patient.
        assert "Quillfeather" not in others
        accepted = done(run(small, "ingest", folder / "north-0001.share.txt"))
        assert "north share 1: accepted" in accepted.stdout

    def test_an_empty_folder_is_nothing_to_take_in(self, small: World) -> None:
        (small.root / "empty").mkdir()
        result = done(run(small, "ingest", small.root / "empty"))
        assert result.stdout == "nothing to take in\n"

    def test_attack_a_bundle_larger_than_the_disk_does_not_hold_up_the_others(
        self, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = stick(small)
        large = folder / "a.share"
        small.seal(small.share("north", 4, Sentences(5, sentences=4000)), "north").rename(large)
        room = COPIES * large.stat().st_size
        assert room > COPIES * max(path.stat().st_size for path in folder.glob("[ns]*.share"))
        monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=(256 << 20) + room - 1))
        result = run(small, "ingest", folder)
        refused(result, 8, "a.share: expected room for the share", "free some space")
        assert result.stdout.startswith("a.share: expected room")
        assert not list((small.provider / "objects").glob("??/.*"))
        assert len(list(folder.glob("*.receipt.json"))) == 4
        monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=(256 << 20) + room))
        assert "north share 4: accepted" in done(run(small, "ingest", large)).stdout

    @pytest.mark.parametrize("error", [StorageError("room", received="a full disk"), OSError(5, "Input/output error")])
    def test_what_the_disk_says_of_one_file_does_not_hold_up_the_others(
        self, error: Exception, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second = small.bundle("north"), small.bundle("south", seed=1)
        true = ingest.receive

        def failing(workspace: Workspace, path: Path) -> int:
            with map_os_errors(path):
                if path == first:
                    raise error
            return true(workspace, path)

        monkeypatch.setattr(ingest, "receive", failing)
        result = run(small, "ingest", first, second)
        refused(result, 8)
        assert [line.split(": ")[0] for line in result.stdout.splitlines()] == [first.name, "south share 1"]

    @pytest.mark.parametrize("odd", ["folder", "pipe", "device", "dangling link", "unreadable"])
    def test_an_odd_entry_is_named_and_skipped(self, odd: str, small: World, monkeypatch: pytest.MonkeyPatch) -> None:
        """One of each kind, the first of all names, so that everything else lies behind them."""
        folder = stick(small)
        entries = [folder / f"a{kind}" for kind in (".share", ".withdrawal.json")]
        for entry in entries:
            make_odd(entry, odd, monkeypatch)
        result = run(small, "ingest", folder, "--json")
        refused(result, 24, "refused 3 of 7")
        rows = {Path(row["file"]).name: row for row in json.loads(result.stdout)["shares"]}
        again = run(small, "ingest", folder).stdout
        for entry in entries:
            assert rows[entry.name]["error"].startswith(f"{entry.name}: expected")
            assert f"{entry.name}: expected" in again
        assert rows["north-0001.withdrawal.json"]["state"] == ShareState.WITHDRAWN
        # A program that carries the receipts back needs this one as well.
        assert rows["north-0001.withdrawal.json"]["receipt"] == str(folder / "north-0001.receipt.json")
        assert len(rows) == 7
        assert len(list(folder.glob("*.receipt.json"))) == 4

    @pytest.mark.parametrize("form", [[], ["--json"]], ids=["lines", "json"])
    @pytest.mark.parametrize("odd", [False, True], ids=["junk", "folder"])
    def test_attack_the_name_of_a_file_neither_commands_the_terminal_nor_ends_the_run(
        self, odd: bool, form: list[str], small: World
    ) -> None:
        """What stands on a stick is named by whoever held it; a name need be no UTF-8."""
        names = {
            b"a\x1b[2K\rnorth share 7: accepted": "a\\u001b[2K\\u000dnorth share 7: accepted",
            "a\x9b8m\u202e".encode(): "a\\u009b8m\\u202e",
            b"a\xff": "a\\udcff",
        }
        folder = stick(small)
        entries = {folder / f"{os.fsdecode(name)}.share": f"{shown}.share: expected" for name, shown in names.items()}
        for entry in entries:
            entry.mkdir() if odd else entry.write_bytes(b"junk")
        result = run(small, "ingest", folder, *form)
        refused(result, 24 if odd else 10)
        assert all(mark.isprintable() for mark in result.output.replace("\n", ""))
        assert len(list(folder.glob("*.receipt.json"))) == 4
        # They are the first of all names.
        if form:
            rows = json.loads(result.stdout)["shares"][: len(entries)]
            told = [row["error"] for row in rows]
            assert [row["file"] for row in rows] == list(map(str, entries))
        else:
            told = result.stdout.splitlines()[: len(entries)]
        assert all(line.startswith(said) for line, said in zip(told, entries.values(), strict=True))

    def test_an_odd_entry_alone_is_refused(self, small: World) -> None:
        folder = small.root / "odd"
        (folder / "a.share").mkdir(parents=True)
        refused(run(small, "ingest", folder), 24, "refused 1 of 1")

    @pytest.mark.parametrize("kind", [DatabaseError, PassphraseError])
    def test_what_was_done_is_told_when_something_ends_the_run(
        self, kind: type[StorageError], small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second, third = small.bundle("north"), small.bundle("south", seed=1), small.bundle("south", 2, seed=2)
        true, error = ingest.ingest, kind("one that answers")

        def failing(workspace: Workspace, path: Path) -> object:
            if path == second:
                raise error
            return true(workspace, path)

        monkeypatch.setattr(ingest, "ingest", failing)
        result = run(small, "ingest", first, second, third, "--json")
        refused(result, error.exit_code, "that answers")
        [row] = json.loads(result.stdout)["shares"]
        assert (row["site"], row["state"]) == ("north", ShareState.ACCEPTED)

    def test_a_stick_that_can_not_be_written_loses_a_receipt_and_no_share(
        self, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second = small.bundle("north"), small.bundle("south", seed=1)
        first.with_suffix(".receipt.json").mkdir()
        result = run(small, "ingest", first, second, "--json")
        refused(result, 8, "receipt.json")
        rows = json.loads(result.stdout)["shares"]
        assert [row["state"] for row in rows] == [ShareState.ACCEPTED] * 2
        assert ["receipt" in row for row in rows] == [False, True]

    def test_what_was_interrupted_is_finished(self, small: World) -> None:
        ingest.receive(small.workspace(), small.bundle())
        assert "north share 1: accepted" in done(run(small, "ingest", "--resume")).stdout
        assert done(run(small, "ingest", "--resume")).stdout == "nothing was interrupted\n"

    def test_a_share_that_was_interrupted_and_is_refused_counts_as_refused(self, small: World) -> None:
        ingest.receive(small.workspace(), small.bundle(release="cd" * 32))
        result = run(small, "ingest", "--resume")
        refused(result, 24, "refused 1 of 1")
        assert "north share 1: rejected" in result.stdout

    def test_what_can_not_be_finished_is_named_with_what_was_and_can_be_given_up(self, small: World) -> None:
        workspace = small.workspace()
        ingest.receive(workspace, small.bundle("north"))
        [lost] = shares.list_shares(workspace)
        workspace.objects().delete(lost.bundle)
        ingest.receive(workspace, small.bundle("south", seed=1))
        result = run(small, "ingest", "--resume", "--json")
        words = shlex.split(refused(result, 8, "share 1 of north").partition("`")[2].partition("`")[0])
        decided, told = json.loads(result.stdout)["shares"]
        assert (decided["site"], decided["state"]) == ("south", ShareState.ACCEPTED)
        assert told == {"error": result.stderr.removeprefix("error: ").rstrip()}
        assert words[:4] == ["aggregator", "shares", "reject", lost.bundle[:12]]
        done(run(small, *words[1:]))
        assert done(run(small, "ingest", "--resume")).stdout == "nothing was interrupted\n"

    @pytest.mark.parametrize("arguments", [[], ["--resume", "."]])
    def test_files_or_resume(self, arguments: list[str], small: World) -> None:
        refused(run(small, "ingest", *arguments), 2, "--resume")


class TestShares:
    @pytest.fixture
    def taken(self, small: World) -> World:
        run(small, "ingest", stick(small))
        return small

    def row(self, world: World, state: str) -> dict[str, object]:
        [row] = values(run(world, "shares", "list", "--state", state, "--json"))["shares"]
        return row

    def test_the_list_names_every_share_with_its_state(self, taken: World) -> None:
        lines = done(run(taken, "shares", "list")).stdout.splitlines()
        assert [line.split()[0] for line in lines] == ["north", "north", "south", "south"]
        assert [line.split("  ")[-1] for line in lines] == [
            "withdrawn (withdrawn-by-site)",
            "rejected (other-release)",
            "accepted",
            "quarantined (label-rates)",
        ]

    def test_attack_a_hospital_can_not_make_the_digits_of_its_share_those_of_two(self, taken: World) -> None:
        """It sends the payload that waits for a person once more, under another number, which is refused as the same."""
        run(taken, "ingest", taken.seal(taken.share("south", 3, flooded()), "south"))
        waiting = self.row(taken, ShareState.QUARANTINED)
        again = values(run(taken, "shares", "list", "--json"))["shares"][-1]
        assert (again["state"], again["digest"]) == (ShareState.REJECTED, waiting["digest"])
        # Who has other digits of it is told those that are one share's alone.
        said = refused(run(taken, "shares", "show", str(waiting["digest"])), 21, "found 2 shares with it")
        assert f"{waiting['bundle']} (south share 2, quarantined), {again['bundle']} (south share 3, rejected)" in said
        [line] = done(run(taken, "shares", "list", "--state", "quarantined")).stdout.splitlines()
        digits = line.split(" tokens, ")[1].split()[0]
        arrived = Arrivals(
            None, (), tuple(shares.list_shares(taken.workspace(), (ShareState.QUARANTINED,))), (), (), ()
        )
        assert f"`aggregator shares accept {digits}`" in "".join(arrived.lines())
        done(run(taken, "shares", "accept", digits, "--name", "A. Weiss", "--reason", "looked at"))

    def test_one_is_shown_with_what_its_site_signed(self, taken: World) -> None:
        row = self.row(taken, ShareState.ACCEPTED)
        found = values(run(taken, "shares", "show", str(row["digest"])[:12], "--json"))
        assert found["signed"]["site"] == "south"
        assert found["releases"] == []
        assert "no release" in done(run(taken, "shares", "show", str(row["bundle"]))).stdout

    @pytest.mark.parametrize(
        ("verb", "state"),
        [("accept", ShareState.ACCEPTED), ("reject", ShareState.REJECTED), ("withdraw", ShareState.WITHDRAWN)],
    )
    def test_a_person_decides_by_name_and_reason(self, verb: str, state: str, taken: World) -> None:
        row = self.row(taken, ShareState.QUARANTINED)
        digest = str(row["digest"])
        refused(run(taken, "shares", verb, digest), 2)
        found = values(run(taken, "shares", verb, digest, "--name", "A. Weiss", "--reason", "looked at", "--json"))
        assert found.pop("releases", []) == []
        assert found == {name: row[name] for name in ("site", "sequence", "bundle")} | {"state": state}
        rows = values(run(taken, "shares", "list", "--state", state, "--json"))["shares"]
        assert "looked at" in {row["reason"] for row in rows}


def test_a_number_that_no_alarm_can_have_is_none(tmp_path: Path) -> None:
    done(provider("init", tmp_path / "provider"))
    ask = ("--name", "A. Weiss", "--workspace", tmp_path / "provider")
    refused(provider("alarms", "acknowledge", 10**30, *ask), 21, "found none")

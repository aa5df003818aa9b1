"""What people decide about shares, and what sites take back, on both databases."""

from __future__ import annotations

import datetime
import json
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from aggregator.enrolled import shares, sites
from aggregator.enrolled.share_counts import releases_of
from aggregator.enrolled.unfinished_trainings import COMMANDS
from aggregator.errors import RegistryError
from aggregator.ingestion import ingest
from aggregator.ingestion.ingest import Decision
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseRow, ReleaseShareRow, WithdrawalRow
from aggregator.registry.times import now
from aggregator.repository.tuf_repository import Repository
from aggregator.workspace import Workspace
from bench.exchange.world import Sentences, World
from foundation.errors import StorageError
from foundation.locks import lock_number
from protocols.errors import ConflictError, ProtocolError, SchemaError, UnknownSignerError
from protocols.share.receipt import read_receipt
from protocols.share.sealing import read_manifest
from protocols.share.withdrawal import Withdrawal
from tests.aggregator.ingestion.taking_in import flooded, nothing_left, receipt_agrees

pytestmark = pytest.mark.usefixtures("quick")


def carry_out(workspace: Workspace, data: bytes) -> bytes:
    """As from a stick."""
    return shares.carry_out(workspace, data, partial(ingest.process, workspace))


def taken_back(world: World, sequence: int) -> None:
    """By north, of which it is the share."""
    workspace = world.workspace()
    [share] = [one for one in shares.list_shares(workspace) if (one.site, one.sequence) == ("north", sequence)]
    day = datetime.datetime.now(datetime.UTC).date()
    carry_out(workspace, Withdrawal("north", sequence, share.manifest or "", day, "ours").to_bytes(world.keys["north"]))


class TestQuarantine:
    @pytest.fixture
    def flooding(self, world: World) -> Decision:
        """A first share in which everything is PHI, beside a pool in which it is not."""
        workspace = world.workspace()
        ingest.ingest(workspace, world.bundle("south"))
        return ingest.ingest(workspace, world.seal(world.share("north", 1, flooded()), "north"))

    def test_a_first_share_is_compared_with_the_pool(self, flooding: Decision, world: World) -> None:
        assert (flooding.state, flooding.reason_code) == (ShareState.QUARANTINED, "label-rates")
        assert "all other sites" in flooding.reason
        workspace = world.workspace()
        receipt_agrees(workspace, flooding)
        nothing_left(workspace)
        assert [one.site for one in shares.accepted_shares(workspace)] == ["south"]

    def test_none_is_compared_with_one_that_waits(self, flooding: Decision, world: World) -> None:
        assert flooding.state == ShareState.QUARANTINED
        assert ingest.ingest(world.workspace(), world.bundle("north", 2, seed=1)).state == ShareState.ACCEPTED

    def test_a_later_one_with_those_before_it(self, world: World) -> None:
        workspace = world.workspace()
        # Nothing to compare with: it passes.
        assert (
            ingest.ingest(workspace, world.seal(world.share("north", 1, flooded()), "north")).state
            == ShareState.ACCEPTED
        )
        ordinary = ingest.ingest(workspace, world.seal(world.share("north", 2, Sentences(1, sentences=2000)), "north"))
        assert ordinary.state == ShareState.QUARANTINED
        assert "earlier ones of north" in ordinary.reason

    def test_attack_a_share_is_taken_back_so_that_the_next_is_compared_with_none(self, small: World) -> None:
        """Of one that never counted nothing is compared: it may be what was set aside."""
        workspace = small.workspace()
        usual = small.share("north", 1, Sentences(1, sentences=2000))
        assert ingest.ingest(workspace, small.seal(usual, "north")).state == ShareState.ACCEPTED
        taken_back(small, 1)
        few = [small.share("north", number, Sentences(number, sentences=2000, phi=0.01)) for number in (2, 3)]
        for number, share in enumerate(few, start=2):
            decision = ingest.ingest(workspace, small.seal(share, "north"))
            assert (decision.state, decision.reason_code) == (ShareState.QUARANTINED, "label-rates")
            assert "earlier ones of north" in decision.reason
            taken_back(small, number)

    def test_many_small_ones_that_drift_are_set_aside_together(self, small: World) -> None:
        """Each is too small to stand out; all of them would teach the head that nothing is PHI."""
        workspace = small.workspace()
        for sequence in range(1, 4):
            share = small.share("north", sequence, Sentences(sequence, sentences=2000))
            assert ingest.ingest(workspace, small.seal(share, "north")).state == ShareState.ACCEPTED
        states = []
        for sequence in range(4, 40):
            share = small.share("north", sequence, Sentences(sequence, sentences=8, phi=0.0))
            states.append(ingest.ingest(workspace, small.seal(share, "north")).state)
            if states[-1] == ShareState.QUARANTINED:
                break
        assert states[0] == ShareState.ACCEPTED
        assert states[-1] == ShareState.QUARANTINED
        [waiting] = shares.list_shares(workspace, (ShareState.QUARANTINED,))
        assert "together with the" in waiting.reason

    def test_honest_shares_of_any_size_are_not(self, small: World) -> None:
        workspace = small.workspace()
        for sequence, size in enumerate((500, 3, 40, 1000, 7, 7, 7, 200, 1, 90), start=1):
            for site in ("north", "south"):
                share = small.share(site, sequence, Sentences(100 * sequence + ord(site[0]), sentences=size))
                assert ingest.ingest(workspace, small.seal(share, site)).state == ShareState.ACCEPTED

    def test_a_person_accepts_it(self, flooding: Decision, world: World) -> None:
        workspace = world.workspace()
        share = shares.find_share(workspace, str(shares.list_shares(workspace, (ShareState.QUARANTINED,))[0].digest))
        shares.accept(workspace, share, "A. Weiss", "a list of names, by agreement")
        assert len(shares.accepted_shares(workspace)) == 2
        decision = ingest.process(workspace, flooding.share)
        assert decision.state == ShareState.ACCEPTED
        receipt_agrees(workspace, decision)
        nothing_left(workspace)
        with workspace.registry().reading() as session:
            assert [event.actor for event in audit_log.events(session) if event.action == "share-accepted"][
                -1
            ] == "A. Weiss"

    @pytest.mark.parametrize("whole", [False, True], ids=["its key", "its site"])
    def test_attack_a_key_that_was_revoked_since_lets_nothing_count(
        self, whole: bool, flooding: Decision, world: World
    ) -> None:
        workspace = world.workspace()
        [share] = shares.list_shares(workspace, (ShareState.QUARANTINED,))
        sites.revoke(workspace, "north", "laptop stolen", None if whole else world.keys["north"].public_key.key_id)
        for look in (shares.check_acceptable, partial(shares.accept, name="A. Weiss", reason="looks fine")):
            with pytest.raises(UnknownSignerError, match="revoked since it was set aside"):
                look(workspace, share)
        assert [one.site for one in shares.accepted_shares(workspace)] == ["south"]
        assert ingest.process(workspace, flooding.share).state == ShareState.QUARANTINED
        # It can still be got rid of.
        shares.reject(workspace, share, "A. Weiss", "laptop stolen")
        nothing_left(workspace)

    def test_a_key_that_is_merely_over_since_counted_when_the_share_came(
        self, flooding: Decision, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        [share] = shares.list_shares(world.workspace(), (ShareState.QUARANTINED,))
        monkeypatch.setattr(shares, "today", lambda: sites.today() + datetime.timedelta(days=1000))
        shares.accept(world.workspace(), share, "A. Weiss", "a list of names, by agreement")
        assert len(shares.accepted_shares(world.workspace())) == 2

    def test_or_refuses_it(self, flooding: Decision, world: World) -> None:
        workspace = world.workspace()
        [share] = shares.list_shares(workspace, (ShareState.QUARANTINED,))
        shares.reject(workspace, share, "A. Weiss", "labels went wrong")
        receipt_agrees(workspace, ingest.process(workspace, flooding.share))
        nothing_left(workspace)
        for decide in (shares.accept, shares.withdraw):
            with pytest.raises(RegistryError, match="rejected"):
                decide(workspace, share, "A. Weiss", "after all")
        assert ingest.ingest(workspace, world.bundle(seed=4)).state == ShareState.ACCEPTED

    @pytest.mark.parametrize("stored", [False, True], ids=["its bundle lost", "its bundle there"])
    def test_one_that_is_not_decided_can_be_given_up(self, stored: bool, world: World) -> None:
        workspace, bundle = world.workspace(), world.bundle()
        number = ingest.receive(workspace, bundle)
        [share] = shares.list_shares(workspace)
        if not stored:
            workspace.objects().delete(share.bundle)
        shares.reject(workspace, share, "A. Weiss", "lost")
        receipt_agrees(workspace, ingest.process(workspace, number))
        nothing_left(workspace)
        assert ingest.resume(workspace) == []
        # Its number is free: the hospital seals it anew.
        assert ingest.ingest(workspace, world.bundle()).state == ShareState.ACCEPTED

    def test_an_accepted_share_is_not_decided_again(self, world: World) -> None:
        workspace = world.workspace()
        ingest.ingest(workspace, world.bundle())
        [share] = shares.accepted_shares(workspace)
        with pytest.raises(RegistryError, match="accepted"):
            shares.reject(workspace, share, "A. Weiss", "no")
        with pytest.raises(SchemaError):
            shares.withdraw(workspace, share, "A. Weiss\nand others", "no")


class TestWithdrawal:
    def asked(self, world: World, payload: Path, signer: str = "north", **changes: Any) -> bytes:
        manifest = read_manifest(payload)
        stated = {
            "site": manifest.site,
            "sequence": manifest.sequence,
            "created": sites.today(),
            "reason": "a patient asked",
            "manifest_sha256": manifest.sha256,
        }
        return Withdrawal(**{**stated, **changes}).to_bytes(world.keys[signer])

    def test_a_site_takes_its_share_back(self, world: World) -> None:
        workspace = world.workspace()
        payload = world.share("north", 1, Sentences())
        decision = ingest.ingest(workspace, world.seal(payload, "north"))
        asked = self.asked(world, payload)
        receipt = carry_out(workspace, asked)
        assert read_receipt(receipt, workspace.key().public_key).state.value == ShareState.WITHDRAWN
        assert carry_out(world.workspace(), asked) == receipt
        assert shares.accepted_shares(workspace) == []
        nothing_left(workspace)
        assert ingest.process(workspace, decision.share).receipt == receipt
        # Its number stays taken: what was withdrawn does not come back by itself.
        with pytest.raises(ConflictError):
            ingest.ingest(workspace, world.bundle(seed=5))

    def test_a_person_is_refused_what_somebody_else_has_decided_if_it_shall_be_theirs(self, world: World) -> None:
        workspace = world.workspace()
        ingest.ingest(workspace, world.bundle())
        [share] = shares.accepted_shares(workspace)
        receipt = shares.withdraw(workspace, share, "A. Weiss", "asked by letter")
        assert shares.withdraw(workspace, share, "A. Weiss", "asked by letter") == receipt
        with pytest.raises(RegistryError, match="it is withdrawn"):
            shares.withdraw(workspace, share, "B. Engel", "mine", first=True)

    def test_from_quarantine_too(self, world: World) -> None:
        workspace = world.workspace()
        ingest.ingest(workspace, world.bundle("south"))
        payload = world.share("north", 1, flooded())
        ingest.ingest(workspace, world.seal(payload, "north"))
        carry_out(workspace, self.asked(world, payload))
        assert shares.list_shares(workspace, (ShareState.QUARANTINED,)) == []
        nothing_left(workspace)

    @pytest.mark.parametrize("decided", [True, False], ids=["decided at once", "decided later"])
    def test_attack_one_that_waits_is_taken_back_before_it_counts(self, decided: bool, world: World) -> None:
        """As by a full disk or a crash: it was received, and nobody has looked at it."""
        workspace = world.workspace()
        payload = world.share("north", 1, Sentences())
        number = ingest.receive(workspace, world.seal(payload, "north"))
        asked = self.asked(world, payload)

        def full(share: int) -> None:
            raise StorageError("room", received="none", advice="make some", place="disk")

        if decided:
            receipt = carry_out(workspace, asked)
        else:
            for _ in range(2):
                with pytest.raises(StorageError):
                    shares.carry_out(workspace, asked, full)
            [decision] = ingest.resume(world.workspace())
            assert (decision.state, decision.reason_code) == (ShareState.WITHDRAWN, "withdrawn-by-site")
            receipt = decision.receipt
        assert shares.carry_out(workspace, asked, full) == receipt
        assert read_receipt(receipt, workspace.key().public_key).state.value == ShareState.WITHDRAWN
        receipt_agrees(workspace, ingest.process(workspace, number))
        assert shares.list_shares(workspace, shares.KEPT) == []
        nothing_left(workspace)
        with workspace.registry().reading() as session:
            assert [*session.scalars(select(WithdrawalRow))] == []
            assert [event.action for event in audit_log.events(session)][-2:] == [
                "withdrawal-received",
                "share-withdrawn",
            ]

    def test_of_one_that_waits_only_what_was_named_is_taken_back(self, world: World) -> None:
        workspace = world.workspace()
        payload = world.share("north", 1, Sentences())
        ingest.receive(workspace, world.seal(payload, "north"))
        with pytest.raises(RegistryError, match="found none"):
            carry_out(workspace, self.asked(world, payload, manifest_sha256="0" * 64))
        assert len(shares.accepted_shares(workspace)) == 1

    @pytest.mark.parametrize("ends", ["accepted", "quarantined", "rejected", "withdrawn", "given up"])
    def test_attack_withdrawals_of_invented_shares_fill_the_registry(self, ends: str, world: World) -> None:
        """While one waits nobody knows its manifest, so any digest may be meant; once it is decided none is."""
        workspace = world.workspace()
        ingest.ingest(workspace, world.bundle("south"))
        payload = world.share("north", 1, flooded() if ends == "quarantined" else Sentences(3))
        number = ingest.receive(workspace, world.seal(payload, "north"))

        def ask(manifest: str) -> None:
            with pytest.raises(StorageError, match="later"):
                shares.carry_out(workspace, self.asked(world, payload, manifest_sha256=manifest), later)

        def later(share: int) -> None:
            raise StorageError("a share that is decided", received="one that waits", advice="ask later", place="")

        def kept() -> tuple[int, int]:
            with workspace.registry().reading() as session:
                events = [event.action for event in audit_log.events(session)]
                return len(session.scalars(select(WithdrawalRow)).all()), events.count("withdrawal-received")

        for invented in range(3):
            ask(f"{invented:064x}")
        ask(read_manifest(payload).sha256 if ends == "withdrawn" else "f" * 64)
        assert kept() == (4, 4)
        for manifest in ("a" * 64, "b" * 64):
            with pytest.raises(RegistryError, match="share 1 of north: expected at most 4 withdrawals"):
                ask(manifest)
        ask(f"{0:064x}")
        assert kept() == (4, 4)
        if ends == "rejected":
            sites.revoke(workspace, "north", "gone")
        if ends == "given up":
            [share] = shares.list_shares(workspace, (ShareState.RECEIVED,))
            shares.reject(workspace, share, "A. Weiss", "can't be opened")
        assert ingest.process(workspace, number).state == ("rejected" if ends == "given up" else ends)
        # The number of a share that was refused, or may still be, is free: of one that comes later what is asked counts.
        assert kept() == (4 if shares.list_shares(workspace)[0].state in ("rejected", "quarantined") else 0, 4)

    @pytest.mark.parametrize("runs", [False, True], ids=["cut", "running"])
    def test_a_training_that_was_cut_goes_with_the_share_that_it_has_seen(self, runs: bool, world: World) -> None:
        workspace, folder = world.workspace(), world.workspace().root / "unfinished"
        for site in ("north", "south"):
            ingest.ingest(workspace, world.bundle(site, seed=ord(site[0])))
        first, second = shares.accepted_shares(workspace)
        seen = {"train-head": [first.digest, second.digest], "federate": [second.digest], "train-repr": None}
        for command, digests in seen.items():
            (folder / command).mkdir(parents=True)
            (folder / command / "inputs.json").write_text(json.dumps({"shares": digests} if digests else {}))
            (folder / command / "weights").write_bytes(b"weights")
        with ExitStack() as training:
            if runs:
                training.enter_context(lock_number(folder / "lock", COMMANDS.index("train-head"), wait=False))
            shares.withdraw(workspace, first, "A. Weiss", "asked by letter")
            assert (folder / "train-head").exists() == runs
        ingest.resume(workspace)
        assert {path.name for path in folder.iterdir() if path.is_dir()} == {"federate", "train-repr"}

    def test_a_person_is_told_how_one_that_waits_is_taken_out(self, world: World) -> None:
        workspace = world.workspace()
        ingest.receive(workspace, world.bundle())
        [share] = shares.list_shares(workspace)
        with pytest.raises(RegistryError, match=r"it is received; .*ingest --resume.*shares reject"):
            shares.withdraw(workspace, share, "A. Weiss", "asked by letter")

    def test_nobody_elses(self, world: World) -> None:
        workspace = world.workspace()
        payload = world.share("north", 1, Sentences())
        ingest.ingest(workspace, world.seal(payload, "north"))
        for site, changes, error in (
            ("south", {}, ProtocolError),
            ("south", {"site": "south"}, RegistryError),
            ("north", {"sequence": 2}, RegistryError),
            ("north", {"manifest_sha256": "0" * 64}, RegistryError),
        ):
            with pytest.raises(error):
                carry_out(workspace, self.asked(world, payload, site, **changes))
        sites.revoke(workspace, "north", "key stolen")
        with pytest.raises(UnknownSignerError):
            carry_out(workspace, self.asked(world, payload))
        assert len(shares.accepted_shares(workspace)) == 1

    def test_the_record_says_which_releases_it_has_trained(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        workspace = world.workspace()
        # 5 was begun, and never came out.
        monkeypatch.setattr(Repository, "release_names", lambda self: ["0003-pipeline", "0004-pipeline"])
        ingest.ingest(workspace, world.bundle())
        [share] = shares.accepted_shares(workspace)
        with workspace.registry().transaction() as session:
            for number in (3, 4, 5):
                name = f"000{number}-pipeline"
                session.add(ReleaseRow(sequence=number, kind="pipeline", name=name, digest="0", published_at=now()))
            session.flush()
            session.add_all(ReleaseShareRow(release=number, share=share.id) for number in (4, 5))
        shares.withdraw(workspace, share, "A. Weiss", "asked by letter")
        [share] = shares.list_shares(workspace)
        assert shares.releases_with(workspace, share) == [(4, "0004-pipeline")]
        assert releases_of(workspace, [share]) == {share.id: ["0004-pipeline"]}

    def test_the_same_payload_may_come_again_afterwards(self, world: World) -> None:
        workspace = world.workspace()
        payload = world.share("north", 1, Sentences())
        ingest.ingest(workspace, world.seal(payload, "north"))
        carry_out(workspace, self.asked(world, payload))
        assert (
            ingest.ingest(workspace, world.seal(world.share("north", 2, Sentences()), "north")).state
            == ShareState.ACCEPTED
        )
        nothing_left(workspace)


def test_a_share_is_found_by_the_start_of_any_of_its_digests(small: World) -> None:
    workspace = small.workspace()
    for seed, site in enumerate(("north", "south")):
        ingest.ingest(workspace, small.bundle(site, 1, seed))
    for share in shares.list_shares(workspace):
        for digest in (share.bundle, share.manifest, share.digest):
            assert shares.find_share(workspace, str(digest)[:12]) == share
    for name in ("", "zz", "%", "_" * 12, "0" * 64):
        with pytest.raises(RegistryError, match="digest"):
            shares.find_share(workspace, name)


@pytest.mark.parametrize("key", ["revoked", "over"])
def test_what_was_taken_back_long_ago_is_no_error_though_its_key_counts_no_more(
    key: str, small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stick may lie there for months, and its shares are known by their digests all the while."""
    workspace = small.workspace()
    for sequence in (1, 2):
        ingest.ingest(workspace, small.bundle("north", sequence, sequence))
    asked = [
        Withdrawal("north", one.sequence, one.manifest or "", datetime.date(2026, 2, 1), "").to_bytes(
            small.keys["north"]
        )
        for one in shares.list_shares(workspace)
    ]
    receipt = carry_out(workspace, asked[0])
    if key == "revoked":
        sites.revoke(workspace, "north", "laptop stolen")
    else:
        day = sites.today() + datetime.timedelta(days=400)
        monkeypatch.setattr(shares, "today", lambda: day)
    assert carry_out(workspace, asked[0]) == receipt
    # Who has stolen the key takes back nothing with it, and forges nothing.
    with pytest.raises(UnknownSignerError, match=key if key == "revoked" else "counted until"):
        carry_out(workspace, asked[1])
    with pytest.raises(ProtocolError):
        carry_out(workspace, asked[0].replace(b'"sequence":1', b'"sequence":2'))
    assert [one.sequence for one in shares.accepted_shares(workspace)] == [2]

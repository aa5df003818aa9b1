"""Shares on their way in: every state and how it is reached, on both databases."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aggregator.enrolled import alarms, shares, sites
from aggregator.errors import RegistryError
from aggregator.ingestion import ingest, opening
from aggregator.ingestion.payload_check import check_payload
from aggregator.objects.folder import FolderStore
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from bench.exchange.world import Sentences, World, invented_terms
from foundation.reading import file_sha256
from protocols.errors import (
    BoundsError,
    ConflictError,
    DigestError,
    ProtocolError,
    SchemaError,
    SignatureError,
    TruncatedError,
    UnknownSignerError,
)
from protocols.keys.signing import PrivateKey
from protocols.share.sealing import read_manifest
from tests.aggregator.ingestion.taking_in import flooded, nothing_left, receipt_agrees, rows, unreadable

pytestmark = pytest.mark.usefixtures("quick")


class TestAccepted:
    def test_a_share_counts_and_its_payload_is_kept(self, world: World) -> None:
        workspace = world.workspace()
        payload = world.share("north", 1, Sentences())
        decision = ingest.ingest(workspace, world.seal(payload, "north"))
        assert (decision.state, decision.reason_code, decision.reason) == (ShareState.ACCEPTED, "", "")
        receipt_agrees(workspace, decision)
        nothing_left(workspace)
        [share] = shares.accepted_shares(workspace)
        with workspace.objects().local(str(share.digest)) as kept:
            assert kept.read_bytes() == payload.read_bytes()
        assert shares.read_manifest(workspace, share) == read_manifest(payload)
        assert (share.sentences, share.tokens) == (10, 100)

    def test_it_is_received_before_it_is_processed(self, world: World) -> None:
        workspace, bundle = world.workspace(), world.bundle()
        number = ingest.receive(workspace, bundle)
        assert rows(workspace) == [("north", 1, ShareState.RECEIVED, "")]
        assert shares.accepted_shares(workspace) == []
        assert workspace.objects().exists(shares.list_shares(workspace)[0].bundle)
        assert ingest.receive(workspace, bundle) == number
        with workspace.registry().reading() as session:
            *_, event = audit_log.events(session)
        stated = {"sequence": 1, "bundle": hashlib.sha256(bundle.read_bytes()).hexdigest()}
        assert (event.actor, event.action, json.loads(event.details)) == ("north", "share-received", stated)
        bundle.unlink()
        assert ingest.process(world.workspace(), number).state == ShareState.ACCEPTED
        nothing_left(workspace)

    @pytest.mark.parametrize("suffix", [".parquet", ".h5"])
    def test_the_child_process_says_so(self, suffix: str, small: World) -> None:
        bundle = small.seal(small.share("north", 1, Sentences(), suffix), "north")
        with invented_terms():
            assert ingest.ingest(small.workspace(), bundle).state == ShareState.ACCEPTED

    def test_a_workspace_may_be_named_from_where_one_is(self, small: World, monkeypatch: pytest.MonkeyPatch) -> None:
        bundle = small.bundle()
        monkeypatch.chdir(small.root.parent)
        near = World(Path(small.root.name), small.keys)
        with invented_terms():
            assert ingest.ingest(near.workspace(), bundle).state == ShareState.ACCEPTED


class TestIdempotence:
    def test_the_same_bytes_get_the_same_receipt(self, world: World) -> None:
        bundle = world.bundle()
        first = ingest.ingest(world.workspace(), bundle)
        again = ingest.ingest(world.workspace(), bundle)
        assert again == first
        assert len(rows(world.workspace())) == 1

    @pytest.mark.parametrize(
        "state",
        [ShareState.RECEIVED, ShareState.ACCEPTED, ShareState.QUARANTINED, ShareState.REJECTED, ShareState.WITHDRAWN],
    )
    def test_the_same_manifest_sealed_anew_gets_the_same_receipt(self, state: str, world: World) -> None:
        workspace = world.workspace()
        ingest.ingest(workspace, world.bundle("south", 1, 3))
        changes = {"release": "cd" * 32} if state == ShareState.REJECTED else {}
        payload = world.share("north", 1, flooded() if state == ShareState.QUARANTINED else Sentences(), **changes)
        number = ingest.receive(workspace, world.seal(payload, "north", "a.share"))
        if state != ShareState.RECEIVED:
            assert ingest.process(workspace, number).state == (
                ShareState.ACCEPTED if state == ShareState.WITHDRAWN else state
            )
        if state == ShareState.WITHDRAWN:
            [share] = [one for one in shares.list_shares(workspace) if one.site == "north"]
            shares.withdraw(workspace, share, "A. Weiss", "asked by letter")
        again = ingest.ingest(workspace, world.seal(payload, "north", "b.share"))
        first = ingest.process(workspace, number)
        assert (again.receipt, again.state) == (first.receipt, first.state)
        assert first.state == (ShareState.ACCEPTED if state == ShareState.RECEIVED else state)
        nothing_left(workspace)
        assert alarms.list_alarms(workspace) == []

    def test_what_was_decided_stays(self, world: World) -> None:
        workspace = world.workspace()
        decision = ingest.ingest(workspace, world.bundle())
        assert ingest.process(workspace, decision.share) == decision


class TestConflict:
    def test_another_share_of_that_number_is_an_alarm(self, world: World) -> None:
        workspace = world.workspace()
        first = ingest.ingest(workspace, world.bundle(seed=0))
        other = world.bundle(seed=1)
        for _ in range(2):
            with pytest.raises(ConflictError, match="share 1 of north"):
                ingest.ingest(workspace, other)
        assert ingest.process(workspace, first.share) == first
        assert len(rows(workspace)) == 1
        nothing_left(workspace)
        # Once, however often it is sent.
        [alarm] = alarms.list_alarms(workspace)
        assert (alarm.site, alarm.kind) == ("north", "conflict")
        alarms.acknowledge(workspace, alarm.id, "A. Weiss")
        assert alarms.list_alarms(workspace) == []
        assert len(alarms.list_alarms(workspace, acknowledged=True)) == 1
        with pytest.raises(RegistryError):
            alarms.acknowledge(workspace, alarm.id, "A. Weiss")
        with workspace.registry().reading() as session:
            actions = [event.action for event in audit_log.events(session)]
        assert actions.count("alarm-conflict") == 1

    def test_attack_many_bundles_under_one_number_are_one_alarm(self, world: World) -> None:
        workspace = world.workspace()
        for number in (1, 2):
            ingest.ingest(workspace, world.bundle(seed=number, sequence=number))
        for seed, number in ((3, 1), (4, 1), (5, 2), (6, 1), (7, 2)):
            with pytest.raises(ConflictError):
                ingest.ingest(workspace, world.bundle(seed=seed, sequence=number))
        assert [one.detail.partition(":")[0] for one in alarms.list_alarms(workspace)] == ["share 1", "share 2"]

    def test_it_does_not_hide_behind_a_share_that_waits(self, world: World) -> None:
        workspace = world.workspace()
        ingest.receive(workspace, world.bundle(seed=0))
        with pytest.raises(ConflictError):
            ingest.receive(workspace, world.bundle(seed=1))
        assert rows(workspace) == [("north", 1, ShareState.ACCEPTED, "")]

    def test_junk_under_a_sites_signature_is_one_too(self, world: World) -> None:
        workspace = world.workspace()
        ingest.ingest(workspace, world.bundle(seed=0))
        with pytest.raises(ConflictError):
            ingest.ingest(workspace, unreadable(world))
        assert len(alarms.list_alarms(workspace)) == 1

    def test_a_refused_share_does_not_take_its_number(self, world: World) -> None:
        workspace = world.workspace()
        assert ingest.ingest(workspace, world.bundle(seed=0, release="cd" * 32)).state == ShareState.REJECTED
        assert ingest.ingest(workspace, world.bundle(seed=1)).state == ShareState.ACCEPTED
        assert rows(workspace) == [
            ("north", 1, ShareState.REJECTED, "other-release"),
            ("north", 1, ShareState.ACCEPTED, ""),
        ]
        nothing_left(workspace)

    def test_numbers_of_different_sites_do_not_meet(self, world: World) -> None:
        workspace = world.workspace()
        for seed, site in enumerate(("north", "south")):
            assert ingest.ingest(workspace, world.bundle(site, 1, seed)).state == ShareState.ACCEPTED


class TestRefused:
    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"release": "cd" * 32}, "other-release"),
            ({"recipient": PrivateKey.from_seed(bytes(32)).public_key.key_id}, "other-recipient"),
            ({"label_scheme": "i2b2_2014"}, "mismatch"),
            ({"value_bound": 9.0}, "bounds"),
        ],
    )
    def test_a_share_for_something_else(self, changes: dict[str, Any], code: str, world: World) -> None:
        workspace = world.workspace()
        decision = ingest.ingest(workspace, world.bundle(**changes))
        assert (decision.state, decision.reason_code) == (ShareState.REJECTED, code)
        assert "expected" in decision.reason
        receipt_agrees(workspace, decision)
        nothing_left(workspace)
        assert shares.accepted_shares(workspace) == []

    def test_another_width(self, small: World) -> None:
        bundle = small.seal(small.share("north", 1, Sentences(dim=4)), "north")
        assert ingest.ingest(small.workspace(), bundle).reason_code == "mismatch"

    def test_bytes_that_can_not_be_decrypted(self, world: World) -> None:
        workspace = world.workspace()
        decision = ingest.ingest(workspace, unreadable(world))
        assert (decision.state, decision.reason_code) == (ShareState.REJECTED, "encryption")
        receipt_agrees(workspace, decision)
        nothing_left(workspace)

    def test_the_payload_of_another_share_under_a_new_number(self, world: World) -> None:
        workspace = world.workspace()
        payload = world.share("north", 1, Sentences())
        ingest.ingest(workspace, world.seal(payload, "north"))
        for site, sequence in (("north", 2), ("south", 1)):
            copy = world.root / f"{site}-{sequence}-copy.parquet"
            copy.write_bytes(payload.read_bytes())
            again = world.share(site, sequence, Sentences())
            assert again.read_bytes() == payload.read_bytes()
            decision = ingest.ingest(workspace, world.seal(again, site))
            assert (decision.state, decision.reason_code) == (ShareState.REJECTED, "duplicate")
        nothing_left(workspace)

    def test_a_site_that_was_revoked_on_the_way(self, world: World) -> None:
        workspace = world.workspace()
        number = ingest.receive(workspace, world.bundle())
        sites.revoke(workspace, "north", "key stolen")
        decision = ingest.process(workspace, number)
        assert (decision.state, decision.reason_code) == (ShareState.REJECTED, "unknown-signer")
        nothing_left(workspace)

    def test_a_site_that_was_revoked_while_its_payload_was_checked(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace = world.workspace()

        def revoked(values: Any) -> Any:
            sites.revoke(world.workspace(), "north", "key stolen")
            return check_payload(values)

        monkeypatch.setattr(opening, "check_payload", revoked)
        assert ingest.ingest(workspace, world.bundle()).reason_code == "unknown-signer"
        nothing_left(workspace)

    def test_a_site_that_was_revoked_while_its_bundle_was_kept(
        self, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        workspace, bundle = small.workspace(), small.bundle()
        put = FolderStore.put

        def revoked(store: FolderStore, path: Path, sha256: str) -> None:
            put(store, path, sha256)
            sites.revoke(small.workspace(), "north", "key stolen")

        monkeypatch.setattr(FolderStore, "put", revoked)
        with pytest.raises(UnknownSignerError, match="revoked"):
            ingest.receive(workspace, bundle)
        assert rows(workspace) == []
        nothing_left(workspace)

    def test_attack_a_bundle_without_end_is_not_even_read(self, small: World, monkeypatch: pytest.MonkeyPatch) -> None:
        workspace, bundle = small.workspace(), small.bundle()
        size = bundle.stat().st_size
        read: list[Path] = []
        monkeypatch.setattr(ingest, "file_sha256", lambda path: read.append(path) or file_sha256(path))
        monkeypatch.setattr(ingest, "_MAX_BUNDLE_BYTES", size - 1)
        with pytest.raises(BoundsError, match=f"{size - 1} bytes at most"):
            ingest.receive(workspace, bundle)
        assert read == []
        monkeypatch.setattr(ingest, "_MAX_BUNDLE_BYTES", size)
        ingest.receive(workspace, bundle)
        assert read == [bundle]

    @pytest.mark.parametrize(
        ("spoil", "error"),
        [
            (lambda data: data[:-1], TruncatedError),
            (lambda data: data[:100], TruncatedError),
            (lambda data: data + b"\0", DigestError),
            (lambda data: data[:-1] + bytes([data[-1] ^ 1]), DigestError),
            (lambda data: data.replace(b'"sequence":1', b'"sequence":2'), SignatureError),
            (lambda data: data.replace(b'"site":"north"', b'"site":"south"'), SignatureError),
            (lambda data: data.replace(b'"site":"north"', b'"site":"nowhere"'), ProtocolError),
            (lambda data: b"PK" + data[2:], SchemaError),
            (lambda data: b"", ProtocolError),
        ],
    )
    def test_junk_leaves_no_trace(
        self, spoil: Callable[[bytes], bytes], error: type[ProtocolError], small: World
    ) -> None:
        workspace, bundle = small.workspace(), small.bundle()
        bundle.write_bytes(spoil(bundle.read_bytes()))
        with pytest.raises(error):
            ingest.ingest(workspace, bundle)
        assert rows(workspace) == []
        nothing_left(workspace)

    @pytest.mark.parametrize(
        ("what", "received", "advice"),
        [
            ("site", "one of a site that was revoked", "unless it is enrolled again"),
            ("key", "one by a key that was revoked", "with its present key"),
            ("over", "one by a key that counted until", "with its present key"),
            ("early", "one by a key that counts from", "set the provider's clock"),
        ],
    )
    def test_why_a_key_that_was_enrolled_does_not_count_is_told(
        self, what: str, received: str, advice: str, small: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """None of these hospitals is unknown, and to enrol it first would help with none of them."""
        workspace, bundle = small.workspace(), small.bundle()
        if what in ("site", "key"):
            sites.revoke(
                workspace, "north", "stolen", None if what == "site" else small.keys["north"].public_key.key_id
            )
        else:
            day = sites.today() + datetime.timedelta(days=400 if what == "over" else -400)
            monkeypatch.setattr(ingest, "today", lambda: day)
        with pytest.raises(UnknownSignerError, match=f"{received}.*{advice}"):
            ingest.ingest(workspace, bundle)
        assert rows(workspace) == []
        nothing_left(workspace)

    def test_a_revoked_site_and_a_strangers_key_leave_none_either(self, small: World) -> None:
        workspace, bundle = small.workspace(), small.bundle()
        sites.revoke(workspace, "north", "key stolen")
        with pytest.raises(UnknownSignerError):
            ingest.ingest(workspace, bundle)
        assert rows(workspace) == []

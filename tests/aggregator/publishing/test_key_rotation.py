"""The provider changes its own keys: what signs, opens and counts on every day, and what sites are told."""

from __future__ import annotations

import datetime
import json
from contextlib import closing
from pathlib import Path

import pytest

from aggregator import provider_keys, workspace
from aggregator.errors import AggregatorError, WorkspaceError
from aggregator.ingestion import ingest
from aggregator.provider_keys import Purpose
from aggregator.publishing import key_rotation, releases
from aggregator.publishing.key_rotation import rotate_provider_key
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.repository.tuf_keys import export_offline
from aggregator.server.ingest_process import IngestProcess
from aggregator.workspace import Workspace
from bench.exchange.certificates import make_certificates
from bench.exchange.world import Sentences, World, invented_terms
from command_line.passphrase import FILE
from foundation.errors import StorageError
from protocols.errors import OtherRecipientError, PassphraseError, UnknownSignerError
from protocols.keys.key_files import list_key_files, rewrite_private
from protocols.keys.passphrase import LEAST_COST, Passphrase
from protocols.release import provider_record
from protocols.release.provider_record import ProviderRecord
from protocols.release.repository import PROVIDER
from protocols.share.bundle import seal_bundle
from protocols.share.receipt import read_receipt
from tests.aggregator.copied import new_world
from tests.loop import done, provider, refused, values

TODAY = workspace.today()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return new_world(tmp_path / "world")


@pytest.fixture
def opened(world: World) -> Workspace:
    return world.workspace()


def on_day(monkeypatch: pytest.MonkeyPatch, days: int) -> datetime.date:
    """So many days later, for keys."""
    day = TODAY + datetime.timedelta(days=days)
    monkeypatch.setattr(workspace, "today", lambda: day)
    return day


def record_of(opened: Workspace) -> ProviderRecord:
    """What sites read."""
    return ProviderRecord.from_bytes(opened.repository().read(PROVIDER))


class TestSigning:
    def test_the_key_before_signs_until_sites_know_the_new_one(
        self, opened: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        old = opened.key().public_key
        rotated = rotate_provider_key(opened, Purpose.SIGNING, 30)
        assert rotated.old == old != rotated.new
        record = record_of(opened)
        assert record.signing_key == rotated.new
        signers = {}
        for days in (0, 30, 31, 60, 61):
            day = on_day(monkeypatch, days)
            signers[days] = opened.key().public_key
            # Whatever is signed on a day, a site that has pulled since the rotation takes on that day.
            assert record.signer(signers[days].key_id, day) == signers[days]
        assert signers == {0: old, 30: old, 31: rotated.new, 60: rotated.new, 61: rotated.new}
        # What the old key signed on its last day is taken for thirty more.
        assert record.signer(old.key_id, TODAY + datetime.timedelta(days=60)) == old
        with pytest.raises(UnknownSignerError):
            record.signer(old.key_id, TODAY + datetime.timedelta(days=61))

    def test_a_stolen_key_ends_at_once_and_with_it_those_before(self, opened: Workspace) -> None:
        first = opened.key().public_key
        second = rotate_provider_key(opened, Purpose.SIGNING, 30).new
        third = rotate_provider_key(opened, Purpose.SIGNING, 0).new
        assert opened.key().public_key == third
        assert opened.signing_keys() == (third,)
        record = record_of(opened)
        assert record.signing_keys(TODAY) == (third,)
        assert record.to_json()["format_version"] == 1
        for key in (first, second):
            with pytest.raises(UnknownSignerError):
                record.signer(key.key_id, TODAY)
        # Nobody can steal what is not there.
        assert [path.name for path in opened.keys.glob("*.pem") if path.name != "recipient.pem"] == [
            f"signing-{third.key_id}.pem"
        ]

    def test_shares_and_receipts_across_the_change(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        opened = world.workspace()
        before = world.bundle("north", 1)
        old = opened.key().public_key
        rotated = rotate_provider_key(opened, Purpose.SIGNING, 30)
        with invented_terms(sandbox=False):
            decision = ingest.ingest(world.workspace(), before)
            assert decision.state == ShareState.ACCEPTED
            assert read_receipt(decision.receipt, old).sequence == 1
            # A site that has pulled names the new key.
            after = world.seal(world.share("north", 2, Sentences(2), recipient=rotated.new.key_id), "north")
            assert ingest.ingest(world.workspace(), after).state == ShareState.ACCEPTED
            late = world.seal(world.share("south", 1, Sentences(3), recipient=old.key_id), "south")
            on_day(monkeypatch, 61)
            refusal = ingest.ingest(world.workspace(), late)
            assert (refusal.state, refusal.reason_code) == (ShareState.REJECTED, "other-recipient")
            assert read_receipt(refusal.receipt, opened.signing_keys()[0]).sequence == 1


class TestEncryption:
    def test_shares_sealed_to_the_key_before_open_until_its_end(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened = world.workspace()
        old = opened.recipient().public_key
        rotated = rotate_provider_key(opened, Purpose.ENCRYPTION, 30)
        assert record_of(opened).recipient == rotated.new == opened.recipient().public_key
        with invented_terms(sandbox=False):
            for sequence, key in ((1, old), (2, rotated.new)):
                payload = world.share("north", sequence, Sentences(sequence))
                bundle = payload.with_suffix(".share")
                seal_bundle(payload, bundle, key=world.keys["north"], recipient=key)
                on_day(monkeypatch, 30)
                assert ingest.ingest(world.workspace(), bundle).state == ShareState.ACCEPTED
                on_day(monkeypatch, 31)
                if key == old:
                    again = payload.with_suffix(".again.share")
                    seal_bundle(payload, again, key=world.keys["north"], recipient=old)
                    with pytest.raises(OtherRecipientError, match="present keys"):
                        ingest.ingest(world.workspace(), again)

    def test_at_its_end_the_private_key_is_gone(self, opened: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        rotate_provider_key(opened, Purpose.ENCRYPTION, 30)
        on_day(monkeypatch, 30)
        assert opened.remove_ended_keys() == []
        on_day(monkeypatch, 31)
        assert opened.remove_ended_keys() == ["recipient.pem"]
        assert not (opened.keys / "recipient.pem").exists()
        assert opened.recipient().public_key == record_of(opened).recipient

    def test_a_stolen_key_opens_nothing_more(self, opened: Workspace) -> None:
        old = opened.recipient().public_key
        rotate_provider_key(opened, Purpose.ENCRYPTION, 0)
        assert opened.recipient(old.key_id).public_key != old
        assert not (opened.keys / "recipient.pem").exists()


def test_a_thief_of_the_online_keys_rotates_nothing(opened: Workspace, tmp_path: Path) -> None:
    export_offline(opened.offline_keys, tmp_path / "stick")
    before = {path.name: path.read_bytes() for path in opened.keys.glob("*") if path.is_file()}
    for purpose in Purpose:
        with pytest.raises(WorkspaceError, match="--offline-keys"):
            rotate_provider_key(opened, purpose)
    assert {path.name: path.read_bytes() for path in opened.keys.glob("*") if path.is_file()} == before
    assert rotate_provider_key(opened, Purpose.SIGNING, offline=(tmp_path / "stick",)).new


def test_what_a_cut_rotation_leaves_an_announcement_finishes(
    opened: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise StorageError("room", received="none")

    old = opened.key().public_key
    monkeypatch.setattr(key_rotation, "announce", fail)
    with pytest.raises(StorageError):
        rotate_provider_key(opened, Purpose.SIGNING)
    # Sites know the old key only, and it is the one that signs.
    assert record_of(opened).signing_key == old == opened.key().public_key
    releases.announce(opened, None)
    record = record_of(opened)
    assert record.signing_key == opened.signing_keys()[0] != old
    assert record.signer(opened.key().public_key.key_id, TODAY) == old


def test_a_key_too_many_is_refused_before_it_is_made(opened: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_record, "MAX_EARLIER_KEYS", 2)
    for _ in range(2):
        rotate_provider_key(opened, Purpose.SIGNING)
    before = {path.name: path.read_bytes() for path in opened.keys.glob("*") if path.is_file()}
    with pytest.raises(WorkspaceError, match=r"at most 2 earlier keys .*`--overlap 0`"):
        rotate_provider_key(opened, Purpose.SIGNING)
    assert {path.name: path.read_bytes() for path in opened.keys.glob("*") if path.is_file()} == before
    # Nothing stands in the way of what comes next: not of publishing, of the other key, nor of one that ends them all.
    releases.announce(opened, None)
    rotate_provider_key(opened, Purpose.ENCRYPTION)
    newest = rotate_provider_key(opened, Purpose.SIGNING, 0).new
    assert record_of(opened).signing_keys(TODAY) == (newest,)


def test_the_log_tells_of_it_and_a_damaged_list_is_an_error(opened: Workspace) -> None:
    rotated = rotate_provider_key(opened, Purpose.ENCRYPTION, 7)
    with opened.registry().reading() as session:
        [event] = [one for one in audit_log.events(session) if one.action == "provider-key-rotated"]
    details = json.loads(event.details)
    assert (details["old"], details["key"]) == (rotated.old.key_id, rotated.new.key_id)
    assert details["counts_until"] == (TODAY + datetime.timedelta(days=7)).isoformat()
    path = opened.keys / provider_keys.SETTINGS
    assert path.stat().st_mode & 0o077 == 0
    for text in ("", "[]", '{"format": 2}', path.read_text().replace("encryption", "other")):
        path.write_text(text)
        with pytest.raises(WorkspaceError, match=r"keys\.json"):
            opened.key()


def test_new_keys_go_under_the_passphrase_of_those_before(tmp_path: Path) -> None:
    made = workspace.create(
        tmp_path / "provider", "north", "i2b2_2014", passphrase=Passphrase.of_secret(b"words of mine", cost=LEAST_COST)
    )
    for purpose in Purpose:
        rotate_provider_key(made, purpose)
    releases.rotate(made, ["timestamp", "root"])
    found = sorted(path for path in made.keys.rglob("*.pem"))
    assert len(found) == 2 + 2 + 2 + 6
    assert all(b"ENCRYPTED" in path.read_bytes() for path in found)


class TestServer:
    """A workspace whose keys are under a passphrase."""

    @pytest.fixture
    def bundles(self, world: World) -> list[Path]:
        return [world.bundle("north", 1), world.bundle("south", 1, 1)]

    @pytest.fixture
    def sealed(self, world: World, bundles: list[Path], monkeypatch: pytest.MonkeyPatch) -> Passphrase:
        secret = Passphrase.of_secret(b"words of mine", cost=LEAST_COST)
        opened = world.workspace()
        rewrite_private(list_key_files(opened.keys), opened.passphrase, secret)
        monkeypatch.delenv(FILE, raising=False)
        return Passphrase.of_secret(b"words of mine", cost=LEAST_COST)

    def test_it_does_not_start_without(self, world: World, sealed: Passphrase, tmp_path: Path) -> None:
        certificates = make_certificates(tmp_path / "tls", "localhost")
        files = ("--certificate", certificates.certificate, "--key", certificates.key)
        refused(provider("serve", *files, "--port", 0, "--workspace", world.provider), 17, "passphrase")

    def test_it_is_asked_once_at_the_start(self, world: World, sealed: Passphrase) -> None:
        opened = workspace.open_workspace(world.provider, sealed)
        opened.unlock()
        assert opened.key()
        rewrite_private(list_key_files(opened.keys), sealed, Passphrase.of_secret(b"other words", cost=LEAST_COST))
        with pytest.raises(PassphraseError, match="start the program again"):
            opened.key()

    def test_its_ingest_process_hears_of_it_over_the_pipe(
        self, world: World, bundles: list[Path], sealed: Passphrase
    ) -> None:
        opened = workspace.open_workspace(world.provider, sealed)
        opened.unlock()
        # Its keys open; that nothing is published yet is what comes next.
        for given, bundle, said in ((opened.passphrase, bundles[0], "publish"), (None, bundles[1], "passphrase")):
            with closing(IngestProcess(world.provider, given)) as process, pytest.raises(AggregatorError, match=said):
                process.take_in(bundle)


def test_by_command(world: World) -> None:
    at = ("--workspace", world.provider)
    old = world.workspace().key().public_key.key_id
    rotated = values(provider("keys", "rotate", "signing", "--overlap", 10, *at, "--json"))
    assert rotated["old"] == old
    shown = done(provider("keys", "rotate", "encryption", "--overlap", 0, *at)).stdout
    assert "let the sites pull today" in shown
    listed = values(provider("keys", "list", *at, "--json"))["own"]
    assert [(row["purpose"], row["key"]) for row in listed][:1] == [("signing", rotated["key"])]
    assert [row["key"] for row in listed if row["purpose"] == "signing"] == [rotated["key"], old]
    refused(provider("keys", "rotate", *at), 2, "expected `signing`, `encryption` or --role")
    refused(provider("keys", "rotate", "signing", "--role", "root", *at), 2, "one of them")
    refused(provider("keys", "rotate", "signing", "--overlap", 91, *at), 2)

"""Shares that leave: approved, sealed once, recorded before they go, and settled by the provider's receipt."""

from __future__ import annotations

import datetime
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from aggregator import workspace as provider_workspace
from aggregator.enrolled import sites as provider_sites
from aggregator.enrolled.site_rotation import rotate
from aggregator.ingestion.ingest import ingest
from aggregator.publishing import releases
from aggregator.publishing.releases import Publishing
from aggregator.server.app import create_app
from aggregator.server.limits import Limits
from aggregator.server.serve import setup, work
from bench.exchange.certificates import Certificates, make_certificates
from bench.exchange.cutting_proxy import connect_proxy
from foundation.errors import StorageError
from protocols.canonical import canonical_bytes
from protocols.errors import DigestError, OtherReleaseError, ProtocolError, SignatureError, UnknownSignerError
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey
from protocols.payload.opening import open_payload
from protocols.share.bundle import read_header
from protocols.share.manifest import ShareFields
from protocols.share.receipt import Receipt, ReceiptState
from protocols.share.sealing import manifest_path, seal_share
from site_client import keys, ledger
from site_client import workspace as site_workspace
from site_client.errors import ApprovalError, LedgerError, PolicyError, SiteError, UnreachableError
from site_client.exchange import outbox, submit
from site_client.exchange.receipts import take_receipt, take_receipts
from site_client.exchange.submit import submit_to_folder, submit_to_server
from site_client.exchange.transport import Connection, RetryPolicy
from site_client.exchange.withdraw import find_share, request_withdrawal
from site_client.releases.pull import pull
from site_client.sharing import approval
from site_client.sharing.approval import signed_manifest
from site_client.sharing.digest_files import ShareDigests, save_digests
from site_client.sharing.encode import encode
from site_client.sharing.known_notes import last_number, shares_that_left
from site_client.workspace import Workspace
from tests.aggregator.server.service import listening
from tests.loop import done, hospital, refused
from tests.protocols.payload.blocks import make_block, write_payload
from tests.site_client import sites
from tests.tiny_notes import long_notes, write_notes

DAY = datetime.date(2026, 1, 31)
QUICK = RetryPolicy(attempts=4, first_s=0.01, most_s=0.02)


@dataclass(frozen=True)
class Pair:
    """A hospital and its provider, which has enrolled it.

    Args:
        hospital: with a release in use.
        root: of both.
    """

    hospital: Workspace
    root: Path

    @property
    def provider(self) -> provider_workspace.Workspace:
        return provider_workspace.open_workspace(self.root / "provider")

    def share(self, sequence: int = 1, seed: int = 0, **changes: object) -> Path:
        """A share of invented sentences."""
        folder = self.root / f"share-{sequence}-{seed}"
        folder.mkdir()
        path = write_payload(folder / "share.parquet", [make_block([3, 4, 5] * 20, dim=6, seed=seed)])
        fields = ShareFields(
            site=self.hospital.site,
            sequence=sequence,
            release=self.hospital.release().digest,
            recipient=self.hospital.pinned_provider().signing_key.key_id,
            label_scheme=sites.SCHEME.name,
            tags=len(sites.SCHEME.tags),
            value_bound=8.0,
            created=DAY,
            software="tests",
            protection={},
        )
        seal_share(path, replace(fields, **changes), self.hospital.key())  # type: ignore[arg-type]
        save_digests(self.hospital, sequence, ShareDigests(frozenset()))
        return path

    def receipt(self, share: Path, state: ReceiptState = ReceiptState.ACCEPTED, **changes: object) -> bytes:
        """A receipt by the provider."""
        signed = signed_manifest(self.hospital, share)
        stated = Receipt(
            self.hospital.site, signed.manifest.sequence, "ab" * 32, signed.sha256, state, "", DAY, "cd" * 32
        )
        return replace(stated, **changes).to_bytes(self.provider.key())  # type: ignore[arg-type]

    def events(self) -> list[str]:
        return [entry.event for entry in ledger.entries(self.hospital)]

    def outbox(self) -> list[Path]:
        return [path for path in (self.hospital.root / "outbox").rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pair")
    site = sites.site(root, sites.noisy(0.1))
    request = root / "request.json"
    keys.request_enrolment(site, request, "", datetime.datetime.now(datetime.UTC).date())
    provider = provider_workspace.open_workspace(root / "provider")
    provider_sites.enrol(provider, request, site.key_in_use.key_id)
    provider.registry().close()
    return root


@pytest.fixture
def pair(made: Path, tmp_path: Path) -> Pair:
    root = Path(shutil.copytree(made, tmp_path / "pair"))
    return Pair(site_workspace.open_workspace(root / "site"), root)


# To a stick.


def test_a_share_travels_on_a_stick_and_its_receipt_returns(pair: Pair, tmp_path: Path) -> None:
    stick, share = tmp_path / "stick", pair.share()
    bundle = submit_to_folder(pair.hospital, share, stick, "A. Person")
    assert bundle == stick / "test-0001.share"
    assert pair.events()[-2:] == ["approved", "submitted"]
    decision = ingest(pair.provider, bundle)
    assert decision.state == "accepted", decision.reason
    (stick / "test-0001.receipt.json").write_bytes(decision.receipt)
    assert pair.outbox() != []
    [receipt] = take_receipts(pair.hospital, stick)
    assert receipt.state == "accepted"
    assert pair.outbox() == []
    assert pair.events()[-1] == "receipt"
    count = len(pair.events())
    take_receipts(pair.hospital, stick)
    assert len(pair.events()) == count


def test_what_is_submitted_again_is_the_same_file(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    first = submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    assert submit_to_folder(pair.hospital, share, tmp_path / "stick", None) == first
    other = submit_to_folder(pair.hospital, share, tmp_path / "other", None)
    assert other.read_bytes() == first.read_bytes()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_attack_a_pipe_or_a_link_of_its_name_on_the_stick_stops_nothing_for_ever(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    bundle = submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    other = tmp_path / "other"
    other.mkdir()
    os.mkfifo(other / bundle.name)
    with pytest.raises(SiteError, match="expected no other file"):
        submit_to_folder(pair.hospital, share, other, None)
    (other / bundle.name).unlink()
    (other / bundle.name).symlink_to(bundle)
    with pytest.raises(SiteError, match="expected no other file"):
        submit_to_folder(pair.hospital, share, other, None)


def test_another_file_of_that_name_is_not_replaced(pair: Pair, tmp_path: Path) -> None:
    target = tmp_path / "test-0001.share"
    target.write_bytes(b"another")
    with pytest.raises(SiteError, match="choose another folder"):
        submit_to_folder(pair.hospital, pair.share(), tmp_path, "A. Person")
    assert target.read_bytes() == b"another"


def test_nothing_leaves_that_nobody_has_approved(pair: Pair, tmp_path: Path) -> None:
    with pytest.raises(ApprovalError):
        submit_to_folder(pair.hospital, pair.share(), tmp_path / "stick", None)
    assert not (tmp_path / "stick").exists()
    assert "submitted" not in pair.events()


@pytest.mark.parametrize("approver", [None, "A. Person"])
def test_a_share_that_was_taken_back_does_not_leave_again(approver: str | None, pair: Pair, tmp_path: Path) -> None:
    share, other = pair.share(), pair.share(2, seed=1)
    submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    request_withdrawal(pair.hospital, find_share(pair.hospital, "1"), "consent", DAY)
    count = len(pair.events())
    with pytest.raises(ApprovalError, match=r"share 1: expected one that nobody has taken back.*--again"):
        submit_to_folder(pair.hospital, share, tmp_path / "later", approver)
    assert not (tmp_path / "later").exists()
    assert len(pair.events()) == count
    submit_to_folder(pair.hospital, other, tmp_path / "later", "A. Person")


def test_what_is_taken_back_and_never_left_is_no_case_for_again(pair: Pair, tmp_path: Path) -> None:
    """`encode --again` knows no share that has not left, and no receipt of it comes."""
    share = pair.share()
    request_withdrawal(pair.hospital, find_share(pair.hospital, str(share)), "consent", DAY)
    with pytest.raises(ApprovalError, match=r"share 1: expected one that nobody has taken back.*encode them anew"):
        submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")


def test_attack_a_share_that_is_taken_back_while_it_is_sealed_does_not_leave(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sealing takes long, and somebody may take the share back from another terminal."""
    share, seal = pair.share(), outbox.seal_for_provider

    def slowly(workspace: Workspace, path: Path, approved: approval.SignedManifest) -> outbox.Sealed:
        sealed = seal(workspace, path, approved)
        request_withdrawal(workspace, find_share(workspace, str(path)), "consent", DAY)
        return sealed

    monkeypatch.setattr(submit, "seal_for_provider", slowly)
    with pytest.raises(ApprovalError, match="taken back"):
        submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    assert "submitted" not in pair.events()
    assert not (tmp_path / "stick").exists() or not list((tmp_path / "stick").iterdir())


def test_a_damaged_share_does_not_leave(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    data = bytearray(share.read_bytes())
    data[40] ^= 1
    share.write_bytes(data)
    with pytest.raises(DigestError):
        submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    assert not (tmp_path / "stick").exists()


def test_a_share_of_another_release_does_not_leave(pair: Pair, tmp_path: Path) -> None:
    with pytest.raises(OtherReleaseError):
        submit_to_folder(pair.hospital, pair.share(release="ef" * 32), tmp_path / "stick", "A. Person")


def test_a_share_that_was_sealed_goes_on_its_way_after_another_release_was_pulled(pair: Pair, tmp_path: Path) -> None:
    """It may have left before the cut; only the provider can say what became of it."""
    share = pair.share()
    before = submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person").read_bytes()
    releases.publish_representer(pair.provider, Publishing(audited=False, notes="another"))
    later, _ = pull(pair.hospital, str(pair.provider.releases), None)
    assert later.release().digest != pair.hospital.release().digest
    assert submit_to_folder(later, share, tmp_path / "again", None).read_bytes() == before
    with pytest.raises(OtherReleaseError):
        submit_to_folder(later, replace(pair, hospital=pair.hospital).share(2, 2), tmp_path / "again", "A. Person")


def test_a_receipt_that_can_not_be_taken_does_not_keep_the_others(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    submit_to_folder(pair.hospital, share, tmp_path, "A. Person")
    (tmp_path / "a.receipt.json").write_bytes(b"damaged")
    (tmp_path / "b.receipt.json").write_bytes(pair.receipt(share))
    with pytest.raises(ProtocolError):
        take_receipts(pair.hospital, tmp_path)
    assert pair.events()[-1] == "receipt"


def test_nor_does_one_that_can_not_be_read(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    submit_to_folder(pair.hospital, share, tmp_path, "A. Person")
    (tmp_path / "a.receipt.json").mkdir()
    (tmp_path / "b.receipt.json").write_bytes(pair.receipt(share))
    with pytest.raises(StorageError, match=r"^a\.receipt\.json: "):
        take_receipts(pair.hospital, tmp_path)
    assert pair.events()[-1] == "receipt"


@pytest.mark.parametrize("odd", ["folder", "pipe", "link to a device"])
def test_what_was_taken_is_told_beside_an_odd_entry(odd: str, pair: Pair, tmp_path: Path) -> None:
    share, stick = pair.share(), tmp_path / "stick"
    submit_to_folder(pair.hospital, share, stick, "A. Person")
    entry = stick / "a.receipt.json"
    if odd == "folder":
        entry.mkdir()
    elif odd == "pipe":
        os.mkfifo(entry)
    else:
        entry.symlink_to("/dev/zero")
    (stick / "b.receipt.json").write_bytes(pair.receipt(share))
    at = ("--workspace", pair.hospital.root)
    result = hospital("receipts", stick, "--json", *at)
    refused(result, 8, "a.receipt.json")
    assert [row["sequence"] for row in json.loads(result.stdout)["receipts"]] == [1]
    assert "share 1: accepted" in hospital("receipts", stick, *at).stdout


def test_nothing_is_sealed_to_keys_that_have_expired(pair: Pair, tmp_path: Path) -> None:
    record = replace(pair.hospital.pinned_provider(), valid_until=datetime.date(2020, 1, 1))
    with pytest.raises(SiteError, match="pull"):
        submit_to_folder(replace(pair.hospital, provider=record), pair.share(), tmp_path / "stick", "A. Person")


def test_a_share_is_sealed_anew_for_another_key_of_the_provider(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    submit_to_folder(pair.hospital, share, tmp_path / "first", "A. Person")
    other = RecipientPrivateKey.generate().public_key
    moved = replace(pair.hospital, provider=replace(pair.hospital.pinned_provider(), recipient=other))
    bundle = submit_to_folder(moved, share, tmp_path / "second", None)
    assert read_header(bundle).recipient == other.key_id


def test_a_share_is_sealed_anew_where_its_bundle_can_not_be_read(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = pair.share()
    submit_to_folder(pair.hospital, share, tmp_path / "first", "A. Person")
    [sealed] = pair.outbox()
    before = sealed.read_bytes()

    def unreadable(path: Path) -> None:
        raise StorageError("a file", received="Input/output error")

    monkeypatch.setattr(outbox, "read_header", unreadable)
    bundle = submit_to_folder(pair.hospital, share, tmp_path / "second", None)
    assert bundle.read_bytes() == sealed.read_bytes() != before


def test_a_share_that_was_signed_before_a_rotation_still_leaves(pair: Pair, tmp_path: Path) -> None:
    share, old = pair.share(), pair.hospital.key_in_use.key_id
    waiting, asked = keys.rotation(pair.hospital, datetime.datetime.now(datetime.UTC).date())
    with closing(pair.provider.registry()):
        rotated, _ = keys.take_into_use(waiting, rotate(pair.provider, asked))
    assert rotated.key_in_use.key_id != old
    bundle = submit_to_folder(rotated, share, tmp_path / "stick", "A. Person")
    assert read_header(bundle).signature.key_id == old
    assert ingest(pair.provider, bundle).state == "accepted"


@pytest.mark.parametrize("whole", [True, False])
def test_a_hospital_whose_key_was_stolen_comes_back_with_all_that_it_has_shared(
    whole: bool, pair: Pair, tmp_path: Path
) -> None:
    first, today = pair.share(), datetime.datetime.now(datetime.UTC).date()
    bundle = submit_to_folder(pair.hospital, first, tmp_path / "stick", "A. Person")
    old, request = pair.hospital.key_in_use.key_id, pair.root / "again.json"
    with closing(pair.provider.registry()):
        decision = ingest(pair.provider, bundle)
        provider_sites.revoke(pair.provider, "test", "stolen", None if whole else old)
        stated = keys.request_enrolment(pair.hospital, request, "", today, new_key=True)
        provider_sites.enrol(pair.provider, request, stated.fingerprint)
    back = Pair(site_workspace.open_workspace(pair.root / "site"), pair.root)
    take_receipt(back.hospital, decision.receipt)
    bundle = submit_to_folder(back.hospital, back.share(2, seed=3), tmp_path / "stick", "A. Person")
    with closing(pair.provider.registry()):
        assert ingest(pair.provider, bundle).state == "accepted"
    # What left under the old key still stands in the way of its notes.
    assert list(shares_that_left(back.hospital)) == [1, 2]


def count_sentences(payload: Path) -> int:
    with open_payload(payload) as reader:
        return sum(block.sentences for block in reader)


@pytest.mark.parametrize("waits", [False, True])
def test_a_share_under_a_key_that_has_ended_does_not_leave_and_its_notes_leave_with_another(
    waits: bool, pair: Pair, tmp_path: Path
) -> None:
    notes, first, second = long_notes(8, seed=1), tmp_path / "a.parquet", tmp_path / "b.parquet"
    encode(pair.hospital, notes, first)
    before = site_workspace.open_workspace(pair.root / "site")
    if waits:
        # Sealed, and the machine went down before the ledger told of it.
        outbox.seal_for_provider(before, first, approval.require(before, first, "A. Person"))
    yesterday = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=1)
    ended = before.update_settings(lambda now: replace(now, keys=(replace(now.keys[0], valid_until=yesterday),)))
    events = pair.events()
    for _ in range(2):
        with pytest.raises(SiteError, match="encode the notes again"):
            submit_to_folder(ended, first, tmp_path / "stick", "A. Person")
    with pytest.raises(SiteError, match="encode the notes again"):
        outbox.seal_for_provider(ended, first, signed_manifest(ended, first))
    assert pair.events() == events
    assert not (tmp_path / "stick").exists()
    keys.request_enrolment(ended, tmp_path / "again.json", "", yesterday, new_key=True)
    back = site_workspace.open_workspace(pair.root / "site")
    again = encode(back, notes, second)
    # Nothing of the first stands in their way.
    assert (again.manifest.sequence, again.sifted.left_out) == (2, 0)
    assert count_sentences(second) == count_sentences(first) > 0
    submit_to_folder(back, second, tmp_path / "stick", "A. Person")


def test_a_share_that_has_left_goes_once_more_for_its_receipt_though_its_key_has_ended(
    pair: Pair, tmp_path: Path
) -> None:
    share = pair.share()
    first = submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    with closing(pair.provider.registry()):
        receipt = ingest(pair.provider, first).receipt
        yesterday = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=1)
        ended = replace(pair.hospital, keys=(replace(pair.hospital.keys[0], valid_until=yesterday),))
        second = submit_to_folder(ended, share, tmp_path / "other", None)
        provider_sites.revoke(pair.provider, "test", "ended")
        assert ingest(pair.provider, second).receipt == receipt


# Receipts.


def test_attack_a_receipt_that_the_provider_did_not_sign(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    signed = signed_manifest(pair.hospital, share)
    forged = Receipt("test", 1, "ab" * 32, signed.sha256, ReceiptState.ACCEPTED, "", DAY, "cd" * 32).to_bytes(
        PrivateKey.generate()
    )
    with pytest.raises(SignatureError):
        take_receipt(pair.hospital, forged)
    assert pair.outbox() != []
    assert pair.events()[-1] == "submitted"


@pytest.mark.parametrize("change", [{"manifest_sha256": "ef" * 32}, {"sequence": 2}, {"site": "other"}])
def test_attack_a_receipt_about_something_else(pair: Pair, tmp_path: Path, change: dict[str, Any]) -> None:
    share = pair.share()
    submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    with pytest.raises(SiteError, match="left from here"):
        take_receipt(pair.hospital, pair.receipt(share, **change))
    assert pair.outbox() != []


@pytest.mark.parametrize("days", [0, -1, 1])
def test_a_receipt_counts_after_the_keys_of_the_provider_have_run_out_if_it_is_of_a_day_before(
    days: int, pair: Pair, tmp_path: Path
) -> None:
    share, last = pair.share(), datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=2)
    submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    stated = pair.receipt(share, day=last + datetime.timedelta(days=days))
    over = replace(pair.hospital, provider=replace(pair.hospital.pinned_provider(), valid_until=last))
    if days > 0:
        with pytest.raises(UnknownSignerError, match="pull"):
            take_receipt(over, stated)
        assert pair.events()[-1] == "submitted"
    else:
        assert take_receipt(over, stated).state == "accepted"


_JUNK: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda receipt: receipt[:-40],
    "empty": lambda receipt: b"",
    "endless": lambda receipt: receipt + b" " * (1 << 20),
    "binary": lambda receipt: bytes(range(256)),
    "nested": lambda receipt: b"[" * 5000,
    "unsigned": lambda receipt: canonical_bytes({"receipt": json.loads(receipt)["receipt"]}),
    "changed": lambda receipt: receipt.replace(b'"accepted"', b'"rejected"'),
}


@pytest.mark.parametrize("junk", _JUNK)
def test_attack_what_is_no_receipt_is_named_and_stops_nothing(junk: str, pair: Pair, tmp_path: Path) -> None:
    share, at = pair.share(), ("--workspace", pair.hospital.root)
    submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    receipt = pair.receipt(share)
    (tmp_path / "stick" / "north-0001.receipt.json").write_bytes(_JUNK[junk](receipt))
    (tmp_path / "stick" / "test-0001.receipt.json").write_bytes(receipt)
    said = hospital("receipts", tmp_path / "stick", *at)
    assert said.exit_code in (10, 11, 12)
    assert said.stderr.startswith("error: north-0001.receipt.json: expected ")
    assert said.stdout.startswith("share 1: accepted")
    assert len(list((pair.hospital.root / "receipts").iterdir())) == 1
    assert last_number(pair.hospital) == 1


def test_attack_a_receipt_for_a_share_that_never_left_stops_encoding_until_it_is_moved_as_is_said(
    pair: Pair, tmp_path: Path
) -> None:
    """A provider can sign one; that the workspace is an old one nobody can exclude but a person."""
    share, root = pair.share(), pair.hospital.root
    notes, out = write_notes(tmp_path / "notes", long_notes(20, 1)), tmp_path / "b.parquet"
    submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    invented = pair.receipt(share, sequence=9999, manifest_sha256="ef" * 32)
    (tmp_path / "stick" / "test-9999.receipt.json").write_bytes(invented)
    line = refused(hospital("receipts", tmp_path / "stick", "--workspace", root), 30, "no such share ever left")
    [kept] = (root / "receipts").iterdir()
    encode_it = ("encode", notes, "--out", out, "--workspace", root)
    for told in (line, refused(hospital(*encode_it), 31, "share 9999", "no such share ever left")):
        assert f"move receipts/{kept.name} out of the workspace" in told
    assert kept.rename(tmp_path / kept.name).read_bytes() == invented
    done(hospital(*encode_it))
    assert take_receipt(pair.hospital, pair.receipt(share)).state == "accepted"


def test_attack_two_shares_of_the_same_notes_are_submitted_at_once(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the second is being sealed the first leaves: nothing of it leaves twice."""
    notes, first, second = long_notes(8, seed=1), tmp_path / "a.parquet", tmp_path / "b.parquet"
    for path in (first, second):
        encode(site_workspace.open_workspace(pair.hospital.root), notes, path)
    seal = outbox.seal_for_provider

    def sealed_slowly(workspace: Workspace, share: Path, signed: approval.SignedManifest) -> outbox.Sealed:
        monkeypatch.setattr(submit, "seal_for_provider", seal)
        ready = seal(workspace, share, signed)
        submit_to_folder(pair.hospital, first, tmp_path / "stick", "A. Person")
        return ready

    monkeypatch.setattr(submit, "seal_for_provider", sealed_slowly)
    with pytest.raises(PolicyError, match=r"share 2.*has left with share 1 since"):
        submit_to_folder(pair.hospital, second, tmp_path / "other stick", "A. Person")
    assert list(shares_that_left(pair.hospital)) == [1]
    assert not list((tmp_path / "other stick").glob("*"))


def test_attack_a_workspace_from_an_older_backup_shares_again_what_was_shared(pair: Pair, tmp_path: Path) -> None:
    """From the receipt of the share that it does not know on, nothing is encoded until the newest backup is there."""
    share, root = pair.share(), pair.hospital.root
    older = Path(shutil.copytree(root, tmp_path / "older"))
    submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    receipt = pair.receipt(share)
    root.rename(tmp_path / "newer")
    older.rename(root)
    with pytest.raises(SiteError, match="newest backup"):
        take_receipt(pair.hospital, receipt)
    with pytest.raises(LedgerError, match="share 1, of which receipts/ holds"):
        last_number(pair.hospital)
    notes = write_notes(tmp_path / "notes", long_notes(20, 1))
    refused(hospital("encode", notes, "--out", tmp_path / "again.parquet", "--workspace", root), 31, "older")
    shutil.rmtree(root)
    (tmp_path / "newer").rename(root)
    assert take_receipt(pair.hospital, receipt).state == "accepted"
    assert last_number(pair.hospital) == 1


def test_attack_a_bundle_that_opens_nothing_makes_no_ledger_old(pair: Pair) -> None:
    """Whoever claims a number of this site has it refused by a signed receipt, too; that one names no manifest."""
    with pytest.raises(SiteError, match="left from here"):
        take_receipt(
            pair.hospital, pair.receipt(pair.share(), ReceiptState.REJECTED, manifest_sha256="", reason_code="seal")
        )
    ledger.verify(pair.hospital)


def test_a_receipt_for_what_never_left_is_refused(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    submit_to_folder(pair.hospital, share, tmp_path, "A. Person")
    with pytest.raises(SiteError, match="left from here"):
        take_receipt(pair.hospital, pair.receipt(share, manifest_sha256="ef" * 32))


def test_receipts_of_other_sites_are_left_alone(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    submit_to_folder(pair.hospital, share, tmp_path, "A. Person")
    (tmp_path / "other-0001.receipt.json").write_bytes(pair.receipt(share, site="other"))
    with pytest.raises(SiteError, match="found none"):
        take_receipts(pair.hospital, tmp_path)
    (tmp_path / "test-0001.receipt.json").write_bytes(pair.receipt(share))
    assert [one.site for one in take_receipts(pair.hospital, tmp_path)] == ["test"]


def test_receipts_whose_names_a_stick_gives_back_in_capitals_are_taken(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    submit_to_folder(pair.hospital, share, tmp_path, "A. Person")
    (tmp_path / "TEST-0001.RECEIPT.JSON").write_bytes(pair.receipt(share))
    assert [one.sequence for one in take_receipts(pair.hospital, tmp_path)] == [1]


def test_a_later_receipt_about_the_same_share_is_recorded_too(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    submit_to_folder(pair.hospital, share, tmp_path, "A. Person")
    take_receipt(pair.hospital, pair.receipt(share, ReceiptState.QUARANTINED, reason_code="rates"))
    take_receipt(pair.hospital, pair.receipt(share, ReceiptState.ACCEPTED, log_head="ee" * 32))
    assert pair.events()[-2:] == ["receipt", "receipt"]


# To a server.


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return make_certificates(tmp_path / "certificates", "localhost")


@pytest.fixture
def server(pair: Pair, certificates: Certificates) -> Iterator[Connection]:
    workspace = pair.provider
    done = work(workspace, lambda path: ingest(workspace, path), lambda: None)
    with (
        listening(lambda address: create_app(setup(workspace, address, Limits()), done), certificates) as at,
        closing(workspace.registry()),
    ):
        yield Connection(at, certificates.authority, retry_policy=QUICK)


def test_a_share_travels_over_https_and_its_receipt_is_recorded(pair: Pair, server: Connection) -> None:
    share = pair.share()
    seen: list[tuple[int, int]] = []
    receipt = submit_to_server(
        pair.hospital, share, server, "A. Person", progress=lambda arrived, size: seen.append((arrived, size))
    )
    assert (receipt.site, receipt.sequence, receipt.state) == ("test", 1, "accepted")
    assert seen[-1][0] == seen[-1][1] > 0
    assert pair.events()[-3:] == ["approved", "submitted", "receipt"]
    assert pair.outbox() == []
    again = submit_to_server(pair.hospital, share, server, None)
    assert again == receipt


def test_what_was_decided_of_a_share_is_told_after_another_release_was_pulled(pair: Pair, server: Connection) -> None:
    """Its receipt may have said that somebody looks at it; its notes leave in no other share."""
    share = pair.share()
    first = submit_to_server(pair.hospital, share, server, "A. Person")
    releases.publish_representer(pair.provider, Publishing(audited=False, notes="another"))
    later, _ = pull(pair.hospital, str(pair.provider.releases), None)
    assert later.release().digest != pair.hospital.release().digest
    assert pair.outbox() == []
    assert submit_to_server(later, share, server, None) == first


def test_what_was_cut_off_goes_on_with_the_same_bytes(pair: Pair, server: Connection, tmp_path: Path) -> None:
    share = pair.share()
    with connect_proxy([4_000, 6_000, 8_000, 9_000]) as proxy, pytest.raises(UnreachableError, match="given up"):
        submit_to_server(
            pair.hospital, share, replace(server, proxy=proxy.url, retry_policy=replace(QUICK, attempts=2)), "A. Person"
        )
    [kept] = pair.outbox()
    data = kept.read_bytes()
    assert submit_to_folder(pair.hospital, share, tmp_path / "stick", None).read_bytes() == data
    assert submit_to_server(pair.hospital, share, server, None).state == "accepted"
    assert pair.outbox() == []


def test_a_share_that_is_refused_inside_gets_a_receipt_that_says_so(pair: Pair, server: Connection) -> None:
    share = pair.share(value_bound=1e6)
    receipt = submit_to_server(pair.hospital, share, server, "A. Person")
    assert receipt.state == "rejected"
    assert receipt.reason_code
    assert pair.events()[-1] == "receipt"


def test_no_manifest_of_the_share_is_left_beside_the_bundle(pair: Pair, tmp_path: Path) -> None:
    share = pair.share()
    bundle = submit_to_folder(pair.hospital, share, tmp_path / "stick", "A. Person")
    assert [path.name for path in bundle.parent.iterdir()] == [bundle.name]
    assert manifest_path(share).read_bytes() not in bundle.read_bytes()

"""A hospital takes a share back."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from protocols.errors import ProtocolError, SchemaError, SignatureError
from protocols.keys.signing import PrivateKey
from protocols.share.receipt import Receipt, ReceiptState
from protocols.share.withdrawal import read_withdrawal
from site_client import ledger
from site_client.errors import SiteError
from site_client.exchange import withdraw
from site_client.exchange.departures import Departure
from site_client.exchange.receipts import take_receipt
from site_client.sharing import approval
from site_client.sharing.known_notes import shares_that_left
from site_client.sharing.sifting.decisions import Decision
from site_client.workspace import Workspace
from tests.loop import hospital, refused, values
from tests.protocols.share.shares import OTHER_KEY, resign
from tests.site_client.exchange.paired import DAY, PROVIDER, share, site

DAY_OF_RECEIPT = datetime.date(2026, 3, 1)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return site(tmp_path / "site")


@pytest.fixture
def path(workspace: Workspace) -> Path:
    path = share(workspace)
    left(workspace, path)
    return path


def left(workspace: Workspace, path: Path) -> None:
    """As if the share had been submitted."""
    signed = approval.signed_manifest(workspace, path)
    Departure(signed.manifest.sequence, signed.sha256, "ab" * 32, "folder").record(workspace)


def receipt(
    manifest_sha256: str,
    signer: PrivateKey = PROVIDER,
    state: ReceiptState = ReceiptState.WITHDRAWN,
    name: str = "st-anne",
    day: datetime.date = DAY_OF_RECEIPT,
) -> bytes:
    return Receipt(name, 1, "ab" * 32, manifest_sha256, state, "", day, "cd" * 32).to_bytes(signer)


def test_a_share_is_found_by_its_file_and_by_its_number(workspace: Workspace, path: Path) -> None:
    by_file = withdraw.find_share(workspace, str(path))
    path.unlink()
    assert withdraw.find_share(workspace, "1") == by_file
    assert by_file.manifest_sha256 == next(ledger.entries(workspace)).details["manifest_sha256"]


def test_the_withdrawal_is_signed_and_recorded(workspace: Workspace, path: Path) -> None:
    found = withdraw.find_share(workspace, "1")
    asked = read_withdrawal(withdraw.request_withdrawal(workspace, found, "consent", DAY), workspace.key().public_key)
    assert (asked.site, asked.sequence, asked.manifest_sha256, asked.created, asked.reason) == (
        "st-anne",
        1,
        found.manifest_sha256,
        DAY,
        "consent",
    )
    assert [entry.event for entry in ledger.entries(workspace)][-1] == "withdrawal asked for"


@pytest.mark.parametrize("name", ["2", "0", "99999999999999999999"])
def test_a_number_that_never_left_is_refused(name: str, workspace: Workspace, path: Path) -> None:
    with pytest.raises(SiteError, match="found 0"):
        withdraw.find_share(workspace, name)


def test_a_number_that_two_shares_had_is_not_guessed(workspace: Workspace, path: Path) -> None:
    left(workspace, share(workspace, "other.h5"))
    with pytest.raises(SiteError, match="found 2"):
        withdraw.find_share(workspace, "1")


def test_the_share_of_another_site_is_not_ours_to_withdraw(workspace: Workspace, path: Path) -> None:
    resign(path, lambda manifest: None, OTHER_KEY)
    with pytest.raises(ProtocolError):
        withdraw.find_share(workspace, str(path))


def test_a_reason_is_one_line(workspace: Workspace, path: Path) -> None:
    before = ledger.verify(workspace)
    with pytest.raises(SchemaError):
        withdraw.request_withdrawal(workspace, withdraw.find_share(workspace, "1"), "two\nlines", DAY)
    assert ledger.verify(workspace) == before


def test_a_reason_is_taken_however_the_keyboard_composes_its_letters(workspace: Workspace, path: Path) -> None:
    data = withdraw.request_withdrawal(workspace, withdraw.find_share(workspace, "1"), "Wu\u0308nsche", DAY)
    assert read_withdrawal(data, workspace.key().public_key).reason == "W\u00fcnsche"


def test_the_providers_word_goes_into_the_ledger(workspace: Workspace, path: Path) -> None:
    found = withdraw.find_share(workspace, "1")
    withdraw.confirm_withdrawal(workspace, found, receipt(found.manifest_sha256))
    last = ledger.verify(workspace)
    assert last is not None
    assert (last.details["state"], last.details["log_head"]) == ("withdrawn", "cd" * 32)
    assert last.details["manifest_sha256"] == found.manifest_sha256


def test_attack_a_withdrawal_confirmed_under_a_head_that_was_named_before_is_kept_too(
    workspace: Workspace, path: Path
) -> None:
    found = withdraw.find_share(workspace, "1")
    accepted = receipt(found.manifest_sha256, state=ReceiptState.ACCEPTED)
    take_receipt(workspace, accepted)
    withdrawn = receipt(found.manifest_sha256)
    for _ in range(2):
        withdraw.confirm_withdrawal(workspace, found, withdrawn)
    states = [entry.details.get("state") for entry in ledger.entries(workspace)]
    assert states[1:] == ["accepted", "withdrawn"]
    kept = {one.read_bytes() for one in (workspace.root / "receipts").iterdir()}
    assert kept == {accepted, withdrawn}


@pytest.mark.parametrize("day", [-5, 0, 5])
@pytest.mark.parametrize("state", [ReceiptState.ACCEPTED, ReceiptState.QUARANTINED, ReceiptState.REJECTED])
def test_attack_an_older_receipt_is_taken_after_the_withdrawals(
    state: ReceiptState, day: int, workspace: Workspace, path: Path, tmp_path: Path
) -> None:
    """It would have the share count again, and its notes never leave again under the same representer."""
    found = withdraw.find_share(workspace, "1")
    stick = tmp_path / "stick"
    stick.mkdir()
    withdraw.confirm_withdrawal(workspace, found, receipt(found.manifest_sha256))
    assert shares_that_left(workspace) == {1: False}
    stale = receipt(found.manifest_sha256, state=state, day=DAY_OF_RECEIPT + datetime.timedelta(day))
    (stick / "st-anne-0001.receipt.json").write_bytes(stale)
    for _ in range(2):
        said = hospital("receipts", stick, "--workspace", workspace.root)
        assert said.exit_code == 0
        assert "changes nothing: the share stays withdrawn" in said.stdout
    assert shares_that_left(workspace) == {1: False}
    (row,) = values(hospital("receipts", stick, "--workspace", workspace.root, "--json"))["receipts"]
    assert (row["state"], row["superseded_by"]) == (state, "withdrawn")


def test_of_two_receipts_the_newer_counts_in_whichever_order_they_are_taken(workspace: Workspace, path: Path) -> None:
    manifest, later = withdraw.find_share(workspace, "1").manifest_sha256, DAY_OF_RECEIPT + datetime.timedelta(1)
    for one in (
        receipt(manifest, state=ReceiptState.REJECTED, day=later),
        receipt(manifest, state=ReceiptState.QUARANTINED),
        receipt(manifest, state=ReceiptState.ACCEPTED),
    ):
        take_receipt(workspace, one)
        assert shares_that_left(workspace) == {1: False}
    take_receipt(workspace, receipt(manifest, state=ReceiptState.ACCEPTED, day=later + datetime.timedelta(1)))
    assert shares_that_left(workspace) == {1: True}


@pytest.mark.parametrize("state", [ReceiptState.ACCEPTED, ReceiptState.QUARANTINED])
def test_attack_a_receipt_of_a_day_to_come_outlasts_all_that_is_decided_until_then(
    state: ReceiptState, workspace: Workspace, path: Path, tmp_path: Path
) -> None:
    manifest, today = withdraw.find_share(workspace, "1").manifest_sha256, datetime.datetime.now(datetime.UTC).date()
    take_receipt(workspace, receipt(manifest, state=state, day=datetime.date(2099, 1, 1)))
    assert shares_that_left(workspace) == {1: True}
    (tmp_path / "st-anne-0001.receipt.json").write_bytes(receipt(manifest, state=ReceiptState.REJECTED, day=today))
    refused(hospital("receipts", tmp_path, "--workspace", workspace.root), 34, "share 1")
    assert shares_that_left(workspace) == {1: False}


def test_what_an_earlier_version_recorded_without_a_day_is_withdrawn_for_good() -> None:
    assert not Decision("accepted", "2026-03-01").follows(Decision("withdrawn"))
    assert not Decision("quarantined").follows(Decision("rejected"))
    assert Decision("accepted", "2026-03-01").follows(Decision("quarantined"))
    assert Decision("withdrawn", "2026-03-01").follows(Decision("accepted", "2026-03-02"))
    assert Decision("withdrawn").follows(Decision("withdrawn", "2026-03-02"))


def test_another_word_than_the_providers_is_none(workspace: Workspace, path: Path) -> None:
    found = withdraw.find_share(workspace, "1")
    for answer, error in (
        (receipt(found.manifest_sha256, workspace.key()), SignatureError),
        (receipt("ef" * 32), SiteError),
        (receipt(found.manifest_sha256, name="st-bede"), SiteError),
        (receipt(found.manifest_sha256, state=ReceiptState.ACCEPTED), SiteError),
    ):
        with pytest.raises(error):
            withdraw.confirm_withdrawal(workspace, found, answer)
    assert "withdrawn" not in [entry.details.get("state") for entry in ledger.entries(workspace)]


def test_the_command_writes_for_a_stick(workspace: Workspace, path: Path, tmp_path: Path) -> None:
    at = ("--workspace", workspace.root)
    before = ledger.verify(workspace)
    # Nothing is recorded where there is no way to send it.
    refused(hospital("withdraw", "1", *at), 30, "server")
    assert ledger.verify(workspace) == before
    found = values(hospital("withdraw", "1", "--to-folder", tmp_path / "stick", "--json", *at))
    data = Path(found["withdrawal"]).read_bytes()
    assert read_withdrawal(data, workspace.key().public_key).sequence == 1

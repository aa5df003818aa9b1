"""Keys change and shares are taken back over HTTPS, against the provider's real server."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from aggregator import workspace as provider_workspace
from aggregator.enrolled import site_rotation
from aggregator.enrolled import sites as provider_sites
from aggregator.ingestion.ingest import ingest
from aggregator.server.app import create_app
from aggregator.server.limits import Limits
from aggregator.server.serve import setup, work
from bench.exchange.certificates import Certificates, make_certificates
from protocols.share.receipt import Receipt, ReceiptState
from protocols.share.withdrawal import read_withdrawal
from site_client import keys, ledger
from site_client import workspace as site_workspace
from site_client.exchange.departures import Departure
from site_client.sharing import approval
from site_client.workspace import KeyState, Workspace
from tests.aggregator.server.service import listening
from tests.loop import done, hospital, refused, values
from tests.site_client.exchange.paired import DAY, share


@dataclass
class Pair:
    """A hospital that is enrolled at a provider whose server answers.

    Args:
        root: of the hospital's workspace.
        provider: its workspace.
        certificates: of the server.
        state: what its receipts say of a withdrawal.
    """

    root: Path
    provider: provider_workspace.Workspace
    certificates: Certificates
    state: ReceiptState = ReceiptState.WITHDRAWN

    @property
    def site(self) -> Workspace:
        return site_workspace.open_workspace(self.root)

    @property
    def at(self) -> tuple[object, ...]:
        return ("--workspace", self.root, "--ca", self.certificates.authority)

    def counting(self, on: datetime.date | None = None) -> list[str]:
        found = provider_sites.site_keys(self.provider, on or provider_sites.today())
        return [key.key_id for key in found["st-anne"]]

    def withdraw(self, site: str, data: bytes) -> bytes:
        """The answer to a withdrawal; what it does to shares is shown in tests/aggregator/enrolled/test_shares.py."""
        asked = read_withdrawal(data, self.site.key().public_key)
        digest = asked.manifest_sha256
        answer = Receipt(site, asked.sequence, "ab" * 32, digest, self.state, "", DAY, "cd" * 32)
        return answer.to_bytes(self.provider.key())


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"), "localhost", "127.0.0.1")


@pytest.fixture
def pair(certificates: Certificates, tmp_path: Path) -> Iterator[Pair]:
    provider = provider_workspace.create(tmp_path / "provider", "north", "i2b2_2014")
    site = site_workspace.create(tmp_path / "site", "st-anne")
    keys.request_enrolment(site, tmp_path / "request.json", "", provider_sites.today())
    provider_sites.enrol(provider, tmp_path / "request.json", site.key_in_use.key_id)
    made = Pair(site.root, provider, certificates)
    carried_out = replace(work(provider, lambda path: ingest(provider, path), lambda: None), withdraw=made.withdraw)
    with (
        closing(provider.registry()),
        listening(lambda address: create_app(setup(provider, address, Limits()), carried_out), certificates) as address,
    ):
        replace(site, provider=provider.record(address)).save()
        yield made


def test_a_new_key_signs_as_soon_as_the_provider_has_accepted_it(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    old = pair.site.key_in_use.key_id
    new = values(hospital("keys", "rotate", "--json", *pair.at))["fingerprint"]
    assert [(key.key_id, key.state) for key in pair.site.keys] == [(old, KeyState.RETIRED), (new, KeyState.IN_USE)]
    assert pair.counting() == [new, old]
    # The next request is signed by the new one, and comes too early; what is asked for then is asked for again.
    refused(hospital("keys", "rotate", *pair.at), 33, "expected one rotation a day")
    assert pair.counting() == [new, old]
    tomorrow = provider_sites.today() + datetime.timedelta(days=1)
    monkeypatch.setattr(site_rotation, "today", lambda: tomorrow)
    again = values(hospital("keys", "rotate", "--json", *pair.at))["fingerprint"]
    assert pair.counting(tomorrow)[0] == again
    assert set(pair.counting(tomorrow)) == {again, new, old}
    assert ledger.verify(pair.site) is not None


def test_a_rotation_whose_answer_was_lost_is_asked_for_again(pair: Pair) -> None:
    old = pair.site.key_in_use.key_id
    new = values(hospital("keys", "rotate", "--json", *pair.at))["fingerprint"]
    # As if the site had died before it took the answer.
    states = zip(pair.site.keys, (KeyState.IN_USE, KeyState.WAITING), strict=True)
    replace(pair.site, keys=tuple(replace(key, state=state) for key, state in states)).save()
    assert values(hospital("keys", "rotate", "--json", *pair.at))["fingerprint"] == new
    assert pair.counting() == [new, old]
    assert pair.site.key_in_use.key_id == new


def test_a_revoked_site_can_not_rotate_itself_back(pair: Pair) -> None:
    before = pair.site.key_in_use
    provider_sites.revoke(pair.provider, "st-anne", "laptop stolen")
    refused(hospital("keys", "rotate", *pair.at), 33)
    assert pair.site.key_in_use == before


@pytest.mark.parametrize("state", [ReceiptState.WITHDRAWN, ReceiptState.ACCEPTED])
def test_a_share_is_taken_back_once_the_provider_says_so(state: ReceiptState, pair: Pair) -> None:
    signed = approval.signed_manifest(pair.site, share(pair.site))
    Departure(1, signed.sha256, "ab" * 32, "folder").record(pair.site)
    pair.state = state
    result = hospital("withdraw", "1", "--reason", "consent", *pair.at)
    if state == ReceiptState.WITHDRAWN:
        assert "is withdrawn" in done(result).stdout
        assert list(ledger.entries(pair.site))[-1].details["state"] == "withdrawn"
    else:
        refused(result, 30, "receipt that it is withdrawn")

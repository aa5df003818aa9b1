"""Golden files of version 0.1 open, verify and mean what they meant. `tests.golden.make` says what they are.

The clock stands at the moment in which they were made: what expires is no question of the format.
"""

from __future__ import annotations

import datetime
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aggregator.enrolled.shares import accepted_shares, carry_out, find_share, list_shares
from aggregator.enrolled.sites import list_sites, site_keys
from aggregator.errors import RegistryError
from aggregator.errors import WorkspaceError as ProviderError
from aggregator.ingestion.ingest import ingest
from aggregator.publishing.releases import Publishing, publish_pipeline, publish_representer, releases
from aggregator.registry import audit_log, database_url, open_registry
from aggregator.workspace import Workspace as Provider
from aggregator.workspace import open_workspace as open_provider
from protocols.errors import DigestError, ProtocolError
from protocols.keys.enrolment import parse_request
from protocols.payload.opening import open_payload
from protocols.share.bundle import open_bundle, verify_bundle
from protocols.share.receipt import read_receipt
from protocols.share.sealing import ShareExpectation, open_share
from shared.constructions.construction import Protection
from shared.constructions.registry import load_construction
from shared.labels import load_scheme_file
from shared.pipeline.pipeline import load_pipeline
from site_client.errors import LedgerError, PolicyError, SiteError
from site_client.ledger import entries, ledger_path, verify
from site_client.policy.enforcing import Acceptance
from site_client.policy.site_policy import DEFAULT
from site_client.policy.stored import load_policy
from site_client.releases.pull import pull
from site_client.sharing.encode import encode
from site_client.sharing.inspect import inspect
from site_client.trust import Trust
from site_client.workspace import Workspace as Hospital
from site_client.workspace import create as create_hospital
from site_client.workspace import open_workspace as open_hospital
from tests.golden.archives import unpack
from tests.golden.figures import construction_figures, found_spans, numbers, payload_figures
from tests.golden.opening import flip, stop_clock
from tests.site_client.sites import single_precision

GOLDEN = Path(__file__).parent / "v0_1"
STICK = GOLDEN / "stick"
EXPECTED: dict[str, Any] = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
MADE = datetime.datetime.fromisoformat(EXPECTED["made"])
SHARES = [("st-anne-0001.share", "first.parquet"), ("st-anne-0002.share", "second.h5")]
NUMBERS = [0, 1]
# Its releases have no full audit that says when it was made.
A_PERSON = Acceptance("A. Weiss")
# Processors add up in other orders.
CLOSE: dict[str, Any] = {"rtol": 0, "atol": 1e-3}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_clock(monkeypatch, MADE)
    single_precision(monkeypatch)


@pytest.fixture
def provider(tmp_path: Path) -> Provider:
    return open_provider(unpack(GOLDEN / "aggregator.tar.xz", tmp_path / "aggregator"))


@pytest.fixture
def site(tmp_path: Path) -> Hospital:
    return open_hospital(unpack(GOLDEN / "site.tar.xz", tmp_path / "site"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return unpack(GOLDEN / "releases.tar.xz", tmp_path / "releases")


@pytest.fixture
def encoded(tmp_path: Path) -> Path:
    """The folder of the encoded shares, which the test may change."""
    return Path(shutil.copytree(GOLDEN / "encoded", tmp_path / "encoded"))


def figures(payload: Path) -> dict[str, Any]:
    with open_payload(payload) as reader:
        return payload_figures(reader)


def schema(database: Path) -> list[tuple[str, ...]]:
    """Version, tables, indices and triggers of a registry."""
    with closing(sqlite3.connect(database)) as connection:
        made = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()
        return [*connection.execute("SELECT version_num FROM alembic_version"), *made]


class TestShares:
    @pytest.mark.parametrize("number", NUMBERS)
    def test_a_submitted_share_opens_with_the_providers_key(
        self, number: int, provider: Provider, tmp_path: Path
    ) -> None:
        path = STICK / SHARES[number][0]
        keys, recipient = site_keys(provider, MADE.date()), provider.recipient()
        bundle = verify_bundle(path, public_keys=keys, recipient_id=recipient.public_key.key_id)
        payload = open_bundle(bundle, recipient, tmp_path)
        expected = ShareExpectation(
            recipient=provider.key().public_key.key_id,
            release=EXPECTED["releases"]["0001-representer"],
            label_scheme=provider.scheme.name,
            tags=len(provider.scheme.tags),
        )
        share = open_share(payload, public_keys=keys, expected=expected)
        assert (share.manifest.site, share.manifest.sequence) == ("st-anne", number + 1)
        assert share.key.key_id == EXPECTED["site_fingerprint"]
        assert figures(payload) == EXPECTED["shares"][number]

    @pytest.mark.parametrize("number", NUMBERS)
    def test_an_encoded_share_verifies_with_the_sites_key(self, number: int, site: Hospital) -> None:
        path = GOLDEN / "encoded" / SHARES[number][1]
        share = open_share(path, public_keys={site.site: site.public_keys})
        assert share.manifest.payload_format == {".parquet": "parquet", ".h5": "hdf5"}[path.suffix]
        assert figures(path) == EXPECTED["shares"][number]

    @pytest.mark.parametrize("number", NUMBERS)
    def test_an_encoded_share_is_inspected_with_its_report(self, number: int, site: Hospital) -> None:
        found = inspect(site, GOLDEN / "encoded" / SHARES[number][1], load_scheme_file(site.release().folder), None)
        assert found.manifest.tokens == EXPECTED["shares"][number]["tokens"]
        assert found.report is not None
        assert found.report.protection is Protection.SURROGATES

    @pytest.mark.parametrize("place", [0, 200, 1500, -1])
    @pytest.mark.parametrize("number", NUMBERS)
    def test_a_submitted_share_with_a_flipped_bit_is_refused(
        self, number: int, place: int, provider: Provider, tmp_path: Path
    ) -> None:
        path = Path(shutil.copy(STICK / SHARES[number][0], tmp_path))
        flip(path, place)
        with pytest.raises(ProtocolError):
            ingest(provider, path)

    @pytest.mark.parametrize("number", NUMBERS)
    def test_an_encoded_share_with_a_flipped_bit_is_refused(self, number: int, site: Hospital, encoded: Path) -> None:
        path = encoded / SHARES[number][1]
        flip(path, 1000)
        with pytest.raises(DigestError):
            open_share(path, public_keys={site.site: site.public_keys})


class TestProvider:
    def test_the_workspace_opens_with_its_keys(self, provider: Provider) -> None:
        assert (provider.name, provider.scheme.name) == ("provider", "i2b2_2014")
        assert provider.repository().fingerprint.key_id == EXPECTED["fingerprint"]
        assert provider.repository().has_offline_keys()

    def test_the_registry_is_brought_to_the_newest_schema(self, provider: Provider, tmp_path: Path) -> None:
        provider.registry()
        open_registry(database_url("new.sqlite", tmp_path)).close()
        assert schema(provider.root / "registry.sqlite") == schema(tmp_path / "new.sqlite")

    def test_the_audit_log_verifies(self, provider: Provider) -> None:
        with provider.registry().reading() as session:
            count = audit_log.verify(session, known=[EXPECTED["audit_log"]["head"]])
        assert count == EXPECTED["audit_log"]["events"]

    def test_the_exported_audit_log_is_the_one_in_the_registry(self, provider: Provider) -> None:
        with provider.registry().reading() as session:
            found = [event.as_json() for event in audit_log.events(session)]
        lines = (GOLDEN / "audit-log.jsonl").read_text(encoding="utf-8").splitlines()
        assert found == [json.loads(line) for line in lines]

    def test_an_audit_log_with_a_flipped_bit_is_refused(self, provider: Provider) -> None:
        database = provider.root / "registry.sqlite"
        assert database.read_bytes().count(b"workspace-made") == 1
        flip(database, database.read_bytes().index(b"workspace-made"))
        with provider.registry().reading() as session, pytest.raises(RegistryError, match="event 1"):
            audit_log.verify(session)

    def test_the_site_is_enrolled_as_it_asked(self, provider: Provider) -> None:
        request = parse_request((STICK / "st-anne.request.json").read_bytes())
        [found] = list_sites(provider)
        assert (found.name, found.contact) == (request.site, request.contact) == ("st-anne", "A. Weiss")
        assert found.keys_on(MADE.date())[0].public_key == request.public_key

    def test_the_accepted_share_is_listed(self, provider: Provider) -> None:
        assert [vars(one) for one in accepted_shares(provider)] == EXPECTED["listed"]

    def test_the_payload_of_the_accepted_share_lies_in_the_store(self, provider: Provider) -> None:
        with provider.objects().local(EXPECTED["listed"][0]["digest"]) as payload:
            assert figures(payload) == EXPECTED["shares"][0]

    def test_a_share_that_was_taken_in_is_known_again(self, provider: Provider) -> None:
        decision = ingest(provider, STICK / SHARES[0][0])
        assert (decision.state, decision.share) == ("accepted", EXPECTED["listed"][0]["id"])
        assert decision.receipt == (STICK / "st-anne-0001.receipt.json").read_bytes()
        assert [vars(one) for one in list_shares(provider)] == EXPECTED["listed"]

    def test_a_share_that_comes_now_is_accepted(self, provider: Provider) -> None:
        decision = ingest(provider, STICK / SHARES[1][0])
        assert (decision.state, decision.reason) == ("accepted", "")
        [_, new] = accepted_shares(provider)
        assert (new.sequence, new.tokens) == (2, EXPECTED["shares"][1]["tokens"])
        assert read_receipt(decision.receipt, provider.key().public_key).sequence == 2

    def test_a_withdrawal_is_carried_out(self, provider: Provider) -> None:
        receipt = carry_out(provider, (STICK / "st-anne-0001.withdrawal.json").read_bytes(), lambda share: None)
        assert read_receipt(receipt, provider.key().public_key).state == "withdrawn"
        assert find_share(provider, EXPECTED["listed"][0]["bundle"]).state == "withdrawn"

    def test_the_releases_are_listed(self, provider: Provider) -> None:
        assert {one.name: one.digest for one in releases(provider)} == EXPECTED["releases"]

    def test_the_next_release_is_published_with_the_keys(self, provider: Provider) -> None:
        assert publish_pipeline(provider, Publishing(notes="Signed again.")).name == "0003-pipeline"

    def test_the_last_one_is_not_published_again(self, provider: Provider) -> None:
        with pytest.raises(ProviderError, match="release 2 holds already"):
            publish_pipeline(provider)


class TestReleases:
    def test_a_new_site_pulls_the_release_with_the_fingerprint(self, repository: Path, tmp_path: Path) -> None:
        made, release = pull(
            create_hospital(tmp_path / "new", "new"), str(repository), EXPECTED["fingerprint"], acceptance=A_PERSON
        )
        assert (release.manifest.kind, release.digest) == ("pipeline", EXPECTED["releases"]["0002-pipeline"])
        assert made.pinned_provider().name == "provider"

    def test_the_site_pulls_again_from_another_place(self, site: Hospital, repository: Path) -> None:
        shutil.rmtree(site.releases)
        _, release = pull(site, str(repository), acceptance=A_PERSON)
        assert release.digest == EXPECTED["releases"]["0002-pipeline"]

    def test_another_fingerprint_is_refused(self, repository: Path, tmp_path: Path) -> None:
        with pytest.raises(SiteError, match="fingerprint"):
            pull(create_hospital(tmp_path / "new", "new"), str(repository), EXPECTED["site_fingerprint"])

    @pytest.mark.parametrize("name", ["metadata/1.root.json", "metadata/timestamp.json", "targets/0002-*/*.head.json"])
    def test_a_repository_with_a_flipped_bit_is_refused(self, name: str, repository: Path, tmp_path: Path) -> None:
        [path] = repository.glob(name)
        flip(path, path.stat().st_size // 2)
        with pytest.raises((ProtocolError, SiteError)):
            pull(create_hospital(tmp_path / "new", "new"), str(repository), EXPECTED["fingerprint"])


class TestModels:
    @pytest.mark.parametrize("kind", ["surrogates", "k-anonymous", "three-part"])
    def test_an_encoder_gives_the_same_representation(self, kind: str, site: Hospital, tmp_path: Path) -> None:
        archive = GOLDEN / f"{kind}.tar.xz"
        folder = unpack(archive, tmp_path / kind) if archive.exists() else site.release().folder
        found, expected = (
            construction_figures(load_construction(folder), site.noise_secret()),
            EXPECTED["representers"][kind],
        )
        arrays = {"inputs", "shared"} & set(expected)
        assert {name: found[name] for name in found.keys() - arrays} == {
            name: expected[name] for name in expected.keys() - arrays
        }
        for name in arrays:
            np.testing.assert_allclose(numbers(found[name]), numbers(expected[name]), **CLOSE)

    def test_the_pipeline_finds_the_same_spans(self, site: Hospital) -> None:
        found = found_spans(load_pipeline(site.release().folder), EXPECTED["note"]["text"])
        assert found == EXPECTED["note"]["spans"]


class TestSite:
    def test_the_workspace_opens_with_keys_and_release(self, site: Hospital) -> None:
        assert (site.site, site.sequence, load_policy(site).approval) == ("st-anne", 2, True)
        assert site.key().public_key.key_id == EXPECTED["site_fingerprint"]
        assert site.release().digest == EXPECTED["releases"]["0002-pipeline"]

    def test_its_pipeline_stays_when_a_representer_follows(self, provider: Provider, site: Hospital) -> None:
        assert site.pipeline_release().digest == EXPECTED["releases"]["0002-pipeline"]
        publish_representer(provider)
        updated, release = pull(site, str(provider.releases), acceptance=A_PERSON)
        assert (release.manifest.kind, release.manifest.sequence) == ("representer", 3)
        found = found_spans(load_pipeline(updated.pipeline_release().folder), EXPECTED["note"]["text"])
        assert found == EXPECTED["note"]["spans"]

    def test_its_trust_holds_the_pinned_root(self, site: Hospital) -> None:
        trust = Trust.load(site.trust)
        assert trust is not None
        assert (trust.fingerprint.key_id, trust.source) == (EXPECTED["fingerprint"], "/media/stick/releases")

    def test_the_ledger_verifies(self, site: Hospital) -> None:
        verify(site, [EXPECTED["ledger"]["last"]])
        assert [entry.event for entry in entries(site)] == EXPECTED["ledger"]["events"]

    def test_a_ledger_with_a_flipped_bit_is_refused(self, site: Hospital) -> None:
        flip(ledger_path(site), ledger_path(site).read_bytes().index(b"st-anne"))
        with pytest.raises(LedgerError, match="entry 1"):
            verify(site)

    def test_it_has_the_usual_policy_which_its_release_does_not_keep(self, site: Hospital, tmp_path: Path) -> None:
        assert load_policy(site) == DEFAULT
        with pytest.raises(PolicyError, match="audit"):
            encode(site, [], tmp_path / "share.parquet")

    def test_the_receipt_is_the_providers_word(self, site: Hospital) -> None:
        [path] = (site.root / "receipts").iterdir()
        receipt = read_receipt(path.read_bytes(), site.pinned_provider().signing_key)
        assert (receipt.sequence, receipt.state) == (1, "accepted")
        lines = (GOLDEN / "audit-log.jsonl").read_text(encoding="utf-8").splitlines()
        assert receipt.log_head in {json.loads(line)["hash"] for line in lines}

"""Golden files of the formats after version 0.1 open, verify and mean what they meant. `tests.golden.make_v0_2` says what they are.

The clock stands at the moment in which they were made. The provider's keys and the hospital's lie under one passphrase.
"""

from __future__ import annotations

import base64
import datetime
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from aggregator.errors import WorkspaceError
from aggregator.provider_keys import Purpose
from aggregator.publishing.releases import renew
from aggregator.repository.release_log import read_published_log
from aggregator.workspace import Workspace as Provider
from aggregator.workspace import open_workspace as open_provider
from foundation.errors import DeidError
from protocols.canonical import canonical_bytes
from protocols.errors import PassphraseError, ProtocolError, UnknownSignerError
from protocols.keys.key_files import read_private
from protocols.keys.passphrase import Passphrase
from protocols.keys.signing import PublicKey
from protocols.log.checkpoint import LOG, LogHead, log_origin, read_checkpoint, release_code
from protocols.log.entry import ReleaseEntry
from protocols.log.tiles import read_bundle
from protocols.release.provider_record import MAX_RECORD_BYTES, ProviderRecord
from protocols.release.repository import LATEST, MAX_DOCUMENT_BYTES, PROVIDER, read_latest
from protocols.share.receipt import Receipt, ReceiptState, read_receipt
from site_client.errors import ForkError, PolicyError
from site_client.exchange.receipts import take_receipt, verify_receipt
from site_client.ledger import entries, verify
from site_client.policy.site_policy import DEFAULT, DemandedAudit, OwnWords, SitePolicy, digest_of_values
from site_client.policy.stored import load_policy, policy_path, read_recorded_policy, set_policy
from site_client.release_log import Relation, compare_log, last_shown, require_shown
from site_client.releases.client import ReleaseClient
from site_client.releases.log import FollowedLog, follow_log
from site_client.releases.source import Network, open_source
from site_client.trust import Trust
from site_client.workspace import Workspace as Hospital
from site_client.workspace import open_workspace as open_hospital
from tests.golden.archives import unpack
from tests.golden.opening import flip, stop_clock
from tests.protocols.log.naive import mth

GOLDEN = Path(__file__).parent / "v0_2"
EXPECTED: dict[str, Any] = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
MADE = datetime.datetime.fromisoformat(EXPECTED["made"])
DAY = MADE.date()
RELEASES = [one["digest"] for one in EXPECTED["releases"]]
ORIGIN = log_origin(EXPECTED["fingerprint"])
SIGNING, ENCRYPTION = EXPECTED["rotated"]
# Of each checkpoint how many releases it states, and which key of the provider signed it.
CHECKPOINTS = {"first": (1, "old"), "both": (2, "key"), "fork": (2, "old")}
SECRET = EXPECTED["passphrase"].encode()
# Derived once for all tests.
PASSPHRASE = Passphrase.of_secret(SECRET)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_clock(monkeypatch, MADE)


@pytest.fixture
def provider(tmp_path: Path) -> Provider:
    """The provider with its repository, without a registry."""
    root = unpack(GOLDEN / "provider.tar.xz", tmp_path / "provider")
    unpack(GOLDEN / "releases.tar.xz", root / "releases")
    return open_provider(root, PASSPHRASE)


@pytest.fixture
def site(tmp_path: Path) -> Hospital:
    """The hospital after its first pull."""
    return open_hospital(unpack(GOLDEN / "site.tar.xz", tmp_path / "site"), PASSPHRASE)


def note(name: str) -> bytes:
    return (GOLDEN / "checkpoints" / f"{name}.checkpoint").read_bytes()


def head_of(name: str) -> LogHead:
    """What a checkpoint states, read by hand."""
    _, size, root, *_ = note(name).decode().split("\n")
    return LogHead(int(size), base64.b64decode(root).hex())


def receipt(state: str) -> bytes:
    return (GOLDEN / "receipts" / f"{state}.receipt.json").read_bytes()


@contextmanager
def repository(site: Hospital, provider: Provider) -> Iterator[ReleaseClient]:
    """The provider's releases as the hospital verifies them."""
    scratch = site.root / ".incoming"
    scratch.mkdir()
    trust = Trust.load(site.trust)
    assert trust is not None
    with closing(open_source(str(provider.releases), scratch, Network())) as source:
        client = ReleaseClient(trust, source, scratch)
        client.refresh()
        yield client


def announced(client: ReleaseClient) -> ProviderRecord:
    return ProviderRecord.from_bytes(client.read(PROVIDER, MAX_RECORD_BYTES))


def followed(site: Hospital, provider: Provider) -> FollowedLog:
    """The log, as a pull follows it."""
    with repository(site, provider) as client:
        newest = read_latest(client.read(LATEST, MAX_DOCUMENT_BYTES))
        found = follow_log(site, client, ORIGIN, announced(client), newest, pytest.fail)
        assert found is not None
        found.record()
        return found


class TestPassphrase:
    def test_every_private_key_lies_under_it_and_opens(self, provider: Provider, site: Hospital) -> None:
        paths = [*provider.keys.rglob("*.pem"), *site.keys_folder.glob("*.pem")]
        assert len(paths) == 2 + 2 + 6 + 2 + 1
        for path in paths:
            assert path.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
            assert read_private(path, PASSPHRASE)

    def test_another_library_opens_them_too(self, provider: Provider, site: Hospital) -> None:
        for path, key in (
            (site.private_key(EXPECTED["site_fingerprint"]), site.key().public_key),
            (provider.provider_keys().newest_path(Purpose.SIGNING), provider.newest_key().public_key),
        ):
            opened = load_pem_private_key(path.read_bytes(), SECRET)
            assert isinstance(opened, Ed25519PrivateKey)
            assert opened.public_key().public_bytes_raw() == key.raw

    def test_another_one_opens_none(self, site: Hospital) -> None:
        with pytest.raises(PassphraseError):
            read_private(site.private_key(EXPECTED["site_fingerprint"]), Passphrase.of_secret(b"another one"))

    @pytest.mark.parametrize("place", [40, 100, 200, 260])
    def test_a_key_with_a_flipped_bit_is_refused(self, place: int, site: Hospital) -> None:
        flip(site.private_key(EXPECTED["site_fingerprint"]), place)
        with pytest.raises(DeidError):
            site.key()

    def test_the_keys_of_the_releases_sign_them_anew(self, provider: Provider, site: Hospital) -> None:
        before = (provider.releases / "metadata" / "timestamp.json").read_bytes()
        renew(provider)
        assert (provider.releases / "metadata" / "timestamp.json").read_bytes() != before
        with repository(site, provider) as client:
            assert client.release_names() == [one["name"] for one in EXPECTED["releases"]]


class TestRotatedKeys:
    def test_the_key_before_signs_until_its_turn_is_over(self, provider: Provider) -> None:
        until = datetime.date.fromisoformat(SIGNING["used_until"])
        assert until == DAY + datetime.timedelta(days=30)
        keys = provider.provider_keys()
        assert provider.key().public_key.key_id == SIGNING["old"]
        assert keys.signing_path(until).name == "provider.pem"
        assert keys.signing_path(until + datetime.timedelta(days=1)).name == f"signing-{SIGNING['key']}.pem"

    def test_what_it_signed_counts_for_as_long_again(self, provider: Provider) -> None:
        until = datetime.date.fromisoformat(SIGNING["counts_until"])
        assert until == DAY + datetime.timedelta(days=60)
        assert [key.key_id for key in provider.signing_keys()] == [SIGNING["key"], SIGNING["old"]]
        [(key, last)] = provider.provider_keys().earlier_signing(until)
        assert (key.key_id, last) == (SIGNING["old"], until)
        assert provider.provider_keys().earlier_signing(until + datetime.timedelta(days=1)) == ()

    def test_shares_for_either_encryption_key_open(self, provider: Provider) -> None:
        found = provider.recipient(), provider.recipient(ENCRYPTION["old"])
        assert [key.public_key.key_id for key in found] == [ENCRYPTION["key"], ENCRYPTION["old"]]
        until = datetime.date.fromisoformat(ENCRYPTION["counts_until"])
        ended = provider.provider_keys().opening_paths(until + datetime.timedelta(days=1))
        assert [path.name for path in ended] == [f"encryption-{ENCRYPTION['key']}.pem"]

    def test_hospitals_are_told_of_both_signing_keys(self, provider: Provider, site: Hospital) -> None:
        assert site.pinned_provider().signing_key.key_id == SIGNING["old"]
        with repository(site, provider) as client:
            record = announced(client)
        assert (record.signing_key.key_id, record.recipient.key_id) == (SIGNING["key"], ENCRYPTION["key"])
        assert [key.key_id for key in record.signing_keys(DAY)] == [SIGNING["key"], SIGNING["old"]]
        assert len(record.signing_keys(DAY + datetime.timedelta(days=61))) == 1


class TestLog:
    def test_it_holds_both_releases(self, provider: Provider) -> None:
        bundle = read_bundle((provider.releases / LOG / "tile/entries/000.p/2").read_bytes())
        assert [ReleaseEntry.from_bytes(entry) for entry in bundle] == [
            ReleaseEntry(number, "representer", digest) for number, digest in enumerate(RELEASES, 1)
        ]
        assert [head_of("first").root, head_of("both").root] == [mth(bundle[:1]).hex(), mth(bundle).hex()]
        published = read_published_log(provider.repository())
        assert published is not None
        assert (published.release, published.head) == (RELEASES[1], head_of("both"))

    @pytest.mark.parametrize("name", CHECKPOINTS)
    def test_a_checkpoint_is_the_providers_word(self, name: str, provider: Provider) -> None:
        size, signer = CHECKPOINTS[name]
        keys = {key.key_id: key for key in provider.signing_keys()}
        signing = keys.pop(SIGNING[signer])
        assert read_checkpoint(note(name), ORIGIN, [signing]).head.size == size
        with pytest.raises(UnknownSignerError):
            read_checkpoint(note(name), ORIGIN, keys.values())

    @pytest.mark.parametrize("name", CHECKPOINTS)
    def test_a_checkpoint_with_a_flipped_bit_is_refused(self, name: str, provider: Provider, tmp_path: Path) -> None:
        for place in range(0, len(note(name)), 10):
            path = tmp_path / f"{place}.checkpoint"
            path.write_bytes(note(name))
            flip(path, place)
            with pytest.raises(ProtocolError):
                read_checkpoint(path.read_bytes(), ORIGIN, provider.signing_keys())

    def test_the_hospital_knows_what_it_was_shown(self, site: Hospital) -> None:
        shown = require_shown(site)
        assert (shown.head, shown.release) == (head_of("first"), RELEASES[0])
        assert shown.code == EXPECTED["codes"]["first"] == release_code(RELEASES[0], head_of("first"))

    def test_the_hospital_follows_it_to_the_second_release(self, site: Hospital, provider: Provider) -> None:
        shown = followed(site, provider).shown
        assert (shown.note, shown.head, shown.release) == (note("both"), head_of("both"), RELEASES[1])
        recorded = last_shown(site)
        assert recorded is not None
        assert recorded.code == EXPECTED["codes"]["both"]

    def test_checkpoints_of_other_hospitals_are_of_one_past(self, site: Hospital, provider: Provider) -> None:
        assert compare_log(site, note("first")) == (Relation.SAME, head_of("first"))
        with repository(site, provider) as client:
            told = replace(site, provider=announced(client))
        assert compare_log(told, note("both")) == (Relation.LATER, head_of("both"))

    def test_another_second_release_is_a_fork(self, site: Hospital, provider: Provider) -> None:
        assert compare_log(site, note("fork")) == (Relation.LATER, head_of("fork"))
        with pytest.raises(ForkError, match="another past of 2 releases"):
            followed(site, provider)

    @pytest.mark.parametrize("name", [f"{LOG}/tile/0/000.p/2", f"targets/{LOG}/*.checkpoint"])
    def test_files_with_a_flipped_bit_are_refused(self, name: str, site: Hospital, provider: Provider) -> None:
        for path in provider.releases.glob(name):
            flip(path, 10)
        with pytest.raises((ProtocolError, ForkError)):
            followed(site, provider)

    def test_an_entry_with_a_flipped_bit_is_refused(self, provider: Provider) -> None:
        flip(provider.releases / LOG / "tile/entries/000.p/2", -10)
        with pytest.raises(WorkspaceError, match="log of the releases"):
            read_published_log(provider.repository())


class TestEvidence:
    def test_a_fork_shows_two_pasts_that_the_provider_has_signed(self, provider: Provider) -> None:
        data = (GOLDEN / "fork.json").read_bytes()
        stated: dict[str, Any] = json.loads(data)
        assert data == canonical_bytes(stated)
        assert stated.keys() == {"format_version", "proof", "root_then", "seen", "shown", "shown_release"}
        notes = stated["shown"].encode(), stated["seen"]["checkpoint"].encode()
        assert notes == (note("both"), note("fork"))
        shown, seen = (read_checkpoint(one, ORIGIN, provider.signing_keys()).head for one in notes)
        assert shown.size == seen.size
        assert shown.root == stated["root_then"] != seen.root == stated["seen"]["release_log"]["root"]
        assert (stated["format_version"], stated["shown_release"]) == (1, RELEASES[1])


class TestReceipts:
    @pytest.mark.parametrize(("state", "newest", "log"), [("accepted", 0, "first"), ("withdrawn", 1, "both")])
    def test_it_states_release_and_log(self, state: str, newest: int, log: str, site: Hospital) -> None:
        found = verify_receipt(site, receipt(state))
        assert (found.site, found.sequence, found.state) == ("st-anne", 1, ReceiptState(state))
        assert (found.newest_release, found.release_log) == (RELEASES[newest], head_of(log))
        assert (found.day, json.loads(receipt(state))["receipt"]["format_version"]) == (DAY, 2)

    def test_both_are_of_the_same_share(self, site: Hospital) -> None:
        accepted, withdrawn = (verify_receipt(site, receipt(state)) for state in ("accepted", "withdrawn"))
        same = {name: getattr(accepted, name) for name in ("bundle_sha256", "manifest_sha256")}
        assert replace(withdrawn, **same) == withdrawn
        assert accepted.log_head != withdrawn.log_head

    def test_the_hospital_has_kept_the_one(self, site: Hospital) -> None:
        [path] = (site.root / "receipts").iterdir()
        assert path.read_bytes() == receipt("accepted")
        assert take_receipt(site, receipt("accepted")).state == ReceiptState.ACCEPTED
        verify(site, [EXPECTED["ledger"]["last"]])

    def test_the_hospital_takes_the_other_and_follows_its_log(self, site: Hospital, provider: Provider) -> None:
        taken: Receipt = take_receipt(site, receipt("withdrawn"))
        assert followed(site, provider).shown.head == taken.release_log

    @pytest.mark.parametrize("state", ["accepted", "withdrawn"])
    def test_one_with_a_flipped_bit_is_refused(self, state: str, site: Hospital, tmp_path: Path) -> None:
        for place in range(0, len(receipt(state)), 20):
            path = tmp_path / str(place)
            path.write_bytes(receipt(state))
            flip(path, place)
            with pytest.raises(ProtocolError):
                verify_receipt(site, path.read_bytes())

    def test_another_key_has_not_signed_it(self, provider: Provider) -> None:
        newest: PublicKey = provider.newest_key().public_key
        with pytest.raises(ProtocolError):
            read_receipt(receipt("accepted"), newest)


class TestPolicy:
    def test_it_means_what_it_meant(self, site: Hospital) -> None:
        words = OwnWords("public-words.txt", EXPECTED["policy"]["own_words"]["sha256"])
        assert load_policy(site) == SitePolicy(
            constructions=("surrogates", "three-part"),
            accept_failed_audit=("three-part",),
            least_cluster=8,
            hide_casing=True,
            max_mu=2.5,
            max_advantage=0.25,
            most_bank_spans=1000,
            audit=DemandedAudit.FULL,
            max_age_days=365,
            max_bytes=8 << 30,
            own_words=words,
        )

    def test_the_ledger_vouches_for_it(self, site: Hospital) -> None:
        assert read_recorded_policy(site) == load_policy(site)
        # Of what it states: a later version asks for more besides.
        stated = json.loads((site.root / "policy.json").read_text(encoding="utf-8"))
        assert digest_of_values(stated) == EXPECTED["policy_sha256"]
        changes = [entry.details["changes"] for entry in entries(site) if entry.event == "policy set"]
        assert changes[0] == []
        assert changes[-1] == [
            "constructions: surrogates -> surrogates, three-part",
            "accept_failed_audit: none -> three-part",
            "hide_casing: no -> yes",
            "max_mu: none -> 2.5",
        ]

    @pytest.mark.parametrize("name", sorted(EXPECTED["policy"]))
    def test_every_value_that_was_changed_is_noticed(self, name: str, site: Hospital) -> None:
        policy_path(site).write_text(json.dumps(EXPECTED["policy"] | {name: DEFAULT.to_json()[name]}))
        if EXPECTED["policy"][name] == DEFAULT.to_json()[name]:
            assert load_policy(site) == read_recorded_policy(site)
        else:
            with pytest.raises(PolicyError, match="changed outside"):
                load_policy(site)

    def test_other_words_are_noticed(self, site: Hospital) -> None:
        flip(site.root / "public-words.txt", 0)
        with pytest.raises(PolicyError, match="list of words"):
            load_policy(site)

    def test_the_hospital_sets_another(self, site: Hospital) -> None:
        before = load_policy(site)
        assert set_policy(site, replace(before, hide_casing=False)) == ["hide_casing: yes -> no"]
        assert load_policy(site) == replace(before, hide_casing=False)

    def test_its_policy_is_put_back_and_counts(self, site: Hospital) -> None:
        """With what later versions state besides; the ledger then knows that digest."""
        before = load_policy(site)
        policy_path(site).unlink()
        assert set_policy(site, read_recorded_policy(site)) == []
        assert load_policy(site) == before


class TestSite:
    def test_the_ledger_verifies(self, site: Hospital) -> None:
        verify(site, [EXPECTED["ledger"]["last"]])
        assert [entry.event for entry in entries(site)] == EXPECTED["ledger"]["events"]

    def test_its_key_is_the_one_of_its_request(self, site: Hospital) -> None:
        assert site.key().public_key.key_id == EXPECTED["site_fingerprint"]

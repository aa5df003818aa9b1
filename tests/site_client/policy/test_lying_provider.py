"""A provider that signs what does not protect: every step of the hospital's own client refuses it."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aggregator import workspace as provider_workspaces
from aggregator.publishing import releases
from foundation.files import write_text
from protocols.release.verification import ReleaseFields, VerifiedRelease, list_release
from protocols.share.sealing import read_manifest
from shared.anonymity.surrogates import SurrogateBank
from shared.constructions.construction import Construction
from shared.constructions.files import FILES, FURTHER_FILES, digest_of
from shared.privacy.policy import load_policy as load_limits
from shared.text.tokens import tokenise
from site_client import ledger
from site_client.errors import PolicyError
from site_client.ledger import Event
from site_client.policy.examining import examine
from site_client.policy.facts import AuditFacts
from site_client.policy.stored import policy_path
from site_client.releases.pull import pull
from site_client.sharing import encode as encoding
from site_client.workspace import create, open_workspace
from tests import constructions
from tests.audited import passing_findings, write_audit
from tests.loop import done, hospital, refused, snapshot, values
from tests.site_client import sites
from tests.tiny_notes import tiny_notes, write_notes

KEY = "-".join(["0000"] * 8)
BANK = SurrogateBank(tuple((category, ("Waldtraut",)) for category in range(len(sites.SCHEME.categories))))
# Few words are in tiny notes, and few notes.
FEW = ("--least-cluster", "4", "--least-new-notes", "0")
LIKENESS = ("--enable", "k-anonymous")


def honest() -> Construction:
    """Labelled PHI is replaced, every word looks like three others at least."""
    return constructions.surrogates(constructions.clusters(sites.vectors(), 4), sites.SCHEME, BANK)


@dataclass(frozen=True)
class Pair:
    """A provider that publishes anything, and a hospital with its own policy."""

    root: Path

    @property
    def site(self) -> Path:
        return self.root / "site"

    @property
    def at(self) -> tuple[object, ...]:
        return ("--workspace", self.site)

    def publish(self, construction: Construction, **audit: Any) -> None:
        """Signs a release with an audit of exactly this representer, which passed."""
        root = self.root / "provider"
        central = provider_workspaces.open_workspace(root) if root.exists() else self._provider()
        shutil.rmtree(central.representer, ignore_errors=True)
        central.representer.mkdir()
        construction.save(central.representer)
        write_text(central.representer / "training.json", "{}", private=False)
        write_audit(root / "audit", releases.representer_digest(central), **audit)
        releases.publish_representer(central)
        central.registry().close()

    def _provider(self) -> provider_workspaces.Workspace:
        return provider_workspaces.create(self.root / "provider", "provider", sites.SCHEME.name)

    def pull(self, *more: object) -> Any:
        central = provider_workspaces.open_workspace(self.root / "provider")
        first = ("--fingerprint", central.repository().fingerprint.key_id)
        return hospital("pull", central.releases, *first, *more, *self.at)

    def encode(self, *more: object) -> Any:
        return hospital("encode", self.root / "notes", "--out", self.share, *more, *self.at)

    def submit(self, *more: object) -> Any:
        return hospital(
            "submit", self.share, "--approver", "A. Weiss", "--to-folder", self.root / "stick", *more, *self.at
        )

    @property
    def share(self) -> Path:
        return self.root / "share.parquet"

    def accepted(self) -> list[dict[str, Any]]:
        found = ledger.entries(open_workspace(self.site))
        return [dict(entry.details) for entry in found if entry.event == Event.UNPROTECTED_ACCEPTED]


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    write_notes(tmp_path / "notes", list(tiny_notes(4, 7)))
    done(hospital("init", tmp_path / "site", "--site", "st-anne"))
    done(hospital("policy", "set", *FEW, "--workspace", tmp_path / "site"))
    return Pair(tmp_path)


def test_an_identity_representer_is_refused_by_every_step_whoever_signed_it(pair: Pair) -> None:
    answers = ("--accept-unprotected", "--approver", "Dr Ünal")
    done(hospital("policy", "set", *LIKENESS, *pair.at))
    pair.publish(sites.revealing())
    before = snapshot(pair.site)
    refused(pair.pull(), 35, "cluster size", "on no list", "the release in use stays")
    assert snapshot(pair.site) == before
    refused(pair.pull("--accept-unprotected"), 32, "--approver")

    said = values(pair.pull(*answers, "--json"))
    assert [one["demand"] for one in said["judgement"]["broken"]] == ["cluster size", "narrowing"]
    refused(pair.encode(), 35, "nothing was written")
    assert not pair.share.exists()
    assert "does NOT keep it" in done(pair.encode(*answers)).stdout
    refused(pair.submit(), 35, "nothing leaves")
    assert not (pair.root / "stick").exists()
    assert "does NOT keep it" in done(hospital("inspect", pair.share, *pair.at)).stdout
    done(pair.submit("--accept-unprotected"))

    assert [one["step"] for one in pair.accepted()] == ["pull", "encode", "submit"]
    assert [one["approver"] for one in pair.accepted()] == ["Dr Ünal", "Dr Ünal", "A. Weiss"]
    assert {one["release"] for one in pair.accepted()} == {said["digest"]}
    assert pair.accepted()[2]["manifest_sha256"] == read_manifest(pair.share).sha256
    # What was decided for one share holds for it alone, and for the policy of that day.
    done(pair.submit())
    done(hospital("policy", "set", "--max-age-days", 30, *pair.at))
    refused(pair.submit(), 35)


def test_a_release_that_keeps_the_policy_passes_without_a_word(pair: Pair) -> None:
    pair.publish(honest())
    assert values(pair.pull("--json"))["judgement"]["broken"] == []
    encoded = done(pair.encode()).stdout
    assert "labelled PHI is replaced by public PHI" in encoded
    assert "keeps it" in encoded
    done(pair.submit())
    assert pair.accepted() == []


def test_a_fall_of_protection_is_said_first_and_can_be_refused(pair: Pair) -> None:
    pair.publish(honest())
    done(pair.pull())
    # surrogates.json is missing: the same words, without a bank.
    pair.publish(constructions.k_anonymous(constructions.clusters(sites.vectors(), 4), sites.SCHEME))
    refused(pair.pull(), 35, "construction")
    assert open_workspace(pair.site).release().manifest.sequence == 1
    done(hospital("policy", "set", *LIKENESS, *pair.at))
    first = done(pair.pull()).stdout.splitlines()[0]
    assert first.startswith("PROTECTION FALLS")
    assert "labelled PHI: replaced -> not replaced" in first


def test_a_policy_that_became_stricter_holds_for_a_share_that_is_encoded_already(pair: Pair) -> None:
    pair.publish(honest())
    done(pair.pull())
    done(pair.encode())
    done(hospital("policy", "set", "--hide-casing", *pair.at))
    refused(pair.submit(), 35, "casing")
    refused(pair.encode(), 35, "casing")
    refused(pair.pull(), 35, "casing")


def test_nothing_goes_on_under_a_policy_that_was_changed_by_hand(pair: Pair) -> None:
    pair.publish(honest())
    done(pair.pull())
    done(pair.encode())
    path = policy_path(open_workspace(pair.site))
    path.write_text(path.read_text().replace('"least_cluster": 4', '"least_cluster": 1'))
    for result in (pair.pull(), pair.encode(), pair.submit(), hospital("policy", "show", *pair.at)):
        refused(result, 35, "changed outside")
    assert "changed outside" in done(hospital("inspect", pair.share, *pair.at)).stdout
    done(hospital("policy", "set", *pair.at))
    done(pair.submit())


def test_a_surrogate_that_was_planted_to_find_a_patient_is_seen_in_the_last_note(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "_LOOKED_AT", 1)
    last = list(tiny_notes(4, 7))[-1]
    phone = next(last.covered_text(span) for span in last.annotations if span.category == "PHONE")
    planted = SurrogateBank((*BANK.spans, (0, tuple(tokenise(phone).words))))
    pair.publish(constructions.surrogates(constructions.clusters(sites.vectors(), 4), sites.SCHEME, planted))
    done(pair.pull())
    line = refused(pair.encode(), 35, "surrogates that stand in your own notes")
    assert phone not in line
    assert not pair.share.exists()
    done(hospital("policy", "set", "--bank-spans", 1, *pair.at))
    done(pair.encode())


def test_a_release_that_is_too_large_is_not_even_fetched(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    pair.publish(honest())
    monkeypatch.setattr("site_client.releases.client.ReleaseClient.download", lambda *a: pytest.fail("it is too large"))
    done(hospital("policy", "set", "--max-bytes", 1000, *pair.at))
    refused(pair.pull(), 35, "1000 bytes")


def test_without_an_audit_nothing_is_pulled(tmp_path: Path) -> None:
    central = provider_workspaces.create(tmp_path / "provider", "test", sites.SCHEME.name)
    central.representer.mkdir()
    honest().save(central.representer)
    write_text(central.representer / "training.json", "{}", private=False)
    releases.publish_representer(central, releases.Publishing(audited=False))
    site = sites.lenient(create(tmp_path / "site", "test"))
    with pytest.raises(PolicyError, match="there is none"):
        pull(site, str(central.releases), central.repository().fingerprint.key_id)


# The audit of a release, read at the site.


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a good construction."""
    folder = tmp_path_factory.mktemp("construction")
    honest().save(folder)
    return folder


@pytest.fixture
def released(files: Path, tmp_path: Path) -> Callable[..., AuditFacts | None]:
    """The audit that the site sees, of a release whose record has some fields changed."""
    folder = Path(shutil.copytree(files, tmp_path / "release"))

    def look(**changed: Any) -> AuditFacts | None:
        write_audit(folder, _representer(folder), **changed)
        return examine(_listed(folder), []).audit

    return look


def _representer(folder: Path) -> str:
    listed = _listed(folder).manifest.files
    return digest_of(listed[name].sha256 for name in (*FILES, *FURTHER_FILES) if name in listed)


def _listed(folder: Path) -> VerifiedRelease:
    fields = ReleaseFields("representer", "test", 1, datetime.date.today(), sites.SCHEME.name, {})
    return list_release(folder, fields, KEY)


def test_a_full_audit_of_this_representer_is_judged_by_our_limits(released: Callable[..., Any]) -> None:
    found = released()
    assert found == AuditFacts(True, "full", datetime.date.today(), len(load_limits().limits), ())


def test_the_audit_of_another_representer_is_seen(released: Callable[..., Any]) -> None:
    assert not released(representer="ab" * 32).ours


def test_neither_the_verdict_nor_the_limits_of_the_provider_count(released: Callable[..., Any]) -> None:
    failing = passing_findings(load_limits())
    for one in failing:
        if one["attack"] == "white box":
            one["value"], one["interval"] = 0.99, (0.98, 1.0)
    loosened = {"name": "policy.toml", "digest": load_limits().digest, "ours": True}
    found = released(findings=failing, passed=True, verdicts=[{"passed": True}], policy=loosened)
    assert {line.split(",")[0] for line in found.failed} == {"white box"}


@pytest.mark.parametrize("attack", ["match", "linkage", "token inversion", "fresh adversary T1"])
def test_what_was_not_tried_is_missed(attack: str, released: Callable[..., Any]) -> None:
    tried = [one for one in passing_findings(load_limits()) if one["attack"] != attack]
    # The record may say that the construction has no own set; its files say otherwise.
    found = released(findings=tried, own_set=False)
    assert all(line.startswith(attack) and line.endswith("not tried") for line in found.failed)
    assert found.failed


def test_a_quick_audit_may_lack_what_a_full_one_may_not(released: Callable[..., Any]) -> None:
    full_only = {limit.measure for limit in load_limits().limits if limit.full_only}
    tried = [one for one in passing_findings(load_limits()) if one["measure"] not in full_only]
    quick = released(findings=tried, preset="quick")
    # What it was not asked for is not among what it kept.
    assert (quick.failed, quick.limits) == ((), len([one for one in load_limits().limits if not one.full_only]))
    assert released(findings=tried, preset="full").failed


@pytest.mark.parametrize(
    "changed",
    [
        {"format": 1},
        {"findings": None},
        {"findings": [{"attack": "match"}]},
        {"findings": [{}] * 20_000},
        {"made": "yesterday"},
        {"made": 1},
        {"findings": [{**passing_findings(load_limits())[0], "value": float("nan")}]},
        {"findings": [{**passing_findings(load_limits())[0], "trials": -1}]},
        {"findings": [{**passing_findings(load_limits())[0], "trials": 10**400}]},
        {"findings": [{**passing_findings(load_limits())[0], "interval": [0]}]},
    ],
)
def test_a_record_of_another_form_is_no_audit(changed: dict[str, Any], released: Callable[..., Any]) -> None:
    assert released(**changed) is None


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, '{"format": 2}'], ids=range(4))
def test_a_damaged_record_is_no_audit(text: str, files: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(files, tmp_path / "release"))
    (folder / "audit.json").write_text(text)
    assert examine(_listed(folder), []).audit is None

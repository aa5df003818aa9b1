"""What a release holds, and what the registry knows of it."""

from __future__ import annotations

import datetime
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sqlalchemy import select

from aggregator.errors import AuditError, WorkspaceError
from aggregator.publishing import preparing, releases
from aggregator.publishing.head_record import head_digest
from aggregator.publishing.model_card import model_card
from aggregator.publishing.releases import Publishing, Release
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ReleaseRow, ReleaseShareRow, ShareRow, SiteRow
from aggregator.repository.tuf_keys import export_offline
from aggregator.repository.tuf_repository import Repository
from aggregator.repository.verified_state import read_release, read_state
from aggregator.workspace import Workspace, create
from protocols.errors import BoundsError, SchemaError
from protocols.release.provider_record import ProviderRecord
from protocols.release.repository import LATEST, PROVIDER, Reference, read_latest
from protocols.release.verification import ReleaseFields
from shared.constructions.construction import Construction
from tests.aggregator.copied import new_workspace
from tests.aggregator.publishing.trained import lay_down, record_training
from tests.loop import snapshot
from tests.site_client import sites

SITES = [
    {"site": "(public notes)", "tokens": 900, "precision": 0.9, "recall": 0.8, "f1": 0.847, "alone_f1": 0.8},
    {"site": "st-anne", "tokens": 1234, "precision": 0.95, "recall": 0.9, "f1": 0.924, "alone_f1": None},
]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """With a representer and a head that one share trained."""
    made = new_workspace(tmp_path / "provider")
    lay_down(made)
    train(made)
    with made.registry().transaction() as session:
        session.add(SiteRow(name="st-anne", state="enrolled", enrolled_at="2026-01-31T00:00:00Z"))
        session.flush()
        session.add(
            ShareRow(
                id=7,
                site="st-anne",
                sequence=1,
                bundle_sha256="aa" * 32,
                bundle_bytes=1,
                payload_sha256="bb" * 32,
                state="accepted",
                received_at="2026-01-31T00:00:00Z",
            )
        )
    return made


UNAUDITED = Publishing(audited=False)


def train(workspace: Workspace) -> None:
    """The record of a head that was trained on the representer of the workspace."""
    shares = [{"site": "st-anne", "sequence": 1, "payload": "bb" * 32}]
    record_training(workspace, sites=SITES, shares=shares)


def read(workspace: Workspace, name: str) -> str:
    return workspace.repository().read(name).decode()


def test_releases_are_numbered_and_the_last_is_the_latest(workspace: Workspace) -> None:
    published = [releases.publish_representer(workspace, UNAUDITED), releases.publish_pipeline(workspace, UNAUDITED)]
    assert releases.releases(workspace) == published
    assert [one.name for one in published] == ["0001-representer", "0002-pipeline"]
    assert read_latest(workspace.repository().read(LATEST)) == "0002-pipeline"
    assert set(releases.compatible_releases(workspace)) == {one.digest for one in published}
    assert releases.release_representer(published[1]) == releases.representer_digest(workspace)
    (workspace.representer / "vocabulary.json").write_text("[]")
    other = releases.publish_representer(workspace, UNAUDITED)
    assert set(releases.compatible_releases(workspace)) == {other.digest}


def test_without_a_release_nothing_is_compatible(workspace: Workspace) -> None:
    assert releases.releases(workspace) == []
    with pytest.raises(WorkspaceError, match="aggregator publish"):
        releases.compatible_releases(workspace)


def test_the_registry_knows_which_shares_trained_a_pipeline(workspace: Workspace) -> None:
    first, second = releases.publish_representer(workspace, UNAUDITED), releases.publish_pipeline(workspace, UNAUDITED)
    with workspace.registry().reading() as session:
        rows = session.scalars(select(ReleaseRow).order_by(ReleaseRow.sequence)).all()
        assert [(row.sequence, row.kind, row.name, row.digest) for row in rows] == [
            (1, "representer", "0001-representer", first.digest),
            (2, "pipeline", "0002-pipeline", second.digest),
        ]
        shares = session.scalars(select(ReleaseShareRow)).all()
        assert [(row.release, row.share) for row in shares] == [(2, 7)]
        actions = [event.action for event in audit_log.events(session)]
    assert actions.count("release-published") == 2


@pytest.mark.parametrize("state", ["withdrawn", "quarantined", "rejected"])
def test_a_head_that_a_share_trained_which_is_gone_is_not_released(state: str, workspace: Workspace) -> None:
    with workspace.registry().transaction() as session:
        session.get_one(ShareRow, 7).state = ShareState(state)
    with pytest.raises(WorkspaceError, match="withdrawn"):
        releases.publish_pipeline(workspace, UNAUDITED)
    assert releases.releases(workspace) == []
    with workspace.registry().reading() as session:
        assert not session.scalars(select(ReleaseRow)).all()


def test_a_publishing_that_failed_is_replaced_by_the_next(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Repository, "publish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            releases.publish_pipeline(workspace, UNAUDITED)
    assert releases.releases(workspace) == []
    assert not (workspace.root / ".publishing").exists()
    published = releases.publish_representer(workspace, UNAUDITED)
    with workspace.registry().reading() as session:
        assert [row.digest for row in session.scalars(select(ReleaseRow))] == [published.digest]
        assert not session.scalars(select(ReleaseShareRow)).all()


def test_what_is_judged_is_the_head_that_is_signed_and_not_one_that_followed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A training that ends while a release is made."""
    copied = preparing.copy_as

    def slow(source: Path, target: Path) -> None:
        copied(source, target)
        if source == workspace.representer / "training.json":
            (workspace.head / "head.json").write_text("[]")
            (workspace.head / "training.json").write_text("{}")

    digest = head_digest(workspace.head)
    monkeypatch.setattr(preparing, "copy_as", slow)
    monkeypatch.setattr(releases, "copy_as", slow)
    published = releases.publish_pipeline(workspace, UNAUDITED)
    assert head_digest(workspace.head) != digest
    assert published.manifest.files["head.json"].sha256 == hashlib.sha256(b"{}").hexdigest()
    # The card tells of its training, and the registry of its share.
    assert "3,000 sentences" in read(workspace, f"{published.name}/MODEL_CARD.md").replace("3000", "3,000")
    with workspace.registry().reading() as session:
        assert [one.share for one in session.scalars(select(ReleaseShareRow))] == [7]


@pytest.mark.parametrize("changed", ["head.safetensors", "head.json", "training.json"])
def test_a_head_that_is_replaced_while_it_is_read_is_asked_for_again(
    changed: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = preparing.copy_as

    def slow(source: Path, target: Path) -> None:
        copied(source, target)
        if source == workspace.head / "training.json":
            (workspace.head / changed).write_bytes(b"[]")

    monkeypatch.setattr(preparing, "copy_as", slow)
    with pytest.raises(WorkspaceError, match="a training has ended meanwhile"):
        releases.publish_pipeline(workspace, UNAUDITED)
    assert releases.releases(workspace) == []


def test_a_head_that_was_trained_since_is_not_released_in_the_place_of_the_one_that_was_shown(
    workspace: Workspace,
) -> None:
    shown = head_digest(workspace.head)
    (workspace.head / "head.json").write_text("[]")
    for name in (shown, shown[:12]):
        with pytest.raises(WorkspaceError, match="which was trained since"):
            releases.publish_pipeline(workspace, replace(UNAUDITED, head=name))
    assert releases.releases(workspace) == []


def test_without_the_keys_the_log_does_not_say_that_anything_was_published(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.offline_keys.rename(tmp_path / "stick")
    with pytest.raises(WorkspaceError, match="--offline-keys"):
        releases.publish_pipeline(workspace, UNAUDITED)
    with workspace.registry().reading() as session:
        assert not session.scalars(select(ReleaseRow)).all()
        assert "release-published" not in [event.action for event in audit_log.events(session)]


def test_the_offline_keys_may_be_elsewhere(workspace: Workspace, tmp_path: Path) -> None:
    sticks = (tmp_path / "one", tmp_path / "two")
    for holder, stick in enumerate(sticks, start=1):
        export_offline(workspace.offline_keys, stick, holder)
    with pytest.raises(WorkspaceError, match="--offline-keys"):
        releases.publish_representer(workspace, UNAUDITED)
    assert releases.publish_representer(workspace, Publishing(audited=False, offline=sticks)).name == "0001-representer"
    # What is online is renewed without them.
    before = workspace.repository().expiries()
    assert releases.renew(workspace).keys() == before.keys()


def test_keys_elsewhere_from_the_beginning(tmp_path: Path) -> None:
    made = create(tmp_path / "provider", "north", "i2b2_2014", offline=(tmp_path / "stick",))
    assert not made.offline_keys.exists()
    assert len(list((tmp_path / "stick").iterdir())) == 6
    assert made.repository().fingerprint == made.repository((tmp_path / "stick",)).fingerprint


def test_two_sticks_from_the_beginning_get_no_keys_for_one_of_them_could_sign_alone(tmp_path: Path) -> None:
    sticks = (tmp_path / "one", tmp_path / "two")
    with pytest.raises(WorkspaceError, match="so that no stick alone can sign"):
        create(tmp_path / "provider", "north", "i2b2_2014", offline=sticks)
    assert not any(stick.exists() for stick in sticks)


def test_the_provider_announces_its_server(workspace: Workspace) -> None:
    record = ProviderRecord.from_bytes(workspace.repository().read(PROVIDER))
    assert record.signing_key == workspace.key().public_key
    assert record.recipient == workspace.recipient().public_key
    assert record.server == ""
    assert record.valid_until > datetime.date.today() + datetime.timedelta(days=365)
    assert releases.announce(workspace, "https://deid.example.org").server == "https://deid.example.org"
    # It stays until another one is stated.
    releases.publish_representer(workspace, UNAUDITED)
    assert ProviderRecord.from_bytes(workspace.repository().read(PROVIDER)).server == "https://deid.example.org"
    (workspace.representer / "vocabulary.json").write_text("[]")
    releases.publish_representer(workspace, Publishing(audited=False, server=""))
    assert ProviderRecord.from_bytes(workspace.repository().read(PROVIDER)).server == ""


def test_public_word_vectors_are_referred_to(workspace: Workspace) -> None:
    url = "https://files.example.org/embeddings.safetensors"
    published = releases.publish_representer(workspace, Publishing(audited=False, embeddings_url=url))
    reference = Reference.from_bytes(read(workspace, "0001-representer/reference.json").encode())
    assert (reference.file, reference.url) == ("embeddings.safetensors", url)
    # Listed like any other file, so that the release is the same for whoever has it, but not carried.
    assert published.manifest.files["embeddings.safetensors"] == reference.entry
    with pytest.raises(WorkspaceError, match=r"embeddings\.safetensors"):
        read(workspace, "0001-representer/embeddings.safetensors")
    carried = releases.publish_representer(workspace, UNAUDITED)
    assert set(releases.compatible_releases(workspace)) == {published.digest, carried.digest}
    with pytest.raises(SchemaError, match="address"):
        releases.publish_representer(workspace, Publishing(audited=False, embeddings_url="http://files.example.org/e"))


def test_the_licence_is_stated_or_said_to_be_missing(workspace: Workspace) -> None:
    releases.publish_representer(workspace, UNAUDITED)
    assert "No licence" in read(workspace, "0001-representer/LICENCE.md")
    releases.publish_representer(workspace, Publishing(audited=False, licence="# CC BY 4.0\n\nAll of it."))
    assert read(workspace, "0002-representer/LICENCE.md") == "# CC BY 4.0\n\nAll of it."
    assert "CC BY 4.0. See LICENCE.md" in read(workspace, "0002-representer/MODEL_CARD.md")


class TestUnchanged:
    """What hospitals have already is not published again: each would only pull it once more."""

    @pytest.mark.parametrize("publish", [releases.publish_representer, releases.publish_pipeline])
    def test_the_last_release_once_more_is_refused(
        self, publish: Callable[[Workspace, Publishing], Release], workspace: Workspace
    ) -> None:
        publish(workspace, UNAUDITED)
        before = snapshot(workspace.root)
        for server in (None, "https://deid.example.org"):
            with pytest.raises(WorkspaceError, match="what release 1 holds already; train first") as caught:
                publish(workspace, replace(UNAUDITED, server=server))
        assert "\n" not in str(caught.value)
        assert snapshot(workspace.root) == before

    def test_one_of_the_other_kind_is_another(self, workspace: Workspace) -> None:
        for publish in (releases.publish_pipeline, releases.publish_representer, releases.publish_pipeline):
            publish(workspace, UNAUDITED)
        assert len(releases.releases(workspace)) == 3

    @pytest.mark.parametrize(
        "how",
        [
            replace(UNAUDITED, licence="# Another"),
            replace(UNAUDITED, notes="Read this."),
            replace(UNAUDITED, embeddings_url="https://files.example.org/embeddings.safetensors"),
        ],
    )
    def test_so_is_one_that_says_something_else(self, how: Publishing, workspace: Workspace) -> None:
        releases.publish_representer(workspace, UNAUDITED)
        assert releases.publish_representer(workspace, how).manifest.sequence == 2

    def test_so_is_one_with_another_audit(self, workspace: Workspace) -> None:
        releases.publish_representer(workspace, UNAUDITED)
        put_audit(workspace, audit_record(workspace))
        assert releases.publish_representer(workspace).manifest.sequence == 2
        put_audit(workspace, audit_record(workspace) | {"seed": 4})
        assert releases.publish_representer(workspace).manifest.sequence == 3

    def test_so_is_one_with_another_head(self, workspace: Workspace) -> None:
        releases.publish_pipeline(workspace, UNAUDITED)
        (workspace.head / "head.json").write_text("[]")
        accepted = replace(UNAUDITED, approver="A. Weiss")
        assert releases.publish_pipeline(workspace, accepted).manifest.sequence == 2


def test_a_release_that_no_site_takes_is_not_published(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.release.repository.MAX_TOTAL_BYTES", 100)
    with pytest.raises(BoundsError, match="at most 100 bytes"):
        releases.publish_representer(workspace, UNAUDITED)
    assert releases.releases(workspace) == []


def test_the_newest_pipeline_lives_as_long_as_the_newest_release(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases.publish_pipeline(workspace, UNAUDITED)

    def live(days: int) -> None:
        monkeypatch.setattr("aggregator.repository.tuf_repository.LIFETIME", datetime.timedelta(days=days))

    def expires(name: str) -> datetime.datetime:
        state = read_state(workspace.releases)
        return read_release(workspace.releases, state, name).expires

    first = expires("0001-pipeline")
    live(50)
    releases.publish_representer(workspace, UNAUDITED)
    second = expires("0001-pipeline")
    assert second == expires("0002-representer")
    assert second > first + datetime.timedelta(days=4)
    live(60)
    releases.renew(workspace)
    assert expires("0001-pipeline") == expires("0002-representer")
    assert expires("0001-pipeline") > second + datetime.timedelta(days=9)


def audit_record(workspace: Workspace) -> dict[str, object]:
    """Of an audit that the representer has passed."""
    return {
        "format": 2,
        "passed": True,
        "preset": "full",
        "accounting": {"statement": "Every word looks like 999 others."},
        "verdicts": [
            {"attack": "match", "passed": True, "skipped": False},
            {"attack": "linkage", "passed": True, "skipped": True},
        ],
        "representer": releases.representer_digest(workspace),
        "seed": 3,
        "caveats": ["not tried: thinking"],
        "policy": {"name": "own.toml", "digest": "ab" * 32, "ours": False},
    }


def put_audit(workspace: Workspace, record: dict[str, object]) -> None:
    folder = workspace.root / "audit"
    folder.mkdir(exist_ok=True)
    (folder / "audit.json").write_text(json.dumps(record))
    (folder / "audit.html").write_text("<html></html>")


class TestGate:
    """Whoever calls: what is signed carries the record of an audit that it passed."""

    def test_without_an_audit_nothing_is_signed(self, workspace: Workspace) -> None:
        for publish in (releases.publish_representer, releases.publish_pipeline):
            with pytest.raises(AuditError, match="found none"):
                publish(workspace)
        put_audit(workspace, audit_record(workspace))
        (workspace.root / "audit" / "audit.html").unlink()
        with pytest.raises(AuditError, match="found none"):
            releases.publish_representer(workspace)
        assert releases.releases(workspace) == []

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            ({"passed": False}, "did not pass"),
            ({"verdicts": [{"attack": "match", "passed": False}]}, "did not pass its audit .match"),
            ({"verdicts": []}, "record of an audit"),
            ({"format": 1}, "record of an audit"),
            ({"representer": "ab" * 32}, "another representer"),
        ],
    )
    def test_an_audit_that_was_not_passed(self, change: dict[str, object], why: str, workspace: Workspace) -> None:
        put_audit(workspace, audit_record(workspace) | change)
        # Nor where none is asked for: a release never carries such a record.
        for how in (Publishing(), UNAUDITED):
            with pytest.raises(AuditError, match=why):
                releases.publish_representer(workspace, how)
        assert releases.releases(workspace) == []

    def test_the_audit_is_of_the_files_that_are_signed_and_not_of_those_that_followed(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        copied = preparing.copy_as

        def slow(source: Path, target: Path) -> None:
            copied(source, target)
            if source.name == "scheme.json":
                (workspace.representer / "vocabulary.json").write_text("[]")
                put_audit(workspace, audit_record(workspace))

        monkeypatch.setattr(preparing, "copy_as", slow)
        with pytest.raises(AuditError, match="another representer"):
            releases.publish_representer(workspace)
        assert releases.releases(workspace) == []


class TestFailedAudit:
    """What nothing proves may be published with an audit that it did not pass, if the provider says so; the release tells it."""

    FAILED: ClassVar[dict[str, object]] = {
        "passed": False,
        "verdicts": [
            {"attack": "match", "measure": "top-1 of", "why": "a word in a list", "passed": True},
            {
                "attack": "linkage",
                "measure": "top-1 of",
                "why": "a name in a list",
                "passed": False,
                "reason": "2 of 9 figures beyond the limit",
            },
        ],
    }

    def construction(self, workspace: Workspace, construction: Construction) -> Workspace:
        construction.save(workspace.representer)
        put_audit(workspace, audit_record(workspace) | self.FAILED)
        return workspace

    def test_the_card_and_the_log_say_what_failed(self, workspace: Workspace) -> None:
        self.construction(workspace, sites.noisy(0.5))
        with pytest.raises(AuditError, match="did not pass its audit"):
            releases.publish_representer(workspace)
        releases.publish_representer(workspace, Publishing(with_failed_audit=True))
        card = read(workspace, "0001-representer/MODEL_CARD.md")
        assert "NOT passed: 1 of 2 limits hold" in card
        assert "- linkage, top-1 of: 2 of 9 figures beyond the limit (a name in a list)" in card
        assert "match, top-1" not in card
        with workspace.registry().reading() as session:
            logged = [json.loads(one.details) for one in audit_log.events(session) if one.action == "release-published"]
        assert logged[-1]["failed_audit"] == ["linkage"]

    def test_what_can_be_recomputed_must_pass(self, workspace: Workspace) -> None:
        self.construction(workspace, sites.revealing())
        with pytest.raises(AuditError, match="whose audit must pass"):
            releases.publish_representer(workspace, Publishing(with_failed_audit=True))
        assert releases.releases(workspace) == []

    @pytest.mark.parametrize("change", [{"representer": "ab" * 32}, {"verdicts": []}])
    def test_it_is_still_an_audit_of_this_representer(self, change: dict[str, object], workspace: Workspace) -> None:
        self.construction(workspace, sites.noisy(0.5))
        put_audit(workspace, audit_record(workspace) | self.FAILED | change)
        with pytest.raises(AuditError):
            releases.publish_representer(workspace, Publishing(with_failed_audit=True))

    def test_a_passed_audit_is_said_as_ever(self, workspace: Workspace) -> None:
        put_audit(workspace, audit_record(workspace))
        releases.publish_representer(workspace, Publishing(with_failed_audit=True))
        assert "did NOT withstand" not in read(workspace, "0001-representer/MODEL_CARD.md")


def test_the_card_of_a_pipeline(workspace: Workspace) -> None:
    put_audit(workspace, audit_record(workspace))
    releases.publish_pipeline(workspace)
    card = read(workspace, "0001-pipeline/MODEL_CARD.md")
    for part in (
        "# north, release 1: pipeline",
        "12,000 sentences",
        "200,000 tokens",
        "7,000 of them PHI",
        "surrogates",
        "50,000 tokens",
        "1 shares of 1 hospitals, and the public notes",
        "| hospital 1 | 1,234 | 0.950 | 0.900 | 0.924 |  |",
        "| the provider (public) | 900 |",
        "| 0.800 |",
        "Passed: 1 of 2 limits hold, 1 were skipped",
        "Every word looks like 999 others.",
        "preset full, seed 3, policy own.toml (NOT the project's own, SHA-256 abababababababab)",
        "- not tried: thinking",
        "No de-identifier finds everything",
        "- torch ",
    ):
        assert part in card
    # Not every hospital tells the others that it shares.
    assert "st-anne" not in card


def test_a_card_says_what_is_not_recorded(tmp_path: Path) -> None:
    (tmp_path / "training.json").write_text("{}")
    fields = ReleaseFields("representer", "north", 1, datetime.date(2026, 1, 31), "i2b2_2014", {})
    card = model_card(fields, tmp_path, None, None, "# None")
    assert "not recorded" in card
    assert "No audit is in this release." in card
    (tmp_path / "training.json").write_text("[]")
    with pytest.raises(WorkspaceError, match="record"):
        model_card(fields, tmp_path, None, None, "# None")


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "3", '{"representer": "a", "shares": 3}', '{"representer": "a", "shares": [{}]}', "[" * 3000],
)
def test_a_damaged_record_of_the_head_is_no_release(text: str, workspace: Workspace) -> None:
    (workspace.head / "training.json").write_text(text)
    with pytest.raises(WorkspaceError, match="train-head"):
        releases.publish_pipeline(workspace, UNAUDITED)
    assert releases.releases(workspace) == []


def test_a_head_of_another_representer_is_no_release(workspace: Workspace) -> None:
    (workspace.representer / "vocabulary.json").write_text("[]")
    with pytest.raises(WorkspaceError, match="another representer"):
        releases.publish_pipeline(workspace, UNAUDITED)
    train(workspace)
    assert releases.publish_pipeline(workspace, UNAUDITED).manifest.kind == "pipeline"


def test_rotated_keys_are_in_the_log(workspace: Workspace) -> None:
    releases.publish_representer(workspace, UNAUDITED)
    assert releases.rotate(workspace, ["root", "timestamp"]) == 2
    with workspace.registry().reading() as session:
        last = list(audit_log.events(session))[-1]
    assert (last.action, json.loads(last.details)) == (
        "release-keys-rotated",
        {"roles": ["root", "timestamp"], "root": 2},
    )
    (workspace.representer / "vocabulary.json").write_text("[]")
    assert releases.publish_representer(workspace, UNAUDITED).name == "0002-representer"


def test_changes_of_the_repository_wait_for_one_another(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A renewal from a timer and a release by hand: neither may follow a state that the other has replaced."""
    order: list[str] = []
    publish = Repository.publish

    def slow(repository: Repository, *arguments: Any) -> None:
        order.append("publishing")
        thread.start()
        thread.join(0.3)
        publish(repository, *arguments)
        order.append("published")

    def renew() -> None:
        releases.renew(workspace)
        order.append("renewed")

    thread = threading.Thread(target=renew)
    with monkeypatch.context() as patch:
        patch.setattr(Repository, "publish", slow)
        releases.publish_representer(workspace, UNAUDITED)
    thread.join()
    assert order == ["publishing", "published", "renewed"]
    assert workspace.repository().release_names() == ["0001-representer"]


@pytest.mark.parametrize("licence", ["", "  \n\n"])
def test_a_blank_licence_is_none(licence: str, workspace: Workspace) -> None:
    releases.publish_representer(workspace, Publishing(audited=False, licence=licence))
    [file] = (workspace.releases / "targets" / "0001-representer").glob("*.LICENCE.md")
    assert "No licence is stated" in file.read_text()

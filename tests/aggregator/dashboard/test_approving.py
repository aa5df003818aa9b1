"""What an approver reads before a release is signed, and that nothing else is signed by their name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from aggregator.dashboard.jobs import child
from aggregator.dashboard.jobs.job import Job, JobKind
from aggregator.enrolled.shares import BY_SITE
from aggregator.errors import WorkspaceError
from aggregator.publishing import releases
from aggregator.publishing.head_record import head_digest
from aggregator.publishing.releases import Publishing
from aggregator.registry import audit_log
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ShareRow
from aggregator.workspace import Workspace
from tests.aggregator.dashboard.desk import Desk, shown
from tests.aggregator.publishing.trained import lay_down, pass_audit, record_training

BY = "approver (dashboard)"
SHARE = {"site": "north", "sequence": 2, "payload": "bb" * 32}
CAVEATS = [
    "the limits are NOT the project's own: lax.toml, SHA-256 7777777777777777; ask the provider for them",
    "this is audit number 9 of this representer; one of many passes by chance, see `aggregator audit-log show`",
]


def change(name: str, before: float, recall: float) -> dict[str, object]:
    """Of a recall, with an interval of a point on either side."""
    more = recall - before
    return {"category": name, "recall": recall, "before": before, "low": more - 0.01, "high": more + 0.01}


LOWER, HIGHER = change("DATE", 0.9, 0.8), change("all PHI", 0.9, 0.95)


@dataclass
class Approving:
    """A desk whose works are only written down, and what they were begun with."""

    desk: Desk
    begun: list[Mapping[str, str]] = field(default_factory=list)

    @property
    def workspace(self) -> Workspace:
        return self.desk.workspace

    def another_head(self, **record: object) -> None:
        """One that was trained since."""
        path = self.workspace.head / "head.json"
        path.write_text(json.dumps([path.read_text()]))
        record_training(self.workspace, **{"shares": [SHARE], **record})

    def compared(self, changes: list[dict[str, object]]) -> dict[str, object]:
        """With the release that is last now."""
        last = releases.last_pipeline(self.workspace)
        assert last is not None
        return {"release": last.manifest.sequence, "digest": last.digest, "changes": changes}


@pytest.fixture
def approving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Approving:
    """With a representer that has passed its audit, and a head that a share has trained."""
    made = Approving(Desk(tmp_path / "world"))
    lay_down(made.workspace)
    record_training(made.workspace, shares=[SHARE])
    pass_audit(made.workspace)
    with made.workspace.registry().transaction() as session:
        session.get_one(ShareRow, 2).payload_sha256 = "bb" * 32

    def begin(kind: JobKind, values: Mapping[str, str], by: str, log: Callable[[], None]) -> Job:
        made.begun.append(values)
        return Job("ab" * 8, kind, by, dict(values), "2026-11-24T10:00:00Z")

    monkeypatch.setattr(made.desk.jobs, "begin", begin)
    return made


def silent(*told: object) -> None:
    pass


@pytest.mark.parametrize("action", ["publish", "release"])
def test_what_was_confirmed_is_published(action: str, approving: Approving) -> None:
    browser = approving.desk.signed_in("approver")
    assert browser.confirm(browser.ask(action, notes="for May")).status_code == 303
    lines, result = getattr(child, action)(approving.workspace, approving.begun[0], BY, silent)
    assert result["name"] == {"publish": "0001-representer", "release": "0001-pipeline"}[action]
    assert "policy standard" in " ".join(lines)


def other_representer(approving: Approving) -> None:
    (approving.workspace.representer / "vocabulary.json").write_text('["another"]')
    pass_audit(approving.workspace)
    record_training(approving.workspace, shares=[SHARE])


def other_audit(approving: Approving) -> None:
    pass_audit(approving.workspace, preset="quick")


def other_head(approving: Approving) -> None:
    approving.another_head()


def other_training(approving: Approving) -> None:
    record_training(approving.workspace, shares=[SHARE], influence={"sites": [{"site": "south", "changes": [LOWER]}]})


def other_release(approving: Approving) -> None:
    releases.publish_pipeline(approving.workspace, Publishing(notes="by somebody else"))


@pytest.mark.parametrize(
    ("action", "exchange"),
    [
        ("publish", other_representer),
        ("publish", other_audit),
        ("publish", other_release),
        ("release", other_representer),
        ("release", other_audit),
        ("release", other_head),
        ("release", other_training),
        ("release", other_release),
    ],
)
def test_what_took_the_place_of_what_was_shown_is_not_signed(
    action: str, exchange: Callable[[Approving], None], approving: Approving
) -> None:
    browser = approving.desk.signed_in("approver")
    browser.confirm(browser.ask(action, notes="", accept_drop="yes"))
    asked = browser.ask(action, notes="", accept_drop="yes")
    exchange(approving)
    out = approving.workspace.repository().release_names()
    assert browser.confirm(asked).status_code == 409
    assert len(approving.begun) == 1
    # Nor where it is exchanged after that was looked at: the work has begun.
    with pytest.raises(WorkspaceError, match=r"was shown|trained since"):
        getattr(child, action)(approving.workspace, approving.begun[0], BY, silent)
    assert approving.workspace.repository().release_names() == out


def test_no_browser_decides_what_it_was_shown(approving: Approving) -> None:
    browser = approving.desk.signed_in("approver")
    asked = browser.ask("publish", notes="", audit="00" * 32, newest="0007-pipeline")
    assert browser.confirm(asked).status_code == 303
    assert (approving.begun[0]["newest"], approving.begun[0]["audit"] == "00" * 32) == ("", False)


@pytest.mark.parametrize("action", ["publish", "release"])
def test_what_a_reader_of_the_audit_must_know_is_said(action: str, approving: Approving) -> None:
    pass_audit(approving.workspace, caveats=CAVEATS, policy={"name": "lax.toml", "digest": "77" * 32, "ours": False})
    text = shown(approving.desk.signed_in("approver").ask(action, notes=""))
    assert "policy lax.toml (NOT the project's own" in text
    assert all(one in text for one in CAVEATS)


SHARED = "# CC BY-NC 4.0\n\nonly for research\n"
VECTORS = "https://vectors.example.org/v1.safetensors"


@pytest.mark.parametrize("action", ["publish", "release"])
def test_licence_and_place_of_the_word_vectors_are_those_of_the_release_before(
    action: str, approving: Approving
) -> None:
    first = Publishing(licence=SHARED, embeddings_url=VECTORS)
    getattr(releases, {"publish": "publish_representer", "release": "publish_pipeline"}[action])(
        approving.workspace, first
    )
    browser = approving.desk.signed_in("approver")
    asked = browser.ask(action, notes="for May")
    assert "CC BY-NC 4.0" in shown(asked)
    assert VECTORS in shown(asked)
    browser.confirm(asked)
    _, result = getattr(child, action)(approving.workspace, approving.begun[0], BY, silent)
    repository = approving.workspace.repository()
    assert repository.read(f"{result['name']}/LICENCE.md").decode() == SHARED
    assert json.loads(repository.read(f"{result['name']}/reference.json"))["url"] == VECTORS


def test_word_vectors_that_lie_nowhere_are_not_carried_without_a_word(approving: Approving) -> None:
    releases.publish_representer(approving.workspace, Publishing(embeddings_url=VECTORS))
    (approving.workspace.representer / "embeddings.safetensors").write_bytes(b"others")
    pass_audit(approving.workspace)
    answer = approving.desk.signed_in("approver").ask("publish", notes="")
    assert answer.status_code == 409
    assert "--embeddings-url" in shown(answer)


def test_of_the_first_release_it_is_said_that_no_licence_is_stated(approving: Approving) -> None:
    assert "No licence is stated" in shown(approving.desk.signed_in("approver").ask("publish", notes=""))


@pytest.mark.parametrize("action", ["publish", "release"])
def test_an_audit_of_another_representer_is_refused_before_anything_begins(action: str, approving: Approving) -> None:
    pass_audit(approving.workspace, representer="00" * 32)
    answer = approving.desk.signed_in("approver").ask(action, notes="")
    assert (answer.status_code, "another representer" in shown(answer)) == (409, True)


def test_all_that_stands_by_the_name_of_the_approver_was_shown(approving: Approving) -> None:
    """With no drop that is known a head may still be one that nobody compared with the last release, and that is accepted too."""
    releases.publish_pipeline(approving.workspace)
    approving.another_head(influence={"sites": [{"site": "south", "changes": [LOWER]}]})
    browser = approving.desk.signed_in("approver")
    asked = browser.ask("release", notes="", accept_drop="yes")
    assert "recall of DATE 0.800 against 0.900 of the pool without south" in shown(asked)
    assert "It was not compared with the last release, 0001-pipeline." in shown(asked)
    assert "NOT MEASURED: what it finds against the last release." in shown(asked)
    assert f"You accept that: the model card and the log say that {BY} did." in shown(asked)
    browser.confirm(asked)
    child.release(approving.workspace, approving.begun[0], BY, silent)
    with approving.workspace.registry().reading() as session:
        found = [json.loads(one.details) for one in audit_log.events(session) if one.action == "drop-accepted"]
    assert [one["drops"] for one in found] == [
        [
            "recall of DATE is 0.800, and 0.900 in the pool without one of the hospitals",
            "it was not compared with the last release",
        ]
    ]


def test_a_comparison_with_an_older_release_is_none_with_the_last(approving: Approving) -> None:
    releases.publish_pipeline(approving.workspace)
    older = approving.compared([HIGHER])
    approving.another_head(compared=older)
    releases.publish_pipeline(approving.workspace)
    approving.another_head(compared=older, influence={"sites": [{"site": "north", "changes": [HIGHER]}]})
    text = shown(approving.desk.signed_in("approver").ask("release", notes=""))
    assert "It was not compared with the last release, 0002-pipeline." in text
    assert "no less than release 1" not in text
    assert "You have not accepted that, so the gate will refuse it." in text


def test_where_nothing_is_lower_no_name_is_said_to_stand_for_it(approving: Approving) -> None:
    text = shown(approving.desk.signed_in("approver").ask("release", notes="", accept_drop="yes"))
    assert "NOT MEASURED: what it finds against an earlier release, what each site does to the others." in text
    assert "There is nothing to accept" in text
    assert "You accept" not in text


def test_what_a_withdrawal_excuses_is_said_to_pass(approving: Approving) -> None:
    releases.publish_pipeline(approving.workspace)
    approving.another_head(compared=approving.compared([LOWER]), shares=[])
    text = shown(approving.desk.signed_in("approver").ask("release", notes=""))
    assert "so the gate will refuse it" in text
    with approving.workspace.registry().transaction() as session:
        withdrawn = session.get_one(ShareRow, 2)
        withdrawn.state, withdrawn.reason_code = ShareState.WITHDRAWN, BY_SITE
    text = shown(approving.desk.signed_in("approver").ask("release", notes=""))
    assert "recall of DATE 0.800 against 0.900 of release 1" in text
    assert "It passes all the same, after a withdrawal" in text


def test_a_head_that_is_out_is_said_to_be_out(approving: Approving) -> None:
    browser = approving.desk.signed_in("approver")
    assert "out already" not in shown(browser.ask("release", notes=""))
    releases.publish_pipeline(approving.workspace, Publishing(head=head_digest(approving.workspace.head)))
    assert "This head is out already as 0001-pipeline." in shown(browser.ask("release", notes="once more"))

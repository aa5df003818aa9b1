"""Nothing goes on with a release that breaks the hospital's policy, unless a person says so by name; the ledger then tells it.

An acceptance is of one release, one step and the policy of its time, and for a share that leaves of exactly this share: a policy
that is changed later asks again.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from foundation.errors import StorageError
from foundation.reading import file_sha256
from protocols.canonical import Json
from protocols.errors import OtherReleaseError, ProtocolError
from protocols.release.verification import MANIFEST_NAME, VerifiedRelease, verify_release
from shared.errors import EmbeddingError, ModelError
from site_client.errors import PolicyError
from site_client.ledger import Event, entries, record
from site_client.policy.approver import check_approver
from site_client.policy.facts import ReleaseFacts, audit_lines, protection_line
from site_client.policy.judging import Breach, breaches
from site_client.policy.site_policy import SitePolicy, name_policy
from site_client.policy.stored import load_policy
from site_client.workspace import Workspace


class Step(StrEnum):
    """For what a release is judged."""

    PULL = "pull"
    ENCODE = "encode"
    SUBMIT = "submit"
    DEID = "deid"
    FEDERATE = "federate"


@dataclass(frozen=True)
class Acceptance:
    """That a person takes the responsibility for what the policy does not allow.

    Args:
        approver: the name of that person.
    """

    approver: str


@dataclass(frozen=True)
class Judgement:
    """A release, the policy that it was judged by, and what came of it.

    Args:
        policy: the hospital's.
        facts: what was found of the release.
        broken: what it does not keep.
    """

    policy: SitePolicy
    facts: ReleaseFacts
    broken: tuple[Breach, ...] = ()

    def lines(self) -> list[str]:
        """What protects a share, and what the policy says to it."""
        verdict = "; ".join(one.in_house for one in self.broken)
        said = f"does NOT keep it: expected {verdict}" if self.broken else "keeps it"
        return [
            protection_line(self.facts),
            *audit_lines(self.facts),
            f"judged by this hospital's {name_policy(self.policy)}: the release {said}",
        ]

    def as_json(self) -> dict[str, object]:
        """For other programs."""
        return {
            "release": self.facts.release,
            "constructions": list(self.facts.figures.procedures),
            "policy_sha256": self.policy.digest,
            "demonstration": self.policy.demonstration,
            "audit_failed": [] if self.facts.audit is None else list(self.facts.audit.failed),
            "broken": [{"demand": one.demand.value, "expected": one.said} for one in self.broken],
        }


def judge_release(workspace: Workspace, digest: str) -> Judgement:
    """A release of the workspace, judged by the policy of now.

    Args:
        workspace: of the site.
        digest: of the release.

    Raises:
        PolicyError: the policy was changed by other hands.
        OtherReleaseError: the release is not here.
        ProtocolError, EmbeddingError, ModelError: the release has changed or does not load.
    """
    policy = load_policy(workspace)
    facts = find_facts(workspace, digest, policy)
    if facts is None:
        # What loads networks, only where nothing is known yet.
        from site_client.policy.examining import examine, public_lists

        facts = examine(find_release(workspace, digest), public_lists(workspace, policy))
        record_facts(workspace, facts, policy)
    return judge_facts(policy, facts)


def judge_facts(policy: SitePolicy, facts: ReleaseFacts) -> Judgement:
    """What was found of a release, judged today."""
    return Judgement(policy, facts, tuple(breaches(policy, facts, datetime.date.today())))


def require_kept(
    workspace: Workspace,
    judgement: Judgement,
    step: Step,
    acceptance: Acceptance | None = None,
    manifest_sha256: str | None = None,
) -> None:
    """Returns if a release keeps the policy, or a person has taken the responsibility.

    Args:
        workspace: of the site.
        judgement: of the release.
        step: for what.
        acceptance: who takes it, where the policy is broken; recorded before this returns.
        manifest_sha256: of the share that would leave.

    Raises:
        PolicyError: the policy is broken, and nobody has.
        ApprovalError: that is no name.
    """
    broken = judgement.broken
    if not broken or (acceptance is None and _accepted(workspace, judgement, step, manifest_sha256)):
        return
    if acceptance is None:
        raise refusal(judgement.facts.sequence, broken, step)
    record_acceptance(workspace, judgement, step, acceptance, manifest_sha256)


def record_acceptance(
    workspace: Workspace,
    judgement: Judgement,
    step: Step,
    acceptance: Acceptance,
    manifest_sha256: str | None = None,
) -> None:
    """Write down who takes the responsibility, for what, and what is broken.

    Raises:
        ApprovalError: that is no name.
    """
    details = _bound(judgement, step, manifest_sha256)
    said: list[Json] = [one.said for one in judgement.broken]
    approver = check_approver(acceptance.approver)
    record(workspace, Event.UNPROTECTED_ACCEPTED, {**details, "approver": approver, "broken": said})


def refusal(sequence: int, broken: Sequence[Breach], step: Step) -> PolicyError:
    """The error for a release that breaks the policy."""
    # What went wrong with a training may be told to those who train together.
    told = [one.said if step is Step.FEDERATE else one.in_house for one in broken]
    said = "; ".join(f"{one.demand}: expected {what}" for one, what in zip(broken, told, strict=True))
    advice = {
        Step.PULL: "the release in use stays; ask the provider",
        Step.ENCODE: "nothing was written; ask the provider",
        Step.SUBMIT: "nothing leaves; encode the notes with another release",
        Step.DEID: "nothing was written; ask the provider",
        Step.FEDERATE: "nothing was trained; ask the provider",
    }[step]
    way = "pull" if step is Step.DEID else step.value
    # What leaves of a training is not seen ahead, so nobody can take the responsibility for it.
    taken = (
        ""
        if step is Step.FEDERATE
        else f", or take the responsibility with `{way} --accept-unprotected --approver NAME`"
    )
    return PolicyError(
        f"release {sequence} does not keep this hospital's policy: {said}; {advice}, {'or ' * (not taken)}change the policy with "
        f"`site-client policy set`{taken}"
    )


def find_facts(workspace: Workspace, digest: str, policy: SitePolicy) -> ReleaseFacts | None:
    """What the ledger tells of a release, found by this version of the program and with the lists of the policy."""
    words = "" if policy.own_words is None else policy.own_words.sha256
    found = None
    for entry in entries(workspace):
        if entry.event == Event.RELEASE_EXAMINED:
            found = ReleaseFacts.from_json(entry.details, digest, words) or found
    return found


def find_facts_in_use(workspace: Workspace) -> ReleaseFacts | None:
    """What was found of the release in use; None where there is none, or nothing can be found of it any more."""
    if workspace.current is None:
        return None
    try:
        return judge_release(workspace, workspace.current.digest).facts
    except (ProtocolError, StorageError, ModelError, EmbeddingError):
        return None


def record_facts(workspace: Workspace, facts: ReleaseFacts, policy: SitePolicy) -> None:
    """Write down what was found of a release, once."""
    if find_facts(workspace, facts.release, policy) is None:
        words = "" if policy.own_words is None else policy.own_words.sha256
        record(workspace, Event.RELEASE_EXAMINED, facts.to_json(words))


def _accepted(workspace: Workspace, judgement: Judgement, step: Step, manifest_sha256: str | None) -> bool:
    """Whether the ledger says so already. Encoding asks every time; what is in use, or leaves again after a cut, was decided."""
    if step in (Step.ENCODE, Step.FEDERATE):
        return False
    wanted = _bound(judgement, Step.PULL if step is Step.DEID else step, manifest_sha256)
    return any(
        entry.event == Event.UNPROTECTED_ACCEPTED and wanted.items() <= dict(entry.details).items()
        for entry in entries(workspace)
    )


def _bound(judgement: Judgement, step: Step, manifest_sha256: str | None) -> dict[str, Json]:
    """What an acceptance is bound to."""
    share: dict[str, Json] = {} if manifest_sha256 is None else {"manifest_sha256": manifest_sha256}
    return {
        "release": judgement.facts.release,
        "step": step.value,
        "policy_sha256": judgement.policy.digest,
        "demands": ", ".join(sorted({one.demand.value for one in judgement.broken})),
        **share,
    }


def find_release(workspace: Workspace, digest: str) -> VerifiedRelease:
    """A release of the workspace, the one in use or one from before, verified anew.

    Raises:
        OtherReleaseError: it is not here.
        ProtocolError: it has changed.
    """
    if workspace.current is not None and workspace.current.digest == digest:
        return workspace.release()
    for path in sorted(workspace.releases.glob(f"*/{MANIFEST_NAME}")):
        try:
            if file_sha256(path) == digest:
                return verify_release(path.parent, digest)
        except (ProtocolError, StorageError):
            continue
    raise OtherReleaseError(
        "a release that is in this workspace, to judge it by the policy",
        received=f"release {digest[:12]}",
        advice="pull the release and encode the notes again",
    )

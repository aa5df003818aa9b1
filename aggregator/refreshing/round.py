"""The monthly round: what came is taken in, the head is trained anew, the gates are asked, and a release is proposed.

    renew      the dates of the repository, as far as the keys that are here sign them: whatever becomes of the rest, hospitals go on
    take in    the files that are named, and what a crash had left half taken in
    train      the head of the pool as it is now, its influence measured, as `train-head` does; a training that was cut goes on.
               Where nothing that decides a head has changed since the last round, the head stays
    judge      audit and gate, as `release` asks them, on the files as they would be signed
    propose    one head to the person who approves; only that person, with the offline keys, releases it

Every step can be repeated, and each is on the disk before the next begins: a round that was cut goes on with the same command.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aggregator.auditing.audit import require_passed
from aggregator.enrolled.share_counts import get_share
from aggregator.enrolled.shares import BY_PERSON
from aggregator.errors import AuditError, DropError
from aggregator.ingestion.arriving import Outcome, files_in, finish_all, refusal, take_all
from aggregator.publishing.head_record import head_digest
from aggregator.publishing.outlook import released_as
from aggregator.publishing.proposal import Verdict, propose
from aggregator.publishing.quality_gate import describe_no_drop, read_record
from aggregator.publishing.releases import Publishing, renew, try_pipeline
from aggregator.refreshing.arrivals import read_arrivals
from aggregator.refreshing.found import Found
from aggregator.refreshing.kept import KeptRound, TakenFile, begin_round, one_round_at_a_time
from aggregator.registry.times import now
from aggregator.training import head as train_head
from aggregator.training.unfinished import can_go_on, digest_of_inputs
from aggregator.workspace import Workspace
from foundation.errors import DeidError
from shared.progress import Watch, unwatched
from shared.training.tagging import TaggingConfig

_COMMAND = "train-head"


@dataclass(frozen=True)
class RoundPlan:
    """What a round does.

    Args:
        paths: files and folders to take in.
        config: recipe of the training.
        options: what goes into the head, and what is measured of it.
    """

    paths: Sequence[Path]
    config: TaggingConfig
    options: train_head.HeadOptions


def run_round(
    workspace: Workspace,
    plan: RoundPlan,
    told: Callable[[Found], None],
    watch: Watch = unwatched,
    tell: Callable[[str], None] = lambda line: None,
) -> DeidError | None:
    """Run a round, or go on with one that was cut.

    Args:
        workspace: the provider's.
        plan: what it does.
        told: is told once what it has found, whatever ends it.
        watch: is told how far the training is.
        tell: is told what began anew.

    Returns:
        with whose code the command ends: what the gates refuse, or else what was refused of what was brought; None for 0.

    Raises:
        DeidError: a step could not be done; the next run goes on with it.
    """
    with one_round_at_a_time(workspace):
        kept, went_on = begin_round(workspace, tell)
        found = Found(kept, went_on)
        try:
            kept.save(workspace)
            found.expires = renew(workspace)
            refused = _take_in(workspace, plan, found)
            _train(workspace, plan, found, watch, tell)
            _judge(workspace, found)
            workspace.remove_ended_keys()
            found.failure = found.failure or refused
            _keep(workspace, found, ended=now())
        except KeyboardInterrupt as error:
            error.add_note("`aggregator refresh`, with the same options, goes on with the round")
            raise
        finally:
            told(found)
        return found.failure


def _keep(workspace: Workspace, found: Found, **changed: Any) -> None:
    found.round = replace(found.round, **changed)
    found.round.save(workspace)


def _take_in(workspace: Workspace, plan: RoundPlan, found: Found) -> DeidError | None:
    """Takes in what is there; what was refused of it, as an error."""

    def note(outcome: Outcome) -> None:
        path, files = str(outcome.file), dict(found.round.files)
        if outcome.decision is not None and path in files and not _is_same(files[path], outcome):
            # An error of before it was cut, as of a full disk, is over, whoever has decided the share since.
            del files[path]
        # A stick may lie there for months: what an earlier round was told is no news, and what this one was told stays. It was
        # told nothing yet of what it had decided when it was cut.
        if not (_is_decided_in(outcome, waited) or _is_told(workspace, replace(found.round, files=files), outcome)):
            files[path] = TakenFile(outcome.line, outcome.refused)
        if files != found.round.files:
            _keep(workspace, found, files=files)

    waited: list[Outcome] = []
    try:
        failed = finish_all(workspace, waited.append)
        failed += take_all(workspace, [file for given in plan.paths for file in files_in(given)], note)
    finally:
        found.arrivals = read_arrivals(workspace)
    return failed[0] if failed else refusal([*waited, *found.round.files.values()])


def _is_decided_in(outcome: Outcome, others: Sequence[Outcome]) -> bool:
    """Whether the share of a file is among others that are told by themselves."""
    decided = {one.decision.share for one in others if one.decision is not None}
    return outcome.decision is not None and outcome.decision.share in decided


def _is_same(earlier: TakenFile, outcome: Outcome) -> bool:
    """Whether what was told of a file is what became of its share, and no error; what is known already has a word more."""
    return not earlier.refused or outcome.line.startswith(earlier.line)


def _is_told(workspace: Workspace, kept: KeptRound, outcome: Outcome) -> bool:
    """Whether what became of a file was told before, by this round or one before it; what a person has decided meanwhile is no news either."""
    decision = outcome.decision
    if decision is None or not decision.known:
        return False
    if decision.reason_code == BY_PERSON:
        return True
    decided = get_share(workspace, decision.share).decided_at or ""
    return str(outcome.file) in kept.files or decided < kept.begun


def _train(workspace: Workspace, plan: RoundPlan, found: Found, watch: Watch, tell: Callable[[str], None]) -> None:
    inputs = train_head.planned_inputs(workspace, plan.config, plan.options)
    digest = digest_of_inputs(inputs)
    if not _is_trained(workspace, found.round, digest):
        cut = can_go_on(workspace, _COMMAND, inputs)
        train_head.train(workspace, plan.config, plan.options, watch, resume=cut, tell=tell)
        found.trained = True
        measured = read_record(workspace.head).get("influence") is not None
        _keep(workspace, found, inputs=digest, head=head_digest(workspace.head), measured=measured)
    found.head = found.round.head
    found.record = read_record(workspace.head)


def _is_trained(workspace: Workspace, kept: KeptRound, inputs: str) -> bool:
    """Whether the head that is here is that of the last round, of the same inputs, with what was measured of it.

    `train-head --influence none` makes the same weights, and a record of them that says of no site what it does to the others.
    """
    if not (
        kept.head and kept.inputs == inputs and workspace.head.exists() and head_digest(workspace.head) == kept.head
    ):
        return False
    return not kept.measured or read_record(workspace.head).get("influence") is not None


def _judge(workspace: Workspace, found: Found) -> None:
    """Asks the gates, and proposes what a person may release."""
    released = released_as(workspace)
    if released is not None:
        found.verdict, found.says = (
            "nothing new",
            (f"this head is that of release {released}: there is nothing to release",),
        )
        return
    try:
        audited = [f"audit: {line}" for line in require_passed(workspace)]
        passed = try_pipeline(workspace, Publishing(head=found.head))
    except AuditError as error:
        found.verdict, found.says, found.failure = "audit", (str(error),), error
        return
    except DropError as error:
        found.failure, verdict, says = error, Verdict.DROP, [*audited, str(error)]
    else:
        verdict = Verdict.PASSED
        lower = [] if passed is None else [f"passes after a withdrawal: {line}" for line in passed.describe()]
        says = [*audited, *(lower or [describe_no_drop(workspace.head)])]
    found.verdict, found.says = verdict, tuple(says)
    found.proposal = propose(workspace, found.head, verdict, says)

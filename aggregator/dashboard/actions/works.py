"""Long works, which become jobs: the log verified, the head trained, a release signed; and the end of one."""

from __future__ import annotations

import json
from abc import abstractmethod

from aggregator.dashboard.actions.action import Action, Asked, Foretold, Happened
from aggregator.dashboard.jobs.job import Job, JobKind, JobState
from aggregator.errors import AuditError, RequestError, WorkspaceError
from aggregator.publishing.head_record import DIGITS, head_digest
from aggregator.publishing.quality_gate import describe_no_drop, read_drops
from aggregator.registry import audit_log
from aggregator.registry.states import AccountRole
from foundation.reading import read_text
from protocols.fields import SHA256
from shared.privacy.audit_record import RECORD as AUDIT

_SHOWN = 8


class _Begin(Action):
    """What begins a job; that somebody did stands in the log before it does."""

    kind: JobKind

    @abstractmethod
    def values(self, asked: Asked) -> dict[str, str]:
        """What the job is begun with."""

    def carry_out(self, asked: Asked) -> Happened:
        """Begin it."""
        values = self.values(asked)

        def log() -> None:
            told = {name: value for name, value in values.items() if name != "offline"}
            with asked.workspace.registry().transaction() as session:
                audit_log.append(session, asked.actor, "work-begun", {"work": str(self.kind), **told})

        job = asked.jobs.begin(self.kind, values, asked.actor, log)
        return Happened(f"{self.kind} has begun", f"/work/{job.id}")


class VerifyLog(_Begin):
    """Verify the whole audit log."""

    name, role, kind = "log-verify", AccountRole.OPERATOR, JobKind.VERIFY

    def values(self, asked: Asked) -> dict[str, str]:
        """See `_Begin`."""
        known = asked.line("known", optional=True).lower()
        if known and not SHA256.fullmatch(known):
            raise RequestError("hash: expected 64 hexadecimal digits, got something else; go back and correct it")
        return {"known": known} if known else {}

    def foretell(self, asked: Asked) -> Foretold:
        """See `Action`."""
        known = self.values(asked).get("known")
        more = (f"It must hold an event with the hash {known[:16]}….",) if known else ()
        return Foretold(
            "Verify the whole log?", ("Every event is read and its link checked; nothing is changed.", *more)
        )


class TrainHead(_Begin):
    """Train the head on the pool."""

    name, role, kind = "train-head", AccountRole.OPERATOR, JobKind.TRAIN_HEAD

    def values(self, asked: Asked) -> dict[str, str]:
        """See `_Begin`."""
        values = {"epochs": str(asked.number("epochs", 1, 999))}
        return values | ({"resume": "yes"} if asked.ticked("resume") else {})

    def foretell(self, asked: Asked) -> Foretold:
        """See `Action`."""
        values = self.values(asked)
        begun = (
            "The training that was cut goes on."
            if "resume" in values
            else "It begins anew; what one that was cut had learned is gone."
        )
        return Foretold(
            "Train the head?",
            (
                f"{values['epochs']} passes over all shares that count, with your own notes and the usual defence. It takes minutes to hours.",
                begun,
                "The head in the workspace is replaced when it has ended. No release changes by it.",
            ),
        )


class _Publish(_Begin):
    """What signs a release."""

    role = AccountRole.APPROVER

    def values(self, asked: Asked) -> dict[str, str]:
        """See `_Begin`."""
        notes = asked.line("notes", optional=True)
        values = {"notes": notes} if notes else {}
        if asked.offline:
            values["offline"] = "\n".join(str(folder) for folder in asked.offline)
        return values

    def _audit(self, asked: Asked) -> str:
        """The audit of the representer in a sentence.

        Raises:
            AuditError: there is none, or it has not passed.
        """
        path = asked.workspace.root / "audit" / AUDIT
        if not path.exists():
            raise AuditError("expected an audit of this representer, found none; run `aggregator audit` first")
        try:
            record = json.loads(read_text(path))
            passed, made, preset = record["passed"] is True, record["made"], record["preset"]
        except (ValueError, KeyError, TypeError) as error:
            raise AuditError("audit.json: expected the record of an audit; run `aggregator audit` again") from error
        if not passed:
            raise AuditError("the representer did not pass its audit; change the representer, not the policy")
        return f"The {preset} audit of {made} has passed; it is looked at once more before anything is signed."


class PublishRepresenter(_Publish):
    """Sign and publish the representer."""

    name, kind = "publish", JobKind.PUBLISH

    def foretell(self, asked: Asked) -> Foretold:
        """See `Action`."""
        self.values(asked)
        return Foretold("Publish the representer?", (self._audit(asked), *_signed(asked)), grave=True)


class ReleasePipeline(_Publish):
    """Sign and publish representer and head."""

    name, kind = "release", JobKind.RELEASE

    def values(self, asked: Asked) -> dict[str, str]:
        """See `_Begin`."""
        accepted = {"accept_drop": "yes"} if asked.ticked("accept_drop") else {}
        return super().values(asked) | accepted | {"head": asked.values.get("head", "")}

    def foretell(self, asked: Asked) -> Foretold:
        """With what the gate will look at."""
        values = self.values(asked)
        if not asked.workspace.head.exists():
            raise WorkspaceError("no head is trained yet; train it first")
        head = head_digest(asked.workspace.head)
        drops, _ = read_drops(asked.workspace.head)
        lines = [
            self._audit(asked),
            f"It carries the head {head[:DIGITS]}; once another is trained, this one is asked for again.",
        ]
        lines += [f"The head finds less: recall of {drop}." for drop in drops[:_SHOWN]]
        lines += [f"And so of {len(drops) - _SHOWN} more."] if len(drops) > _SHOWN else []
        if not drops:
            told = describe_no_drop(asked.workspace.head)
            lines.append(f"{told[:1].upper()}{told[1:]}.")
        if "accept_drop" in values:
            lines.append(f"You accept whatever it finds less: the model card and the log say that {asked.actor} did.")
        elif drops:
            lines.append("You have not accepted that, so the gate will refuse it.")
        return Foretold("Release the pipeline?", (*lines, *_signed(asked)), grave=True, bound={"head": head})


class StopWork(Action):
    """End a job."""

    name, role = "work-stop", AccountRole.OPERATOR

    def foretell(self, asked: Asked) -> Foretold:
        """See `Action`."""
        job = _running(asked)
        return Foretold(
            f"End {job.kind}?",
            (f"{job.by} has begun it. It ends as by Ctrl+C: nothing half-written stays.",),
            grave=True,
        )

    def carry_out(self, asked: Asked) -> Happened:
        """End it."""
        job = _running(asked)
        with asked.workspace.registry().transaction() as session:
            audit_log.append(session, asked.actor, "work-ended", {"work": str(job.kind)})
        asked.jobs.stop(job.id)
        return Happened(f"{job.kind} is told to end", f"/work/{job.id}")


def _running(asked: Asked) -> Job:
    job = asked.jobs.find(asked.line("work"))
    if job is None or job.state is not JobState.RUNNING:
        raise RequestError("expected a work that runs, found none; it may have ended meanwhile", status=409)
    return job


def _signed(asked: Asked) -> tuple[str, ...]:
    keys = f"the offline keys in {len(asked.offline)} folders" if asked.offline else "the offline keys in the workspace"
    return (
        f"It is signed with {keys}; without enough of them nothing is published.",
        "Hospitals can pull it from then on, and it can't be taken back.",
        f"The audit log says that {asked.actor} did it.",
    )

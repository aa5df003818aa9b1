"""Long works, which become jobs: the log verified, the head trained, a release signed; and the end of one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, fields

from aggregator.dashboard.actions.action import Action, Asked, Foretold, Happened
from aggregator.dashboard.jobs.cut import after_end
from aggregator.dashboard.jobs.job import Job, JobKind, JobState
from aggregator.enrolled.unfinished_trainings import read_inputs, unfinished_folder
from aggregator.errors import RequestError
from aggregator.publishing.audit_gate import PassedAudit, load_passed_audit
from aggregator.publishing.head_record import DIGITS, describe_needs, head_digest
from aggregator.publishing.judging import Shown, look_at
from aggregator.publishing.outlook import HeadOutlook, foresee
from aggregator.publishing.preparing import stated_last, stated_licence
from aggregator.publishing.quality_gate import read_record
from aggregator.publishing.releases import representer_digest
from aggregator.registry import audit_log
from aggregator.registry.states import AccountRole
from aggregator.workspace import require
from protocols.fields import SHA256


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
        require(asked.workspace.representer, "aggregator train-repr")
        if "resume" in values:
            _require_cut(asked, values["epochs"])
        begun = (
            "The training that was cut goes on."
            if "resume" in values
            else "It begins anew; what one that was cut had learned is gone."
        )
        return Foretold(
            "Train the head?",
            (
                f"{values['epochs']} passes over all shares that count and fit the representer here, with your own notes and the usual defence. It takes minutes to hours.",
                begun,
                "The head in the workspace is replaced when it has ended. No release changes by it.",
            ),
        )


def _require_cut(asked: Asked, epochs: str) -> None:
    """Raises RequestError where no training was cut that could go on so; whether its shares still count the work itself asks."""
    cut = read_inputs(unfinished_folder(asked.workspace) / "train-head")
    if cut is None:
        raise RequestError(
            "expected a training that was cut, found none to go on with; go back and take the tick away", status=409
        )
    if str(cut.get("epochs")) != epochs:
        raise RequestError(
            f"expected the {cut.get('epochs')} passes of the training that was cut, got {epochs}; go back and correct it",
            status=409,
        )


class _Publish(_Begin):
    """What signs a release: of what was shown, and nothing else."""

    role = AccountRole.APPROVER

    def carry_out(self, asked: Asked) -> Happened:
        """Begin it, if all is still as it was shown; the work looks once more, at the copy that it signs."""
        self.require_as_shown(asked, "representer, audit, head or release")
        return super().carry_out(asked)

    def values(self, asked: Asked) -> dict[str, str]:
        """See `_Begin`."""
        notes = asked.line("notes", optional=True)
        values = {one.name: asked.values.get(one.name, "") for one in fields(Shown)} | (
            {"notes": notes} if notes else {}
        )
        if asked.offline:
            values["offline"] = "\n".join(str(folder) for folder in asked.offline)
        return values


class PublishRepresenter(_Publish):
    """Sign and publish the representer."""

    name, kind = "publish", JobKind.PUBLISH

    def foretell(self, asked: Asked) -> Foretold:
        """With what its audit says."""
        self.values(asked)
        workspace = asked.workspace
        audit, names = workspace.root / "audit", workspace.repository().release_names()
        shown = look_at(representer_digest(workspace), audit, None, names)
        lines = _audit_lines(load_passed_audit(audit, shown.representer))
        return Foretold(
            "Publish the representer?", (*lines, *_stated(asked), *_signed(asked)), grave=True, bound=asdict(shown)
        )


class ReleasePipeline(_Publish):
    """Sign and publish representer and head."""

    name, kind = "release", JobKind.RELEASE

    def values(self, asked: Asked) -> dict[str, str]:
        """See `_Begin`."""
        accepted = {"accept_drop": "yes"} if asked.ticked("accept_drop") else {}
        return super().values(asked) | accepted | {"head": asked.values.get("head", "")}

    def foretell(self, asked: Asked) -> Foretold:
        """With what the gates say now."""
        values, workspace = self.values(asked), asked.workspace
        folder = require(workspace.head, "aggregator train-head")
        # Ahead of the gates: what is exchanged between is another than the one that is bound, and refused.
        head, names = head_digest(folder), workspace.repository().release_names()
        shown = look_at(representer_digest(workspace), workspace.root / "audit", folder, names)
        seen = foresee(workspace, shown.representer)
        if seen.audit is None or seen.head is None:
            raise seen.refusals[0]
        lines = [
            *_audit_lines(seen.audit),
            f"It carries the head {head[:DIGITS]}; once another is trained, this one is asked for again.",
            *(f"Mind: {line}." for line in describe_needs(read_record(folder))),
            *_head_lines(seen.head, asked.actor, accepted="accept_drop" in values),
            *_stated(asked),
            *_signed(asked),
        ]
        return Foretold("Release the pipeline?", tuple(lines), grave=True, bound={"head": head, **asdict(shown)})


class StopWork(Action):
    """End a job."""

    name, role = "work-stop", AccountRole.OPERATOR

    def foretell(self, asked: Asked) -> Foretold:
        """See `Action`."""
        job = _running(asked)
        begun = f"{job.by} has begun it. It ends as by Ctrl+C: nothing half-written stays."
        return Foretold(f"End {job.kind}?", (begun, *after_end(job.kind)), grave=True)

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


def _audit_lines(audit: PassedAudit) -> list[str]:
    return [f"The representer has passed its audit: {audit.description}.", *(f"Mind: {one}." for one in audit.caveats)]


def _head_lines(head: HeadOutlook, actor: str, *, accepted: bool) -> list[str]:
    lines = [] if head.released is None else [f"This head is out already as {head.released}."]
    lines += head.lower
    if head.measured:
        lines.append(f"{head.measured[:1].upper()}{head.measured[1:]}.")
    if accepted:
        told = (
            "You accept that: the model card and the log say that {} did."
            if head.lower
            else "There is nothing to accept for {}."
        )
        lines.append(told.format(actor))
    elif head.drop is not None:
        lines.append("You have not accepted that, so the gate will refuse it.")
    elif head.lower:
        lines.append("It passes all the same, after a withdrawal: the model card and the log say so.")
    return lines


def _stated(asked: Asked) -> tuple[str, ...]:
    """What it says beside what was trained: the same as the release before, which nobody is asked again for."""
    stated = stated_last(asked.workspace)
    licence = stated_licence(stated.licence).strip().partition("\n")[0].lstrip("# ")
    lines = (f"Its licence, as of the release before, if there is one: {licence}.",)
    return lines if stated.embeddings_url is None else (*lines, f"Its word vectors lie at {stated.embeddings_url}.")


def _signed(asked: Asked) -> tuple[str, ...]:
    keys = f"the offline keys in {len(asked.offline)} folders" if asked.offline else "the offline keys in the workspace"
    return (
        f"It is signed with {keys}; without enough of them nothing is published.",
        "Hospitals can pull it from then on, and it can't be taken back.",
        f"The audit log says that {asked.actor} did it.",
    )

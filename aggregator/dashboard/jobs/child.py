"""The process of a job: calls what the command of the same name calls, tells how far it is, and what came of it.

It reads one line of JSON and writes some; what else is printed goes where errors go. The text of an error that nobody foresaw is not told.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from aggregator.dashboard.jobs.job import JobKind
from aggregator.workspace import Workspace, open_workspace, require
from command_line.stopping import heed_stop_signals
from foundation.errors import DeidError
from protocols.keys.passphrase import Passphrase
from shared.progress import Watch

_EVERY_S = 0.5
Told = tuple[list[str], dict[str, Any]]
"""Lines for people, and the same for programs."""
Work = Callable[[Workspace, Mapping[str, str], str, Watch], Told]


def verify_log(workspace: Workspace, values: Mapping[str, str], by: str, watch: Watch) -> Told:
    """Check every link of the audit log, and that it holds a hash that was given out earlier."""
    from aggregator.registry import audit_log

    watch("reading every event", 0.0, None)
    known = [values["known"]] if values.get("known") else []
    with workspace.registry().reading() as session:
        count, head = audit_log.verify(session, known=known), audit_log.head(session)
    return [f"{count} events, every link holds", f"head {head}"], {"events": count, "head": head}


def train_head(workspace: Workspace, values: Mapping[str, str], by: str, watch: Watch) -> Told:
    """Train the head on the pool, as `aggregator train-head` does without options."""
    import torch

    from aggregator.training.head import train
    from shared.training.tagging import TaggingConfig

    torch.set_num_threads(1)
    recipe = TaggingConfig(epochs=int(values["epochs"]), seed=0)
    told: list[str] = []
    trained = train(workspace, recipe, watch=watch, resume=bool(values.get("resume")), tell=told.append)
    out = trained.influence.standing_out if trained.influence is not None else {}
    lines = [f"{trained.sentences} sentences, {trained.tokens} tokens in a pass over the pool", *told]
    lines += [f"{site} stands out: {reason}" for site, reasons in out.items() for reason in reasons]
    return lines, {"sentences": trained.sentences, "tokens": trained.tokens}


def publish(workspace: Workspace, values: Mapping[str, str], by: str, watch: Watch) -> Told:
    """Sign and publish the representer, as `aggregator publish` does."""
    return _publish(workspace, values, by, watch, pipeline=False)


def release(workspace: Workspace, values: Mapping[str, str], by: str, watch: Watch) -> Told:
    """Sign and publish representer and head, as `aggregator release` does."""
    return _publish(workspace, values, by, watch, pipeline=True)


def _publish(workspace: Workspace, values: Mapping[str, str], by: str, watch: Watch, *, pipeline: bool) -> Told:
    from aggregator.auditing.audit import require_passed
    from aggregator.publishing.judging import Shown
    from aggregator.publishing.preparing import stated_last
    from aggregator.publishing.releases import Publishing, publish_pipeline, publish_representer

    watch("looking at the audit", 0.1, None)
    require(
        workspace.head if pipeline else workspace.representer,
        "aggregator train-head" if pipeline else "aggregator train-repr",
    )
    audited = require_passed(workspace)
    watch("signing", 0.4, None)
    offline = tuple(Path(one) for one in values.get("offline", "").split("\n") if one)
    approver = by if values.get("accept_drop") else None
    # What was shown when it was confirmed, and nothing else; a representer has no head.
    head = values["head"] if pipeline else ""
    shown = Shown(values["representer"], values["audit"], values["training"], values["newest"])
    notes = values.get("notes", "")
    # Of the release that was shown as the newest: had another come out since, nothing would be signed.
    stated = stated_last(workspace)
    how = Publishing(
        offline,
        stated.embeddings_url,
        stated.licence,
        notes=notes,
        approver=approver,
        actor=by,
        head=head,
        shown=shown,
    )
    made = publish_pipeline(workspace, how) if pipeline else publish_representer(workspace, how)
    lines = [f"{made.name} is published", f"digest {made.digest}", *(f"audit: {line}" for line in audited)]
    return lines, {"name": made.name, "digest": made.digest}


WORK: Mapping[JobKind, Work] = {
    JobKind.VERIFY: verify_log,
    JobKind.TRAIN_HEAD: train_head,
    JobKind.PUBLISH: publish,
    JobKind.RELEASE: release,
}


class _Telling:
    """A watch that writes lines, a few a second."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._last_s, self._phase = out, 0.0, ""

    def __call__(self, phase: str, share: float, left_s: float | None) -> None:
        now_s = time.monotonic()
        if phase != self._phase or now_s - self._last_s > _EVERY_S:
            self._phase, self._last_s = phase, now_s
            say(self._out, {"phase": phase, "share": share, "left_s": left_s})


def say(out: TextIO, value: Mapping[str, object]) -> None:
    """A line for the dashboard; where that is gone, the job ends as one that was cut."""
    try:
        out.write(json.dumps(value) + "\n")
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        raise KeyboardInterrupt from None


def main(root: Path) -> None:
    """Do what the one line asks for."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    asked = json.loads(sys.stdin.readline())
    secret = asked["passphrase"]
    try:
        with heed_stop_signals():
            workspace = open_workspace(root, Passphrase.of_secret(bytes.fromhex(secret)) if secret else None)
            workspace.passphrase.ask_no_more()
            lines, result = WORK[JobKind(asked["kind"])](workspace, asked["values"], asked["by"], _Telling(out))
        say(out, {"lines": lines, "result": result})
    except DeidError as error:
        say(out, {"failed": " ".join(str(error).split())})
    except KeyboardInterrupt:
        return
    except Exception as error:
        say(out, {"failed": f"a fault in the program: {type(error).__name__}"})


if __name__ == "__main__":
    main(Path(sys.argv[1]))

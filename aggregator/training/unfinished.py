"""What a training keeps until it has ended, so that one that was cut can go on: `unfinished/NAME` of the workspace, its owner's alone.

inputs.json    what it was started with; who goes on with other inputs is refused
...            its checkpoints

It goes when the training has ended well, or began anew. It holds weights and no text; one process at a time has it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from aggregator.enrolled.unfinished_trainings import COMMANDS, INPUTS, LOCK, read_inputs, unfinished_folder
from aggregator.errors import WorkspaceError
from aggregator.workspace import Workspace
from foundation.errors import StorageError
from foundation.files import write_text
from foundation.locks import lock_number
from foundation.os_errors import map_os_errors
from shared.errors import ConfigurationError
from shared.training.together import Together, require_same


@contextmanager
def keep_unfinished(
    workspace: Workspace,
    command: str,
    inputs: Mapping[str, object],
    *,
    resume: bool,
    tell: Callable[[str], None] = lambda line: None,
) -> Iterator[Path]:
    """A folder for the checkpoints of a training; it stays where the block does not end well and has left some.

    Args:
        workspace: the provider's.
        command: one of COMMANDS.
        inputs: all that decides the result, in JSON's types, by words that people know.
        resume: whether the training goes on with what was kept; else it begins anew.
        tell: is told where that is given up.

    Raises:
        WorkspaceError: nothing is there to go on with.
        ConfigurationError: what is there has other inputs.
        StorageError: another process is at it, or the disk is full.
    """
    folder = unfinished_folder(workspace)
    run = folder / command
    if resume and read_inputs(run) is None:
        raise WorkspaceError(f"{command}: expected one that was cut, found none; run it without --resume")
    with map_os_errors(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_number(folder / LOCK, COMMANDS.index(command), wait=False) as alone:
        if not alone:
            raise StorageError(
                f"no other {command} in this workspace", received="one that runs", advice="wait until it has ended"
            )
        try:
            _begin(run, command, {**inputs, "software": _software()}, resume=resume, tell=tell)
            yield run
        except BaseException as error:
            if not _holds_checkpoints(run):
                shutil.rmtree(run, ignore_errors=True)
            elif isinstance(error, KeyboardInterrupt):
                error.add_note(f"`aggregator {command} --resume`, with the same options, goes on where it was")
            raise
        # It may be gone: who needs room may remove it, and the training has ended well all the same.
        with map_os_errors(run), suppress(FileNotFoundError):
            shutil.rmtree(run)


@contextmanager
def keep_together(
    workspace: Workspace,
    command: str,
    inputs: Mapping[str, object],
    group: Together | None,
    *,
    resume: bool,
    tell: Callable[[str], None] = lambda line: None,
) -> Iterator[Path | None]:
    """`keep_unfinished` where several processes may train: the first one keeps, the others get None.

    Args:
        workspace, command, inputs, resume, tell: as for `keep_unfinished`.
        group: the processes; None for one alone.

    Raises:
        WorkspaceError, ConfigurationError, StorageError: as there; or this process begins with other inputs than the first.
    """
    if group is None:
        with keep_unfinished(workspace, command, inputs, resume=resume, tell=tell) as kept:
            yield kept
        return
    of_all = {**inputs, "processes": group.count}
    with ExitStack() as stack:
        own = None
        if group.index == 0:
            own = stack.enter_context(keep_unfinished(workspace, command, of_all, resume=resume, tell=tell))
        require_same(group, {**of_all, "software": _software()})
        yield own


def can_go_on(workspace: Workspace, command: str, inputs: Mapping[str, object]) -> bool:
    """Whether a training that was cut had exactly these inputs, so that one with `resume` goes on with it."""
    return read_inputs(unfinished_folder(workspace) / command) == _stated(inputs)


def digest_of_inputs(inputs: Mapping[str, object]) -> str:
    """SHA-256 of all that decides a training, the versions of what trains among it: equal ones end in the same bits."""
    return hashlib.sha256(json.dumps(_stated(inputs), sort_keys=True).encode()).hexdigest()


def _stated(inputs: Mapping[str, object]) -> dict[str, object]:
    """As it is read back."""
    stated: dict[str, object] = json.loads(json.dumps({**inputs, "software": _software()}))
    return stated


def _holds_checkpoints(run: Path) -> bool:
    """Whether there is something to go on with, more than what it was started with."""
    return any(found.is_file() and found.name != INPUTS for found in run.rglob("*"))


def _begin(run: Path, command: str, inputs: Mapping[str, object], *, resume: bool, tell: Callable[[str], None]) -> None:
    kept = read_inputs(run) or {}
    if not resume:
        if kept:
            tell(f"{command} was cut before: it begins anew, and what it had learned is gone; --resume goes on with it")
        with map_os_errors(run):
            shutil.rmtree(run, ignore_errors=True)
            run.mkdir(mode=0o700)
        write_text(run / INPUTS, json.dumps(inputs, indent=1))
        return
    now = json.loads(json.dumps(inputs))
    other = sorted(name for name in {*now, *kept} if now.get(name) != kept.get(name))
    if other:
        raise ConfigurationError(
            f"{command}: expected what it was started with, got other {', '.join(other)}; give the same, or begin anew without --resume"
        )


def _software() -> dict[str, str]:
    """Versions of what trains, with those that an extra brings where it is installed."""
    names = ["deid-commons", "torch", "numpy", "gensim", "Faker"]
    names += [name for name in ("transformers", "tokenizers") if find_spec(name) is not None]
    return {name: version(name) for name in names}

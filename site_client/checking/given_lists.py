"""The lists of names that the hospital gave for its country, in one file of the workspace: `lists.json`.

What is listed is public, as a rule. But a hospital may list its own patients, so the names stand in this file alone, which is its owner's: no command
prints, logs or sends them, or a digest of them, by which somebody could try out who is on a list.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from foundation.files import write_text
from foundation.locks import lock_folder
from foundation.reading import read_text
from shared.errors import ConfigurationError
from shared.patterns.given_names import KINDS, GivenNames
from site_client.errors import WorkspaceError
from site_client.workspace import Workspace

FILE = "lists.json"
MOST_NAMES = 500_000
_FORMAT = 1


def given_names(workspace: Workspace) -> GivenNames:
    """What the hospital gave; nothing where it gave none.

    Raises:
        WorkspaceError: the file is damaged.
        StorageError: it can't be read.
    """
    path = _path(workspace)
    if not path.exists():
        return GivenNames()
    wrong = WorkspaceError(
        f"{FILE}: expected the lists that `site-client lists` keeps, got something else; restore the file, or remove it and give the lists again"
    )
    try:
        stated = json.loads(read_text(path))
        if stated["format"] != _FORMAT or stated.keys() != {"format", *KINDS}:
            raise wrong
        if not all(
            isinstance(stated[kind], list) and all(isinstance(name, str) for name in stated[kind]) for kind in KINDS
        ):
            raise wrong
        return GivenNames(**{kind: tuple(stated[kind]) for kind in KINDS})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    # Not chained: errors of the decoder hold the names.
    raise wrong


def change_lists(
    workspace: Workspace, given: Mapping[str, Sequence[str]], removed: Collection[str] = ()
) -> tuple[GivenNames, GivenNames]:
    """Puts lists in the place of those that were given before, and takes others out.

    Args:
        workspace: of the site.
        given: names by kind; a kind that is not among them stays as it is.
        removed: kinds, none of them given.

    Returns:
        what was there before, and what is there now.

    Raises:
        ConfigurationError: more names than a list may have.
        WorkspaceError, StorageError: as `given_names`; or the file can't be written. Nothing has changed then.
    """
    unique = {kind: tuple(dict.fromkeys(names)) for kind, names in given.items()}
    for kind, names in unique.items():
        if len(names) > MOST_NAMES:
            raise ConfigurationError(
                f"--{kind}: expected at most {MOST_NAMES} names, got {len(names)}; leave out the rarest"
            )
    # Another command may give other kinds at the same time.
    with lock_folder(workspace.root):
        before = given_names(workspace)
        now = replace(before, **unique, **dict.fromkeys(removed, ()))
        stated = {"format": _FORMAT, **{kind: getattr(now, kind) for kind in KINDS}}
        write_text(_path(workspace), json.dumps(stated, ensure_ascii=False))
    return before, now


def _path(workspace: Workspace) -> Path:
    return workspace.root / FILE

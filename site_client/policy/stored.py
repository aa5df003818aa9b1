"""Where the policy lies: `policy.json`, which counts only as the signed ledger recorded it last.

A change is recorded before the file is written. A file that differs from the record was changed by other hands, or the machine
went down between the two: either way nothing goes on until `policy set` has put the recorded one back. The hospital's own list of
public words lies beside it under its digest, so that whatever becomes of a change the list of the recorded policy is there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from foundation.files import write_bytes, write_text
from foundation.locks import lock_folder
from foundation.reading import file_sha256
from protocols.bounded_reading import read_bounded
from protocols.canonical import Json, parse_json
from protocols.errors import ProtocolError
from shared.errors import ConfigurationError
from site_client.errors import PolicyError
from site_client.ledger import Event, entries, record
from site_client.policy.site_policy import DEFAULT, OwnWords, SitePolicy, digest_of_values, list_changes
from site_client.workspace import Workspace

_WORDS, _DIGITS = "public-words", 16
_FILE = "policy.json"
_MAX_BYTES = 64 << 10
_MAX_WORDS_BYTES = 64 << 20
_CHANGED = (
    f"{_FILE}: expected the policy that the ledger recorded last, found one that was changed outside `policy set`; find out who "
    "changed it, and run `site-client policy set` to put the recorded one back"
)


def policy_path(workspace: Workspace) -> Path:
    """Where the policy lies."""
    return workspace.root / _FILE


def load_policy(workspace: Workspace) -> SitePolicy:
    """The hospital's policy; the default where none was ever set.

    Raises:
        PolicyError: the file is not what `policy set` wrote.
        LedgerError: the ledger was changed.
    """
    path, recorded = policy_path(workspace), _recorded(workspace)
    if not path.exists():
        if recorded is not None:
            raise PolicyError(_CHANGED)
        return DEFAULT
    try:
        values = parse_json(read_bounded(path, _MAX_BYTES), max_bytes=_MAX_BYTES, place=_FILE)
        expected = DEFAULT.digest if recorded is None else recorded.get("policy_sha256")
        if digest_of_values(values) != expected:
            raise PolicyError(_CHANGED)
        policy = SitePolicy.from_json(values)
    except (ProtocolError, ConfigurationError) as error:
        raise PolicyError(_CHANGED) from error
    _check_words(workspace, policy)
    return policy


def read_recorded_policy(workspace: Workspace) -> SitePolicy:
    """The policy that the ledger recorded last, whatever lies in the file.

    Raises:
        PolicyError: a later version of the program recorded it.
        LedgerError: the ledger was changed.
    """
    recorded = _recorded(workspace)
    try:
        return DEFAULT if recorded is None else SitePolicy.from_json(recorded.get("policy"))
    except (ProtocolError, ConfigurationError) as error:
        raise PolicyError(
            "ledger.jsonl: expected a policy of this version in the last `policy set`, got another; update deid-commons"
        ) from error


def set_policy(workspace: Workspace, policy: SitePolicy) -> list[str]:
    """Record a policy in the ledger and write its file.

    Returns:
        what changed, in words; nothing where the file was only put back.

    Raises:
        PolicyError: the hospital's own list of words is not there as the policy names it; nothing is changed.
        LedgerError, StorageError: see there.
    """
    with lock_folder(workspace.root):
        _check_words(workspace, policy)
        changes, recorded = list_changes(read_recorded_policy(workspace), policy), _recorded(workspace)
        # What an earlier version recorded has another digest, since it stated less.
        if recorded is None or recorded.get("policy_sha256") != policy.digest:
            details: dict[str, Json] = {
                "policy_sha256": policy.digest,
                "policy": policy.to_json(),
                "changes": [*changes],
            }
            record(workspace, Event.POLICY_SET, details)
        text = json.dumps(policy.to_json(), indent=1, ensure_ascii=False)
        write_text(policy_path(workspace), text + "\n", private=False)
        _discard_other_words(workspace, policy)
    return changes


def keep_words(workspace: Workspace, source: Path) -> OwnWords:
    """Copies the hospital's own list of public words into the workspace, where its digest is watched; another that is there stays.

    Raises:
        StorageError: it can't be read or written.
        BoundsError: it is larger than any such list.
        ConfigurationError: it is none.
    """
    data = read_bounded(source, _MAX_WORDS_BYTES)
    try:
        empty = not data.decode("utf-8").strip()
    except UnicodeDecodeError:
        empty = True
    if empty:
        raise ConfigurationError(
            "--public-words: expected a list of words in UTF-8, one a line, got none or other bytes; save it as plain text in UTF-8"
        )
    digest = hashlib.sha256(data).hexdigest()
    name = f"{_WORDS}-{digest[:_DIGITS]}.txt"
    write_bytes(workspace.root / name, data, private=False)
    return OwnWords(name, digest)


def words_path(workspace: Workspace, policy: SitePolicy) -> Path | None:
    """The hospital's own list of public words; None where it has none."""
    return None if policy.own_words is None else workspace.root / Path(policy.own_words.path).name


def _check_words(workspace: Workspace, policy: SitePolicy) -> None:
    path = words_path(workspace, policy)
    if path is not None and policy.own_words is not None and _sha256(path) != policy.own_words.sha256:
        raise PolicyError(
            f"{path.name}: expected the list of words of the policy, found {'another' if path.is_file() else 'none'}; give it again with `policy set "
            "--public-words FILE`, or go on without it by `policy set --no-public-words`"
        )


def _discard_other_words(workspace: Workspace, policy: SitePolicy) -> None:
    """Removes lists that are no more in force, and those of changes that came to nothing, by the names that they have here alone."""
    for path in workspace.root.glob(f"{_WORDS}-{'[0-9a-f]' * _DIGITS}.txt"):
        if path != words_path(workspace, policy):
            with suppress(OSError):
                path.unlink()


def _sha256(path: Path) -> str:
    return file_sha256(path) if path.is_file() else ""


def _recorded(workspace: Workspace) -> Mapping[str, Json] | None:
    """Details of the last entry about the policy."""
    found = None
    for entry in entries(workspace):
        if entry.event == Event.POLICY_SET:
            found = entry.details
    return found

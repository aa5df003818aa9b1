"""The gate of `publish`: a representer leaves only with the record of an audit that it passed.

It looks twice: before anything is done, so that a refusal costs nothing, and at the files as they will be signed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aggregator.errors import AuditError
from foundation.errors import StorageError
from foundation.reading import read_text

FORMAT = 2
RECORD = "audit.json"
PAGE = "audit.html"
_UNKNOWN = "not recorded"


@dataclass(frozen=True)
class PassedAudit:
    """An audit that a representer has passed, for who decides about it.

    Args:
        description: under which preset, seed and policy, in words.
        caveats: what a reader of the verdict must know.
    """

    description: str
    caveats: tuple[str, ...]


def load_passed_audit(folder: Path, representer: str) -> PassedAudit:
    """The audit that this representer has passed, by its record.

    Args:
        folder: holds record and page.
        representer: digest of the one here.

    Raises:
        AuditError: there is none, it is of another representer, or it did not pass.
    """
    if not (folder / RECORD).exists() or not (folder / PAGE).exists():
        raise AuditError("expected an audit of this representer, found none; run `aggregator audit` first")
    try:
        record: dict[str, Any] = json.loads(read_text(folder / RECORD))
        if record["format"] != FORMAT or not record["verdicts"] or not isinstance(record["caveats"], list):
            raise ValueError
        attacked = str(record["representer"])
        failed = [str(one["attack"]) for one in record["verdicts"] if one["passed"] is not True]
        passed = record["passed"] is True and not failed
        found = PassedAudit(describe_audit(record), tuple(map(str, record["caveats"])))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, StorageError) as error:
        raise AuditError("audit.json: expected the record of an audit; run `aggregator audit` again") from error
    if attacked != representer:
        raise AuditError("the audit is of another representer than the one here; run `aggregator audit` again")
    if not passed:
        raise AuditError(
            f"the representer did not pass its audit ({', '.join(dict.fromkeys(failed))}); see audit/{PAGE}, and change "
            "the representer, not the policy"
        )
    return found


def describe_audit(record: Mapping[str, Any]) -> str:
    """Preset, seed and policy of the record of an audit, in words."""
    policy = record.get("policy", {})
    whose = "the project's own" if policy.get("ours") is True else "NOT the project's own"
    return (
        f"preset {record.get('preset', _UNKNOWN)}, seed {record.get('seed', _UNKNOWN)}, policy "
        f"{policy.get('name', _UNKNOWN)} ({whose}, SHA-256 {str(policy.get('digest', _UNKNOWN))[:16]})"
    )

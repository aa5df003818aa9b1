"""The gate of `publish`: a representer leaves only with the record of an audit that it passed.

It looks twice: before anything is done, so that a refusal costs nothing, and at the files as they will be signed. One that
failed leaves only if the provider says so, and only of a construction that nothing proves: what it failed is then in the release.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aggregator.errors import AuditError
from foundation.errors import StorageError
from foundation.reading import read_text
from shared.constructions.proof import WITHOUT_PROOF
from shared.privacy.audit_record import FORMAT, PAGE, RECORD, describe_audit

__all__ = ["FORMAT", "PAGE", "RECORD", "PassedAudit", "describe_audit", "load_passed_audit", "require_no_proof"]


@dataclass(frozen=True)
class PassedAudit:
    """An audit that a representer has passed, for who decides about it.

    Args:
        description: under which preset, seed and policy, in words.
        caveats: what a reader of the verdict must know.
        failed: attacks that it did not withstand, where that was allowed.
    """

    description: str
    caveats: tuple[str, ...]
    failed: tuple[str, ...] = ()


def load_passed_audit(folder: Path, representer: str, *, with_failed: bool = False) -> PassedAudit:
    """The audit that this representer has passed, by its record.

    Args:
        folder: holds record and page.
        representer: digest of the one here.
        with_failed: whether one that did not pass is taken too; see `require_no_proof`.

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
        if all(one.get("skipped") is True for one in record["verdicts"]):
            failed.append("no limit was measured")
        passed = record["passed"] is True and not failed
        found = PassedAudit(describe_audit(record), tuple(map(str, record["caveats"])))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, StorageError) as error:
        raise AuditError("audit.json: expected the record of an audit; run `aggregator audit` again") from error
    if attacked != representer:
        raise AuditError("the audit is of another representer than the one here; run `aggregator audit` again")
    if not passed:
        names = tuple(dict.fromkeys(failed)) or ("the verdict says so",)
        if with_failed:
            return replace(found, failed=names)
        raise AuditError(
            f"the representer did not pass its audit ({', '.join(names)}); see audit/{PAGE}, and change "
            "the representer, not the policy"
        )
    return found


def require_no_proof(folder: Path) -> None:
    """Returns if a folder holds a construction that nothing but attacks vouches for; only such a one may have failed them.

    Raises:
        AuditError: it promises what can be recomputed, so an audit that fails shows a fault.
        ModelError, EmbeddingError: it does not load.
    """
    # Publishing loads no network otherwise.
    from shared.constructions.registry import PROCEDURES, load_construction

    made = type(load_construction(folder))
    names = [procedure.name for procedure in PROCEDURES.values() if procedure.makes is made]
    if not set(names) <= set(WITHOUT_PROOF):
        raise AuditError(
            f"--with-failed-audit: expected a construction among {', '.join(WITHOUT_PROOF)}, got {', '.join(names)}, whose audit "
            "must pass; change the representer, not the policy"
        )

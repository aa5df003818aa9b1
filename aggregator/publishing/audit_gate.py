"""The gate of `publish`: a representer leaves only with the record of an audit that it passed.

It looks twice: before anything is done, so that a refusal costs nothing, and at the files as they will be signed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aggregator.errors import AuditError
from foundation.errors import StorageError
from foundation.reading import read_text

FORMAT = 2
RECORD = "audit.json"
PAGE = "audit.html"


def passed_record(folder: Path, representer: str) -> dict[str, Any]:
    """The record of an audit that this representer has passed.

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
    except (ValueError, KeyError, TypeError, RecursionError, StorageError) as error:
        raise AuditError("audit.json: expected the record of an audit; run `aggregator audit` again") from error
    if attacked != representer:
        raise AuditError("the audit is of another representer than the one here; run `aggregator audit` again")
    if not passed:
        raise AuditError(
            f"the representer did not pass its audit ({', '.join(dict.fromkeys(failed))}); see audit/{PAGE}, and change "
            "the representer, not the policy"
        )
    return record

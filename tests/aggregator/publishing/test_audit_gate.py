from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aggregator.errors import AuditError
from aggregator.publishing.audit_gate import FORMAT, PAGE, RECORD, PassedAudit, describe_audit, load_passed_audit

REPRESENTER = "00" * 32


def audited(folder: Path, **changed: Any) -> dict[str, Any]:
    """Writes page and record of an audit that was passed, but for what is changed."""
    record = {
        "format": FORMAT,
        "representer": REPRESENTER,
        "passed": True,
        "verdicts": [{"attack": "inversion", "passed": True}, {"attack": "linkage", "passed": True}],
        "caveats": [],
    } | changed
    (folder / RECORD).write_text(json.dumps(record))
    (folder / PAGE).write_text("<!doctype html>")
    return record


def test_the_record_of_a_passed_audit_is_returned(tmp_path: Path) -> None:
    record = audited(tmp_path, caveats=["few names"])
    assert load_passed_audit(tmp_path, REPRESENTER) == PassedAudit(describe_audit(record), ("few names",))


@pytest.mark.parametrize("missing", [RECORD, PAGE])
def test_an_audit_is_its_record_and_its_page(tmp_path: Path, missing: str) -> None:
    audited(tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(AuditError, match="found none"):
        load_passed_audit(tmp_path, REPRESENTER)


def test_an_audit_of_another_representer_does_not_count(tmp_path: Path) -> None:
    audited(tmp_path)
    with pytest.raises(AuditError, match="another representer"):
        load_passed_audit(tmp_path, "11" * 32)


@pytest.mark.parametrize("passed", [False, "true", "no", 1, None])
def test_what_did_not_pass_is_refused(tmp_path: Path, passed: object) -> None:
    audited(tmp_path, passed=passed)
    with pytest.raises(AuditError, match="did not pass its audit"):
        load_passed_audit(tmp_path, REPRESENTER)


@pytest.mark.parametrize("passed", [False, "true", "no", 1, None])
def test_an_attack_that_did_not_pass_is_named_whatever_the_whole_says(tmp_path: Path, passed: object) -> None:
    audited(tmp_path, verdicts=[{"attack": "inversion", "passed": True}, {"attack": "linkage", "passed": passed}])
    with pytest.raises(AuditError, match=r"did not pass its audit \(linkage\)"):
        load_passed_audit(tmp_path, REPRESENTER)


def test_an_audit_that_measured_nothing_is_refused_whatever_it_says(tmp_path: Path) -> None:
    audited(tmp_path, verdicts=[{"attack": "linkage", "passed": True, "skipped": True}])
    with pytest.raises(AuditError, match=r"did not pass its audit \(no limit was measured\)"):
        load_passed_audit(tmp_path, REPRESENTER)
    measured = {"attack": "match", "passed": True, "skipped": False}
    audited(tmp_path, verdicts=[{"attack": "linkage", "passed": True, "skipped": True}, measured])
    assert not load_passed_audit(tmp_path, REPRESENTER).failed


@pytest.mark.parametrize(
    "changed",
    [
        {"format": FORMAT - 1},
        {"verdicts": []},
        {"verdicts": [{"attack": "inversion"}]},
        {"verdicts": ["inversion"]},
        {"caveats": "none"},
    ],
)
def test_a_record_of_another_form_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    audited(tmp_path, **changed)
    with pytest.raises(AuditError, match="expected the record of an audit"):
        load_passed_audit(tmp_path, REPRESENTER)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '{"format": 2}'], ids=range(6))
def test_a_damaged_record_is_refused(tmp_path: Path, text: str) -> None:
    audited(tmp_path)
    (tmp_path / RECORD).write_text(text)
    with pytest.raises(AuditError, match="expected the record of an audit"):
        load_passed_audit(tmp_path, REPRESENTER)

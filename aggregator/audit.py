"""`aggregator audit`: the attacks on the representer of the workspace, a verdict by policy, a page and a record.

The record names the representer that was attacked by its digest, and `publish` asks for a record of the one it is to sign.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from aggregator.audit_page import said, write_page
from aggregator.errors import AuditError
from aggregator.releases import representer_digest
from aggregator.workspace import Workspace, require
from shared.anonymity.names import full_names
from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, StorageError
from shared.files import new_folder, read_text, write_text
from shared.labels import load_mapping
from shared.pipeline import load_encoder
from shared.privacy.audit import PRESETS, Audit, AuditMaterial, AuditSettings, run_audit, settings_as_json
from shared.privacy.finding import Finding
from shared.privacy.policy import Limit, Verdict, judge
from shared.training.tagging import Progress, silent

RECORD = "audit.json"
PAGE = "audit.html"
FORMAT = 1
# Of the notes, so many are attacked; the attacker learns from the others.
_ATTACKED = 0.3
# Of so many full names of each length the linkage attack draws its lists.
_FULL_NAMES = 12_000


@dataclass(frozen=True)
class AuditResult:
    """An audit and what became of it.

    Args:
        audit: findings, accounting.
        verdicts: one a limit of the policy.
        representer: digest of what was attacked.
        corpus: digest of the notes that were used.
        preset: "quick" or "full".
        settings: of the attacks.
    """

    audit: Audit
    verdicts: tuple[Verdict, ...]
    representer: str
    corpus: str
    preset: str
    settings: AuditSettings

    @property
    def passed(self) -> bool:
        """Whether every limit is kept."""
        return all(verdict.passed for verdict in self.verdicts)

    @property
    def skipped(self) -> int:
        """How many limits were not tried and need not be."""
        return sum(verdict.skipped for verdict in self.verdicts)

    def as_json(self) -> dict[str, object]:
        """Everything as a JSON object."""
        return {
            "format": FORMAT,
            "passed": self.passed,
            "preset": self.preset,
            "representer": self.representer,
            "corpus": self.corpus,
            "accounting": {
                "basis": self.audit.accounting.basis,
                "statement": self.audit.accounting.statement,
                "guarantees": [
                    # JSON has no infinity, which is the epsilon of noise too weak for any number.
                    {"unit": one.unit, "mu": one.mu, "rho": one.rho, "epsilon": _finite(one.epsilon), "delta": one.delta}
                    for one in self.audit.accounting.guarantees
                ],
            },
            "verdicts": [
                {**asdict(one.limit), "passed": one.passed, "skipped": one.skipped, "reason": one.reason,
                 "findings": len(one.findings)}
                for one in self.verdicts
            ],
            "left_out": list(self.audit.left_out),
            "findings": [asdict(finding) for finding in self.audit.findings],
            "settings": settings_as_json(self.settings),
        }  # fmt: skip


def audit(
    workspace: Workspace,
    notes: Sequence[Document],
    vectors: WordVectors,
    limits: Sequence[Limit],
    preset: str,
    seed: int = 0,
    progress: Progress = silent,
) -> AuditResult:
    """Attack the representer of the workspace, and write audit/audit.json and audit/audit.html.

    Args:
        workspace: with a trained representer.
        notes: labelled public notes; a part of them, chosen by their text, is attacked, the attacker learns from the others.
        vectors: public word vectors as they are.
        limits: of the policy.
        preset: of the attacks.
        seed: of all of them.
        progress: called as they go on.

    Raises:
        ConfigurationError: an unknown preset, or too few notes.
        WorkspaceError: no representer is trained yet.
    """
    if preset not in PRESETS:
        raise ConfigurationError(f"expected a preset among {', '.join(PRESETS)}, got {preset!r}")
    require(workspace.representer / "representer.json", "aggregator train-repr")
    known = [note for note in notes if not _attacked(note)]
    target = [note for note in notes if _attacked(note)]
    mapping = load_mapping(workspace.scheme.name, "hipaa") if _has_mapping(workspace) else {}
    material = AuditMaterial(
        vectors,
        known,
        target,
        full_names(workspace.scheme.name, _FULL_NAMES, seed),
        [name for name, meaning in mapping.items() if meaning == "NAME"],
    )
    settings = _seeded(PRESETS[preset], seed)
    found = run_audit(load_encoder(workspace.representer), material, settings, progress)
    verdicts = judge(limits, found.findings, full=preset == "full")
    result = AuditResult(found, tuple(verdicts), representer_digest(workspace), _corpus_digest(notes), preset, settings)
    with new_folder(workspace.root / "audit") as folder:
        write_text(folder / RECORD, json.dumps(result.as_json(), indent=1))
        write_page(result, folder / PAGE)
    return result


def require_passed(workspace: Workspace) -> None:
    """Returns if the representer of the workspace has passed an audit.

    Raises:
        AuditError: there is no audit of it, or it did not pass.
    """
    path = workspace.root / "audit" / RECORD
    if not path.exists() or not path.with_name(PAGE).exists():
        raise AuditError("expected an audit of this representer, found none; run `aggregator audit` first")
    try:
        record = json.loads(read_text(path))
        if record["format"] != FORMAT or not record["verdicts"]:
            raise ValueError
        attacked = str(record["representer"])
        failed = [str(one["attack"]) for one in record["verdicts"] if one["passed"] is not True]
        passed = record["passed"] is True and not failed
    except (ValueError, KeyError, TypeError, RecursionError, StorageError) as error:
        raise AuditError("audit.json: expected the record of an audit; run `aggregator audit` again") from error
    if attacked != representer_digest(workspace):
        raise AuditError("the audit is of another representer than the one here; run `aggregator audit` again")
    if not passed:
        raise AuditError(
            f"the representer did not pass its audit ({', '.join(dict.fromkeys(failed))}); see audit/{PAGE}, and change "
            "the representer, not the policy"
        )


def _attacked(note: Document) -> bool:
    """By the text, so that two copies of a note are on one side."""
    return hashlib.sha256(note.text.encode("utf-8", "surrogatepass")).digest()[0] < 256 * _ATTACKED


def _seeded(settings: AuditSettings, seed: int) -> AuditSettings:
    """The same settings, every attack with the seed."""
    changes: dict[str, Any] = {"seed": seed}
    changes["matching"] = tuple(replace(one, seed=seed) for one in settings.matching)
    for name in ("white_box", "adversary", "linkage", "reassembly", "membership"):
        part = getattr(settings, name)
        changes[name] = None if part is None else replace(part, seed=seed)
    for name in ("inversion", "readability"):
        part = getattr(settings, name)
        changes[name] = None if part is None else replace(part, guesser=replace(part.guesser, seed=seed))
    return replace(settings, **changes)


def _has_mapping(workspace: Workspace) -> bool:
    try:
        load_mapping(workspace.scheme.name, "hipaa")
    except ConfigurationError:
        return False
    return True


def _corpus_digest(notes: Sequence[Document]) -> str:
    total = hashlib.sha256()
    for note in sorted(hashlib.sha256(note.text.encode("utf-8", "surrogatepass")).digest() for note in notes):
        total.update(note)
    return total.hexdigest()


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None


def summary_lines(result: AuditResult) -> list[str]:
    """The verdict for a terminal."""
    lines = [result.audit.accounting.statement]
    for verdict in result.verdicts:
        state = "skipped" if verdict.skipped else "pass" if verdict.passed else "FAIL"
        shown = verdict.shown
        parts = [] if shown is None else [f"{shown.measure}: {said(shown, shown.value)} {shown.unit}".rstrip()]
        lines.append(f"{state:7} {verdict.limit.attack}: " + "; ".join([*parts, *filter(None, [verdict.reason])]))
        if shown is not None:
            lines.append(f"        ({_rests_on(shown)}; passes: {verdict.limit.bound})")
    lines += [f"left out: {reason}" for reason in result.audit.left_out]
    skipped = f"; {result.skipped} of {len(result.verdicts)} limits were skipped" if result.skipped else ""
    lines.append(
        f"the representer passes its audit{skipped}" if result.passed else "the representer does NOT pass its audit"
    )
    return lines


def _rests_on(finding: Finding) -> str:
    without = [] if finding.baseline is None else [f"without the share {said(finding, finding.baseline)}"]
    interval = [] if finding.unit else [f"interval {' to '.join(said(finding, end) for end in finding.interval)}"]
    return ", ".join([*without, *interval, f"{finding.trials} trials"])

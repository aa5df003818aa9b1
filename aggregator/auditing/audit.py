"""`aggregator audit`: the attacks on the representer of the workspace, a verdict by policy, a page and a record.

The record names the representer that was attacked by its digest, and `publish` asks for a record of the one it is to sign.
Every audit is an event in the registry, so that nobody repeats one unseen until a seed lets it pass.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version

from aggregator.auditing.page import write_page
from aggregator.auditing.result import AuditResult, Inputs
from aggregator.errors import AuditError
from aggregator.publishing.audit_gate import PAGE, RECORD, load_passed_audit, require_no_proof
from aggregator.publishing.head_record import RECORD as TRAINING
from aggregator.publishing.releases import representer_digest
from aggregator.registry import audit_log
from aggregator.workspace import Workspace, require
from foundation.errors import StorageError
from foundation.files import write_text
from foundation.folders import new_folder
from foundation.reading import read_text
from protocols.canonical import Json
from shared.anonymity.names import full_names
from shared.constructions.registry import load_construction
from shared.document import Document
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError
from shared.labels import load_mapping
from shared.privacy.attacks.scene import AuditMaterial
from shared.privacy.audit import PRESETS, run_audit
from shared.privacy.policy import Policy, judge
from shared.progress import Progress, silent

_EVENT = "representer-audited"
# Of the notes, so many are attacked; the attacker learns from the others.
_ATTACKED = 0.3
# Of few notes more, so that a share of 20 can be made of those: so many, if they are no more than this part of all.
_ATTACKED_OF_FEW, _LARGEST_PART = 24, 0.4
# Of so many full names of each length the linkage attack draws its lists.
_FULL_NAMES = 12_000


def audit(
    workspace: Workspace,
    notes: Sequence[Document],
    vectors: WordVectors,
    policy: Policy,
    preset: str,
    seed: int = 0,
    progress: Progress = silent,
) -> AuditResult:
    """Attack the representer of the workspace, log it, and write audit/audit.json and audit/audit.html.

    Args:
        workspace: with a trained representer.
        notes: labelled public notes; a part of them, chosen by their text, is attacked, the attacker learns from the others.
        vectors: public word vectors as they are.
        policy: the limits.
        preset: of the attacks.
        seed: of all of them.
        progress: called as they go on.

    Raises:
        ConfigurationError: an unknown preset, or too few notes.
        WorkspaceError: no representer is trained yet.
        AuditError: another representer took its place meanwhile.
    """
    if preset not in PRESETS:
        raise ConfigurationError(f"expected a preset among {', '.join(PRESETS)}, got {preset!r}")
    require(workspace.representer / "representer.json", "aggregator train-repr")
    # Ahead of the loading: what is attacked is what this names, or the digest has changed at the end.
    digest = representer_digest(workspace)
    construction = load_construction(workspace.representer)
    known, target = _sides(notes)
    mapping = load_mapping(workspace.scheme.name, "hipaa") if _has_mapping(workspace) else {}
    names = full_names(workspace.scheme.name, _FULL_NAMES, seed)
    material = AuditMaterial(
        vectors, known, target, names, [name for name, meaning in mapping.items() if meaning == "NAME"]
    )
    settings = PRESETS[preset].with_seed(seed)
    found = run_audit(construction, material, settings, progress)
    if representer_digest(workspace) != digest:
        raise AuditError("the representer was replaced while it was attacked; run `aggregator audit` again")
    verdicts = tuple(judge(policy.limits, found.findings, full=preset == "full", own_set=found.own_set))
    result = AuditResult(
        found,
        verdicts,
        policy,
        Inputs(digest, _digest(map(_labelled, notes)), vectors.digest, _digest(" ".join(name) for name in names)),
        preset,
        settings,
        _seen(workspace, target),
        _software(),
    )
    result = replace(result, number=_logged(workspace, result))
    with new_folder(workspace.root / "audit") as folder:
        write_text(folder / RECORD, json.dumps(result.as_json(), indent=1), private=False)
        write_page(result, folder / PAGE)
    return result


def require_passed(workspace: Workspace, *, with_failed: bool = False) -> list[str]:
    """Returns if the representer of the workspace has passed an audit.

    Args:
        workspace: of the provider.
        with_failed: whether it may have failed one, of a construction that nothing proves.

    Returns:
        under which preset and policy, and what a reader of the verdict must know.

    Raises:
        AuditError: as for `load_passed_audit`.
        WorkspaceError: no representer is trained yet.
    """
    passed = load_passed_audit(workspace.root / "audit", representer_digest(workspace), with_failed=with_failed)
    if not passed.failed:
        return [passed.description, *passed.caveats]
    require_no_proof(workspace.representer)
    said = f"NOT passed ({', '.join(passed.failed)}): a hospital takes this release only if its own policy says so"
    return [said, passed.description, *passed.caveats]


def _sides(notes: Sequence[Document]) -> tuple[list[Document], list[Document]]:
    """Those that the attacker learns from and those that are attacked; by the text, so that two copies of a note are on one side."""
    digests = sorted({note.digest for note in notes})
    some = sum(int(digest[:2], 16) < 256 * _ATTACKED for digest in digests)
    few = min(_ATTACKED_OF_FEW, int(len(digests) * _LARGEST_PART))
    attacked = set(digests[: max(some, few)])
    return [note for note in notes if note.digest not in attacked], [note for note in notes if note.digest in attacked]


def _has_mapping(workspace: Workspace) -> bool:
    try:
        load_mapping(workspace.scheme.name, "hipaa")
    except ConfigurationError:
        return False
    return True


def _seen(workspace: Workspace, attacked: Sequence[Document]) -> int | None:
    """How many notes the representer was trained on; None where the record of its training does not say."""
    try:
        trained = set(json.loads(read_text(workspace.representer / TRAINING))["notes"])
    except (ValueError, KeyError, TypeError, StorageError):
        return None
    return sum(note.digest in trained for note in attacked)


def _logged(workspace: Workspace, result: AuditResult) -> int:
    """Log an audit ahead of its record, so that no verdict is seen that the log does not hold; its number."""
    representer = result.inputs.representer
    details: dict[str, Json] = {
        "representer": representer,
        "preset": result.preset,
        "policy": result.policy.digest,
        "seed": result.settings.seed,
        "passed": result.passed,
    }
    with workspace.registry().transaction() as session:
        audit_log.append(session, "operator", _EVENT, details)
        audits = [json.loads(one.details) for one in audit_log.events(session) if one.action == _EVENT]
    return sum(one["representer"] == representer for one in audits)


def _software() -> dict[str, str]:
    return {name: version(name) for name in ("deid-commons", "torch", "numpy")}


def _labelled(note: Document) -> str:
    """All of a note that an attack depends on."""
    spans = [(span.start, span.end, span.category) for span in note.annotations]
    return json.dumps([note.text, spans])


def _digest(texts: Iterable[str]) -> str:
    """SHA-256 over texts in any order."""
    total = hashlib.sha256()
    for one in sorted(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts):
        total.update(one)
    return total.hexdigest()

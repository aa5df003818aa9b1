"""A workspace with a representer, a head and an audit that cost nothing: small files in the place of what a training writes."""

from __future__ import annotations

import json

import numpy as np
from safetensors.numpy import save

from aggregator.publishing import releases
from aggregator.publishing.audit_gate import FORMAT, PAGE, RECORD
from aggregator.workspace import Workspace

TENSORS = save({"weight": np.zeros(3, dtype=np.float32)})
_REPRESENTER = (
    "embeddings.safetensors",
    "vocabulary.json",
    "representer.safetensors",
    "representer.json",
    "scheme.json",
)
_HEAD = ("head.safetensors", "head.json")


def lay_down(workspace: Workspace) -> None:
    """Representer and head; the head lacks the record of its training, see `record_training`."""
    for folder, names in ((workspace.representer, _REPRESENTER), (workspace.head, _HEAD)):
        folder.mkdir(exist_ok=True)
        for name in names:
            (folder / name).write_bytes(TENSORS if name.endswith("safetensors") else b"{}")
    options = {"procedure": "surrogates"}
    record = {"options": options, "sentences": 12000, "tokens": 200_000, "phi_tokens": 7000}
    (workspace.representer / "training.json").write_text(json.dumps(record))


def record_training(workspace: Workspace, **more: object) -> None:
    """What a training of the head on the representer of the workspace would write, and `more`."""
    record = {
        "representer": releases.representer_digest(workspace),
        "sentences": 3000,
        "tokens": 50_000,
        "public": True,
        "sites": [],
        "shares": [],
    }
    (workspace.head / "training.json").write_text(json.dumps(record | more))


def pass_audit(workspace: Workspace, **more: object) -> None:
    """What an audit of the representer of the workspace would write that it has passed, but for `more`."""
    record = {
        "format": FORMAT,
        "representer": releases.representer_digest(workspace),
        "passed": True,
        "made": "2026-11-20",
        "preset": "full",
        "seed": 0,
        "policy": {"name": "standard", "digest": "cd" * 32, "ours": True},
        "verdicts": [{"attack": "match", "measure": "top-1 of", "why": "a word in a list", "passed": True}],
        "caveats": [],
        "findings": [],
    }
    folder = workspace.root / "audit"
    folder.mkdir(exist_ok=True)
    (folder / RECORD).write_text(json.dumps(record | more))
    (folder / PAGE).write_text("<!doctype html>")

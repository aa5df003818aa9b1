"""An adapted head on the disk: `adapted/NAME/` of the workspace, for its owner alone, for it has learned from notes by heart.

    adapted.json            which release it is of, digests of the other files and of the notes that it has learned from, categories that the
                            release goes on to decide, what was measured
    head.safetensors        its weights. head.json: its shape
    operating_points.json   what it is good for in the hospital's own notes
    notes.runs              8 bytes for each of a sample of the runs of words of these notes; earlier versions kept none

NAME begins the SHA-256 of adapted.json, which the signed ledger has whole: what is not as it was then is not used. Nothing of it ever leaves.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foundation.errors import StorageError
from foundation.files import write_bytes, write_text
from foundation.folders import new_folder
from foundation.os_errors import map_os_errors
from foundation.reading import file_sha256, read_text
from protocols.release.verification import VerifiedRelease
from shared.pipeline.operating_points import OperatingPoints
from shared.taggers.registry import save_head
from shared.taggers.tagger import Tagger
from site_client.errors import AdaptationError
from site_client.sharing.known_notes import DigestKey
from site_client.sharing.sifting.edited import KnownNotes
from site_client.workspace import Workspace

FORMAT = 1
_RECORD, _RUNS = "adapted.json", "notes.runs"
_NAME_DIGITS = 32
_MAX_BYTES = 4 << 20


@dataclass(frozen=True)
class OwnHead:
    """What is stated of an adapted head.

    Args:
        folder: with its files, as they were when it was made.
        digest: of the record.
        release: digest of the pipeline that it was adapted from. sequence: its number.
        kept: categories of which the release has the say as well.
        learned: the notes that it has learned from.
        gain: what cross-validation showed, as JSON.
        notes_key: fingerprint of the key by which these notes are known; "" for a head of an earlier version.
    """

    folder: Path
    digest: str
    release: str
    sequence: int
    kept: frozenset[str]
    learned: KnownNotes
    gain: Mapping[str, Any]
    notes_key: str = ""


def heads_folder(workspace: Workspace) -> Path:
    """Where adapted heads lie."""
    return workspace.root / "adapted"


def save_own_head(
    workspace: Workspace,
    release: VerifiedRelease,
    head: Tagger,
    points: OperatingPoints,
    kept: Iterable[str],
    learned: KnownNotes,
    gain: Mapping[str, object],
) -> str:
    """Write an adapted head, whole or not at all; the digest of its record. The same one that is here already stays, for it may be in use.

    Args:
        workspace: of the site.
        release: the pipeline that it was adapted from.
        head: it.
        points: what it is good for.
        kept, learned, gain: as in OwnHead.

    Raises:
        StorageError: no room, no permission.
    """
    folder = heads_folder(workspace)
    with map_os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    with new_folder(folder / "new", private=True) as staged:
        save_head(head, staged)
        points.save(staged)
        write_bytes(staged / _RUNS, learned.runs.astype("<u8").tobytes())
        stated = {
            "format": FORMAT,
            "release": release.digest,
            "sequence": release.manifest.sequence,
            "files": {path.name: file_sha256(path) for path in sorted(staged.iterdir())},
            "kept": sorted(kept),
            "notes": sorted(note.hex() for note in learned.notes),
            "notes_key": DigestKey(workspace).fingerprint,
            "gain": dict(gain),
        }
        for path in staged.iterdir():
            path.chmod(0o600)
        write_text(staged / _RECORD, json.dumps(stated, indent=1) + "\n")
    digest = file_sha256(folder / "new" / _RECORD)
    with map_os_errors(folder):
        target = folder / digest[:_NAME_DIGITS]
        if _reads_well(workspace, digest):
            shutil.rmtree(folder / "new", ignore_errors=True)
            return digest
        shutil.rmtree(target, ignore_errors=True)
        (folder / "new").rename(target)
    return digest


def _reads_well(workspace: Workspace, digest: str) -> bool:
    with suppress(AdaptationError):
        read_own_head(workspace, digest)
        return True
    return False


def read_own_head(workspace: Workspace, digest: str) -> OwnHead:
    """An adapted head, if its files are as they were when it was made.

    Args:
        workspace: of the site.
        digest: of its record, as the ledger has it.

    Raises:
        AdaptationError: a file is missing, or has changed.
    """
    folder = heads_folder(workspace) / digest[:_NAME_DIGITS]
    try:
        if file_sha256(folder / _RECORD) != digest:
            raise _changed()
        stated = json.loads(read_text(folder / _RECORD, _MAX_BYTES))
        if stated["format"] != FORMAT:
            raise AdaptationError(
                "expected an adapted head of this version, got another; update deid-commons, or adapt again"
            )
        if any(file_sha256(folder / Path(name).name) != known for name, known in stated["files"].items()):
            raise _changed()
        with map_os_errors(folder / _RUNS):
            runs = (folder / _RUNS).read_bytes() if _RUNS in stated["files"] else b""
        learned = KnownNotes(
            frozenset(map(bytes.fromhex, stated["notes"])), np.frombuffer(runs, "<u8").astype(np.uint64)
        )
        return OwnHead(
            folder,
            digest,
            str(stated["release"]),
            int(stated["sequence"]),
            frozenset(map(str, stated["kept"])),
            learned,
            dict(stated["gain"]),
            str(stated.get("notes_key", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, StorageError) as error:
        raise _changed() from error


def remove_others(workspace: Workspace, used: Iterable[str]) -> None:
    """Remove adapted heads that nothing uses any more.

    Args:
        workspace: of the site.
        used: digests of the records of those that stay.
    """
    names = {digest[:_NAME_DIGITS] for digest in used}
    folder = heads_folder(workspace)
    if not folder.is_dir():
        return
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name not in names and not path.name.startswith("."):
                shutil.rmtree(path, ignore_errors=True)


def _changed() -> AdaptationError:
    return AdaptationError(
        "expected the adapted head as it was made, found files that are missing or have changed; nothing is hidden with it: restore `adapted/` from a "
        "backup, or go back to the release by `site-client adapt --undo`"
    )

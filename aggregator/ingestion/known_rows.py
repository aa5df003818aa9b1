"""The rows that the published construction can show, kept as a file for the child that checks payloads, which has no torch.

They follow from the release alone, so they are made once for each construction and kept in `codebooks/` of the workspace; the folder
may be emptied at any time.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from aggregator.publishing.releases import Release, construction_digests
from aggregator.workspace import Workspace
from foundation.files import write_bytes
from foundation.os_errors import map_os_errors
from protocols.payload.codebook import write_codebook
from shared.constructions.files import FILES, FURTHER_FILES
from shared.constructions.registry import load_construction

_MAX_FILE_BYTES = 4 << 30
EXACT, _ROUNDED, NO_CODEBOOK = ".exact", ".rounded", ".none"


def find_codebook(workspace: Workspace, release: Release) -> Path:
    """The file of the rows that a release can show. Its suffix is EXACT where they are the same on every processor, and
    NO_CODEBOOK where any row is possible; then it is empty.

    Raises:
        ProtocolError, ModelError, EmbeddingError: the release is damaged.
        StorageError: no room.
    """
    folder = workspace.root / "codebooks"
    name = hashlib.sha256("".join(construction_digests(release)).encode("ascii")).hexdigest()
    for suffix in (EXACT, _ROUNDED, NO_CODEBOOK):
        if (path := folder / f"{name}{suffix}").is_file():
            return path
    with map_os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
    files = [file for file in (*FILES, *FURTHER_FILES) if file in release.manifest.files]
    with copy_published(workspace, release.name, files) as copied:
        construction = load_construction(copied)
    rows = construction.codebook()
    if rows is None:
        path = folder / f"{name}{NO_CODEBOOK}"
        write_bytes(path, b"")
        return path
    path = folder / f"{name}{EXACT if construction.exact else _ROUNDED}"
    write_codebook(path, rows)
    return path


@contextmanager
def copy_published(workspace: Workspace, release: str, names: Sequence[str]) -> Iterator[Path]:
    """Some files of a release, as they were signed, in a folder that vanishes with the block."""
    repository = workspace.repository()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            write_bytes(Path(folder) / name, repository.read(f"{release}/{name}", _MAX_FILE_BYTES))
        yield Path(folder)

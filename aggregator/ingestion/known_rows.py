"""What the published construction can show, kept as files: who takes shares in, and its child that checks payloads, load no torch.

It follows from the release alone, so it is worked out once for each construction and kept in `codebooks/` of the workspace; the
folder may be emptied at any time.

    NAME.json   width and bound of a row, feature columns, and whether there is a list
    NAME.rows   the rows that a token can have, see `protocols.payload.codebook`
    NAME.codes  where each code may stand, see `protocols.payload.codes`
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aggregator.publishing.releases import Release, construction_digests
from aggregator.workspace import Workspace
from foundation.files import write_bytes, write_text
from foundation.os_errors import map_os_errors
from protocols.errors import ProtocolError
from protocols.features import columns_from_json, columns_to_json
from protocols.payload.codebook import write_codebook
from protocols.payload.codes import CodeList, CodeRules, write_code_places
from shared.constructions.files import FILES, FURTHER_FILES
from shared.constructions.rows import MAX_FACTOR, ShareRows

# Another one is worked out anew: what an earlier version kept may mean something else.
_FORMAT = 3


@dataclass(frozen=True)
class KnownRows:
    """The rows of a published construction.

    Args:
        rows: what each of them keeps to, where a site has raised the noise as far as it may.
        codebook: file of those that a token can have; None where noise makes any row possible.
        exact: as in `protocols.payload.codebook.Codebook`.
        codes: where the codes may stand; None where tokens are shown by rows.
    """

    rows: ShareRows
    codebook: Path | None
    exact: bool
    codes: CodeList | None = None


def find_known_rows(workspace: Workspace, release: Release) -> KnownRows:
    """The rows that a release can show.

    Raises:
        ProtocolError, ModelError, EmbeddingError: the release is damaged.
        StorageError: no room.
    """
    digest = hashlib.sha256("".join(construction_digests(release)).encode("ascii")).hexdigest()
    path = workspace.root / "codebooks" / f"{digest}.json"
    if (found := _read(path)) is None:
        with map_os_errors(path.parent):
            path.parent.mkdir(mode=0o700, exist_ok=True)
        found = _work_out(workspace, release, path)
    return found


def _read(path: Path) -> KnownRows | None:
    """What is kept; None for nothing that this version wrote whole."""
    codebook, places = path.with_suffix(".rows"), path.with_suffix(".codes")
    try:
        kept = json.loads(path.read_bytes())
        if (kept["format"], kept["factor"]) != (_FORMAT, MAX_FACTOR) or (kept["listed"] and not codebook.is_file()):
            return None
        if kept["window"] is not None and not places.is_file():
            return None
        features = columns_from_json(kept["features"], path.name)
        rows = ShareRows(int(kept["dim"]), float(kept["value_bound"]), features)
        codes = None if kept["window"] is None else CodeList(places, int(kept["window"]))
        return KnownRows(rows, codebook if kept["listed"] else None, bool(kept["exact"]), codes)
    except (OSError, ValueError, TypeError, LookupError, ProtocolError):
        return None


def _work_out(workspace: Workspace, release: Release, path: Path) -> KnownRows:
    from shared.constructions.registry import load_construction

    with _copy_published(workspace, release) as folder:
        construction = load_construction(folder)
    rows, listed = construction.rows(MAX_FACTOR), construction.codebook()
    codebook = None if listed is None else path.with_suffix(".rows")
    if codebook is not None and listed is not None:
        write_codebook(codebook, listed)
    codes = None
    if (found := construction.code_places()) is not None:
        codes = CodeList(path.with_suffix(".codes"), found.window)
        write_code_places(codes.places, CodeRules(found.places, found.window))
    kept = {
        "format": _FORMAT,
        "factor": MAX_FACTOR,
        "dim": rows.dim,
        "value_bound": rows.value_bound,
        "features": columns_to_json(rows.features),
        "listed": listed is not None,
        "exact": construction.exact,
        "window": None if codes is None else codes.window,
    }
    # Last: what it speaks of is there.
    write_text(path, json.dumps(kept))
    return KnownRows(rows, codebook, construction.exact, codes)


@contextmanager
def _copy_published(workspace: Workspace, release: Release) -> Iterator[Path]:
    """The files of the construction, as they were signed, in a folder that vanishes with the block."""
    repository = workspace.repository()
    with tempfile.TemporaryDirectory() as folder:
        for name in (*FILES, *FURTHER_FILES):
            if name in release.manifest.files:
                write_bytes(Path(folder) / name, repository.read(f"{release.name}/{name}"))
        yield Path(folder)

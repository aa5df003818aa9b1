"""`site-client inspect`: what a share would tell whoever gets it, in words, column by column.

The share is verified exactly as the provider will verify it. Then the payload is searched for the words of the notes,
where the notes are given: none may occur in it. The manifest holds nothing but what is checked field by field and shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protocols.manifest import ShareManifest
from protocols.share import open_share
from shared.document import Document
from shared.files import storage_error
from shared.labels import LabelScheme
from shared.text.tokens import tokenise
from site_client.errors import SiteError
from site_client.protection import protection_lines
from site_client.workspace import Workspace

# Shorter words occur in random bytes by chance: a share of 1 GB holds every 4-byte string.
_SEARCHED_BYTES = 8
_PIECE_BYTES = 1 << 22
# What the formats write by themselves: names of columns and of the program. Parts of them may be words of a note, such
# as the Spanish "presenta".
_OWN_WORDS = (b"representation", b"deid-commons", b"format_version")


@dataclass(frozen=True)
class Inspection:
    """What is in a share.

    Args:
        manifest: verified.
        columns: name, meaning and bytes of each column.
        categories: PHI tokens of each category.
        searched: words of the notes that were looked for; None where no notes were given.
    """

    manifest: ShareManifest
    columns: tuple[tuple[str, str, int], ...]
    categories: dict[str, int]
    searched: int | None


def inspect(workspace: Workspace, path: Path, scheme: LabelScheme, documents: Iterable[Document] | None) -> Inspection:
    """Verify a share of this site and say what is in it.

    Args:
        workspace: of the site.
        path: the payload, its manifest beside it.
        scheme: of the release.
        documents: the notes that it was made from, to search the share for their words.

    Raises:
        ProtocolError: the share is damaged or not this site's.
        SiteError: a word of the notes occurs in it.
    """
    share = open_share(path, public_keys={workspace.site: workspace.key().public_key})
    manifest = share.manifest
    columns = (
        ("representation", f"{manifest.dim} noisy numbers a token, float16", 2 * manifest.dim * manifest.tokens),
        ("tags", "label of each token: none, or begin or inside of a PHI category", manifest.tokens),
        ("casing", "one of 7 classes: digits, lower, upper, capitalised...", manifest.tokens),
        ("tokens", "length of each sentence, in tokens", 4 * manifest.sentences),
    )
    counts = {
        category: manifest.tag_counts[2 * index + 1] + manifest.tag_counts[2 * index + 2]
        for index, category in enumerate(scheme.categories)
    }
    searched = None if documents is None else _search(path, documents)
    return Inspection(manifest, columns, {name: count for name, count in counts.items() if count}, searched)


def _search(path: Path, documents: Iterable[Document]) -> int:
    """How many words were looked for, none of them found."""
    words = {word.encode() for document in documents for word in tokenise(document.text).words}
    words = {word for word in words if len(word) >= _SEARCHED_BYTES and not any(word in own for own in _OWN_WORDS)}
    alike: dict[bytes, list[bytes]] = {}
    for word in words:
        alike.setdefault(word[:_SEARCHED_BYTES], []).append(word)
    heads = np.sort(np.frombuffer(b"".join(alike), dtype="<u8"))
    found = {word for piece in _pieces(path) for word in _found(piece, alike, heads)}
    if found:
        raise SiteError(
            f"{path.name}: expected no word of the notes in the share, found {len(found)}; do not send it, and report this"
        )
    return len(words)


def _found(piece: bytes, alike: dict[bytes, list[bytes]], heads: NDArray[np.uint64]) -> Iterator[bytes]:
    """Which words are in a piece: every 8 bytes of it are held against the first 8 bytes of all words at once.

    Args:
        piece: of the payload.
        alike: words by their first 8 bytes.
        heads: these bytes as numbers, sorted.
    """
    if len(piece) < _SEARCHED_BYTES or not len(heads):
        return
    windows = np.ndarray((len(piece) - _SEARCHED_BYTES + 1,), dtype="<u8", buffer=piece, strides=(1,))
    nearest = heads[np.minimum(np.searchsorted(heads, windows), len(heads) - 1)]
    for place in np.flatnonzero(nearest == windows).tolist():
        for word in alike[piece[place : place + _SEARCHED_BYTES]]:
            if piece.startswith(word, place):
                yield word


def _pieces(path: Path) -> Iterator[bytes]:
    """The file in overlapping pieces, so that no word is cut."""
    tail = b""
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                yield tail + piece
                tail = piece[-1024:]
    except OSError as error:
        raise storage_error(path, error) from error


def inspection_lines(inspection: Inspection) -> list[str]:
    """The inspection in words."""
    manifest = inspection.manifest
    lines = [
        f"share {manifest.sequence} of {manifest.site}, made {manifest.created} with release {manifest.release[:12]}",
        f"{manifest.sentences} sentences, {manifest.tokens} tokens, {manifest.payload_bytes} bytes of {manifest.payload_format}",
        "",
        "what leaves:",
        *(f"  {name:15} {meaning}; {size} bytes" for name, meaning, size in inspection.columns),
        "  sentences are in random order over the whole share; no text, no ids, no file names, no offsets, no times",
        "",
        "PHI tokens by category:",
        *(f"  {name:35} {count}" for name, count in inspection.categories.items()),
        "",
        "protection:",
        *(f"  {line}" for line in protection_lines(manifest.protection)),
    ]
    if inspection.searched is not None:
        lines += ["", f"searched for {inspection.searched} words of the notes in the file: none occurs"]
    return lines

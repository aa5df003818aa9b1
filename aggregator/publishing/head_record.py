"""What a head comes from: written into its training.json by `train-head`, read by who publishes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aggregator.errors import WorkspaceError
from foundation.reading import file_sha256, read_text
from shared.constructions.files import digest_of

# The record of a training lies beside its weights, that of a representer too.
RECORD = "training.json"
OWN_NOTES = "(public notes)"
"""How the provider's own notes are called among the sites of a record."""
HEAD_FILES = ("head.safetensors", "head.json")
"""What of a head is released."""
FURTHER_HEAD_FILES = ("last_word.json", "operating_points.json", "pieces.json")
"""What of it is released where it is there."""
DIGITS = 12
"""Of a head's digest, as people read and type it."""


@dataclass(frozen=True)
class PooledShare:
    """A share that has trained a head.

    Args:
        site: whose it is.
        sequence: its number at the site.
        payload: digest of its payload.
        manifest: digest of its manifest, for people who look it up.
    """

    site: str
    sequence: int
    payload: str | None
    manifest: str | None = None


@dataclass(frozen=True)
class HeadOrigin:
    """What a head comes from.

    Args:
        representer: digest of the one that made all representations.
        shares: that have trained it; none where it has seen public notes only.
    """

    representer: str
    shares: tuple[PooledShare, ...]


def read_origin(head: Path) -> HeadOrigin:
    """The origin of the head in a folder.

    Raises:
        WorkspaceError: there is no record of its training, or a damaged one.
    """
    try:
        record = json.loads(read_text(head / RECORD))
        shares = (PooledShare(one["site"], one["sequence"], one["payload"]) for one in record.get("shares", []))
        return HeadOrigin(record["representer"], tuple(shares))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WorkspaceError(
            f"head/{RECORD}: expected the record of a training; run `aggregator train-head` again"
        ) from error


def describe_needs(record: Mapping[str, Any]) -> list[str]:
    """What a hospital needs to take a head, by the record of its training; nothing where this package alone will do.

    Who has the head decides about that before hospitals find out: whoever can't load it keeps the pipeline that it has, or has none.
    """
    tagger = record.get("tagger") or {}
    if not tagger.get("extra"):
        return []
    return [
        f"a head of the kind {tagger['kind']}: a hospital without the extra `{tagger['extra']}` of deid-commons can't pull its release, or where "
        "it is new takes it to share with, and de-identifies nothing; ask them first"
    ]


def head_digest(folder: Path) -> str:
    """SHA-256 over all files of the head in a folder that a release would carry: what people call it by.

    Raises:
        StorageError: there is none.
    """
    further = (name for name in FURTHER_HEAD_FILES if (folder / name).exists())
    return digest_of([file_sha256(folder / name) for name in (*HEAD_FILES, *further)])


def record_digest(folder: Path) -> str:
    """SHA-256 of the record of the training of the head in a folder, which the head's own digest knows nothing of.

    Raises:
        StorageError: there is none.
    """
    return file_sha256(folder / RECORD)

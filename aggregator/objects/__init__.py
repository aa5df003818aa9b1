"""Bytes by their SHA-256: bundles as they came in and payloads as they were opened, in a folder or an S3-compatible store."""

from __future__ import annotations

from pathlib import Path

from aggregator.objects.folder import FolderStore
from aggregator.objects.s3 import S3Store
from aggregator.objects.store import ObjectStore
from shared.errors import ConfigurationError

__all__ = ["FolderStore", "ObjectStore", "S3Store", "open_store"]


def open_store(setting: str | Path, root: Path = Path()) -> ObjectStore:
    """The store that a setting names; nothing is asked of it yet.

    Args:
        setting: a folder, or a URL as `S3Store` takes it.
        root: what a relative folder is relative to.

    Raises:
        ConfigurationError: a URL of another kind, or no credentials in the file that should hold them.
        StorageError: that file can't be read.
    """
    text = str(setting)
    if text.startswith("s3://"):
        return S3Store(text, root / "staging")
    if not text or "://" in text:
        raise ConfigurationError("objects: expected a folder or an s3:// URL, got something else; correct the setting")
    return FolderStore(root / text, root / "staging")

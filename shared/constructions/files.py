"""Names of the files that a construction is kept in, for those who only copy them: nothing is loaded here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

FILES = (
    "embeddings.safetensors",
    "vocabulary.json",
    "representer.safetensors",
    "representer.json",
    "scheme.json",
)
"""What every construction writes."""
FURTHER_FILES = ("surrogates.json",)
"""What only some write besides."""
RECORD = "representer.training.json"
"""The record of the training, in a release."""


def digest_of(digests: Iterable[str]) -> str:
    """SHA-256 over all files that decide a representation, which an audit names.

    Args:
        digests: SHA-256 of the files, in hex: those of FILES, then those of FURTHER_FILES that there are.
    """
    return hashlib.sha256("".join(digests).encode("ascii")).hexdigest()

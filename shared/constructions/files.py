"""Names of the files that a construction is kept in, for those who only copy them: nothing is loaded here."""

from __future__ import annotations

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
ROW_FILES = ("representer.json", "representer.safetensors")
"""What decides the rows of a share, see `shared.constructions.rows`."""
RECORD = "representer.training.json"
"""The record of the training, in a release."""

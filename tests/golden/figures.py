"""What is compared of a golden file: digests of what was written exactly, numbers of what is computed anew."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.payload.base import PayloadReader
from shared.constructions.construction import Construction
from shared.document import Document
from shared.models.noise_source import MemoisedNoise
from shared.pipeline.pipeline import Pipeline
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenise_documents, tokenised_chunks

SENTENCE = "Mrs Quillfeather, 47, was seen by Dr Ünal on 03/04/2019 with a dry cough."
# Of the noise that a representer adds: fixed here, since that of a real share hangs on the digests of its release.
NOISE_CONTEXT = b"golden"


def payload_figures(reader: PayloadReader) -> dict[str, Any]:
    """Sizes of a payload, and the digests of its columns, whatever blocks and format they are kept in."""
    blocks = list(reader)
    names = ("values", "tags", "casing", "lengths")
    columns = {name: np.concatenate([getattr(block, name) for block in blocks]) for name in names}
    return {
        "dim": reader.dim,
        "sentences": len(columns["lengths"]),
        "tokens": len(columns["tags"]),
        "tag_counts": np.bincount(columns["tags"]).tolist(),
        "sha256": {name: hashlib.sha256(column.tobytes()).hexdigest() for name, column in columns.items()},
    }


def construction_figures(construction: Construction, secret: bytes) -> dict[str, Any]:
    """What a construction is made of, and what it makes of one sentence.

    Args:
        construction: in single precision, as `single_precision` sets it.
        secret: of noise that is drawn once for a sentence: the same sentence must not get a second draw, ever.
    """
    figures: dict[str, Any] = {
        "subwords": construction.vectors.subwords is not None,
        "surrogates": construction.facts()["surrogate_spans"],
        "scheme": construction.scheme.name,
        "inputs": _numbers(construction.noise_free(_sentence())),
    }
    if not construction.replaces_phi:
        shared: Any = construction.share_sentences(_sentence(), MemoisedNoise(secret, NOISE_CONTEXT))
        figures["shared"] = _numbers(shared)
    return figures


def found_spans(pipeline: Pipeline, text: str) -> list[list[int | str]]:
    """What a pipeline finds in a note."""
    [annotated] = pipeline.annotate([Document("golden", text)])
    return [[span.start, span.end, span.category] for span in annotated.annotations]


def _sentence() -> TokenisedSentences:
    [chunk] = tokenised_chunks(tokenise_documents([Document("golden", SENTENCE)]), None)
    return chunk


def numbers(rows: list[str]) -> NDArray[np.float64]:
    """The numbers of a construction's figures, `[tokens, dim]`."""
    return np.array([row.split() for row in rows], dtype=np.float64)


def _numbers(sentences: RaggedSentences) -> list[str]:
    """One line a token."""
    return [" ".join(f"{number:.5f}" for number in row) for row in sentences.values.tolist()]

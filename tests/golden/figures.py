"""What is compared of a golden file: digests of what was written exactly, numbers of what is computed anew."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.payload.base import PayloadReader
from shared.document import Document
from shared.models.noise_source import MemoisedNoise
from shared.pipeline.pipeline import Encoder, Pipeline
from shared.sentences.ragged import RaggedSentences
from shared.sentences.tokenised import TokenisedSentences, tokenised, tokenised_chunks

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


def encoder_figures(encoder: Encoder, secret: bytes) -> dict[str, Any]:
    """What an encoder is made of, and what it makes of one sentence.

    Args:
        encoder: in single precision, as `single_precision` sets it.
        secret: of noise that is drawn once for a sentence: the same sentence must not get a second draw, ever.
    """
    figures: dict[str, Any] = {
        "subwords": encoder.vectors.subwords is not None,
        "surrogates": 0 if encoder.surrogates is None else len(encoder.surrogates.spans),
        "scheme": encoder.scheme.name,
        "inputs": _numbers(encoder.inputs(_sentence())),
    }
    if encoder.surrogates is None:
        figures["shared"] = _numbers(encoder.shared(_sentence(), MemoisedNoise(secret, NOISE_CONTEXT)))
    return figures


def found_spans(pipeline: Pipeline, text: str) -> list[list[int | str]]:
    """What a pipeline finds in a note."""
    [annotated] = pipeline.annotate([Document("golden", text)])
    return [[span.start, span.end, span.category] for span in annotated.annotations]


def _sentence() -> TokenisedSentences:
    [chunk] = tokenised_chunks(tokenised([Document("golden", SENTENCE)]), None)
    return chunk


def numbers(rows: list[str]) -> NDArray[np.float64]:
    """The numbers of an encoder's figures, `[tokens, dim]`."""
    return np.array([row.split() for row in rows], dtype=np.float64)


def _numbers(sentences: RaggedSentences) -> list[str]:
    """One line a token."""
    return [" ".join(f"{number:.5f}" for number in row) for row in sentences.values.tolist()]

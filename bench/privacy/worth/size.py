"""What a share of codes takes on the disk: MEDDOCAN's development notes under the default construction, in both formats."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench import corpora
from bench.outcomes import load_or_measure
from bench.privacy.worth.meddocan import construction
from bench.results import Entry
from protocols.payload.sentence_block import CODES, SentenceBlock
from protocols.payload.shuffled_writer import ShuffledWriter
from shared.models.noise_source import PrivateNoise
from shared.sentences.tokenised import tokenised_corpus

COMMAND = "python -m bench.results_privacy size"
DATA = "meddocan/dev"
MOST = 10.0
_FORMATS = {".parquet": "Parquet", ".h5": "HDF5"}


def measure() -> list[Entry]:
    """Bytes a token, as entries."""
    run = load_or_measure("privacy-size", _written)
    return [
        Entry(
            f"share of codes: bytes a token, {name}",
            round(run[suffix] / run["tokens"], 2),
            MOST,
            "<=",
            "bytes",
            None,
            1,
            DATA,
            COMMAND,
            f"{run[suffix]} bytes, {run['tokens']} tokens of {run['sentences']} sentences; before it is sealed",
            run["commit"],
        )
        for suffix, name in _FORMATS.items()
    ]


def _written() -> dict[str, Any]:
    made = construction()
    shown = made.share_sentences(tokenised_corpus(corpora.meddocan("dev"), made.scheme), PrivateNoise())
    block = SentenceBlock(shown.codes, shown.tags, shown.casing, shown.lengths.astype(np.int32), shown.features)
    sizes: dict[str, Any] = {"tokens": block.tokens, "sentences": len(block.lengths)}
    with TemporaryDirectory() as folder:
        for suffix in _FORMATS:
            path = Path(folder, f"share{suffix}")
            with ShuffledWriter(path, dim=CODES) as writer:
                writer.append(block)
            sizes[suffix] = path.stat().st_size
    return sizes

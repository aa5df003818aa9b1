"""Word vectors from any file or folder that we can read; the content decides, not the name."""

from __future__ import annotations

import struct
from pathlib import Path

from shared.embeddings.files.artefact import load_vectors
from shared.embeddings.files.fasttext_format import MAGIC, read_bin
from shared.embeddings.files.text_format import read_text
from shared.embeddings.files.unpacking import open_unpacked
from shared.embeddings.vectors import WordVectors
from shared.errors import EmbeddingError


def read_vectors(path: Path | str) -> WordVectors:
    """Read fastText `.bin` or `.vec`, word2vec text, GloVe text (each also gzipped), or a folder of `save_vectors`.

    Raises:
        EmbeddingError: the vectors are damaged, cut short or in none of these formats; one line that says where.
        StorageError: the file can't be read.
    """
    path = Path(path)
    if path.is_dir():
        return load_vectors(path)
    with open_unpacked(path) as handle:
        head = handle.read(4)
    if head == struct.pack("<i", MAGIC):
        return read_bin(path)
    if b"\0" in head:
        raise EmbeddingError(
            f"{path.name}: expected fastText .bin or word vectors as text, got another format; convert it to .vec"
        )
    return read_text(path)

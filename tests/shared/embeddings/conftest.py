from __future__ import annotations

from pathlib import Path

import pytest
from gensim.models import FastText
from gensim.models.fasttext import save_facebook_model

from tests.shared.embeddings.made import notes


@pytest.fixture(scope="session")
def gensim_bin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small genuine model in the format of Facebook, trained and written by gensim."""
    sentences = [text.replace(".", " .").split() for text in notes(200)]
    model = FastText(
        sentences,
        vector_size=12,
        window=3,
        min_count=2,
        bucket=300,
        min_n=2,
        max_n=5,
        sg=1,
        seed=1,
        workers=1,
        epochs=2,
    )
    path = tmp_path_factory.mktemp("gensim") / "model.bin"
    save_facebook_model(model, str(path))
    return path

"""Noise that can't be forgotten: what may leave takes a private source, for the type checker and at run time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from mypy import api

from shared.constructions.construction import Construction
from shared.models.noise import GaussianNoise
from shared.models.noise_source import MemoisedNoise, PrivateNoise
from shared.models.representer import Representer, RepresenterConfig
from shared.sentences.encoding import embed_sentences, noise_for, rehearse, represent
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences
from site_client.sharing.encode import block_of
from tests.site_client.sites import clear, noisy

ROOT = Path(__file__).parents[1]
CHUNK = TokenisedSentences(["Patient", "came", "."], np.array([1, 0, 0], dtype=np.uint8), np.array([3]))
SEEDED = torch.Generator().manual_seed(0)

# Checked by mypy as if it were a module of ours; what is marked must be refused, and nothing else.
SNIPPET = """
import torch
from torch import Tensor

from shared.models.noise_source import MemoisedNoise, PrivateNoise
from shared.models.representer import Representer
from shared.constructions.construction import Construction
from shared.sentences.encoding import noise_for, rehearse, represent
from shared.sentences.ragged import RaggedSentences
from shared.sentences.sharing import SharedSentences
from shared.sentences.tokenised import TokenisedSentences
from site_client.sharing.encode import block_of


def share(construction: Construction, chunk: TokenisedSentences, memoised: MemoisedNoise) -> None:
    block_of(construction.share_sentences(chunk, PrivateNoise()))
    block_of(construction.share_sentences(chunk, memoised))
    construction.rehearse_share(chunk, torch.Generator())
    construction.share_sentences(chunk, torch.Generator())  # refused: arg-type
    construction.share_sentences(chunk, None)  # refused: arg-type
    construction.share_sentences(chunk)  # refused: call-arg
    construction.rehearse_share(chunk)  # refused: call-arg
    block_of(construction.rehearse_share(chunk, torch.Generator()))  # refused: arg-type
    block_of(construction.rehearse_share(chunk, PrivateNoise()))  # refused: arg-type
    block_of(construction.noise_free(chunk))  # refused: arg-type
    SharedSentences.of(construction.noise_free(chunk), torch.Generator())  # refused: arg-type


def run(representer: Representer, sentences: RaggedSentences, chunk: TokenisedSentences, vectors: Tensor) -> None:
    block_of(represent(sentences, representer, PrivateNoise()))
    represent(sentences, representer, noise_for(chunk, PrivateNoise()))
    represent(sentences, representer, noise_for(chunk, torch.Generator()))  # refused: arg-type
    represent(sentences, representer, torch.Generator())  # refused: arg-type
    represent(sentences, representer)  # refused: call-arg
    rehearse(sentences, representer)  # refused: call-arg
    representer.end_to_end(vectors, vectors, torch.Generator())  # refused: arg-type
    representer.end_to_end(vectors, vectors)  # refused: call-arg
    representer.mean(vectors, vectors)  # refused: call-arg


class MyNoise(PrivateNoise):  # refused: misc
    pass
"""

# The real one takes mypy half a minute.
TORCH = """
from typing import Any

class Generator:
    def manual_seed(self, seed: int) -> Generator: ...

def __getattr__(name: str) -> Any: ...
"""
ANYTHING = "from typing import Any\n\ndef __getattr__(name: str) -> Any: ...\n"


def test_what_forgets_its_noise_or_takes_a_seeded_one_does_not_pass_the_type_checker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("__init__", TORCH), ("nn/__init__", ANYTHING), ("nn/functional", ANYTHING)):
        path = tmp_path / "stubs" / "torch" / f"{name}.pyi"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    snippet = tmp_path / "snippet.py"
    snippet.write_text(SNIPPET)
    monkeypatch.setenv("MYPYPATH", f"{tmp_path / 'stubs'}:{ROOT}")
    options = ["--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent", "--no-error-summary"]
    version = f"--python-version={sys.version_info.major}.{sys.version_info.minor}"
    told, failed, _ = api.run(
        [
            "--config-file",
            str(ROOT / "pyproject.toml"),
            f"--cache-dir={tmp_path / 'cache'}",
            version,
            *options,
            str(snippet),
        ]
    )
    assert not failed
    refused = {
        number: line.partition("# refused: ")[2]
        for number, line in enumerate(SNIPPET.splitlines(), start=1)
        if "# refused" in line
    }
    found = {int(line.split(":")[1]): line.rpartition("[")[2].rstrip("]") for line in told.splitlines()}
    assert found == refused, told


class TestAtRunTime:
    def test_a_source_is_required(self) -> None:
        representer = Representer(RepresenterConfig(5, dim=4, hidden=6)).eval()
        vectors, lengths = torch.zeros(2, 3, 5), torch.tensor([3, 3])
        noise = GaussianNoise(5, initial=0.1, floor=0.01)
        calls: tuple[Callable[..., object], ...] = (representer, representer.mean, noise)
        for call in calls:
            with pytest.raises(TypeError):
                call(vectors, *([] if isinstance(call, GaussianNoise) else [lengths]))
            with pytest.raises(TypeError, match="source of noise"):
                call(vectors, *([] if isinstance(call, GaussianNoise) else [lengths]), None)

    @pytest.mark.parametrize("source", [SEEDED, torch.default_generator, None, MemoisedNoise(bytes(32), b"")])
    def test_no_tensor_leaves_under_another_source(self, source: object) -> None:
        representer = Representer(RepresenterConfig(5, dim=4, hidden=6)).eval()
        with pytest.raises(TypeError, match="private source"):
            representer.end_to_end(torch.zeros(3, 5), torch.tensor([3]), source)  # type: ignore[arg-type]

    @pytest.mark.parametrize("construction", [noisy(0.1), clear()], ids=["noise", "none"])
    @pytest.mark.parametrize("source", [SEEDED, torch.default_generator, None])
    def test_no_sentence_leaves_under_another_source(self, construction: Construction, source: object) -> None:
        with pytest.raises(TypeError, match="private source"):
            construction.share_sentences(CHUNK, source)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            construction.share_sentences(CHUNK)  # type: ignore[call-arg]

    def test_no_share_is_made_under_another_source(self) -> None:
        shown = noisy(0.1).noise_free(CHUNK)
        for source in (SEEDED, None, "PrivateNoise()"):
            with pytest.raises(TypeError, match="private source"):
                SharedSentences(shown.values, shown.casing, shown.tags, shown.lengths, under=source)  # type: ignore[arg-type]

    @pytest.mark.parametrize("construction", [noisy(0.1), clear()], ids=["noise", "none"])
    def test_no_payload_takes_what_was_rehearsed(self, construction: Construction) -> None:
        share: Any = construction.share_sentences(CHUNK, PrivateNoise())
        for shown in (
            construction.rehearse_share(CHUNK, SEEDED),
            construction.rehearse_share(CHUNK, PrivateNoise()),
            construction.noise_free(CHUNK),
            share.select(np.array([0])),
        ):
            with pytest.raises(TypeError, match="what a share holds"):
                block_of(shown)  # type: ignore[arg-type]
        assert block_of(construction.share_sentences(CHUNK, PrivateNoise())).sentences == 1


def test_a_rehearsal_gives_what_a_share_would_under_the_same_draw() -> None:
    construction, noise = noisy(0.1), MemoisedNoise(bytes(32), b"release")
    np.testing.assert_array_equal(
        construction.share_sentences(CHUNK, noise).values, construction.rehearse_share(CHUNK, noise).values
    )
    sentences, source = embed_sentences(CHUNK, construction.vectors), noise_for(CHUNK, noise)
    first = represent(sentences, construction.representer, source)
    assert isinstance(first, SharedSentences)
    again = rehearse(sentences, construction.representer, noise_for(CHUNK, noise))
    assert not isinstance(again, SharedSentences)
    np.testing.assert_array_equal(first.values, again.values)
    # What was drawn once is not drawn again.
    assert (rehearse(sentences, construction.representer, source).values != again.values).any()

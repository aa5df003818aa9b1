from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from foundation.errors import StorageError
from shared.embeddings.epochs import EpochwiseFastText
from shared.embeddings.files.artefact import load_vectors, save_vectors
from shared.embeddings.files.fasttext_format import save_bin
from shared.embeddings.files.read import read_vectors
from shared.embeddings.neighbours import Neighbours
from shared.embeddings.training import FastTextSettings, train_fasttext
from shared.embeddings.vectors import WordVectors
from shared.errors import ConfigurationError, TrainingError
from tests.shared.embeddings.made import NAMES, notes

SETTINGS = FastTextSettings(dim=16, epochs=20, buckets=500, min_count=2)


@pytest.fixture(scope="module")
def trained() -> WordVectors:
    return train_fasttext(notes(400), SETTINGS, seed=7)


def test_names_end_up_near_names(trained: WordVectors) -> None:
    ids, _ = Neighbours(trained).find_nearest(["Birke"], 4)
    assert {trained.words[row] for row in ids[0]} <= {*NAMES, "Dr"}


def test_the_vocabulary_is_the_words_seen_often_enough(trained: WordVectors) -> None:
    assert set(NAMES) | {"Dr", ".", "señor", "2019"} <= set(trained.words)
    assert not any(" " in word for word in trained.words)
    assert trained.words[0] == "."


def test_the_same_seed_gives_the_same_vectors(trained: WordVectors) -> None:
    assert train_fasttext(notes(400), SETTINGS, seed=7).digest == trained.digest
    assert train_fasttext(notes(400), SETTINGS, seed=8).digest != trained.digest


def test_trained_vectors_survive_both_formats(trained: WordVectors, tmp_path: Path) -> None:
    save_bin(trained, tmp_path / "m.bin")
    save_vectors(trained, tmp_path)
    assert load_vectors(tmp_path).digest == trained.digest
    again = read_vectors(tmp_path / "m.bin")
    assert again.words == trained.words
    np.testing.assert_allclose(again.matrix, trained.matrix, atol=1e-6)


def test_progress_reaches_the_end() -> None:
    calls: list[tuple[int, int]] = []
    train_fasttext(
        notes(20),
        FastTextSettings(dim=4, epochs=3, buckets=20),
        seed=1,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1] > 0


@pytest.mark.parametrize("texts", [[], [""], [" \n"], ["every word differs"]])
def test_too_little_text_is_refused(texts: list[str]) -> None:
    with pytest.raises(TrainingError, match="at least 2 times"):
        train_fasttext(texts, FastTextSettings(dim=4), seed=1)


def test_a_full_disk_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(StorageError, match="No space left"):
        train_fasttext(notes(2), SETTINGS, seed=1)


@pytest.mark.parametrize(
    "wrong", [{"dim": 0}, {"epochs": 0}, {"minn": 0}, {"minn": 5, "maxn": 4}, {"maxn": 33}, {"buckets": 0}]
)
def test_settings_that_can_not_work_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError):
        FastTextSettings(**wrong)


class _CutError(Exception):
    pass


def cut_after(epochs: int, path: Path) -> None:
    """A training that ends in its next epoch."""
    whole = EpochwiseFastText._train_epoch

    def train_epoch(self: EpochwiseFastText, *given: Any, cur_epoch: int = 0, **named: Any) -> tuple[int, int, int]:
        if cur_epoch == epochs:
            raise _CutError
        return whole(self, *given, cur_epoch=cur_epoch, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EpochwiseFastText, "_train_epoch", train_epoch)
        with pytest.raises(_CutError):
            train_fasttext(notes(400), SETTINGS, seed=7, checkpoint=path)


def test_a_training_that_was_cut_ends_in_the_same_vectors(trained: WordVectors, tmp_path: Path) -> None:
    cut_after(6, tmp_path / "kept")
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o600
    told: list[int] = []
    again = train_fasttext(
        notes(400), SETTINGS, seed=7, progress=lambda done, total: told.append(done), checkpoint=tmp_path / "kept"
    )
    assert again.digest == trained.digest
    # Six of twenty epochs were not learned again.
    assert told[0] == pytest.approx(0.3 * told[-1])
    assert train_fasttext(notes(400), SETTINGS, seed=7, checkpoint=tmp_path / "kept").digest == trained.digest


def test_what_another_training_has_left_is_refused(tmp_path: Path) -> None:
    cut_after(1, tmp_path / "kept")
    for texts, settings, seed in (
        (notes(399), SETTINGS, 7),
        (notes(400), replace(SETTINGS, epochs=21), 7),
        (notes(400), SETTINGS, 8),
    ):
        with pytest.raises(ConfigurationError, match="of other texts or settings"):
            train_fasttext(texts, settings, seed=seed, checkpoint=tmp_path / "kept")
    (tmp_path / "kept").write_bytes(b"no tensors")
    with pytest.raises(ConfigurationError, match="begin anew"):
        train_fasttext(notes(400), SETTINGS, seed=7, checkpoint=tmp_path / "kept")

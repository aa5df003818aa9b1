"""A search goes on after a kill to the same trials, gives up what falls behind, and finds what is best."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from shared.errors import ConfigurationError
from shared.labels import UNKNOWN_TAG
from shared.sentences.encoding import embed_sentences
from shared.sentences.tokenised import TokenisedSentences
from shared.taggers.registry import build_tagger, default_config
from shared.training.fine_tuning.search import SearchSpace, Settings, Tell, Tried, best_of, search_settings, strict_f1
from tests.shared.training.toy import VECTORS, WORDS, toy

TRIALS = 12


class KilledError(BaseException):
    """Stands for a signal: nothing catches it."""


def worth(settings: Settings) -> float:
    """Best at 12 epochs, 64 sentences and 128 pieces."""
    return 1 - abs(settings.epochs - 12) / 50 - 0.1 * (settings.batch != 64) - 0.1 * (settings.window != 128)


def judge(settings: Settings, tell: Tell) -> float:
    for epoch in range(settings.epochs):
        tell(worth(settings) * (epoch + 1) / settings.epochs)
    return worth(settings)


def killed_in(number: int) -> Callable[[Settings, Tell], float]:
    """A judge that is killed in the middle of a trial."""
    begun = 0

    def killed(settings: Settings, tell: Tell) -> float:
        nonlocal begun
        begun += 1
        if begun > number:
            tell(0.5)
            raise KilledError
        return judge(settings, tell)

    return killed


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Tried]]:
    path = tmp_path_factory.mktemp("search") / "search.log"
    return path, search_settings(path, judge, TRIALS, seed=3)


@pytest.mark.parametrize("number", [0, 4, 9])
def test_a_search_that_was_killed_goes_on_to_the_same_trials(
    number: int, whole: tuple[Path, list[Tried]], tmp_path: Path
) -> None:
    path = tmp_path / "search.log"
    for _ in range(2):
        with pytest.raises(KilledError):
            search_settings(path, killed_in(number), TRIALS, seed=3)
        number = 1
    assert search_settings(path, judge, TRIALS, seed=3) == whole[1]


def test_trials_that_fall_behind_are_given_up_and_the_best_is_found_among_the_others(
    whole: tuple[Path, list[Tried]],
) -> None:
    tried = whole[1]
    assert len(tried) == TRIALS
    assert any(one.given_up for one in tried)
    best = best_of(tried)
    assert best.score == worth(best.settings) == max(one.score for one in tried if not one.given_up)
    assert best.score > np.mean([worth(one.settings) for one in tried[:5]])


def test_a_search_that_has_ended_tries_nothing_more_and_more_trials_go_on_with_it(
    whole: tuple[Path, list[Tried]], tmp_path: Path
) -> None:
    path = tmp_path / "search.log"
    shutil.copy(whole[0], path)
    assert search_settings(path, killed_in(0), TRIALS, seed=3) == whole[1]
    assert search_settings(path, judge, TRIALS + 1, seed=3)[:TRIALS] == whole[1]


@pytest.mark.parametrize(
    "other",
    [{"seed": 4}, {"space": SearchSpace(windows=(64,))}, {"facts": {"notes": "others"}}],
    ids=["seed", "space", "notes"],
)
def test_the_file_of_another_search_is_refused(other: dict[str, object], whole: tuple[Path, list[Tried]]) -> None:
    with pytest.raises(ConfigurationError, match="of other notes or settings"):
        search_settings(whole[0], judge, TRIALS, **({"seed": 3} | other))  # type: ignore[arg-type]


def test_a_line_that_a_loss_of_power_cut_is_written_again(whole: tuple[Path, list[Tried]], tmp_path: Path) -> None:
    path = tmp_path / "search.log"
    path.write_bytes(whole[0].read_bytes() + b'{"op_code":4,"worker_id":"7')
    for trials in (TRIALS + 1, TRIALS + 2):
        assert search_settings(path, judge, trials, seed=3)[:TRIALS] == whole[1]


def test_another_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "search.log"
    path.write_bytes(b"a line of notes\nand another")
    with pytest.raises(ConfigurationError, match="expected a search to go on with"):
        search_settings(path, judge, 1, seed=3)
    assert path.read_bytes() == b"a line of notes\nand another"


def test_no_trial_is_given_up_in_the_first_half_of_its_training(tmp_path: Path) -> None:
    """Of large steps there are few in the first epochs, and all is made up for later."""
    told: list[int] = []

    def slow(settings: Settings, tell: Tell) -> float:
        told.append(0)
        for epoch in range(1, settings.epochs + 1):
            told[-1] = epoch
            late = 2 * epoch > settings.epochs
            tell(worth(settings) * (1.0 if late else 0.1 if settings.batch == 64 else 0.9))
        return worth(settings)

    tried = search_settings(tmp_path / "search.log", slow, 2 * TRIALS, seed=3)
    given_up = [(one.settings.epochs, epochs) for one, epochs in zip(tried, told, strict=True) if one.given_up]
    assert given_up
    assert all(2 * epochs > whole for whole, epochs in given_up)


@pytest.mark.parametrize(
    "damage",
    [
        b"\x93NUMPY\n",
        b"{}\n",
        b"[1, 2]\n{\n",
        b"words of a note\n",
        b"words",
        b'{"op_code":7}\nhalf',
        b'{"op_code":0,"worker_id":"7","study_name":"another","directions":[2]}\n',
    ],
)
def test_a_damaged_file_is_refused_in_one_line(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "search.log"
    path.write_bytes(damage)
    with pytest.raises(ConfigurationError, match=r"^search\.log: expected a search to go on with[^\n]*$"):
        search_settings(path, judge, 1, seed=3)
    # It may be somebody's, who named the wrong one.
    assert path.read_bytes() == damage


def test_one_that_was_cut_in_its_first_line_begins_anew(whole: tuple[Path, list[Tried]], tmp_path: Path) -> None:
    for length in (0, 9, 60):
        path = tmp_path / f"{length}.log"
        path.write_bytes(whole[0].read_bytes()[:length])
        assert search_settings(path, judge, TRIALS, seed=3) == whole[1]


@pytest.mark.parametrize("space", [{"least_epochs": 0}, {"least_epochs": 31}, {"batches": ()}, {"windows": ()}])
def test_a_space_that_holds_nothing_is_refused(space: dict[str, int]) -> None:
    with pytest.raises(ConfigurationError):
        SearchSpace(**space)  # type: ignore[arg-type]


def test_strict_f1_counts_spans_that_are_right_in_place_and_category() -> None:
    source = toy(6)
    assert source.ids is not None
    gold = TokenisedSentences([WORDS[row] for row in source.ids.tolist()], source.tags, source.lengths)
    tagger = build_tagger(default_config(VECTORS.dim, 3, hidden=4))
    shown = tagger.inputs(gold, lambda chunk: embed_sentences(chunk, VECTORS))
    assert UNKNOWN_TAG not in gold.tags
    # A tagger that says O everywhere, but for the names of the first half.
    half = int(gold.lengths[:3].sum())
    tagger.decode = lambda batch: batch.tags * torch.from_numpy(batch.rows < 3)[:, None]  # type: ignore[method-assign]
    true = len(list(gold.spans()))
    found = len([one for one in gold.spans() if one[0] < half])
    assert strict_f1(tagger, shown, gold) == pytest.approx(2 * found / (true + found))

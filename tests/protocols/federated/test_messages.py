"""Tasks, results and weights: what was signed is what is read, and nothing else is read."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.canonical import canonical_bytes, parse_canonical
from protocols.errors import BoundsError, DigestError, NonFiniteError, ProtocolError, SignatureError
from protocols.federated.result import EARLIER, RoundResult, among_others, read_result, result_sender, rounded
from protocols.federated.task import RoundTask, read_task
from protocols.federated.weights import digest_of, weights_from_bytes, weights_to_bytes
from protocols.keys.signing import PrivateKey

KEY, OTHER = PrivateKey.from_seed(bytes(range(32))), PrivateKey.from_seed(bytes(32))
TASK = RoundTask(
    "ab" * 16,
    "cd" * 32,
    3,
    20,
    "bilstm-crf",
    {"hidden": 128.0, "dropout": 0.5},
    12,
    "ef" * 32,
    1,
    32,
    0.002,
    1.0,
    0.0,
    7,
    2_000_000_000,
)
RESULT = RoundResult("north", "ab" * 32, 1200, "cd" * 32, 2.5, ("0a" * 32, "ef" * 32))


@pytest.mark.parametrize("count", [0, 1, 3, EARLIER, EARLIER + 40])
def test_how_many_answers_there_were_and_which_came_last_is_not_told(count: int) -> None:
    answers = [digest_of(str(number).encode()) for number in range(count)]
    told = among_others(answers, KEY)
    assert len(set(told)) == len(told) == EARLIER
    assert list(told) == sorted(told)
    assert set(answers[-EARLIER:]) <= set(told)
    # One comes and one goes with each answer, however many there are: those that fill it up would else be told from those that stay.
    one_more = among_others([*answers, digest_of(b"one more")], KEY)
    assert len(set(told) - set(one_more)) == len(set(one_more) - set(told)) == 1
    # And nobody else knows which those are.
    assert set(told).isdisjoint(set(among_others([], OTHER)))


def test_a_result_names_so_many_earlier_answers_and_no_more() -> None:
    with pytest.raises(BoundsError):
        replace(RESULT, earlier=("ab" * 32,) * (EARLIER + 1))
    with pytest.raises(ProtocolError):
        replace(RESULT, earlier=("AB" * 32,))


def test_a_task_and_a_result_are_read_as_they_were_signed() -> None:
    for task in (TASK, replace(TASK, measures="north")):
        assert read_task(task.to_bytes(KEY), KEY.public_key) == task
    assert read_result(RESULT.to_bytes(KEY), KEY.public_key) == RESULT
    assert result_sender(RESULT.to_bytes(KEY)) == ("north", KEY.public_key.key_id)


@pytest.mark.parametrize(("message", "read"), [(TASK, read_task), (RESULT, read_result)])
def test_another_signer_and_any_changed_value_are_refused(message, read) -> None:  # type: ignore[no-untyped-def]
    data = message.to_bytes(KEY)
    with pytest.raises(SignatureError):
        read(data, OTHER.public_key)
    name = next(iter(set(parse_canonical(data, max_bytes=1 << 16)) - {"signature"}))  # type: ignore[arg-type]
    for field, value in vars(message).items():
        parsed: Any = parse_canonical(data, max_bytes=1 << 16)
        stated = parsed[name]
        stated[field] = value + 1 if type(value) is int else "0" * max(len(str(value)), 1)
        with pytest.raises(ProtocolError):
            read(canonical_bytes(parsed), KEY.public_key)


def test_a_task_is_no_result_though_the_same_key_signed_it() -> None:
    with pytest.raises(ProtocolError):
        read_result(TASK.to_bytes(KEY).replace(b'"task":', b'"result":'), KEY.public_key)


@pytest.mark.parametrize(
    "wrong",
    [
        {"number": 21},
        {"number": 0},
        {"rounds": 10**9},
        {"numbers": 10**9},
        {"epochs": 101},
        {"shape": {"hidden": 1e9}},
        {"shape": {}},
        {"learning_rate": float("nan")},
        {"clip": float("inf")},
        {"run": "../../etc"},
        {"kind": "pickle!"},
        {"measures": "../north"},
    ],
)
def test_a_task_out_of_bounds_is_none(wrong: dict[str, object]) -> None:
    with pytest.raises(ProtocolError):
        replace(TASK, **wrong)  # type: ignore[arg-type]


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_weights_come_back_as_they_were(numbers: list[float]) -> None:
    weights = np.array(numbers, np.float32)
    data = weights_to_bytes(weights)
    assert weights_from_bytes(data, len(numbers), digest_of(data)).tobytes() == weights.tobytes()


def test_other_bytes_than_were_signed_are_no_weights() -> None:
    data = weights_to_bytes(np.ones(5, np.float32))
    with pytest.raises(BoundsError):
        weights_from_bytes(data + b"\0", 5, digest_of(data + b"\0"))
    with pytest.raises(DigestError):
        weights_from_bytes(data, 5, "00" * 32)
    for bad in (np.nan, np.inf):
        raw = np.array([bad], "<f4").tobytes()
        with pytest.raises(NonFiniteError):
            weights_from_bytes(raw, 1, digest_of(raw))
        with pytest.raises(NonFiniteError):
            weights_to_bytes(np.array([bad], np.float32))


@given(st.integers(1, 10**9))
def test_a_rounded_count_has_two_digits_and_is_near(count: int) -> None:
    assert abs(rounded(count) - count) <= 0.05 * count
    assert len(str(rounded(count)).rstrip("0")) <= 2


def test_the_vectors_of_the_format_are_what_this_makes() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "formats" / "federated.md").read_text(encoding="utf-8")
    vectors = dict(re.findall(r"```vector ([a-z-]+)\n(.*?)\n```", text, re.DOTALL))
    numbers = np.array([1.0, -0.5, 0.1], dtype=np.float32)
    assert vectors == {
        "task": TASK.to_bytes(KEY).decode(),
        "result": RESULT.to_bytes(KEY).decode(),
        "weights": weights_to_bytes(numbers).hex(),
    }
    # By hand: the sign, eight bits of exponent, the rest, the lowest byte first.
    assert vectors["weights"] == "0000803f" + "000000bf" + "cdcccc3d"


def test_every_key_of_a_message_stands_in_the_format() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "formats" / "federated.md").read_text(encoding="utf-8")
    for message in (TASK, RESULT):
        for name in vars(message):
            assert f"`{name}`" in text, name

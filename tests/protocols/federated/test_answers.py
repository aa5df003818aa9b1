"""What nobody has signed: of any type and length, and with whatever a terminal would do."""

from __future__ import annotations

import pytest

from protocols.federated.answers import NO_ANSWER, plain, read_answer
from protocols.keys.signed_message import MAX_MESSAGE_BYTES


def test_an_answer_is_handed_on() -> None:
    answer = {"result": b"signed", "weights": b"four", "problem": ""}
    assert read_answer(answer, 4) == (b"signed", b"four", b"")
    assert read_answer({"result": b"", "weights": b"", "problem": "PolicyError"}, 4) == (b"", b"", b"PolicyError")


@pytest.mark.parametrize(
    "changed",
    [
        {"result": 10**15},
        {"result": 600_000_000},
        {"weights": 10**15},
        {"result": "signed"},
        {"weights": [1, 2, 3]},
        {"problem": 7},
        {"problem": b"text"},
        {"result": bytes(MAX_MESSAGE_BYTES + 1)},
        {"weights": bytes(5)},
        {"result": None},
    ],
)
def test_attack_an_answer_of_other_types_or_lengths(changed: dict[str, object]) -> None:
    """An int of 10**15 made as many zeros, and ended the training of all."""
    answer = {"result": b"signed", "weights": b"four", "problem": "", **changed}
    assert read_answer(answer, 4) == (b"", b"", NO_ANSWER)
    assert read_answer({name: value for name, value in answer.items() if name not in changed}, 4)[2] == NO_ANSWER


@pytest.mark.parametrize(
    "told", ["\x1b[2K\r\nround 3 of 20: north: 1200 sentences\n", "\x9b2J", "\u202eevil", "a" * 10**6, "\x00\x7f\x08"]
)
def test_attack_what_a_problem_does_to_a_terminal(told: str) -> None:
    left = plain(told)
    assert len(left) <= 100
    assert left.isascii()
    assert left.replace(" ", "").replace(".", "").isalnum() or not left

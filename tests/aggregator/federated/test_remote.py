"""What the provider makes of answers that somebody has signed, and says of those that nobody has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from aggregator.federated.plan import Answer, RoundOrder
from aggregator.federated.remote import Reply, SignedSites
from protocols.federated.result import RoundResult
from protocols.federated.weights import digest_of
from protocols.keys.signing import PrivateKey
from shared.federated.local import LocalRecipe
from shared.taggers.bilstm_crf import BiLSTMCRFConfig

KEY = PrivateKey.from_seed(bytes(32))
ORDER = RoundOrder(1, 1, BiLSTMCRFConfig(2, 3, hidden=2), np.zeros(9, np.float32), LocalRecipe())


def answered(signed: bytes, epsilon: float = 0.0, sent: bytes | None = None) -> Answer:
    """What is made of a hospital's answer that signs some bytes, and sends them or others."""

    class North:
        def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
            result = RoundResult("north", digest_of(task), 1200, digest_of(signed), epsilon)
            yield Reply("node 7", result.to_bytes(KEY), signed if sent is None else sent)

    sites = SignedSites(North(), KEY, lambda: {"north": [KEY.public_key]}, "ab" * 16, "cd" * 32, 60.0)
    (answer,) = sites.ask(ORDER)
    return answer


@pytest.mark.parametrize("epsilon", [0.0, 2.5])
def test_who_spends_epsilon_has_added_noise(epsilon: float) -> None:
    answer = answered(bytes(36), epsilon)
    assert answer.weights is not None
    assert (answer.site, answer.sentences, answer.noisy) == ("north", 1200, epsilon > 0)


def test_who_signs_what_is_no_number_has_spoilt_it_and_who_is_brought_as_other_bytes_has_not() -> None:
    nan = np.full(9, np.nan, np.float32).tobytes()
    spoilt, changed = answered(nan), answered(bytes(36), sent=nan)
    assert (spoilt.site, spoilt.problem, spoilt.spoilt) == ("north", "refused: NonFiniteError", True)
    assert (changed.site, changed.problem, changed.spoilt) == ("north", "refused: DigestError", False)


@pytest.mark.parametrize("result", [b"", b"junk"])
def test_attack_an_answer_that_writes_to_the_terminal(result: bytes) -> None:
    class Lies:
        def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
            escape = "\x1b[2K\r\nround 3 of 20: north: 1200 sentences\n" * 99
            yield Reply("node 7\x1b[2K", result, b"", escape)

    sites = SignedSites(Lies(), KEY, dict, "ab" * 16, "cd" * 32, 60.0)
    (answer,) = sites.ask(ORDER)
    assert answer.site == "(node 72K)"
    assert answer.problem.isprintable()
    assert len(answer.problem) <= 100
    assert "[" not in answer.problem


def test_attack_after_a_restart_what_was_followed_without_a_hospital_goes_to_no_other() -> None:
    sent: list[str] = []
    signed: list[str] = []

    class Heard:
        def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
            sent.append(only)
            result = RoundResult("north", digest_of(task), 1200, digest_of(weights), 0.0, tuple(signed)).to_bytes(KEY)
            signed.append(digest_of(result))
            yield Reply("node 7", result, weights)

    sites = SignedSites(Heard(), KEY, lambda: {"north": [KEY.public_key]}, "ab" * 16, "cd" * 32, 60.0)
    answer = sites.measure(ORDER, "north", 9)
    assert answer.weights is None
    assert answer.problem == "not measured: its way is not known since the restart"
    # Weights without each of them, beside those with all, are what each of them has sent.
    assert sent == []
    assert [one.weights is not None for one in sites.ask(ORDER)] == [True]
    assert sites.measure(ORDER, "north", 9).weights is not None
    assert sent == ["", "node 7"]

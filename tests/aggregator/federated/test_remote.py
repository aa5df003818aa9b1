"""What the provider says of answers that nobody has signed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from aggregator.federated.plan import RoundOrder
from aggregator.federated.remote import Reply, SignedSites
from protocols.keys.signing import PrivateKey
from shared.federated.local import LocalRecipe
from shared.taggers.bilstm_crf import BiLSTMCRFConfig


@pytest.mark.parametrize("result", [b"", b"junk"])
def test_attack_an_answer_that_writes_to_the_terminal(result: bytes) -> None:
    class Lies:
        def exchange(self, task: bytes, weights: bytes, timeout_s: float, only: str = "") -> Iterator[Reply]:
            escape = "\x1b[2K\r\nround 3 of 20: north: 1200 sentences\n" * 99
            yield Reply("node 7\x1b[2K", result, b"", escape)

    sites = SignedSites(Lies(), PrivateKey.from_seed(bytes(32)), dict, "ab" * 16, "cd" * 32, 60.0)
    order = RoundOrder(1, 1, BiLSTMCRFConfig(2, 3, hidden=2), np.zeros(9, np.float32), LocalRecipe())
    (answer,) = sites.ask(order)
    assert answer.site == "(node 72K)"
    assert answer.problem.isprintable()
    assert len(answer.problem) <= 100
    assert "[" not in answer.problem

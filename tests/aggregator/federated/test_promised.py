"""What hospitals tell of a head, and which of it counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.federated.plan import Answer, RoundOrder
from aggregator.federated.promised import promised_points
from aggregator.federated.rounds import Course
from shared.federated.strategies import find_strategy
from shared.pipeline.promises.by_note import NUMBERS
from shared.taggers.bilstm_crf import BiLSTMCRFConfig

MEASURED = np.full(NUMBERS, 0.9, np.float32)
SILENT = np.zeros(NUMBERS, np.float32)


@dataclass
class Told:
    """Hospitals that say what they are told to."""

    curves: dict[str, NDArray[np.float32]]

    def ask(self, order: RoundOrder):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    def measure(self, order: RoundOrder, site: str, numbers: int) -> Answer:
        return Answer(site, 10, self.curves[site])


def test_a_hospital_of_too_few_notes_takes_the_promise_from_nobody() -> None:
    start = np.zeros(3, np.float32)
    large = {f"large{number}": MEASURED for number in range(3)}
    small = {f"small{number}": SILENT for number in range(3)}
    told: list[str] = []

    def points(curves: dict[str, NDArray[np.float32]]):  # type: ignore[no-untyped-def]
        step = find_strategy("fedavg").server_step(3)
        course = Course(start, step, without=dict.fromkeys(curves, (start, step)))
        return promised_points(course, BiLSTMCRFConfig(2, 3, hidden=2), Told(curves), lambda _: None, told.append)

    alone, beside = points(large), points(large | small)
    assert alone is not None
    assert beside == alone
    assert "operating points: small0: too few notes under its noise" in told
    assert "operating points: large0: measured" in told
    assert points(small) is None

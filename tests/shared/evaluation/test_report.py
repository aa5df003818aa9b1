from __future__ import annotations

import json

import numpy as np
import pytest

from shared.document import Document
from shared.evaluation import Evaluation, as_json, as_table, evaluate_all
from tests.shared.evaluation.cases import document

TEXT = "Zoe Quiros came on 12/03/2014"
GOLD = document(TEXT, (0, 10, "PATIENT"), (19, 29, "DATE"))
SYSTEM = document(TEXT, (0, 3, "PATIENT"), (19, 29, "DATE"))


def evaluation(slips: bool = False, gold: Document = GOLD, system: Document = SYSTEM) -> Evaluation:
    return evaluate_all([(gold, system)], rng=np.random.default_rng(1), sentences=lambda note: 2, slips=slips)


@pytest.mark.parametrize("slips", [False, True])
def test_json_holds_every_block_and_survives_a_round_trip(slips: bool) -> None:
    measured = evaluation(slips)
    values = json.loads(json.dumps(as_json(measured), allow_nan=False))
    assert values["blocks"].keys() == measured.blocks.keys()
    assert len([label for label in values["blocks"] if label.startswith("i2b2 ")]) == 42
    strict = values["blocks"]["i2b2 Strict"]
    assert (strict["tp"], strict["fp"], strict["fn"], strict["f1"]) == (1, 1, 1, 0.5)
    assert strict["per_type"]["DATE"]["macro_f1"] == 1.0
    assert values["leak"] == 0.5
    assert values["hospital"]["documents_with_miss"]["hits"] == 1
    miss = {"document": "110-01", "start": 0, "end": 10, "category": "PATIENT"}
    assert values["hospital"]["misses"] == [miss | {"leaked_characters": 6, "hidden_in_part": True}]
    assert values["slips"] is slips


def test_table_names_every_block_in_aligned_columns() -> None:
    measured = evaluation()
    table = as_table(measured)
    lines = table.splitlines()
    names = [line[: len(label)] for line, label in zip(lines[1:], measured.blocks, strict=False)]
    assert names == list(measured.blocks)
    assert len({len(line) for line in lines[: 1 + len(measured.blocks)]}) == 1
    assert "documents with any miss: 1 of 1" in table
    assert "110-01 characters 0-10 PATIENT: 6 characters in clear" in table
    empty = next(line for line in lines if line.startswith("i2b2 OTHER Token"))
    assert empty.split()[3:] == ["-"] * 6 + ["0"] * 3


def test_neither_form_shows_text_of_a_note() -> None:
    for shown in (as_table(evaluation()), json.dumps(as_json(evaluation())), repr(evaluation())):
        assert not [word for word in ("Zoe", "Quiros", "2014") if word in shown]


def test_other_categories_leave_blocks_out_and_say_so() -> None:
    note = document("Eva", (0, 3, "NOMBRE"))
    measured = evaluation(gold=note, system=note)
    assert "i2b2 Strict" in measured.blocks
    assert not [label for label in measured.blocks if "HIPAA" in label]
    assert len(measured.notes) == 2
    assert all(said in as_table(measured) for said in measured.notes)


def test_intervals_come_from_the_generator_given() -> None:
    assert evaluation().f1_intervals == evaluation().f1_intervals
    assert set(evaluation().f1_intervals) == {"Token binary", "Strict entity", "i2b2 Binary HIPAA Token"}

from __future__ import annotations

import pytest

from shared.document import Document
from shared.errors import EvaluationError
from shared.evaluation import (
    binary_token_scores,
    evaluate_hospital,
    evaluate_i2b2,
    evaluate_meddocan,
    match_corpora,
    strict_entity,
)
from tests.shared.evaluation.cases import document

TEXT = "Quirino Zubeldia"
EVALUATIONS = [binary_token_scores, evaluate_hospital, evaluate_i2b2, evaluate_meddocan, strict_entity]


def test_pairs_follow_the_gold_order_whatever_the_system_order() -> None:
    gold = [document(TEXT, identifier=name) for name in ("b", "a", "c")]
    pairs = match_corpora(iter(gold), iter([gold[2], gold[0], gold[1]]))
    assert [(left.identifier, right.identifier) for left, right in pairs] == [("b", "b"), ("a", "a"), ("c", "c")]


@pytest.mark.parametrize(
    ("gold", "system", "told"),
    [
        (["a", "b"], ["a"], "1 gold documents have no system document (b)"),
        (["a"], ["a", "b"], "1 system documents have no gold document (b)"),
        (["a", "a"], ["a"], "gold document once, got 'a' twice"),
        (["a"], ["a", "a"], "system document once, got 'a' twice"),
        ([], [], "at least one document"),
    ],
)
def test_missing_extra_and_doubled_documents_are_refused(gold: list[str], system: list[str], told: str) -> None:
    expected = [document(TEXT, identifier=name) for name in gold]
    given = [document(TEXT, identifier=name) for name in system]
    with pytest.raises(EvaluationError) as caught:
        match_corpora(expected, given)
    assert told in str(caught.value)


def test_slip_skips_what_one_side_lacks() -> None:
    gold = [document(TEXT, identifier=name) for name in ("a", "b")]
    system = [document(TEXT, identifier=name) for name in ("b", "c")]
    assert [left.identifier for left, _ in match_corpora(gold, system, slips=True)] == ["b"]


@pytest.mark.parametrize("slips", [False, True])
def test_different_text_is_refused_without_showing_it(slips: bool) -> None:
    with pytest.raises(EvaluationError, match="from character 8 on") as caught:
        match_corpora([document(TEXT)], [document("Quirino Xubeldia")], slips=slips)
    assert "ubeldia" not in str(caught.value)
    assert "Quirino" not in str(caught.value)


@pytest.mark.parametrize("evaluate", EVALUATIONS)
@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(Document("a", TEXT), Document("b", TEXT))],
        [(Document("a", TEXT), Document("a", TEXT + "."))],
        [(Document("a", TEXT), Document("a", TEXT))] * 2,
    ],
    ids=["none", "other id", "other text", "doubled"],
)
def test_every_evaluation_refuses_pairs_that_do_not_belong_together(evaluate, pairs) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(EvaluationError):
        evaluate(pairs)

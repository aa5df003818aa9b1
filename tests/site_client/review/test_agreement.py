from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.document import Annotation, Document
from shared.labels import LabelScheme
from site_client.errors import ReviewError
from site_client.review.agreement import compare, kappa
from site_client.review.project import Project, begin
from tests.site_client.review.projects import SCHEME

# "Anna met Berta and Carla at noon." and "Dora left.": 8 and 3 tokens.
TEXTS = {"x": "Anna met Berta and Carla at noon.", "y": "Dora left."}


def finished(folder: Path, labels: dict[str, list[tuple[int, int, str]]], scheme: LabelScheme = SCHEME) -> Project:
    documents = [
        Document(name, TEXTS[name], tuple(Annotation(*label) for label in spans)) for name, spans in labels.items()
    ]
    made = begin(folder, scheme, documents, "s")
    for number in range(len(documents)):
        made.finish(number, 0, True)
    return made


def test_agreement_of_a_worked_example(tmp_path: Path) -> None:
    first = finished(tmp_path / "1", {"x": [(0, 4, "A"), (9, 14, "A")], "y": [(0, 4, "B")]})
    second = finished(tmp_path / "2", {"y": [(0, 4, "B")], "x": [(0, 4, "A"), (9, 24, "A"), (25, 27, "B")]})
    found = compare(first, second)
    assert (found.notes, found.tokens) == (2, 11)
    # Tokens by hand: both A at Anna and Berta, both B at Dora, O at met, noon, ".", left, "."; apart at and, Carla, at.
    # Observed 8/11; by chance (2*4 + 1*2 + 8*5) / 121.
    chance = Fraction(2 * 4 + 1 * 2 + 8 * 5, 121)
    assert found.kappa == pytest.approx(float((Fraction(8, 11) - chance) / (1 - chance)))
    # PHI or not: 3 both, 5 neither, 3 apart; chance (3*6 + 8*5) / 121.
    chance = Fraction(3 * 6 + 8 * 5, 121)
    assert found.kappa_phi == pytest.approx(float((Fraction(8, 11) - chance) / (1 - chance)))
    # Three spans here, four there, two in common.
    assert found.f1 == pytest.approx(4 / 7)
    assert found.by_category == {"A": pytest.approx(2 / 4), "B": pytest.approx(2 / 3)}
    assert [(one.document, one.start, one.end, one.whose) for one in found.differences] == [
        ("x", 9, 14, 1),
        ("x", 9, 24, 2),
        ("x", 25, 27, 2),
    ]


def test_full_agreement_is_one_and_none_at_all_is_said_to_be_unknown(tmp_path: Path) -> None:
    labels = {"x": [(0, 4, "A")]}
    found = compare(finished(tmp_path / "1", labels), finished(tmp_path / "2", labels))
    assert (found.kappa, found.kappa_phi, found.f1, found.f1_ends, found.differences) == (1, 1, 1, 1, ())
    none = compare(finished(tmp_path / "3", {"x": []}), finished(tmp_path / "4", {"x": []}))
    assert (none.kappa, none.kappa_phi, none.f1) == (None, None, None)


def test_ends_alone_may_agree_where_categories_do_not(tmp_path: Path) -> None:
    found = compare(finished(tmp_path / "1", {"x": [(0, 4, "A")]}), finished(tmp_path / "2", {"x": [(0, 4, "B")]}))
    assert (found.f1, found.f1_ends, found.kappa_phi) == (0, 1, 1)
    assert found.kappa is not None
    assert found.kappa < 1


def test_what_only_one_has_finished_does_not_count(tmp_path: Path) -> None:
    first = finished(tmp_path / "1", {"x": [(0, 4, "A")], "y": []})
    second = finished(tmp_path / "2", {"x": [(0, 4, "A")], "y": [(0, 4, "B")]})
    second.finish(1, 1, False)
    assert compare(first, second).notes == 1


def test_what_can_not_be_compared_is_refused(tmp_path: Path) -> None:
    one = finished(tmp_path / "1", {"x": []})
    with pytest.raises(ReviewError, match="got none"):
        compare(one, finished(tmp_path / "2", {"y": []}))
    with pytest.raises(ReviewError, match="same categories"):
        compare(one, finished(tmp_path / "3", {"x": []}, LabelScheme("c", ("A", "C"))))
    other = begin(tmp_path / "4", SCHEME, [Document("x", "another text")], "s")
    other.finish(0, 0, True)
    with pytest.raises(ReviewError, match="x: expected the same text"):
        compare(one, other)


@given(pairs=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30))
def test_kappa_is_that_of_its_definition(pairs: list[tuple[int, int]]) -> None:
    n = len(pairs)
    observed = Fraction(sum(a == b for a, b in pairs), n)
    chance = sum(
        Fraction(sum(a == k for a, _ in pairs), n) * Fraction(sum(b == k for _, b in pairs), n) for k in range(3)
    )
    expected = None if chance == 1 else float((observed - chance) / (1 - chance))
    assert kappa(Counter(pairs)) == (None if expected is None else pytest.approx(expected))

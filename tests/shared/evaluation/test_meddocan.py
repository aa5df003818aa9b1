"""MEDDOCAN's blocks against tables worked out by hand and against a restatement of the official definitions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.document import AnnotatedText, Annotation, Document
from shared.errors import EvaluationError
from shared.evaluation import MeddocanScores, Scores, count_sentences, evaluate_meddocan
from tests.shared.evaluation.cases import document, overlapping_pairs, pairs

Span = tuple[int, int]

TEXT = "Ana, Ruiz vive en Lugo"
GOLD = document(TEXT, (0, 3, "NOMBRE"), (5, 9, "NOMBRE"), (18, 22, "TERRITORIO"))


def counts(scores: Scores) -> tuple[int, int, int]:
    return scores.tp, scores.fp, scores.fn


@pytest.mark.parametrize(
    ("found", "ner", "strict", "official_merged", "merged"),
    [
        # Both parts of the name: two hits and their union, or one joined span.
        ([(0, 3, "NOMBRE"), (5, 9, "NOMBRE")], (2, 0, 1), (2, 0, 1), (3, 0, 1), (1, 0, 1)),
        # The name in one piece: nothing strict, but the union is a hit and forgives its parts.
        ([(0, 9, "NOMBRE")], (0, 1, 3), (0, 1, 3), (1, 0, 1), (1, 0, 1)),
        # One part only.
        ([(0, 3, "NOMBRE")], (1, 0, 2), (1, 0, 2), (1, 0, 2), (0, 1, 2)),
        # The wrong type does not matter to spans.
        ([(18, 22, "PAIS")], (0, 1, 3), (1, 0, 2), (1, 0, 2), (1, 0, 1)),
        ([], (0, 0, 3), (0, 0, 3), (0, 0, 3), (0, 0, 2)),
    ],
)
def test_table_worked_out_by_hand(
    found: list[tuple[int, int, str]],
    ner: tuple[int, int, int],
    strict: tuple[int, int, int],
    official_merged: tuple[int, int, int],
    merged: tuple[int, int, int],
) -> None:
    correct = evaluate_meddocan([(GOLD, document(TEXT, *found))])
    official = evaluate_meddocan([(GOLD, document(TEXT, *found))], slips=True)
    assert counts(correct.ner) == counts(official.ner) == ner
    assert counts(correct.strict) == counts(official.strict) == strict
    assert counts(official.merged) == official_merged
    assert counts(correct.merged) == merged


def test_official_merged_forgives_a_miss_inside_a_joined_hit_behind_a_smaller_hit() -> None:
    text = "Ana b,- Ruiz"
    found = [(0, 3, "NOMBRE"), (4, 5, "NOMBRE"), (8, 12, "NOMBRE")]
    gold = document(text, *found, (5, 6, "OTROS"))
    assert counts(evaluate_meddocan([(gold, document(text, *found))], slips=True).merged) == (4, 0, 0)
    assert counts(evaluate_meddocan([(gold, document(text, *found))]).merged) == (1, 0, 0)


def test_leak_is_misses_per_sentence() -> None:
    second = document("Eva", (0, 3, "NOMBRE"), identifier="2")
    made = [(GOLD, document(TEXT, (0, 3, "NOMBRE"))), (second, second)]
    scores = evaluate_meddocan(made, sentences=lambda note: 3 if note.identifier == "2" else 5)
    assert (scores.leak, scores.sentences) == (2 / 8, 8)
    without = evaluate_meddocan(made)
    assert (without.leak, without.sentences) == (None, None)


def test_leak_without_sentences_is_an_error_unless_slips() -> None:
    made = [(GOLD, document(TEXT))]
    with pytest.raises(EvaluationError, match="3 misses"):
        evaluate_meddocan(made, sentences=lambda note: 0)
    assert evaluate_meddocan(made, sentences=lambda note: 0, slips=True).leak == 0.0
    assert evaluate_meddocan([(GOLD, GOLD)], sentences=lambda note: 0).leak == 0.0


def test_our_sentences_can_be_counted() -> None:
    assert count_sentences(document("Vive en Lugo. Trabaja en Soria.\n\nFin")) == 3


def test_a_joined_span_of_several_types_says_so() -> None:
    note = document("Eva 33 Oza", (0, 3, "NOMBRE"), (4, 6, "EDAD"), (7, 10, "NOMBRE"))
    assert set(evaluate_meddocan([(note, note)]).merged.per_type) == {"(several)"}


# The restatement: two spans join when no letter or digit lies between them.
def join(note: AnnotatedText, slips: bool = False) -> set[Span]:
    groups: list[list[Span]] = []
    for span in sorted((span.start, span.end) for span in note.annotations):
        end = (groups[-1][-1][1] if slips else max(last for _, last in groups[-1])) if groups else 0
        between = note.text[end : span[0]] if groups else "x"
        if all(not character.isalpha() and not character.isnumeric() for character in between):
            groups[-1].append(span)
        else:
            groups.append([span])
    return {(group[0][0], group[-1][1] if slips else max(end for _, end in group)) for group in groups}


def expected(gold: AnnotatedText, system: AnnotatedText, slips: bool) -> dict[str, tuple[int, int, int]]:
    typed = [{(a.category, a.start, a.end) for a in note.annotations} for note in (gold, system)]
    plain = [{(a.start, a.end) for a in note.annotations} for note in (gold, system)]
    joined = [join(gold, slips), join(system, slips)]
    hits = {span for span in plain[0] if span in plain[1]} | {span for span in joined[0] if span in joined[1]}
    outside = [[s for s in side if not any(h[0] <= s[0] and s[1] <= h[1] for h in hits)] for side in plain]
    return {
        "ner": _compare(*typed),
        "strict": _compare(*plain),
        "merged": (len(hits), len(outside[1]), len(outside[0])) if slips else _compare(*joined),
    }


def _compare(gold: set, system: set) -> tuple[int, int, int]:  # type: ignore[type-arg]
    tp = sum(item in system for item in gold)
    return tp, len(system) - tp, len(gold) - tp


@settings(max_examples=40)
@given(overlapping_pairs(), st.booleans())
def test_equals_the_official_definitions_where_spans_overlap(
    made: list[tuple[AnnotatedText, AnnotatedText]], slips: bool
) -> None:
    scores = evaluate_meddocan(made, slips=slips)
    for index, (gold, system) in enumerate(made):
        for label, numbers in expected(gold, system, slips).items():
            assert tuple(getattr(scores, label).by_document[index].tolist()) == numbers, label


def test_a_joined_span_ends_with_the_one_inside_it_with_slips() -> None:
    gold = AnnotatedText("1", "Calle Mayor", (Annotation(0, 11, "CALLE"), Annotation(2, 4, "PAIS")))
    system = document("Calle Mayor", (0, 11, "CALLE"), identifier="1")
    assert counts(evaluate_meddocan([(gold, system)]).merged) == (1, 0, 0)
    assert counts(evaluate_meddocan([(system, gold)], slips=True).strict) == (1, 1, 0)
    assert counts(evaluate_meddocan([(gold, gold)], slips=True).merged) == (3, 0, 0)


@settings(max_examples=40)
@given(pairs(), st.booleans())
def test_equals_the_official_definitions(made: list[tuple[Document, Document]], slips: bool) -> None:
    scores = evaluate_meddocan(made, sentences=lambda note: 7, slips=slips)
    for index, (gold, system) in enumerate(made):
        for label, numbers in expected(gold, system, slips).items():
            assert tuple(getattr(scores, label).by_document[index].tolist()) == numbers, label
    assert scores.leak == scores.ner.fn / (7 * len(made))
    for block in scores.blocks().values():
        assert block.tp + block.fn == 0 or block.recall == block.tp / (block.tp + block.fn)


@settings(deadline=None)
@given(pairs())
def test_slips_change_the_merged_block_only(made: list[tuple[Document, Document]]) -> None:
    correct, slipped = evaluate_meddocan(made), evaluate_meddocan(made, slips=True)
    assert (correct.ner, correct.strict) == (slipped.ner, slipped.strict)
    if all(len(join(note)) == len(note.annotations) for pair in made for note in pair):
        assert counts(correct.merged) == counts(slipped.merged)
    else:
        assert slipped.merged.tp >= correct.merged.tp


@settings(deadline=None)
@given(pairs(), st.booleans())
def test_perfect_system_and_swapped_sides(made: list[tuple[Document, Document]], slips: bool) -> None:
    for scores in evaluate_meddocan([(gold, gold) for gold, _ in made], slips=slips).blocks().values():
        assert (scores.fp, scores.fn) == (0, 0)
    there, back = (
        evaluate_meddocan(sides, slips=slips).blocks() for sides in (made, [(system, gold) for gold, system in made])
    )
    for label, scores in there.items():
        assert counts(scores) == (back[label].tp, back[label].fn, back[label].fp)


def test_blocks_have_the_official_labels() -> None:
    scores = evaluate_meddocan([(GOLD, GOLD)])
    assert isinstance(scores, MeddocanScores)
    assert list(scores.blocks()) == ["SubTrack 1 [NER]", "SubTrack 2 [strict]", "SubTrack 2 [merged]"]

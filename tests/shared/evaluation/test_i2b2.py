"""The i2b2 blocks against a table worked out by hand and against a restatement of the official definitions.

The restatement knows nothing of keys: it asks of every two items whether they are equal, as the official README and tag
classes say, and cuts tokens character by character.
"""

from __future__ import annotations

import math
import statistics
import string
from collections.abc import Callable, Sequence
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.document import AnnotatedText, Annotation, Document
from shared.errors import EvaluationError
from shared.evaluation import Scores, evaluate_i2b2, match_corpora
from shared.evaluation.i2b2_types import HIPAA_2014, TAG_NAMES
from shared.evaluation.spans import TaggedAnnotation
from tests.data import corpus
from tests.shared.evaluation.cases import CATEGORIES, document, overlapping_pairs, pairs

# start, end, type
Item = tuple[int, int, str]

README_HIPAA = [
    *("PATIENT", "AGE", "CITY", "STREET", "ZIP", "ORGANIZATION", "DATE", "PHONE", "FAX", "EMAIL"),
    *("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "BIOID", "IDNUM"),
]
GROUPS = {
    "NAME": "PATIENT DOCTOR USERNAME",
    "PROFESSION": "PROFESSION",
    "LOCATION": "ROOM DEPARTMENT HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP LOCATION-OTHER",
    "AGE": "AGE",
    "DATE": "DATE",
    "CONTACT": "PHONE FAX EMAIL URL IPADDR",
    "ID": "SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM",
    "OTHER": "OTHER",
}


def entities(note: AnnotatedText, slips: bool) -> list[Item]:
    return [(span.start, span.end, span.category) for span in note.annotations]


def tokens(note: AnnotatedText, slips: bool) -> list[Item]:
    found: list[Item] = []
    for span in note.annotations:
        before, last = len(found), -2
        for position in range(span.start, span.end):
            character = note.text[position]
            word = character in string.ascii_letters + string.digits
            if not slips:
                word = character.isalnum() or character == "\u0301"
            if word and last == position - 1:
                found[-1] = (found[-1][0], position + 1, span.category)
            elif word:
                found.append((position, position + 1, span.category))
            last = position if word else last
        if len(found) == before:
            found.append((span.end, span.end, span.category) if slips else (span.start, span.end, span.category))
    return found


def same(one: Item, other: Item) -> bool:
    return one == other


def same_but_for_the_end(one: Item, other: Item) -> bool:
    return one[0] == other[0] and one[2] == other[2] and -2 <= one[1] - other[1] <= 2


def same_place(one: Item, other: Item) -> bool:
    return one[:2] == other[:2]


Block = tuple[Callable[[AnnotatedText, bool], list[Item]], Callable[[Item, Item], bool], Callable[[str], bool]]


def blocks(slips: bool) -> dict[str, Block]:
    def everything(category: str) -> bool:
        return True

    def hipaa(category: str) -> bool:
        return category in README_HIPAA and not (slips and category == "IDNUM")

    table: dict[str, Block] = {}
    for prefix, keep in (("", everything), ("HIPAA ", hipaa)):
        table[f"{prefix}Token"] = (tokens, same, keep)
        table[f"{prefix}Strict"] = (entities, same, keep)
        table[f"{prefix}Relaxed"] = (entities, same_but_for_the_end, keep)
        table[f"Binary {prefix}Token"] = (tokens, same_place, keep)
        table[f"Binary {prefix}Strict"] = (entities, same_place, keep)
        for name, types in GROUPS.items():
            chosen = {category for category in types.split() if keep(category)}
            table[f"{name} {prefix}Token"] = (tokens, same, chosen.__contains__)
            table[f"{name} {prefix}Strict"] = (entities, same, chosen.__contains__)
    return table


def count(gold: AnnotatedText, system: AnnotatedText, block: Block, slips: bool) -> tuple[int, int, int]:
    items, equal, keep = block
    wanted = [item for item in items(gold, slips) if keep(item[2])]
    given_ = [item for item in items(system, slips) if keep(item[2])]
    if equal is same_but_for_the_end and not slips:
        wanted, given_ = sorted(set(wanted)), sorted(set(given_))
        tp = most_matches(wanted, given_)
        return tp, len(given_) - tp, len(wanted) - tp
    wanted, given_ = first_of_equals(wanted, equal), first_of_equals(given_, equal)
    fp = sum(not any(equal(item, other) for other in wanted) for item in given_)
    fn = sum(not any(equal(item, other) for other in given_) for item in wanted)
    return (len(wanted) - fn if len(wanted) < len(given_) else len(given_) - fp), fp, fn


def first_of_equals(items: list[Item], equal: Callable[[Item, Item], bool]) -> list[Item]:
    kept: list[Item] = []
    for item in items:
        kept += [] if any(equal(item, other) for other in kept) else [item]
    return kept


def most_matches(wanted: list[Item], given_: list[Item]) -> int:
    """Size of the largest one-to-one matching, by augmenting paths."""
    holder: dict[int, int] = {}

    def place(one: int, tried: set[int]) -> bool:
        for other, item in enumerate(given_):
            if other not in tried and same_but_for_the_end(wanted[one], item):
                tried.add(other)
                if other not in holder or place(holder[other], tried):
                    holder[other] = one
                    return True
        return False

    return sum(place(one, set()) for one in range(len(wanted)))


def mean(parts: list[tuple[int, int]], slips: bool) -> tuple[float, float]:
    values = [hits / (hits + wrong) if hits + wrong else 0.0 for hits, wrong in parts if slips or hits + wrong]
    return (statistics.fmean(values), statistics.pstdev(values)) if values else (0.0, 0.0)


def check(made: Sequence[tuple[AnnotatedText, AnnotatedText]], slips: bool) -> None:
    measured = evaluate_i2b2(made, slips=slips)
    expected = blocks(slips)
    assert measured.keys() == expected.keys()
    for label, block in expected.items():
        scores = measured[label]
        counts = [count(gold, system, block, slips) for gold, system in made]
        assert scores.by_document.tolist() == [list(numbers) for numbers in counts], label
        tp, fp, fn = (sum(numbers[kind] for numbers in counts) for kind in range(3))
        assert (scores.tp, scores.fp, scores.fn) == (tp, fp, fn), label
        assert scores.precision == (tp / (tp + fp) if tp + fp else 0.0)
        assert scores.recall == (tp / (tp + fn) if tp + fn else 0.0)
        assert scores.f1 == pytest.approx(2 * tp / (2 * tp + fp + fn) if tp else 0.0)
        precision = mean([(numbers[0], numbers[1]) for numbers in counts], slips)
        recall = mean([(numbers[0], numbers[2]) for numbers in counts], slips)
        assert (scores.macro_precision, scores.macro_precision_sd) == pytest.approx(precision)
        assert (scores.macro_recall, scores.macro_recall_sd) == pytest.approx(recall)
        total = precision[0] + recall[0]
        f1 = 2 * precision[0] * recall[0] / total if total else (math.nan if slips else 0.0)
        assert scores.macro_f1 == pytest.approx(f1, nan_ok=True)


@settings(max_examples=40)
@given(pairs(), st.booleans())
def test_equals_the_official_definitions(made: list[tuple[Document, Document]], slips: bool) -> None:
    check(made, slips)


@settings(max_examples=40)
@given(overlapping_pairs(), st.booleans())
def test_equals_the_official_definitions_where_spans_overlap(
    made: list[tuple[AnnotatedText, AnnotatedText]], slips: bool
) -> None:
    check(made, slips)


def test_equals_the_official_definitions_on_real_notes() -> None:
    folder = corpus("en_sites/site_a/test")
    made = []
    for number, path in enumerate(sorted(folder.glob("*.xml"))[:10]):
        root = ElementTree.parse(path).getroot()
        text = root.findtext("TEXT") or ""
        tags = [tag.attrib for tag in root.iterfind("TAGS/*")]
        gold = Document(path.stem, text, tuple(Annotation(int(t["start"]), int(t["end"]), t["TYPE"]) for t in tags))
        system = [
            Annotation(span.start, max(span.start + 1, span.end - index % 3), span.category if index % 4 else "CITY")
            for index, span in enumerate(gold.annotations)
        ]
        made.append((gold, Document(path.stem, text, tuple(system[number % 3 :]))))
    assert made
    assert all(gold.annotations for gold, _ in made)
    check(made, slips=False)
    check(made, slips=True)


TEXT = "Jose Lopez saw Dr Smith on 12/03/2014 id 12345"
GOLD = document(TEXT, (0, 10, "PATIENT"), (18, 23, "DOCTOR"), (27, 37, "DATE"), (41, 46, "IDNUM"))
# One character short; the wrong type; a part of the date; right.
SYSTEM = document(TEXT, (0, 9, "PATIENT"), (18, 23, "PATIENT"), (27, 32, "DATE"), (41, 46, "IDNUM"))
BY_HAND = {
    "Token": (4, 2, 3),
    "Strict": (1, 3, 3),
    "Relaxed": (2, 2, 2),
    "HIPAA Token": (4, 2, 2),
    "HIPAA Strict": (1, 3, 2),
    "HIPAA Relaxed": (2, 2, 1),
    "Binary Token": (5, 1, 2),
    "Binary Strict": (2, 2, 2),
    "Binary HIPAA Token": (4, 2, 2),
    "Binary HIPAA Strict": (1, 3, 2),
    "NAME Token": (1, 2, 2),
    "NAME HIPAA Strict": (0, 2, 1),
    "ID HIPAA Token": (1, 0, 0),
    "DATE Token": (2, 0, 1),
}


@pytest.mark.parametrize(("label", "expected"), BY_HAND.items())
def test_table_worked_out_by_hand(label: str, expected: tuple[int, int, int]) -> None:
    scores = evaluate_i2b2([(GOLD, SYSTEM)])[label]
    assert (scores.tp, scores.fp, scores.fn) == expected


def test_counts_of_a_type_stand_under_the_gold_type_or_the_false_alarms_own() -> None:
    per_type = evaluate_i2b2([(GOLD, SYSTEM)])["Binary Token"].per_type
    counts = {category: (part.tp, part.fp, part.fn) for category, part in per_type.items()}
    assert counts == {"PATIENT": (1, 1, 1), "DOCTOR": (1, 0, 0), "DATE": (2, 0, 1), "IDNUM": (1, 0, 0)}


def test_the_hipaa_filter_looks_at_the_predicted_type() -> None:
    gold = document("Ana Bo", (0, 3, "PATIENT"), (4, 6, "DOCTOR"))
    system = document("Ana Bo", (0, 3, "DOCTOR"), (4, 6, "PATIENT"))
    scores = evaluate_i2b2([(gold, system)])
    assert scores["Binary Strict"].f1 == 1.0
    hipaa = scores["Binary HIPAA Strict"]
    assert (hipaa.tp, hipaa.fp, hipaa.fn) == (0, 1, 1)


@pytest.mark.parametrize(("end", "found"), [(1, 0), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 0)])
def test_relaxed_forgives_two_characters_at_the_end_only(end: int, found: int) -> None:
    gold = document("abcdefghij", (0, 4, "CITY"))
    assert evaluate_i2b2([(gold, document("abcdefghij", (0, end, "CITY")))])["Relaxed"].tp == found
    late_start = document("abcdefghij", (1, 4, "CITY"))
    assert evaluate_i2b2([(gold, late_start)])["Relaxed"].tp == 0


class TestSlips:
    def test_idnum_is_hipaa_unless_slips(self) -> None:
        note = document("id 12", (3, 5, "IDNUM"))
        assert evaluate_i2b2([(note, note)])["HIPAA Strict"].tp == 1
        assert evaluate_i2b2([(note, note)], slips=True)["HIPAA Strict"].tp == 0

    def test_accented_letter_belongs_to_its_token_unless_slips(self) -> None:
        gold, system = document("José", (0, 4, "PATIENT")), document("José", (0, 3, "PATIENT"))
        assert evaluate_i2b2([(gold, system)])["Token"].f1 == 0.0
        assert evaluate_i2b2([(gold, system)], slips=True)["Token"].f1 == 1.0

    def test_span_without_ascii_is_judged_by_its_extent_unless_slips(self) -> None:
        gold, system = document("李 明", (0, 3, "PATIENT")), document("李 明", (2, 3, "PATIENT"))
        correct = evaluate_i2b2([(gold, system)])["Token"]
        assert (correct.tp, correct.fp, correct.fn) == (1, 0, 1)
        slipped = evaluate_i2b2([(gold, system)], slips=True)["Token"]
        assert (slipped.tp, slipped.fp, slipped.fn) == (1, 0, 0)

    def test_empty_document_lowers_the_macro_average_only_with_slips(self) -> None:
        made = [(GOLD, GOLD), (document("nothing", identifier="2"), document("nothing", identifier="2"))]
        assert evaluate_i2b2(made)["Strict"].macro_f1 == 1.0
        assert evaluate_i2b2(made, slips=True)["Strict"].macro_f1 == 0.5
        assert evaluate_i2b2(made)["OTHER Strict"].macro_f1 == 0.0
        assert math.isnan(evaluate_i2b2(made, slips=True)["OTHER Strict"].macro_f1)

    def test_of_spans_with_near_ends_the_first_in_the_file_is_there_with_slips(self) -> None:
        def note(*ends: int) -> AnnotatedText:
            return AnnotatedText("1", "a" * 20, tuple(Annotation(0, end, "CITY") for end in ends))

        def relaxed(gold: AnnotatedText, system: AnnotatedText, slips: bool) -> tuple[int, int, int]:
            return counts(evaluate_i2b2([(gold, system)], slips=slips)["Relaxed"])

        assert relaxed(note(5, 6), note(5, 6), slips=False) == (2, 0, 0)
        assert relaxed(note(5, 6), note(5, 6), slips=True) == (1, 0, 0)
        # 8 is near 10 is near 12: the order decides how many spans there are.
        assert relaxed(note(8, 10, 12), note(), slips=True) == (0, 0, 2)
        assert relaxed(note(10, 8, 12), note(), slips=True) == (0, 0, 1)
        # One span between two of the other side: a hit on the side that has fewer, and no miss on the other.
        assert relaxed(note(8, 12), note(10), slips=True) == (1, 0, 0)
        assert relaxed(note(8, 12), note(10), slips=False) == (1, 0, 1)

    def test_name_and_case_of_a_tag_count_with_slips(self) -> None:
        def note(element: str, category: str) -> AnnotatedText:
            return AnnotatedText("1", "Lugo", (TaggedAnnotation(0, 4, category, element=element),))

        def hits(gold: AnnotatedText, system: AnnotatedText, slips: bool) -> dict[str, int]:
            return {label: scores.tp for label, scores in evaluate_i2b2([(gold, system)], slips=slips).items()}

        right, other = note("LOCATION", "CITY"), note("PHI", "CITY")
        assert (hits(right, other, False)["Strict"], hits(right, other, True)["Strict"]) == (1, 0)
        assert (hits(right, other, False)["Binary Strict"], hits(right, other, True)["Binary Strict"]) == (1, 0)
        assert (hits(right, other, False)["Binary Token"], hits(right, other, True)["Binary Token"]) == (1, 1)
        lower = hits(right, note("LOCATION", "city"), True)
        assert (lower["Strict"], lower["Relaxed"], lower["LOCATION Strict"]) == (1, 1, 1)
        assert (lower["Token"], lower["HIPAA Strict"], lower["LOCATION Token"]) == (0, 0, 0)
        with pytest.raises(EvaluationError, match="city"):
            hits(right, note("LOCATION", "city"), False)

    @settings(deadline=None)
    @given(pairs("aZ3é漢 ,"))
    def test_strict_blocks_of_all_types_count_the_same(self, made: list[tuple[Document, Document]]) -> None:
        correct, slipped = evaluate_i2b2(made), evaluate_i2b2(made, slips=True)
        for label in ("Strict", "Relaxed", "Binary Strict", "NAME Strict", "NAME HIPAA Strict", "ID Strict"):
            assert correct[label] == Scores(*counts(slipped[label]), correct[label].per_type)

    @settings(deadline=None)
    @given(pairs("aZ3", tuple(category for category in CATEGORIES if category != "IDNUM")))
    def test_nothing_differs_in_ascii_words_without_idnum(self, made: list[tuple[Document, Document]]) -> None:
        correct, slipped = evaluate_i2b2(made), evaluate_i2b2(made, slips=True)
        assert {label: counts(scores) for label, scores in correct.items()} == {
            label: counts(scores) for label, scores in slipped.items()
        }


def counts(scores: Scores) -> tuple[int, int, int]:
    return scores.tp, scores.fp, scores.fn


@settings(deadline=None)
@given(pairs(), st.booleans())
def test_perfect_system_scores_one(made: list[tuple[Document, Document]], slips: bool) -> None:
    for scores in evaluate_i2b2([(gold, gold) for gold, _ in made], slips=slips).values():
        assert (scores.fp, scores.fn) == (0, 0)
        assert scores.f1 == (1.0 if scores.tp else 0.0)


@settings(deadline=None)
@given(pairs(), st.booleans())
def test_swapping_the_sides_swaps_precision_and_recall(made: list[tuple[Document, Document]], slips: bool) -> None:
    there = evaluate_i2b2(made, slips=slips)
    back = evaluate_i2b2([(system, gold) for gold, system in made], slips=slips)
    for label, scores in there.items():
        assert counts(scores) == (back[label].tp, back[label].fn, back[label].fp), label
        assert scores.macro_precision == back[label].macro_recall


@settings(deadline=None)
@given(overlapping_pairs())
def test_swapping_sides_with_overlapping_spans(made: list[tuple[AnnotatedText, AnnotatedText]]) -> None:
    there, back = evaluate_i2b2(made), evaluate_i2b2([(system, gold) for gold, system in made])
    for label, scores in there.items():
        assert counts(scores) == (back[label].tp, back[label].fn, back[label].fp), label
    for scores in evaluate_i2b2([(gold, gold) for gold, _ in made]).values():
        assert (scores.fp, scores.fn) == (0, 0)


@settings(deadline=None)
@given(pairs(), st.data())
def test_losing_a_system_span_never_finds_more(made: list[tuple[Document, Document]], data: st.DataObject) -> None:
    before = evaluate_i2b2(made)
    index = data.draw(st.integers(0, len(made) - 1))
    gold, system = made[index]
    made[index] = (gold, Document(system.identifier, system.text, system.annotations[1:]))
    after = evaluate_i2b2(made)
    for label, scores in before.items():
        assert after[label].tp <= scores.tp, label
        assert after[label].fn >= scores.fn, label
        assert after[label].fp <= scores.fp, label


@settings(deadline=None)
@given(pairs())
def test_types_and_tag_names_add_up_to_the_whole(made: list[tuple[Document, Document]]) -> None:
    scores = evaluate_i2b2(made)
    for label in ("Token", "Strict"):
        for parts in (
            list(scores[label].per_type.values()),
            [scores[f"{name} {label}"] for name in GROUPS],
        ):
            columns = zip((0, 0, 0), *map(counts, parts), strict=True)
            assert tuple(sum(numbers) for numbers in columns) == counts(scores[label])


def test_order_of_annotations_and_documents_does_not_matter() -> None:
    other = Document(SYSTEM.identifier, TEXT, SYSTEM.annotations[::-1])
    second = document("x Bo", (2, 4, "DOCTOR"), identifier="2")
    forward = evaluate_i2b2(match_corpora([GOLD, second], [SYSTEM, second]))
    backward = evaluate_i2b2(match_corpora([second, GOLD], [other, second]))
    assert forward == backward


class TestCategories:
    def test_tables_are_the_official_lists(self) -> None:
        assert {name: sorted(types.split()) for name, types in GROUPS.items()} == {
            name: sorted(c for c, n in TAG_NAMES.items() if n == name) for name in GROUPS
        }
        assert sorted(README_HIPAA) == sorted(HIPAA_2014)

    @pytest.mark.parametrize("slips", [False, True])
    def test_unknown_category_is_refused_where_a_filter_would_have_to_guess(self, slips: bool) -> None:
        note = document("Ana", (0, 3, "NOMBRE"))
        with pytest.raises(EvaluationError, match="NOMBRE") as caught:
            evaluate_i2b2([(note, note)], slips=slips)
        assert "Ana" not in str(caught.value)
        with pytest.raises(EvaluationError):
            evaluate_i2b2([(note, note)], tag_names=None, slips=slips)
        with pytest.raises(EvaluationError):
            evaluate_i2b2([(note, note)], hipaa=None, slips=slips)
        assert set(evaluate_i2b2([(note, note)], hipaa=None, tag_names=None, slips=slips)) == {
            *("Token", "Strict", "Relaxed", "Binary Token", "Binary Strict"),
        }

    @pytest.mark.parametrize(
        "hipaa",
        [{"NOMBRE"}, {"NOMBRE": "NAME", "SEXO": ""}, lambda category: category == "NOMBRE"],
        ids=["set", "map", "function"],
    )
    def test_own_categories_with_own_hipaa_set(self, hipaa) -> None:  # type: ignore[no-untyped-def]
        note = document("Ana mujer", (0, 3, "NOMBRE"), (4, 9, "SEXO"))
        scores = evaluate_i2b2([(note, note)], hipaa=hipaa, tag_names={"NOMBRE": "NAME", "SEXO": "OTHER"})
        assert (scores["Strict"].tp, scores["HIPAA Strict"].tp, scores["OTHER Strict"].tp) == (2, 1, 1)
        assert scores["OTHER HIPAA Strict"].tp == 0

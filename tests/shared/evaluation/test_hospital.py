from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.document import AnnotatedText
from shared.evaluation import HospitalReport, clopper_pearson, evaluate_hospital
from shared.evaluation.hospital import Miss, Rate
from tests.shared.evaluation.cases import document, overlapping_pairs, pairs

TEXT = "Zoe Quiros, 12/03/2014, ward 7, ***"
GOLD = document(TEXT, (0, 10, "NAME"), (12, 22, "DATE"), (29, 30, "ROOM"), (32, 35, "OTHER"))


def test_report_worked_out_by_hand() -> None:
    # The name but for its last letter; the date without its slashes; "ward" instead of its number; two of three stars.
    date = [(12, 14, "AGE"), (15, 17, "AGE"), (18, 22, "AGE")]
    system = document(TEXT, (0, 9, "DOCTOR"), *date, (24, 28, "X"), (32, 34, "X"))
    quiet = document("all is well", identifier="2")
    report = evaluate_hospital([(GOLD, system), (quiet, quiet)])
    assert report.misses == (
        Miss("110-01", 0, 10, "NAME", 1, True),
        Miss("110-01", 29, 30, "ROOM", 1, False),
        Miss("110-01", 32, 35, "OTHER", 1, True),
    )
    assert report.missed_by_type == {"NAME": 1, "OTHER": 1, "ROOM": 1}
    assert report.documents_with_miss == Rate(1, 2)
    assert (report.leaked_characters, report.needless_characters) == (3, 4)
    name = report.per_type["NAME"]
    # "Zoe" is hidden altogether, "Quiros" is not; nine letters, the blank does not count.
    assert (name.spans, name.tokens, name.characters) == (Rate(0, 1), Rate(1, 2), Rate(8, 9))
    dates = report.per_type["DATE"]
    assert (dates.spans, dates.tokens, dates.characters) == (Rate(1, 1), Rate(3, 3), Rate(8, 8))
    assert report.recall.spans == Rate(1, 4)
    assert report.recall.tokens == Rate(1 + 3 + 0 + 2, 2 + 3 + 1 + 3)
    assert report.recall.characters == Rate(8 + 8 + 0 + 2, 9 + 8 + 1 + 3)


def test_wrong_type_and_wider_edges_leak_nothing() -> None:
    report = evaluate_hospital([(GOLD, document(TEXT, (0, len(TEXT), "X")))])
    assert report.misses == ()
    assert report.documents_with_miss == Rate(0, 1)
    assert report.recall.spans.value == report.recall.characters.value == 1.0
    assert report.needless_characters == len("ward")


def test_intervals_are_exact() -> None:
    report = evaluate_hospital([(GOLD, document(TEXT))])
    assert report.recall.spans.interval() == clopper_pearson(0, 4)
    assert report.documents_with_miss.interval() == clopper_pearson(1, 1)


def test_nothing_in_the_report_is_text() -> None:
    report = evaluate_hospital([(GOLD, document(TEXT))])
    assert isinstance(report, HospitalReport)
    assert not [word for word in ("Zoe", "Quiros", "2014", "***") if word in repr(report)]


@settings(deadline=None)
@given(st.one_of(pairs(), overlapping_pairs()))
def test_leaks_are_what_a_loop_over_characters_finds(made: list[tuple[AnnotatedText, AnnotatedText]]) -> None:
    report = evaluate_hospital(made)
    leaked = missed = needless = documents = 0
    for gold, system in made:
        clear = set(range(len(gold.text))).difference(*(range(a.start, a.end) for a in system.annotations))
        before, seen, real = missed, set(), set()
        for span in gold.annotations:
            inside = range(span.start, span.end)
            visible = [position for position in inside if gold.text[position].strip()]
            judged = [position for position in visible if gold.text[position].isalnum()] or visible or inside
            seen |= clear.intersection(judged)
            real |= set(inside)
            missed += bool(clear.intersection(judged))
        documents += missed > before
        leaked += len(seen)
        needless += sum(character.isalnum() for at, character in enumerate(gold.text) if at not in clear | real)
    assert report.needless_characters == needless
    assert report.leaked_characters == leaked
    assert len(report.misses) == sum(report.missed_by_type.values()) == missed
    assert report.documents_with_miss == Rate(documents, len(made))
    for rates in ("spans", "tokens", "characters"):
        total = getattr(report.recall, rates)
        parts = [getattr(recall, rates) for recall in report.per_type.values()]
        assert total == Rate(sum(part.hits for part in parts), sum(part.total for part in parts))
    assert evaluate_hospital([(gold, gold) for gold, _ in made]).leaked_characters == 0

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

from hypothesis import given, settings

from shared.document import Annotation, Document
from site_client.evaluating.lines import report_lines
from site_client.evaluating.misses import worst_misses
from site_client.evaluating.page import write_page
from tests.shared.evaluation.cases import pairs
from tests.site_client.evaluating.made import acceptance
from tests.tiny_notes import note, phi_strings, tiny_notes

PEOPLE = frozenset({"PATIENT"})


def test_the_worst_come_first_and_the_hidden_stays_hidden() -> None:
    gold = note(
        "a", "Seen ", ("May Flower", "PATIENT"), " in ", ("Toledo", "CITY"), " by Dr ", ("Ünal", "PATIENT"), "."
    )
    first, city, doctor = gold.annotations
    found = Document("a", gold.text, (Annotation(first.start, first.start + 3, "PATIENT"), Annotation(0, 4, "X")))
    misses, count = worst_misses([gold], [found], PEOPLE)
    assert count == 3
    assert [one.span for one in misses] == [doctor, city, first]
    (partial,) = [one for one in misses if one.in_part]
    assert partial.characters == len("Flower")
    assert partial.line(words=True).endswith("[X] [PATIENT]>> Flower<< in >>Toledo<< by Dr >>Ünal<<.")
    assert "Flower" not in partial.line(words=False) + repr(partial)
    assert "May" not in partial.line(words=True)


@settings(deadline=None)
@given(pairs())
def test_what_is_hidden_stands_nowhere_in_the_context(made: list[tuple[Document, Document]]) -> None:
    # Every character of a text its own, so that one that slips through is seen.
    gold, found = [], []
    for number, (one, other) in enumerate(made):
        text = "".join(chr(0xE000 + 100 * number + place) for place in range(len(one.text)))
        gold.append(Document(one.identifier, text, one.annotations))
        found.append(Document(one.identifier, text, other.annotations))
    misses, count = worst_misses(gold, found, PEOPLE)
    assert count == len(misses)
    hidden = {sign for one in found for span in one.annotations for sign in one.covered_text(span)}
    phi = {sign for one in gold for span in one.annotations for sign in one.covered_text(span)}
    for miss in misses:
        shown = {sign for piece in miss.pieces if not piece.hidden for sign in piece.text}
        assert not shown & hidden
        clear = {sign for piece in miss.pieces if piece.in_clear for sign in piece.text}
        assert clear <= phi - hidden
        assert clear
        plain = {sign for piece in miss.pieces if not piece.hidden and not piece.in_clear for sign in piece.text}
        assert not plain & phi


def test_only_so_many_are_kept_and_all_are_counted() -> None:
    gold = list(tiny_notes(30))
    bare = [Document(one.identifier, one.text) for one in gold]
    misses, count = worst_misses(gold, bare, PEOPLE, most=7)
    assert (len(misses), count) == (7, 150)
    assert {one.span.category for one in misses} == {"PATIENT"}


def test_a_long_entity_is_cut() -> None:
    gold = Document("a", "x" * 5000, (Annotation(100, 4000, "OTHER"),))
    (miss,), _ = worst_misses([gold], [Document("a", gold.text)], PEOPLE)
    assert sum(len(piece.text) for piece in miss.pieces) < 400


def test_words_are_on_the_page_alone_and_it_is_its_owners(tmp_path: Path) -> None:
    report = acceptance(40, 6)
    secrets = phi_strings(list(tiny_notes(40, 5, "made")))
    quiet = "\n".join(report_lines(report, words=False)) + json.dumps(report.as_json()) + repr(report)
    assert not [secret for secret in secrets if secret in quiet]
    path = write_page(report, tmp_path / "page.html")
    assert path.stat().st_mode & 0o777 == 0o600
    page = unescape(path.read_text())
    assert [secret for secret in secrets if secret in page]
    assert "This page holds PHI" in page
    hidden = [one for one in report.misses if not one.in_part]
    assert all(f"characters {one.span.start} to {one.span.end}" in page for one in hidden)


def test_a_page_without_a_miss_holds_no_phi_and_says_what_that_means(tmp_path: Path) -> None:
    page = unescape(write_page(acceptance(60, 0), tmp_path / "page.html").read_text())
    assert "holds PHI" not in page
    assert "does not say that there is none in others" in page
    assert "the promise of release 3 holds" in page


def test_the_page_fetches_nothing_and_believes_no_note(tmp_path: Path) -> None:
    evil = '<script src="https://example.org/x.js">alert(1)</script><img src=x onerror=a>\u202e</main>'
    notes = [note(f"n-{number}", "Seen by ", (evil, "DOCTOR"), f" on day {number}.") for number in range(12)]
    page = write_page(acceptance(notes=notes, every=2), tmp_path / "page.html").read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script" in page
    assert "default-src 'none'" in page
    assert not re.search(r"(?:src|href)=[\"']?http", page)
    assert page.count("</main>") == 1

"""`aggregator evaluate` on answers that overlap, that are missing, and with the slips of the official scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loop import done, provider, refused, values
from tests.shared.evaluation.official import CASES, Note, write_case


@pytest.fixture
def overlapping(tmp_path: Path) -> Path:
    """Folders gold and run with spans that overlap on both sides, inside their texts."""
    text = "Seen in Lugo by Zoe Oza"
    gold = ((8, 12, "LOCATION", "CITY"), (16, 23, "NAME", "DOCTOR"), (16, 19, "NAME", "DOCTOR"))
    system = ((8, 12, "LOCATION", "CITY"), (8, 15, "DATE", "DATE"), (16, 23, "NAME", "DOCTOR"))
    write_case(tmp_path / "case", (Note("300-01", text, gold, system),), "i2b2")
    return tmp_path / "case"


def sides(case: Path) -> tuple[object, ...]:
    return "--gold", case / "gold", "--system", case / "run"


@pytest.mark.parametrize("slips", [(), ("--official-slips",)])
def test_spans_may_overlap_on_both_sides(overlapping: Path, slips: tuple[str, ...]) -> None:
    found = values(provider("evaluate", *sides(overlapping), "--json", *slips))
    strict = found["blocks"]["i2b2 Strict"]
    assert (strict["tp"], strict["fp"], strict["fn"]) == (2, 1, 1)
    assert found["hospital"]["leaked_characters"] == 0
    assert found["hospital"]["needless_characters"] == 2
    assert found["slips"] is bool(slips)


def test_slips_take_offsets_that_lie_outside_the_text(tmp_path: Path) -> None:
    write_case(tmp_path / "case", CASES["overlaps"], "i2b2")
    shown = done(provider("evaluate", *sides(tmp_path / "case"), "--official-slips", "--all"))
    assert "i2b2 PROFESSION HIPAA Strict" in shown.stdout
    line = refused(provider("evaluate", *sides(tmp_path / "case")), 3, "207-01", "characters 47-53")
    assert "Zoe" not in line


@pytest.mark.parametrize("slips", [(), ("--official-slips",)])
def test_missing_system_documents_are_an_error(overlapping: Path, slips: tuple[str, ...]) -> None:
    (overlapping / "gold" / "300-02.xml").write_bytes((overlapping / "gold" / "300-01.xml").read_bytes())
    refused(provider("evaluate", *sides(overlapping), *slips), 7, "1 gold documents have no system document", "300-02")


def test_leak_counts_the_sentences_of_the_folder_given(overlapping: Path) -> None:
    folder = overlapping / "annotated_corpora" / "sentence_splitted"
    found = values(provider("evaluate", *sides(overlapping), "--json", "--sentences", folder))
    assert (found["sentences"], found["leak"]) == (3, 1 / 3)
    (folder / "300-01.ann").unlink()
    refused(provider("evaluate", *sides(overlapping), "--sentences", folder), 7, "300-01.ann")

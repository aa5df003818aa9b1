"""Our numbers beside those of the original scripts: as they once printed them, and anew where they are at hand."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest

from tests.shared.evaluation.official import (
    CASES,
    SCRIPTS,
    Rows,
    evaluated,
    official_rows,
    our_rows,
    random_case,
    write_case,
)

PRINTED = Path(__file__).with_name("official_numbers.tsv")


def printed(script: str, case: str) -> Rows:
    lines = (line.split("\t") for line in PRINTED.read_text().splitlines())
    return {label: tuple(numbers) for of, name, label, *numbers in lines if (of, name) == (script, case)}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("script", SCRIPTS)
def test_with_slips_every_number_is_what_the_original_printed(script: str, case: str, tmp_path: Path) -> None:
    write_case(tmp_path, CASES[case], script)
    rows = our_rows(evaluated(tmp_path, slips=True), script)
    assert rows == printed(script, case)
    assert len(rows) == (42 if script == "i2b2" else 3)


@pytest.mark.parametrize("script", SCRIPTS)
def test_without_slips_too_where_there_is_nothing_to_slip_on(script: str, tmp_path: Path) -> None:
    write_case(tmp_path, CASES["plain"], script)
    rows, official = our_rows(evaluated(tmp_path, slips=False), script), printed(script, "plain")
    if script == "i2b2":
        # Micro measures; a macro average leaves out the documents in which a block has nothing to measure.
        rows, official = (
            {label: row[1::2] for label, row in of.items()} | {"": of["Strict"]} for of in (rows, official)
        )
    else:
        # Merged spans are another measure without slips.
        rows, official = (dict(list(of.items())[:2]) for of in (rows, official))
    assert rows == official


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("script", SCRIPTS)
def test_the_original_still_prints_what_is_written_down(script: str, case: str, tmp_path: Path) -> None:
    write_case(tmp_path, CASES[case], script)
    assert official_rows(tmp_path, script) == printed(script, case)


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_original_prints_our_numbers_for_random_corpora(script: str, tmp_path: Path) -> None:
    dice = random.Random(script)
    for number in islice(range(1000), 12):
        folder = tmp_path / str(number)
        write_case(folder, random_case(dice), script)
        assert our_rows(evaluated(folder, slips=True), script) == official_rows(folder, script), number

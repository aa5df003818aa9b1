"""docs/formats/notes.md: every format stands there, and its example is found out and read as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shared.corpus import FORMAT_NAMES, read_corpus

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "formats" / "notes.md").read_text(encoding="utf-8")
TEXT = re.findall(r"The text is the same in all: `(.+)`", PAGE)[0]
EXAMPLES = re.findall(
    r"^`(\w+)`, (?:a\.txt as above, and )?(a\.\w+)[^`]*(?:`[^`\n]+`[^`]*)*?\n\n```\n(.*?)```",
    PAGE,
    re.DOTALL | re.MULTILINE,
)


def test_every_format_has_its_line() -> None:
    table = "".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`(\w+)`", table)) >= set(FORMAT_NAMES)
    assert {name for name, _, _ in EXAMPLES} | {"meddocan", "parquet"} == set(FORMAT_NAMES)


@pytest.mark.parametrize(("name", "file", "content"), EXAMPLES, ids=[name for name, _, _ in EXAMPLES])
def test_an_example_is_what_it_says(name: str, file: str, content: str, tmp_path: Path) -> None:
    if name in ("txt", "brat"):
        (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    if name != "txt":
        (tmp_path / file).write_text(content, encoding="utf-8")
    corpus = read_corpus(tmp_path)
    assert corpus.format == name
    [found] = corpus
    assert found.text in (TEXT, TEXT.replace(".", " ."))
    labelled = name not in ("txt", "csv", "fhir")
    assert found.labelled is labelled
    assert [found.covered_text(span) for span in found.annotations] == (["Ana Marchbanks"] if labelled else [])

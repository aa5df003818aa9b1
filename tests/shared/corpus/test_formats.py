"""What is particular to one format or another: countings, line ends, tag schemes, the lines that hold no span."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shared.corpus import read_corpus, write_corpus
from shared.document import Document
from tests.shared.corpus.bad_files import i2b2
from tests.shared.corpus.samples import essence, note
from tests.shared.corpus.test_round_trip import target


def shifted(document: Document, at: int, counting: str) -> int:
    before = document.text[:at]
    return len(before.encode("utf-16-le")) // 2 if counting == "utf-16" else at - before.count("\r\n")


@pytest.mark.parametrize("name", ["i2b2_2014", "brat", "jsonl", "labelstudio"])
@pytest.mark.parametrize("counting", ["utf-16", "lf"])
def test_other_countings_are_converted_where_the_quoted_text_proves_them(
    name: str, counting: str, tmp_path: Path
) -> None:
    before = "😀\r\n" if counting == "utf-16" else "a\r\n\r\n"
    document = note("x", before, ("Oxenthorpe", "PATIENT"), " 😀 ", ("Ana", "DOCTOR"))
    path = target(tmp_path, name)
    write_corpus([document], path, name)

    def shift(at: int) -> int:
        return shifted(document, at, counting)

    file = path if path.is_file() else next(file for file in path.iterdir() if file.suffix != ".txt")
    content = file.read_bytes().decode()
    for span in reversed(document.annotations):
        for old, new in (
            (f'"{span.start}" end="{span.end}"', f'"{shift(span.start)}" end="{shift(span.end)}"'),
            (f" {span.start} {span.end}\t", f" {shift(span.start)} {shift(span.end)}\t"),
            (f'"start": {span.start}, "end": {span.end}', f'"start": {shift(span.start)}, "end": {shift(span.end)}'),
        ):
            content = content.replace(old, new)
    assert content.encode() != file.read_bytes()
    file.write_bytes(content.encode())
    corpus = read_corpus(path)
    assert [essence(read) for read in corpus] == [essence(document)]
    assert sum(corpus.report.notes.values()) == 1


@pytest.mark.parametrize("counts_returns", [True, False])
def test_xml_with_line_ends_of_windows(counts_returns: bool, tmp_path: Path) -> None:
    """The standard reads CRLF as LF; offsets that count both are honoured, and the text then has both."""
    text = "Seen\r\nby\r\nAna\r\n"
    start = 10 if counts_returns else 8
    content = i2b2(text, (start, start + 3, "Ana")).replace("\n", "\r\n").replace("\r\r", "\r")
    (tmp_path / "x.xml").write_bytes(content.encode())
    [document] = read_corpus(tmp_path)
    assert document.text == (text if counts_returns else text.replace("\r\n", "\n"))
    assert document.covered_text(document.annotations[0]) == "Ana"


def test_brat_reads_over_line_ends_and_keeps_its_notes(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes("Ana\r\n Oxenthorpe, ñ".encode())
    (tmp_path / "x.ann").write_bytes(
        b"T1\tPATIENT 0 3;6 16\tAna Oxenthorpe\r\nA1\tNegated T1\r\nR1\tOf Arg1:T1 Arg2:T1\r\n"
        b"#1\tAnnotatorNotes T1\tsure\r\n*\tEquiv T1 T1\r\n"
    )
    corpus = read_corpus(tmp_path)
    [document] = corpus
    [span] = document.annotations
    assert (span.start, span.end, span.identifier, span.comment) == (0, 16, "T1", "sure")
    assert list(corpus.report.notes.values()) == [3]


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("B-A I-A O", [(0, 3, "A")]),
        ("I-A I-A O", [(0, 3, "A")]),
        ("I-A I-B B-B", [(0, 1, "A"), (2, 3, "B"), (4, 5, "B")]),
        ("B-A E-A S-A", [(0, 3, "A"), (4, 5, "A")]),
        ("B-A L-A U-A", [(0, 3, "A"), (4, 5, "A")]),
        ("O I-A I-A", [(2, 5, "A")]),
    ],
)
def test_tag_schemes_of_columns(tags: str, spans: list[tuple[int, int, str]], tmp_path: Path) -> None:
    lines = "\n".join(f"{token} X {tag}" for token, tag in zip("abc", tags.split(), strict=True))
    (tmp_path / "x.conll").write_text(f"-DOCSTART- -X- O\n\n{lines}\n\nd Y I-A\n\n\n-DOCSTART- -X- O\n\ne Z O\r\n")
    first, second = read_corpus(tmp_path)
    assert essence(first) == ("x-1", "a b c\nd", [*spans, (6, 7, "A")])
    assert essence(second) == ("x-2", "e", [])


def test_label_studio_passes_over_what_covers_no_text(tmp_path: Path) -> None:
    task = {
        "id": 3,
        "data": {"text": "Ana"},
        "annotations": [
            {"was_cancelled": True, "result": []},
            {
                "result": [
                    {"type": "choices", "value": {"choices": ["ok"]}},
                    {"type": "labels", "value": {"start": 0, "end": 3, "labels": ["A"]}},
                ]
            },
        ],
    }
    (tmp_path / "x.json").write_text(json.dumps([task]))
    corpus = read_corpus(tmp_path)
    assert [essence(document) for document in corpus] == [("3", "Ana", [(0, 3, "A")])]
    assert sum(corpus.report.notes.values()) == 2


def test_doccano_in_its_newer_shape(tmp_path: Path) -> None:
    record = {
        "id": 3,
        "text": "Ana",
        "entities": [{"id": 9, "label": "A", "start_offset": 0, "end_offset": 3}],
        "relations": [],
    }
    (tmp_path / "x.jsonl").write_text(json.dumps(record))
    assert [essence(document) for document in read_corpus(tmp_path)] == [("3", "Ana", [(0, 3, "A")])]

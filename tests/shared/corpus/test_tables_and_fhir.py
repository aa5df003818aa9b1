"""Tables and FHIR resources out as they came, text aside; notes that are no UTF-8; files that nothing here reads."""

from __future__ import annotations

import base64
import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import notes_options
from shared.corpus import read_corpus, rewrite_corpus
from shared.corpus.parsing import decoding
from shared.errors import FormatError


def through(path: Path, out: Path, **options: Any) -> list[str]:
    """The texts of a corpus, and its files written again with each text in capitals."""
    corpus = read_corpus(path, **options)
    found = list(corpus)
    rewrite_corpus((replace(one, text=one.text.upper()) for one in found), corpus.reader, out)
    return [one.text for one in found]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_keeps_columns_delimiter_and_line_ends(
    delimiter: str, line_end: str, mark: str, tmp_path: Path
) -> None:
    rows = [["ward", "text", "id"], ["3b", f'Seen "by"{delimiter} Ana\nagain', "n-1"], ["", "", "n-2"], ["4", "x", ""]]
    path = tmp_path / "in.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write(mark)
        csv.writer(stream, delimiter=delimiter, lineterminator=line_end).writerows(rows)
    assert through(path, tmp_path / "out") == [row[1] for row in rows[1:]]
    written = (tmp_path / "out" / "in.csv").read_bytes().decode()
    assert written == path.read_bytes().decode().replace(
        rows[1][1].replace('"', '""'), rows[1][1].upper().replace('"', '""')
    ).replace("x", "X").replace("teXt", "text")


def test_a_compressed_table_in_a_folder_of_folders(tmp_path: Path) -> None:
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "in" / "a" / "x.csv.gz").write_bytes(gzip.compress(b"text,ward\nana,3\n"))
    assert through(tmp_path / "in", tmp_path / "out") == ["ana"]
    assert gzip.decompress((tmp_path / "out" / "a" / "x.csv.gz").read_bytes()) == b"text,ward\nANA,3\n"


def test_a_bad_row_is_left_out_and_set_aside(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"text,ward\nana,3\nb\xff,4\nc,5\none,two,three\nd,6\n")
    assert through(tmp_path / "in.csv", tmp_path / "out", quarantine=tmp_path / "aside") == ["ana", "c"]
    assert (tmp_path / "out" / "in.csv").read_bytes() == b"text,ward\nANA,3\nC,5\n"
    assert (tmp_path / "aside" / "000001.csv").read_bytes() == b"text,ward\r\nb\xff,4\r\n"
    assert (tmp_path / "aside" / "000002.csv").read_bytes() == b"one,two,three\nd,6\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_carriage_return_in_a_cell_breaks_no_row(line_end: str, tmp_path: Path) -> None:
    content = f'text,"wa\rrd"{line_end}"A\rB","3\rb"{line_end}C,5{line_end}'.encode()
    (tmp_path / "in.csv").write_bytes(content)
    assert through(tmp_path / "in.csv", tmp_path / "out") == ["A\rB", "C"]
    assert (tmp_path / "out" / "in.csv").read_bytes() == content
    assert through(tmp_path / "out", tmp_path / "again") == ["A\rB", "C"]


@pytest.mark.parametrize("name", ["in.csv", "in.tsv"])
@pytest.mark.parametrize("content", [b"text\tward\rBrunhilda\t4\r", b"ward\rBrunhilda\rtext,x"])
def test_a_table_with_carriage_returns_alone_says_so(content: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(content)
    with pytest.raises(FormatError, match="rows that end in line feeds, got carriage returns alone") as caught:
        list(read_corpus(tmp_path / "in"))
    assert "Brunhilda" not in str(caught.value)
    (tmp_path / "in" / f"other.{name}").write_bytes(b"text\tward\nana\t3\n")
    assert through(tmp_path / "in", tmp_path / "out", quarantine=tmp_path / "aside") == ["ana"]


def test_parquet_keeps_columns_types_and_nulls(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([7, 8, 9]),
            "text": pa.array(["ana", None, ""]),
            "seen": pa.array([1, None, 3], pa.timestamp("s")),
            "tags": pa.array([["a"], [], None], pa.list_(pa.string())),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    assert through(tmp_path / "in.parquet", tmp_path / "out") == ["ana", "", ""]
    corpus = read_corpus(tmp_path / "in.parquet")
    assert [one.identifier for one in corpus] == ["7", "8", "9"]
    assert corpus.reader.untouched(next(iter(corpus))) == ["id", "seen", "tags"]
    written = pq.read_table(tmp_path / "out" / "in.parquet")
    given = pq.read_table(tmp_path / "in.parquet")
    assert written.drop_columns("text").equals(given.drop_columns("text"))
    assert written.column("text").to_pylist() == ["ANA", None, ""]


def test_what_was_written_about_a_parquet_file_and_its_columns_stays_behind(tmp_path: Path) -> None:
    told = {"pandas": '{"attributes": {"who": "Quillfeather"}}', "by": "Quillfeather"}
    inner = pa.field("ward", pa.string(), metadata={"who": "Quillfeather"})
    items = pa.list_(pa.field("item", pa.struct([inner]), metadata={"who": "Quillfeather"}))
    schema = pa.schema(
        [
            pa.field("text", pa.string(), metadata={"who": "Quillfeather"}),
            pa.field("stays", items),
            pa.field("kinds", pa.map_(pa.string(), pa.field("value", pa.int8(), metadata={"who": "Quillfeather"}))),
            pa.field("beds", pa.dictionary(pa.int8(), pa.string()), metadata={"who": "Quillfeather"}),
            pa.field("key", pa.uuid()),
            pa.field("shape", pa.opaque(pa.binary(), "Quillfeather", "Quillfeather")),
        ],
        metadata=told,
    )
    values = [["ana"], [[{"ward": "3b"}]], [[("a", 1)]], ["4"], [bytes(16)], [b"x"]]
    arrays = [
        pa.ExtensionArray.from_storage(field.type, pa.array(value, field.type.storage_type))
        if isinstance(field.type, pa.BaseExtensionType)
        else pa.array(value, field.type)
        for field, value in zip(schema, values, strict=True)
    ]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), tmp_path / "in.parquet")
    assert b"Quillfeather" in (tmp_path / "in.parquet").read_bytes()
    assert through(tmp_path / "in.parquet", tmp_path / "out") == ["ana"]
    assert b"Quillfeather" not in (tmp_path / "out" / "in.parquet").read_bytes()
    written = pq.ParquetFile(tmp_path / "out" / "in.parquet")
    assert set(written.metadata.metadata or {}) <= {b"ARROW:schema"}
    assert b"Quillfeather" not in base64.b64decode((written.metadata.metadata or {}).get(b"ARROW:schema", b""))
    assert not written.schema_arrow.metadata
    assert written.schema_arrow.types[:5] == schema.types[:5]
    assert written.read().column("stays").to_pylist() == values[1]


def test_a_table_without_its_column_says_so(tmp_path: Path) -> None:
    pq.write_table(pa.table({"note": ["Brunhilda"], "text": [3]}), tmp_path / "in.parquet")
    with pytest.raises(FormatError, match="another type; name the column by --text-column"):
        list(read_corpus(tmp_path / "in.parquet"))
    assert through(tmp_path / "in.parquet", tmp_path / "out", text_column="note") == ["Brunhilda"]
    (tmp_path / "in.parquet").write_bytes((tmp_path / "in.parquet").read_bytes()[:-9])
    with pytest.raises(FormatError, match="a whole Parquet file") as caught:
        list(read_corpus(tmp_path / "in.parquet"))
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("names", [["id", "id", "text"], ["Brunhilda", "Brunhilda", "text"]])
def test_a_parquet_file_with_two_columns_of_one_name_is_refused_or_set_aside(names: list[str], tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    arrays = [pa.array([value]) for value in ("1", "2", "ana")]
    pq.write_table(pa.Table.from_arrays(arrays, names=names), tmp_path / "in" / "a.parquet")
    pq.write_table(pa.table({"text": ["bob"]}), tmp_path / "in" / "b.parquet")
    with pytest.raises(FormatError, match="each column once") as caught:
        list(read_corpus(tmp_path / "in"))
    assert "Brunhilda" not in str(caught.value)
    assert [one.text for one in read_corpus(tmp_path / "in", quarantine=tmp_path / "aside")] == ["bob"]


def attachment(text: str, kind: str = "text/plain", charset: str = "utf-8") -> dict[str, str]:
    return {"contentType": kind, "data": base64.b64encode(text.encode(charset)).decode()}


def document(identifier: str, *attachments: object) -> dict[str, Any]:
    return {
        "resourceType": "DocumentReference",
        "id": identifier,
        "status": "current",
        "type": {"coding": [{"system": "http://loinc.org", "code": "11506-3", "display": "Brunhilda"}], "text": "Ana"},
        "subject": {"reference": "Patient/4711", "display": "Ana Quillfeather"},
        "text": {"status": "generated", "div": "<div>Ana Quillfeather</div>"},
        "content": [{"attachment": one} for one in attachments],
    }


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def test_fhir_in_and_out(tmp_path: Path) -> None:
    report = {"resourceType": "DiagnosticReport", "id": "r-1", "status": "final", "conclusion": "señora"}
    path = lines(
        tmp_path / "in.ndjson",
        document("d-1", attachment("mañana"), attachment("%PDF", "application/pdf")),
        document("d-2", attachment("mañana", "text/plain; charset=iso-8859-1", "latin-1")),
        report,
        {**report, "id": "r-2", "presentedForm": [attachment("ana")]},
    )
    assert through(path, tmp_path / "out") == ["mañana", "mañana", "señora", "ana"]
    corpus = read_corpus(path)
    assert [one.identifier for one in corpus] == ["d-1", "d-2", "r-1", "r-2"]
    assert sum(corpus.report.notes.values()) == 2
    written = (tmp_path / "out" / "in.ndjson").read_text(encoding="utf-8")
    assert "Quillfeather" not in written
    assert "Ana" not in written
    assert "Brunhilda" not in written
    first, _, third, fourth = map(json.loads, written.splitlines())
    assert first["type"] == {"coding": [{"system": "http://loinc.org", "code": "11506-3"}]}
    assert (first["id"], first["status"], third["conclusion"]) == ("d-1", "current", "SEÑORA")
    assert base64.b64decode(first["content"][0]["attachment"]["data"]).decode() == "MAÑANA"
    assert base64.b64decode(fourth["presentedForm"][0]["data"]) == b"ANA"
    assert [one.text for one in read_corpus(tmp_path / "out")] == ["MAÑANA", "MAÑANA", "SEÑORA", "ANA"]


def test_of_a_resource_only_words_and_codes_of_public_lists_come_out(tmp_path: Path) -> None:
    loinc = {"system": "http://loinc.org", "code": "11506-3"}
    strange: dict[str, Any] = {
        "status": "seen by Quillfeather",
        "docStatus": "Quillfeather",
        "type": {
            "coding": [
                {"system": "http://loinc.org", "code": "Quillfeather"},
                {"system": "http://quillfeather.example", "code": "11506-3"},
                {"system": "http://loinc.org/Quillfeather", "code": "11506-3"},
                {"code": "11506-3"},
                {"system": "http://loinc.org"},
            ]
        },
        "category": [{"coding": [{"system": "http://snomed.info/sct", "code": "123456 Quillfeather"}]}],
    }
    good = {"status": "superseded", "docStatus": "amended", "category": [{"coding": [loinc]}]}
    report = {
        "resourceType": "DiagnosticReport",
        "conclusion": "x",
        "status": "superseded",
        "code": {"coding": [loinc]},
    }
    path = lines(
        tmp_path / "in.ndjson",
        {**document("d-1", attachment("a")), **strange},
        {**document("d-2", attachment("b")), **good},
        {**report, "id": "r-1"},
        {**report, "id": "r-2", "status": "corrected"},
        {**report, "id": "r-3", "status": "final", "docStatus": "final"},
    )
    through(path, tmp_path / "out")
    written = (tmp_path / "out" / "in.ndjson").read_text(encoding="utf-8")
    assert "uillfeather" not in written
    first, second, *reports = map(json.loads, written.splitlines())
    assert first.keys() == {"resourceType", "id", "content"}
    assert second["category"] == [{"coding": [loinc]}]
    assert (second["status"], second["docStatus"]) == ("superseded", "amended")
    assert [one.get("status") for one in reports] == [None, "corrected", "final"]
    assert all("docStatus" not in one for one in reports)
    assert reports[0]["code"] == {"coding": [loinc]}


def test_the_id_of_a_resource_is_named_among_what_is_not_de_identified(tmp_path: Path) -> None:
    numbered = {**document("", attachment("b")), "id": 7}
    corpus = read_corpus(lines(tmp_path / "in.ndjson", document("d-1", attachment("a")), numbered))
    assert [corpus.reader.untouched(one) for one in corpus] == [["id"], []]


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"resourceType": "Patient", "id": "Ana"}, "another resource"),
        (document("a"), "text/plain, got none"),
        (document("a", attachment("x", "application/pdf")), "text/plain, got none"),
        (document("a", attachment("x"), attachment("y")), "got 2"),
        (document("a", {"contentType": "text/plain", "url": "http://x"}), "an address"),
        (document("a", {"contentType": "text/plain", "data": "?"}), "base64"),
        (document("a", attachment("x", "text/plain; charset=koi8-r")), "charset"),
        (document("a", {"contentType": "text/plain", "data": "8Q=="}), "UTF-8"),
        (document("a", 3), "attachments"),
        ({"resourceType": "DiagnosticReport", "presentedForm": 3}, "a list"),
    ],
)
def test_what_a_resource_can_not_be(record: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=says):
        list(read_corpus(lines(tmp_path / "in.ndjson", record)))


XML = """{declared}<MEDDOCAN><TEXT><![CDATA[Señora Núñez]]></TEXT>
<TAGS><NAME id="T1" start="7" end="12" text="Núñez" TYPE="NOMBRE_SUJETO_ASISTENCIA" comment=""/></TAGS></MEDDOCAN>
"""


@pytest.mark.parametrize("depth", [2, 900])
def test_lists_within_lists_hold_no_codes(depth: int, tmp_path: Path) -> None:
    nested = "[" * depth + "]" * depth
    record = json.dumps(document("a", attachment("Ana")))
    (tmp_path / "in.ndjson").write_text(f'{record[:-1]}, "category": {nested}}}\n')
    assert through(tmp_path / "in.ndjson", tmp_path / "out") == ["Ana"]
    assert "category" not in json.loads((tmp_path / "out" / "in.ndjson").read_text())


@pytest.mark.parametrize(
    "declared",
    [
        "",
        "<?xml version='1.0'?>",
        '<?xml version="1.0" encoding="ISO-8859-1" ?>\n',
        "<?xml version='1.0' encoding = 'windows-1252' standalone='yes'?>",
    ],
)
def test_xml_is_read_as_it_is_said_to_be_whatever_it_declares(declared: str, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(XML.format(declared=declared).encode("latin-1"))
    [note] = read_corpus(tmp_path, encoding="iso-8859-1")
    assert note.text == "Señora Núñez"
    assert [note.covered_text(span) for span in note.annotations] == ["Núñez"]


def test_xml_in_utf8_that_declares_another_encoding_is_refused(tmp_path: Path) -> None:
    """Which of the two is right nobody can say."""
    (tmp_path / "a.xml").write_text(
        XML.format(declared='<?xml version="1.0" encoding="ISO-8859-1"?>'), encoding="utf-8"
    )
    with pytest.raises(FormatError, match="declares another encoding"):
        list(read_corpus(tmp_path, encoding="iso-8859-1"))


@pytest.mark.parametrize("encoding", ["windows-1252", "iso-8859-15"])
def test_notes_that_are_no_utf8_are_read_as_they_are_said_to_be(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Señora, 20 €".encode(encoding))
    (tmp_path / "b.txt").write_bytes("Señora, 20 €".encode())
    corpus = read_corpus(tmp_path, encoding=encoding)
    assert {one.text for one in corpus} == {"Señora, 20 €"}
    assert f"read as {encoding}: 1" in str(corpus.report)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("Señora".encode("latin-1"), "looks like Windows-1252: repeat with --encoding windows-1252"),
        ("20 € – “ja”".encode("cp1252"), "looks like Windows-1252"),
        (b"\x81\x8d\xfe\xff", "name what it is in by --encoding"),
    ],
)
def test_the_encoding_that_a_note_looks_like_is_named(data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(FormatError, match=says):
        list(read_corpus(tmp_path))
    (tmp_path / "b.csv").write_bytes(b"text\n" + data)
    with pytest.raises(FormatError, match=says):
        list(read_corpus(tmp_path / "b.csv"))


def test_records_are_recognised_where_none_is_utf8(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes('{"text": "ñandú"}\n{"text": "Núñez"}\n'.encode("windows-1252"))
    corpus = read_corpus(tmp_path / "in.jsonl", encoding="windows-1252")
    assert [one.text for one in corpus] == ["ñandú", "Núñez"]


def test_the_only_record_is_recognised_behind_a_mark(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('\ufeff{"text": "ñandú"}\n', encoding="utf-8")
    assert [one.text for one in read_corpus(tmp_path / "in.jsonl")] == ["ñandú"]


ROWS = (("id", "observación", "médico"), ("1", "ñandú", "Núñez"), ("2", "plain", "Lopez"))


@pytest.mark.parametrize("name", ["in.csv", "in.tsv"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    "encodings",
    [
        ("utf-8", "windows-1252", "utf-8"),
        ("windows-1252", "utf-8", "windows-1252"),
        ("windows-1252", "windows-1252", "windows-1252"),
        ("utf-8", "utf-8", "utf-8"),
    ],
)
def test_the_header_and_each_row_of_a_table_are_read_as_they_are(
    encodings: tuple[str, ...], mark: str, name: str, tmp_path: Path
) -> None:
    lines = [("\t".join(row) + "\n").encode(encoding) for row, encoding in zip(ROWS, encodings, strict=True)]
    path = tmp_path / name
    path.write_bytes(mark.encode() + b"".join(lines))
    options = {"encoding": "windows-1252", "text_column": "observación"}
    assert through(path, tmp_path / "out", **options) == ["ñandú", "plain"]
    corpus = read_corpus(path, encoding="windows-1252", text_column="observación")
    assert [one.identifier for one in corpus] == ["1", "2"]
    assert corpus.reader.untouched(next(iter(corpus))) == ["id", "médico"]
    expected = "id\tobservación\tmédico\n1\tÑANDÚ\tNúñez\n2\tPLAIN\tLopez\n"
    assert (tmp_path / "out" / name).read_bytes().decode() == mark + expected


@pytest.mark.parametrize("name", ["in.csv", "in.tsv"])
def test_a_table_whose_column_is_no_utf8_says_what_it_looks_like(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes("id\tobservación\n1\tBrunhilda\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"looks like Windows-1252: repeat with --encoding windows-1252") as caught:
        list(read_corpus(tmp_path / name, text_column="observación"))
    assert "Brunhilda" not in str(caught.value)


def test_a_row_that_is_set_aside_is_as_it_came_whatever_it_is_said_to_be(tmp_path: Path) -> None:
    content = "id,text,médico\r\n1,a\0b,Núñez\r\n".encode("windows-1252")
    (tmp_path / "in.csv").write_bytes(content + b"2,b,\r\n")
    found = list(read_corpus(tmp_path / "in.csv", encoding="windows-1252", quarantine=tmp_path / "aside"))
    assert [one.text for one in found] == ["b"]
    assert (tmp_path / "aside" / "000001.csv").read_bytes() == content


def test_the_words_of_the_option_are_those_of_the_reader() -> None:
    assert notes_options.ENCODINGS == decoding.ENCODINGS


def test_stray_files_are_all_named_and_set_aside(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("Ana")
    for name in ("b.docx", "c.pdf", "d.rtf", "e"):
        (notes / name).write_bytes(b"PK\0")
    with pytest.raises(FormatError, match=r"4 files of other kinds: b\.docx, c\.pdf, d\.rtf, e; save") as caught:
        read_corpus(notes)
    assert "--quarantine" in str(caught.value)
    corpus = read_corpus(notes, quarantine=tmp_path / "aside")
    assert [one.text for one in corpus] == ["Ana"]
    assert corpus.report.quarantined == 4
    assert (tmp_path / "aside" / "000001.docx").read_bytes() == b"PK\0"
    # Named as text, they are no less likely to be notes.
    with pytest.raises(FormatError, match="3 files of other kinds"):
        read_corpus(notes, format="txt")
    for name in ("b.docx", "c.pdf"):
        with pytest.raises(FormatError, match="a file of another kind"):
            read_corpus(notes / name, format="txt")

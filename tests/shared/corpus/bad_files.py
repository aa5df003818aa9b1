"""Files that are wrong in one way each, with the error and the words that its line must hold."""

# One case a line: a table reads better than what it would be folded to.

from __future__ import annotations

import gzip
import json

from shared.errors import AnnotationError, CorpusError, FormatError

I2B2 = '<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{tags}</TAGS>\n</deIdi2b2>\n'
TAG = '<NAME id="P0" start="{}" end="{}" text="{}" TYPE="PATIENT" comment="" />\n'
RECORDS = '<?xml version="1.0"?>\n<ROOT>\n{}</ROOT>\n'
RECORD = '<RECORD ID="1">\n<TEXT>{}</TEXT>\n</RECORD>\n'


def i2b2(text: str, *tags: tuple[int, int, str]) -> str:
    return I2B2.format(text=text, tags="".join(TAG.format(*tag) for tag in tags))


def jsonl(text: str, *spans: tuple[object, ...]) -> str:
    return json.dumps(
        {
            "id": "x",
            "text": text,
            "annotations": [dict(zip(("start", "end", "category", "text"), span, strict=False)) for span in spans],
        }
    )


# name of the case: file, content, error, what its line must say.
CASES: dict[str, tuple[str, str | bytes, type[CorpusError], str]] = {
    "xml cut short": ("x.xml", i2b2("Ana")[:-20], FormatError, "well-formed"),
    "xml with a bare ampersand": (
        "x.xml",
        "<deIdi2b2><TEXT>a & b</TEXT><TAGS/></deIdi2b2>",
        FormatError,
        "line 1, column",
    ),
    "xml without tags": ("x.xml", "<deIdi2b2><TEXT>a</TEXT></deIdi2b2>", FormatError, "TAGS"),
    "xml with text outside": ("x.xml", "<deIdi2b2>a<TEXT>a</TEXT><TAGS/></deIdi2b2>", FormatError, "elsewhere"),
    "xml with markup in the text": (
        "x.xml",
        "<deIdi2b2><TEXT>a<b/></TEXT><TAGS/></deIdi2b2>",
        FormatError,
        "another element",
    ),
    "xml in Latin-1": ("x.xml", i2b2("Mu\u00f1oz").encode("latin-1"), FormatError, "byte 0xF1 at byte 68"),
    "xml that says Latin-1": (
        "x.xml",
        i2b2("Mu\u00f1oz").replace("UTF-8", "ISO-8859-1"),
        FormatError,
        "declares another encoding",
    ),
    "xml in UTF-16": ("x.xml", i2b2("Ana").encode("utf-16"), FormatError, "known kind"),
    "xml with an entity bomb": (
        "x.xml",
        '<!DOCTYPE deIdi2b2 [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><deIdi2b2><TEXT>&b;</TEXT><TAGS/></deIdi2b2>',
        FormatError,
        "declared entities",
    ),
    "xml with an outer entity": (
        "x.xml",
        '<!DOCTYPE deIdi2b2 [<!ENTITY a SYSTEM "file:///etc/passwd">]><deIdi2b2><TEXT>&a;</TEXT><TAGS/></deIdi2b2>',
        FormatError,
        "declared entities",
    ),
    "xml, offset beside its text": ("x.xml", i2b2("I am Ana", (4, 7, "Ana")), AnnotationError, "characters 4-7"),
    "xml, offset beyond the text": ("x.xml", i2b2("I am Ana", (5, 99, "Ana")), AnnotationError, "characters 5-99"),
    "xml, offset that is no number": (
        "x.xml",
        i2b2("I am Ana").replace("</TAGS>", '<NAME start="Ana" end="8" TYPE="A"/></TAGS>'),
        FormatError,
        "tag 1",
    ),
    "xml, empty span": ("x.xml", i2b2("I am Ana", (5, 5, "")), AnnotationError, "characters 5-5"),
    "xml, no type": ("x.xml", i2b2("I am Ana", (5, 8, "Ana")).replace(" TYPE=", " KIND="), AnnotationError, "TYPE"),
    "xml, crossing spans": ("x.xml", i2b2("I am Ana B", (5, 8, "Ana"), (7, 10, "a B")), AnnotationError, "overlap"),
    "xml, nested spans": ("x.xml", i2b2("I am Ana B", (5, 10, "Ana B"), (5, 8, "Ana")), AnnotationError, "overlap"),
    "xml, carriage returns and no text": (
        "x.xml",
        i2b2("I\r\nam Ana", (6, 9, "")).replace('text=""', ""),
        AnnotationError,
        "text attributes",
    ),
    "records cut short": ("x.xml", RECORDS.format(RECORD.format("a"))[:-8], FormatError, "</ROOT>"),
    "records, text between": ("x.xml", RECORDS.format("a" + RECORD.format("a")), FormatError, "between"),
    "records, malformed": ("x.xml", RECORDS.format(RECORD.format("a <PHI TYPE='A'>b")), FormatError, "record 1"),
    "records, no end tag": (
        "x.xml",
        RECORDS.format(RECORD.format("a").replace("</RECORD>", "") + RECORD.format("b")),
        FormatError,
        "record 1",
    ),
    "records, nested span": (
        "x.xml",
        RECORDS.format(RECORD.format("<PHI TYPE='A'>b<PHI TYPE='B'>c</PHI></PHI>")),
        AnnotationError,
        "nested",
    ),
    "records, empty span": (
        "x.xml",
        RECORDS.format(RECORD.format("a<PHI TYPE='A'></PHI>")),
        AnnotationError,
        "characters 1-1",
    ),
    "records, no type": ("x.xml", RECORDS.format(RECORD.format("<PHI>b</PHI>")), AnnotationError, "TYPE"),
    "records, entity": (
        "x.xml",
        "<!DOCTYPE ROOT [<!ENTITY a 'b'>]>" + RECORDS.format(RECORD.format("&a;")),
        FormatError,
        "document type",
    ),
    "records, none": ("x.xml", RECORDS.format(""), FormatError, "at least one"),
    "text in Latin-1": (
        "x.txt",
        "Mu\u00f1oz".encode("latin-1"),
        FormatError,
        "x, x.txt: expected UTF-8, got byte 0xF1 at byte 2",
    ),
    "text in Latin-1 behind a mark": ("x.txt", b"\xef\xbb\xbfMu\xf1oz", FormatError, "byte 0xF1 at byte 5"),
    "text in UTF-16": ("x.txt", "Ana".encode("utf-16"), FormatError, "UTF-16"),
    "text with NUL": ("x.txt", "An\0a", FormatError, "NUL"),
    "json, not json": ("x.jsonl", '{"id": "x", "text": "a"}\n{"id": "y", "text": a}', FormatError, "line 2"),
    "json, wrong kind": ("x.jsonl", '{"id": "x", "text": "a"}\n3', FormatError, "object"),
    "json, labels twice": (
        "x.jsonl",
        jsonl("I am Ana", (5, 8, "A")) + "\n" + jsonl("I am Ana", (5, 8, "A"))[:-1] + ', "annotations": []}',
        FormatError,
        "x-2, x.jsonl, line 2",
    ),
    "json, key twice in the first record": (
        "x.jsonl",
        '{"text": "I am Ana", "annotations": [{"start": 5, "end": 8, "category": "A"}], "annotations": []}',
        FormatError,
        "each key of an object once",
    ),
    "json, key twice within": (
        "x.jsonl",
        '{"text": "a"}\n{"text": "I am Ana", "annotations": [{"start": 0, "end": 8, "start": 5, "category": "A"}]}',
        FormatError,
        "each key of an object once",
    ),
    "json, key twice by escape": (
        "x.jsonl",
        '{"text": "a"}\n{"text": "I am Ana", "t\\u0065xt": "a"}',
        FormatError,
        "each key of an object once",
    ),
    "json, NUL by escape": ("x.jsonl", '{"id": "x", "text": "a\\u0000"}', FormatError, "NUL"),
    "json, half a pair": (
        "x.jsonl",
        '{"id": "x", "text": "a"}\n{"id": "y", "text": "a\\ud83d"}',
        FormatError,
        "surrogate",
    ),
    "json, half a pair in every record": (
        "x.jsonl",
        '{"id": "a", "text": "Jorge \\ud83d Schaefer"}\n{"id": "y", "text": "\\ude00"}',
        FormatError,
        "got half of a surrogate pair",
    ),
    "json, half a pair in the only record of an array": (
        "x.json",
        '[{"id": "a", "text": "Jorge \\ud83d Schaefer"}]',
        FormatError,
        "got half of a surrogate pair",
    ),
    "json, Latin-1 in every record": (
        "x.jsonl",
        '{"text": "\u00f1"}\n{"text": "\u00ed"}'.encode("latin-1"),
        FormatError,
        "it looks like Windows-1252",
    ),
    "json, NUL in every record": ("x.jsonl", '{"text": "a\0"}', FormatError, "NUL"),
    "json, Latin-1": ("x.jsonl", '{"text": "a"}\n{"text": "\u00f1"}'.encode("latin-1"), FormatError, "line 2"),
    "json, text missing": ("x.jsonl", '{"id": "x", "text": "a"}\n{"id": "y"}', FormatError, "x-2, x.jsonl, line 2"),
    "json, id that is a list": ("x.jsonl", '{"id": ["x"], "text": "a"}', FormatError, "id to be"),
    "json, id with a line end": ("x.jsonl", '{"id": "x\\ny", "text": "a"}', FormatError, "printed"),
    "json, spans of another tool": ("x.jsonl", '{"id": "x", "text": "a", "tags": []}', FormatError, "'tags'"),
    "json, fraction": ("x.jsonl", jsonl("I am Ana", (5.5, 8, "A")), FormatError, "span 1"),
    "json, negative": ("x.jsonl", jsonl("I am Ana", (-3, 8, "A")), FormatError, "span 1"),
    "json, truth for a number": ("x.jsonl", jsonl("I am Ana", (True, 8, "A")), FormatError, "span 1"),
    "json, reversed": ("x.jsonl", jsonl("I am Ana", (8, 5, "A")), AnnotationError, "characters 8-5"),
    "json, wrong text": ("x.jsonl", jsonl("I am Ana", (4, 7, "A", "Ana")), AnnotationError, "characters 4-7"),
    "json, empty label": ("x.jsonl", jsonl("I am Ana", (5, 8, " ")), AnnotationError, "label"),
    "json, overlap": ("x.jsonl", jsonl("I am Ana", (4, 7, "A"), (6, 8, "B")), AnnotationError, "overlap"),
    "json, deep": ("x.jsonl", '{"text": "a"}\n' + "[" * 100_000 + "]" * 100_000, FormatError, "line 2"),
    "array cut short": ("x.json", '[{"id": "x", "text": "a"}', FormatError, "after record 1"),
    "array cut in a string": ("x.json", '[{"id": "x", "text": "a"}, {"id": "y', FormatError, "after record 1"),
    "array of others": ("x.json", '[{"id": "x", "text": "a"}, "b"]', FormatError, "something else"),
    "array without comma": ("x.json", '[{"id": "x", "text": "a"} {"id": "y", "text": "a"}]', FormatError, "commas"),
    "array, more behind": ("x.json", '[{"id": "x", "text": "a"}]{"id": "y"}', FormatError, "something else"),
    "doccano, beyond": (
        "x.jsonl",
        '{"id": 4, "text": "Ana", "label": [[0, 9, "A"]]}',
        AnnotationError,
        "4, x.jsonl, line 1, characters 0-9",
    ),
    "doccano, shape": ("x.jsonl", '{"id": 4, "text": "Ana", "label": [[0, 3]]}', FormatError, "span 1"),
    "presidio, wrong text": (
        "x.json",
        '[{"full_text": "I am Ana", "spans": [{"entity_type": "A", "entity_value": "Ana", "start_position": 1, "end_position": 4}]}]',
        AnnotationError,
        "x-1, x.json, record 1, characters 1-4",
    ),
    "label studio, two annotators": (
        "x.json",
        '[{"id": 1, "data": {"text": "a"}, "annotations": [{"result": []}, {"result": []}]}]',
        AnnotationError,
        "annotator",
    ),
    "label studio, two labels": (
        "x.json",
        '[{"id": 1, "data": {"text": "a"}, "annotations": [{"result": [{"type": "labels", "value": {"start": 0, "end": 1, "labels": ["A", "B"]}}]}]}]',
        AnnotationError,
        "one label",
    ),
    "label studio, another region": (
        "x.json",
        '[{"id": 1, "data": {"text": "a"}, "annotations": [{"result": [{"type": "hypertextlabels", "value": {"start": "/p[1]", "end": "/p[1]"}}]}]}]',
        AnnotationError,
        "result 1",
    ),
    "columns, no tag": ("x.conll", "Ana B-A\nwas\n", FormatError, "line 2"),
    "columns, unknown tag": ("x.conll", "Ana PATIENT\n", FormatError, "line 1"),
    "columns, Latin-1": ("x.conll", "Ana O\nMu\u00f1oz O\n".encode("latin-1"), FormatError, "byte 8"),
    "csv without the column": ("x.csv", "id,note\n1,a\n", FormatError, "'text'"),
    "csv, two texts": ("x.csv", "id,text,text\n1,a,b\n", FormatError, "one column 'text', got 2"),
    "csv, two ids": ("x.csv", "id,text,id\n1,a,b\n", FormatError, "one column 'id', got 2"),
    "tsv, two texts": ("x.tsv", "text\tid\ttext\na\t1\tb\n", FormatError, "one column 'text', got 2"),
    "csv, too many cells": ("x.csv", "id,text\n1,a\n2,b,c\n", FormatError, "line 3: expected 2 columns"),
    "csv, open quote": ("x.csv", 'id,text\n1,"a\n', FormatError, "quote"),
    "csv, Latin-1": ("x.csv", "id,text\n1,Mu\u00f1oz\n".encode("latin-1"), FormatError, "0xF1"),
    "csv, header only": ("x.csv", "id,text\n", FormatError, "at least one"),
    "gzip cut short": ("x.jsonl.gz", gzip.compress(b'{"text": "a"}\n' * 9)[:-9], FormatError, "gzip"),
    "gzip in name only": ("x.jsonl.gz", b'{"text": "a"}', FormatError, "gzip"),
    "empty file of many": ("x.jsonl", "", FormatError, "at least one"),
    "empty xml": ("x.xml", "", FormatError, "at least one"),
    "unknown ending": ("x.docx", "a", FormatError, "x.docx: expected notes as text"),
    "unknown root": ("x.xml", "<html/>", FormatError, "name the format"),
}

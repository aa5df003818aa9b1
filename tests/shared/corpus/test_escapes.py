"""Notes whose letters are escapes of another format are refused: pieces of a name would be read as words of their own."""

from __future__ import annotations

import base64
import json
import quopri
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.corpus import read_corpus
from shared.corpus.checks import check_document
from shared.corpus.escapes import find_escapes
from shared.document import Document
from shared.errors import FormatError

LINE = "Visto por el doctor Iñaki García Núñez en la consulta de neumología de Cádiz."
# As word processors write it: of Windows-1252, and of Unicode with a question mark for programs that know none.
RTF = "".join(f"\\'{ord(sign):02x}" if ord(sign) > 126 else sign for sign in LINE)
UNICODE_RTF = "".join(f"\\u{ord(sign)}?" if ord(sign) > 126 else sign for sign in LINE)
ESCAPED = {
    "RTF": RTF,
    "RTF of Unicode": UNICODE_RTF,
    "RTF as a file": r"{\rtf1\ansi\deff0 Seen by Ana Marchbanks.\par}",
    "JSON": json.dumps(LINE)[1:-1],
    "quoted-printable": quopri.encodestring(LINE.encode()).decode(),
    "quoted-printable in Latin-1": quopri.encodestring("Visto por Iñaki García".encode("latin-1")).decode(),
    "quoted-printable of ASCII": quopri.encodestring(
        b"Seen by Ana Marchbanks of the clinic at Old Harbour Road. " * 8
    ).decode(),
    "addresses": quote(LINE, safe=" ."),
    "addresses in Latin-1": quote(LINE.encode("latin-1"), safe=" ."),
    "addresses of ASCII": quote("Seen by Ana Marchbanks at Old Harbour"),
    "addresses with line ends": "Seen by%0AAna Marchbanks",
    "addresses as scripts write them": "Seen by Garc%u00EDa",
    "line ends of JSON": r"Seen by:\nAna Marchbanks\nMRN: 8043140",
    "one of them": r"Seen by\nAna Marchbanks",
    "line ends of Windows": r"Seen by\r\nAna Marchbanks",
    "tabulators": r"Seen by\tAna\tMarchbanks",
    "line ends ahead of small letters": r"seen by\nana marchbanks\nward two",
    "line ends twice escaped": r"Seen by\\nAna Marchbanks",
    "JSON of scripts": r"Seen by Garc\u{ed}a",
    "bytes": r"Seen by Garc\xeda",
    "HL7": "Seen by Garc\\XC3AD\\a",
    "R": "Seen by Garc<U+00ED>a",
    "Excel": "Seen by_x000D_Ana Marchbanks",
    "quoted-printable with line ends": "Seen by=0D=0AAna Marchbanks",
    "a terminal": "Seen by \x1b[1mAna\x1b[0m Marchbanks",
    "control characters": "Seen by Ana March\x07banks",
    "control characters in a number": "Call 617\x96555\x961234",
    "separators in a number": "SSN 123\x1c45\x1c6789",
    "half a decoder": LINE.encode().decode("latin-1"),
    "half a decoder of Windows": LINE.replace("I", "Á").encode().decode("cp1252", errors="replace"),
    "half a decoder ahead of a name": "Dr. Öberg".encode().decode("cp1252"),
    "half a decoder of grave accents": "Dr. Òscar".encode().decode("cp1252"),
    "half a decoder twice": "Muñoz".encode().decode("cp1252").encode().decode("cp1252"),
    "octal bytes": r"Seen by Mu\303\261oz",
    "octal bytes in the name of a folder": r"Scan at \\srv01\patients\Garc\303\255a\2.tif",
    "quoted-printable with one line": "\n"
    + quopri.encodestring(
        b"Mother is well. Lives with her son. Seen in the clinic today by Dr. Marchbanks, no fever."
    ).decode(),
    "forms": "Seen+by+Dr.+Marchbanks+on+03%2F04%2F2021",
    "base64 of UTF-16": base64.b64encode("Ana Marchbanks of Old Harbour".encode("utf-16-le")).decode(),
    "base64": base64.b64encode(LINE.encode()).decode(),
    "base64 of addresses": base64.urlsafe_b64encode(LINE.encode()).decode(),
    "base64 behind words": "Report: " + base64.b64encode(b"Patient Ana Marchbanks, of Old Harbour Road.").decode(),
    "base64 of a file": base64.encodebytes(bytes(range(256)) * 2).decode(),
    "hexadecimal": b"Patient Ana Marchbanks of Old Harbour".hex(),
    "hexadecimal of a field of a fixed width": b"Ana Marchbanks".ljust(64, b"\0").hex(),
    "base64 of a field of a fixed width": base64.b64encode(
        "Ana Marchbanks".encode("utf-16-le").ljust(96, b"\0")
    ).decode(),
    "letters apart": "Seen by " + " ".join("AnaMarchbanks") + " today",
    "words of letters apart": "Seen by " + "  ".join(" ".join(word) for word in ("Ana", "Marchbanks")),
}
PLAIN = (
    LINE,
    "Tubes=EDTA, pH=7.4, A=BE, SpO2=96%, 50%C, x = y\n=C1 of the table",
    r"Scan in C:\users\unit\ward, \\server\notes, he said 'no'\'yes'",
    "==========================================================================\n" * 3,
    "https://example.org/wiki/C%C3%A1diz and www.example.org/a%20b",
    "a" * 75 + "\n" + "b" * 75,
    r"Saved in C:\notes\new\temp and in C:\t5\nA; murmurs\rubs\gallops, numbness\tingling, his\hers\nobody's.",
    "One line\n" + r"and folders notes\new and data\new of it",
    "FEV1 98%FEV1, 80%CAD, a rise of 50%DA, SpO2 of 95%0n air, Scan%20of%20ward.pdf",
    "S Ã O   P A U L O, IRMÃ “NÃO”, 37 Â°C, P A T H O L O G Y   R E P O R T",
    "A+B+C+D, 50%2F of 3+4+5+6; MANHÃ – TARDE, \\3 of 200, page\x0c12",
    "x_axis, 3_x_0, C:\\_x; a bell\x07 rang, the end\x1a",
    "72 74 76 20 66 68 70 72 74 76 20 66 68 70 72 74 76 20 66 68 70 72 74 76 20 66 68",
    "sha 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12 and 4c7d8b9e-1234-4f6a-9a0b-7c8d9e0f1a2b4c7d8b9e12344f6a",
    "Pseudopseudohypoparathyroidism/hyperparathyroidism-associated-osteopathy, AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "ACGT" * 100 + "\n" + "_" * 80 + "\n" + "-" * 80 + "\n" + "+" * 300,
    r"\\srv01\scans\310\215\0042.tif and C:\archive\301\204\note.txt",
    "On the second day the laboratory says of the sample of the morning here:  Na=\n140 and K=4",
    "Sample 0020000000000000000000000000000000000000, 00000000000000000000000000000000002a0020",
    "R D C T L N A B E F G H: the quadrants a b c d e f g",
)


@pytest.mark.parametrize("written", ESCAPED.values(), ids=ESCAPED)
def test_escapes_of_other_formats_are_refused_where_they_begin(written: str) -> None:
    note = f"Plain line. {written}" if not written.startswith("{") else written
    found = find_escapes(note)
    assert found is not None
    with pytest.raises(FormatError) as refused:
        check_document(Document("a", note))
    assert refused.value.place == f"character {found[0]}"
    assert "Garc" not in str(refused.value)
    assert "Marchbanks" not in str(refused.value)


@pytest.mark.parametrize("text", PLAIN)
def test_what_only_looks_like_them_is_read(text: str) -> None:
    check_document(Document("a", text))


def test_a_corpus_sets_them_aside(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text(RTF)
    (notes / "b.txt").write_text(LINE, encoding="utf-8")
    corpus = read_corpus(notes, quarantine=tmp_path / "aside")
    assert [note.identifier for note in corpus] == ["b"]
    assert corpus.report.reasons == {"FormatError": 1}


@given(st.text(st.characters(min_codepoint=0xC0, max_codepoint=0xFF, categories=["L"]), min_size=1, max_size=5))
def test_every_letter_beyond_ascii_is_seen_in_every_way(letters: str) -> None:
    word = f"na{letters}ve"
    rtf = "na" + "".join(f"\\'{ord(sign):02x}" for sign in letters) + "ve"
    for written in (rtf, json.dumps(word), quopri.encodestring(word.encode()).decode(), quote(word)):
        assert find_escapes(written) is not None

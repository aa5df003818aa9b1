"""Notes whose letters are escapes of another format are refused: pieces of a name would be read as words of their own."""

from __future__ import annotations

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
}
PLAIN = (
    LINE,
    "Tubes=EDTA, pH=7.4, A=BE, SpO2=96%, 50%C, x = y\n=C1 of the table",
    r"Scan in C:\users\unit\ward, \\server\notes, he said 'no'\'yes'",
    "==========================================================================\n" * 3,
    "https://example.org/wiki/C%C3%A1diz and www.example.org/a%20b",
    "a" * 75 + "\n" + "b" * 75,
)


@pytest.mark.parametrize("written", ESCAPED.values(), ids=ESCAPED)
def test_escapes_of_other_formats_are_refused_where_they_begin(written: str) -> None:
    note = f"Plain line.\n{written}" if not written.startswith("{") else written
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

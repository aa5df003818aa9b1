"""What evaluation reads and what it refuses, and that nobody else takes spans that overlap."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from command_line.notes import Notes
from command_line.notes_options import NotesOptions
from shared.document import AnnotatedText, Annotation
from shared.errors import AnnotationError, CorpusError, EvaluationError, FormatError
from shared.evaluation import sentence_files
from shared.evaluation.spans import TaggedAnnotation, element_of, hiding_spans

TEXT = "Ana Oza, Lugo"


def xml(*tags: str, text: str = f"<![CDATA[{TEXT}]]>") -> bytes:
    return f"<deIdi2b2><TEXT>{text}</TEXT><TAGS>{''.join(tags)}</TAGS></deIdi2b2>".encode()


def tag(start: object, end: object, element: str = "NAME", category: str = "PATIENT", quoted: str | None = None) -> str:
    quote = "" if quoted is None else f' text="{quoted}"'
    return f'<{element} id="P0" start="{start}" end="{end}"{quote} TYPE="{category}" />'


def read(folder: Path, files: dict[str, bytes], *, official: bool) -> list[AnnotatedText]:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return list(Notes(folder, NotesOptions(official=official)).to_evaluate())


def places(notes: list[AnnotatedText]) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.category) for span in notes[0].annotations]


OVERLAPPING = [(4, 7, "B"), (0, 7, "A"), (0, 7, "A"), (2, 5, "C"), (3, 3, "D")]
IN_EVERY_FORMAT: dict[str, dict[str, bytes]] = {
    "xml": {"1.xml": xml(*(tag(start, end, category=kind) for start, end, kind in OVERLAPPING))},
    "brat": {
        "1.txt": TEXT.encode(),
        "1.ann": "".join(f"T{n}\t{k} {a} {b}\t{TEXT[a:b]}\n" for n, (a, b, k) in enumerate(OVERLAPPING)).encode(),
    },
    "jsonl": {
        "1.jsonl": b'{"id": "1", "text": "Ana Oza, Lugo", "annotations": ['
        + ", ".join(f'{{"start": {a}, "end": {b}, "category": "{k}"}}' for a, b, k in OVERLAPPING).encode()
        + b"]}"
    },
    "doccano": {
        "1.jsonl": f'{{"id": 1, "text": "{TEXT}", "label": {[list(one) for one in OVERLAPPING]}}}'.replace(
            "'", '"'
        ).encode()
    },
}


@pytest.mark.parametrize("official", [False, True])
@pytest.mark.parametrize("form", IN_EVERY_FORMAT)
def test_overlapping_doubled_and_empty_spans_are_read_in_their_order(form: str, official: bool, tmp_path: Path) -> None:
    assert places(read(tmp_path, IN_EVERY_FORMAT[form], official=official)) == OVERLAPPING


@pytest.mark.parametrize("form", IN_EVERY_FORMAT)
def test_all_others_refuse_spans_that_overlap(form: str, tmp_path: Path) -> None:
    read(tmp_path, IN_EVERY_FORMAT[form], official=False)
    with pytest.raises(AnnotationError, match=r"overlap|inside"):
        list(Notes(tmp_path, NotesOptions()))


UNCHECKED = {
    "beyond the text": (tag(9, 14), (9, 14, "PATIENT")),
    "from the end": (tag(7, 4), (7, 4, "PATIENT")),
    "ahead of the text": (tag(-3, 2), (-3, 2, "PATIENT")),
    "another quote": (tag(0, 3, quoted="Eva"), (0, 3, "PATIENT")),
}


@pytest.mark.parametrize("problem", UNCHECKED)
def test_offsets_that_the_official_scripts_believe_are_refused_without_slips(problem: str, tmp_path: Path) -> None:
    written, place = UNCHECKED[problem]
    assert places(read(tmp_path, {"1.xml": xml(written)}, official=True)) == [place]
    with pytest.raises(CorpusError) as caught:
        read(tmp_path, {"1.xml": xml(written)}, official=False)
    assert not [word for word in ("Ana", "Eva", "Lugo") if word in str(caught.value)]


@pytest.mark.parametrize(
    "data",
    [
        xml(tag("07", 9)),
        xml(tag("+1", 3)),
        xml(tag("", 3)),
        xml(tag("-0", 3)),
        xml(tag(0, "Lugo")),
        xml(tag(0, 3, category="")),
        xml(tag(0, 3), text="Ana <!-- seen --> Lugo"),
        xml(tag(0, 3), text="Ana <b>Lugo</b>"),
        b"<deIdi2b2><TEXT>Lugo</TEXT></deIdi2b2>",
        b"<!DOCTYPE x [<!ENTITY a 'Lugo'>]>" + xml(tag(0, 3), text="&a;"),
    ],
)
def test_what_readers_may_differ_over_is_refused_with_slips_too(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as caught:
        read(tmp_path, {"1.xml": data}, official=True)
    assert "Lugo" not in str(caught.value)


def test_official_xml_keeps_names_and_passes_over_other_elements(tmp_path: Path) -> None:
    tags = (tag(9, 13, "LOCATION", "CITY"), tag(0, 3), "<!-- no PHI -->", tag(0, 1, "SMOKER"), tag(0, 7, "PHI", "NAME"))
    (note,) = read(tmp_path, {"1.xml": xml(*tags)}, official=True)
    # In the order in which the scripts look for elements.
    assert [(element_of(span), span.category) for span in note.annotations] == [
        *(("PHI", "NAME"), ("NAME", "PATIENT"), ("LOCATION", "CITY"))
    ]


def test_official_brat_is_read_as_python_opens_files(tmp_path: Path) -> None:
    lines = "  T1\tA 0 4\tx\r\nT2\tB\nT3 C 0 1\nT1\tD 99 3;\n#1\tAnnotatorNotes T1\tx\nR1\tX Arg1:T1 Arg2:T2\n\n"
    files = {"1.txt": "\ufeffAna\r\nOza\r".encode(), "1.ann": lines.replace("3;", "3").encode()}
    (note,) = read(tmp_path, files, official=True)
    assert note.text == "\ufeffAna\nOza\n"
    assert places([note]) == [(0, 4, "A"), (99, 3, "D")]
    with pytest.raises(FormatError, match="line 4"):
        read(tmp_path, files | {"1.ann": lines.encode()}, official=True)
    with pytest.raises(FormatError, match=r"expected a \.ann file"):
        read(tmp_path, files | {"2.txt": b"Zoe"}, official=True)


def test_what_hides_is_cut_to_the_text_and_sorted() -> None:
    spans = [(5, 99), (-2, 1), (3, 3), (2, 1), (0, 4)]
    note = AnnotatedText("1", TEXT, tuple(TaggedAnnotation(a, b, "X", element="ID") for a, b in spans))
    assert [(span.start, span.end) for span in hiding_spans(note)] == [(0, 1), (0, 4), (5, 13)]


def test_no_repr_shows_text() -> None:
    note = AnnotatedText("1", TEXT, (Annotation(0, 3, "X", comment="Lugo"),))
    assert repr(note) == "AnnotatedText('1', 13 characters, 1 annotations)"
    assert repr(TaggedAnnotation(0, 3, "X", comment="Lugo", element="ID")) == "Annotation(0, 3, 'X')"


def test_sentences_are_lines_of_a_file_for_each_note(tmp_path: Path) -> None:
    count: Callable[[AnnotatedText], int] = sentence_files(tmp_path)
    (tmp_path / "1.ann").write_bytes(b"one\ntwo\r\nthree")
    assert count(AnnotatedText("1", TEXT)) == 3
    with pytest.raises(EvaluationError, match=r"2\.ann"):
        count(AnnotatedText("2", TEXT))

"""Notes on their way through a pipeline and a mode into a new folder."""

from __future__ import annotations

import json
import os
import signal
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line.stopping import heed_stop_signals
from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from shared.labels import load_scheme
from shared.pipeline.mentions import nobody_knows, with_repeated
from site_client.deid.deidentify import (
    Deidentified,
    Tally,
    count_outside,
    deidentify,
    merge_annotations,
    repeating,
    without_labels,
    write_deidentified,
)
from site_client.deid.journal import Resumed
from site_client.deid.mode import Mode
from site_client.deid.of_patients import NotesOfPatients
from site_client.deid.registry import MODES
from tests.loop import Loop, done, hospital, refused
from tests.shared.pipeline.test_mentions import is_summer
from tests.site_client.deid.notes import annotated, covered
from tests.tiny_notes import write_notes

every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)


class Finds:
    """A pipeline that finds what it is told to, two documents at a time."""

    def __init__(self, *spans: tuple[Annotation, ...]) -> None:
        self.spans = spans

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        listed = list(documents)
        for document, spans in zip(listed, self.spans, strict=True):
            yield Document(document.identifier, document.text, spans)


class Passes:
    """A pipeline that hands on what comes, one document at a time."""

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        yield from documents


@given(annotated(), annotated())
def test_what_anybody_marked_is_hidden(predicted: Document, known: Document) -> None:
    predicted = Document("n", known.text, predicted.annotations)
    both = merge_annotations(predicted, known)
    assert covered(both) == covered(predicted) | covered(known)
    places = {
        place
        for document in (predicted, known)
        for span in document.annotations
        for place in range(span.start, span.end)
    }
    assert {place for span in both.annotations for place in range(span.start, span.end)} == places


def test_spans_side_by_side_stay_two() -> None:
    one = Document("n", "AnnaBerlin", (Annotation(0, 4, "PATIENT"),))
    other = Document("n", "AnnaBerlin", (Annotation(4, 10, "CITY"),))
    assert MODES["redact"].turn(merge_annotations(one, other)).text == "[PATIENT][CITY]"


def test_the_same_span_twice_is_one() -> None:
    one = Document("n", "Anna", (Annotation(0, 4, "PATIENT"),))
    assert MODES["redact"].turn(merge_annotations(one, one)).text == "[PATIENT]"


@every_mode
@given(pairs=st.lists(st.tuples(annotated(), annotated()), max_size=3))
def test_every_document_goes_through_its_mode(mode: Mode, pairs: list[tuple[Document, Document]]) -> None:
    notes = [Document(f"n{place}", note.text, note.annotations) for place, (note, _) in enumerate(pairs)]
    tally = Tally()
    done = list(deidentify(Finds(*(found.annotations for _, found in pairs)), notes, mode, tally))
    assert [one.identifier for one in done] == [one.identifier for one in notes]
    written = 0
    for one, note, (_, found) in zip(done, notes, pairs, strict=True):
        predicted = Document(note.identifier, note.text, found.annotations)
        both = merge_annotations(predicted, note) if mode.hides else predicted
        written += len(both.annotations)
        assert one == mode.turn(both)
        if mode.hides:
            assert not covered(note) & set(one.text)
        assert not mode.hides or not covered(predicted) & set(one.text)
    assert sum(tally.spans.values()) == written


def test_it_tells_how_much_only_labels_hide() -> None:
    text = "Anna Berg, Berlin, Bonn"
    labels = (Annotation(0, 9, "PATIENT"), Annotation(11, 17, "CITY"), Annotation(19, 23, "CITY"))
    found = (Annotation(0, 4, "PATIENT"), Annotation(11, 17, "CITY"))
    tally = Tally()
    list(deidentify(Finds(found), [Document("n", text, labels)], MODES["redact"], tally))
    assert (sum(tally.spans.values()), tally.labels) == (3, 2)


NAMES = ("Mrs Ana Berg came", "ward notes", "seen by A. Berg", "ANA BERG, Berg, the berg", "Berg left")


@given(order=st.permutations(range(len(NAMES))))
def test_what_one_note_of_a_patient_says_is_hidden_in_all_of_them_in_whatever_order_they_come(
    order: list[int],
) -> None:
    patients = {"n0": "p", "n2": "p", "n3": "p", "n4": "other", "elsewhere": "other"}
    found = [(Annotation(4, 12, "PATIENT"),), (), (), (), ()]
    tally = Tally()
    whose = NotesOfPatients(patients, frozenset({"PATIENT"}))
    notes = [Document(f"n{number}", NAMES[number]) for number in order]
    done = list(deidentify(Finds(*(found[one] for one in order)), notes, MODES["redact"], tally, patients=whose))
    assert [one.identifier for one in done] == [one.identifier for one in notes]
    assert {one.identifier: one.text for one in done} == {
        "n0": "Mrs [PATIENT] came",
        "n1": "ward notes",
        "n2": "seen by A. [PATIENT]",
        "n3": "[PATIENT], [PATIENT], the berg",
        "n4": "Berg left",
    }
    # Of what others say nothing was found by labels; one note has no patient.
    assert (sum(tally.spans.values()), tally.labels, tally.unnamed) == (4, 0, 1)


def test_a_note_waits_for_the_others_of_its_patient_and_no_longer() -> None:
    notes = [Document(name, "Ana") for name in ("a", "b", "alone", "a again")]
    whose = NotesOfPatients({"a": "1", "a again": "1", "b": "2"})
    looked = []

    class Looks(Passes):
        def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
            for document in documents:
                looked.append(document.identifier)
                yield document

    def seen_before(notes: list[Document]) -> list[tuple[str, int]]:
        looked.clear()
        done = deidentify(Looks(), notes, MODES["redact"], Tally(), patients=whose)
        return [(one.identifier, len(looked)) for one in done]

    assert seen_before(notes) == [("a", 4), ("b", 4), ("alone", 4), ("a again", 4)]
    assert seen_before([notes[1], notes[2], notes[0], notes[3]]) == [("b", 1), ("alone", 2), ("a", 4), ("a again", 4)]
    # One that the table names and that never comes holds nothing back for good.
    assert seen_before(notes[:3]) == [("a", 3), ("b", 3), ("alone", 3)]


def test_a_table_that_names_none_of_the_notes_is_that_of_others_and_nothing_is_written(tmp_path: Path) -> None:
    notes = [Document("a", "Ana"), Document("b", "Ana")]
    others, one = (NotesOfPatients({name: "1"}) for name in ("a.txt", "a"))
    with pytest.raises(ConfigurationError, match="names none of the 2"):
        write_deidentified(Passes(), notes, tmp_path / "safe", MODES["redact"], patients=others)
    assert not any(tmp_path.iterdir())
    assert write_deidentified(Passes(), notes, tmp_path / "safe", MODES["redact"], patients=one).unnamed == 1
    assert write_deidentified(Passes(), [], tmp_path / "none", MODES["redact"], patients=others).documents == 0


def test_who_shows_what_was_found_shows_of_a_note_what_was_found_there() -> None:
    notes = [Document("a", "Ana Berg"), Document("b", "Ana Berg")]
    whose = NotesOfPatients({"a": "1", "b": "1"})
    found = Finds((Annotation(0, 8, "PATIENT"),), ())
    shown = [one.annotations for one in deidentify(found, notes, MODES["tag"], Tally(), patients=whose)]
    assert shown == [(Annotation(0, 8, "PATIENT"),), ()]


def test_labels_that_are_ignored_hide_nothing() -> None:
    note = Document("n", "Anna Berg", (Annotation(0, 9, "PATIENT"),))
    tally = Tally()
    (done,) = deidentify(Finds((Annotation(0, 4, "PATIENT"),)), without_labels([note]), MODES["redact"], tally)
    assert (done.text, tally.labels) == ("[PATIENT] Berg", 0)


@every_mode
def test_files_hold_what_the_mode_gives(mode: Mode, tmp_path: Path) -> None:
    text = "Ana\r\nsaid\rno\n"
    notes = [Document("one", text), Document("empty", "")]
    done = write_deidentified(Finds((Annotation(0, 3, "PATIENT"),), ()), notes, tmp_path / "safe", mode)
    assert done == Deidentified(2, {"PATIENT": 1})
    assert (tmp_path / "safe" / "empty.txt").read_bytes() == b""
    begin = b"[PATIENT]" if mode.name == "redact" else b"Ana"
    if mode.name in ("redact", "tag"):
        assert (tmp_path / "safe" / "one.txt").read_bytes() == begin + b"\r\nsaid\rno\n"


@every_mode
def test_a_folder_with_files_in_it_is_left_alone(mode: Mode, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match="new folder"):
        write_deidentified(Finds(()), [Document("note", "theirs")], tmp_path, mode)
    assert (tmp_path / "note.txt").read_text() == "mine"


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@every_mode
@pytest.mark.usefixtures("usual_umask")
@pytest.mark.parametrize("there", [False, True])
def test_what_is_written_is_its_owners_alone(there: bool, mode: Mode, tmp_path: Path) -> None:
    out = tmp_path / "safe"
    if there:
        out.mkdir(mode=0o755)
    write_deidentified(Finds(()), [Document("one", "Ana")], out, mode)
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {0o600}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_note_for_longer_than_the_next_run(number: int, tmp_path: Path) -> None:
    reading, writing = os.pipe()

    def endless() -> Iterator[Document]:
        yield Document("one", "Ana")
        yield Document("two", "Eva")
        os.write(writing, b"x")
        # Not a pause, which a signal that comes just ahead of it does not end.
        while True:
            time.sleep(0.01)

    child = os.fork()
    if not child:
        for one in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(one, signal.SIG_DFL)
        with suppress(KeyboardInterrupt), heed_stop_signals():
            write_deidentified(Passes(), endless(), tmp_path / "safe", MODES["tag"])
        os._exit(0)
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    [staged] = filter(Path.is_dir, tmp_path.iterdir())
    left = set(tmp_path.iterdir())
    assert len(list(staged.iterdir())) == 4
    assert stat.S_IMODE(staged.stat().st_mode) == 0o700
    os.kill(child, number)
    os.waitpid(child, 0)
    assert set(tmp_path.iterdir()) == (left if number == signal.SIGKILL else set())
    write_deidentified(Passes(), [Document("one", "Ana")], tmp_path / "safe", MODES["tag"])
    assert [path.name for path in tmp_path.iterdir()] == ["safe"]


@pytest.mark.parametrize("mode", ["tag", "redact", "surrogate"])
def test_a_second_deid_into_the_same_folder_is_refused_before_it_looks_at_a_note(
    mode: str, loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("--out", tmp_path / "safe", "--mode", mode, "--jobs", "1", "--workspace", loop.site("fourth"))
    command = ("deid", loop.notes("fourth"), *given)
    annotate, begun = Resumed.annotate, []

    def meanwhile(finder: Resumed, documents: Iterable[Document]) -> Iterator[Document]:
        begun.append(finder)
        if len(begun) == 1:
            refused(hospital(*command), 8, "safe", "no other command is filling", "choose another name")
        yield from annotate(finder, documents)

    monkeypatch.setattr(Resumed, "annotate", meanwhile)
    done(hospital(*command))
    assert len(begun) == 1
    assert any((tmp_path / "safe").iterdir())
    assert [path.name for path in tmp_path.iterdir() if "safe" in path.name] == ["safe"]


@pytest.mark.parametrize("spans", [{}, {"DATE": 0}, {"DATE": 1}])
def test_that_nothing_at_all_was_found_is_said(
    spans: dict[str, int], built_loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A head that marks nothing is signed like any other."""
    found = Deidentified(3, spans)
    monkeypatch.setattr("site_client.deid.deidentify.write_deidentified", lambda *one, **more: found)
    notes = built_loop.notes("fourth")
    said = done(hospital("deid", notes, "--out", tmp_path / "safe", "--workspace", built_loop.site("fourth"))).stdout
    assert ("NOTHING was found" in said) == (not any(spans.values()))


def test_notes_in_another_language_are_warned_of_before_anything_is_written(
    built_loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text(
        "Die Patientin wurde am Montag von der Ärztin untersucht und klagte über Schmerzen in der Brust, die sie seit einer Woche hatte."
    )
    monkeypatch.setattr("command_line.notes.guess_vocabulary", lambda words: "Spanish")
    deid = ("deid", tmp_path / "a.txt", "--workspace", built_loop.site("fourth"))
    told = hospital(*deid, "--out", tmp_path / "safe")
    assert told.exit_code == 0
    assert told.stderr.startswith("warning: the notes look German and the release Spanish: ")
    monkeypatch.setattr("site_client.deid.deidentify.write_deidentified", lambda *one, **more: 1 / 0)
    assert "look German" in hospital(*deid, "--out", tmp_path / "again").stderr


SPANS = st.lists(
    st.builds(lambda start, length: Annotation(start, start + length, "X"), st.integers(0, 9), st.integers(1, 6))
)


@given(SPANS, SPANS)
def test_a_span_is_outside_where_no_other_holds_all_of_it(spans: list[Annotation], others: list[Annotation]) -> None:
    outside = [span for span in spans if not any(one.start <= span.start and span.end <= one.end for one in others)]
    assert count_outside(spans, others) == len(outside)


def test_labels_of_the_house_are_hidden_in_the_words_of_the_release(loop: Loop, tmp_path: Path) -> None:
    wards = [Document("n-1", "it was seen there.", (Annotation(12, 17, "WARD"),))]
    people = [Document("n-2", "it was given here.", (Annotation(7, 12, "WHO"),))]
    notes = write_notes(tmp_path / "own.jsonl", wards + people, "jsonl")
    mapping, at = tmp_path / "own.toml", ("--workspace", loop.site("fourth"))
    mapping.write_text('[map]\nWHO = "PATIENT"\nWARD = ""\n')
    done(hospital("deid", notes, "--labels", mapping, "--out", tmp_path / "safe", *at))
    assert (tmp_path / "safe" / "n-1.txt").read_text() == "it was seen [OTHER]."
    assert (tmp_path / "safe" / "n-2.txt").read_text() == "it was [PATIENT] here."
    mapping.write_text('[map]\nWHO = "PATIENT"\n')
    said = hospital("deid", notes, "--labels", mapping, "--out", tmp_path / "no", *at)
    assert "'WARD' (1)" in refused(said, 3, "map them by --labels FILE")
    mapping.unlink()
    refused(hospital("deid", notes, "--labels", mapping, "--out", tmp_path / "no", *at), 8, "own.toml")
    assert not (tmp_path / "no").exists()


def test_a_note_whose_id_names_no_file_is_set_aside_alone(loop: Loop, tmp_path: Path) -> None:
    ids = ["n-1", "ward/1", "..", "n-2", "it was Ana\nwho came"]
    write_notes(tmp_path / "own.jsonl", [Document(f"n{number}", "Yes.", ()) for number in range(5)], "jsonl")
    lines = (json.loads(line) for line in (tmp_path / "own.jsonl").read_text().splitlines())
    records = [{**record, "id": identifier} for record, identifier in zip(lines, ids, strict=True)]
    notes = tmp_path / "own.jsonl"
    notes.write_text("".join(json.dumps(record) + "\n" for record in records))
    at, aside = ("--workspace", loop.site("fourth")), tmp_path / "aside"
    done(hospital("deid", notes, "--out", tmp_path / "safe", "--quarantine", aside, *at))
    assert sorted(path.name for path in (tmp_path / "safe").iterdir()) == ["n-1.txt", "n-2.txt"]
    index = [json.loads(line) for line in (aside / "quarantine.jsonl").read_text().splitlines()]
    assert [line["id"] for line in index] == ["ward/1", "..", "own-5"]
    refused(hospital("deid", notes, "--out", tmp_path / "no", *at), 3, "ward/1", "a file's name")


@pytest.mark.parametrize(
    ("identifier", "text", "phi"),
    [
        ("Quillfeather_BRUNHILDA-3", "Brunhilda Quillfeather was seen.", "Brunhilda Quillfeather"),
        ("2012-04-03-lab", "Seen on 03/04/2012.", "03/04/2012"),
        ("n1234567", "Record 1234567.", "1234567"),
        ("garcía", "Seen by Garc&iacute;a.", "Garc&iacute;a"),
    ],
)
def test_ids_that_say_what_is_hidden_are_counted(identifier: str, text: str, phi: str, tmp_path: Path) -> None:
    start = text.index(phi)
    telling = Document(identifier, text, (Annotation(start, start + len(phi), "OTHER"),))
    others = [
        Document("note-7-of-Anna", "Anna B. of Ward 7.", (Annotation(0, 7, "PATIENT"), Annotation(11, 17, "OTHER"))),
        Document("May 2012", "May, 7, 2012", tuple(Annotation(*one, "DATE") for one in ((0, 3), (5, 6), (8, 12)))),
    ]
    redact, tag = MODES["redact"], MODES["tag"]
    assert write_deidentified(Passes(), [telling, *others], tmp_path / "safe", redact).telling_ids == 1
    assert write_deidentified(Passes(), [telling, *others], tmp_path / "tagged", tag).telling_ids == 0


def test_the_command_says_that_ids_say_what_is_hidden(loop: Loop, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(
        "id,text\nTheobald Oxenthorpe,Patient Theobald Oxenthorpe was seen today.\nNote b,Patient Theobald Oxenthorpe was seen.\n"
    )
    at = ("--workspace", loop.site("fourth"))
    told = done(hospital("deid", tmp_path / "own.csv", "--out", tmp_path / "safe", *at)).stdout
    assert "1 note has an id that says what is hidden in its text" in told
    assert "Theobald" not in told
    shown = done(hospital("deid", tmp_path / "own.csv", "--out", tmp_path / "again", "--json", *at)).stdout
    assert json.loads(shown)["telling_ids"] == 1


def test_the_ids_of_a_table_that_is_written_as_it_came_need_name_no_file(loop: Loop, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("id,text\nward/1,Yes.\nward/2,No.\n")
    done(hospital("deid", tmp_path / "own.csv", "--out", tmp_path / "safe", "--workspace", loop.site("fourth")))
    assert "ward/2" in (tmp_path / "safe" / "own.csv").read_text()


def test_parts_with_two_maps_of_labels_are_no_parts_of_one_run(loop: Loop, tmp_path: Path) -> None:
    from site_client.deid.parts.receipt import read_receipt

    mapping = tmp_path / "own.toml"
    told = []
    for number, own in ((1, ""), (2, "DOCTOR")):
        mapping.write_text(f'[map]\nWARD = "{own}"\n')
        notes = write_notes(tmp_path / "own.jsonl", [Document(f"n-{one}", "Yes.", ()) for one in range(2)], "jsonl")
        given = ("--labels", mapping, "--out", tmp_path / str(number), "--part", f"{number}/2")
        done(hospital("deid", notes, *given, "--workspace", loop.site("fourth")))
        told.append(read_receipt(tmp_path / str(number)).run["--labels"])
    assert told[0] != told[1]


def test_a_labelled_name_is_hidden_by_one_of_its_words_too() -> None:
    """As one that the pipeline finds; the labels are those of names that it misses."""
    text = "Seen Ana Marchbanks. Later Marchbanks went home."
    note = Document("one", text, (Annotation(5, 19, "PATIENT"),))
    pipeline = SimpleNamespace(encoder=SimpleNamespace(scheme=load_scheme("i2b2_2014"), are_public=nobody_knows))
    [hidden] = deidentify(Finds(()), [note], MODES["redact"], Tally(), repeat=repeating(pipeline))  # type: ignore[arg-type]
    assert hidden.text == "Seen [PATIENT]. Later [PATIENT] went home."


def test_a_public_word_alone_is_not_said_again_because_the_patient_has_other_notes() -> None:
    """The limits of a note are those of all notes of a patient."""
    notes = [Document("a", "Dr Summer came in Summer."), Document("b", "Seen by Ana Marchbanks.")]

    people = frozenset({"PATIENT", "DOCTOR"})
    repeat = partial(with_repeated, people=people, are_public=is_summer)
    whose = NotesOfPatients({"a": "1", "b": "1"}, people, is_summer)
    finder = Finds((Annotation(3, 9, "DOCTOR"),), (Annotation(8, 22, "PATIENT"),))
    texts = [one.text for one in deidentify(finder, notes, MODES["redact"], Tally(), None, whose, repeat)]
    assert texts == ["Dr [DOCTOR] came in Summer.", "Seen by [PATIENT]."]

"""What has left counts no second time, whoever prints it anew; and what may be PHI in any note counts in all."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from site_client import workspace
from site_client.fragments.careful import Careful
from site_client.fragments.sifting import Sieve, Tally
from site_client.fragments.store import Draft, Gone, next_number, notes_path, read_draft, save_draft
from site_client.sharing.known_notes import DigestKey
from site_client.workspace import Workspace
from tests.loop import sample_the_same_runs
from tests.site_client.fragments.test_counting import counted, texts

NOTHING = Gone()
ADDED = {
    "header": "Printed again on the ward.\n{}",
    "print line": "{}\nPage one of one.",
    "addendum": "{}\nSeen again since and no better.",
    "casing and blanks": "  {}  \n\n",
}
EXPORTED: dict[str, Callable[[str], str]] = {
    "line ends of HTML": lambda text: text.replace("\n", "<br>"),
    "paragraphs of HTML": lambda text: "".join(f'<p class="line">{line}</p>' for line in text.split("\n")),
    "line ends as escapes": lambda text: text.replace("\n", "\\n"),
    "line ends of Windows as escapes": lambda text: text.replace("\n", "\\r\\n"),
    "wide signs": lambda text: text.replace("o", "\uff4f"),
    "other line ends and signs": lambda text: textwrap.fill(text.replace(".", ";"), 30),
}


@dataclass(frozen=True)
class Cut:
    """What became of notes."""

    texts: set[str]
    tally: Tally
    gone: Gone


@pytest.fixture
def site(tmp_path: Path) -> Workspace:
    made = workspace.create(tmp_path / "site", "st-anne")
    # Of a short note some samples hold mostly runs that have left: by one key in two hundred an addendum makes no new note.
    sample_the_same_runs(made.root)
    return made


def cut(
    site: Workspace, notes: Sequence[Document], gone: Gone = NOTHING, patients: dict[str, str] | None = None
) -> Cut:
    """Phrases that three notes, or patients, have, and what is gone once they have left."""
    tally, counts = Tally(), counted([], patients=patients)
    sieve = Sieve(DigestKey(site), gone, tally, patients)
    for note in notes:
        sieve.count(Careful(note, note.annotations), counts)
    tally.owners = counts.owners
    return Cut(texts(counts), tally, gone.joined(1, sieve.draft(""), frozenset()))


def patient_notes(*words: str, first: int = 0) -> list[Document]:
    """Of patients who have a finding, and a history of their own."""
    return notes(
        *(f"{word} and {word} is all there is of {word}.\n\n{word} has rare findings" for word in words), first=first
    )


def notes(*texts: str, first: int = 0) -> list[Document]:
    return [Document(f"n{number}", text) for number, text in enumerate(texts, first)]


def labelled(note: Document, words: str, identifier: str = "again") -> Document:
    start = note.text.index(words)
    return replace(note, identifier=identifier, annotations=(Annotation(start, start + len(words), "PATIENT"),))


@pytest.mark.parametrize("change", ADDED.values(), ids=ADDED)
def test_attack_old_notes_printed_anew_show_what_one_new_patient_has(site: Workspace, change: str) -> None:
    """Two of them had it, too few to leave; with the third what leaves is of the third."""
    before = cut(site, patient_notes("ua", "va"))
    assert "rare findings" not in before.texts
    anew = [replace(note, text=change.format(note.text)) for note in patient_notes("ua", "va")]
    found = cut(site, [*anew, *patient_notes("wa", first=9)], before.gone)
    assert found.tally.gone == 2
    assert "rare findings" not in found.texts
    assert "rare findings" in cut(site, [*anew, *patient_notes("wa", first=9)]).texts
    assert "rare findings" in cut(site, patient_notes("wa", "xa", "ya", first=9), before.gone).texts


def long_notes(*words: str, first: int = 0) -> list[Document]:
    """As `patient_notes`, in lines of many words, a patient's own among any eight."""
    line = "{0} was seen by us and {0} said that {0} was no better on {1} than before. {0} eats well and {0} sleeps {1}"
    return notes(
        *(
            "\n".join(
                [*(line.format(word, day) for day in ("monday", "tuesday", "friday")), f"{word} has rare findings"]
            )
            for word in words
        ),
        first=first,
    )


def in_short_lines(note: Document) -> Document:
    return replace(note, text="\n".join("\n".join(textwrap.wrap(line, 24)) for line in note.text.split("\n")))


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("change", EXPORTED.values(), ids=EXPORTED)
def test_attack_old_notes_are_exported_anew_with_other_lines(
    site: Workspace, change: Callable[[str], str], backwards: bool
) -> None:
    """No sentence of theirs is the same any more, but most runs of their words are."""
    first = list(map(in_short_lines, long_notes("ua", "va")))
    anew = [replace(note, text=change(note.text)) for note in first]
    if backwards:
        first, anew = anew, first
    before = cut(site, first)
    found = cut(site, [*anew, *long_notes("wa", first=9)], before.gone)
    assert (found.tally.gone, found.tally.owners) == (2, 1)
    assert "rare findings" not in found.texts
    assert "rare findings" in cut(site, long_notes("wa", "xa", "ya", first=9), before.gone).texts


@pytest.mark.parametrize("change", EXPORTED.values(), ids=EXPORTED)
def test_attack_one_note_in_two_exports_is_no_two_patients(site: Workspace, change: Callable[[str], str]) -> None:
    own = list(map(in_short_lines, long_notes("ua", "va")))
    again = [replace(note, text=change(note.text), identifier=f"{note.identifier}-again") for note in own]
    found = cut(site, [*own, *again])
    assert found.tally.owners == 2
    assert "rare findings" not in found.texts


def test_what_format_2_kept_is_read_without_runs_of_words(site: Workspace) -> None:
    sieve = Sieve(DigestKey(site), NOTHING, Tally())
    for note in long_notes("ua", "va"):
        sieve.count(Careful(note, ()), counted([]))
    draft = sieve.draft("ab" * 32)
    save_draft(site, next_number(site), draft)
    read = read_draft(site, 1)
    assert (read.runs.tolist(), read.runs_known) == (draft.runs.tolist(), 0)
    assert len(draft.runs)
    path = notes_path(site, 1)
    stated, _, body = path.read_bytes().partition(b"\n")
    head = json.loads(stated)
    path.write_bytes(
        json.dumps(
            {name: head[name] for name in ("notes", "patients", "sentences", "manifest_sha256", "notes_key")}
            | {"format": 2}
        ).encode()
        + b"\n"
        + body[: -8 * len(draft.runs)]
    )
    read = read_draft(site, 1)
    assert not len(read.runs)
    assert (read.notes, read.sentences.tolist(), read.notes_key) == (
        draft.notes,
        draft.sentences.tolist(),
        draft.notes_key,
    )
    assert cut(site, long_notes("ua"), NOTHING.joined(1, read, frozenset())).tally.gone == 1


def test_attack_an_addendum_longer_than_the_note(site: Workspace) -> None:
    """It makes a new note of an old one, whose sentences count no second time."""
    before = cut(site, patient_notes("ua", "va"))
    addendum = (
        "\n{0} is new with {0} as we saw today, and {0} has neither changed nor gone, nor has anything else of hers."
    )
    anew = [
        replace(note, text=note.text + addendum.format(f"x{note.identifier}")) for note in patient_notes("ua", "va")
    ]
    found = cut(site, [*anew, *patient_notes("wa", first=9)], before.gone)
    assert found.tally.gone == 0
    assert "rare findings" not in found.texts
    assert "rare findings" in cut(site, [*anew, *patient_notes("wa", first=9)]).texts


def test_attack_new_notes_of_old_patients_show_what_one_new_patient_has(site: Workspace) -> None:
    """Two of them had it, too few to leave; their new notes say it again, and with the third what leaves is of the third."""
    january, february = patient_notes("ua", "va"), patient_notes("xa", "ya", first=5)
    whose = dict(zip(("n0", "n1", "n5", "n6", "n9"), ("P0", "P1", "P0", "P1", "P9"), strict=True))
    before = cut(site, january, patients=whose)
    newcomer = patient_notes("wa", first=9)
    found = cut(site, [*february, *newcomer], before.gone, whose)
    assert (found.tally.gone, found.tally.returned, found.tally.owners) == (0, 2, 1)
    assert "rare findings" not in found.texts
    whose |= {"n5": "P5", "n6": "P6"}
    assert "rare findings" in cut(site, [*february, *newcomer], before.gone, whose).texts


def test_a_patient_of_a_copy_comes_back_too(site: Workspace) -> None:
    first, back = patient_notes("ua")[0], patient_notes("va", first=5)
    whose = {"n0": "P0", "n1": "P1", "n5": "P1"}
    gone = cut(site, [first, replace(first, identifier="n1")], patients=whose).gone
    assert cut(site, back, gone, whose).tally.returned == 1


def test_a_file_without_patients_is_known_as_one(site: Workspace) -> None:
    before = cut(site, patient_notes("ua")).gone
    assert (before.named, before.unnamed) == ((), (1,))
    both = before.joined(2, Draft(patients=frozenset({b"P"})), frozenset())
    assert (both.named, both.unnamed) == ((2,), (1,))
    with pytest.raises(ConfigurationError, match="as for file 2"):
        cut(site, patient_notes("va"), both)


def test_a_label_of_a_patient_who_came_back_counts(site: Workspace) -> None:
    whose = {"n0": "P0", "n5": "P0", "n6": "P6", "n7": "P7", "n8": "P8"}
    gone = cut(site, patient_notes("ua"), patients=whose).gone
    back, *new = patient_notes("va", "wa", "xa", "ya", first=5)
    assert "rare findings" in cut(site, [back, *new], gone, whose).texts
    assert "rare findings" not in cut(site, [labelled(back, "rare", "n5"), *new], gone, whose).texts


@pytest.mark.parametrize("first", [True, False])
def test_attack_a_label_that_only_a_copy_has(site: Workspace, first: bool) -> None:
    """The second of two notes of the same text was dropped with its labels, and what they cover left."""
    own = notes(*(f"{word} {word}.\n\nmay flower" for word in "uvwxyz"))
    copy = labelled(own[0], "may")
    assert "may flower" in cut(site, own).texts
    assert "may flower" not in cut(site, [copy, *own] if first else [*own, copy]).texts


def test_attack_a_label_of_a_note_that_has_left(site: Workspace) -> None:
    before = notes(*(f"{word} {word}.\n\n{word} may flower" for word in "uvw"))
    gone = cut(site, before).gone
    own = notes(*(f"{word} {word}.\n\n{word} may flower" for word in "xyz"), first=5)
    assert "may flower" in cut(site, own, gone).texts
    found = cut(site, [*own, labelled(before[0], "flower")], gone)
    assert found.tally.gone == 1
    assert "may flower" not in found.texts


def test_attack_a_label_in_another_language(site: Workspace) -> None:
    spanish = "La paciente acude por dolor en el pecho y fiebre desde hace unos días, sin otros síntomas: may flower."
    own = notes(*(f"{word} {word}.\n\nmay flower" for word in "uvw"))
    found = cut(site, [*own, labelled(Document("es", spanish * 3), "may")])
    assert found.tally.foreign == 1
    assert "may flower" not in found.texts

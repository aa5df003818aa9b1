"""Very short labelled notes with invented names, and corpora of them on the disk."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from shared.corpus import write_corpus
from shared.document import Annotation, Document

FIRST = ("Brunhilda", "Ermenegild", "Theobald", "Wilhelmina", "Quintus", "Philippa", "Gwendolyn", "Leopold")
LAST = ("Quillfeather", "Oxenthorpe", "Nettlecombe", "Zwiebelfisch", "Umbersledge", "Ravensdale", "Marchbanks")
HOSPITALS = ("Larkspur Infirmary", "Thistledown Clinic", "Saint Osyth Hospital")
FINDINGS = ("chest pain", "a dry cough", "swollen ankles", "mild fever", "no complaint", "a sequence of falls")

Piece = str | tuple[str, str]


def note(identifier: str, *pieces: Piece) -> Document:
    """A document from plain strings and (text, category) pairs."""
    text = ""
    spans = []
    for piece in pieces:
        if isinstance(piece, tuple):
            spans.append(Annotation(len(text), len(text) + len(piece[0]), piece[1]))
            text += piece[0]
        else:
            text += piece
    return Document(identifier, text, tuple(spans))


def tiny_notes(count: int, seed: int = 0, prefix: str = "note") -> Iterator[Document]:
    """Notes of about forty tokens with PATIENT, DOCTOR, DATE, PHONE and HOSPITAL, of the scheme i2b2_2014."""
    dice = random.Random(f"{prefix} {seed}")
    for number in range(count):
        patient = f"{dice.choice(FIRST)} {dice.choice(LAST)}"
        day = f"{dice.randint(1, 28):02}/{dice.randint(1, 12):02}/20{dice.randint(10, 24)}"
        phone = f"{dice.randint(200, 999)}-{dice.randint(1000, 9999)}"
        yield note(
            f"{prefix}-{number:03}",
            "Patient ",
            (patient, "PATIENT"),
            " was seen on ",
            (day, "DATE"),
            ".\n",
            f"There was {dice.choice(FINDINGS)} and {dice.choice(FINDINGS)} today.\n",
            "Dr ",
            (dice.choice(LAST), "DOCTOR"),
            " of ",
            (dice.choice(HOSPITALS), "HOSPITAL"),
            " advised rest.\n",
            "Please call ",
            (phone, "PHONE"),
            " if it gets worse.\n",
        )


# Words of the notes above, so that every vocabulary of the tests holds them.
_WORDS = tuple(
    dict.fromkeys(
        [
            *(word for finding in FINDINGS for word in finding.split()),
            *"There was and today Patient seen on of advised rest Please call if it gets worse".split(),
        ]
    )
)


def long_notes(count: int, seed: int) -> list[Document]:
    """Notes of three sentences of sixteen words each, with a name in each, of which no two are alike."""
    dice = random.Random(seed)

    def sentence() -> list[Piece]:
        before, after = (" ".join(dice.choices(_WORDS, k=8)) for _ in range(2))
        return [f"{before} ", (f"{dice.choice(FIRST)} {dice.choice(LAST)}", "PATIENT"), f" {after}.\n"]

    return [note(f"long-{seed}-{number:03}", *sentence(), *sentence(), *sentence()) for number in range(count)]


def phi_strings(documents: Sequence[Document]) -> set[str]:
    """The text of every span, and each of its words of four letters and more."""
    spans = {document.covered_text(span) for document in documents for span in document.annotations}
    return spans | {word for span in spans for word in span.split() if len(word) >= 4 and word.isalpha()}


def write_notes(path: Path, documents: Sequence[Document], form: str = "brat") -> Path:
    """A labelled corpus on the disk."""
    write_corpus(documents, path, form)
    return path

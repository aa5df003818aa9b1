"""Encodings of a few notes at a hospital, and what whoever holds their shares may read."""

from __future__ import annotations

import json
import re
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

from protocols.canonical import Json
from shared.document import Document
from shared.sentences.tokenised import tokenise_documents, tokenised_chunks, tokenised_corpus
from site_client import ledger
from site_client.ledger import Event
from site_client.sharing.digest_files import digest_of_known
from site_client.sharing.known_notes import DigestKey
from site_client.sharing.new_notes import Sieve
from site_client.sharing.sifting.sifted import Sifted
from site_client.workspace import Workspace, create
from tests.loop import sample_the_same_runs
from tests.site_client.sites import SCHEME
from tests.tiny_notes import long_notes, note

A, B = "aa" * 32, "bb" * 32


def new_site(folder: Path) -> Workspace:
    made = create(folder / "site", "north")
    sample_the_same_runs(made.root)
    # Nothing is kept before there is an entry.
    ledger.record(made, Event.ENROLMENT_REQUESTED, {})
    return made


def encode(
    site: Workspace,
    documents: Sequence[Document],
    sequence: int = 0,
    representer: str = A,
    least: int = 1,
    dropped: str = "",
    **options: bool,
) -> tuple[list[tuple[str, ...]], Sifted]:
    """The words of the sentences that an encoding lets through, as whoever decodes the share may read them at the best.

    Sentences with the word `dropped` the guard keeps here.
    """
    sieve = Sieve(site, representer, **options)
    chunks = tokenised_chunks(sieve.notes(tokenise_documents(documents)), SCHEME, chunk_tokens=64)
    shown = []
    for chunk in chunks:
        words = [words for words, _ in sieve.sentences(chunk).split()]
        leave = np.array([dropped not in sentence for sentence in words], dtype=np.bool_)
        sieve.admitted(leave)
        shown += [sentence for sentence, leaves in zip(words, leave, strict=True) if leaves]
    sifted = sieve.finish(least)
    if sequence:
        sieve.save(sequence)
    return shown, sifted


def manifest(sequence: int) -> str:
    """Digest of the manifest of a share."""
    return f"{sequence:064}"


def leave(site: Workspace, sequence: int, state: str = "") -> None:
    known = digest_of_known(site, sequence)
    digests = {"manifest_sha256": manifest(sequence), "bundle_sha256": "cd" * 32, "known_notes": known}
    ledger.record(site, Event.SUBMITTED, {"sequence": sequence, "to": "folder", **digests})
    if state:
        receipt: dict[str, Json] = {"sequence": sequence, "manifest_sha256": manifest(sequence), "state": state}
        ledger.record(site, Event.RECEIPT, receipt)


def share(site: Workspace, documents: Sequence[Document], sequence: int, representer: str = A) -> list[tuple[str, ...]]:
    shown, _ = encode(site, documents, sequence, representer)
    leave(site, sequence)
    return shown


def relabelled(document: Document) -> Document:
    """The same text, one span labelled otherwise."""
    first, *others = document.annotations
    return replace(document, annotations=(replace(first, category="DOCTOR"), *others))


def unlabelled(document: Document) -> Document:
    return replace(document, annotations=())


def printed(document: Document, width: int) -> Document:
    """A note without labels as another export of it breaks its lines, with a line more."""
    lines = textwrap.wrap(" ".join(document.text.split()), width)
    return note(f"{document.identifier} {width}", "\n\n".join([*lines, f"Printed for {width} columns."]))


def accented(document: Document, form: Literal["NFC", "NFD"]) -> Document:
    """The note in a language of accents, as NFC writes them, or NFD: macOS, and what reads PDF."""

    def written(part: str) -> str:
        return unicodedata.normalize(form, part.translate(str.maketrans("aeo", "áéö")))

    return exported(document, written)


WIDE = str.maketrans({sign: chr(ord(sign) + 0xFEE0) for sign in map(chr, range(ord("!"), ord("~") + 1))})
EXPORTS: dict[str, Callable[[str], str]] = {
    "line ends of HTML": lambda text: text.replace("\n", "<br/>"),
    "line ends as escapes": lambda text: text.replace("\n", "\\r\\n"),
    "wide digits": lambda text: re.sub("[0-9]", lambda digit: digit[0].translate(WIDE), text),
    "wide signs": lambda text: text.translate(WIDE),
}


def in_numbered_lines(document: Document) -> Document:
    """The note in lines of three words and a number."""
    return exported(document, lambda part: re.sub(r"(\w+ \w+ \w+) ", r"\1 172\n", part))


def exported(document: Document, written: Callable[[str], str]) -> Document:
    """The note with each stretch between the edges of its spans written otherwise."""
    spans = document.annotations
    edges = [0, *(edge for span in spans for edge in (span.start, span.end)), len(document.text)]
    parts = [written(document.text[start:end]) for start, end in pairwise(edges)]
    labels = [span.category for span in spans]
    return note(
        document.identifier,
        *(part if place % 2 == 0 else (part, labels[place // 2]) for place, part in enumerate(parts)),
    )


def ruled(document: Document) -> Document:
    """The note with a heading between two rules, which are most of its signs."""
    rule = f"\n\n{'-' * 200}\n\n"
    return replace(document, text=f"{document.text}{rule}Signed.{rule}")


def left_with_format(
    site: Workspace, documents: Sequence[Document], sequence: int, number: int, *, sent: bool = True
) -> None:
    """The digests as earlier versions wrote them: of tokens (1), or of letters and digits, and of no hidden words (3)."""
    key = DigestKey(site)
    read = list(tokenise_documents(documents))
    cut = np.concatenate([key.cut_sentences(tokens) for _, tokens in read])
    words = cut if number == 1 else np.concatenate([key.sentences(one.text, tokens) for one, tokens in read])
    pairs = np.stack([words, key.labelled(words, tokenised_corpus(documents, SCHEME))], 1)
    sentences, labelled = np.unique(pairs, axis=0).T.astype("<u8")
    parts = [sentences, labelled, *([] if number == 1 else [np.unique(cut).astype("<u8")])]
    stated = {"format": number, "representer": A, "again": [], "new_notes": len(documents), "sentences": len(sentences)}
    if number > 1:
        stated |= {"by_tokens": len(parts[2]), "runs": 0, "runs_known": 0}
    folder = site.root / "known-notes"
    folder.mkdir(exist_ok=True)
    body = b"".join(part.tobytes() for part in parts)
    (folder / f"{sequence:04}.sentences").write_bytes(json.dumps(stated).encode() + b"\n" + body)
    (folder / f"{sequence:04}.digests").write_bytes(b"".join(sorted(key.note(one.text) for one in documents)))
    if sent:
        leave(site, sequence)


NOTES = long_notes(30, 1)
LATER = long_notes(25, 2)

CHANGES = {"another label": relabelled, "a label forgotten": unlabelled}

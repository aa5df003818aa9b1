"""`site-client inspect` for a file of fragments: every one of them, for who decides, and a count of its phrases in the notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from foundation.files import write_text
from protocols.share.fragments import LEAST_WORDS, MOST_WORDS, Fragments
from shared.document import Document
from shared.text.tokens import tokenise
from site_client.fragments.approving import read_own, shown_digest
from site_client.workspace import Workspace


@dataclass(frozen=True)
class Recount:
    """The phrases of a file, counted in notes by their words alone, without a parser.

    Args:
        notes: that were looked at.
        fewest: notes of the phrase that the fewest have.
        below: phrases that fewer notes have than the file states.
        labelled: phrases that stand in a label of any note.
    """

    notes: int
    fewest: int
    below: int
    labelled: int


@dataclass(frozen=True)
class FragmentInspection:
    """What is in a file of fragments.

    Args:
        fragments: verified.
        recount: None where no notes were given.
    """

    fragments: Fragments
    recount: Recount | None = None

    @property
    def is_draft(self) -> bool:
        """Whether nobody has approved it."""
        return self.fragments.key is None

    def as_json(self) -> dict[str, object]:
        """For programs: counts, and no phrase."""
        return {
            "fragments": self.fragments.manifest.to_json(),
            "manifest_sha256": self.fragments.manifest.sha256,
            "approved": not self.is_draft,
            "recount": None if self.recount is None else vars(self.recount),
        }

    def summary(self) -> list[str]:
        """What a person must know ahead of the phrases."""
        found = self.fragments.manifest
        state = (
            "a DRAFT, which nobody has approved: whoever has read all of it signs this one, and no other, by "
            f"`site-client approve-fragments FILE --approver NAME --digest {shown_digest(found)}`"
            if self.is_draft
            else "approved and signed; it counts as gone"
        )
        return [
            f"fragments {found.number} of {found.site}: TEXT of notes, {found.lines} lines of four phrases, {found.words} words; {state}",
            f"each phrase stands in notes of at least {found.least_notes} patients, or notes where nobody says whose they are; a phrase with a "
            "digit, a name, a word that is on no public list, or anything that a label or the pipeline holds for PHI is not in it",
            f"cut from {found.language} notes by {found.parser}, with {found.software}, on {found.created}; release {found.release[:12]} looked for PHI; "
            f"for the provider whose key is {found.recipient}",
            "what this does not promise: a common phrase may still tell of your hospital, and programs overlook PHI; read it before you approve it",
            *([] if self.recount is None else recount_lines(self.recount, found.least_notes)),
        ]

    def lines(self) -> list[str]:
        """Everything, for a terminal."""
        return [*self.summary(), "", *(", ".join(line) for line in self.fragments.lines)]


def inspect_fragments(
    workspace: Workspace, path: Path, documents: Iterable[Document] | None = None
) -> FragmentInspection:
    """Verify a file of this site, and say what is in it.

    Args:
        workspace: of the site.
        path: a draft, or what was approved.
        documents: the notes that it was made from; None to count nothing.

    Raises:
        ProtocolError: it is damaged, or not this site's.
        StorageError: it can't be read.
    """
    fragments, _ = read_own(workspace, path)
    return FragmentInspection(fragments, None if documents is None else recount(fragments, documents))


def recount(fragments: Fragments, documents: Iterable[Document]) -> Recount:
    """The phrases counted in notes by their words alone.

    Args:
        fragments: the file.
        documents: notes with their labels.
    """
    phrases, counts, labelled, notes = fragments.phrases, Counter[str](), set[str](), 0
    for document in documents:
        notes += 1
        here = _phrases_of(document, phrases)
        counts.update(here.keys())
        labelled.update(
            phrase
            for phrase, places in here.items()
            if any(span.start < end and start < span.end for start, end in places for span in document.annotations)
        )
    fewest = min((counts[phrase] for phrase in phrases), default=0)
    below = sum(counts[phrase] < fragments.manifest.least_notes for phrase in phrases)
    return Recount(notes, fewest, below, len(labelled))


def recount_lines(found: Recount, least: int) -> list[str]:
    """For people."""
    if not found.below and not found.labelled:
        return [
            f"counted again in {found.notes} notes: every phrase stands in at least {found.fewest}, and none in a label"
        ]
    return [
        f"COUNTED AGAIN in {found.notes} notes: {found.below} phrases stand in fewer than {least}, {found.labelled} stand in a label; are these the "
        "notes that it was made from? If so, do not approve it"
    ]


def write_fragments_page(found: FragmentInspection, path: Path) -> Path:
    """Write everything as a page.

    Raises:
        StorageError: no room, no permission.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(
        (resources.files("site_client.fragments") / "inspect_page.html").read_text(encoding="utf-8")
    )
    write_text(path, template.render(found=found, manifest=found.fragments.manifest, lines=found.fragments.lines))
    return path


def _phrases_of(document: Document, phrases: frozenset[str]) -> dict[str, list[tuple[int, int]]]:
    """Those that a note says, with their places."""
    tokens = tokenise(document.text)
    words, spans = [word.lower() for word in tokens.words], tokens.spans.tolist()
    found: dict[str, list[tuple[int, int]]] = {}
    for size in range(LEAST_WORDS, MOST_WORDS + 1):
        for place in range(len(words) - size + 1):
            text = " ".join(words[place : place + size])
            if text in phrases:
                found.setdefault(text, []).append((spans[place][0], spans[place + size - 1][1]))
    return found

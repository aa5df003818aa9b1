"""What every way to hand on de-identified notes offers: a name, what it writes, and how it turns a document.

A mode is one file here and its line in `site_client.deid.registry`. The object in the registry works by itself; what a hospital decides makes another
one of it (`prepared`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from shared.document import Document

if TYPE_CHECKING:
    from shared.surrogates.settings import SurrogateSettings


@dataclass(frozen=True)
class Replaced:
    """Where a span was, and what stands there now.

    Args:
        start, end: in the text that is written.
        category: of the span.
        original: the text that it covered. This is PHI.
        written: what takes its place.
    """

    start: int
    end: int
    category: str
    original: str = field(repr=False)
    written: str = field(repr=False)


Recorder = Callable[[str, str, Sequence[Replaced]], None]
"""Takes the id of a note, its text as it is written, and what was replaced in it."""


@dataclass(frozen=True)
class Setting:
    """What a mode is prepared with.

    Args:
        surrogates: how surrogates are made; None as usual.
        patients: the patient of each note, by its id; None where every note stands alone.
        key: gives the secret of the site, which is made on first use; None for one that is thrown away.
        linked: whether surrogates are drawn under that secret, so that another run draws them again.
        language: of the notes, where the settings name none.
    """

    surrogates: SurrogateSettings | None = None
    patients: Mapping[str, str] | None = None
    key: Callable[[], bytes] | None = None
    linked: bool = False
    language: str | None = None


@dataclass(frozen=True)
class ModeReport:
    """What a mode has to say when all notes are written.

    Args:
        values: for a program.
        lines: for people.
        on_screen: for the person at the terminal, for it hangs on what was true: it is in no file and no log.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    on_screen: tuple[str, ...] = ()


class Mode(ABC):
    """One way.

    Args of the class:
        name: what `--mode` takes.
        writes: what comes out, in a few words for the help.
        format: of the files, a name of `shared.corpus`.
        hides: whether no character of a span may be left but by chance. Then annotations that the notes bring along are hidden too:
            what anybody marked as PHI is PHI.
    """

    name: ClassVar[str]
    writes: ClassVar[str]
    format: ClassVar[str]
    hides: ClassVar[bool]

    @abstractmethod
    def turn(self, document: Document) -> Document:
        """The document as it is written, with the id and all text outside its annotations as they were."""

    def prepared(self, setting: Setting) -> Mode:
        """The mode as a hospital wants it."""
        return self

    def report(self) -> ModeReport:
        """What it has to say of all documents that it has turned."""
        return ModeReport()


class Hiding(Mode):
    """One that puts something into the place of every span, and leaves no annotations.

    Attributes:
        recorder: is told of every note what was replaced; nobody is told unless somebody sets it.
    """

    format = "txt"
    hides = True
    recorder: Recorder | None = None

    @abstractmethod
    def replacements(self, document: Document) -> Sequence[str]:
        """For every annotation, in their order, what takes the place of its span."""

    def turn(self, document: Document) -> Document:
        """The document with every annotated span replaced, and no annotations.

        It is built from left to right over sorted, disjoint spans, which `Document` guarantees, so no part of a span can slip
        through between two replacements.
        """
        pieces: list[str] = []
        replaced: list[Replaced] = []
        position = length = 0
        for span, written in zip(document.annotations, self.replacements(document), strict=True):
            between = document.text[position : span.start]
            start = length + len(between)
            length = start + len(written)
            pieces += [between, written]
            replaced.append(Replaced(start, length, span.category, document.covered_text(span), written))
            position = span.end
        pieces.append(document.text[position:])
        text = "".join(pieces)
        if self.recorder is not None:
            self.recorder(document.identifier, text, replaced)
        return Document(document.identifier, text)

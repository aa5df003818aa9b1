"""What every way to hand on de-identified notes offers: a name, what it writes, and how it turns a document.

A mode is one file here and its line in `site_client.deid.registry`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from shared.document import Document


class Mode(ABC):
    """One way.

    Args of the class:
        name: what `--mode` takes.
        writes: what comes out, in a few words for the help.
        format: of the files, a name of `shared.corpus`.
        hides: whether no character of a span may be left. Then annotations that the notes bring along are hidden too:
            what anybody marked as PHI is PHI.
    """

    name: ClassVar[str]
    writes: ClassVar[str]
    format: ClassVar[str]
    hides: ClassVar[bool]

    @abstractmethod
    def turn(self, document: Document) -> Document:
        """The document as it is written, with the id and all text outside its annotations as they were."""

"""What a hospital's own labelled notes show of a release, before anything is encoded from them.

What leaves a hospital are rows, tags, casing classes and sentence lengths. Tags, casing and lengths are made by this program from
the notes and the drawn surrogates; the weights of a release have no say in them, by type: a representer maps vectors to rows, one for
each token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shared.anonymity.public_lists import PublicList
from shared.constructions.construction import Construction
from shared.constructions.promised import RecomputedOnNotes
from shared.document import Document


@dataclass(frozen=True)
class NotesSample:
    """How much is looked at.

    Args:
        sentences: with labelled PHI, at most.
        neighbours: of a PHI word, itself included, for the white-box bound.
        seed: of what is drawn; None draws one that nobody can know.
    """

    sentences: int = 200
    neighbours: int = 100
    seed: int | None = None


def recompute_on_notes(
    construction: Construction,
    documents: Iterable[Document],
    lists: Sequence[PublicList],
    sample: NotesSample | None = None,
) -> RecomputedOnNotes:
    """What labelled notes show of a construction; the notes are read once, as a stream.

    Args:
        construction: of the release.
        documents: labelled notes, their labels those of the release or HIDDEN.
        lists: public words, as in `Construction.recompute`.
        sample: how much is looked at; None for the default.

    Raises:
        LabelError: a label is not in the scheme of the release.
    """
    raise NotImplementedError

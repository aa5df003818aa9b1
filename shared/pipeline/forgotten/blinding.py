"""A labelled note as whoever looks for forgotten PHI gets to read it for a share: a constant stands for every labelled span.

Which words a share calls unknown everybody sees who has it. So what decides that depends on labels and on the text outside of them, and
on nothing that a label covers: the pipeline is the provider's, and may say of one word that another stands beside it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from shared.document import Annotation, Document
from shared.patterns.kinds import Suspicion
from shared.sentences.referenced import decoded_apart
from shared.text.capitals import is_small
from shared.text.labelled import grown_spans
from shared.text.references.decoding import Decoded

STAND_IN = "Xxxxxxx"
"""Read for a labelled span, whatever its category and form: a word behind a title or ahead of a surname, and on no list."""


@dataclass(frozen=True, repr=False)
class Blinded:
    """A note without what is labelled in it, and the way back.

    Args:
        document: its text has constants in the place of spans, its annotations lie on them.
        ends: where these end, ascending.
        longer: by how many characters more the text up to there is longer in the note itself, as it is read.
        note: which that is.
    """

    document: Document
    ends: tuple[int, ...]
    longer: tuple[int, ...]
    note: Decoded

    def __repr__(self) -> str:
        return f"Blinded({self.document!r})"

    def in_note(self, suspicions: Iterable[Suspicion]) -> Iterator[Suspicion]:
        """The same stretches of the note itself.

        Args:
            suspicions: of `document`; none touches an annotation.
        """
        for one in suspicions:
            ahead = bisect_right(self.ends, one.start)
            shift = self.longer[ahead - 1] if ahead else 0
            start, end = self.note.to_written(one.start + shift, one.end + shift)
            yield replace(one, start=start, end=end)


def blind(document: Document) -> Blinded:
    """A note with a constant for each labelled span and for what `grown_spans` takes into it.

    Args:
        document: with the labels that people gave.
    """
    document, note = decoded_apart(document)
    text = document.text
    grown = grown_spans(text, [(span.start, span.end) for span in document.annotations])
    outside = [
        text[end:start]
        for end, start in zip([0, *(end for _, end in grown)], [*(start for start, _ in grown), len(text)], strict=True)
    ]
    # A note in small letters stays one: a pipeline reads such a note otherwise.
    stand_in = STAND_IN.lower() if is_small("\n".join(outside)) else STAND_IN
    annotations: list[Annotation] = []
    longer: list[int] = []
    place = 0
    for span, (_, end), ahead in zip(document.annotations, grown, outside, strict=False):
        start = place + len(ahead)
        place = start + len(stand_in)
        annotations.append(replace(span, start=start, end=place))
        longer.append(end - place)
    blinded = replace(document, text=stand_in.join(outside), annotations=tuple(annotations))
    return Blinded(blinded, tuple(span.end for span in annotations), tuple(longer), note)

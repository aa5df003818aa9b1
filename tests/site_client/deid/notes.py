"""Notes in which every character that slips through is seen."""

from __future__ import annotations

from hypothesis import strategies as st

from shared.document import Annotation, Document

LENGTH = 60
_LINE_ENDS = "\n\r\t\u2028\x0b"


@st.composite
def annotated(draw: st.DrawFn) -> Document:
    """A note of private-use characters, all different, among line ends of all kinds, which no span covers."""
    edges = sorted(draw(st.sets(st.integers(0, LENGTH), max_size=10)))
    pairs = list(zip(edges[::2], edges[1::2], strict=False))
    inside = {place for start, end in pairs for place in range(start, end)}
    ends = draw(st.sets(st.integers(0, LENGTH - 1), max_size=6)) - inside
    text = "".join(
        draw(st.sampled_from(_LINE_ENDS)) if place in ends else chr(0xE000 + place) for place in range(LENGTH)
    )
    return Document("n", text, tuple(Annotation(start, end, draw(st.sampled_from("AB"))) for start, end in pairs))


def ours(text: str) -> list[str]:
    """The characters of such a note that a text holds, in their order."""
    return [character for character in text if character in _LINE_ENDS or ord(character) >= 0xE000]


def covered(document: Document) -> set[str]:
    """The characters under the annotations, which stand there only once."""
    return {character for span in document.annotations for character in document.covered_text(span)} - set(_LINE_ENDS)

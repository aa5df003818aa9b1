"""The labels that notes use, and the beginning of a file that maps them to those of a release, for a person to complete."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shared.document import AnnotatedText
from shared.errors import AnnotationError, ConfigurationError
from shared.labels import LabelScheme, load_mapping, plain_name, scheme_names

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class FoundLabel:
    """A label of the notes.

    Args:
        name: as the notes have it.
        count: how many spans have it.
        category: of the release, "" where the release counts it as no PHI; None where nobody knows yet.
    """

    name: str
    count: int
    category: str | None


def find_labels(documents: Iterable[AnnotatedText], scheme: LabelScheme) -> list[FoundLabel]:
    """Every label, the most frequent first, mapped where its name is known: of the release, or of a scheme that comes along.

    Raises:
        AnnotationError: there is none.
    """
    counts, notes = Counter[str](), 0
    for document in documents:
        notes += 1
        counts.update(span.category for span in document.annotations)
    if not counts:
        raise AnnotationError(f"expected labels, got none in {notes} notes; name the notes that somebody has labelled")
    known = _known(scheme)
    return [
        FoundLabel(name, count, known.get(plain_name(name)))
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def label_map(found: Iterable[FoundLabel], scheme: LabelScheme) -> str:
    """The file, TOML: what is to be filled in is commented out, so that nothing is mapped before somebody has decided."""
    lines = [
        f"# Labels of the notes, put into the words of {scheme.name}: {', '.join(scheme.categories)}.",
        '# Complete the lines that begin with "#" and remove the mark. "" is PHI that is hidden and that the release has no',
        "# label for; take labels that are no PHI, such as findings, out of the notes.",
        "[map]",
    ]
    for one in found:
        key = one.name if _BARE.fullmatch(one.name) else json.dumps(one.name, ensure_ascii=False)
        mark = "# " if one.category is None else ""
        lines.append(f'{mark}{key} = "{one.category or ""}"  # {one.count} times')
    return "\n".join(lines) + "\n"


def _known(scheme: LabelScheme) -> Mapping[str, str]:
    """Categories by plain names; what two schemes map differently is for a person to say."""
    known: dict[str, str | None] = {}
    for name in scheme_names():
        try:
            mapping = load_mapping(name, scheme.name)
        except ConfigurationError:
            continue
        for label, category in mapping.items():
            plain = plain_name(label)
            known[plain] = category if known.get(plain, category) == category else None
    known |= {plain_name(category): category for category in scheme.categories}
    return {name: category for name, category in known.items() if category is not None}

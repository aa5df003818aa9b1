"""What became of the documents of one pass over a corpus: every one of them is counted somewhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

_WORDS = {
    "FormatError": "not in their format",
    "AnnotationError": "annotations that do not fit",
    "LabelError": "unknown labels",
}


@dataclass(slots=True)
class Report:
    """Counts of one pass; complete when the pass is.

    Args:
        read: documents handed on.
        quarantined: documents set aside.
        reasons: quarantined documents by class of error, such as "AnnotationError".
        notes: what was passed over or converted without harm, such as "brat relation, event and attribute lines".
    """

    read: int = 0
    quarantined: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        kinds = ", ".join(f"{_WORDS.get(name, 'others')}: {count}" for name, count in sorted(self.reasons.items()))
        told = f"{self.read} documents read, {self.quarantined} quarantined" + (f" ({kinds})" if kinds else "")
        return "; ".join([told, *(f"{name}: {count}" for name, count in sorted(self.notes.items()) if count)])

"""How many notes of a share look like no other by the form of their labelled PHI.

Surrogates hide which words PHI is made of; number of tokens, casing and punctuation remain, as far as the release shows them. What
two spans have in common there is asked as the audit asks it (`residual pattern`). The audit compares 10,000 patients that it puts together;
here the notes of one share are compared with one another, so that the figure is of this share alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from shared.constructions.construction import Construction
from shared.labels import categories_known_of_patients, tag_spans
from shared.privacy.attacks.person.pattern import Span, looks_of
from site_client.sharing.readable.figures import ALONE_BY_PHI, Figure
from site_client.sharing.readable.originals import Own

_WHAT = "notes that look like no other note of this share by the form of their labelled PHI"
# Of the share: two spans look alike where they do in each of these.
_DRAWS = 8


class PhiForms:
    """The labelled PHI of the notes of a share.

    Args:
        construction: of the release.
    """

    def __init__(self, construction: Construction) -> None:
        self._construction = construction
        self._numbers: dict[tuple[int, Span], int] = {}
        self._of_notes: dict[int, set[int]] = defaultdict(set)

    def __repr__(self) -> str:
        return f"PhiForms({len(self._of_notes)} notes)"

    def add(self, own: Own) -> None:
        """Take in the next sentence of a note that was found in the share."""
        for start, end, category in tag_spans(own.tags):
            if category < len(self._construction.scheme.categories):
                span = (category, tuple(own.words[start:end]))
                number = self._numbers.setdefault(span, len(self._numbers))
                self._of_notes[own.note].add(number)

    @staticmethod
    def not_counted(why: str) -> Figure:
        """In the place of the figure."""
        return Figure(ALONE_BY_PHI, _WHAT, why)

    def figure(self) -> Figure:
        """Compare the notes."""
        if len(self._of_notes) < 2:
            return self.not_counted("for fewer than two of these notes are of this share and have labelled PHI")
        looks = self._looks()
        scheme = self._construction.scheme
        known = categories_known_of_patients(scheme)
        forms = [frozenset(looks[number] for number in numbers) for numbers in self._of_notes.values()]
        by_all = _alone(forms)
        by_known = _alone(frozenset(look for look in form if look[0] in known) for form in forms)
        counts = {"notes": len(forms), "alone": by_all, "alone_by_what_people_know": by_known}
        told_by = sorted(known & {category for category, _ in self._numbers})
        names = ", ".join(scheme.categories[category] for category in told_by)
        told = f"; {by_known} for whoever knows what people may know of a patient ({names})" if names else ""
        said = (
            f"{by_all} of {len(forms)} ({by_all / len(forms):.1%}) for whoever knows all PHI of a note, and which sentences are of it{told}; form is number "
            "of tokens, casing and punctuation, as far as the share shows them, not how often each comes; of this share alone: the fewer notes, the "
            "more look like no other, so it is not how many patients can be told apart among many (the audit's residual pattern)"
        )
        return Figure(ALONE_BY_PHI, _WHAT, said, counts)

    def _looks(self) -> list[tuple[int, int]]:
        """Category and look of each span, by its number."""
        spans: dict[int, list[Span]] = defaultdict(list)
        for category, span in self._numbers:
            spans[category].append(span)
        looks = looks_of(self._construction, spans, _DRAWS)
        return [(category, looks[category][span]) for category, span in self._numbers]


def _alone(forms: Iterable[frozenset[tuple[int, int]]]) -> int:
    """How many are like no other; one of nothing is like all of nothing, and says nothing."""
    times = Counter(forms)
    return sum(count == 1 for form, count in times.items() if form)

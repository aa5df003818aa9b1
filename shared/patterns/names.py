"""Names that public lists know, in a text: words with a capital one after another, of which one at least stands on a list.

A name on a list may be a word as well ("Rosa", "Cruz"), so a single one is a doubtful finding, and two beside each other are a sure one.
The lists that come with the program are of several countries and are all looked in: a release names its scheme as it likes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from shared.anonymity.names import names_of_all_schemes
from shared.embeddings.generalised import strip_accents
from shared.labels import HIDDEN, LabelScheme
from shared.patterns.given_names import GivenLists, GivenNames
from shared.patterns.kinds import CAPITALS, Suspicion, category_of
from shared.patterns.reading import begins_sentence, read

_PEOPLE = ("PATIENT", "NOMBRE_SUJETO_ASISTENCIA", "NAME", "PERSON")
_PLACES = ("STATE", "TERRITORIO", "LOCATION", "GEOGRAPHIC")
# It begins with its capital, so that the search can skip what is none.
_WORD = re.compile(rf"[{CAPITALS}](?<!\w.)[^\W\d_]{{2,}}")
# What may stand between two words of one name.
_BETWEEN = re.compile(r"(?: |-|,? ?)(?:(?:de|del|la|las|los|y) ){0,2}")
_TWO, _ONE, _AHEAD, _PLACE = 0.9, 0.55, 0.35, 0.55


class NameLists:
    """Finds what stands on public lists of names.

    Args:
        scheme: of the categories.
        people: lists of given names and surnames; None for those that come with the program.
        places: a list of places, likewise.
        given: what lists besides them name.
    """

    def __init__(
        self,
        scheme: LabelScheme,
        people: Sequence[Sequence[str]] | None = None,
        places: Sequence[str] | None = None,
        given: GivenNames | None = None,
    ) -> None:
        first_names, surnames, regions = names_of_all_schemes()
        self._people = _as_written(chain(*((first_names, surnames) if people is None else people)))
        self._places = _as_written(regions if places is None else places)
        self._person, self._place = (category_of(names, scheme) or HIDDEN for names in (_PEOPLE, _PLACES))
        self._given = GivenLists(scheme, given, self._people) if given else None

    def find(self, text: str) -> Iterator[Suspicion]:
        """Every run of words with a capital from the first that stands on a list, in a note as patterns read it."""
        reading = read(text)
        looking = [self._found] if self._given is None else [self._found, self._given.found]
        found = chain.from_iterable(look(*stretch) for stretch in reading.stretches() for look in looking)
        yield from map(reading.in_note, dict.fromkeys(found))

    def _found(self, text: str, first: int, last: int) -> Iterator[Suspicion]:
        """Of a text, what begins in a stretch of it."""
        run: list[re.Match[str]] = []
        for word in _WORD.finditer(text, first):
            if run and not _BETWEEN.fullmatch(text, run[-1].end(), word.start()):
                yield from self._suspicion(text, run)
                run = []
            if not run and word.start() >= last:
                return
            folded = word[0].lower()
            if run or folded in self._people:
                run.append(word)
            elif folded in self._places:
                yield self._as_place(word.start(), word.end())
        yield from self._suspicion(text, run)

    def _suspicion(self, text: str, run: Sequence[re.Match[str]]) -> Iterator[Suspicion]:
        if run:
            start, end = run[0].start(), run[-1].end()
            alone = _AHEAD if begins_sentence(text, start) else _ONE
            yield Suspicion(start, end, self._person, alone if len(run) == 1 else _TWO, "list of names")
            if alone == _AHEAD and len(run) == 1 and run[0][0].lower() in self._places:
                yield self._as_place(start, end)

    def _as_place(self, start: int, end: int) -> Suspicion:
        return Suspicion(start, end, self._place, _PLACE, "list of places")


def _as_written(names: Iterable[str]) -> frozenset[str]:
    """Names in lower case, with their accents and without: to strip those of every word of a text takes long."""
    return frozenset(form for name in names for form in (name.lower(), strip_accents(name)))

"""Surrogates of places.

**Promise.** A place of the public list gets another one of that list by permute-and-flip over ALL of it (`shared.surrogates.mechanisms.permute_and_flip`),
so two notes whose k-th place is d_k apart give any output with probabilities that differ by at most the factor exp(sum of epsilon_k d_k), where d is
the distance of `shared.surrogates.places.gazetteer`: kilometres and features together.

A place that is not on the list gets any of it, all alike: what comes out tells that it was not listed at most, never which it was. Which of the two a place is
stands outside of the promise, and so does what of an address is no place (`shared.surrogates.places.pieces`): streets, postcodes and states in two letters are
drawn, whatever they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

from shared.surrogates.maker import Maker, Mention, Plan, Protected, Scope
from shared.surrogates.mechanisms.permute_and_flip import permute_and_flip
from shared.surrogates.mechanisms.randomness import Randomness, choose
from shared.surrogates.places.gazetteer import STEPS, Atlas, Gazetteer
from shared.surrogates.places.pieces import Piece, pieces_of
from shared.surrogates.signs.formats import redraw
from shared.surrogates.spelling import cased_like, folded, on_one_line
from shared.surrogates.words.lists import word_lists
from shared.surrogates.words.streets import street

_LEVELS = {
    "place": ("place", "region", "country"),
    "region": ("region", "place", "country"),
    "country": ("country", "region", "place"),
}


class PlaceMaker(Maker):
    """See the module.

    Args:
        atlas: the list.
    """

    kinds = tuple(_LEVELS)

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas

    def read(self, mentions: Sequence[Mention], scope: Scope) -> Plan:
        """See `Maker`."""
        return _PlacePlan(mentions, scope, self._atlas)


class _PlacePlan(Plan):
    def __init__(self, mentions: Sequence[Mention], scope: Scope, atlas: Atlas) -> None:
        self._scope = scope
        self._atlas = atlas
        self._mentions = mentions
        language = scope.language.name
        self._pieces = [
            list(pieces_of(on_one_line(mention.text), language, partial(self._is_listed, mention.kind)))
            for mention in mentions
        ]
        self.entities = {
            self._entity(mention.kind, piece.text): Protected(mention.category)
            for mention, pieces in zip(mentions, self._pieces, strict=True)
            for piece in pieces
            if piece.kind == "place"
        }

    def write(self, epsilons: Mapping[str, Fraction | None]) -> list[str | None]:
        """See `Plan`."""
        return [
            self._written(mention.kind, pieces, epsilons)
            for mention, pieces in zip(self._mentions, self._pieces, strict=True)
        ]

    def _written(self, kind: str, pieces: Sequence[Piece], epsilons: Mapping[str, Fraction | None]) -> str | None:
        text = ""
        for piece in pieces:
            written = piece.text if piece.kind == "gap" else self._surrogate(kind, piece, epsilons)
            if written is None:
                return None
            text += written
        return text

    def _surrogate(self, kind: str, piece: Piece, epsilons: Mapping[str, Fraction | None]) -> str | None:
        if piece.kind == "street":
            return street(piece.text, self._scope)
        if piece.kind == "state":
            states = word_lists(self._scope.language.name, "states")
            return choose(self._scope.randomness("state", piece.text), states)
        if piece.kind == "signs":
            return redraw(piece.text, self._scope.randomness("digits", folded(piece.text)))
        epsilon = epsilons[self._entity(kind, piece.text)]
        drawn = None if epsilon is None else self._drawn(kind, piece.text, epsilon)
        return None if drawn is None else cased_like(drawn, piece.text)

    def _is_listed(self, kind: str, name: str) -> bool:
        return self._list_of(kind, name) is not None

    def _lists(self, kind: str) -> list[Gazetteer]:
        levels = [self._atlas.level(level, self._scope.language.name) for level in _LEVELS[kind]]
        return [places for places in levels if places is not None]

    def _list_of(self, kind: str, name: str) -> Gazetteer | None:
        """The first list that has it."""
        return next((places for places in self._lists(kind) if places.number(name) is not None), None)

    def _entity(self, kind: str, name: str) -> str:
        """A place on the list of towns and on that of regions is drawn from each, and pays for each."""
        places = self._list_of(kind, name)
        return f"place {'' if places is None else places.digest} {folded(name)}"

    def _drawn(self, kind: str, name: str, epsilon: Fraction) -> str | None:
        places = self._list_of(kind, name)
        true = None if places is None else places.number(name)
        if places is not None and true is not None:
            # Another list or budget is another draw: two of one stream might show the true place.
            chance = self._scope.randomness("place", folded(name), str(epsilon), places.digest)
            return near(chance, places, true, epsilon)
        lists = self._lists(kind)
        return choose(self._scope.randomness("unlisted", folded(name)), lists[0].names) if lists else None


def near(chance: Randomness, places: Gazetteer, true: int, epsilon: Fraction) -> str:
    """The name of a place that is drawn near a true one; epsilon counts for a unit of distance."""
    taken = permute_and_flip(
        chance,
        len(places.names),
        lambda number: places.distance(true, number),
        epsilon / STEPS,
    )
    return places.names[taken]

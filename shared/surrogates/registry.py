"""Everything that makes surrogates. A new one is a file of its own and a line here; its kinds stand in `shared.surrogates.kinds`."""

from __future__ import annotations

from collections.abc import Mapping

from shared.surrogates.maker import Maker
from shared.surrogates.people.maker import PeopleMaker
from shared.surrogates.places.gazetteer import Atlas, PlaceSettings
from shared.surrogates.places.maker import PlaceMaker
from shared.surrogates.signs.maker import SignsMaker
from shared.surrogates.time.maker import TimeMaker
from shared.surrogates.words.maker import WordsMaker


def makers(places: PlaceSettings) -> Mapping[str, Maker]:
    """By the kind that each makes."""
    atlas = Atlas(places)
    every = (TimeMaker(), PlaceMaker(atlas), PeopleMaker(), SignsMaker(), WordsMaker(atlas))
    return {kind: maker for maker in every for kind in maker.kinds}

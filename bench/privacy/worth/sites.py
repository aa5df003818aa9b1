"""Five English hospitals: each of them in turn is the provider, the next three share, the last is unseen."""

from __future__ import annotations

from bench import corpora
from bench.privacy.material import american_names, english
from bench.privacy.worth.sides import Sides

_SHARING = 3


def unseen_by(provider: str) -> str:
    """The hospital that neither is this provider nor shares with it."""
    return _order(provider)[-1]


def sides_of(provider: str) -> Sides:
    """A provider and the hospitals that share with it."""
    train = {site: corpora.en_site(site, "train") for site in _order(provider)[: _SHARING + 1]}
    own = train.pop(provider)
    hospitals = {f"site-{site}": notes for site, notes in train.items()}
    return Sides(own, hospitals, english(), list(corpora.public_english_texts()), american_names(), "i2b2_2014")


def _order(provider: str) -> tuple[str, ...]:
    """The provider, those that share, the one that nobody has seen."""
    turn = corpora.SITES.index(provider)
    return tuple(corpora.SITES[turn:] + corpora.SITES[:turn])


def asked_of(provider: str, where: str) -> tuple[str, ...]:
    """The hospitals of a rotation that are judged: "unseen", or those that are "sharing"."""
    order = _order(provider)
    return order[_SHARING + 1 :] if where == "unseen" else order[1 : _SHARING + 1]

"""Who holds the places for connections, and who gives way when there are too many: never who has just come.

A place belongs to the address its connection comes from, and, once a request on it is proved to be a site's, to that site.
An address that holds too many unproved ones loses its oldest, so who opens many displaces only its own. If all places
are taken, one goes of those who rank lowest: strangers before addresses from which a site has proved itself lately, these before
sites; of them, of who holds most; of that, the oldest. So whoever fills the server, a hospital that comes gets in, and
keeps its place from its first signed request on. What is cut is repeated by an honest site, from where it was.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from aggregator.errors import RequestError
from aggregator.server.connections.addresses import Proxies, network
from aggregator.server.limits import Limits, TokenBuckets

# Of a site: a hospital has few ways out, and an enrolled site that lies must not make half the world known.
_KNOWN_ADDRESSES = 4


class Rank(IntEnum):
    """Who gives way first."""

    STRANGER = 0
    KNOWN = 1
    SITE = 2
    PROXY = 3


class Owner(NamedTuple):
    """Whom a place belongs to.

    Args:
        rank: who gives way first.
        name: of the site, or the network of the address.
    """

    rank: Rank
    name: str


class Place:
    """The place of one connection.

    Args:
        places: all of them.
        owner: whom it belongs to at first.
        cut: ends the connection at once; whoever has more of it than its socket puts its own way here.
    """

    def __init__(self, places: Places, owner: Owner, cut: Callable[[], object]) -> None:
        self.owner = owner
        self.cut = cut
        self.asked = False
        self._places = places

    def leave(self) -> None:
        """The connection has ended."""
        self._places.leave(self)

    def prove(self, site: str) -> None:
        """A site has proved itself on the connection."""
        self._places.prove(self, site)

    def end_late(self) -> None:
        """The time for a first request is over."""
        self._places.end_late(self)


class Places:
    """All places of a server; used in its event loop only.

    Args:
        limits: how many, and how many of one.
        proxies: whose connections are other people's: no limit for an address holds for them, and they are not cut.
        turned_away: is told why a connection was refused or cut.
        clock: monotonic seconds.
        only_proxies: nobody else gets a place.
    """

    def __init__(
        self,
        limits: Limits,
        proxies: Proxies,
        turned_away: Callable[[str], object] = lambda why: None,
        clock: Callable[[], float] = time.monotonic,
        *,
        only_proxies: bool = False,
    ) -> None:
        self.limits = limits
        self._only_proxies = only_proxies
        self._proxies = proxies
        self._turned_away = turned_away
        self._begun = TokenBuckets(limits.address_connections_per_s, limits.address_connections, clock)
        self._owners: dict[Owner, dict[Place, None]] = {}
        self._known: dict[str, deque[str]] = {}
        self._taken = 0

    def take(self, peer: str, cut: Callable[[], object]) -> Place | None:
        """A place for a new connection; None if there is none for it.

        Args:
            peer: address of the other end.
            cut: see `Place`.
        """
        owner = self._owner(peer)
        if owner.rank != Rank.PROXY:
            if self._only_proxies:
                self._turned_away("past")
                return None
            try:
                self._begun.take(owner.name)
            except RequestError:
                self._turned_away("rate")
                return None
            if len(self._owners.get(owner, ())) >= self.limits.address_connections:
                self._cut_oldest(owner, "address")
        if self._taken >= self.limits.connections:
            last = min(self._owners, key=lambda one: (one.rank, -len(self._owners[one])))
            if last.rank == Rank.PROXY:
                self._turned_away("full")
                return None
            self._cut_oldest(last, "full")
        place = Place(self, owner, cut)
        self._add(place)
        return place

    def leave(self, place: Place) -> None:
        """Gives a place back; nothing happens if it was lost before."""
        places = self._owners.get(place.owner, {})
        if place in places:
            self._taken -= 1
            del places[place]
            if not places:
                del self._owners[place.owner]

    def prove(self, place: Place, site: str) -> None:
        """Makes a place that of a site that has proved itself on it, unless the site has its share of places already."""
        if place.owner.rank >= Rank.SITE or place not in self._owners.get(place.owner, {}):
            return
        known = self._known.setdefault(site, deque(maxlen=_KNOWN_ADDRESSES))
        if place.owner.name not in known:
            known.append(place.owner.name)
        owner = Owner(Rank.SITE, site)
        if len(self._owners.get(owner, ())) < self.limits.site_connections:
            self.leave(place)
            place.owner = owner
            self._add(place)

    def end_late(self, place: Place) -> None:
        """Cuts a connection on which no request has begun, when its time for that is over."""
        if not place.asked:
            self._cut(place, "silent")

    def _owner(self, peer: str) -> Owner:
        name = network(peer)
        if peer in self._proxies:
            return Owner(Rank.PROXY, name)
        known = any(name in addresses for addresses in self._known.values())
        return Owner(Rank.KNOWN if known else Rank.STRANGER, name)

    def _add(self, place: Place) -> None:
        self._owners.setdefault(place.owner, {})[place] = None
        self._taken += 1

    def _cut_oldest(self, owner: Owner, why: str) -> None:
        self._cut(next(iter(self._owners[owner])), why)

    def _cut(self, place: Place, why: str) -> None:
        self._turned_away(why)
        self.leave(place)
        place.cut()

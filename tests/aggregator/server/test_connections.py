"""Whom an address stands for, and who gives way when there are too many connections."""

from __future__ import annotations

import dataclasses
import ipaddress
import itertools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.server.connections.addresses import Proxies, network
from aggregator.server.connections.places import Place, Places
from aggregator.server.limits import Limits, TokenBuckets
from shared.errors import ConfigurationError

HOST, OTHER, PROXY = "192.0.2.1", "198.51.100.7", "10.0.0.5"
LIMITS = Limits(connections=6, address_connections=3, site_connections=2, address_connections_per_s=1000)
ADDRESSES = st.ip_addresses().map(str)


@dataclasses.dataclass
class Door:
    """Places, and what became of them."""

    places: Places
    cut: list[int]
    turned_away: list[str]
    numbers: Callable[[], int]

    def take(self, peer: str) -> tuple[int, Place | None]:
        number = self.numbers()
        return number, self.places.take(peer, lambda: self.cut.append(number))

    def let_in(self, peer: str, site: str = "") -> tuple[int, Place]:
        number, place = self.take(peer)
        assert place is not None
        if site:
            place.prove(site)
        return number, place


def door(limits: Limits = LIMITS, clock: Callable[[], float] | None = None) -> Door:
    """Places at which a second passes between two connections unless `clock` says otherwise."""
    turned_away: list[str] = []
    places = Places(limits, Proxies([PROXY]), turned_away.append, clock or itertools.count(0.0).__next__)
    return Door(places, [], turned_away, itertools.count().__next__)


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_all_of_an_ipv6_64_is_one_host_and_nothing_else(address: ipaddress.IPv6Address, end: int) -> None:
    near = ipaddress.IPv6Address((int(address) >> 64 << 64) | end)
    far = ipaddress.IPv6Address(int(address) ^ (1 << 64))
    if address.ipv4_mapped is None and near.ipv4_mapped is None and far.ipv4_mapped is None:
        assert network(str(address)) == network(str(near)) != network(str(far))


def test_an_ipv4_address_is_one_host_also_in_the_spelling_of_ipv6() -> None:
    assert network("192.0.2.7") == network("::ffff:192.0.2.7") != network("192.0.2.8")


@given(ADDRESSES, st.lists(st.one_of(ADDRESSES, st.text(max_size=20)), max_size=4))
def test_attack_a_header_of_somebody_who_is_no_proxy_changes_nothing(peer: str, lines: list[str]) -> None:
    assert Proxies(["10.0.0.0/28"]).client(peer, lines) == network(peer) or peer.startswith("10.0.0.")
    assert Proxies().client(peer, lines) == network(peer)


@pytest.mark.parametrize(
    ("lines", "client"),
    [
        ([HOST], HOST),
        # What the client itself wrote stands before what the proxy has seen.
        ([f"{OTHER}, {HOST}"], HOST),
        ([OTHER, HOST], HOST),
        # Two proxies of ours, one behind the other.
        ([f"{OTHER}, {HOST}, 10.0.0.6"], HOST),
        (["2001:db8::1:2:3:4"], "2001:db8::/64"),
        ([], PROXY),
        ([""], PROXY),
        (["unknown"], PROXY),
        ([f"{HOST}, unknown"], PROXY),
        (["10.0.0.6"], "10.0.0.6"),
    ],
)
def test_a_proxy_says_who_its_client_is(lines: list[str], client: str) -> None:
    assert Proxies([PROXY, "10.0.0.6/31"]).client(PROXY, lines) == client


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="--trusted-proxy"):
        Proxies(["proxy.example.org"])


def test_attack_an_address_with_too_many_connections_displaces_its_own_oldest() -> None:
    held = door()
    other = held.let_in(OTHER)[0]
    mine = [held.let_in(HOST)[0] for _ in range(5)]
    assert held.cut == mine[:2]
    assert other not in held.cut
    assert held.turned_away == ["address"] * 2


def test_attack_addresses_of_one_ipv6_64_are_one_host() -> None:
    held = door()
    mine = [held.let_in(f"2001:db8::{number}")[0] for number in range(1, 6)]
    assert held.cut == mine[:2]
    held.let_in("2001:db8:0:1::1")
    assert held.cut == mine[:2]


def test_attack_who_fills_the_server_from_many_addresses_gives_way_to_who_comes() -> None:
    held = door()
    mine = [held.let_in(f"192.0.2.{number // 3}")[0] for number in range(6)]
    number, place = held.let_in(OTHER)
    assert held.cut == mine[:1]
    place.prove("north")
    for address in range(100):
        held.let_in(f"203.0.113.{address}")
    assert number not in held.cut


def test_strangers_give_way_before_addresses_that_are_known_and_these_before_sites() -> None:
    held = door()
    site = held.let_in(OTHER, "north")[0]
    known = held.let_in(OTHER)[0]
    strangers = [held.let_in(f"203.0.113.{number}")[0] for number in range(4)]
    for number in range(10):
        strangers.append(held.let_in(f"192.0.2.{number}")[0])
    assert held.cut == strangers[:10]
    # Without a stranger it is the turn of what is known, and at last of the site that holds most.
    few = door(dataclasses.replace(LIMITS, connections=3))
    site, known = few.let_in(OTHER, "north")[0], few.let_in(OTHER)[0]
    second = few.let_in(OTHER, "north")[0]
    few.let_in(OTHER)
    assert few.cut == [known]
    few.let_in(OTHER, "south")
    assert few.cut[-1] not in (site, second)


def test_of_sites_that_hold_all_places_the_largest_gives_way() -> None:
    held = door(dataclasses.replace(LIMITS, connections=3))
    first, _, _ = held.let_in(HOST, "north")[0], held.let_in(HOST, "north"), held.let_in(OTHER, "south")
    held.let_in("203.0.113.1")
    assert held.cut == [first]


def test_of_strangers_who_hold_all_places_the_one_that_holds_most_gives_way() -> None:
    held = door()
    held.let_in(OTHER)
    for _ in range(2):
        held.let_in("203.0.113.1")
    most = [held.let_in(HOST)[0] for _ in range(3)]
    held.let_in("203.0.113.2")
    assert held.cut == most[:1]


def test_a_site_keeps_only_its_share_before_others() -> None:
    held = door()
    for _ in range(2):
        held.let_in(HOST, "north")
    unkept = [held.let_in(HOST, "north")[0] for _ in range(4)]
    assert held.cut == unkept[:1]


def test_attack_a_site_makes_no_more_than_a_few_addresses_known() -> None:
    held = door(dataclasses.replace(LIMITS, connections=100))
    for number in range(20):
        held.let_in(f"192.0.2.{number}", "north")[1].leave()
    held = dataclasses.replace(held, cut=[], turned_away=[])
    first = held.let_in("192.0.2.0")[1]
    last = held.let_in("192.0.2.19")[1]
    assert first.owner.rank < last.owner.rank


def test_a_connection_that_was_cut_takes_no_place_again_whatever_it_proves() -> None:
    held = door(dataclasses.replace(LIMITS, connections=3))
    number, place = held.let_in(HOST)
    others = [held.let_in(f"203.0.113.{one}")[1] for one in range(3)]
    assert held.cut == [number]
    # Its request was on the way when it lost its place.
    place.prove("north")
    others[0].leave()
    held.let_in(OTHER)
    assert held.cut == [number]


def test_connections_of_a_proxy_are_neither_limited_by_address_nor_cut() -> None:
    held = door()
    for _ in range(6):
        held.let_in(PROXY)
    assert held.take(OTHER)[1] is None
    assert held.cut == []
    assert held.turned_away == ["full"]


def test_where_only_proxies_may_connect_nobody_else_gets_a_place() -> None:
    places = Places(LIMITS, Proxies([PROXY]), (turned_away := list[str]()).append, only_proxies=True)
    assert places.take(OTHER, lambda: None) is None
    assert places.take(PROXY, lambda: None) is not None
    assert turned_away == ["past"]


def test_who_begins_connections_too_quickly_is_turned_away_and_nobody_else() -> None:
    now = [0.0]
    held = door(dataclasses.replace(LIMITS, address_connections_per_s=2), lambda: now[0])
    for _ in range(3):
        held.let_in(HOST)[1].leave()
    assert held.take(HOST)[1] is None
    assert held.turned_away == ["rate"]
    held.let_in(OTHER)
    now[0] += 0.5
    held.let_in(HOST)


def test_a_connection_without_a_request_ends_and_one_with_it_stays() -> None:
    held = door()
    silent, asked = held.let_in(HOST), held.let_in(HOST)
    asked[1].asked = True
    for _, place in (silent, asked):
        place.end_late()
    assert held.cut == [silent[0]]
    assert held.turned_away == ["silent"]


STEPS = st.lists(
    st.tuples(st.sampled_from(["take", "take", "take", "leave", "prove"]), st.integers(0, 7), st.integers(0, 30)),
    max_size=80,
)


@given(STEPS)
def test_whatever_happens_the_limits_hold_and_who_comes_gets_in(steps: list[tuple[str, int, int]]) -> None:
    held = door()
    places: dict[int, Place] = {}
    for step, who, which in steps:
        chosen = list(places.values())[which % len(places)] if places else None
        before = {number: place.owner for number, place in places.items()}
        cut = len(held.cut)
        if step == "take":
            number, place = held.let_in(f"192.0.2.{who}")
            places[number] = place
        elif chosen is not None and step == "leave":
            chosen.leave()
            chosen.leave()
            places = {number: place for number, place in places.items() if place is not chosen}
        elif chosen is not None:
            chosen.prove(f"site-{who}")
        for number in held.cut[cut:]:
            lost = before[number]
            del places[number]
            kept = [owner for owner in before.values() if owner.rank < lost.rank]
            assert not kept or held.turned_away[-1] == "address"
        assert len(places) <= LIMITS.connections
        owners = [place.owner for place in places.values()]
        assert all(owners.count(one) <= (2 if one.name.startswith("site") else 3) for one in owners)


def test_buckets_of_addresses_that_were_not_here_for_long_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aggregator.server.limits._MOST_BUCKETS", 3)
    buckets = TokenBuckets(1, 1, lambda: 0.0)
    for address in ("a", "b", "c", "d"):
        buckets.take(address)
    # The first has been forgotten, and begins anew.
    buckets.take("a")

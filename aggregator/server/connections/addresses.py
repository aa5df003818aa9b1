"""Whom an address stands for: itself in IPv4, in IPv6 all of its /64, since anybody with one has 2^64; and behind a proxy the client.

A header that says who the client is counts only where the peer itself is a proxy that the provider named: everybody can write one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from shared.errors import ConfigurationError

FORWARDED_FOR = b"x-forwarded-for"
_PREFIX_BITS = 64


def network(address: str) -> str:
    """The address, or in IPv6 the network whose addresses are counted as one.

    Raises:
        ValueError: not an address.

    >>> network("192.0.2.7"), network("::ffff:192.0.2.7"), network("2001:db8:0:1:2::3")
    ('192.0.2.7', '192.0.2.7', '2001:db8:0:1::/64')
    """
    found = _parsed(address)
    if found.version == 4:
        return str(found)
    return str(ipaddress.ip_network((int(found), _PREFIX_BITS), strict=False))


class Proxies:
    """Reverse proxies whose word on their clients is taken.

    Args:
        networks: addresses or networks, such as "10.0.0.5" or "10.0.0.0/28".

    Raises:
        ConfigurationError: something else.
    """

    def __init__(self, networks: Iterable[str] = ()) -> None:
        try:
            self._networks = tuple(ipaddress.ip_network(one, strict=False) for one in networks)
        except ValueError as error:
            raise ConfigurationError(
                "--trusted-proxy: expected an address or a network like 10.0.0.0/28, got something else; correct it"
            ) from error

    def __contains__(self, address: str) -> bool:
        found = _parsed(address)
        return any(found in network for network in self._networks)

    def client(self, peer: str, forwarded: Iterable[str]) -> str:
        """The network of who sent a request.

        Args:
            peer: address of the other end of the connection.
            forwarded: every line of the header X-Forwarded-For, in order. Only what our own proxies have appended to it
                is believed: the last address that is none of theirs. Where it can't be read the proxy itself is the client.

        Raises:
            ValueError: the peer has no address.
        """
        hops = [hop.strip() for line in forwarded for hop in line.split(",")]
        client = peer
        try:
            while client in self and hops:
                client = str(_parsed(hops.pop()))
        except ValueError:
            return network(peer)
        return network(client)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    found = ipaddress.ip_address(address)
    mapped = found.ipv4_mapped if found.version == 6 else None
    return mapped or found

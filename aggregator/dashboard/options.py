"""Where the dashboard listens, and who vouches for whom: refused where passwords or sessions would cross a network in clear."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from aggregator.server.connections.addresses import Proxies
from shared.errors import ConfigurationError

_ADDRESS = re.compile(r"https?://[^\s/?#@\\]+/?", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9_]([a-z0-9._-]{0,252}[a-z0-9.])?")
# Python writes them as others, and browsers as themselves (UTS 46): who has such a name gives it as xn--….
_OTHERWISE = frozenset("ßς\u200c\u200d")
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
# Headers that browsers and proxies set by themselves say nothing of who somebody is.
_NOBODYS = frozenset(
    {"host", "origin", "cookie", "referer", "user-agent", "x-forwarded-for", "forwarded", "authorization"}
)


@dataclass(frozen=True)
class DashboardOptions:
    """How the dashboard is served: in clear on loopback or to a named proxy, by TLS elsewhere.

    Args:
        host: to listen at.
        port: to listen at; 0 for any that is free.
        certificate: of the server, for TLS.
        key: its private key.
        address: as browsers write it, such as https://dash.example.org; None for that of host and port.
        proxies: addresses of reverse proxies in front; from anybody else nothing is taken then.
        user_header: by which a proxy names the person that has signed in there; None for passwords.
        offline: folders of offline keys that a release may be signed with.

    Raises:
        ConfigurationError: a header without a proxy that sets it, an address in clear, or none where it is needed.
    """

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    address: str | None = None
    proxies: tuple[str, ...] = ()
    user_header: str | None = None
    offline: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        Proxies(self.proxies)
        if self.user_header is not None and not self.proxies:
            raise ConfigurationError(
                "--dashboard-user-header: expected --dashboard-proxy with it, since anybody can write a header; name the proxy"
            )
        if self.user_header is not None and (
            not _HEADER.fullmatch(self.user_header) or self.user_header.lower() in _NOBODYS
        ):
            raise ConfigurationError(
                "--dashboard-user-header: expected the name of a header that only your proxy sets, such as X-Forwarded-User"
            )
        if self.uses_tls and (self.certificate is None or self.key is None):
            raise ConfigurationError(
                f"--dashboard: expected a certificate and its key where it listens at {self.host}, got none; give both, listen at "
                "127.0.0.1, or name the proxy that speaks HTTPS in front by --dashboard-proxy"
            )
        if self.address is not None:
            object.__setattr__(self, "address", _origin_of(self.address))
        elif self.host in ("", "0.0.0.0", "::") or self.proxies:  # noqa: S104 - the question, not a binding
            raise ConfigurationError(
                "--dashboard-address: expected the address that browsers use, since --dashboard names none; give it"
            )

    @property
    def uses_tls(self) -> bool:
        """Whether it speaks HTTPS itself."""
        return not self.proxies and not _is_loopback(self.host)

    def origin(self, port: int) -> str:
        """What browsers call the dashboard by, once it listens at a port."""
        if self.address is not None:
            return self.address
        host = f"[{self.host}]" if ":" in self.host else self.host.lower()
        default = 443 if self.uses_tls else 80
        scheme = "https" if self.uses_tls else "http"
        return f"{scheme}://{host}" + ("" if port == default else f":{port}")


def _origin_of(address: str) -> str:
    """What browsers send of an address as `Origin` and `Host`: without a port that is the usual one, and its host in ASCII."""
    try:
        # What `urlsplit` drops or takes for nothing would never come back from a browser.
        if not _ADDRESS.fullmatch(address):
            raise ValueError
        found = urlsplit(address)
        host, port = _ascii(found.hostname or ""), found.port
        if port == 0 or (found.scheme == "http" and not _is_loopback(host)):
            raise ValueError
    except ValueError:
        raise ConfigurationError(
            "--dashboard-address: expected an address like https://dashboard.example.org, without a path, got something else; correct it"
        ) from None
    usual = port is None or port == {"http": 80, "https": 443}[found.scheme]
    return f"{found.scheme}://{f'[{host}]' if ':' in host else host}" + ("" if usual else f":{port}")


def _ascii(host: str) -> str:
    """The name of a host as browsers send it; raises ValueError for what is none."""
    if ":" in host:
        return ipaddress.IPv6Address(host).compressed
    if _OTHERWISE.intersection(host):
        raise ValueError
    name = host if host.isascii() else host.encode("idna").decode()
    if not _HOST.fullmatch(name):
        raise ValueError
    return name


def parse_place(place: str) -> tuple[str, int]:
    """Host and port of HOST:PORT, where an address of IPv6 stands in square brackets.

    Raises:
        ConfigurationError: something else.

    >>> parse_place("127.0.0.1:8444"), parse_place("[::1]:8444")
    (('127.0.0.1', 8444), ('::1', 8444))
    """
    host, _, port = place.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise ConfigurationError(
            "--dashboard: expected HOST:PORT, such as 127.0.0.1:8444, got something else; correct it"
        )
    return host, int(port)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

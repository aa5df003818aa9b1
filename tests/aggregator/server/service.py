"""A provider's server with an enrolled site and an ingest that only says yes; and requests to it, signed or spoilt."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import hashlib
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from aggregator.registry import Registry
from aggregator.registry.states import ShareState, SiteState
from aggregator.registry.tables import ShareRow, SiteKeyRow, SiteRow
from aggregator.registry.times import now
from aggregator.server.app import Setup, Work, create_app
from aggregator.server.connections.addresses import Proxies
from aggregator.server.connections.listener import Listener
from aggregator.server.connections.places import Places
from aggregator.server.limits import Limits
from aggregator.server.serve import configure
from bench.exchange.certificates import Certificates
from protocols.http.messages import Problem, UploadRequest
from protocols.http.signatures import RequestParts, new_nonce, sign_request
from protocols.keys.recipient import WRAPPED_BYTES
from protocols.keys.signing import BUNDLE_CONTEXT, PrivateKey, Signature
from protocols.share.bundle_header import BundleHeader, read_header
from protocols.share.receipt import Receipt, ReceiptState
from tests.aggregator.copied import new_registry

ADDRESS = "https://provider.test"
PROVIDER = PrivateKey.from_seed(bytes(range(100, 132)))
KEY = PrivateKey.from_seed(bytes(range(32)))
OTHER_KEY = PrivateKey.from_seed(bytes(range(1, 33)))
SITES = {"north": KEY, "south": OTHER_KEY}
AMPLE = Limits(address_connections=1000, address_connections_per_s=1e6, address_per_s=1e6)
"""For tests of something else: one address opens what thousands do elsewhere."""


def bundle(size: int, sequence: int = 1, *, site: str = "north") -> bytes:
    """A bundle with a sound header and noise behind it, of `size` bytes in all; at least 3,500."""
    key = SITES[site]
    header = BundleHeader(
        site,
        sequence,
        PROVIDER.public_key.key_id,
        bytes(WRAPPED_BYTES),
        1000,
        "ab" * 32,
        Signature(BUNDLE_CONTEXT, key.public_key.key_id, bytes(64)),
    )
    start = dataclasses.replace(header, ciphertext_bytes=size).sign(key).to_bytes()
    body = hashlib.shake_256(f"{sequence}".encode()).digest(size - len(start))
    return start + body


@dataclasses.dataclass(frozen=True)
class Decided:
    state: ShareState
    receipt: bytes


class Ingest:
    """Takes every bundle, as the registry then shows; counts how often; can be made slow or to fail."""

    def __init__(self, registry: Registry) -> None:
        self.asked = 0
        self.taken: list[bytes] = []
        self.error: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()
        self._registry = registry

    def __call__(self, path: Path) -> Decided:
        self.asked += 1
        self.gate.wait(30)
        if self.error is not None:
            raise self.error
        data = path.read_bytes()
        self.taken.append(data)
        header, digest = read_header(path), hashlib.sha256(data).hexdigest()
        receipt = Receipt(
            header.site,
            header.sequence,
            digest,
            "cd" * 32,
            ReceiptState.ACCEPTED,
            "",
            datetime.date(2026, 1, 31),
            "ef" * 32,
        ).to_bytes(PROVIDER)
        with self._registry.transaction() as session:
            session.add(
                ShareRow(
                    site=header.site,
                    sequence=header.sequence,
                    bundle_sha256=digest,
                    bundle_bytes=len(data),
                    state=ShareState.ACCEPTED,
                    received_at=now(),
                    receipt=receipt,
                )
            )
        return Decided(ShareState.ACCEPTED, receipt)


class Provider:
    """The provider's side.

    Args:
        folder: of its workspace.
        limits: of each site.
        changes: of the `Setup`.
    """

    def __init__(self, folder: Path, limits: Limits | None = None, **changes: Any) -> None:
        self.folder = folder
        for name in ("uploads", "releases/metadata", "releases/targets"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.registry = new_registry(folder)
        self.ingest = Ingest(self.registry)
        self.messages: list[tuple[str, str, bytes]] = []
        self.setup = Setup(
            self.registry, folder / "uploads", folder / "releases", ADDRESS, limits or Limits(), **changes
        )
        self.app = self.make_app()

    def make_app(self, **changes: Any) -> Any:
        """The application, as after a start of the server."""

        def noted(kind: str) -> Callable[[str, bytes], bytes]:
            return lambda site, data: self.messages.append((kind, site, data)) or kind.encode()

        work = Work(self.ingest, noted("withdrawal"), noted("rotation"))
        return create_app(dataclasses.replace(self.setup, **changes), work)

    def enrol(self, name: str, key: PrivateKey, **changes: Any) -> None:
        stated = {
            "key_id": key.public_key.key_id,
            "site": name,
            "public_key": key.public_key.hex,
            "request": b"",
            "valid_from": "2020-01-01T00:00:00Z",
            "valid_until": "2099-12-31T23:59:59Z",
            "state": "active",
        }
        with self.registry.transaction() as session:
            session.add(SiteRow(name=name, state="enrolled", enrolled_at=now()))
            session.flush()
            session.add(SiteKeyRow(**stated | changes))

    def revoke(self, name: str) -> None:
        with self.registry.transaction() as session:
            session.get_one(SiteRow, name).state = SiteState.REVOKED


def provider(folder: Path, limits: Limits | None = None, **changes: Any) -> Provider:
    """A provider with the sites north and south."""
    made = Provider(folder, limits, **changes)
    for name, key in SITES.items():
        made.enrol(name, key)
    return made


@dataclasses.dataclass
class Site:
    """A site's end of the wire.

    Args:
        client: to the server.
        key: it signs with.
        address: that it signs for.
    """

    client: httpx.AsyncClient
    key: PrivateKey = KEY
    address: str = ADDRESS

    async def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        offset: int | None = None,
        created: float | None = None,
        nonce: str = "",
        headers: Mapping[str, str] | None = None,
        sent: bytes | None = None,
    ) -> httpx.Response:
        """A signed request; `headers` and `sent` are what goes out in the place of what was signed."""
        parts = RequestParts(method, self.address + path, hashlib.sha256(body).digest(), offset)
        signed = sign_request(
            parts, self.key, created=int(time.time() if created is None else created), nonce=nonce or new_nonce()
        )
        return await self.client.request(
            method, path, content=body if sent is None else sent, headers={**signed, **(headers or {})}
        )

    async def begin(self, data: bytes) -> httpx.Response:
        return await self.send(
            "POST", "/v1/uploads", UploadRequest(hashlib.sha256(data).hexdigest(), len(data)).to_bytes()
        )

    async def upload(self, data: bytes, step: int = 1 << 20) -> httpx.Response:
        """Everything from the first request to the receipt."""
        begun = await self.begin(data)
        place, offset = begun.headers["location"], int(begun.headers["upload-offset"])
        while offset < len(data):
            answer = await self.send("PATCH", place, data[offset : offset + step], offset=offset)
            assert answer.status_code == 204, answer.text
            offset = int(answer.headers["upload-offset"])
        return await self.send("POST", f"{place}/finish")


def problem(answer: httpx.Response) -> str:
    """The code of a refusal, which the header says too."""
    found = Problem.from_bytes(answer.content)
    assert answer.headers["problem"] == found.code
    return found.code


@asynccontextmanager
async def site(app: Any, name: str = "north") -> AsyncIterator[Site]:
    """A site that talks to the application without a network."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as client:
        yield Site(client, SITES[name])


def run(work: Callable[[], Any]) -> Any:
    """Runs an asynchronous test."""
    return asyncio.run(work())


@contextmanager
def listening(
    app: Callable[[str], Any], certificates: Certificates, port: int = 0, places: Places | None = None
) -> Iterator[str]:
    """A real server over TLS for as long as the block; gives its address.

    Args:
        app: makes the application from the address.
        certificates: of the server.
        port: to listen at; 0 for any that is free.
        places: for connections; as many as the tests want if not given, for all of them come from one address.
    """
    with socket.create_server(("127.0.0.1", port)) as listener:
        address = f"https://localhost:{listener.getsockname()[1]}"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.certificate, certificates.key)
        guarded = Listener(listener, places or Places(AMPLE, Proxies()))
        server = uvicorn.Server(configure(app(address), guarded, context, grace_s=5))
        thread = threading.Thread(target=server.run, args=([guarded],), daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        assert server.started
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


@contextmanager
def connected(certificates: Certificates, port: int, source: str = "127.0.0.1") -> Iterator[ssl.SSLSocket]:
    """A connection from an address of this machine, TLS stands."""
    context = ssl.create_default_context(cafile=str(certificates.authority))
    with (
        socket.create_connection(("127.0.0.1", port), 30, (source, 0)) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secure,
    ):
        yield secure


def head(method: str, target: str, key: PrivateKey, body: bytes, offset: int | None = None) -> bytes:
    """A signed request up to its body."""
    parts = RequestParts(method, target, hashlib.sha256(body).digest(), offset)
    headers = sign_request(parts, key, created=int(time.time()), nonce=new_nonce())
    path = "/" + target.split("/", 3)[3]
    lines = [f"{method} {path} HTTP/1.1", "host: localhost", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode()


def answer(connection: ssl.SSLSocket) -> bytes:
    """Up to the end of its headers."""
    received = b""
    while b"\r\n\r\n" not in received:
        data = connection.recv(4096)
        assert data, received
        received += data
    return received

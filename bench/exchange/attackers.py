"""Hostile ends of connections, in a process of their own: strangers, and enrolled sites that mean no good.

Each is one task that holds one connection at a time and comes back at once when it is cut off. None does what a limit of
the server would let pass unseen for long; together they hold what they can get, and ask as often as they are let.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import multiprocessing
import re
import ssl
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from protocols.http.messages import UploadRequest
from protocols.http.signatures import RequestParts, new_nonce, sign_request
from protocols.keys.signing import PrivateKey

# As many addresses as a small network of strangers has; enrolled sites have one each.
ADDRESSES = 20
_PIECE = bytes(1 << 20)
_PIECE_SHA256 = hashlib.sha256(_PIECE).digest()
_BUNDLE_BYTES = 8 << 20
# Who is turned away comes back after this.
_BACK_S = 0.02
_TRICKLE_S = 0.25
_PLACE = re.compile(rb"location: (\S+)\r\n", re.IGNORECASE)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class Attack:
    """Who attacks what.

    Args:
        address: of the server, as it is signed for.
        authority: certificates to trust, PEM.
        anonymous: connections of strangers.
        keys: private keys of enrolled sites as 32 bytes each, of which each holds one connection.
    """

    address: str
    authority: Path
    anonymous: int
    keys: tuple[bytes, ...]

    @property
    def port(self) -> int:
        """The server's."""
        return int(self.address.rsplit(":", 1)[1])


@contextmanager
def attacked(attack: Attack) -> Iterator[Callable[[], Counter[str]]]:
    """Attacks for as long as the block runs; gives what tells how often each kind of attacker has come so far."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(attack, there), daemon=True)
    process.start()
    # What is left here would keep the pipe open when the process has died.
    there.close()

    def counted() -> Counter[str]:
        here.send("count")
        found: Counter[str] = here.recv()
        return found

    try:
        counted()
        yield counted
    finally:
        with suppress(OSError):
            here.send("end")
        process.join(20)
        process.kill()
        process.join()


def _run(attack: Attack, pipe: Connection) -> None:
    asyncio.run(_attack(attack, pipe))


async def _attack(attack: Attack, pipe: Connection) -> None:
    came: Counter[str] = Counter()
    context = ssl.create_default_context(cafile=str(attack.authority))
    strangers = itertools.cycle((_mute, _idle, _slow_header, _slow_body, _flood))
    sites = itertools.cycle((_slow_upload, _aborted_upload, _repeated_question))
    tasks = []
    for number in range(attack.anonymous):
        source, kind = f"127.9.{number % ADDRESSES}.1", next(strangers)
        opened = _Opener(attack.port, source, None if kind is _mute else context)
        tasks.append(asyncio.create_task(_again(kind.__name__, lambda kind=kind, opened=opened: kind(opened), came)))  # type: ignore[misc]
    for number, seed in enumerate(attack.keys):
        site = _Site(_Opener(attack.port, f"127.8.0.{number + 1}", context), attack.address, PrivateKey.from_seed(seed))
        kind_of_site = next(sites)
        name = kind_of_site.__name__
        tasks.append(asyncio.create_task(_again(name, lambda kind=kind_of_site, site=site: kind(site), came)))  # type: ignore[misc]
    while await asyncio.to_thread(pipe.recv) != "end":
        pipe.send(came)
    for task in tasks:
        task.cancel()


async def _again(name: str, come: Callable[[], Awaitable[None]], came: Counter[str]) -> None:
    """Comes again and again, whatever becomes of it."""
    while True:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await come()
        came[name.strip("_")] += 1
        await asyncio.sleep(_BACK_S)


@dataclass(frozen=True)
class _Opener:
    port: int
    source: str
    context: ssl.SSLContext | None

    @contextmanager
    def _closing(self, writer: asyncio.StreamWriter) -> Iterator[None]:
        try:
            yield
        finally:
            writer.transport.abort()

    async def __call__(self, use: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> None:
        secured = {} if self.context is None else {"ssl": self.context, "server_hostname": "localhost"}
        reader, writer = await asyncio.open_connection(
            "127.0.0.1",
            self.port,
            local_addr=(self.source, 0),
            **secured,  # type: ignore[arg-type]
        )
        with self._closing(writer):
            await use(reader, writer)


@dataclass(frozen=True)
class _Site:
    opened: _Opener
    address: str
    key: PrivateKey

    def head(self, method: str, path: str, body_sha256: bytes, length: int, offset: int | None = None) -> bytes:
        """A signed request up to its body."""
        parts = RequestParts(method, self.address + path, body_sha256, offset)
        headers = sign_request(parts, self.key, created=int(time.time()), nonce=new_nonce())
        lines = [f"{method} {path} HTTP/1.1", "host: localhost", f"content-length: {length}"]
        return "\r\n".join([*lines, *(f"{name}: {text}" for name, text in headers.items()), "", ""]).encode()

    async def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        """Begins the upload of a bundle that there is not, or finds it again; its path."""
        digest = hashlib.sha256(self.key.public_key.hex.encode()).hexdigest()
        body = UploadRequest(digest, _BUNDLE_BYTES).to_bytes()
        writer.write(self.head("POST", "/v1/uploads", hashlib.sha256(body).digest(), len(body)) + body)
        found = _PLACE.search(await reader.readuntil(b"\r\n\r\n"))
        if found is None:
            raise ConnectionError("refused")
        return found[1].decode()


async def _mute(opened: _Opener) -> None:
    """TCP without TLS: nothing is ever said."""
    await opened(lambda reader, writer: _end(reader))


async def _idle(opened: _Opener) -> None:
    await opened(lambda reader, writer: _end(reader))


async def _slow_header(opened: _Opener) -> None:
    await opened(lambda reader, writer: _trickle(writer, b"GET /v1/time HTTP/1.1\r\nhost: localhost\r\nx: "))


async def _slow_body(opened: _Opener) -> None:
    start = b"POST /v1/uploads HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4000000\r\n\r\n"
    await opened(lambda reader, writer: _trickle(writer, start))


async def _flood(opened: _Opener) -> None:
    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"POST /v1/uploads HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\n" + bytes(60_000))
        await _end(reader)

    await opened(ask)


async def _slow_upload(site: _Site) -> None:
    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = await site.begin(reader, writer)
        await _trickle(writer, site.head("PATCH", place, _PIECE_SHA256, len(_PIECE), 0))

    await site.opened(send)


async def _aborted_upload(site: _Site) -> None:
    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = await site.begin(reader, writer)
        writer.write(site.head("PATCH", place, _PIECE_SHA256, len(_PIECE), 0) + _PIECE[: len(_PIECE) // 2])
        await writer.drain()

    await site.opened(send)


async def _repeated_question(site: _Site) -> None:
    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place, nothing = await site.begin(reader, writer), hashlib.sha256(b"").digest()
        while True:
            writer.write(site.head("HEAD", place, nothing, 0))
            await reader.readuntil(b"\r\n\r\n")

    await site.opened(ask)


async def _end(reader: asyncio.StreamReader) -> None:
    while await reader.read(1 << 16):
        pass


async def _trickle(writer: asyncio.StreamWriter, start: bytes) -> None:
    writer.write(start)
    while not writer.transport.is_closing():
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(_TRICKLE_S)

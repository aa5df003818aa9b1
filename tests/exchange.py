"""How hospitals and a provider reach each other: over a stick, or over HTTPS by the server that `aggregator serve` starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.exchange.certificates import make_certificates
from bench.exchange.load import run_server
from tests.loop import Loop, begin, done, hospital, provider, values
from tests.tiny_notes import long_notes, write_notes


@dataclass(frozen=True)
class Exchange:
    """A provider with a published representer, and how hospitals reach it.

    Args:
        loop: its folders.
        authority: of the server's certificate; None where everything travels on a stick.
        source: of releases.
        allowed: what the policy of every hospital that joins allows beside what is usual, as options of `policy set`.
    """

    loop: Loop
    authority: Path | None
    source: str
    allowed: tuple[str, ...] = ()

    @property
    def network(self) -> tuple[object, ...]:
        return () if self.authority is None else ("--ca", self.authority)

    def at(self, name: str) -> tuple[object, ...]:
        return ("--workspace", self.loop.site(name))

    def provider(self, *arguments: object) -> Any:
        return values(provider(*arguments, "--json", "--workspace", self.loop.provider))

    def join(self, name: str) -> None:
        request = self.loop.root / f"{name}.request.json"
        begin(self.loop, name, *self.allowed)
        fingerprint = values(hospital("enrol", "--out", request, "--json", *self.at(name)))["fingerprint"]
        self.provider("site", "add", request, "--fingerprint", fingerprint)
        done(hospital("pull", self.source, "--fingerprint", self.loop.fingerprint, *self.network, *self.at(name)))

    def encode(self, name: str, number: int) -> Path:
        """A share of notes that were not shared before."""
        out, notes = self.loop.root / f"{name}-{number}.parquet", self.loop.notes(name)
        if number > 1:
            notes = write_notes(self.loop.root / "later" / f"{name}-{number}", long_notes(20, number))
        done(hospital("encode", notes, "--out", out, *self.at(name)))
        return out

    def submit(self, name: str, share: Path, stick: str = "first") -> str:
        """Hands a share over; returns the state in the receipt that the hospital holds in the end."""
        send = ("submit", share, "--approver", "Dr Ünal", "--json", *self.at(name))
        if self.authority is not None:
            receipts = values(hospital(*send, *self.network))["receipts"]
        else:
            folder = self.loop.stick / stick / share.stem
            done(hospital(*send, "--to-folder", folder))
            self.provider("ingest", folder)
            receipts = values(hospital("receipts", folder, "--json", *self.at(name)))["receipts"]
        [receipt] = receipts
        return str(receipt["state"])

    def withdraw(self, name: str, number: int) -> None:
        ask = ("withdraw", number, "--reason", "asked", *self.at(name))
        if self.authority is not None:
            done(hospital(*ask, *self.network))
        else:
            stick = self.loop.stick / f"back-{name}"
            done(hospital(*ask, "--to-folder", stick))
            self.provider("ingest", stick)

    def rotate(self, name: str) -> None:
        if self.authority is not None:
            done(hospital("keys", "rotate", *self.network, *self.at(name)))
            return
        asked, answer = self.loop.root / f"{name}.rotation.json", self.loop.root / f"{name}.accepted.json"
        done(hospital("keys", "rotate", "--out", asked, *self.at(name)))
        self.provider("site", "rotate", asked, "--out", answer)
        done(hospital("keys", "accept", answer, *self.at(name)))

    def shares(self) -> list[tuple[str, int, str]]:
        return [(row["site"], row["sequence"], row["state"]) for row in self.provider("shares", "list")["shares"]]


@contextmanager
def published(loop: Loop, transport: str, *allowed: str) -> Iterator[Exchange]:
    """What the provider of a loop has made, published and in reach of hospitals as long as the block lasts.

    Args:
        loop: with a representer and its audit.
        transport: "stick" or "https".
        allowed: as in `Exchange`.
    """
    at = ("--workspace", loop.provider)
    if transport == "stick":
        done(provider("publish", *at))
        yield Exchange(loop, None, str(loop.releases), allowed)
        return
    certificates = make_certificates(loop.root / "certificates", "localhost")
    with run_server(loop.provider, certificates, loop.root / "server.log") as (_, address):
        done(provider("publish", "--server", address, *at))
        yield Exchange(loop, certificates.authority, f"{address}/releases", allowed)

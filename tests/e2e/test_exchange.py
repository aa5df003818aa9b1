"""The exchange from enrolment to the hospital that shared nothing, over either transport and on either database.

Neither knows of the other, so two runs meet both kinds of both: a stick and a file, the network and a server. The other
two ways to pair them are in `tests/aggregator`: the running server on a file, and the ingest on PostgreSQL.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench.exchange.certificates import make_certificates
from bench.exchange.load import run_server
from tests.databases import Database
from tests.loop import Loop, begin, done, hospital, provider, refused, train_head, values
from tests.tiny_notes import long_notes, write_notes

SHARING = ("north", "south")


@dataclass(frozen=True)
class Exchange:
    """A provider with a published representer, and how hospitals reach it.

    Args:
        loop: its folders.
        authority: of the server's certificate; None where everything travels on a stick.
        source: of releases.
    """

    loop: Loop
    authority: Path | None
    source: str

    @property
    def network(self) -> tuple[object, ...]:
        return () if self.authority is None else ("--ca", self.authority)

    def at(self, name: str) -> tuple[object, ...]:
        return ("--workspace", self.loop.site(name))

    def provider(self, *arguments: object) -> Any:
        return values(provider(*arguments, "--json", "--workspace", self.loop.provider))

    def join(self, name: str) -> None:
        request = self.loop.root / f"{name}.request.json"
        begin(self.loop, name)
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


@pytest.fixture
def exchange(transport: str, database: Database, built_loop: Loop, tmp_path: Path) -> Iterator[Exchange]:
    loop = Loop(tmp_path / "loop")
    loop.root.mkdir()
    shutil.copytree(built_loop.root / "notes", loop.root / "notes")
    made = values(provider("init", loop.provider, "--database", database.url, "--json"))
    (loop.root / "fingerprint").write_text(made["fingerprint"])
    # What takes long has been made once.
    for folder in ("embeddings", "representer", "audit", "codebooks"):
        shutil.copytree(built_loop.provider / folder, loop.provider / folder)
    at = ("--workspace", loop.provider)
    if transport == "stick":
        done(provider("publish", *at))
        yield Exchange(loop, None, str(loop.releases))
        return
    certificates = make_certificates(tmp_path / "certificates", "localhost")
    with run_server(loop.provider, certificates, tmp_path / "server.log") as (_, address):
        done(provider("publish", "--server", address, *at))
        yield Exchange(loop, certificates.authority, f"{address}/releases")


# Each way and each database once; `python -m bench.results_trust exchange` asks for every pair.
PAIRS = [("stick", "sqlite"), ("https", "postgresql")]
if os.environ.get("DEID_COMMONS_EXCHANGES") == "all":
    PAIRS += [("stick", "postgresql"), ("https", "sqlite")]


@pytest.mark.parametrize(("transport", "database"), PAIRS, indirect=["database"])
def test_the_whole_exchange(exchange: Exchange) -> None:
    for name in SHARING:
        exchange.join(name)
        assert exchange.submit(name, exchange.encode(name, 1)) == "accepted"
    assert exchange.shares() == [("north", 1, "accepted"), ("south", 1, "accepted")]

    # A release from their shares serves a hospital that shared nothing.
    done(train_head(exchange.loop))
    exchange.provider("release")
    exchange.join("fourth")
    found = values(hospital("evaluate", exchange.loop.notes("fourth"), "--json", *exchange.at("fourth")))
    assert found["blocks"]["Token binary"]["f1"] > 0.9

    # The same share again is the same share, with the same receipt.
    again = exchange.loop.root / "north-1.parquet"
    assert exchange.submit("north", again, "second") == "accepted"
    assert len(exchange.shares()) == 2

    # A new key signs the next share.
    exchange.rotate("north")
    assert exchange.submit("north", exchange.encode("north", 2)) == "accepted"

    # What is taken back trains no further head, and the record says what it has trained.
    exchange.withdraw("south", 1)
    assert ("south", 1, "withdrawn") in exchange.shares()
    [gone] = exchange.provider("shares", "list", "--state", "withdrawn")["shares"]
    assert exchange.provider("shares", "show", gone["bundle"])["releases"] == ["0002-pipeline"]
    trained = exchange.provider("train-head", "--epochs", 1, "--influence", "none")
    assert {row["site"] for row in trained["shares"]} == {"north"}

    # Who was revoked can send nothing more.
    late = exchange.encode("south", 2)
    done(provider("site", "revoke", "south", "--reason", "laptop stolen", "--workspace", exchange.loop.provider))
    before = exchange.shares()
    send = ("submit", late, "--approver", "Dr Ünal", *exchange.at("south"))
    if exchange.authority is not None:
        assert hospital(*send, *exchange.network).exit_code != 0
    else:
        done(hospital(*send, "--to-folder", exchange.loop.stick / "late"))
        refused(provider("ingest", exchange.loop.stick / "late", "--workspace", exchange.loop.provider), 12)
    assert exchange.shares() == before

    # The two logs tell the same.
    events = exchange.provider("audit-log", "verify")["events"]
    assert events > 10
    done(hospital("ledger", "verify", *exchange.at("north")))

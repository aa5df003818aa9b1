"""The exchange from enrolment to the hospital that shared nothing, over either transport and on either database.

Neither knows of the other, so two runs meet both kinds of both: a stick and a file, the network and a server. The other
two ways to pair them are in `tests/aggregator`: the running server on a file, and the ingest on PostgreSQL.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import Database
from tests.exchange import Exchange, published
from tests.loop import Loop, done, hospital, provider, refused, train_head, values

SHARING = ("north", "south")


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
    with published(loop, transport) as exchange:
        yield exchange


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
    done(train_head(exchange.loop, "--no-operating-points"))
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
    trained = exchange.provider("train-head", "--epochs", 1, "--influence", "none", "--no-operating-points")
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

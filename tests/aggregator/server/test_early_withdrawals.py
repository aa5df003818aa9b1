"""A withdrawal of a share whose bundle is on the server and not entered yet: that may take hours, and what its site asks must not be lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from aggregator.enrolled import asked_back, shares
from aggregator.enrolled.sites import today
from aggregator.errors import RegistryError, RequestError
from aggregator.ingestion import verdict
from aggregator.ingestion.ingest import ingest, process, receive, resume
from aggregator.registry.states import ShareState, UploadState
from aggregator.registry.tables import UploadRow, WithdrawalRow
from aggregator.server.limits import Limits
from aggregator.server.serve import setup, work
from aggregator.server.uploads import Upload, Uploads
from bench.exchange.world import Sentences, World, invented_terms
from foundation.reading import file_sha256
from protocols.http.messages import UploadRequest
from protocols.share.receipt import read_receipt
from protocols.share.sealing import read_manifest
from protocols.share.withdrawal import Withdrawal
from tests.aggregator.copied import new_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with invented_terms(sandbox=False):
        yield new_world(tmp_path / "world")


def sent(world: World, bundle: Path, missing: int = 0) -> tuple[Uploads, Upload]:
    """An upload of the site north, whole but for some bytes."""
    workspace = world.workspace()
    uploads = Uploads(workspace.registry(), setup(workspace, "https://x.test", Limits()).uploads, Limits(), time.time)
    size = bundle.stat().st_size
    upload = uploads.begin("north", UploadRequest(file_sha256(bundle), size))
    assert isinstance(upload, Upload)
    uploads.path(upload).write_bytes(bundle.read_bytes()[: size - missing])
    with workspace.registry().transaction() as session:
        session.get_one(UploadRow, upload.id).offset = size - missing
    return uploads, uploads.find("north", upload.id)


def ask(world: World, payload: Path, sequence: int = 1) -> bytes:
    workspace = world.workspace()
    asked = Withdrawal("north", sequence, read_manifest(payload).sha256, today(), "")
    done = work(workspace, lambda path: ingest(workspace, path), lambda: resume(workspace))
    return done.withdraw("north", asked.to_bytes(world.keys["north"]))


def kept(world: World) -> int:
    with world.workspace().registry().reading() as session:
        return len(session.scalars(select(WithdrawalRow)).all())


def test_it_is_kept_until_the_share_is_decided(world: World) -> None:
    payload = world.share("north", 1, Sentences())
    uploads, upload = sent(world, world.seal(payload, "north"))
    for _ in range(2):
        with pytest.raises(RequestError, match="never count") as raised:
            ask(world, payload)
        assert (raised.value.status, raised.value.retry_after_s) == (503, 5)
    assert kept(world) == 1
    assert ingest(world.workspace(), uploads.path(upload)).state == "withdrawn"
    receipt = read_receipt(ask(world, payload), world.workspace().key().public_key)
    assert (receipt.state, receipt.sequence) == ("withdrawn", 1)
    assert kept(world) == 0


@pytest.mark.parametrize(("missing", "state"), [(1, "open"), (0, "aborted")], ids=["not whole", "ended"])
def test_it_is_kept_though_the_share_comes_later(missing: int, state: str, world: World) -> None:
    """A share is on its way on a stick, and what takes it back comes over HTTPS."""
    payload = world.share("north", 1, Sentences())
    bundle = world.seal(payload, "north")
    uploads, upload = sent(world, bundle, missing)
    if state != "open":
        uploads.end(upload, UploadState(state))
    for _ in range(2):
        with pytest.raises(RequestError, match=r"found none yet.*never count") as raised:
            ask(world, payload)
        # A site that waits for the answer would wait for the stick.
        assert (raised.value.status, raised.value.code) == (409, "conflict")
    assert kept(world) == 1
    assert ingest(world.workspace(), bundle).state == "withdrawn"
    receipt = read_receipt(ask(world, payload), world.workspace().key().public_key)
    assert (receipt.state, receipt.sequence) == ("withdrawn", 1)
    assert kept(world) == 0


def test_what_is_kept_takes_back_no_other_share_of_its_number(world: World) -> None:
    payload, other = world.share("north", 1, Sentences()), world.share("north", 1, Sentences(seed=1))
    with pytest.raises(RequestError, match="never count"):
        ask(world, payload)
    assert ingest(world.workspace(), world.seal(other, "north")).state == "accepted"
    with pytest.raises(RequestError, match="check number and digest"):
        ask(world, payload)
    assert kept(world) == 0


def test_one_that_was_refused_leaves_what_is_asked_of_the_next_of_its_number(world: World) -> None:
    refused = world.seal(world.share("north", 1, Sentences(seed=1), release="cd" * 32), "north")
    payload = world.share("north", 1, Sentences())
    with pytest.raises(RequestError, match="never count"):
        ask(world, payload)
    assert ingest(world.workspace(), refused).state == "rejected"
    assert ingest(world.workspace(), world.seal(payload, "north")).state == "withdrawn"
    assert kept(world) == 0


def test_nor_one_that_was_set_aside_and_that_a_person_refuses_then(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked before the other came, or while that waits for a person: its site was told that it never counts."""
    first, *payloads = [world.share("north", 1, Sentences(seed=seed)) for seed in range(3)]
    with pytest.raises(RequestError, match="never count"):
        ask(world, payloads[0])
    with monkeypatch.context() as patch:
        patch.setattr(verdict, "_verdict", lambda *given: shares.Verdict(ShareState.QUARANTINED, "overlap", "half"))
        assert ingest(world.workspace(), world.seal(first, "north")).state == "quarantined"
    for payload in payloads:
        with pytest.raises(RequestError, match=r"found none yet.*never count"):
            ask(world, payload)
    [share] = shares.list_shares(world.workspace())
    shares.reject(world.workspace(), share, "A. Weiss", "the same notes")
    assert ingest(world.workspace(), world.seal(payloads[1], "north")).state == "withdrawn"
    assert kept(world) == 0


def test_one_that_is_set_aside_meanwhile_is_taken_back_and_not_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept of a share that is decided nobody would ever heed."""
    payload = world.share("north", 1, Sentences())
    bundle, asked = world.seal(payload, "north"), asked_back.keep_asked

    def late(*given: Any) -> int | None:
        with monkeypatch.context() as patch:
            patch.setattr(verdict, "_verdict", lambda *given: shares.Verdict(ShareState.QUARANTINED, "overlap", "half"))
            ingest(world.workspace(), bundle)
        return asked(*given)

    monkeypatch.setattr(shares, "keep_asked", late)
    assert read_receipt(ask(world, payload), world.workspace().key().public_key).state == "withdrawn"
    assert kept(world) == 0


def test_what_is_asked_of_another_than_waits_is_told_as_kept(world: World) -> None:
    """It was kept, and its site was told to check what it had asked."""
    workspace = world.workspace()
    receive(workspace, world.seal(world.share("north", 1, Sentences(seed=1), release="cd" * 32), "north"))
    asked = Withdrawal("north", 1, read_manifest(world.share("north", 1, Sentences())).sha256, today(), "")
    with pytest.raises(RegistryError, match=r"found none yet: what is asked is kept.*never count"):
        shares.carry_out(workspace, asked.to_bytes(world.keys["north"]), partial(process, workspace))
    assert [one.state for one in shares.list_shares(workspace)] == ["rejected"]
    assert kept(world) == 1


@pytest.mark.parametrize("entered", [True, False], ids=["received", "uploaded"])
def test_attack_withdrawals_of_shares_that_never_come_keep_a_share_that_is_here_from_being_taken_back(
    entered: bool, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whoever had the site's key for a minute; the site has another now, and what was invented stays."""
    monkeypatch.setattr(asked_back, "MOST_KEPT", 2)
    payload = world.share("north", 1, Sentences())
    bundle = world.seal(payload, "north")
    for sequence in (7, 8):
        with pytest.raises(RequestError, match="never count"):
            ask(world, payload, sequence)
    if entered:
        receive(world.workspace(), bundle)
    else:
        sent(world, bundle)
    with pytest.raises(RequestError, match="never count") as raised:
        ask(world, payload)
    assert raised.value.status == 503
    assert ingest(world.workspace(), bundle).state == "withdrawn"


def test_attack_a_site_asks_back_shares_without_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_back, "MOST_KEPT", 2)
    payload = world.share("north", 1, Sentences())
    for sequence in (1, 2, 3, 3):
        with pytest.raises(RequestError, match="got more than 2; ask again when" if sequence == 3 else "never count"):
            ask(world, payload, sequence)
    assert kept(world) == 2


def test_attack_junk_that_was_sent_says_nothing(world: World) -> None:
    payload, junk = world.share("north", 1, Sentences()), world.root / "junk"
    junk.write_bytes(bytes(4000))
    sent(world, junk)
    with pytest.raises(RequestError, match="found none yet"):
        ask(world, payload)

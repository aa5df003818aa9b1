"""The loop with the paper's construction: three-part training, an audit, shares behind noise, a head and a release, over either way."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from aggregator.publishing.releases import representer_digest
from aggregator.workspace import open_workspace
from protocols.payload.opening import open_payload
from shared.corpus import read_corpus
from tests.audited import write_audit
from tests.exchange import published
from tests.loop import Loop, audit, begin, done, hospital, provider, refused, train_head, values
from tests.once import made_once
from tests.tiny_notes import phi_strings, tiny_notes, write_notes

NAME = "three-part"


def trained(root: Path) -> None:
    """A provider with such a representer and its audit, and notes of its hospitals; nothing is published yet."""
    loop = Loop(root)
    loop.notes("public").parent.mkdir()
    for seed, name in enumerate(("public", "north", "south", "fourth")):
        write_notes(loop.notes(name), list(tiny_notes(24, seed, name)))
    at = ("--workspace", loop.provider)
    (root / "fingerprint").write_text(values(provider("init", loop.provider, "--json"))["fingerprint"])
    done(provider("train-embeddings", loop.notes("public"), "--dim", 12, "--epochs", 2, "--min-count", 1, *at))
    shape = ("--dim", 8, "--neighbours", 5, "--preset", "quick")
    done(provider("train-repr", "--corpus", loop.notes("public"), "--procedure", NAME, *shape, *at))
    # A training of seconds protects nothing, and nothing that fails its audit is published; that of hours is taken to have passed.
    refused(audit(loop), 22, "white box")
    refused(provider("publish", *at), 22, "audit")
    write_audit(loop.provider / "audit", representer_digest(open_workspace(loop.provider)))


@pytest.fixture
def provided(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Loop:
    made = made_once(tmp_path_factory, NAME, trained)
    return Loop(Path(shutil.copytree(made, tmp_path / "loop")))


@pytest.mark.parametrize("transport", ["stick", "https"])
def test_from_public_notes_to_notes_without_phi(transport: str, provided: Loop, tmp_path: Path) -> None:
    with published(provided, transport, "--enable", NAME) as exchange:
        first = ("pull", exchange.source, "--fingerprint", provided.fingerprint, *exchange.network)
        # Not among what a hospital takes unless it says so.
        refused(hospital(*first, "--workspace", begin(provided, "wary")), 35, "construction")
        for name in ("north", "south"):
            exchange.join(name)
            share, gold = exchange.encode(name, 1), provided.notes(name)
            seen = done(hospital("inspect", share, "--notes", gold, *exchange.at(name)))
            assert not [word for word in phi_strings(list(read_corpus(gold))) if word in seen.stdout]
            with open_payload(share) as payload:
                assert all(block.values.dtype == np.float16 for block in payload)
            assert exchange.submit(name, share) == "accepted"
        assert exchange.shares() == [("north", 1, "accepted"), ("south", 1, "accepted")]
        trained = values(train_head(provided, "--no-operating-points", "--json"))
        assert {row["site"] for row in trained["sites"]} == {"(public notes)", "north", "south"}
        exchange.provider("release")
        exchange.join("fourth")
        scores = values(hospital("evaluate", provided.notes("fourth"), "--json", *exchange.at("fourth")))
        assert scores["blocks"]["Token binary"]["f1"] > 0.8
        safe = tmp_path / "safe"
        done(hospital("deid", provided.notes("fourth"), "--out", safe, *exchange.at("fourth")))
        assert len(list(safe.iterdir())) == 24

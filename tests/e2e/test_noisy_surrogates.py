"""The loop with a representer that is trained: from public notes to a pipeline, by the ordinary commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from protocols.payload.opening import open_payload
from shared.constructions.procedures.noisy_surrogates import NoisySurrogates
from shared.constructions.registry import load_construction
from shared.corpus import read_corpus
from tests.loop import (
    Loop,
    audit_for_hospitals,
    begin,
    done,
    enrol,
    hospital,
    provider,
    refused,
    share,
    train_head,
    values,
)
from tests.tiny_notes import phi_strings, tiny_notes, write_notes

NAME = "noisy-surrogates"


def published(root: Path) -> Loop:
    """A provider that has published such a representer."""
    loop = Loop(root)
    loop.notes("public").parent.mkdir()
    for seed, name in enumerate(("public", "north")):
        write_notes(loop.notes(name), list(tiny_notes(24, seed, name)))
    at = ("--workspace", loop.provider)
    (root / "fingerprint").write_text(values(provider("init", loop.provider, "--json"))["fingerprint"])
    done(provider("train-embeddings", loop.notes("public"), "--dim", 12, "--epochs", 2, "--min-count", 1, *at))
    shape = ("--cluster-size", 8, "--dim", 8, "--neighbours", 5, "--preset", "quick")
    done(provider("train-repr", "--corpus", loop.notes("public"), "--procedure", NAME, *shape, *at))
    audit_for_hospitals(loop)
    done(provider("publish", *at))
    return loop


def test_from_public_notes_to_a_pipeline(tmp_path: Path) -> None:
    loop = published(tmp_path)
    # Not among what a hospital takes unless it says so.
    first = ("pull", loop.releases, "--fingerprint", loop.fingerprint)
    refused(hospital(*first, "--workspace", begin(loop, "wary")), 35, "construction")
    enrol(loop, "north", "--enable", NAME)
    workspace = loop.site("north")
    share(loop, "north")
    seen = done(
        hospital("inspect", tmp_path / "north.parquet", "--notes", loop.notes("north"), "--workspace", workspace)
    )
    for said in (
        "replaced by public PHI",
        "can be read",
        "noise of mu",
        "draws surrogates anew, and where it draws others",
        "vectors, not codes",
    ):
        assert said in seen.stdout
    assert not [word for word in phi_strings(list(read_corpus(loop.notes("north")))) if word in seen.stdout]
    made = load_construction(loop.provider / "representer")
    assert isinstance(made, NoisySurrogates)
    with open_payload(tmp_path / "north.parquet") as payload:
        rows = np.concatenate([block.values for block in payload])
    assert rows.dtype == np.float16
    made.rows().check(rows)
    done(provider("ingest", loop.stick, "--workspace", loop.provider))
    found = values(train_head(loop, "--no-operating-points", "--json"))
    assert {row["site"] for row in found["sites"]} == {"(public notes)", "north"}
    done(provider("release", "--workspace", loop.provider))
    done(hospital("pull", loop.releases, "--workspace", workspace))
    scores = values(hospital("evaluate", loop.notes("north"), "--json", "--workspace", workspace))
    assert scores["blocks"]["Token binary"]["f1"] > 0.8

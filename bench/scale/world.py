"""A provider with one hospital's share, and another hospital with the release, made of generated notes by the functions of the programs."""

from __future__ import annotations

import json
from pathlib import Path

from aggregator.training.head import HeadOptions
from aggregator.training.judging.influence import InfluenceMode
from aggregator.training.representer import PublicMaterial, RepresenterOptions
from bench.results_loop import private_pipeline
from shared.embeddings.training import FastTextSettings, train_fasttext
from shared.generate import generate_notes, generate_public_text
from shared.training.tagging import TaggingConfig

SCHEME = "i2b2_2014"
_PUBLIC, _SHARED, _UNSEEN = "en_commons", "en_harbor", "en_lagoon"
_NOTES = 30


def build(folder: Path) -> None:
    """`provider` with a pool of one share, and `user` with a pipeline, whose head has the size of the paper's; it finds little, in the usual time."""
    public = list(generate_notes(_PUBLIC, _NOTES, 1))
    texts = [note.text for note in public] + list(generate_public_text("en", _NOTES, 1))
    vectors = train_fasttext(texts, FastTextSettings(dim=100, epochs=2, min_count=1), seed=0)
    shared = {"harbor": list(generate_notes(_SHARED, _NOTES, 2))}
    material = PublicMaterial(public, vectors, iter(texts))
    head = HeadOptions(hold_out=False, influence=InfluenceMode.NONE, operating_points=False)
    private_pipeline(
        material, shared, SCHEME, RepresenterOptions(cluster_size=50), TaggingConfig(epochs=2), head, folder
    )


def write_notes(file: Path, count: int) -> int:
    """Notes of a hospital that shared nothing, as JSON lines; returns how many characters they have."""
    characters = 0
    with file.open("w", encoding="utf-8") as stream:
        for note in generate_notes(_UNSEEN, count, 3):
            stream.write(json.dumps({"id": note.identifier, "text": note.text}) + "\n")
            characters += len(note.text)
    return characters

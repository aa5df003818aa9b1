"""Whole files to start from, as sites make them, and those that a site could build on purpose: HDF5 that points beside it."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import numpy as np

from bench.exchange import world as invented
from bench.fuzz.targets import CANARY, SITE, TARGETS, VALUE_BOUND
from foundation.feature_columns import FeatureColumn
from protocols.payload.opening import CASING_CLASSES, SentenceBlock, create_payload
from protocols.payload.sentence_block import CODES
from protocols.share.bundle import read_header
from protocols.share.sealing import read_envelope


def prepare(folder: Path) -> None:
    """Writes the files to start from, one folder for each target, the key that signed them, and the canary."""
    assert invented.VALUE_BOUND == VALUE_BOUND
    world = invented.build(folder / "world")
    key = world.keys[SITE].public_key
    (folder / "key").write_text(key.hex, encoding="ascii")
    (folder / CANARY).write_bytes(os.urandom(4096))
    files: dict[str, list[bytes]] = {name: [] for name in TARGETS}
    for seed, suffix in enumerate((".parquet", ".h5")):
        for blocks in (1, 3):
            payload = world.share(SITE, seed + 1, invented.Sentences(seed, blocks=blocks), suffix)
            bundle = world.seal(payload, SITE)
            files["header"].append(read_header(bundle).to_bytes())
            files["manifest"].append(read_envelope(payload))
            files["parquet" if suffix == ".parquet" else "hdf5"].append(payload.read_bytes())
    for name, suffix in (("parquet", ".parquet"), ("hdf5", ".h5")):
        files[name].append(_featured(folder / f"featured{suffix}"))
    files["hdf5"] += _pointing(folder)
    for name, contents in files.items():
        (folder / name).mkdir()
        for number, content in enumerate(contents):
            (folder / name / f"{number:02}").write_bytes(content)


def _featured(path: Path) -> bytes:
    """A payload of codes and feature columns."""
    columns = (FeatureColumn("length_class", 4), FeatureColumn("shape", 255))
    random, tokens = np.random.default_rng(0), 40
    codes = random.integers(0, 1 << 20, tokens, dtype="<u4")
    casing = random.integers(0, CASING_CLASSES, tokens, dtype=np.uint8)
    features = random.integers(0, 4, (tokens, len(columns)), dtype=np.uint8)
    with create_payload(path, dim=CODES, features=columns) as writer:
        tags, lengths = np.zeros(tokens, dtype=np.uint8), np.full(4, 10, dtype="<i4")
        writer.append(SentenceBlock(codes, tags, casing, lengths, features))
    return path.read_bytes()


def _pointing(folder: Path) -> list[bytes]:
    """Files of our layout but for one dataset, which lies in the canary."""
    sound = next((folder / "world").glob("*.h5"))
    canary, path, found = str(folder / CANARY), folder / "pointing.h5", []
    for kind in ("external storage", "external link", "virtual"):
        path.write_bytes(sound.read_bytes())
        with h5py.File(path, "r+", libver=("v108", "v110")) as file:
            rows = file["tags"].shape[0]
            del file["tags"]
            if kind == "external storage":
                file.create_dataset("tags", shape=(rows,), dtype="u1", external=[(canary, 0, rows)])
            elif kind == "external link":
                file["tags"] = h5py.ExternalLink(canary, "/tags")
            else:
                layout = h5py.VirtualLayout(shape=(rows,), dtype="u1")
                layout[:] = h5py.VirtualSource(canary, "tags", shape=(rows,))
                file.create_virtual_dataset("tags", layout)
        found.append(path.read_bytes())
    path.unlink()
    return found

"""Whole files to start from, as sites make them, and those that a site could build on purpose: HDF5 that points beside it."""

from __future__ import annotations

import os
from pathlib import Path

import h5py

from bench.exchange import world as invented
from bench.fuzz.targets import CANARY, SITE, TARGETS, VALUE_BOUND
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
    files["hdf5"] += _pointing(folder)
    for name, contents in files.items():
        (folder / name).mkdir()
        for number, content in enumerate(contents):
            (folder / name / f"{number:02}").write_bytes(content)


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

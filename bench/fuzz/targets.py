"""What is fuzzed: each reader of a stranger's bytes, with whole files to start from and what must hold for any bytes.

A reader may refuse bytes with a `ProtocolError`, and nothing else; what it accepts under a signature must be what was
signed. The files to start from also hold what a site could build on purpose: HDF5 that points at a file beside it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py

from bench.exchange.world import VALUE_BOUND, Sentences, build
from protocols.keys.signing import PublicKey
from protocols.payload.opening import PayloadLimits, ValueRules, open_payload
from protocols.payload.sentence_block import CheckedValues
from protocols.share.bundle import read_header
from protocols.share.manifest_envelope import verify_manifest
from protocols.share.sealing import read_envelope

TARGETS = ("header", "manifest", "parquet", "hdf5")
CANARY = "canary"
_SITE = "north"
_TAGS = 200


class ForgedError(AssertionError):
    """A reader took for signed what nobody signed."""


@dataclass(frozen=True)
class Target:
    """One reader.

    Args:
        name: one of TARGETS.
        seeds: whole files, sound ones first.
        take: reads bytes; returns if they are accepted, raises ProtocolError if they are refused.
    """

    name: str
    seeds: tuple[bytes, ...]
    take: Callable[[bytes], None]


def prepare(folder: Path) -> None:
    """Writes the files to start from, one folder for each target, the key that signed them, and the canary."""
    world = build(folder / "world")
    key = world.keys[_SITE].public_key
    (folder / "key").write_text(key.hex, encoding="ascii")
    (folder / CANARY).write_bytes(os.urandom(4096))
    files: dict[str, list[bytes]] = {name: [] for name in TARGETS}
    for seed, suffix in enumerate((".parquet", ".h5")):
        for blocks in (1, 3):
            payload = world.share(_SITE, seed + 1, Sentences(seed, blocks=blocks), suffix)
            bundle = world.seal(payload, _SITE)
            files["header"].append(read_header(bundle).to_bytes())
            files["manifest"].append(read_envelope(payload))
            files["parquet" if suffix == ".parquet" else "hdf5"].append(payload.read_bytes())
    files["hdf5"] += _pointing(folder)
    for name, contents in files.items():
        (folder / name).mkdir()
        for number, content in enumerate(contents):
            (folder / name / f"{number:02}").write_bytes(content)


def load(name: str, folder: Path) -> Target:
    """A target over files that `prepare` wrote."""
    seeds = tuple(path.read_bytes() for path in sorted((folder / name).iterdir()))
    key = PublicKey.from_hex((folder / "key").read_text(encoding="ascii"))
    work = folder / f"mutant-{os.getpid()}"

    def header(data: bytes) -> None:
        work.write_bytes(data)
        found = read_header(work)
        found.verify(key)
        _check_signed(found.to_bytes(), seeds)

    def manifest(data: bytes) -> None:
        verify_manifest(data, {_SITE: (key,)})
        _check_signed(data, seeds)

    def payload(data: bytes) -> None:
        work.write_bytes(data)
        with open_payload(work, PayloadLimits()) as reader:
            checked = CheckedValues(ValueRules(_TAGS, VALUE_BOUND), work.name)
            for block in reader:
                checked.add(block)

    return Target(name, seeds, {"header": header, "manifest": manifest}.get(name, payload))


def _check_signed(data: bytes, signed: tuple[bytes, ...]) -> None:
    if data not in signed:
        raise ForgedError("accepted what was not signed")


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


class Watch:
    """Counts files that Python opens outside a folder and outside where Python and its libraries lie.

    What a library in C opens, it does not see: for that there is the canary.

    Args:
        folder: where files may be opened.
    """

    def __init__(self, folder: Path) -> None:
        self.outside = 0
        places = (str(folder), sys.prefix, sys.base_prefix, *filter(None, sys.path), "/proc/self", "/sys", "/dev")
        self._places = tuple(os.path.realpath(place) for place in places)
        sys.addaudithook(self._heard)

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            self.outside += not path.startswith(self._places)

"""What is fuzzed: each reader of a stranger's bytes, with whole files to start from and what must hold for any bytes.

A reader may refuse bytes with a `ProtocolError`, and nothing else; what it accepts under a signature must be what was
signed. The files to start from come from `bench.fuzz.seeds`, which a process that tries mutants has no need to load.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from protocols.keys.signing import PublicKey
from protocols.payload.opening import PayloadLimits, ValueRules, open_payload
from protocols.payload.sentence_block import CheckedValues
from protocols.share.bundle import read_header
from protocols.share.manifest_envelope import verify_manifest

TARGETS = ("header", "manifest", "parquet", "hdf5")
CANARY = "canary"
SITE = "north"
VALUE_BOUND = 8.0
"""Of the payloads among the seeds."""
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


def load(name: str, folder: Path) -> Target:
    """A target over files that `bench.fuzz.seeds.prepare` wrote."""
    seeds = tuple(path.read_bytes() for path in sorted((folder / name).iterdir()))
    key = PublicKey.from_hex((folder / "key").read_text(encoding="ascii"))
    work = folder / f"mutant-{os.getpid()}"

    def header(data: bytes) -> None:
        work.write_bytes(data)
        found = read_header(work)
        found.verify(key)
        _check_signed(found.to_bytes(), seeds)

    def manifest(data: bytes) -> None:
        verify_manifest(data, {SITE: (key,)})
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

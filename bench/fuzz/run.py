"""`python -m bench.fuzz [--quick] [--record]`: bytes that nobody meant, given to all that reads a stranger's bytes; prints counts.

Two engines on each of four readers: atheris, which keeps what reaches new lines, and hypothesis, which edits whole files and
leaves most of them sound. They run in processes with the limits of the one that parses payloads at the provider, and the
provider's own part is then tried with mutants that a site signed and sealed: each must be decided, and the provider live on.

--quick takes a few of each, without atheris; --record writes the counts into docs/results/trust.json.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aggregator.enrolled import shares
from aggregator.ingestion import ingest as intake
from aggregator.registry.states import ShareState
from aggregator.sandbox.parent import SandboxLimits
from bench.exchange.world import Sentences, World, build, invented_terms
from bench.fuzz import child as fuzz_child
from bench.fuzz.seeds import prepare
from bench.fuzz.targets import CANARY, TARGETS
from bench.results import Entry, record
from foundation.errors import StorageError
from foundation.reading import file_sha256
from protocols.errors import ProtocolError
from protocols.share.manifest import ShareManifest
from protocols.share.manifest_envelope import parse_manifest, seal_manifest
from protocols.share.sealing import manifest_path, read_envelope

_COMMAND = "make fuzz"
_PAYLOADS = ("parquet", "hdf5")
_ATTEMPTS = 50
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Extent:
    """How much is tried.

    Args:
        runs: of each engine on each target, by name of the engine.
        sealed: mutants that are sealed and taken in.
    """

    runs: dict[str, int]
    sealed: int


WHOLE = Extent({"atheris": 20_000, "hypothesis": 8_000}, 400)
QUICK = Extent({"hypothesis": 150}, 4)


@dataclass
class Tally:
    """What became of the mutants.

    Args:
        tried: how many.
        accepted: of them; a flipped byte of padding changes nothing that counts.
        no_memory: ran into the limit of memory, which the kernel holds.
        outside: files that were read beside the one that was given.
        escaped: errors other than a refusal, each of them a defect.
        died: processes that a library took with it.
        peak_bytes: the largest memory of a process.
    """

    tried: int = 0
    accepted: int = 0
    no_memory: int = 0
    outside: int = 0
    escaped: int = 0
    died: int = 0
    peak_bytes: int = 0

    def add(self, other: Tally) -> None:
        """Count what a child counted."""
        for name in ("tried", "accepted", "no_memory", "outside", "escaped", "died"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)

    def __str__(self) -> str:
        return (
            f"{self.tried:7} tried, {self.accepted} accepted, {self.no_memory} out of memory, {self.outside} reads outside, "
            f"{self.escaped} errors escaped, {self.died} children died, {self.peak_bytes // _MEGABYTE} MB at most"
        )


def run(folder: Path, extent: Extent, say: Callable[[str], None] = lambda line: None) -> tuple[Tally, Tally]:
    """Tries everything; returns what the readers did, and the provider.

    Args:
        folder: an empty one.
        extent: how much.
        say: takes a line for each kind.
    """
    prepare(folder)
    _check_canary(folder)
    readers = Tally()
    for name in TARGETS:
        for engine, runs in extent.runs.items():
            found = _engine(engine, name, runs, folder)
            say(f"{name:9} {engine:11} {found}")
            readers.add(found)
    crashed = sorted(folder.glob("crash-*")) + sorted(folder.glob("oom-*"))
    provider = _provider(build(folder / "provider"), folder, extent.sealed, crashed)
    say(f"{'sealed':9} {'provider':11} {provider}")
    return readers, provider


def _engine(engine: str, name: str, runs: int, folder: Path) -> Tally:
    """One engine on one target; a process that dies is followed by another until all runs are made."""
    tally = Tally()
    for seed in range(1, _ATTEMPTS + 1):
        _reset_canary(folder)
        counts = folder / fuzz_child.COUNTS
        fuzz_child.reset_counts(counts)
        command = [
            sys.executable,
            "-m",
            "bench.fuzz.child",
            engine,
            name,
            str(runs - tally.tried),
            str(seed),
            str(folder),
        ]
        with (folder / f"{engine}-{name}-{seed}.log").open("wb") as log:
            code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
        tried, accepted, no_memory, outside, peak = fuzz_child.read_counts(counts)
        escaped = b"Traceback (most recent call last)" in (folder / f"{engine}-{name}-{seed}.log").read_bytes()
        died = code != 0 and not escaped
        outside += _canary_was_read(folder)
        tally.add(Tally(tried, accepted, no_memory, outside, int(escaped), int(died), peak))
        if tally.tried >= runs or escaped:
            break
    return tally


def _provider(world: World, folder: Path, sealed: int, crashed: list[Path]) -> Tally:
    """Gives the provider mutants of payloads under a sound manifest, what killed a reader before all others."""
    chance, tally, workspace = random.Random(1), Tally(), world.workspace()
    with invented_terms():
        for number in range(sealed):
            payload = world.share("north", 1, Sentences(number), (".parquet", ".h5")[number % 2])
            mutant = crashed.pop().read_bytes() if crashed else _mutant(payload.read_bytes(), chance)
            payload.write_bytes(mutant)
            _state_anew(world, payload)
            _reset_canary(folder)
            try:
                state: ShareState | None = intake.ingest(workspace, world.seal(payload, "north")).state
            except (ProtocolError, StorageError):
                state = ShareState.REJECTED
            except Exception:
                tally.escaped += 1
                state = None
            tally.tried += 1
            tally.accepted += state not in (ShareState.REJECTED, None)
            tally.outside += _canary_was_read(folder)
            for path in (payload, manifest_path(payload), payload.with_suffix(".share")):
                path.unlink(missing_ok=True)
            if state not in (ShareState.REJECTED, None):
                # Its number is taken: the next needs a world without it.
                world = build(folder / f"provider-{number}")
                workspace = world.workspace()
        tally.escaped += len(shares.list_shares(workspace, (ShareState.RECEIVED,)))
    return tally


def _mutant(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    if chance.random() < 0.2:
        del changed[chance.randrange(len(changed)) :]
    return bytes(changed)


def _state_anew(world: World, payload: Path) -> None:
    """Signs a manifest for the bytes that lie there now."""
    manifest = parse_manifest(read_envelope(payload))
    stated = {**vars(manifest), "payload_bytes": payload.stat().st_size, "payload_sha256": file_sha256(payload)}
    manifest_path(payload).write_bytes(seal_manifest(ShareManifest(**stated), world.keys["north"]))


def _reset_canary(folder: Path) -> None:
    """Dates the last reading of the canary before its last change, so that the next one is noted on every file system."""
    os.utime(folder / CANARY, (1, 1_000_000_000))


def _canary_was_read(folder: Path) -> bool:
    return (folder / CANARY).stat().st_atime != 1


def _check_canary(folder: Path) -> None:
    """The instrument itself: a reading must show."""
    _reset_canary(folder)
    if _canary_was_read(folder):
        raise RuntimeError("expected a canary that nobody has read, found that it was read")
    (folder / CANARY).read_bytes()
    if not _canary_was_read(folder):
        raise RuntimeError(
            "expected a file system that notes readings, found one mounted noatime; set TMPDIR to another"
        )


def entries(readers: Tally, provider: Tally) -> list[Entry]:
    """What the issue asks for."""
    limit = SandboxLimits().memory_bytes
    data, both = "mutants of invented shares", f"{readers}; sealed for the provider: {provider}"

    def entry(measure: str, value: float, target: float, direction: str, unit: str, note: str = "") -> Entry:
        return Entry(f"fuzz: {measure}", value, target, direction, unit, None, 1, data, _COMMAND, note)

    return [
        entry(
            "mutated headers, manifests, Parquet and HDF5 payloads",
            readers.tried + provider.tried,
            100_000,
            ">=",
            "mutants",
            both,
        ),
        entry("errors of readers other than a refusal", readers.escaped, 0, "<=", "errors"),
        entry("crashes of the provider, and shares it left undecided", provider.escaped, 0, "<=", "crashes"),
        entry(
            "reads outside the bundle",
            readers.outside + provider.outside,
            0,
            "<=",
            "reads",
            "a canary that mutants point at, and every file that Python opens",
        ),
        entry(
            "largest memory of a process that parses",
            round(readers.peak_bytes / _MEGABYTE),
            limit // _MEGABYTE,
            "<=",
            "MB",
            f"the kernel refuses more; {readers.no_memory} mutants ran into the limit",
        ),
        Entry(
            "fuzz: child processes that a library took with it",
            readers.died,
            None,
            "",
            "processes",
            None,
            1,
            data,
            _COMMAND,
            "the provider refuses such a share; what killed them was given to it",
        ),
    ]


def main(arguments: list[str]) -> int:
    """Tries, prints, and with --record writes; returns 1 where there is a defect."""
    if not set(arguments) <= {"--quick", "--record"}:
        print("usage: python -m bench.fuzz [--quick] [--record]", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        found = entries(
            *run(Path(folder), QUICK if "--quick" in arguments else WHOLE, lambda line: print(line, flush=True))
        )
    for entry in found:
        print(f"{entry.measure}: {entry.value:g}")
    if "--record" in arguments:
        record("trust", found)
    return int(any(entry.reached is False for entry in found[1:]))

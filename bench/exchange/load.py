"""Fifty sites that upload at once, over lines that break again and again, to a running `aggregator serve`.

Everything is real but the sentences: the command in a process of its own, TLS, signed requests, sealed shares, the ingest
with its check in a child process, and receipts that are verified. Sites and the proxies that cut their lines run beside
it, on the same processors.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from aggregator.publishing.releases import Publishing, publish_representer
from bench.exchange.certificates import Certificates, make_certificates
from bench.exchange.cutting_proxy import connect_proxy
from bench.exchange.world import SCHEME, Sentences, World, build
from bench.results import Entry
from foundation.files import write_text
from protocols.keys.signing import PrivateKey
from protocols.share.receipt import read_receipt
from shared.constructions.procedures.recurrent import NoisyRecurrent
from shared.embeddings.vectors import WordVectors
from shared.labels import load_scheme
from shared.models.representer import Representer, RepresenterConfig
from site_client.exchange.transport import Connection, RetryPolicy, Transport
from site_client.exchange.upload import upload

SITES, BUNDLE_BYTES = 50, 20_000_000
_DIM = 50
_BLOCK_SENTENCES = 2000
# Ten tokens a sentence; 16 bits a number, tag and casing of a byte each, and the length.
_SENTENCE_BYTES = 10 * (2 * _DIM + 2) + 12
_CUT = 0.6
_RETRY_POLICY = RetryPolicy(attempts=60, first_s=0.2, most_s=5, answer_s=300)
_SAMPLE_S = 0.5
_MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Loaded:
    """What came out.

    Args:
        arrived: bundles with a sound receipt.
        states: of their shares.
        tunnels: connections that were opened, of which all but one for each site followed a cut.
        seconds: from the first request to the last receipt.
        server_bytes: the largest resident memory of the server process, as the kernel counted it.
        tree_bytes: the largest of the server and its child processes together, as sampled.
    """

    arrived: int
    states: dict[str, int]
    tunnels: int
    seconds: float
    server_bytes: int
    tree_bytes: int


def measure(folder: Path, command: str, *, sites: int = SITES, bundle_bytes: int = BUNDLE_BYTES) -> list[Entry]:
    """The load as entries for the results.

    Args:
        folder: an empty one, with room for four times the bundles.
        command: what anyone can type to measure it again.
        sites: how many upload at once.
        bundle_bytes: size of each bundle, about.
    """
    found = run(folder, sites, bundle_bytes)
    size = f"{bundle_bytes / _MEGABYTE:.0f} MB"
    cuts = found.tunnels - sites
    note = (
        f"{cuts} cuts, {found.seconds:.0f} s, {os.cpu_count()} processors for server, sites and proxies; shares "
        + ", ".join(f"{state} {count}" for state, count in sorted(found.states.items()))
    )
    data = f"{sites} shares of invented sentences"
    memory = (
        "the server process, as the kernel counted; with the ingest and the check of payloads, which are processes of their own, "
        f"{found.tree_bytes / _MEGABYTE:.0f} MB as sampled, what they share counted each time"
    )
    return [
        Entry(
            f"{sites} sites upload {size} each at once, with cuts: bundles that arrived",
            found.arrived,
            sites,
            ">=",
            "bundles",
            None,
            1,
            data,
            command,
            note,
        ),
        Entry(
            f"{sites} sites upload {size} each at once: largest memory of the server",
            round(found.server_bytes / _MEGABYTE),
            500,
            "<=",
            "MB",
            None,
            1,
            data,
            command,
            memory,
        ),
    ]


def run(folder: Path, sites: int, bundle_bytes: int) -> Loaded:
    """Make provider and sites, let all upload, and count."""
    world = build(folder / "world", keys={f"site-{number:02}": PrivateKey.generate() for number in range(sites)})
    release = publish_untrained(world)
    provider = world.workspace().key().public_key
    bundles = {site: share(world, site, release, bundle_bytes) for site in world.keys}
    certificates = make_certificates(folder / "certificates", "localhost")
    with (
        run_server(world.provider, certificates, folder / "server.log") as (process, address),
        _watched(process) as memory,
    ):
        began = time.monotonic()
        barrier = threading.Barrier(sites)
        with ThreadPoolExecutor(sites) as pool:
            jobs = [
                pool.submit(
                    _send,
                    Connection(address, certificates.authority, retry_policy=_RETRY_POLICY),
                    key,
                    bundles[site],
                    number,
                    barrier,
                )
                for number, (site, key) in enumerate(world.keys.items())
            ]
            answers = [job.result() for job in jobs]
        seconds = time.monotonic() - began
        server_bytes = _peak(process.pid)
    states = Counter(read_receipt(receipt, provider).state.value for receipt, _ in answers)
    return Loaded(
        len(answers), dict(states), sum(tunnels for _, tunnels in answers), seconds, server_bytes, max(memory)
    )


def share(world: World, site: str, release: str, size: int, sequence: int = 1) -> Path:
    """A sealed share of invented sentences, of about `size` bytes."""
    blocks = max(1, round(size / (_BLOCK_SENTENCES * _SENTENCE_BYTES)))
    sentences = Sentences(1000 * (sequence - 1) + int(site.rpartition("-")[2]), blocks, _BLOCK_SENTENCES, dim=_DIM)
    payload = world.share(site, sequence, sentences, release=release)
    bundle = world.seal(payload, site)
    payload.unlink()
    return bundle


@contextmanager
def run_server(workspace: Path, certificates: Certificates, log: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command as it runs, and its address; at the end of the block it has to end in order."""
    process, address = start_server(workspace, certificates, log)
    try:
        yield process, address
    finally:
        process.terminate()
        if process.wait(120) != 0:
            raise RuntimeError(f"the server ended with {process.returncode}, see {log}")


def start_server(
    workspace: Path, certificates: Certificates, log: Path, port: int = 0
) -> tuple[subprocess.Popen[str], str]:
    """The command as it runs, and its address; whoever starts it ends it."""
    command = [
        sys.executable,
        "-m",
        "aggregator",
        "serve",
        "--workspace",
        str(workspace),
        "--host",
        "localhost",
        "--port",
        str(port),
        "--certificate",
        str(certificates.certificate),
        "--key",
        str(certificates.key),
    ]
    with log.open("ab") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert process.stdout is not None
    found = re.fullmatch(r"serving (https://\S+)\n", process.stdout.readline())
    if found is None:
        process.kill()
        process.wait()
        raise RuntimeError(f"the server did not start, see {log}")
    return process, found[1]


def _send(
    connection: Connection, key: PrivateKey, bundle: Path, number: int, barrier: threading.Barrier
) -> tuple[bytes, int]:
    """Upload one bundle through a line of its own; returns the receipt and how many tunnels it took."""
    digest = hashlib.sha256(bundle.read_bytes()).hexdigest()
    # Hospitals have addresses of their own, and the server counts connections by address.
    with connect_proxy(_cuts(number, bundle.stat().st_size), address=f"127.0.1.{number + 1}") as proxy:
        barrier.wait()
        with Transport(replace(connection, proxy=proxy.url), key) as transport:
            receipt = upload(transport, bundle, digest)
        return receipt, len(proxy.tunnels)


def _cuts(seed: int, size: int) -> Iterator[int | None]:
    """After how many bytes each tunnel breaks; the first always does."""
    chance = random.Random(seed)
    yield chance.randrange(1, size)
    while True:
        yield chance.randrange(1, size) if chance.random() < _CUT else None


def publish_untrained(world: World) -> str:
    """Publish a representer that nobody has trained; returns the digest of the release."""
    workspace, scheme = world.workspace(), load_scheme(SCHEME)
    torch.manual_seed(0)
    matrix = np.eye(8, dtype=np.float32)
    vectors = WordVectors([f"word{row}" for row in range(8)], matrix)
    representer = Representer(RepresenterConfig(8, dim=_DIM, hidden=8, output_noise=0.1)).eval()
    workspace.representer.mkdir()
    NoisyRecurrent(vectors, representer, scheme).save(workspace.representer)
    write_text(workspace.representer / "training.json", "{}", private=False)
    digest = publish_representer(workspace, Publishing(audited=False)).digest
    workspace.registry().close()
    return digest


@contextmanager
def _watched(process: subprocess.Popen[str]) -> Iterator[list[int]]:
    """Samples the memory of a process and its children while the block runs."""
    found, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(_SAMPLE_S):
            found.append(_tree_bytes(process.pid))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        done.set()
        watcher.join()


def list_processes() -> Iterator[tuple[int, int, int]]:
    """Of every process on this machine: its number, its parent's, its resident memory in bytes."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # What follows the name, which may hold anything: state, parent, and as the 22nd the resident pages.
            fields = path.read_text().rpartition(")")[2].split()
            yield int(path.parent.name), int(fields[1]), int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def _tree_bytes(root: int) -> int:
    """Resident memory of a process and all below it, what they share counted each time."""
    sizes, below = {}, defaultdict(list)
    for number, parent, size in list_processes():
        sizes[number] = size
        below[parent].append(number)
    tree = [root]
    for one in tree:
        tree += below[one]
    return sum(sizes.get(one, 0) for one in tree)


def _peak(process: int) -> int:
    """The largest resident memory that the process ever had."""
    found = re.search(r"VmHWM:\s+([0-9]+) kB", Path(f"/proc/{process}/status").read_text())
    if found is None:
        raise RuntimeError("expected Linux's /proc, found none; measure there")
    return 1024 * int(found[1])

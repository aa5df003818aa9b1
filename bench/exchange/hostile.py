"""`python -m bench.exchange.hostile [--quick] [--record]`: an honest upload beside 200 strangers and 50 enrolled sites that are hostile.

The command in a process of its own, TLS, signed requests, a sealed share of 20 MB, the ingest, a receipt that is verified. Attackers
run in another process of the same machine, so that they take processors from the server as well as places. Each round times
the upload alone and then beside them; the figure is the ratio.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench.exchange.attackers import ADDRESSES, Attack, attacked
from bench.exchange.certificates import Certificates, make_certificates
from bench.exchange.load import BUNDLE_BYTES, publish_untrained, run_server, share
from bench.exchange.world import World, build
from bench.results import Entry, record
from protocols.keys.signing import PrivateKey
from protocols.share.receipt import read_receipt
from site_client.exchange.transport import Connection, RetryPolicy, Transport
from site_client.exchange.upload import upload

ANONYMOUS, ENROLLED, ROUNDS = 200, 50, 5
COMMAND = "python -m bench.exchange.hostile --record"
_HONEST = "site-99"
# Then the first bursts of strangers are over, and the first of them have been cut off.
_SETTLED_S = 15
_RETRY_POLICY = RetryPolicy(attempts=30, first_s=0.2, most_s=5, answer_s=300)


@dataclass(frozen=True)
class Round:
    """One upload without and one with attackers.

    Args:
        alone_s: seconds from the first request to the receipt, alone.
        beside_s: the same, beside the attackers.
        came: how often each kind of attacker came meanwhile.
        turned_away: connections that the server has refused or cut since its start.
    """

    alone_s: float
    beside_s: float
    came: Counter[str]
    turned_away: int

    @property
    def ratio(self) -> float:
        """How many times as long the upload took."""
        return self.beside_s / self.alone_s


def measure(rounds: list[Round], bundle_bytes: int, anonymous: int, enrolled: int) -> Entry:
    """The rounds as an entry for the results."""
    ratios = sorted(round_.ratio for round_ in rounds)
    came = sum((round_.came for round_ in rounds), Counter[str]())
    return Entry(
        f"honest upload of {bundle_bytes / 1e6:.0f} MB beside {anonymous + enrolled} hostile connections, times its time alone",
        round(statistics.median(ratios), 3),
        3,
        "<=",
        "times",
        (round(ratios[0], 3), round(ratios[-1], 3)),
        len(ratios),
        "shares of invented sentences",
        COMMAND,
        f"median, fastest and slowest of {len(ratios)}; {anonymous} strangers on {ADDRESSES} addresses and {enrolled} enrolled sites, {os.cpu_count()} "
        f"processors for all sides; alone {statistics.median(round_.alone_s for round_ in rounds):.1f} s, beside "
        f"{statistics.median(round_.beside_s for round_ in rounds):.1f} s, receipt included; attackers came "
        f"{came.total()} times ({', '.join(f'{kind} {count}' for kind, count in sorted(came.items()))}); "
        f"{rounds[-1].turned_away} connections turned away",
    )


def run(folder: Path, rounds: int, bundle_bytes: int, anonymous: int, enrolled: int) -> list[Round]:
    """Make provider and sites, and time every round."""
    seeds = {f"site-{number:02}": hashlib.sha256(bytes([number])).digest() for number in range(enrolled)}
    keys = {name: PrivateKey.from_seed(seed) for name, seed in seeds.items()} | {_HONEST: PrivateKey.generate()}
    world = build(folder / "world", keys=keys)
    release = publish_untrained(world)
    certificates = make_certificates(folder / "certificates", "localhost")
    with run_server(world.provider, certificates, folder / "server.log") as (_, address):
        honest = _Honest(world, release, bundle_bytes, address, certificates)
        attack = Attack(address, certificates.authority, anonymous, tuple(seeds.values()))
        # The first starts what checks shares.
        honest.seconds()
        return [_shown(honest.round(attack)) for _ in range(rounds)]


class _Honest:
    """A site that uploads share after share."""

    def __init__(self, world: World, release: str, size: int, address: str, certificates: Certificates) -> None:
        self._world, self._release, self._size = world, release, size
        self._address, self._certificates = address, certificates
        self._provider = world.workspace().key().public_key
        self._sequence = 0

    def round(self, attack: Attack) -> Round:
        alone = self.seconds()
        with attacked(attack) as counted:
            time.sleep(_SETTLED_S)
            before = counted()
            beside = self.seconds()
            came = counted() - before
        return Round(alone, beside, came, self._turned_away())

    def seconds(self) -> float:
        """Uploads one share and waits for its receipt."""
        self._sequence += 1
        bundle = share(self._world, _HONEST, self._release, self._size, self._sequence)
        digest = hashlib.sha256(bundle.read_bytes()).hexdigest()
        line = Connection(self._address, self._certificates.authority, retry_policy=_RETRY_POLICY)
        began = time.monotonic()
        with Transport(line, self._world.keys[_HONEST]) as transport:
            receipt = read_receipt(upload(transport, bundle, digest), self._provider)
        seconds = time.monotonic() - began
        if receipt.bundle_sha256 != digest:
            raise RuntimeError("expected a receipt of the bundle that was sent, got another")
        bundle.unlink()
        return seconds

    def _turned_away(self) -> int:
        with Transport(Connection(self._address, self._certificates.authority, retry_policy=_RETRY_POLICY)) as line:
            page = b"".join(line.fetch("/metrics", 1 << 20)).decode()
        counts = [row.split()[1] for row in page.splitlines() if row.startswith("deid_connections_turned_away_total")]
        return int(sum(map(float, counts)))


def _shown(found: Round) -> Round:
    print(
        f"alone {found.alone_s:.2f} s, beside {found.beside_s:.2f} s, {found.ratio:.2f} times; {dict(found.came)}, "
        f"{found.turned_away} turned away",
        flush=True,
    )
    return found


def main() -> None:
    """Measure, print, and record where it is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.exchange.hostile", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round with a share of 2 MB; nothing is recorded")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often (default: %(default)s)")
    parser.add_argument("--record", action="store_true", help="write docs/results/gate.*")
    asked = parser.parse_args()
    rounds, size = (1, BUNDLE_BYTES // 10) if asked.quick else (asked.rounds, BUNDLE_BYTES)
    with tempfile.TemporaryDirectory() as folder:
        entry = measure(run(Path(folder), rounds, size, ANONYMOUS, ENROLLED), size, ANONYMOUS, ENROLLED)
    print(f"{entry.value:g} times ({entry.note})")
    if asked.record and not asked.quick:
        record("gate", [entry])


if __name__ == "__main__":
    main()

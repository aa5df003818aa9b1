"""`site-client deid` by a Dask cluster: `python by_dask.py SCHEDULER PARTS OUT COMMAND...`; needs dask and distributed, and nothing of ours.

    python by_dask.py tls://10.0.0.1:8786 64 ../safe site-client deid /srv/notes --workspace /srv/deid

Dask carries a number and the words of a command to each worker, and an exit code back. The worker runs the command with
`--part NUMBER/PARTS --out OUT-NUMBER`; notes, weights and texts are in no message of the cluster. Folders must have the same names
on all machines. Where all parts are there, `site-client deid-merge` lays them together.

What Dask sends it pickles. So a cluster belongs within one house, under TLS with certificates of its own (`DASK_DISTRIBUTED__COMM__*`);
plain TCP is taken on this machine's loopback alone.
"""

from __future__ import annotations

import subprocess
import sys

# Somebody may restart a part that has ended badly; nothing here does, for notes that are refused once are refused again.
_RETRIES = 0


def run_part(number: int, parts: int, out: str, command: list[str]) -> int:
    """Run one part where this is called, on a worker; returns the exit code."""
    return subprocess.run([*command, "--part", f"{number}/{parts}", "--out", f"{out}-{number}"], check=False).returncode


def main() -> int:
    """Run all parts; returns 0 if each has ended well."""
    if len(sys.argv) < 5:
        print("usage: by_dask.py SCHEDULER PARTS OUT COMMAND...", file=sys.stderr)
        return 2
    scheduler, parts, out, command = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    if not scheduler.startswith(("tls://", "tcp://127.0.0.1:")):
        print(
            "expected tls://HOST:PORT, or tcp://127.0.0.1:PORT on this machine, got another scheduler", file=sys.stderr
        )
        return 2
    from distributed import Client

    with Client(scheduler, set_as_default=False) as client:
        jobs = [
            client.submit(run_part, number, parts, out, command, pure=False, retries=_RETRIES)
            for number in range(1, parts + 1)
        ]
        codes = client.gather(jobs)
    failed = {number: code for number, code in enumerate(codes, start=1) if code}
    for number, code in failed.items():
        print(f"part {number}/{parts} ended with code {code}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

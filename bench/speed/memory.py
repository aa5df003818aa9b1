"""Peak memory of `site-client encode` on N notes and on 4 N, each in a process of its own.

Run as a module it is that process: `python -m bench.speed.memory WORKSPACE NOTES OUT` prints its peak in KiB.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

from bench.results import ROOT, Entry
from bench.speed.material import DATA, notes
from shared.corpus import read_corpus, write_corpus
from site_client.policy.enforcing import Acceptance
from site_client.sharing.encode import encode
from site_client.workspace import Workspace, open_workspace

# Enough that every buffer and cache is full once and the share goes through the spools.
NOTES = 3200
TIMES = 4
TARGET = 1.1


def measure(folder: Path, site: Workspace, command: str) -> list[Entry]:
    """The ratio of the two peaks.

    Args:
        folder: for notes and shares.
        site: with a pulled release.
        command: to state in the entry.
    """
    peaks = []
    for count in (NOTES, TIMES * NOTES):
        source = folder / f"memory-{count}.jsonl"
        write_corpus(notes(count, 2), source, "jsonl")
        peaks.append(_peak_of_child(site.root, source, folder / f"memory-{count}.parquet"))
    measure = f"peak memory of encode on {TIMES} times as many notes"
    note = f"{NOTES} notes: {peaks[0] >> 10} MiB, {TIMES * NOTES} notes: {peaks[1] >> 10} MiB, of which torch takes most; flat is 1, up to {TARGET} passes"
    return [Entry(measure, round(peaks[1] / peaks[0], 3), TARGET, "<=", "times", None, 1, DATA, command, note)]


def _peak_of_child(site: Path, source: Path, out: Path) -> int:
    command = (sys.executable, "-m", "bench.speed.memory", str(site), str(source), str(out))
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return int(done.stdout)


def peak_kib() -> int:
    """Peak resident memory of this process."""
    # Linux hands a parent's ru_maxrss down to its children, so the process's own mark comes first.
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found.group(1)) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(site: str, source: str, out: str) -> None:
    """Encode, and print the peak."""
    import torch

    torch.set_num_threads(1)
    encode(open_workspace(Path(site)), read_corpus(Path(source)), Path(out), acceptance=Acceptance("a measurement"))
    print(peak_kib())


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What it costs to have a payload from an S3-compatible store as a file first, as `train-head` does, beside one pass of reading it."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import time
import urllib.request
from pathlib import Path

from aggregator.objects import ObjectStore, open_store
from aggregator.training.pool import read_blocks
from bench.results import Entry
from bench.scale.busy import median_of

COMMAND = "python -m bench.results_show scale"
TURNS = 3
# So many payloads of the measured size: an object of hundreds of kilobytes says little of a store.
_COPIES = 8


def measure(payload: Path) -> list[Entry]:
    """CPU seconds to fetch and verify, over those of one pass that reads and learns nothing.

    Args:
        payload: of codes.
    """
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    os.environ.setdefault("AWS_ACCESS_KEY_ID", "bench")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "bench")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        with urllib.request.urlopen(urllib.request.Request(f"{address}/bench", method="PUT")):  # noqa: S310
            pass
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(f"s3://bench/pool?endpoint={address}&region=us-east-1", Path(folder))
            ratios = [_turn(store, payload) for _ in range(TURNS)]
    finally:
        server.stop()
    value, interval = median_of(ratios)
    note = (
        f"fetch, digest and file of a payload of {payload.stat().st_size} bytes, over one pass of reading its blocks, CPU seconds with those of the "
        f"server, which runs in the same process; once for each training, where there are 20 passes; median and range of {TURNS} turns"
    )
    return [
        Entry(
            "a payload from S3 as a file, over one pass of reading it",
            value,
            None,
            "",
            "times",
            interval,
            TURNS,
            "generated notes",
            COMMAND,
            note,
        )
    ]


def _turn(store: ObjectStore, payload: Path) -> float:
    digest = hashlib.sha256(payload.read_bytes()).hexdigest()
    store.put(payload, digest)
    spent = [time.process_time()]
    for _ in range(_COPIES):
        with store.local(digest):
            pass
    spent.append(time.process_time())
    for _ in range(_COPIES):
        for _ in read_blocks(payload):
            pass
    spent.append(time.process_time())
    return (spent[1] - spent[0]) / (spent[2] - spent[1])

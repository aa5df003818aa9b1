"""A sealed share of invented sentences, and its keys."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

from protocols.canonical import canonical_bytes, parse_json
from protocols.keys.signing import SHARE_CONTEXT, PrivateKey
from protocols.share.manifest import ShareFields, ShareManifest
from protocols.share.sealing import manifest_path, seal_share
from tests.protocols.payload.blocks import TAGS, VALUE_BOUND, make_block, write_payload

KEY = PrivateKey.from_seed(bytes(range(32)))
OTHER_KEY = PrivateKey.from_seed(bytes(range(1, 33)))
PROVIDER = PrivateKey.from_seed(bytes(range(2, 34)))
KEYS = {"hospital-a": (KEY.public_key,), "hospital-b": (OTHER_KEY.public_key,)}
FIELDS = ShareFields(
    site="hospital-a",
    sequence=1,
    recipient=PROVIDER.public_key.key_id,
    release="ab" * 32,
    label_scheme="meddocan",
    tags=TAGS,
    value_bound=VALUE_BOUND,
    created=datetime.date(2026, 1, 31),
    software="deid-commons 0.1.0",
    protection={"mu_per_token": 1.25, "noise_sigma_min": 0.45},
)


def fields(**changes: Any) -> ShareFields:
    return dataclasses.replace(FIELDS, **changes)


def sealed(folder: Path, *, suffix: str = ".parquet", **changes: Any) -> Path:
    path = write_payload(folder / f"share{suffix}", [make_block([3, 4]), make_block([2], seed=1)])
    seal_share(path, fields(**changes), KEY)
    return path


def resign(path: Path, change: Callable[[dict[str, Any]], object], key: PrivateKey = KEY) -> None:
    """Changes the manifest beside `path` and signs it again, as a dishonest site would."""
    envelope: Any = parse_json(manifest_path(path).read_bytes(), max_bytes=1 << 20)
    change(envelope["manifest"])
    signature = key.sign(SHARE_CONTEXT, canonical_bytes(envelope["manifest"]))
    manifest_path(path).write_bytes(canonical_bytes({**envelope, "signature": signature.to_json()}))


def manifest_of(path: Path) -> ShareManifest:
    envelope: Any = parse_json(manifest_path(path).read_bytes(), max_bytes=1 << 20)
    return ShareManifest.from_json(envelope["manifest"])

"""The test vectors that docs/formats gives to other implementations are what this one makes."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from protocols.canonical import canonical_bytes, parse_canonical
from protocols.errors import SignatureError
from protocols.manifest import ShareManifest
from protocols.release import ReleaseManifest
from protocols.signing import RELEASE_CONTEXT, SHARE_CONTEXT, PrivateKey, Signature

FORMATS = Path(__file__).resolve().parents[2] / "docs" / "formats"
KEY = PrivateKey.from_seed(bytes(range(32)))


def vectors(name: str) -> dict[str, str]:
    text = (FORMATS / name).read_text(encoding="utf-8")
    return dict(re.findall(r"```vector ([a-z-]+)\n(.*?)\n```", text, re.DOTALL))


SHARE, RELEASE = vectors("share.md"), vectors("release.md")


def test_every_vector_is_tested() -> None:
    assert set(SHARE) == {
        "public-key", "key-id", "key-spoken", "manifest", "signature", "values", "representation"
    }  # fmt: skip
    assert set(RELEASE) == {"release", "digest", "signature"}


def test_the_key() -> None:
    assert KEY.public_key.hex == SHARE["public-key"]
    assert KEY.public_key.key_id == SHARE["key-id"]
    assert KEY.public_key.spoken == SHARE["key-spoken"]
    # As the document defines it, by hand.
    digest = hashlib.sha256(b"deid-commons key id v1\x00" + bytes.fromhex(SHARE["public-key"])).hexdigest()
    assert SHARE["key-id"].replace("-", "") == digest[:32]


def test_the_manifest_of_a_share() -> None:
    data = SHARE["manifest"].encode()
    manifest = ShareManifest.from_bytes(data)
    assert manifest.to_bytes() == data
    assert canonical_bytes(KEY.sign(SHARE_CONTEXT, data).to_json()).decode() == SHARE["signature"]


def test_every_key_of_the_manifests_is_documented() -> None:
    for vector, name in ((SHARE["manifest"], "share.md"), (RELEASE["release"], "release.md")):
        text = (FORMATS / name).read_text(encoding="utf-8")
        value = parse_canonical(vector.encode(), max_bytes=1 << 16)
        assert isinstance(value, dict)
        documented = {
            key for row in re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)
        }
        assert set(value) <= documented


def test_the_manifest_of_a_release() -> None:
    data = RELEASE["release"].encode()
    manifest = ReleaseManifest.from_bytes(data)
    assert manifest.to_bytes() == data
    assert manifest.digest == RELEASE["digest"]
    assert canonical_bytes(KEY.sign(RELEASE_CONTEXT, data).to_json()).decode() == RELEASE["signature"]


def test_signatures_are_not_exchangeable() -> None:
    signature = Signature.from_json(parse_canonical(SHARE["signature"].encode(), max_bytes=1 << 10), "vector")
    with pytest.raises(SignatureError):
        KEY.public_key.verify(RELEASE_CONTEXT, SHARE["manifest"].encode(), signature)


def test_the_bytes_of_a_representation() -> None:
    values = np.array([float(number) for number in SHARE["values"].split()], dtype="<f2")
    assert values.tobytes().hex() == SHARE["representation"]

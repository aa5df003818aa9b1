"""The suites of others are read right, only the pinned ones, and one that can't be had is left out with a line."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tuf.api.exceptions import DownloadHTTPError

from bench.conformance import run, tuf_client, tuf_suite, wycheproof
from bench.conformance.sources import Suite, obtain_suite
from protocols.errors import SchemaError
from protocols.keys.signing import PrivateKey
from protocols.release.repository import METADATA, TARGETS
from shared.errors import ConfigurationError
from tests.release_repositories import Publisher

KEY = PrivateKey.from_seed(bytes(range(32)))
SEALED = {
    # RFC 8439, section 2.8.2.
    "key": "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
    "iv": "070000004041424344454647",
    "aad": "50515253c0c1c2c3c4c5c6c7",
    "msg": b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
    b"sunscreen would be it.".hex(),
    "ct": "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de0a9e06"
    "0b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b7a9de576d26586ce"
    "c64b6116",
    "tag": "1ae10b594f09e26a7e902ecbd0600691",
}


def vector(**fields: Any) -> dict[str, Any]:
    return {"tcId": 7, "flags": [], "result": "valid", **fields}


def test_a_signature_is_judged_by_what_the_vector_says() -> None:
    group = {"publicKey": {"pk": KEY.public_key.hex}}
    signature = KEY.sign_bytes(b"m").hex()
    for value, result, agrees in (
        (signature, "valid", True),
        (signature, "invalid", False),
        (signature[:-2] + "ff", "invalid", True),
        (signature[:-2] + "ff", "valid", False),
        ("", "invalid", True),
    ):
        assert wycheproof.try_ed25519(group, vector(msg=b"m".hex(), sig=value, result=result)) is agrees


def test_a_half_of_small_order_must_be_refused() -> None:
    # RFC 7748, section 5.2, and the point of order 1.
    good = vector(
        private="a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        public="e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
        shared="c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
    )
    assert wycheproof.try_x25519({}, good)
    assert not wycheproof.try_x25519({}, {**good, "shared": "00" * 32})
    assert wycheproof.try_x25519({}, {**good, "public": "00" * 32, "shared": "00" * 32})


def test_a_stream_with_the_nonce_of_the_vector() -> None:
    assert wycheproof.try_chacha20_poly1305({}, vector(**SEALED))
    assert not wycheproof.try_chacha20_poly1305({}, vector(**SEALED, result="invalid"))
    changed = {**SEALED, "tag": "00" * 16}
    assert wycheproof.try_chacha20_poly1305({}, vector(**changed, result="invalid"))
    assert not wycheproof.try_chacha20_poly1305({}, vector(**changed))


def test_other_vectors_than_the_pinned_are_refused_and_counts_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "testvectors_v1"
    folder.mkdir()
    tests = [
        vector(**SEALED),
        vector(**SEALED, result="invalid"),
        {**vector(**SEALED), "flags": ["InvalidNonceSize"]},
    ]
    path = folder / "chacha20_poly1305_test.json"
    path.write_text(json.dumps({"testGroups": [{"tests": tests}]}))
    monkeypatch.setattr(wycheproof, "_TRIALS", {path.name: wycheproof.try_chacha20_poly1305})
    with pytest.raises(ConfigurationError, match=wycheproof.COMMIT[:12]):
        wycheproof.run_wycheproof(tmp_path)
    monkeypatch.setitem(wycheproof.DIGESTS, path.name, hashlib.sha256(path.read_bytes()).hexdigest())
    [outcome] = wycheproof.run_wycheproof(tmp_path)
    assert (outcome.passed, outcome.failed, outcome.left_out, outcome.run) == (1, [7], 1, 2)


def test_the_pinned_vectors_where_they_are_at_hand(tmp_path: Path) -> None:
    found = run.WYCHEPROOF.variable
    folder = Path(os.environ.get(found, tmp_path / "none"))
    if not folder.exists():
        pytest.skip(f"{found} names no checkout")
    assert not any(outcome.failed for outcome in wycheproof.run_wycheproof(folder))


def test_a_report_of_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuf_suite, "ON_PURPOSE", {"strict": "since it is stricter"})
    report = """<testsuites><testsuite>
      <testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="strict"><failure/></testcase>
      <testcase name="c"><skipped/></testcase><testcase name="d"><error/></testcase>
    </testsuite></testsuites>"""
    said = tuf_suite.read_report(report)
    assert (said.passed, said.on_purpose, said.failed, said.run) == (("a",), ("strict",), ("b", "c", "d"), 5)


def test_another_suite_than_the_pinned_is_refused(tmp_path: Path) -> None:
    package = tmp_path / "tuf_conformance"
    package.mkdir()
    (package / "test_basic.py").write_text("pass")
    with pytest.raises(ConfigurationError, match=tuf_suite.COMMIT[:12]):
        tuf_suite.run_tuf_suite(tmp_path, tmp_path)
    before = tuf_suite.tree_digest(package)
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "x.pyc").write_text("x")
    assert tuf_suite.tree_digest(package) == before
    (package / "more.py").write_text("")
    assert tuf_suite.tree_digest(package) != before


def test_what_cannot_be_had_is_left_out_with_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TUF_CONFORMANCE", raising=False)
    nowhere = Suite("A suite", "TUF_CONFORMANCE", f"file://{tmp_path / 'nowhere'}", "0" * 40)
    assert obtain_suite(nowhere, tmp_path / "fetched") is None
    monkeypatch.setenv("TUF_CONFORMANCE", str(tmp_path))
    assert obtain_suite(nowhere, tmp_path / "unused") == tmp_path
    monkeypatch.setattr(run, "obtain_suite", lambda suite, folder: None)
    monkeypatch.setattr(run, "record", lambda topic, entries: pytest.fail("nothing was measured"))
    assert run.main(["--record"]) == 0
    assert capsys.readouterr().out.count("left out") == 2


class FolderAsServer(tuf_client.SuiteSource):
    """The suite's addresses, served from a folder."""

    def chunks(self, name: str, max_bytes: int) -> Iterator[bytes]:
        kind, _, path = name.partition("/")
        file = Path(self._bases[kind]) / path
        if not file.exists():
            raise DownloadHTTPError(name, 404)
        return iter([file.read_bytes()])


def test_the_wrapper_keeps_what_a_pull_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publisher = Publisher(tmp_path / "provider")
    publisher.publish()
    monkeypatch.setattr(tuf_client, "SuiteSource", FolderAsServer)
    metadata, targets = tmp_path / "metadata", tmp_path / "got"
    metadata.mkdir()
    targets.mkdir()
    tuf_client.init(metadata, publisher.metadata("1.root"))
    bases = {METADATA: str(publisher.folder / METADATA), TARGETS: str(publisher.folder / TARGETS)}
    tuf_client.update(metadata, bases, ["provider.json"], targets)
    assert (targets / "provider.json").read_bytes() == publisher.target("provider.json").read_bytes()
    assert json.loads((metadata / "root.json").read_text())["signed"]["version"] == 1
    publisher.repository.rotate(["root"])
    publisher.publish()
    with pytest.raises(SchemaError):
        tuf_client.update(metadata, bases, ["no such target"], targets)
    for name in ("root", "timestamp"):
        assert (metadata / f"{name}.json").read_bytes() == publisher.metadata(name).read_bytes()

"""Signed requests: the vector of RFC 9421, an independent implementation as oracle, and every way to spoil a request."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import hashlib
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import DigestError, ProtocolError, SchemaError, SignatureError, StaleError, UnsignedError
from protocols.http.messages import PROBLEMS
from protocols.http.signatures import (
    MAX_AGE_S,
    RequestParts,
    RequestSignature,
    content_digest,
    new_nonce,
    read_signature,
    sign_request,
    signature_base,
)
from protocols.keys.signing import PrivateKey

KEY = PrivateKey.from_seed(bytes(range(32)))
OTHER_KEY = PrivateKey.from_seed(bytes(range(1, 33)))
NOW = 1_800_000_000
NONCE = "abcdefghijklmnopqrstuv"
BODY = b"some bytes of a bundle"
TARGET = "https://deid.example.org/v1/uploads/x?part=1"
PARTS = RequestParts("PATCH", TARGET, hashlib.sha256(BODY).digest(), 4096)


def signed(parts: RequestParts = PARTS, **changes: Any) -> dict[str, str]:
    return sign_request(parts, KEY, **{"created": NOW, "nonce": NONCE, **changes})


def read(headers: dict[str, str], method: str = "PATCH", target: str = TARGET) -> RequestSignature:
    return read_signature(method, target, headers)


def accepted(
    headers: dict[str, str], method: str = "PATCH", target: str = TARGET, body: bytes = BODY
) -> RequestSignature:
    """What a server does."""
    found = read(headers, method, target)
    found.verify(KEY.public_key, NOW)
    found.parts.check_body(hashlib.sha256(body).digest())
    return found


def test_the_vector_of_appendix_b_2_6_of_rfc_9421() -> None:
    # The key is test-key-ed25519 of appendix B.1.4, the request that of B.2.
    pem = (
        b"-----BEGIN PRIVATE KEY-----\n"
        b"MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n"
        b"-----END PRIVATE KEY-----\n"
    )
    loaded = serialization.load_pem_private_key(pem, password=None)
    assert isinstance(loaded, Ed25519PrivateKey)
    components = {
        "date": "Tue, 20 Apr 2021 02:07:55 GMT",
        "@method": "POST",
        "@path": "/foo",
        "@authority": "example.com",
        "content-type": "application/json",
        "content-length": "18",
    }
    parameters = (
        '("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"'
    )
    base = signature_base(components, parameters)
    assert base == (
        b'"date": Tue, 20 Apr 2021 02:07:55 GMT\n"@method": POST\n"@path": /foo\n"@authority": example.com\n'
        b'"content-type": application/json\n"content-length": 18\n'
        b'"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length")'
        b';created=1618884473;keyid="test-key-ed25519"'
    )
    value = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
    assert base64.b64encode(PrivateKey(loaded).sign_bytes(base)).decode() == value
    PrivateKey(loaded).public_key.verify_bytes(base, base64.b64decode(value))


class OneKey(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id: str) -> Any:
        assert key_id == KEY.public_key.key_id
        return KEY._key.public_key()

    def resolve_private_key(self, key_id: str) -> Any:
        assert key_id == KEY.public_key.key_id
        return KEY._key


@pytest.mark.parametrize("offset", [None, 0, 2**40])
def test_another_implementation_verifies_what_we_sign(offset: int | None) -> None:
    parts = dataclasses.replace(PARTS, offset=offset)
    message = SimpleNamespace(method="PATCH", url=TARGET, headers=signed(parts), body=BODY)
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.ED25519, key_resolver=OneKey())
    verifier.validate_created_and_expires = lambda *args, **kwargs: None  # type: ignore[method-assign]
    results = verifier.verify(message, max_age=None, body=BODY)
    assert "@target-uri" in str(results[0].covered_components)


def test_we_verify_what_another_implementation_signs() -> None:
    message = SimpleNamespace(
        method="PATCH",
        url=TARGET,
        body=BODY,
        headers={"content-digest": content_digest(PARTS.sha256), "upload-offset": "4096"},
    )
    signer = HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=OneKey())
    signer.sign(
        message,
        key_id=KEY.public_key.key_id,
        created=datetime.datetime.fromtimestamp(NOW, datetime.UTC),
        nonce=NONCE,
        label="deid",
        tag="deid-commons",
        include_alg=False,
        use_existing_digest=True,
        body=BODY,
        covered_component_ids=("@method", "@target-uri", "content-digest", "upload-offset"),
    )
    assert {name.lower(): value for name, value in message.headers.items()} == signed()
    accepted(signed())


def test_what_was_signed_is_accepted() -> None:
    found = accepted(signed())
    assert (found.parts, found.key_id, found.created, found.nonce) == (PARTS, KEY.public_key.key_id, NOW, NONCE)


@given(
    st.sampled_from(["GET", "HEAD", "POST", "PATCH"]),
    st.binary(max_size=40),
    st.none() | st.integers(0, 2**53 - 1),
    st.integers(NOW - MAX_AGE_S, NOW + MAX_AGE_S),
)
def test_every_request_survives_the_round_trip(method: str, body: bytes, offset: int | None, created: int) -> None:
    parts = RequestParts(method, TARGET, hashlib.sha256(body).digest(), offset)
    found = accepted(sign_request(parts, KEY, created=created, nonce=new_nonce()), method, body=body)
    assert found.parts == parts


@pytest.mark.parametrize(
    "change",
    [
        {"method": "POST"},
        {"target": TARGET.replace("deid.", "evil.")},
        {"target": TARGET.replace("https", "http")},
        {"target": TARGET + "2"},
        {"target": TARGET.replace("uploads/x", "uploads/y")},
        {"body": b"other bytes"},
        {"body": b""},
    ],
)
def test_attack_another_method_address_or_body(change: dict[str, Any]) -> None:
    with pytest.raises((SignatureError, DigestError)):
        accepted(signed(), **change)


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("content-digest", content_digest(hashlib.sha256(b"other").digest())),
        ("upload-offset", "4097"),
        ("upload-offset", "0"),
    ],
)
def test_attack_another_header(header: str, value: str) -> None:
    with pytest.raises(SignatureError):
        accepted({**signed(), header: value})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"created={NOW}", f"created={NOW + 1}"),
        (NONCE, NONCE[::-1]),
    ],
)
def test_attack_another_parameter(before: str, after: str) -> None:
    headers = signed()
    headers["signature-input"] = headers["signature-input"].replace(before, after)
    with pytest.raises(SignatureError):
        accepted(headers)


def test_attack_the_offset_is_taken_away() -> None:
    headers = signed()
    del headers["upload-offset"]
    with pytest.raises(SchemaError):
        accepted(headers)


def test_attack_an_offset_that_was_not_signed_is_added() -> None:
    headers = signed(dataclasses.replace(PARTS, offset=None))
    with pytest.raises(SchemaError):
        accepted({**headers, "upload-offset": "4096"})


@pytest.mark.parametrize(
    "spelling",
    [
        lambda text: text.replace("deid=", "sig1="),
        lambda text: text + ', sig2=("@method");created=1',
        lambda text: text.replace('"content-digest" ', ""),
        lambda text: text.replace('"@method" "@target-uri"', '"@target-uri" "@method"'),
        lambda text: text.replace('"@method"', '"@method" "@method"'),
        lambda text: text.replace("deid-commons", "another-tag"),
        lambda text: text.replace(";keyid", ";expires=9999999999;keyid"),
        lambda text: text + ';alg="hmac-sha256"',
        lambda text: text.replace("; ", ";") + " ",
        lambda text: text.replace(f"created={NOW}", f"created=0{NOW}"),
        lambda text: text.replace(KEY.public_key.key_id, "test-key"),
        lambda text: text.replace(NONCE, NONCE[:-1]),
        lambda text: text.replace(NONCE, NONCE + "\n"),
        lambda text: "",
    ],
)
def test_attack_another_spelling_of_the_parameters(spelling: Any) -> None:
    headers = signed()
    changed = spelling(headers["signature-input"])
    assert changed != headers["signature-input"]
    with pytest.raises(SchemaError):
        accepted({**headers, "signature-input": changed})


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("upload-offset", "04096"),
        ("upload-offset", "+4096"),
        ("upload-offset", "-1"),
        ("upload-offset", "4096, 4096"),
        ("upload-offset", "٤"),
        ("upload-offset", ""),
        ("content-digest", "sha-512=:AAAA:"),
        ("content-digest", ""),
        ("content-digest", content_digest(PARTS.sha256) + ", sha-512=:AAAA:"),
        ("signature", "deid=:AAAA:"),
        ("signature", ""),
    ],
)
def test_attack_another_spelling_of_a_header(header: str, value: str) -> None:
    with pytest.raises(SchemaError):
        accepted({**signed(), header: value})


def test_a_digest_has_one_spelling_though_base64_has_four() -> None:
    headers = signed()
    digest = headers["content-digest"]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = digest[-3]
    twin = digest[:-3] + alphabet[alphabet.index(last) ^ 1] + digest[-2:]
    with pytest.raises(SchemaError):
        accepted({**headers, "content-digest": twin})


@pytest.mark.parametrize("missing", ["signature", "signature-input"])
def test_attack_no_signature(missing: str) -> None:
    headers = signed()
    del headers[missing]
    with pytest.raises(UnsignedError):
        accepted(headers)


@pytest.mark.parametrize("position", range(0, 64, 7))
def test_attack_a_flipped_bit_of_the_signature(position: int) -> None:
    headers = signed()
    value = bytearray(base64.b64decode(headers["signature"][6:-1]))
    value[position] ^= 1
    headers["signature"] = f"deid=:{base64.b64encode(value).decode()}:"
    with pytest.raises(SignatureError):
        accepted(headers)


def test_attack_another_key_of_the_same_claim() -> None:
    headers = signed()
    found = read(headers)
    with pytest.raises(SignatureError):
        found.verify(OTHER_KEY.public_key, NOW)
    forged = sign_request(PARTS, OTHER_KEY, created=NOW, nonce=NONCE)
    claimed = forged["signature-input"].replace(OTHER_KEY.public_key.key_id, KEY.public_key.key_id)
    with pytest.raises(SignatureError):
        accepted({**forged, "signature-input": claimed})


def test_attack_a_request_that_names_the_key_of_somebody_else() -> None:
    claiming: Any = SimpleNamespace(public_key=OTHER_KEY.public_key, sign_bytes=KEY.sign_bytes)
    found = read(sign_request(PARTS, claiming, created=NOW, nonce=NONCE))
    assert found.key_id == OTHER_KEY.public_key.key_id
    with pytest.raises(SignatureError, match="signed by its own key"):
        found.verify(KEY.public_key, NOW)


@pytest.mark.parametrize("age", [MAX_AGE_S + 1, -MAX_AGE_S - 1, 365 * 86400, -365 * 86400])
def test_attack_a_stale_signature(age: int) -> None:
    with pytest.raises(StaleError, match=f"{abs(age)} seconds {'before' if age > 0 else 'after'}"):
        read(signed(created=NOW - age)).verify(KEY.public_key, NOW)


@pytest.mark.parametrize("age", [MAX_AGE_S, 0, -MAX_AGE_S])
def test_clocks_may_differ_a_little(age: int) -> None:
    found = read(signed(created=NOW - age))
    found.verify(KEY.public_key, NOW)
    assert found.expires == NOW - age + MAX_AGE_S + 1


def test_a_signature_of_a_request_is_none_of_a_share() -> None:
    found = read(signed())
    assert found.base.startswith(b'"@method"')
    assert b"\x00" not in found.base


@given(st.dictionaries(st.sampled_from(sorted(signed())), st.text(max_size=200)))
def test_whatever_the_headers_hold_is_refused_in_our_words(changes: dict[str, str]) -> None:
    headers = {**signed(), **changes}
    if headers == signed():
        return
    with pytest.raises(ProtocolError):
        accepted(headers)


def test_nonces_are_new_each_time() -> None:
    assert len({new_nonce() for _ in range(1000)}) == 1000


def vector(name: str) -> str:
    """A test vector of the documentation."""
    text = (Path(__file__).parents[3] / "docs" / "formats" / "http.md").read_text(encoding="utf-8")
    found = re.search(rf"^```vector {name}\n(.*?)\n```$", text, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def test_the_vectors_of_the_documentation() -> None:
    body = bytes(range(16))
    target = "https://deid.example.org/v1/uploads/BBBBBBBBBBBBBBBBBBBBBB"
    parts = RequestParts("PATCH", target, hashlib.sha256(body).digest(), 4096)
    headers = sign_request(parts, KEY, created=NOW, nonce="AAECAwQFBgcICQoLDA0ODw")
    assert [f"{name}: {value}" for name, value in headers.items()] == vector("headers").splitlines()
    found = read(headers, target=target)
    found.verify(KEY.public_key, NOW)
    assert found.base.decode() == vector("base")


def test_the_documented_profile_and_codes_are_those_of_the_program() -> None:
    text = (Path(__file__).parents[3] / "docs" / "formats" / "http.md").read_text(encoding="utf-8")
    plain = sign_request(dataclasses.replace(PARTS, offset=None), KEY, created=NOW, nonce=NONCE)["signature-input"]
    documented = plain.replace(str(NOW), "<s>").replace(NONCE, "<n>").replace(KEY.public_key.key_id, "<id>")
    assert documented in text
    _, _, refusals = text.partition("## Refusals")
    table = re.findall(r"^\| (`.*?) \|", refusals.partition("## Test vectors")[0], re.MULTILINE)
    assert sorted(re.findall(r"`([a-z-]+)`", " ".join(table))) == sorted(PROBLEMS)

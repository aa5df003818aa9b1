"""The examples of RFC 9421 and RFC 9530 that concern what we do: those that we take part in come out to the bit, all others are refused."""

from __future__ import annotations

import base64
import hashlib

import pytest

from protocols.errors import DigestError, SchemaError, SignatureError
from protocols.http.signatures import RequestParts, content_digest, read_signature, signature_base
from protocols.keys.signing import PrivateKey

# test-key-ed25519, RFC 9421, appendix B.1.4.
KEY = PrivateKey.from_seed(base64.b64decode("n4Ni+HpISpVObnQMW0wOhCKROaIKqKtW/2ZYb2p9KcU="))
TARGET = "https://example.com/foo?param=Value&Pet=dog"
DIGEST = "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
SHA_512 = "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:"


def test_a_signature_that_survives_transformations_b_4() -> None:
    parameters = '("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519"'
    base = signature_base(
        {"@method": "GET", "@path": "/demo", "@authority": "example.org", "accept": "application/json, */*"}, parameters
    )
    stated = "ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5JZ1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA=="
    assert base64.b64encode(KEY.sign_bytes(base)).decode() == stated
    KEY.public_key.verify_bytes(base, base64.b64decode(stated))
    # The RFC: adding a value of a covered field, or another order of its values, breaks it.
    for accept in ("application/json, */*, text/html", "*/*, application/json"):
        changed = base.replace(b"application/json, */*", accept.encode())
        with pytest.raises(SignatureError):
            KEY.public_key.verify_bytes(changed, base64.b64decode(stated))


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        # B.2.1: no component, an RSA key. Nothing of the request would be signed.
        ('sig-b21=();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd"', "no component"),
        # B.2.2: the authority, the digest and a parameter of the query alone; a tag of others.
        (
            'sig-b22=("@authority" "content-digest" "@query-param";name="Pet");created=1618884473'
            ';keyid="test-key-rsa-pss";tag="header-example"',
            "components with parameters",
        ),
        # B.2.5: a secret that both sides know.
        ('sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"', "HMAC"),
        # B.2.6: Ed25519, but without address, body and nonce: it could be sent again with another body.
        (
            'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")'
            ';created=1618884473;keyid="test-key-ed25519"',
            "no nonce",
        ),
        # Section 4.3: two signatures, one of them by a proxy.
        (
            'deid=("@method" "@target-uri" "content-digest");created=1618884473, '
            'proxy_sig=("@method" "@authority");created=1618884480;keyid="test-key-ecc-p256"',
            "several signatures",
        ),
    ],
)
def test_examples_beyond_our_profile_are_refused(parameters: str, reason: str) -> None:
    """The profile has one label, one algorithm, one list of components and a nonce: nothing can be negotiated."""
    value = base64.b64encode(KEY.sign_bytes(b"any")).decode()
    label = parameters.partition("=")[0]
    headers = {
        "content-digest": DIGEST,
        "signature-input": parameters,
        "signature": f"{label}=:{value}:",
        "date": "Tue, 20 Apr 2021 02:07:55 GMT",
    }
    with pytest.raises(SchemaError, match="as deid-commons writes it"):
        read_signature("POST", TARGET, headers)


@pytest.mark.parametrize(
    ("content", "digest"),
    [
        # RFC 9530, appendix B.1: an object and a line feed.
        (b'{"hello": "world"}\n', "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"),
        # RFC 9421, appendix B.2: the same without it.
        (b'{"hello": "world"}', DIGEST),
        # No content at all.
        (b"", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"),
    ],
)
def test_digests_of_rfc_9530(content: bytes, digest: str) -> None:
    sha256 = hashlib.sha256(content).digest()
    assert content_digest(sha256) == digest
    parts = RequestParts("POST", TARGET, sha256)
    assert parts.components["content-digest"] == digest
    parts.check_body(sha256)
    with pytest.raises(DigestError):
        parts.check_body(hashlib.sha256(content + b"\n").digest())


@pytest.mark.parametrize(
    "digest",
    [
        # Section 2: another algorithm, and two at once. Whoever may choose can choose the one that is not checked.
        SHA_512,
        f"sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:, {SHA_512}",
        # Section 5: algorithms that are deprecated.
        "md5=:Sd/dVLAcvNLSq16eXua5uQ==:",
        "unixsum=:AAA=:",
        # RFC 8941: parameters, and another spelling of the same bytes.
        f"{DIGEST};q=1",
        DIGEST.replace("PE=:", "PF=:"),
    ],
)
def test_digests_beyond_our_profile_are_refused(digest: str) -> None:
    parameters = (
        'deid=("@method" "@target-uri" "content-digest");created=1618884473;'
        f'keyid="{KEY.public_key.key_id}";nonce="abcdefghijklmnopqrstuv";tag="deid-commons"'
    )
    value = base64.b64encode(bytes(64)).decode()
    headers = {"content-digest": digest, "signature-input": parameters, "signature": f"deid=:{value}:"}
    with pytest.raises(SchemaError, match="content-digest"):
        read_signature("POST", TARGET, headers)
    read_signature("POST", TARGET, {**headers, "content-digest": DIGEST})

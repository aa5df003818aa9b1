"""HTTP requests signed by the key of a site: a strict profile of RFC 9421 (message signatures) with RFC 9530 (digests).

A signature over the message survives the proxies of hospitals that open TLS and close it again; a client certificate
does not. Every request carries, in exactly this spelling,

    Content-Digest: sha-256=:<base64>:
    Signature-Input: deid=("@method" "@target-uri" "content-digest");created=<s>;keyid="<id>";nonce="<n>";tag="deid-commons"
    Signature: deid=:<base64 of 64 bytes, Ed25519>:

and `"upload-offset"` as fourth component if, and only if, it has the header Upload-Offset. So nobody on the way can change
method, address, body or place of a chunk, send the request to another server, or send it twice: the receiver knows
its own address, takes `created` within `MAX_AGE_S`, and a nonce once. All else of RFC 9421 (other algorithms, components,
labels, several signatures, other spellings of the same) is refused, so there is nothing to negotiate or to confuse.

A signed message of `protocols.keys.signing` starts with a name and a NUL byte, the base of a request with a quotation mark:
a signature of the one kind is never one of the other.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from protocols.errors import DigestError, SchemaError, SignatureError, StaleError, UnsignedError
from protocols.keys.signing import PrivateKey, PublicKey

MAX_AGE_S = 300
CONTENT_DIGEST, SIGNATURE_INPUT, SIGNATURE, UPLOAD_OFFSET = (
    "content-digest",
    "signature-input",
    "signature",
    "upload-offset",
)
_LABEL = "deid"
_TAG = "deid-commons"
_ADVICE = "update the older program, and look for a proxy that changes requests"
_BASE64 = r"[A-Za-z0-9+/]"
_INPUT = re.compile(
    rf"{_LABEL}=(?P<components>\([a-z@ \"-]{{1,100}}\));created=(?P<created>[1-9][0-9]{{0,11}});"
    rf'keyid="(?P<key>[0-9a-f]{{4}}(?:-[0-9a-f]{{4}}){{7}})";nonce="(?P<nonce>[A-Za-z0-9_-]{{22}})";tag="{_TAG}"'
)
_SIGNATURE = re.compile(rf"{_LABEL}=:({_BASE64}{{86}}==):")
_DIGEST = re.compile(rf"sha-256=:({_BASE64}{{43}}=):")
_OFFSET = re.compile(r"0|[1-9][0-9]{0,15}")


@dataclass(frozen=True)
class RequestParts:
    """What a signature covers.

    Args:
        method: such as "PATCH".
        target: the whole address as the client wrote it, with scheme, host, path and query.
        sha256: digest of the body, 32 bytes; of no bytes where there is no body.
        offset: Upload-Offset; None where the request has none.
    """

    method: str
    target: str
    sha256: bytes
    offset: int | None = None

    @property
    def components(self) -> dict[str, str]:
        """Value of each covered component by its name, in the order in which they are signed."""
        covered = {"@method": self.method, "@target-uri": self.target, CONTENT_DIGEST: content_digest(self.sha256)}
        return covered if self.offset is None else {**covered, UPLOAD_OFFSET: str(self.offset)}

    def check_body(self, sha256: bytes) -> None:
        """Returns if the body is the one that was signed.

        Raises:
            DigestError: it is another.
        """
        if sha256 != self.sha256:
            raise DigestError("the body that was signed", received="another", advice="send it again", place=self.method)


@dataclass(frozen=True)
class RequestSignature:
    """A signature as it came; it proves nothing before `verify`, and nothing of the body before `RequestParts.check_body`.

    Args:
        parts: what it covers.
        key_id: the key that it names.
        created: when it says that it was made, seconds since 1970.
        nonce: to be accepted once for this key.
        base: the bytes that are signed.
        value: the signature.
    """

    parts: RequestParts
    key_id: str
    created: int
    nonce: str
    base: bytes
    value: bytes

    @property
    def expires(self) -> int:
        """From this second on the signature is stale, so that its nonce need not be remembered."""
        return self.created + MAX_AGE_S + 1

    def verify(self, key: PublicKey, now: int) -> None:
        """Returns if the key made it over these parts, lately.

        Raises:
            SignatureError: it did not.
            StaleError: it did, longer than `MAX_AGE_S` ago, or by a clock that is ahead by that much.
        """
        place = f"{self.parts.method} request"
        if key.key_id != self.key_id:
            raise SignatureError("a request signed by its own key", received="another", advice=_ADVICE, place=place)
        key.verify_bytes(self.base, self.value, place)
        if abs(now - self.created) > MAX_AGE_S:
            raise StaleError(
                f"a request signed within {MAX_AGE_S} seconds of the server's clock",
                received=f"one signed {abs(now - self.created)} seconds {'before' if self.created < now else 'after'} it",
                advice="set the clock, and send it again",
                place=place,
            )


def content_digest(sha256: bytes) -> str:
    """The value of the header Content-Digest.

    >>> content_digest(bytes.fromhex("5f8f04f6a3a892aaabbddb6cf273894493773960d4a325b105fee46eef4304f1"))
    'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:'
    """
    return f"sha-256=:{base64.b64encode(sha256).decode()}:"


def new_nonce() -> str:
    """128 bits from the entropy of the operating system."""
    return secrets.token_urlsafe(16)


def signature_base(components: Mapping[str, str], parameters: str) -> bytes:
    """The bytes to sign, RFC 9421 section 2.5.

    Args:
        components: value of each covered component by its name, in order.
        parameters: the serialised components and parameters.
    """
    lines = [f'"{name}": {value}' for name, value in components.items()]
    return "\n".join([*lines, f'"@signature-params": {parameters}']).encode()


def sign_request(parts: RequestParts, key: PrivateKey, *, created: int, nonce: str) -> dict[str, str]:
    """The headers to add to a request, Upload-Offset among them where it has one.

    Args:
        parts: what is sent.
        key: of the site.
        created: now, in seconds since 1970, by the server's clock.
        nonce: from `new_nonce`, a new one each time.
    """
    parameters = _parameters(parts, created, nonce, key.public_key.key_id)
    value = base64.b64encode(key.sign_bytes(signature_base(parts.components, parameters))).decode()
    headers = {name: text for name, text in parts.components.items() if not name.startswith("@")}
    return {**headers, SIGNATURE_INPUT: f"{_LABEL}={parameters}", SIGNATURE: f"{_LABEL}=:{value}:"}


def read_signature(method: str, target: str, headers: Mapping[str, str]) -> RequestSignature:
    """Reads the signature of a request; nothing is verified yet.

    Args:
        method: of the request.
        target: the address as the receiver knows its own; what the request says of its host is not asked.
        headers: lower-case names; lines of the same name joined by ", ".

    Raises:
        UnsignedError: there is no signature.
        SchemaError: there is another than this profile allows.
    """
    place = f"{method} request"
    if SIGNATURE_INPUT not in headers or SIGNATURE not in headers:
        raise UnsignedError("a signed request", received="none", advice="use site-client, enrolled", place=place)
    stated = _matched(_INPUT, headers[SIGNATURE_INPUT], "signature-input", place)
    value = _matched(_SIGNATURE, headers[SIGNATURE], "signature", place)[1]
    digest = _matched(_DIGEST, headers.get(CONTENT_DIGEST, ""), "content-digest", place)[1]
    offset = headers.get(UPLOAD_OFFSET)
    if offset is not None:
        offset = _matched(_OFFSET, offset, "upload-offset", place)[0]
    parts = RequestParts(method, target, base64.b64decode(digest), None if offset is None else int(offset))
    if content_digest(parts.sha256) != headers[CONTENT_DIGEST]:
        raise _other("content-digest", place)
    created, nonce, key_id = int(stated["created"]), stated["nonce"], stated["key"]
    parameters = _parameters(parts, created, nonce, key_id)
    # Which components must be covered follows from the request, not from what the signature claims.
    if headers[SIGNATURE_INPUT] != f"{_LABEL}={parameters}":
        raise _other("signature-input", place)
    base = signature_base(parts.components, parameters)
    return RequestSignature(parts, key_id, created, nonce, base, base64.b64decode(value))


def _parameters(parts: RequestParts, created: int, nonce: str, key_id: str) -> str:
    names = " ".join(f'"{name}"' for name in parts.components)
    return f'({names});created={created};keyid="{key_id}";nonce="{nonce}";tag="{_TAG}"'


def _matched(pattern: re.Pattern[str], value: str, header: str, place: str) -> re.Match[str]:
    found = pattern.fullmatch(value)
    if found is None:
        raise _other(header, place)
    return found


def _other(header: str, place: str) -> SchemaError:
    return SchemaError(f"{header} as deid-commons writes it", received="another", advice=_ADVICE, place=place)

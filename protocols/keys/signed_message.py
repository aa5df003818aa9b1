"""Short signed messages between a site and the provider: canonical JSON of the message, under its name, and a signature."""

from __future__ import annotations

from collections.abc import Collection

from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import SchemaError
from protocols.fields import Fields, check_version
from protocols.keys.signing import PrivateKey, PublicKey, Signature

MAX_MESSAGE_BYTES = 8 << 10


def seal_message(name: str, context: str, stated: dict[str, Json], key: PrivateKey) -> bytes:
    """The message and its signature.

    Args:
        name: of the message, such as "receipt".
        context: of the signature.
        stated: the message, with its format_version.
        key: of the sender.
    """
    signature = key.sign(context, canonical_bytes(stated))
    return canonical_bytes({name: stated, "signature": signature.to_json()})


def open_message(
    data: bytes, name: str, context: str, *, keys: Collection[str], version: int, public_key: PublicKey
) -> Fields:
    """The fields of a message that `public_key` signed.

    Args:
        data: what `seal_message` gave.
        name: of the message.
        context: of the signature.
        keys: exactly the keys that the message must have.
        version: the format version that it must have.
        public_key: of the sender.

    Raises:
        ProtocolError: another version, unsigned, signed by another key or for another purpose, or malformed.
    """
    stated, signature = _envelope(data, name)
    if isinstance(stated, dict):
        check_version(stated.get("format_version"), version, name)
    public_key.verify(context, canonical_bytes(stated), Signature.from_json(signature, name))
    return Fields(stated, keys, name)


def claimed_sender(data: bytes, name: str) -> tuple[str, str]:
    """The site and the id of the key that a message claims. NOTHING is verified: for finding the key.

    Raises:
        SchemaError: no such message.
        UnsignedError: it has no signature.
    """
    stated, signature = _envelope(data, name)
    site = stated.get("site") if isinstance(stated, dict) else None
    if not isinstance(site, str):
        raise SchemaError(f"a {name} that names its site", received="none", advice="refuse it", place=name)
    return site, Signature.from_json(signature, name).key_id


def claimed_key(data: bytes, name: str) -> str:
    """The id of the key that a message claims. NOTHING is verified: for finding the key.

    Raises:
        SchemaError: no such message.
        UnsignedError: it has no signature.
    """
    return Signature.from_json(_envelope(data, name)[1], name).key_id


def claimed_version(data: bytes, name: str) -> Json:
    """The format version that a message claims. NOTHING is verified: for choosing how to read it.

    Raises:
        SchemaError: no such message.
    """
    stated, _ = _envelope(data, name)
    return stated.get("format_version") if isinstance(stated, dict) else None


def _envelope(data: bytes, name: str) -> tuple[Json, Json]:
    envelope = parse_canonical(data, max_bytes=MAX_MESSAGE_BYTES, place=name)
    if not isinstance(envelope, dict) or not set(envelope) <= {name, "signature"}:
        raise SchemaError(f"a {name} and its signature", received="other keys", advice="refuse it", place=name)
    return envelope.get(name), envelope.get("signature")

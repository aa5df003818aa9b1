"""Signed notes (C2SP signed-note): a text, an empty line, and a line for each signature.

Ed25519 signs the bytes of the text, without one of our contexts. That serves no second purpose all the same: whatever our
own messages sign has a NUL byte after its context, and no text of a note holds one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable

from protocols.errors import BoundsError, SchemaError, UnknownSignerError, UnsignedError
from protocols.keys.signing import PrivateKey, PublicKey

MAX_NOTE_BYTES = 128 << 10
"""Room for sixteen signatures, as the format asks for, of the longest kind."""
_ED25519 = b"\x01"
_SIGNATURE_BYTES = 4 + 64
"""Of the hash of a key, and of what Ed25519 signs with it."""
_NAME = re.compile(r"[^\s+]{1,255}")
_SIGNATURE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")


def sign_note(text: str, name: str, key: PrivateKey) -> bytes:
    """The note.

    Args:
        text: ends with a line feed.
        name: of the key, without space or plus.
        key: that signs.

    Raises:
        SchemaError: a text or a name that no note may have.
    """
    if not text.endswith("\n") or _CONTROL.search(text) or not _NAME.fullmatch(name):
        raise SchemaError("whole lines of text, and a name without space", received="others", advice="correct them")
    value = _key_hash(name, key.public_key) + key.sign_bytes(text.encode())
    return _joined(text, name, value)


def open_note(data: bytes, name: str, public_keys: Iterable[PublicKey], place: str = "note") -> str:
    """The text of a note that one of some keys has signed. Signatures of other keys, such as those of witnesses, are passed over.

    Args:
        data: the note.
        name: under which the keys sign.
        public_keys: whose signature counts.
        place: name for messages.

    Raises:
        BoundsError: too long.
        SchemaError: no signed note.
        UnknownSignerError: none of the keys has signed it.
        SignatureError: one of them has signed something else.
    """
    return _verified(data, name, public_keys, place)[0]


def own_part(data: bytes, name: str, public_keys: Iterable[PublicKey], place: str = "note") -> bytes:
    """The note with its text and one signature of these keys alone: what proves as much, and is short whoever else has signed.

    Args, Raises: as `open_note`.
    """
    text, value = _verified(data, name, public_keys, place)
    return _joined(text, name, value)


def claimed_part(data: bytes, name: str, place: str = "note") -> bytes:
    """The note with its text and the first Ed25519 signature under a name, which NOBODY has verified: by a key that is not known.

    Args:
        data: the note.
        name: under which it claims to be signed.
        place: name for messages.

    Raises:
        BoundsError: too long.
        SchemaError: no signed note.
        UnsignedError: no signature under this name.
    """
    text, signatures = _parted(data, place)
    claimed = [value for signer, value in signatures if signer == name and len(value) == _SIGNATURE_BYTES]
    if not claimed:
        raise UnsignedError(f"a signature of {name}", received="none", advice="refuse it", place=place)
    return _joined(text, name, claimed[0])


def text_of(data: bytes, place: str = "note") -> str:
    """The text of a note, whoever has signed it.

    Raises:
        BoundsError: too long.
        SchemaError: no signed note.
    """
    return _parted(data, place)[0]


def _verified(data: bytes, name: str, public_keys: Iterable[PublicKey], place: str) -> tuple[str, bytes]:
    """The text, and the first signature of one of the keys."""
    text, signatures = _parted(data, place)
    known = {(name, _key_hash(name, key)): key for key in public_keys}
    own = []
    for signer, value in signatures:
        key = known.get((signer, value[:4]))
        if key is not None:
            key.verify_bytes(text.encode(), value[4:], place)
            own.append(value)
    if not own:
        raise UnknownSignerError(
            f"a note that a key of {name} has signed which counts today",
            received="one of other keys",
            advice="refuse it and tell the provider",
            place=place,
        )
    return text, own[0]


def verifier_key(name: str, key: PublicKey) -> str:
    """The key as other programs for such logs take it ("vkey")."""
    stated = base64.b64encode(_ED25519 + key.raw).decode()
    return f"{name}+{_key_hash(name, key).hex()}+{stated}"


def _joined(text: str, name: str, value: bytes) -> bytes:
    return f"{text}\n— {name} {base64.b64encode(value).decode()}\n".encode()


def _parted(data: bytes, place: str) -> tuple[str, list[tuple[str, bytes]]]:
    wrong = SchemaError("a signed note", received="something else", advice="refuse it", place=place)
    if len(data) > MAX_NOTE_BYTES:
        raise BoundsError(f"at most {MAX_NOTE_BYTES} bytes", received=str(len(data)), advice="refuse it", place=place)
    try:
        note = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise wrong from error
    text, parted, lines = note.rpartition("\n\n")
    if not text or not parted or not note.endswith("\n") or _CONTROL.search(note):
        raise wrong
    if not lines:
        raise UnsignedError("a signature", received="none", advice="refuse it", place=place)
    signatures = []
    for line in lines[:-1].split("\n"):
        match = _SIGNATURE.fullmatch(line)
        if match is None:
            raise wrong
        signatures.append((match.group(1), read_base64(match.group(2), place)))
    return f"{text}\n", signatures


def read_base64(text: str, place: str) -> bytes:
    """The bytes, if the text is their one spelling.

    Raises:
        SchemaError: it is not.
    """
    try:
        value = base64.b64decode(text, validate=True)
        if base64.b64encode(value).decode() == text:
            return value
    except (binascii.Error, ValueError) as error:
        raise SchemaError("base64", received="something else", advice="refuse it", place=place) from error
    raise SchemaError("base64 in its one spelling", received="another", advice="refuse it", place=place)


def _key_hash(name: str, key: PublicKey) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + _ED25519 + key.raw).digest()[:4]

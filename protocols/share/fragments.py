"""A file of text fragments: lines of two noun phrases and two verb phrases, with a manifest that the site signed.

It is no share of tensors: it goes into no bundle, and every intake of shares refuses it by its first bytes. The file is

    deid-commons fragments
    {"manifest":{...},"signature":{...}}        canonical JSON, at most 8 KiB; the signature of a draft is null
    chest pain, the right lung, denies fever, was seen today
    ...

each line ended by one line feed. The grammar leaves no room for more than it says: a phrase is two to four words of the letters a to z, parted by
single spaces, so no digit, capital, mark or name of a file can stand in one. Phrases of the kind that there are more of stand in a file once; the others fill the lines, each as often
as each other, but for one more: how often a phrase stands in a file is a number of phrases, and never one of notes.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from foundation.os_errors import map_os_errors
from foundation.reading import regular_size
from protocols.bounded_reading import read_bounded
from protocols.canonical import Json, canonical_bytes, parse_canonical
from protocols.errors import DigestError, SchemaError, TruncatedError, UnknownSignerError
from protocols.fields import LINE, NAME, SHA256, SITE, Fields, check_range, check_text, check_version
from protocols.keys.fingerprint import FINGERPRINT
from protocols.keys.signing import FRAGMENTS_CONTEXT, PrivateKey, PublicKey, Signature, signer

FORMAT_VERSION = 1
MAGIC = b"deid-commons fragments\n"
LEAST_NOTES = 10
"""No phrase of fewer notes leaves, whoever asks for it."""
MAX_LINES = 500_000
MAX_HEADER_BYTES = 8 << 10
MAX_BODY_BYTES = 128 << 20
LEAST_WORDS, MOST_WORDS = 2, 4
MOST_LETTERS = 24
PHRASES = 4
"""Of a line: two noun phrases, then two verb phrases."""
_WORD = rf"[a-z]{{1,{MOST_LETTERS}}}"
PHRASE = re.compile(rf"{_WORD}(?: {_WORD}){{{LEAST_WORDS - 1},{MOST_WORDS - 1}}}")
_SEPARATOR = ", "

FragmentLine: TypeAlias = "tuple[str, str, str, str]"


@dataclass(frozen=True)
class FragmentManifest:
    """What the site states about a file of fragments. Nothing in it is of a single note.

    Args:
        site: name of the site.
        number: of the file at this site, from 1, never used twice; numbers of shares are others.
        recipient: id of the signing key of the provider that it is meant for.
        release: digest of the release whose pipeline looked for PHI, 64 hexadecimal digits.
        language: of the notes, in English.
        parser: what cut the phrases, by name and version.
        least_notes: notes of different patients, as far as the site knows them, that each phrase stands in at least.
        created: the day; no time of day.
        software: name and version of the program.
        lines: how many.
        words: how many in all of them.
        body_bytes, body_sha256: of the lines.
    """

    site: str
    number: int
    recipient: str
    release: str
    language: str
    parser: str
    least_notes: int
    created: datetime.date
    software: str
    lines: int
    words: int
    body_bytes: int
    body_sha256: str
    format_version: int = FORMAT_VERSION

    def __post_init__(self) -> None:
        check_version(self.format_version, FORMAT_VERSION, "fragments")
        check_text(self.site, SITE, "site")
        check_text(self.recipient, FINGERPRINT, "recipient")
        check_text(self.release, SHA256, "release")
        check_text(self.language, NAME, "language")
        check_text(self.parser, LINE, "parser")
        check_text(self.software, LINE, "software")
        check_text(self.body_sha256, SHA256, "body_sha256")
        check_range(self.number, 1, 2**31 - 1, "number")
        check_range(self.least_notes, LEAST_NOTES, 2**31 - 1, "least_notes")
        check_range(self.lines, 1, MAX_LINES, "lines")
        check_range(self.words, LEAST_WORDS * PHRASES * self.lines, MOST_WORDS * PHRASES * self.lines, "words")
        check_range(self.body_bytes, 1, MAX_BODY_BYTES, "body_bytes")
        if type(self.created) is not datetime.date:
            raise SchemaError("a day without a time", received=type(self.created).__name__, place="created")

    def to_json(self) -> dict[str, Json]:
        """As canonical JSON."""
        return {**{name: getattr(self, name) for name in _PLAIN}, "created": self.created.isoformat()}

    @property
    def sha256(self) -> str:
        """Digest of what is signed."""
        return hashlib.sha256(canonical_bytes(self.to_json())).hexdigest()

    @classmethod
    def from_json(cls, value: Json, place: str) -> FragmentManifest:
        """Reads what `to_json` made, and nothing else.

        Raises:
            SchemaError, BoundsError, VersionError: another key, type, number or version.
        """
        if isinstance(value, dict):
            check_version(value.get("format_version"), FORMAT_VERSION, place)
        fields = Fields(value, _KEYS, place)
        return cls(
            site=fields.text("site", SITE),
            number=fields.integer("number"),
            recipient=fields.text("recipient", FINGERPRINT),
            release=fields.text("release", SHA256),
            language=fields.text("language", NAME),
            parser=fields.text("parser", LINE),
            least_notes=fields.integer("least_notes"),
            created=fields.date("created"),
            software=fields.text("software", LINE),
            lines=fields.integer("lines"),
            words=fields.integer("words"),
            body_bytes=fields.integer("body_bytes"),
            body_sha256=fields.text("body_sha256", SHA256),
            format_version=fields.version("format_version", FORMAT_VERSION),
        )


@dataclass(frozen=True)
class Fragments:
    """A file of fragments that passed every check; made by `open_fragments` only.

    Args:
        manifest: what the site states.
        lines: in the order of the file.
        key: the key that signed it; None for a draft, which nobody has approved.
    """

    manifest: FragmentManifest
    lines: tuple[FragmentLine, ...]
    key: PublicKey | None

    @property
    def phrases(self) -> frozenset[str]:
        """All of them."""
        return frozenset(phrase for line in self.lines for phrase in line)


_KEYS = frozenset(field.name for field in dataclasses.fields(FragmentManifest))
_PLAIN = sorted(_KEYS - {"created"})
_MOST_KEYS = 64


def are_fragments(path: Path) -> bool:
    """Whether a file begins as one of fragments does, so that what takes shares can say what it was given."""
    if not path.is_file():
        return False
    with map_os_errors(path), path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def refuse_fragments(path: Path) -> None:
    """Returns if a file is not one of fragments: for what takes shares.

    Raises:
        SchemaError: it is.
    """
    if are_fragments(path):
        raise SchemaError(
            "a share",
            received="a file of text fragments",
            advice="keep it apart: text is never pooled with shares, and goes its own way",
            place=path.name,
        )


def fragment_body(lines: Sequence[FragmentLine]) -> tuple[bytes, int]:
    """The bytes of lines, and how many words they hold.

    Raises:
        SchemaError, BoundsError: they would not be read again.
    """
    body = "".join(f"{_SEPARATOR.join(line)}\n" for line in lines).encode()
    parsed = tuple(_parsed_lines(body, "fragments"))
    if parsed != tuple(lines):
        raise _refused("lines of two noun phrases and two verb phrases", "others", "fragments")
    return body, sum(phrase.count(" ") + 1 for line in parsed for phrase in line)


def fragment_bytes(manifest: FragmentManifest, body: bytes, key: PrivateKey | None) -> bytes:
    """A whole file.

    Args:
        manifest: of these lines.
        body: the lines.
        key: the site's; None for a draft.

    Raises:
        DigestError: the manifest is of other lines.
    """
    if hashlib.sha256(body).hexdigest() != manifest.body_sha256:
        raise DigestError("the lines of the manifest", received="others", advice="make the fragments again")
    stated = manifest.to_json()
    signature = None if key is None else key.sign(FRAGMENTS_CONTEXT, canonical_bytes(stated)).to_json()
    return MAGIC + canonical_bytes({"manifest": stated, "signature": signature}) + b"\n" + body


def open_fragments(
    path: Path, public_keys: Mapping[str, Sequence[PublicKey]], *, drafts: bool = False
) -> tuple[Fragments, bytes]:
    """Verifies a file of fragments: its size, its header, version, signature, manifest, digest, and every phrase, in this order.

    Args:
        path: the file.
        public_keys: the keys that each site may sign with, by name of the site.
        drafts: whether a file that nobody has signed is read, too: for the site itself.

    Returns:
        what is in it, and the bytes of its lines.

    Raises:
        ProtocolError: one of its kinds for each check that fails.
        StorageError: it can't be read.
    """
    place = path.name
    regular_size(path)
    data = read_bounded(path, len(MAGIC) + MAX_HEADER_BYTES + 1 + MAX_BODY_BYTES)
    if not data.startswith(MAGIC):
        raise SchemaError(
            "a file of fragments, as `site-client fragment` writes it",
            received="another file",
            advice="check the path",
            place=place,
        )
    header, end, body = data[len(MAGIC) :].partition(b"\n")
    if not end:
        raise TruncatedError("a whole header", received="fewer bytes", advice="copy the file again", place=place)
    envelope = Fields(
        parse_canonical(header, max_bytes=MAX_HEADER_BYTES, place=place), {"manifest", "signature"}, place
    )
    # As many as a later version may have: that one says so by its number.
    stated = envelope.mapping("manifest", most=_MOST_KEYS)
    check_version(stated.get("format_version"), FORMAT_VERSION, place)
    unsigned = envelope.is_null("signature")
    key = None if drafts and unsigned else _verified(stated, envelope, public_keys, place)
    manifest = FragmentManifest.from_json(stated, place)
    if manifest.site not in public_keys:
        raise _of_another_site(place)
    if len(body) < manifest.body_bytes:
        raise TruncatedError(
            f"{manifest.body_bytes} bytes of lines", received=str(len(body)), advice="copy the file again", place=place
        )
    if hashlib.sha256(body).hexdigest() != manifest.body_sha256:
        raise DigestError(
            "the lines that were signed for", received="other lines", advice="copy the file again", place=place
        )
    lines = tuple(_parsed_lines(body, place))
    words = sum(phrase.count(" ") + 1 for line in lines for phrase in line)
    if (len(lines), words, len(body)) != (manifest.lines, manifest.words, manifest.body_bytes):
        raise _refused("as many lines and words as the manifest states", "others", place)
    return Fragments(manifest, lines, key), body


def _verified(
    stated: Mapping[str, Json], envelope: Fields, public_keys: Mapping[str, Sequence[PublicKey]], place: str
) -> PublicKey:
    """The key that signed the manifest."""
    signature = Signature.from_json(
        None if envelope.is_null("signature") else envelope.mapping("signature", most=4), place
    )
    site = stated.get("site")
    if not isinstance(site, str) or site not in public_keys:
        raise _of_another_site(place)
    key = signer(public_keys, site, signature, place)
    key.verify(FRAGMENTS_CONTEXT, canonical_bytes(dict(stated)), signature)
    return key


def _parsed_lines(body: bytes, place: str) -> Iterator[FragmentLine]:
    """Every line, each phrase in its grammar, and none oftener than the number of phrases alone says."""
    if not body.endswith(b"\n") or not body.isascii():
        raise _refused("lines of the letters a to z, each with its end", "something else", place)
    texts = body[:-1].decode("ascii").split("\n")
    check_range(len(texts), 1, MAX_LINES, f"{place}, lines")
    nouns, verbs = Counter[str](), Counter[str]()
    for number, text in enumerate(texts, start=1):
        phrases = text.split(_SEPARATOR)
        if len(phrases) != PHRASES or not all(PHRASE.fullmatch(phrase) for phrase in phrases):
            raise _refused("two noun phrases and two verb phrases", "something else", f"{place}, line {number}")
        if len(set(phrases)) != PHRASES:
            raise _refused("four phrases", "one twice", f"{place}, line {number}")
        nouns.update(phrases[:2])
        verbs.update(phrases[2:])
        yield phrases[0], phrases[1], phrases[2], phrases[3]
    _require_no_counts(nouns, verbs, place)


def _require_no_counts(nouns: Counter[str], verbs: Counter[str], place: str) -> None:
    """Returns if nothing can be read out of how often phrases are said: or a file could carry numbers of notes."""
    if nouns.keys() & verbs.keys():
        raise _refused("phrases that are of one kind each", "one of two", place)
    if min(max(nouns.values()), max(verbs.values())) > 1:
        raise _refused("noun phrases or verb phrases that stand there once each", "both repeated", place)
    if any(max(said.values()) - min(said.values()) > 1 for said in (nouns, verbs)):
        raise _refused("phrases that are repeated as often as each other, but for one more", "others", place)


def _of_another_site(place: str) -> UnknownSignerError:
    return UnknownSignerError(
        "fragments of a known site", received="those of another", advice="refuse the file", place=place
    )


def _refused(expected: str, received: str, place: str) -> SchemaError:
    return SchemaError(expected, received=received, advice="refuse the file", place=place)

"""A file of fragments holds phrases in their grammar and nothing else, signed by the site that it names."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.canonical import canonical_bytes, parse_json
from protocols.errors import (
    BoundsError,
    DigestError,
    ProtocolError,
    SchemaError,
    SignatureError,
    TruncatedError,
    UnknownSignerError,
    UnsignedError,
    VersionError,
)
from protocols.keys.signing import FRAGMENTS_CONTEXT, SHARE_CONTEXT, PrivateKey
from protocols.share.bundle_header import read_header
from protocols.share.fragments import (
    MAGIC,
    FragmentLine,
    FragmentManifest,
    are_fragments,
    fragment_body,
    fragment_bytes,
    open_fragments,
    refuse_fragments,
)
from tests.protocols.share.shares import KEY, KEYS, OTHER_KEY, PROVIDER

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "formats" / "fragments.md"
LINES: list[FragmentLine] = [
    ("chest pain", "the right lung", "denies fever", "was seen today"),
    ("acute distress", "history of diabetes", "was started on insulin", "has resolved"),
]


def manifest(of: list[FragmentLine] = LINES, body: bytes | None = None, **changes: Any) -> FragmentManifest:
    made, words = fragment_body(of)
    body = made if body is None else body
    stated = FragmentManifest(
        site="hospital-a",
        number=1,
        recipient=PROVIDER.public_key.key_id,
        release="ab" * 32,
        language="English",
        parser="textblob 0.20.1",
        least_notes=10,
        created=datetime.date(2026, 1, 31),
        software="deid-commons 0.1.0",
        lines=len(of),
        words=words,
        body_bytes=len(body),
        body_sha256=hashlib.sha256(body).hexdigest(),
    )
    return dataclasses.replace(stated, **changes)


def written(folder: Path, data: bytes) -> Path:
    path = folder / "a.fragments"
    path.write_bytes(data)
    return path


def signed(body: bytes | None = None, key: PrivateKey | None = KEY, **changes: Any) -> bytes:
    """A file with any lines, which its manifest vouches for, as a dishonest site would make it."""
    made = fragment_body(LINES)[0] if body is None else body
    return fragment_bytes(manifest(body=made, **changes), made, key)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    found, body = open_fragments(written(tmp_path, signed()), KEYS)
    assert (list(found.lines), found.manifest, found.key) == (LINES, manifest(), KEY.public_key)
    assert body == b"".join(", ".join(line).encode() + b"\n" for line in LINES)
    assert found.phrases == {phrase for line in LINES for phrase in line}


def test_the_vectors_of_the_document() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    vectors = dict(re.findall(r"```vector ([a-z-]+)\n(.*?)\n```", text, re.DOTALL))
    assert set(vectors) == {"file", "manifest-digest"}
    assert signed().decode() == vectors["file"] + "\n"
    assert manifest().sha256 == vectors["manifest-digest"]
    documented = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert {field.name for field in dataclasses.fields(FragmentManifest)} <= documented


def test_a_draft_is_for_its_own_site_alone(tmp_path: Path) -> None:
    path = written(tmp_path, signed(key=None))
    with pytest.raises(UnsignedError):
        open_fragments(path, KEYS)
    assert open_fragments(path, KEYS, drafts=True)[0].key is None
    with pytest.raises(UnknownSignerError):
        open_fragments(path, {"hospital-b": (KEY.public_key,)}, drafts=True)


def test_another_key_or_purpose_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownSignerError):
        open_fragments(written(tmp_path, signed(key=OTHER_KEY)), KEYS)
    with pytest.raises(UnknownSignerError):
        open_fragments(written(tmp_path, signed(site="hospital-z")), KEYS)
    stated = manifest()
    signature = KEY.sign(SHARE_CONTEXT, canonical_bytes(stated.to_json())).to_json()
    header = canonical_bytes({"manifest": stated.to_json(), "signature": signature})
    with pytest.raises(SignatureError):
        open_fragments(written(tmp_path, MAGIC + header + b"\n" + fragment_body(LINES)[0]), KEYS)


@pytest.mark.parametrize("drafts", [False, True])
def test_no_byte_can_be_changed(tmp_path: Path, drafts: bool) -> None:
    data = signed()
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        with pytest.raises(ProtocolError):
            open_fragments(written(tmp_path, bytes(changed)), KEYS, drafts=drafts)


@pytest.mark.parametrize("cut", [1, 30, 400, 1_000])
def test_a_file_that_was_cut_is_refused(tmp_path: Path, cut: int) -> None:
    data = signed()
    with pytest.raises(ProtocolError):
        open_fragments(written(tmp_path, data[: max(len(data) - cut, 0)]), KEYS)
    with pytest.raises(TruncatedError):
        open_fragments(written(tmp_path, MAGIC + b"{}"), KEYS)


FIRST = b"chest pain, the right lung, denies fever, was seen today\n"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n",
        FIRST[:-1],
        FIRST + b"\n",
        FIRST + FIRST,
        FIRST.replace(b"lung", b"lung2"),
        FIRST.replace(b"chest", b"Chest"),
        FIRST.replace(b"chest", "ché".encode()),
        FIRST.replace(b"chest", "сhest".encode()),
        FIRST.replace(b"chest pain", b"pain"),
        FIRST.replace(b"chest pain", b"pain in the left chest"),
        FIRST.replace(b"chest pain", b"chest  pain"),
        FIRST.replace(b"chest pain", b" chest pain"),
        FIRST.replace(b"chest pain", b"chest-pain too"),
        FIRST.replace(b"chest pain", b"chest pain,"),
        FIRST.replace(b"chest", b"c" * 25),
        FIRST.replace(b"chest pain, ", b""),
        FIRST.replace(b"\n", b", and more\n"),
        FIRST.replace(b"denies fever", b"chest pain"),
        FIRST.replace(b"\n", b"\r\n"),
        FIRST.replace(b"chest", b"chest\x00"),
        FIRST.replace(b"\n", b"\x0bmore text\n"),
    ],
)
def test_a_site_that_signs_anything_else_is_refused(tmp_path: Path, body: bytes) -> None:
    try:
        data = signed(body, lines=1, words=11)
    except BoundsError:
        assert not body
        return
    with pytest.raises(ProtocolError) as refusal:
        open_fragments(written(tmp_path, data), KEYS)
    assert "as many lines" not in str(refusal.value)


NOUNS = [("chest pain", "the lung"), ("a cough", "the heart"), ("no fever", "the skin")]


@pytest.mark.parametrize(
    ("verbs", "fits"),
    [
        ([("is well", "was seen"), ("has pain", "was seen"), ("has pain", "is well")], True),
        ([("is well", "was seen"), ("is well", "was seen"), ("is well", "has pain")], False),
        ([("is well", "was seen"), ("is well", "was seen"), ("is well", "is well")], False),
        ([("is well", "was seen"), ("a cough", "has pain"), ("is better", "is worse")], False),
    ],
)
def test_how_often_a_phrase_is_said_can_carry_no_number(verbs: list[tuple[str, str]], fits: bool) -> None:
    """Of one kind all are said once, of the other as often as each other, but for one more."""
    lines = [(*first, *second) for first, second in zip(NOUNS, verbs, strict=True)]
    if fits:
        assert fragment_body(lines)[1] == 24
        return
    with pytest.raises(SchemaError):
        fragment_body(lines)


def test_phrases_of_both_kinds_are_not_repeated() -> None:
    twice = [("chest pain", "the lung", "is well", "was seen")] * 2
    with pytest.raises(SchemaError):
        fragment_body(twice)


def test_a_phrase_of_fewer_notes_can_not_be_stated() -> None:
    with pytest.raises(BoundsError):
        manifest(least_notes=9)


@pytest.mark.parametrize(("name", "value"), [("lines", 1), ("words", 20), ("body_bytes", 5)])
def test_counts_that_do_not_fit_are_refused(tmp_path: Path, name: str, value: int) -> None:
    with pytest.raises(ProtocolError):
        open_fragments(written(tmp_path, signed(None, KEY, **{name: value})), KEYS)


def test_another_version_says_so_before_its_signature(tmp_path: Path) -> None:
    stated = {**manifest().to_json(), "format_version": 2, "news": 1}
    header = canonical_bytes({"manifest": stated, "signature": None})
    with pytest.raises(VersionError):
        open_fragments(written(tmp_path, MAGIC + header + b"\n" + FIRST), KEYS)


def test_another_spelling_of_the_header_is_refused(tmp_path: Path) -> None:
    header, _, body = signed().removeprefix(MAGIC).partition(b"\n")
    value = parse_json(header, max_bytes=1 << 16)
    assert isinstance(value, dict)
    spaced = header.replace(b'{"manifest"', b'{ "manifest"')
    assert parse_json(spaced, max_bytes=1 << 16) == value
    with pytest.raises(SchemaError):
        open_fragments(written(tmp_path, MAGIC + spaced + b"\n" + body), KEYS)


def test_a_manifest_of_other_lines_can_not_be_written() -> None:
    with pytest.raises(DigestError):
        fragment_bytes(manifest(), FIRST, KEY)
    with pytest.raises(SchemaError):
        fragment_body([("chest pain", "a 2nd", "was seen", "is well")])
    with pytest.raises(SchemaError):
        # It would be read as another line.
        fragment_body([("chest pain, the lung", "a b", "was seen", "is well")])


def test_what_takes_shares_refuses_it_by_its_first_bytes(tmp_path: Path) -> None:
    path = written(tmp_path, signed())
    assert are_fragments(path)
    for refuse in (refuse_fragments, read_header):
        with pytest.raises(SchemaError, match="text fragments"):
            refuse(path)
    assert not are_fragments(written(tmp_path, MAGIC[:-1]))
    assert not are_fragments(tmp_path)
    refuse_fragments(tmp_path / "nothing")


WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=24)
PHRASE = st.lists(WORD, min_size=2, max_size=4).map(" ".join)


@given(phrases=st.lists(PHRASE, min_size=4, max_size=24, unique=True))
def test_any_phrases_come_back(phrases: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    quads = zip(*[iter(phrases)] * 4, strict=False)
    lines: list[FragmentLine] = [(first, second, third, fourth) for first, second, third, fourth in quads]
    body, words = fragment_body(lines)
    assert words == len(" ".join(phrase for line in lines for phrase in line).split())
    path = tmp_path_factory.getbasetemp() / "any.fragments"
    path.write_bytes(fragment_bytes(manifest(lines), body, KEY))
    assert list(open_fragments(path, KEYS)[0].lines) == lines


def test_it_is_signed_for_this_purpose() -> None:
    assert FRAGMENTS_CONTEXT.encode() not in (b"", SHARE_CONTEXT.encode())
    assert FRAGMENTS_CONTEXT.encode() in signed()

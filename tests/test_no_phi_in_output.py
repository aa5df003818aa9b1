"""Faults of every kind in encode, deid and evaluate, and no word of PHI in what they print, log, raise or leave behind."""

from __future__ import annotations

import logging
import random
import re
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

import shared.constructions.construction
import shared.models.crf
import shared.pipeline.pipeline
import shared.sentences.encoding
import shared.sentences.tokenised
import shared.text.tokens
import site_client.sharing.encode
from shared.document import Document
from shared.generate import generate_notes, site_names
from shared.labels import load_scheme
from tests.loop import Loop, hospital
from tests.protocols.payload.blocks import full_disk
from tests.tiny_notes import phi_strings, tiny_notes, write_notes

LOUD = ("shared", "site_client", "protocols", "command_line")


def generated() -> list[Document]:
    """Notes of the project's generator and our tiny ones, which have the labels of the release."""
    sites = [next(iter(generate_notes(site, 1, 7))) for site in site_names("en")[:3]]
    return [*tiny_notes(4, 5, "secret"), *sites]


NOTES = generated()
# Words that our own messages may hold, such as the name of a category, are not looked for.
PLAIN = {category.title() for category in load_scheme("i2b2_2014").categories} | {
    "Saint",
    "Clinic",
    "Infirmary",
    "Street",
    "Road",
    "Avenue",
    "Medical",
    "General",
    "Center",
    "Unit",
    "Monday",
}
SECRETS = sorted(word for word in phi_strings(NOTES) if len(word) >= 5 and word.title() not in PLAIN)


def seen_of(result: Result) -> str:
    """All that a person or a log collector gets to see of a command."""
    pieces = [result.stdout, result.stderr]
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        pieces += traceback.format_exception(result.exception)
    return "\n".join(pieces)


def assert_silent(text: str) -> None:
    found = [secret for secret in SECRETS if told(secret, text)]
    assert not found, f"{len(found)} strings of PHI in the output"


def told(secret: str, text: str) -> bool:
    """Whether a text holds a secret; neither a score's 0.7918110236 nor a digest's ff18110e tells the number 18110."""
    return re.search(rf"(?<!\w){secret}(?!\w)" if secret.isdecimal() else re.escape(secret), text) is not None


def damage(data: bytes, dice: random.Random) -> bytes:
    start = dice.randrange(len(data))
    end = min(len(data), start + dice.randint(1, 60))
    return dice.choice(
        [
            data[:start],
            data[:start] + data[end:],
            data[:start] + dice.choice((b"\0", b"\xff", b"<", b'"', b"\n", b"T1\t", b"9")) + data[start:],
            data[:start] + data[start:end][::-1] + data[end:],
        ]
    )


def commands(loop: Loop, notes: Path, out: Path) -> list[tuple[object, ...]]:
    north, fourth = ("--workspace", loop.site("north")), ("--workspace", loop.site("fourth"))
    return [
        ("encode", notes, "--out", out / "a.parquet", *north),
        ("deid", notes, "--out", out / "safe", *fourth),
        ("deid", notes, "--out", out / "tagged", "--mode", "tag", *fourth),
        ("evaluate", notes, *fourth),
        ("evaluate", notes, "--json", *fourth),
    ]


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


def test_there_are_secrets_to_look_for() -> None:
    assert len(SECRETS) > 40
    with pytest.raises(AssertionError):
        assert_silent(f"error: {SECRETS[0]} is wrong")
    assert any(secret.isdecimal() for secret in SECRETS)
    assert told("18110", "zip:18110.")
    assert not told("18110", '"f1": 0.7918110236, "digest": "ff18110e"')


@pytest.mark.parametrize("form", ["brat", "jsonl"])
def test_sound_notes(form: str, loop: Loop, tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    tiny = write_notes(tmp_path / ("in" if form == "brat" else "in.jsonl"), NOTES[:4], form)
    with warnings.catch_warnings(record=True) as warned:
        for command in commands(loop, tiny, tmp_path):
            result = hospital(*command)
            assert result.exit_code == 0, result.stderr
            assert_silent(seen_of(result))
    assert_silent(logged.text + "".join(str(warning.message) for warning in warned))


@pytest.mark.parametrize("label", ["PATIENT", "SPACESHIP"])
def test_notes_of_the_generator_and_labels_that_nobody_knows(
    label: str, loop: Loop, tmp_path: Path, logged: pytest.LogCaptureFixture
) -> None:
    strange = Document("strange", NOTES[0].text, tuple(replace(span, category=label) for span in NOTES[0].annotations))
    notes = write_notes(tmp_path / "in", [*NOTES, strange])
    for command in commands(loop, notes, tmp_path):
        assert_silent(seen_of(hospital(*command)))
    assert_silent(logged.text)


@pytest.mark.parametrize("form", ["brat", "jsonl", "i2b2_2014", "conll"])
def test_damaged_notes(form: str, built_loop: Loop, tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    folder = form in ("brat", "i2b2_2014")
    notes = write_notes(tmp_path / ("in" if folder else f"in.{form}"), NOTES[:4], form)
    files = sorted(notes.iterdir()) if folder else [notes]
    dice = random.Random(3)
    failed = 0
    for attempt in range(24):
        file = dice.choice(files)
        whole = file.read_bytes()
        file.write_bytes(damage(whole, dice))
        command = dice.choice(commands(built_loop, notes, tmp_path / str(attempt))[1:4])
        result = hospital(*command)
        failed += result.exit_code != 0
        text = seen_of(result)
        if "--mode" not in command:
            assert_silent(text)
        file.write_bytes(whole)
    assert failed > 3
    assert_silent(logged.text)


def fault(*arguments: object, **options: object) -> None:
    """What a library might raise: with the text that it was given."""
    raise ValueError(f"could not handle {SECRETS}")


FAULTS: dict[str, tuple[object, str, Callable[..., object]]] = {
    "tokens": (shared.sentences.tokenised, "tokenise", fault),
    "casing": (shared.constructions.decoding, "casing_classes", fault),
    "representation": (shared.constructions.decoding.Decoding, "_views", fault),
    "decoding": (shared.pipeline.pipeline, "decode_tags", fault),
    "encoding": (site_client.sharing.encode, "block_of", fault),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_of_the_program(
    kind: str, loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: pytest.LogCaptureFixture
) -> None:
    notes = write_notes(tmp_path / "in", NOTES[:4])
    owner, name, function = FAULTS[kind]
    monkeypatch.setattr(owner, name, function)
    failed = 0
    before = {path.name for path in tmp_path.iterdir()}
    for command in commands(loop, notes, tmp_path)[:4]:
        result = hospital(*command)
        assert result.exit_code in (0, 1)
        if result.exit_code:
            failed += 1
            assert result.stderr.startswith("error: a fault in this program (ValueError)")
            assert result.stderr.count("\n") == 1
        assert_silent(seen_of(result))
    assert failed
    assert_silent(logged.text)
    left = {path.name for path in tmp_path.iterdir()} - before
    assert left <= {"a.parquet", "a.parquet.manifest.json", "a.parquet.report.json", "safe", "tagged"}


def test_a_full_disk(built_loop: Loop, tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "in", NOTES[:4])
    with full_disk(60):
        for command in commands(built_loop, notes, tmp_path)[:3]:
            result = hospital(*command)
            assert result.exit_code == 8
            assert_silent(seen_of(result))


def test_nothing_shows_a_word_of_a_note_in_its_repr() -> None:
    for note in NOTES:
        tokens = shared.text.tokens.tokenise(note.text)
        chunk = next(shared.sentences.tokenised.tokenised_chunks([(note, tokens)], None))
        assert_silent(f"{note!r} {note.annotations!r} {tokens!r} {chunk!r}")


def test_a_share_holds_no_word(loop: Loop, tmp_path: Path) -> None:
    notes = write_notes(tmp_path / "in", NOTES[:4])
    for suffix in ("parquet", "h5"):
        result = hospital("encode", notes, "--out", tmp_path / f"a.{suffix}", "--workspace", loop.site("north"))
        assert result.exit_code == 0
        for path in tmp_path.glob(f"a.{suffix}*"):
            data = path.read_bytes()
            assert not [secret for secret in SECRETS if len(secret) >= 6 and secret.encode() in data]
            assert b"secret-0" not in data

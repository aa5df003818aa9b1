"""Where a passphrase comes from, and what the two programs do with it."""

from __future__ import annotations

import getpass
import json
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregator import workspace as provider_workspace
from command_line.passphrase import FILE, ask_when_needed, read_passphrase, take_new_passphrase
from foundation.errors import StorageError
from protocols.errors import PassphraseError
from protocols.keys import passphrase as module
from protocols.keys.key_files import is_protected
from site_client import workspace as site_workspace
from tests.loop import done, hospital, provider, refused, values

WORDS = "five words of my own"


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COST", module.LEAST_COST)
    monkeypatch.delenv(FILE, raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path / "passphrase", WORDS)


def written(path: Path, text: str, mode: int = 0o400) -> Path:
    path.write_text(text + "\n")
    path.chmod(mode)
    return path


class Terminal:
    """Types answers, and keeps what was asked."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.answers: list[str] = []
        self.prompts: list[str] = []
        patch.setattr(getpass, "getpass", self.type)
        patch.setattr("command_line.passphrase._at_terminal", lambda: True)

    def type(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.answers.pop(0)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    sitting = Terminal(monkeypatch)
    yield sitting
    assert not sitting.answers


def test_a_new_one_is_typed_twice(terminal: Terminal) -> None:
    terminal.answers = [WORDS, WORDS]
    take_new_passphrase()
    assert len(terminal.prompts) == 2
    terminal.answers = [WORDS, WORDS + "."]
    with pytest.raises(PassphraseError, match="twice"):
        take_new_passphrase()
    terminal.answers = ["short", "short"]
    with pytest.raises(PassphraseError, match="12 characters"):
        take_new_passphrase()


def test_without_a_terminal_and_without_a_file_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: SIM115
    for ask in (take_new_passphrase, lambda: ask_when_needed().seal(b"0" * 48, Path("keys"))):
        with pytest.raises(PassphraseError, match=FILE):
            ask()


@pytest.mark.parametrize(("text", "mode"), [("", 0o600), ("one\ntwo", 0o600), ("a\0b" + WORDS, 0o600)])
def test_a_file_holds_one_line(text: str, mode: int, tmp_path: Path) -> None:
    with pytest.raises(PassphraseError):
        read_passphrase(written(tmp_path / "passphrase", text, mode))


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o620, 0o666])
def test_a_file_that_everybody_reads_is_refused(mode: int, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="chmod 400"):
        read_passphrase(written(tmp_path / "passphrase", WORDS, mode))
    # As service managers hand it over.
    assert read_passphrase(written(tmp_path / "other", WORDS, 0o440)) == WORDS.encode()


def test_a_site_with_a_passphrase_typed_once_a_command(tmp_path: Path, terminal: Terminal) -> None:
    root = tmp_path / "site"
    terminal.answers = [WORDS] * 2
    done(hospital("init", root, "--site", "st-anne", "--passphrase"))
    [path] = root.glob("keys/*.pem")
    assert is_protected(path)
    at = ("--workspace", root)
    terminal.answers, terminal.prompts = [WORDS], []
    done(hospital("enrol", "--out", tmp_path / "request.json", *at))
    assert terminal.prompts == [f"Passphrase of the keys in {root / 'keys'}: "]
    terminal.prompts, terminal.answers = [], [WORDS]
    done(hospital("keys", "rotate", "--out", tmp_path / "rotation.json", *at))
    assert len(terminal.prompts) == 1
    assert all(is_protected(path) for path in root.glob("keys/*.pem"))
    # What needs no key asks for none.
    done(hospital("keys", "show", *at))
    terminal.answers = ["another one"]
    line = refused(hospital("enrol", "--out", tmp_path / "again.json", *at), 17, "passphrase")
    assert "another one," in line  # The message's own words,
    assert WORDS not in line
    assert not (tmp_path / "again.json").exists()


def test_a_site_unattended(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "site"
    at = ("--workspace", root)
    monkeypatch.setenv(FILE, str(file))
    done(hospital("init", root, "--site", "st-anne", "--passphrase"))
    done(hospital("enrol", "--out", tmp_path / "request.json", *at))
    monkeypatch.delenv(FILE)
    refused(hospital("enrol", "--out", tmp_path / "again.json", *at), 17, FILE)
    monkeypatch.setenv(FILE, str(written(tmp_path / "wrong", "some other words")))
    refused(hospital("enrol", "--out", tmp_path / "again.json", *at), 17, "the passphrase of the key")
    refused(hospital("keys", "unprotect", *at), 17)
    monkeypatch.setenv(FILE, str(file))
    done(hospital("keys", "unprotect", *at))
    monkeypatch.delenv(FILE)
    done(hospital("enrol", "--out", tmp_path / "again.json", *at))


def test_a_passphrase_is_changed(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "site"
    at = ("--workspace", root)
    done(hospital("init", root, "--site", "st-anne"))
    refused(hospital("keys", "unprotect", "--workspace", tmp_path), 30)
    done(hospital("keys", "protect", "--new-passphrase-file", file, *at))
    monkeypatch.setenv(FILE, str(file))
    done(hospital("enrol", "--out", tmp_path / "request.json", *at))
    following = written(tmp_path / "following", "words that follow them")
    # The file of the environment is the present one: the new one is not guessed from it.
    refused(hospital("keys", "protect", *at), 17, "terminal")
    done(hospital("keys", "protect", "--new-passphrase-file", following, *at))
    refused(hospital("enrol", "--out", tmp_path / "again.json", *at), 17)
    monkeypatch.setenv(FILE, str(following))
    done(hospital("enrol", "--out", tmp_path / "again.json", *at))


def test_a_provider_and_its_sticks(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, stick = tmp_path / "provider", tmp_path / "stick"
    at = ("--workspace", root)
    monkeypatch.setenv(FILE, str(file))
    done(provider("init", root, "--passphrase"))
    assert len(list(root.rglob("*.pem"))) == 10
    assert all(is_protected(path) for path in root.rglob("*.pem"))
    done(provider("renew", *at))
    done(provider("keys", "export-offline", stick, *at))
    assert all(is_protected(path) for path in stick.iterdir())
    monkeypatch.delenv(FILE)
    refused(provider("renew", *at), 17)
    sitting = Terminal(monkeypatch)
    # A stick gets a passphrase of its holder, and a command then asks for both.
    sitting.answers = [WORDS, "what the holder knows", "what the holder knows"]
    done(provider("keys", "protect", "--offline-keys", stick, *at))
    sitting.answers, sitting.prompts = ["what the holder knows", WORDS], []
    done(provider("keys", "rotate", "signing", "--offline-keys", stick, *at))
    assert len(sitting.prompts) == 2
    assert str(stick) in "".join(sitting.prompts)
    sitting.answers = [WORDS]
    assert values(provider("keys", "unprotect", *at, "--json"))["unprotected"]
    assert not any(is_protected(path) for path in root.rglob("*.pem"))
    assert not sitting.answers


def test_it_is_said_nowhere(
    tmp_path: Path, file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FILE, str(file))
    with caplog.at_level(logging.DEBUG):
        output = provider("init", tmp_path / "provider", "--passphrase", "--json").output
        output += hospital("init", tmp_path / "site", "--site", "a", "--passphrase", "--json").output
        output += hospital("enrol", "--out", tmp_path / "request.json", "--workspace", tmp_path / "site").output
    kept = "".join(
        path.read_text("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file() and path != file
    )
    for text in (output, caplog.text, kept, repr(provider_workspace.open_workspace(tmp_path / "provider"))):
        assert WORDS not in text
    opened = site_workspace.open_workspace(tmp_path / "site")
    opened.key()
    assert WORDS not in repr(opened)
    assert json.loads((tmp_path / "site" / "site.json").read_text())["format"] == 2

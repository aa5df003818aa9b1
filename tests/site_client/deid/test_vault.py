"""Who was what: encrypted, whole or refused, and nowhere but in the vault."""

from __future__ import annotations

import datetime
import errno
import os
import secrets
import stat
from pathlib import Path

import pytest

from foundation.errors import DeidError, StorageError
from protocols.errors import DigestError, EncryptionError, PassphraseError, VersionError
from protocols.share.stream import CHUNK_BYTES
from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from site_client.commands.workbench.vault import _lines
from site_client.deid.choices import vault as vaults
from site_client.deid.choices.opened_vault import Remembered, open_vault, require_protection
from site_client.deid.choices.vault import VaultKey, digest_text, new_vault, require_new
from site_client.deid.mode import Hiding, Replaced, Setting
from site_client.deid.registry import MODES
from tests.foundation.failing import failing

SITE = VaultKey(b"s" * 32, is_passphrase=False)
WORDS = VaultKey(b"five words that nobody guesses", is_passphrase=True)
ENTRY = Replaced(0, 9, "PATIENT", "Anna Berg\n", "[PATIENT]")


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vaults, "COST", 4)


def made(path: Path, key: VaultKey = SITE, notes: int = 3) -> Path:
    with new_vault(path, key) as vault:
        for number in range(notes):
            vault.record(f"n-{number}", f"[PATIENT] {number}", [ENTRY])
    return path


@pytest.mark.parametrize("key", [SITE, WORDS])
def test_what_was_written_is_read(key: VaultKey, tmp_path: Path) -> None:
    path = made(tmp_path / "v", key)
    require_protection(path, passphrase=key.is_passphrase)
    assert [one.note for one in open_vault(path, key).notes] == ["n-0", "n-1", "n-2"]
    (one,) = open_vault(path, key, "n-1").notes
    assert one.replaced == (ENTRY,)
    assert open_vault(path, key, "n-9").notes == ()


def test_a_vault_says_its_day_and_which_notes_are_of_its_run(tmp_path: Path) -> None:
    held = open_vault(made(tmp_path / "january"), SITE, "n-1")
    assert held.day == datetime.date.today()
    assert held.only("[PATIENT] 1", "january") == held
    with pytest.raises(
        DigestError, match=rf"^january: expected the note as the run of {held.day} wrote it, received ano"
    ):
        held.only("[PATIENT] 1 in February", "january")
    with pytest.raises(DigestError):
        held.only("[PATIENT] 2", "january")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("One.\r\nTwo.\n", True),
        ("One.\rTwo.", True),
        ("One.\nTwo.\n\n", True),
        ("One. Two.", False),
        ("One.\n\nTwo.", False),
        (" One.\nTwo.", False),
        ("one.\nTwo.", False),
        ("", False),
    ],
)
def test_a_text_is_the_same_however_its_lines_end(text: str, same: bool) -> None:
    assert (digest_text(text) == digest_text("One.\nTwo.")) is same


def test_a_vault_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "v")
    path.write_bytes(path.read_bytes().replace(b"vault 2", b"vault 3", 1))
    with pytest.raises(VersionError, match="open it with the program that wrote it"):
        open_vault(path, SITE)


def test_a_vault_taken_for_one_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "v")
    path.write_bytes(path.read_bytes().replace(b"vault 2", b"vault 1", 1))
    with pytest.raises(EncryptionError):
        open_vault(path, SITE)


def test_nothing_of_it_stands_in_clear_and_it_is_its_owners_alone(tmp_path: Path) -> None:
    path = made(tmp_path / "v")
    data = path.read_bytes()
    for part in (b"Anna", b"n-0", b"PATIENT"):
        assert part not in data
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "Anna" not in repr(ENTRY)
    assert "words" not in repr(WORDS)


def test_words_of_a_note_command_no_terminal() -> None:
    entry = Replaced(0, 9, "PATIENT", "Anna\x1b[2J \u202eBerg\n", "Ruth\x9b1m\x07")
    first, second = _lines(Remembered("n-1\x1b]0;x", (entry,)))
    assert first == "n-1\\u001b]0;x"
    assert second.split("  ")[-2:] == ["was", "Anna\\u001b[2J \\u202eBerg"]
    assert "Ruth\\u009b1m\\u0007" in second


def test_two_vaults_of_the_same_are_not_alike(tmp_path: Path) -> None:
    first, second = (made(tmp_path / name).read_bytes() for name in "ab")
    assert first.split(b"\n", 1)[1] != second.split(b"\n", 1)[1]


def test_another_key_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(EncryptionError, match="another site"):
        open_vault(made(tmp_path / "a"), VaultKey(b"t" * 32, is_passphrase=False))
    with pytest.raises(PassphraseError, match="another one"):
        open_vault(made(tmp_path / "b", WORDS), VaultKey(b"other words", is_passphrase=True))
    for path, key, said in ((tmp_path / "b", SITE, "give --passphrase FILE"), (tmp_path / "a", WORDS, "leave --pass")):
        with pytest.raises(PassphraseError, match=said):
            open_vault(path, key)
        with pytest.raises(PassphraseError, match=said):
            require_protection(path, passphrase=key.is_passphrase)


def test_a_vault_that_was_cut_or_changed_anywhere_is_refused_whole(tmp_path: Path) -> None:
    path = tmp_path / "v"
    with new_vault(path, SITE) as vault:
        for number in range(40):
            vault.record(f"n-{number}", f"[PATIENT] {number}", [Replaced(0, 1, "A", secrets.token_hex(2000), "b")])
    data = path.read_bytes()
    assert len(data) > 2 * CHUNK_BYTES
    head = data.index(b"\n") + 1
    for damaged in (
        data[:-1],
        data[: head + CHUNK_BYTES + 16],
        data + b"x",
        data[: head + 5] + bytes([data[head + 5] ^ 1]) + data[head + 6 :],
        data.replace(b'"salt": "', b'"salt": "00', 1),
        data.replace(b'"site"', b'"passphrase"', 1),
        data[head:],
        b"",
    ):
        path.write_bytes(damaged)
        with pytest.raises(DeidError):
            open_vault(path, SITE, "n-0")


def test_a_run_that_ends_badly_leaves_no_vault_and_one_that_is_there_stays(tmp_path: Path) -> None:
    def run() -> None:
        with new_vault(tmp_path / "v", SITE) as vault:
            vault.record("n", "[PATIENT]", [ENTRY])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run()
    assert list(tmp_path.iterdir()) == []
    path = made(tmp_path / "v")
    with pytest.raises(ConfigurationError, match="not written over"):
        made(path)
    assert len(open_vault(path, SITE).notes) == 3


def test_of_two_runs_with_one_vault_the_second_ends_before_it_works(tmp_path: Path) -> None:
    path = tmp_path / "v"
    with new_vault(path, SITE) as vault:
        vault.record("n-0", "[PATIENT]", [ENTRY])
        for attempt in (lambda: made(path, WORDS), lambda: require_new(path)):
            with pytest.raises(ConfigurationError, match="writes its vault there now; choose another name"):
                attempt()
    assert [one.note for one in open_vault(path, SITE).notes] == ["n-0"]
    assert [one.name for one in tmp_path.iterdir()] == ["v"]


def test_a_file_that_another_program_wrote_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "v"
    with pytest.raises(ConfigurationError, match="not written over"), new_vault(path, SITE):
        path.write_bytes(b"somebody's")
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {"v": b"somebody's"}


@pytest.mark.parametrize("failure", ["before", "after", "unknown"])
def test_a_vault_that_is_finished_stays_only_where_its_notes_may_be_in_place(
    failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, notes = tmp_path / "v", tmp_path / "notes"

    def run() -> None:
        with new_vault(path, SITE, notes) as vault:
            vault.record("n", "[PATIENT]", [ENTRY])
            vault.finish()
            assert len(open_vault(path, SITE).notes) == 1
            if failure == "after":
                notes.mkdir()
                (notes / "n.txt").write_text("[PATIENT]")
            if failure == "unknown":
                monkeypatch.setattr(Path, "iterdir", failing(Path.iterdir, 1, OSError(errno.EIO, "")))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    monkeypatch.undo()
    assert path.exists() is (failure != "before")


def test_that_a_vault_of_nothing_can_not_be_removed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "unlink", failing(Path.unlink, 2, OSError(errno.EIO, "")))

    def run() -> None:
        with new_vault(tmp_path / "v", SITE, tmp_path / "notes") as vault:
            vault.finish()
            raise ZeroDivisionError

    with pytest.raises(StorageError, match="a vault of nothing"):
        run()


def test_a_file_system_without_hard_links_has_vaults_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", failing(os.link, 1, PermissionError()))
    assert len(open_vault(made(tmp_path / "v"), SITE).notes) == 3


def test_where_no_vault_can_be_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="make the folder where it is missing"):
        require_new(tmp_path / "absent" / "v")


def test_it_says_what_stood_where_whatever_the_mode(tmp_path: Path) -> None:
    note = Document("n", "Anna in Bonn", (Annotation(0, 4, "PATIENT"), Annotation(8, 12, "CITY")))
    for name, mode in MODES.items():
        if not isinstance(mode, Hiding):
            continue
        found: list[Replaced] = []
        mode = mode.prepared(Setting())
        assert isinstance(mode, Hiding)
        mode.recorder = lambda identifier, text, replaced, kept=found: kept.extend(replaced)
        text = mode.turn(note).text
        assert [one.original for one in found] == ["Anna", "Bonn"], name
        assert [text[one.start : one.end] for one in found] == [one.written for one in found]

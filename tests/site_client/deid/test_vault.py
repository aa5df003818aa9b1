"""Who was what: encrypted, whole or refused, and nowhere but in the vault."""

from __future__ import annotations

import secrets
import stat
from pathlib import Path

import pytest

from foundation.errors import DeidError
from protocols.errors import EncryptionError, PassphraseError
from protocols.share.stream import CHUNK_BYTES
from shared.document import Annotation, Document
from shared.errors import ConfigurationError
from site_client.deid.choices import vault
from site_client.deid.choices.vault import VaultKey, new_vault, open_vault, vault_protection
from site_client.deid.mode import Hiding, Replaced, Setting
from site_client.deid.registry import MODES

SITE = VaultKey(b"s" * 32, is_passphrase=False)
WORDS = VaultKey(b"five words that nobody guesses", is_passphrase=True)
ENTRY = Replaced(0, 9, "PATIENT", "Anna Berg\n", "[PATIENT]")


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "COST", 4)


def made(path: Path, key: VaultKey = SITE, notes: int = 3) -> Path:
    with new_vault(path, key) as record:
        for number in range(notes):
            record(f"n-{number}", [ENTRY])
    return path


@pytest.mark.parametrize("key", [SITE, WORDS])
def test_what_was_written_is_read(key: VaultKey, tmp_path: Path) -> None:
    path = made(tmp_path / "v", key)
    assert vault_protection(path) == key.protection
    assert [one.note for one in open_vault(path, key)] == ["n-0", "n-1", "n-2"]
    (one,) = open_vault(path, key, "n-1")
    assert one.replaced == (ENTRY,)
    assert open_vault(path, key, "n-9") == []


def test_nothing_of_it_stands_in_clear_and_it_is_its_owners_alone(tmp_path: Path) -> None:
    path = made(tmp_path / "v")
    data = path.read_bytes()
    for part in (b"Anna", b"n-0", b"PATIENT"):
        assert part not in data
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "Anna" not in repr(ENTRY)
    assert "words" not in repr(WORDS)


def test_two_vaults_of_the_same_are_not_alike(tmp_path: Path) -> None:
    first, second = (made(tmp_path / name).read_bytes() for name in "ab")
    assert first.split(b"\n", 1)[1] != second.split(b"\n", 1)[1]


def test_another_key_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(EncryptionError, match="another site"):
        open_vault(made(tmp_path / "a"), VaultKey(b"t" * 32, is_passphrase=False))
    with pytest.raises(PassphraseError, match="another one"):
        open_vault(made(tmp_path / "b", WORDS), VaultKey(b"other words", is_passphrase=True))
    with pytest.raises(PassphraseError, match="give the other"):
        open_vault(tmp_path / "b", SITE)


def test_a_vault_that_was_cut_or_changed_anywhere_is_refused_whole(tmp_path: Path) -> None:
    path = tmp_path / "v"
    with new_vault(path, SITE) as record:
        for number in range(40):
            record(f"n-{number}", [Replaced(0, 1, "A", secrets.token_hex(2000), "b")])
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
        with new_vault(tmp_path / "v", SITE) as record:
            record("n", [ENTRY])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run()
    assert list(tmp_path.iterdir()) == []
    path = made(tmp_path / "v")
    with pytest.raises(ConfigurationError, match="not written over"):
        made(path)
    assert len(open_vault(path, SITE)) == 3


def test_it_says_what_stood_where_whatever_the_mode(tmp_path: Path) -> None:
    note = Document("n", "Anna in Bonn", (Annotation(0, 4, "PATIENT"), Annotation(8, 12, "CITY")))
    for name, mode in MODES.items():
        if not isinstance(mode, Hiding):
            continue
        found: list[Replaced] = []
        mode = mode.prepared(Setting())
        assert isinstance(mode, Hiding)
        mode.recorder = lambda identifier, replaced, kept=found: kept.extend(replaced)
        text = mode.turn(note).text
        assert [one.original for one in found] == ["Anna", "Bonn"], name
        assert [text[one.start : one.end] for one in found] == [one.written for one in found]

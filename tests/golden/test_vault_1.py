"""A vault of version 1, which knows neither the day of its run nor the texts that it wrote, still opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocols.errors import EncryptionError
from shared.errors import ConfigurationError
from site_client.deid.choices.opened_vault import Opened, Remembered, open_vault
from site_client.deid.choices.vault import VaultKey
from site_client.deid.mode import Replaced
from site_client.workspace import create
from tests.golden.opening import flip
from tests.loop import done, hospital, refused

VAULT = Path(__file__).parent / "vault_1" / "who-was-what.vault"
SECRET = bytes(range(32))
KEY = VaultKey(SECRET, is_passphrase=False)
REPLACED = (
    Replaced(8, 15, "DOCTOR", "Ana Marchbanks", "J. Ober"),
    Replaced(23, 27, "CITY", "Bonn", "Köln"),
)


def test_it_opens_and_means_the_same() -> None:
    assert open_vault(VAULT, KEY) == Opened(None, (Remembered("n-0017", REPLACED), Remembered("n-0018", ())))


def test_it_says_that_it_can_not_tell_a_note_of_another_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="earlier version"):
        open_vault(VAULT, KEY).only("Seen by J. Ober in Köln.", VAULT.name)
    key = create(tmp_path / "site", "st-anne").surrogates_key
    key.write_bytes(SECRET)
    key.chmod(0o600)
    asking = ("vault", VAULT, "--note", "n-0017", "--workspace", tmp_path / "site")
    assert "it knows neither its day nor its texts" in done(hospital(*asking)).stdout
    (tmp_path / "note.txt").write_text("Seen by J. Ober in Köln.", encoding="utf-8")
    refused(hospital(*asking, "--text", tmp_path / "note.txt"), 2, "can't tell whether this note is of it")


@pytest.mark.parametrize("place", [20, 60, 120, -1])
def test_a_flipped_bit_is_refused(place: int, tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.write_bytes(VAULT.read_bytes())
    flip(path, place)
    with pytest.raises((ConfigurationError, EncryptionError)):
        open_vault(path, KEY)

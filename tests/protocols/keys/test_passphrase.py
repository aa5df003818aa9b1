"""Private keys under a passphrase: another library as oracle, every way to be wrong, and how often somebody is asked."""

from __future__ import annotations

import base64
import pickle
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.errors import StorageError
from protocols.errors import PassphraseError, SchemaError
from protocols.keys import passphrase as module
from protocols.keys.key_files import choose_protection, is_protected, read_private, rewrite_private
from protocols.keys.passphrase import LEAST_COST, Passphrase
from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey

WORDS = "correct horse battery stäple".encode()
SEED = bytes(range(32))
KEY, RECIPIENT = PrivateKey.from_seed(SEED), RecipientPrivateKey.from_seed(SEED)


def words(secret: bytes = WORDS) -> Passphrase:
    return Passphrase.of_secret(secret, cost=LEAST_COST)


class Person:
    """Answers, and counts how often."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.asked: list[Path] = []
        self.passphrase = Passphrase(self.answer, cost=LEAST_COST)

    def answer(self, folder: Path) -> bytes:
        self.asked.append(folder)
        return self.answers.pop(0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signing and an encryption key under one passphrase."""
    made = tmp_path_factory.mktemp("keys")
    under = words()
    KEY.save(made / "provider.pem", under)
    RECIPIENT.save(made / "recipient.pem", under)
    return made


def test_both_kinds_of_keys_come_back(folder: Path) -> None:
    under = words()
    assert PrivateKey.load(folder / "provider.pem", under).public_key == KEY.public_key
    assert RecipientPrivateKey.load(folder / "recipient.pem", under).public_key == RECIPIENT.public_key
    assert (folder / "provider.pem").stat().st_mode & 0o077 == 0


def test_another_library_opens_the_file(folder: Path) -> None:
    loaded = serialization.load_pem_private_key((folder / "provider.pem").read_bytes(), WORDS)
    assert isinstance(loaded, Ed25519PrivateKey)
    assert loaded.private_bytes_raw() == SEED
    # Under one of 256 wrong passphrases the padding looks right, and what is refused is what lies beneath.
    with pytest.raises(ValueError, match=r"(?i)password|could not deserialize"):
        serialization.load_pem_private_key((folder / "provider.pem").read_bytes(), b"another")


def test_the_form_by_hand(folder: Path) -> None:
    """RFC 8018 done step by step, for the key that no other library knows."""
    text = "".join((folder / "recipient.pem").read_text().split("\n")[1:-2])
    der = base64.b64decode(text)
    salt, start, sealed = der[35:51], der[77:93], der[95:]
    assert len(sealed) == 64
    key = Scrypt(salt=salt, length=32, n=2**LEAST_COST, r=8, p=1).derive(WORDS)
    cipher = Cipher(algorithms.AES256(key), modes.CBC(start)).decryptor()
    padded = cipher.update(sealed) + cipher.finalize()
    assert padded[-1] == 10
    assert padded[:-10].endswith(SEED)
    assert padded[:-10].hex().startswith("3034020100300d060b2b0601040183e62d81c87a0420")


def test_the_secret_is_not_in_the_file(folder: Path) -> None:
    for path in folder.iterdir():
        assert SEED.hex() not in path.read_bytes().hex()
        assert b"ENCRYPTED" in path.read_bytes()


@pytest.mark.parametrize("kind", [PrivateKey, RecipientPrivateKey])
def test_without_the_passphrase_or_with_another_one_nothing_opens(
    kind: type[PrivateKey] | type[RecipientPrivateKey], folder: Path
) -> None:
    path = folder / ("provider.pem" if kind is PrivateKey else "recipient.pem")
    for given_one in (None, words(b"another passphrase")):
        with pytest.raises(PassphraseError) as caught:
            kind.load(path, given_one)
        assert "another passphrase" not in str(caught.value)
        assert caught.value.exit_code == 17


@settings(max_examples=20, deadline=None)
@given(place=st.integers(0, 1263), value=st.integers(1, 255))
def test_a_changed_file_never_gives_another_kind_of_error(folder: Path, place: int, value: int) -> None:
    """No integrity is promised, see the module; but whatever lies there, it is a key of that kind or one clear line."""
    der = bytearray(read_sealed(folder / "provider.pem"))
    der[place // 8 % len(der)] ^= value
    under = _UNDER
    try:
        found = under.open(bytes(der), folder / "provider.pem")
    except PassphraseError:
        return
    assert found[0] == 0x30


def read_sealed(path: Path) -> bytes:
    return base64.b64decode("".join(path.read_text().split("\n")[1:-2]))


# One for all examples: what it derives, it keeps.
_UNDER = words()


def test_a_person_is_asked_once_for_all_keys_of_a_folder(folder: Path) -> None:
    person = Person(WORDS)
    for name in ("provider.pem", "recipient.pem", "provider.pem"):
        read_private(folder / name, person.passphrase)
    assert person.asked == [folder]


def test_nobody_is_asked_for_keys_in_clear(tmp_path: Path) -> None:
    person = Person()
    KEY.save(tmp_path / "clear.pem")
    assert PrivateKey.load(tmp_path / "clear.pem", person.passphrase).public_key == KEY.public_key
    assert person.asked == []


def test_a_stick_may_have_a_passphrase_of_its_own(folder: Path, tmp_path: Path) -> None:
    KEY.save(tmp_path / "root-1.pem", words(b"what the holder knows"))
    person = Person(WORDS, b"what the holder knows")
    read_private(folder / "provider.pem", person.passphrase)
    read_private(tmp_path / "root-1.pem", person.passphrase)
    read_private(tmp_path / "root-1.pem", person.passphrase)
    assert person.asked == [folder, tmp_path]


def test_keys_of_a_folder_are_derived_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    derived = []
    real = Scrypt
    monkeypatch.setattr(module, "Scrypt", lambda **how: derived.append(how) or real(**how))
    under = words()
    for _ in range(3):
        read_private(folder / "provider.pem", under)
        read_private(folder / "recipient.pem", under)
    assert len(derived) == 1
    assert derived[0]["n"] == 2**LEAST_COST
    assert 2**module.COST >= 2**17


def test_after_the_start_nobody_is_asked(folder: Path) -> None:
    person = Person()
    person.passphrase.ask_no_more()
    with pytest.raises(PassphraseError):
        read_private(folder / "provider.pem", person.passphrase)
    assert person.asked == []


def test_a_new_key_goes_under_the_passphrase_of_its_folder(folder: Path, tmp_path: Path) -> None:
    # Whatever else lies on a stick is no key.
    (tmp_path / "certificate.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    (tmp_path / "certificate.pem").chmod(0o600)
    assert choose_protection(tmp_path, words()) is None
    KEY.save(tmp_path / "old.pem", words())
    person = Person(WORDS)
    KEY.save(tmp_path / "new.pem", choose_protection(tmp_path, person.passphrase))
    assert len(person.asked) == 1
    assert is_protected(tmp_path / "new.pem")
    assert PrivateKey.load(tmp_path / "new.pem", words()).public_key == KEY.public_key
    with pytest.raises(PassphraseError):
        choose_protection(tmp_path, words(b"another passphrase"))


@pytest.mark.parametrize("sealed", [False, True], ids=["in clear", "under a passphrase"])
def test_certificates_beside_the_keys_are_not_in_the_way(sealed: bool, tmp_path: Path) -> None:
    # Everybody may read a certificate, and a chain of them is longer than any key.
    for name, text in (
        ("certificate.pem", b"-----BEGIN CERTIFICATE-----\n"),
        ("chain.pem", bytes(5000)),
        ("empty.pem", b""),
    ):
        (tmp_path / name).write_bytes(text)
        (tmp_path / name).chmod(0o644)
    KEY.save(tmp_path / "old.pem", words() if sealed else None)
    KEY.save(tmp_path / "new.pem", choose_protection(tmp_path, words()))
    assert is_protected(tmp_path / "new.pem") == sealed


def test_a_key_under_a_passphrase_that_others_may_read_is_told_before_another_is_made(tmp_path: Path) -> None:
    KEY.save(tmp_path / "old.pem", words())
    (tmp_path / "old.pem").chmod(0o644)
    with pytest.raises(StorageError, match="chmod 600"):
        choose_protection(tmp_path, words())
    # Nor does another go there in clear because this one is damaged.
    (tmp_path / "old.pem").chmod(0o600)
    (tmp_path / "old.pem").write_bytes((tmp_path / "old.pem").read_bytes()[:-9])
    with pytest.raises(SchemaError):
        choose_protection(tmp_path, words())


def test_keys_go_under_a_passphrase_under_another_and_out_again(tmp_path: Path) -> None:
    paths = [tmp_path / "a.pem", tmp_path / "b.pem"]
    KEY.save(paths[0])
    RECIPIENT.save(paths[1])
    before = [path.read_bytes() for path in paths]
    rewrite_private(paths, words(b"unused"), words())
    assert all(is_protected(path) and path.stat().st_mode & 0o077 == 0 for path in paths)
    # A run that was cut after the first file is repeated.
    rewrite_private(paths[:1], words(), words(b"the next one"))
    rewrite_private(paths, words(), words(b"the next one"))
    assert PrivateKey.load(paths[0], words(b"the next one")).public_key == KEY.public_key
    with pytest.raises(PassphraseError):
        rewrite_private(paths, words(), None)
    rewrite_private(paths, words(b"the next one"), None)
    assert [path.read_bytes() for path in paths] == before


@pytest.mark.parametrize(
    "text",
    [
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nA\n-----END ENCRYPTED PRIVATE KEY-----\n",
        b"words",
    ],
)
def test_other_files_are_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.pem"
    path.write_bytes(text)
    path.chmod(0o600)
    with pytest.raises(SchemaError):
        read_private(path, words())
    path.chmod(0o640)
    with pytest.raises(StorageError, match="chmod 600"):
        read_private(path, words())


def test_encryption_of_another_kind_is_refused(tmp_path: Path) -> None:
    pem = KEY._key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(WORDS)
    )
    path = tmp_path / "x.pem"
    path.write_bytes(pem)
    path.chmod(0o600)
    with pytest.raises(PassphraseError, match="scrypt"):
        PrivateKey.load(path, words())


def test_a_passphrase_is_never_printed_or_pickled() -> None:
    under = words()
    assert repr(under) == str(under) == "Passphrase()"
    with pytest.raises(TypeError):
        pickle.dumps(under)

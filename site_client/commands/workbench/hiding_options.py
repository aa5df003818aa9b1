"""The options of `deid` by which a hospital decides how notes are hidden, and what becomes of them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from foundation.reading import file_sha256
from shared.errors import ConfigurationError
from site_client.commands.options import existing_file
from site_client.deid.mode import Hiding, Mode, Setting
from site_client.deid.registry import MODES

if TYPE_CHECKING:
    from shared.pipeline.pipeline import Pipeline
    from site_client.deid.choices.config import DeidConfig
    from site_client.deid.choices.lists import HospitalLists
    from site_client.deid.choices.vault import VaultKey
    from site_client.deid.of_patients import NotesOfPatients
    from site_client.workspace import Workspace

_PURPOSE = b"deid-commons part 1\0"
_SIGNS = 32

new_file = click.Path(path_type=Path, dir_okay=False)


@dataclass(frozen=True)
class HidingOptions:
    """What a person typed.

    Args:
        config: a file of settings.
        patients: a table of notes and patients.
        link_key: whether surrogates are drawn under the secret of the site.
        vault: where it is written who was what.
        vault_passphrase: a file with the passphrase of that vault.
    """

    config: Path | None
    patients: Path | None
    link_key: bool
    vault: Path | None
    vault_passphrase: Path | None

    @classmethod
    def of(cls, given: dict[str, Any]) -> HidingOptions:
        """From what `hiding_options` hand to a command; takes them out."""
        return cls(*(given.pop(name) for name in ("config", "patients", "link_key", "vault", "vault_passphrase")))


def hiding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of HidingOptions."""
    for option in (
        click.option(
            "--vault-passphrase",
            type=existing_file,
            help="A file with the passphrase of the vault (default: the vault is under a key of this workspace).",
        ),
        click.option(
            "--vault",
            type=new_file,
            help="Write who was what into this file, encrypted; `site-client vault` opens it. Without it that is forgotten.",
        ),
        click.option(
            "--link-key",
            is_flag=True,
            help="Surrogates under a secret key of this workspace: the next run makes the same ones, and all dates of a patient are shifted together.",
        ),
        click.option(
            "--patients",
            type=existing_file,
            help="A CSV file with the columns note and patient: what is found in one note of a patient is hidden in all, under the same surrogates, and one shift moves their dates.",
        ),
        click.option(
            "--config",
            type=existing_file,
            help="A TOML file: modes, budgets and units by category, words that are always or never hidden, places, names.",
        ),
    ):
        command = option(command)
    return command


class Choices:
    """What is done to notes.

    Args:
        options: as typed.
        name: of the mode.
        in_parts: whether several runs share the notes, of which none knows what a patient has spent in the others.

    Raises:
        ConfigurationError: options that do not go together, a file that says what no setting is, or a vault that is there already.
    """

    def __init__(self, options: HidingOptions, name: str, *, in_parts: bool = False) -> None:
        from site_client.deid.choices.config import DeidConfig, read_config
        from site_client.patients import read_patients

        self._options = options
        mode = MODES[name]
        usual = mode
        self._config: DeidConfig = DeidConfig() if options.config is None else read_config(options.config)
        self._patients: Mapping[str, str] | None = None
        if isinstance(mode, Hiding):
            mode = self._config.mode(mode)
        elif options != HidingOptions(None, None, False, None, None):
            raise ConfigurationError(
                f"--mode {name}: expected a mode that hides beside these options, got one that shows; leave them out"
            )
        self._mode: Mode = mode
        self._modes = frozenset(one.name for one in (usual, *self._config.modes.values()))
        if options.link_key and MODES["surrogate"].name not in self._modes:
            raise ConfigurationError("--link-key: expected surrogates beside it, got none; add --mode surrogate")
        if in_parts and options.patients:
            raise ConfigurationError(
                "--part: expected no --patients beside it, got both; the budget of a patient is one for all notes, and each part would spend it "
                "anew: de-identify the notes of patients in one run, without --part"
            )
        if options.vault_passphrase and not options.vault:
            raise ConfigurationError("--vault-passphrase: expected --vault beside it, got none; give both")
        if options.vault is not None:
            # Now, too: a mode may make the secret of the site as soon as it is prepared.
            from site_client.deid.choices.vault import require_new

            require_new(options.vault)
        if options.patients is not None:
            self._patients = read_patients(options.patients)

    def facts(self, workspace: Workspace) -> dict[str, str]:
        """What decides the text that is written, by the options that say it; of files a digest, of the secret one under itself.

        Args:
            workspace: has the secret, which is asked for only where surrogates or hashes hang on it.
        """
        config, places = self._options.config, self._config.places
        decides = MODES["hash"].name in self._modes or self._options.link_key
        return {
            "--link-key": str(self._options.link_key),
            "--config": "" if config is None else file_sha256(config),
            "[places] file": "" if places is None else file_sha256(places),
            "keys/surrogates.key": _told_apart(workspace.surrogates_secret()) if decides else "",
        }

    @property
    def categories(self) -> frozenset[str]:
        """Labels that may be written: those of the schemes that come with the program, and those that the hospital's settings name."""
        from shared.labels import load_scheme, scheme_names

        bundled = (category for name in scheme_names() for category in load_scheme(name).categories)
        return frozenset(bundled) | self._config.categories

    @property
    def lists(self) -> HospitalLists:
        """Of the hospital."""
        return self._config.lists

    def patients(self, pipeline: Pipeline) -> NotesOfPatients | None:
        """Whose note is whose; None where nobody has said so."""
        from shared.labels import categories_of_names
        from site_client.deid.of_patients import NotesOfPatients

        if self._patients is None:
            return None
        people = categories_of_names(pipeline.encoder.scheme, "people")
        return NotesOfPatients(self._patients, people, pipeline.encoder.are_public)

    def mode(self, workspace: Workspace, language: str | None) -> Mode:
        """The mode, ready.

        Args:
            workspace: has the secret.
            language: of the release.
        """
        setting = Setting(
            self._config.surrogates, self._patients, workspace.surrogates_secret, self._options.link_key, language
        )
        return self._mode.prepared(setting)

    @contextmanager
    def remembered(self, workspace: Workspace, mode: Mode, out: Path) -> Iterator[Callable[[], None] | None]:
        """While the block runs a vault is told what the mode replaces, where one is wanted; gives what finishes it before `out` has its name."""
        if self._options.vault is None or not isinstance(mode, Hiding):
            yield None
            return
        from site_client.deid.choices.vault import VaultKey, new_vault

        file = self._options.vault_passphrase
        key = VaultKey(workspace.surrogates_secret(), is_passphrase=False) if file is None else passphrase_key(file)
        with new_vault(self._options.vault, key, out) as vault:
            mode.recorder = vault.record
            yield vault.finish

    def lines(self) -> list[str]:
        """What there is to say of the vault."""
        if self._options.vault is None:
            return []
        return [
            f"who was what is in {self._options.vault}, encrypted; whoever opens it has the notes as they were, so keep it in this house"
        ]


def _told_apart(secret: bytes) -> str:
    """The same for the same secret, and nothing by which it could be found."""
    return hmac.digest(secret, _PURPOSE, hashlib.sha256).hex()[:_SIGNS]


def replace_lost_secret(workspace: Workspace) -> None:
    """Makes another secret of surrogates where one was lost, as a person has asked; the ledger tells of it."""
    from foundation.secret_files import read_secret
    from site_client.ledger import Event, record

    if workspace.surrogates_made and not workspace.surrogates_key.exists():
        record(workspace, Event.SURROGATES_SECRET_MADE_ANEW, {})
        read_secret(workspace.surrogates_key)


def passphrase_key(file: Path) -> VaultKey:
    """The passphrase in a file, as what a vault is under.

    Raises:
        ConfigurationError: it is too short.
        StorageError, PassphraseError: as `read_passphrase`.
    """
    from command_line.passphrase import LEAST_CHARACTERS, read_passphrase
    from site_client.deid.choices.vault import VaultKey

    secret = read_passphrase(file)
    if len(secret.decode("utf-8", "replace")) < LEAST_CHARACTERS:
        raise ConfigurationError(
            f"{file.name}: expected a passphrase of {LEAST_CHARACTERS} characters or more, got a shorter one"
        )
    return VaultKey(secret, is_passphrase=True)

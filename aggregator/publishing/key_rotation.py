"""The provider changes a key of its own: sites learn the new one from `provider.json`, which the offline keys sign.

So the rotation of a key that is online needs the offline keys, and a thief of the online ones can't make one.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from pathlib import Path

from aggregator.errors import WorkspaceError
from aggregator.provider_keys import SETTINGS, ProviderKeys, Purpose
from aggregator.publishing.releases import announce
from aggregator.registry import audit_log
from aggregator.workspace import Workspace, today
from foundation.locks import lock_folder
from protocols.errors import SchemaError
from protocols.keys.key_files import choose_protection
from protocols.keys.recipient import RecipientPrivateKey, RecipientPublicKey
from protocols.keys.signing import PrivateKey, PublicKey

OVERLAP_DAYS = 30
Made = PrivateKey | RecipientPrivateKey


@dataclass(frozen=True)
class Rotated:
    """A key that another has followed.

    Args:
        purpose: what it is for.
        old: the key until now.
        new: the key that sites are told of.
        used_until: the last day on which the old one signs, or is sealed to.
        counts_until: the last day on which what it signed counts, or on which it opens shares.
    """

    purpose: Purpose
    old: PublicKey | RecipientPublicKey
    new: PublicKey | RecipientPublicKey
    used_until: datetime.date
    counts_until: datetime.date


def rotate_provider_key(
    workspace: Workspace, purpose: Purpose, overlap_days: int = OVERLAP_DAYS, offline: tuple[Path, ...] = ()
) -> Rotated:
    """A new key of the provider, announced to the sites. One that was lost or stolen ends at once with an overlap of 0.

    Args:
        workspace: the provider's.
        purpose: of the key.
        overlap_days: for so many days the old signing key goes on signing, and for as many more its signatures count; for so
            many days the old encryption key opens what is sealed to it.
        offline: folders of the offline keys; none for that of the workspace.

    Raises:
        WorkspaceError: too few of the offline keys are here, or sites can't be told of so many keys; nothing has changed.
        PassphraseError: keys are under another passphrase.
        StorageError: the disk is full. What was made may count already: repeat `aggregator announce`, not the rotation.
    """
    repository = workspace.repository(offline)
    repository.keys.require("targets", repository.root().roles["targets"])
    with lock_folder(workspace.keys):
        keys, old = workspace.provider_keys(), _newest(workspace, purpose)
        new: Made = PrivateKey.generate() if purpose == Purpose.SIGNING else RecipientPrivateKey.generate()
        changed = keys.replace_newest(purpose, old.hex, _file(purpose, new), today(), overlap_days)
        # Once it is saved it counts, and what can't be announced would hold up every release.
        _check_announceable(workspace, changed)
        new.save(workspace.keys / _file(purpose, new), choose_protection(workspace.keys, workspace.passphrase))
        changed.save()
    announce(workspace, None, offline)
    _tell_log(workspace, purpose, old.key_id, new.public_key.key_id, changed)
    workspace.remove_ended_keys()
    before = changed.earlier[-1]
    return Rotated(purpose, old, new.public_key, before.used_until, before.counts_until)


def _newest(workspace: Workspace, purpose: Purpose) -> PublicKey | RecipientPublicKey:
    return workspace.signing_keys()[0] if purpose == Purpose.SIGNING else workspace.recipient().public_key


def _check_announceable(workspace: Workspace, changed: ProviderKeys) -> None:
    """Returns if sites can be told of these keys; how many are earlier is all that a rotation can make wrong."""
    try:
        replace(workspace.record(), earlier_signing=changed.earlier_signing(today()))
    except SchemaError as error:
        raise WorkspaceError(
            f"{SETTINGS}: expected {error.expected}, got one more; {error.advice} (`aggregator keys list`), or end all before the new one "
            "at once with `--overlap 0`"
        ) from error


def _file(purpose: Purpose, key: Made) -> str:
    return f"{purpose}-{key.public_key.key_id}.pem"


def _tell_log(workspace: Workspace, purpose: Purpose, old: str, new: str, keys: ProviderKeys) -> None:
    before = keys.earlier[-1]
    with workspace.registry().transaction() as session:
        audit_log.append(
            session,
            "operator",
            "provider-key-rotated",
            {
                "purpose": purpose,
                "old": old,
                "key": new,
                "used_until": before.used_until.isoformat(),
                "counts_until": before.counts_until.isoformat(),
            },
        )

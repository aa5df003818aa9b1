"""A hospital and a provider that know each other's keys, and a share of invented sentences; nothing is trained or pulled."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

from protocols.keys.recipient import RecipientPrivateKey
from protocols.keys.signing import PrivateKey
from protocols.release.provider_record import ProviderRecord
from protocols.share.sealing import seal_share
from site_client.workspace import Workspace, create
from tests.protocols.payload.blocks import make_block, write_payload
from tests.protocols.share.shares import fields

PROVIDER = PrivateKey.from_seed(bytes(range(2, 34)))
DAY = datetime.date.today()


def days(count: int) -> datetime.date:
    return DAY + datetime.timedelta(days=count)


def record(server: str = "", until: int = 700) -> ProviderRecord:
    """The provider as its sites know it."""
    recipient = RecipientPrivateKey.generate().public_key
    return ProviderRecord("north", PROVIDER.public_key, recipient, server, days(until))


def site(root: Path, name: str = "st-anne") -> Workspace:
    """A hospital that knows the provider."""
    made = replace(create(root, name), provider=record())
    made.save()
    return made


def share(workspace: Workspace, name: str = "share.parquet", sequence: int = 1) -> Path:
    """A sealed share of the hospital, its manifest beside it."""
    path = write_payload(workspace.root / name, [make_block([3, 4], seed=sequence), make_block([2])])
    seal_share(path, fields(site=workspace.site, sequence=sequence), workspace.key())
    return path

"""The days of the certificate that the server for hospitals has, which it writes into the workspace: hospitals reach nobody after the last."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from aggregator.workspace import Workspace
from foundation.files import write_text
from foundation.reading import read_text
from protocols.bounded_reading import read_bounded
from shared.errors import ConfigurationError

_FILE = "served-certificate.json"
_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class ServedCertificate:
    """One certificate.

    Args:
        begins: its first day.
        ends: its last.
    """

    begins: datetime.date
    ends: datetime.date


def write_served(workspace: Workspace, certificate: Path) -> None:
    """Keeps the days of a certificate with its chain, PEM, which is served from now on.

    Raises:
        ConfigurationError: it is none.
        StorageError: the file can't be read, or that of the workspace not be written.
    """
    try:
        first = x509.load_pem_x509_certificates(read_bounded(certificate, _MAX_BYTES))[0]
    except ValueError as error:
        raise ConfigurationError(
            f"{certificate.name}: expected a certificate in PEM, got something else; check --certificate"
        ) from error
    days = {"begins": str(first.not_valid_before_utc.date()), "ends": str(first.not_valid_after_utc.date())}
    write_text(workspace.root / _FILE, json.dumps(days))


def read_served(workspace: Workspace) -> ServedCertificate | None:
    """What is served, or was last; None where nothing was, or nobody can tell.

    Raises:
        StorageError: the file is there and the system does not let it be read.
    """
    path = workspace.root / _FILE
    if not path.exists():
        return None
    try:
        given = json.loads(read_text(path))
        return ServedCertificate(*(datetime.date.fromisoformat(given[name]) for name in ("begins", "ends")))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None

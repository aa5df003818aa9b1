"""Where hospitals come in to a training over a connection."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aggregator.binding import tls_context
from shared.errors import ConfigurationError


@dataclass(frozen=True)
class Connection:
    """Where hospitals come in.

    Args:
        port: of loopback; what stands before it lets calls of nodes through alone.
        certificate: of the link, PEM, for 127.0.0.1 too.
        key: private key of that.
        authority: that it is verified by.
        nodes: public keys of nodes, a file each.

    Raises:
        ConfigurationError: no node may come, or certificate and key can't be used.
        StorageError: others can read the key.
    """

    port: int
    certificate: Path
    key: Path
    authority: Path
    nodes: tuple[Path, ...]

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ConfigurationError(
                "--nodes: expected a folder with the public keys of nodes, NAME.pub each, got one without any; hospitals make them with "
                "`site-client federate --node-key`"
            )
        # Held to what the server's are, which may be the same files; Flower would take a key that everybody can read.
        tls_context(self.certificate, self.key)

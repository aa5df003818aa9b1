"""Keys of the connection, made at the site: the node's, by which the provider lets it in, and the gate's own certificate.

Neither vouches for a result; that does the site's signing key. The node's private half never leaves the workspace.
"""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from foundation.files import write_bytes

_DAY = datetime.timedelta(days=1)


def make_node_key(folder: Path) -> tuple[Path, Path]:
    """The node's key, made on first use.

    Args:
        folder: of the workspace's federated state.

    Returns:
        files of the private key and of the public one, which goes to the provider.
    """
    private, public = folder / "node.key", folder / "node.pub"
    if not private.exists():
        key = ec.generate_private_key(ec.SECP384R1())
        encoded = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
        )
        shown = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        # The public half first: a private one without it would never be shown.
        write_bytes(public, shown + b"\n", private=False)
        write_bytes(private, encoded)
    return private, public


def make_gate_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for loopback, fresh; files of it and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gate of this site")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + 365 * _DAY)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    shown, private = folder / "gate.pem", folder / "gate.key"
    write_bytes(shown, certificate.public_bytes(serialization.Encoding.PEM), private=False)
    write_bytes(
        private,
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )
    return shown, private

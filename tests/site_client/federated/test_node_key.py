"""Keys of the connection: made once, at the site, and private."""

from __future__ import annotations

import ssl
import stat
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key

from site_client.federated.node_key import make_gate_certificate, make_node_key


def test_the_key_of_a_node_is_made_once_and_its_private_half_is_its_owners(tmp_path: Path) -> None:
    private, public = make_node_key(tmp_path)
    before = private.read_bytes(), public.read_bytes()
    assert make_node_key(tmp_path) == (private, public)
    assert (private.read_bytes(), public.read_bytes()) == before
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    key, shown = load_ssh_private_key(before[0], None), load_ssh_public_key(before[1])
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    assert isinstance(shown, ec.EllipticCurvePublicKey)
    assert key.public_key().public_numbers() == shown.public_numbers()
    assert shown.curve.name == "secp384r1"


def test_a_gate_has_a_certificate_for_loopback_alone_and_another_each_time(tmp_path: Path) -> None:
    certificate, key = make_gate_certificate(tmp_path)
    before = certificate.read_bytes()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    (shown,) = ssl.create_default_context(cafile=str(certificate)).get_ca_certs()
    assert shown["subjectAltName"] == (("IP Address", "127.0.0.1"),)
    make_gate_certificate(tmp_path)
    assert certificate.read_bytes() != before
